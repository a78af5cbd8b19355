//! What records call themselves and each other.

use std::fmt;

/// An id. Most are UUIDs, which are told apart by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Id {
    /// One written in small letters and with hyphens.
    Uuid(u128),
    /// Another one, with its length.
    Short([u8; SHORT_BYTES], u8),
    Long(Box<str>),
}

/// The longest id that takes no more room than a number, in bytes.
const SHORT_BYTES: usize = 30;

impl Id {
    pub(super) fn of(id: &str) -> Self {
        if let Some(number) = uuid(id.as_bytes()) {
            return Self::Uuid(number);
        }
        let mut short = [0; SHORT_BYTES];
        match (short.get_mut(..id.len()), u8::try_from(id.len())) {
            (Some(place), Ok(len)) => {
                place.copy_from_slice(id.as_bytes());
                Self::Short(short, len)
            }
            _ => Self::Long(id.into()),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long(id) => f.write_str(id),
            Self::Short(bytes, len) => {
                let id = bytes.get(..usize::from(*len)).unwrap_or_default();
                f.write_str(std::str::from_utf8(id).unwrap_or_default())
            }
            Self::Uuid(number) => {
                let part = |shift: u32, digits: u32| (number >> shift) & ((1 << (4 * digits)) - 1);
                write!(
                    f,
                    "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
                    part(96, 8),
                    part(80, 4),
                    part(64, 4),
                    part(48, 4),
                    part(0, 12)
                )
            }
        }
    }
}

/// The number of a UUID that is written like this, and only so.
fn uuid(id: &[u8]) -> Option<u128> {
    let [
        a @ ..,
        b'-',
        b1,
        b2,
        b3,
        b4,
        b'-',
        c1,
        c2,
        c3,
        c4,
        b'-',
        d1,
        d2,
        d3,
        d4,
        b'-',
        e1,
        e2,
        e3,
        e4,
        e5,
        e6,
        e7,
        e8,
        e9,
        e10,
        e11,
        e12,
    ] = id
    else {
        return None;
    };
    let a: &[u8; 8] = a.try_into().ok()?;
    let [a1, a2, a3, a4, a5, a6, a7, a8] = a;
    let high = number([
        a1, a2, a3, a4, a5, a6, a7, a8, b1, b2, b3, b4, c1, c2, c3, c4,
    ])?;
    let low = number([
        d1, d2, d3, d4, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12,
    ])?;
    Some(u128::from(high) << 64 | u128::from(low))
}

/// What is no digit of a UUID.
const NO_DIGIT: u8 = 0x80;

/// What each byte stands for as a digit.
#[expect(clippy::indexing_slicing, reason = "run by the compiler")]
const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    digits
};

/// The number that these digits are.
fn number(digits: [&u8; 16]) -> Option<u64> {
    let mut number = 0;
    let mut all = 0;
    for byte in digits {
        let digit = DIGITS.get(usize::from(*byte)).copied().unwrap_or(NO_DIGIT);
        all |= digit;
        number = number << 4 | u64::from(digit & 0xf);
    }
    (all & NO_DIGIT == 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_as_it_was_written() {
        for id in [
            "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f",
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
        ] {
            assert!(matches!(Id::of(id), Id::Uuid(_)), "{id}");
            assert_eq!(Id::of(id).to_string(), id);
        }
        for id in [
            "",
            "u1",
            "msg_01XFDUDYJgAACzvnptvVoYEL",
            "thirty bytes of an id, exactly",
            "thirty-one bytes, one too many!",
            "0A1B2C3D-4e5f-4061-8071-2a3b4c5d6e7f",
            "0a1b2c3d04e5f-4061-8071-2a3b4c5d6e7f",
            "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7",
            "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e-f",
            "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7g",
        ] {
            assert!(!matches!(Id::of(id), Id::Uuid(_)), "{id}");
            assert_eq!(Id::of(id).to_string(), id);
        }
    }
}
