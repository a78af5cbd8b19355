//! A text of which the beginning alone is kept.

/// The beginning of a text, cut behind a whole character.
#[derive(Debug)]
pub(crate) struct Beginning {
    bytes: Vec<u8>,
    most: usize,
}

impl Beginning {
    /// One of at most `most` bytes.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            bytes: Vec::new(),
            most,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() == self.most
    }

    /// Adds what there is room for.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        if self.bytes.is_empty() {
            // It comes in many small pieces.
            self.bytes.reserve_exact(self.most);
        }
        let room = self.most - self.bytes.len();
        self.bytes.extend(bytes.get(..room).unwrap_or(bytes));
    }

    /// Adds a character, or is full.
    pub(crate) fn add_char(&mut self, c: char) {
        if self.bytes.len() + c.len_utf8() > self.most {
            self.most = self.bytes.len();
        } else {
            self.add(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    /// The text, which is UTF-8 as far as it was looked at.
    pub(crate) fn into_string(self) -> String {
        let mut bytes = self.bytes;
        if let Err(torn) = std::str::from_utf8(&bytes) {
            bytes.truncate(torn.valid_up_to());
        }
        bytes.shrink_to_fit();
        String::from_utf8(bytes).unwrap_or_default()
    }
}
