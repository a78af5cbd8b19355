//! A reader of JSON for lines as programs write them.
//!
//! Stricter than JSON: it takes nothing that `serde_json` would refuse, and
//! gives up (`None`) on what is unusual, so that whoever calls it must have
//! another way. It allocates nothing.

mod beginning;

pub(crate) use beginning::Beginning;

/// How deep values may be nested in what is passed over: far less than
/// `serde_json` takes.
const MAX_DEPTH: usize = 32;

/// A place in a line.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next byte that is no white space, which stays.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        // Programs write none.
        let byte = *self.bytes.get(self.at)?;
        if byte > b' ' {
            Some(byte)
        } else {
            self.behind_white_space()
        }
    }

    #[cold]
    fn behind_white_space(&mut self) -> Option<u8> {
        let rest = self.bytes.get(self.at..)?;
        let is_white = |b: &u8| matches!(*b, b' ' | b'\t' | b'\n' | b'\r');
        self.at += rest.iter().take_while(|b| is_white(b)).count();
        self.bytes.get(self.at).copied()
    }

    /// Where in the line it stands.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Passes over this byte and white space before it.
    pub(crate) fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// That there is nothing but white space left.
    pub(crate) fn end(&mut self) -> Option<()> {
        self.peek().is_none().then_some(())
    }

    /// Goes through an object; `on_value` must read one value for each key.
    pub(crate) fn object(
        &mut self,
        mut on_value: impl FnMut(&mut Self, &'a [u8]) -> Option<()>,
    ) -> Option<()> {
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            return self.expect(b'}');
        }
        loop {
            let key = self.key()?;
            self.expect(b':')?;
            on_value(self, key)?;
            match self.peek()? {
                b',' => self.at += 1,
                _ => return self.expect(b'}'),
            }
        }
    }

    /// Goes through an array; `on_value` must read one value each time.
    pub(crate) fn array(
        &mut self,
        mut on_value: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.expect(b'[')?;
        if self.peek()? == b']' {
            return self.expect(b']');
        }
        loop {
            on_value(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                _ => return self.expect(b']'),
            }
        }
    }

    /// A key in plain ASCII. `serde_json` gives a meaning to some keys that
    /// begin with `$`.
    fn key(&mut self) -> Option<&'a [u8]> {
        let key = self.word()?;
        (key.is_ascii() && !key.starts_with(b"$")).then_some(key)
    }

    /// A string without escapes, which may be no UTF-8.
    fn word(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let start = self.at;
        self.pass_plain();
        let word = self.bytes.get(start..self.at)?;
        if *self.bytes.get(self.at)? != b'"' {
            return None;
        }
        self.at += 1;
        Some(word)
    }

    /// Passes over what stands for itself in a string.
    #[inline]
    fn pass_plain(&mut self) {
        if let Some(word) = word_at(self.bytes, self.at) {
            let plain = plain_bytes(word);
            self.at += plain;
            // Most strings of a line are short.
            if plain < WORD {
                return;
            }
        }
        self.pass_long();
    }

    fn pass_long(&mut self) {
        while let Some(word) = word_at(self.bytes, self.at)
            && is_plain(word)
        {
            self.at += LONG_WORD;
        }
        while let Some(word) = word_at(self.bytes, self.at) {
            let plain = plain_bytes(word);
            self.at += plain;
            if plain < WORD {
                return;
            }
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_special = |b: &u8| matches!(*b, b'"' | b'\\' | ..0x20);
        self.at += rest.iter().position(is_special).unwrap_or(rest.len());
    }

    /// Whether the string that comes next, which stays, is empty.
    pub(crate) fn is_empty_string(&mut self) -> Option<bool> {
        self.peek()?;
        Some(self.bytes.get(self.at..)?.starts_with(b"\"\""))
    }

    /// A string without escapes.
    pub(crate) fn plain_str(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.word()?).ok()
    }

    /// An integer of at most 18 digits, not negative.
    pub(crate) fn integer(&mut self) -> Option<u64> {
        self.peek()?;
        let (value, len) = digits(self.bytes.get(self.at..)?)?;
        self.at += len;
        Some(value)
    }

    /// [`integer`](Self::integer), or one below zero.
    pub(crate) fn signed(&mut self) -> Option<i64> {
        if self.peek()? == b'-' {
            self.at += 1;
            // A sign stands right before its digits.
            self.bytes.get(self.at)?.is_ascii_digit().then_some(())?;
            let value = i64::try_from(self.integer()?).ok()?;
            // Minus zero is no integer to all readers.
            return (value > 0).then(|| -value);
        }
        i64::try_from(self.integer()?).ok()
    }

    /// Passes over any value.
    pub(crate) fn skip(&mut self) -> Option<()> {
        self.skip_nested(MAX_DEPTH)
    }

    fn skip_nested(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.skip_string(),
            b'{' => {
                let depth = depth.checked_sub(1)?;
                self.object(|json, _| json.skip_nested(depth))
            }
            b'[' => {
                let depth = depth.checked_sub(1)?;
                self.array(|json| json.skip_nested(depth))
            }
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            _ => self.skip_number(),
        }
    }

    /// A number of few digits, with a fraction or without, but no exponent.
    fn skip_number(&mut self) -> Option<()> {
        let start = self.at;
        if self.peek()? == b'-' {
            self.at += 1;
        }
        let (whole, len) = digits(self.bytes.get(self.at..)?)?;
        self.at += len;
        if self.bytes.get(self.at) == Some(&b'.') {
            let fraction = self.bytes.get(self.at + 1..)?;
            let len = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            self.at += 1 + len;
            return (1..=18).contains(&len).then_some(());
        }
        // Minus zero is no integer to all readers.
        (whole > 0 || self.bytes.get(start) != Some(&b'-')).then_some(())
    }

    /// A truth.
    pub(crate) fn truth(&mut self) -> Option<bool> {
        if self.peek()? == b't' {
            return self.literal(b"true").map(|()| true);
        }
        self.literal(b"false").map(|()| false)
    }

    fn literal(&mut self, word: &[u8]) -> Option<()> {
        let found = self.bytes.get(self.at..)?.starts_with(word);
        found.then(|| self.at += word.len())
    }

    /// Passes over a string.
    pub(crate) fn skip_string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        self.string_from(self.at)
    }

    /// Passes over what is left of a string that began at `start`.
    fn string_from(&mut self, start: usize) -> Option<()> {
        loop {
            self.pass_plain();
            match *self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => drop(self.escape()?),
                _ => return None,
            }
        }
        simdutf8::basic::from_utf8(self.bytes.get(start..self.at)?).ok()?;
        self.expect(b'"')
    }

    /// Writes what a string says to the front of `room` and gives its length;
    /// `None` also for want of room, and never if there are [`WORD`] bytes
    /// more than the line has. That it is UTF-8 is left to be checked.
    pub(crate) fn unescape(&mut self, room: &mut [u8]) -> Option<usize> {
        self.expect(b'"')?;
        let mut written = 0;
        loop {
            // A word is copied whatever it holds, and then counted.
            while let Some(word) = word_at(self.bytes, self.at)
                && let Some(place) = room.get_mut(written..)?.first_chunk_mut()
            {
                *place = *word;
                let plain = plain_bytes(word);
                self.at += plain;
                written += plain;
                if plain < WORD {
                    break;
                }
                while let Some(long) = word_at(self.bytes, self.at)
                    && is_plain(long)
                    && let Some(place) = room.get_mut(written..)?.first_chunk_mut()
                {
                    *place = *long;
                    self.at += LONG_WORD;
                    written += LONG_WORD;
                }
            }
            match *self.bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(written);
                }
                b'\\' => {
                    let c = self.escape()?;
                    let place = room.get_mut(written..)?;
                    if c.len_utf8() > place.len() {
                        return None;
                    }
                    written += c.encode_utf8(place).len();
                }
                ..0x20 => return None,
                byte => {
                    *room.get_mut(written)? = byte;
                    self.at += 1;
                    written += 1;
                }
            }
        }
    }

    /// Adds the beginning of what a string says, as far as there is room, and
    /// passes over the rest.
    pub(crate) fn beginning(&mut self, of: &mut Beginning) -> Option<()> {
        self.expect(b'"')?;
        let start = self.at;
        while !of.is_full() {
            let from = self.at;
            self.pass_plain();
            of.add(self.bytes.get(from..self.at)?);
            match *self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    let c = self.escape()?;
                    of.add_char(c);
                }
                _ => return None,
            }
        }
        self.string_from(start)
    }

    /// The character that an escape stands for.
    #[inline]
    fn escape(&mut self) -> Option<char> {
        let letter = *self.bytes.get(self.at + 1)?;
        self.at += 2;
        match ESCAPES.get(usize::from(letter)) {
            Some(0) | None => {}
            Some(byte) => return Some(char::from(*byte)),
        }
        if letter != b'u' {
            return None;
        }
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first);
        }
        if self.bytes.get(self.at..)?.first_chunk()? != b"\\u" {
            return None;
        }
        self.at += 2;
        let low = self.hex()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + low)
    }

    fn hex(&mut self) -> Option<u32> {
        let digits: &[u8; 4] = self.bytes.get(self.at..)?.first_chunk()?;
        self.at += 4;
        digits.iter().try_fold(0, |value, digit| {
            Some(value * 16 + char::from(*digit).to_digit(16)?)
        })
    }
}

/// Sets what may be set once.
pub(crate) fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.replace(value).is_none().then_some(())
}

/// An integer as JSON writes it, of at most 18 digits, and its length.
pub(crate) fn digits(text: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    let mut len = 0;
    while let Some(digit) = text.get(len).map(|b| b.wrapping_sub(b'0'))
        && digit < 10
    {
        value = value * 10 + u64::from(digit);
        len += 1;
        if len > 18 {
            return None;
        }
    }
    let is_integer = len == 1 || (len > 1 && text.first() != Some(&b'0'));
    is_integer.then_some((value, len))
}

/// What the escapes of one letter stand for; 0 for those that are none.
#[expect(clippy::indexing_slicing, reason = "run by the compiler")]
const ESCAPES: [u8; 128] = {
    let mut escapes = [0; 128];
    let mut rest: &[(u8, u8)] = &[
        (b'"', b'"'),
        (b'\\', b'\\'),
        (b'/', b'/'),
        (b'b', 0x08),
        (b'f', 0x0c),
        (b'n', b'\n'),
        (b'r', b'\r'),
        (b't', b'\t'),
    ];
    while let [(letter, byte), after @ ..] = rest {
        escapes[*letter as usize] = *byte;
        rest = after;
    }
    escapes
};

/// How many bytes are looked at at once. A string that is unescaped needs so
/// much more room than it takes, to be copied in whole words.
pub(crate) const WORD: usize = 16;

/// How many bytes are looked at at once where most stand for themselves.
const LONG_WORD: usize = 32;

fn word_at<const N: usize>(bytes: &[u8], at: usize) -> Option<&[u8; N]> {
    bytes.get(at..)?.first_chunk()
}

/// Whether all of the bytes stand for themselves in a string.
#[inline]
fn is_plain(bytes: &[u8; LONG_WORD]) -> bool {
    // Without a way out between them, so that all are compared at once.
    let special = |b: u8| u8::from(b < 0x20) | u8::from(b == b'"') | u8::from(b == b'\\');
    bytes.iter().fold(0, |any, b| any | special(*b)) == 0
}

/// How many of the bytes stand for themselves in a string, before the first
/// that does not.
///
/// A subtraction borrows only from beyond a byte that is found, so the lowest
/// byte marked is always a true one.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "each half on its own")]
fn plain_bytes(bytes: &[u8; WORD]) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const TOPS: u64 = ONES * 0x80;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let marks = |word: u64| (below(word, 0x20) | equal(word, b'"') | equal(word, b'\\')) & TOPS;
    // Both at once, as most hold nothing.
    let word = u128::from_le_bytes(*bytes);
    let [low, high] = [word as u64, (word >> 64) as u64].map(marks);
    if low == 0 {
        8 + high.trailing_zeros() as usize / 8
    } else {
        low.trailing_zeros() as usize / 8
    }
}

#[cfg(test)]
mod tests;
