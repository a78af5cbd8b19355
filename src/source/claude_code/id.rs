//! What records call themselves and each other.

use std::fmt;

/// Where a UUID has its hyphens.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];
/// How long a UUID is, in bytes.
const UUID_BYTES: usize = 36;

/// An id. Most are UUIDs, which are told apart by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Id {
    /// One written in small letters and with hyphens.
    Uuid(u128),
    Other(Box<str>),
}

impl Id {
    pub(super) fn of(id: &str) -> Self {
        uuid(id.as_bytes()).map_or_else(|| Self::Other(id.into()), Self::Uuid)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(id) => f.write_str(id),
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
    let id: &[u8; UUID_BYTES] = id.try_into().ok()?;
    let mut number = 0;
    for (at, byte) in id.iter().enumerate() {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'-' if HYPHENS.contains(&at) => continue,
            _ => return None,
        };
        number = number << 4 | u128::from(digit);
    }
    // With a digit in a hyphen's place there would be more than fit.
    let is_divided = HYPHENS.iter().all(|at| id.get(*at) == Some(&b'-'));
    is_divided.then_some(number)
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
            "0A1B2C3D-4e5f-4061-8071-2a3b4c5d6e7f",
            "0a1b2c3d04e5f-4061-8071-2a3b4c5d6e7f",
            "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7",
            "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e-f",
            "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7g",
        ] {
            assert!(matches!(Id::of(id), Id::Other(_)), "{id}");
            assert_eq!(Id::of(id).to_string(), id);
        }
    }
}
