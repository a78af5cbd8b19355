//! Texts of a conversation, many of which share one block of memory.
//!
//! Reading a log makes a text of every message. One allocation for each costs
//! more than reading it, so those that are read together lie in one block.

use std::cell::Cell;
use std::fmt;
use std::mem;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text that is cheap to clone and never changes.
///
/// It keeps the whole block alive that it lies in.
#[derive(Clone, Default)]
pub struct Text {
    /// `None` for the empty text alone.
    block: Option<Arc<OnceLock<String>>>,
    range: Range<usize>,
}

impl Text {
    /// Its length in bytes, without looking at the text: that of many texts
    /// is asked for, and few of them are read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        let block = self.block.as_ref().and_then(|block| block.get());
        block
            .and_then(|block| block.get(self.range.clone()))
            .unwrap_or_default()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self {
            range: 0..text.len(),
            block: Some(Arc::new(OnceLock::from(text))),
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// A block on the way: texts are written to its end, one behind the other, and
/// can be read once it is sealed.
pub(crate) struct TextBlock {
    sealed: Arc<OnceLock<String>>,
    bytes: Vec<u8>,
    filled: usize,
    room: usize,
}

impl TextBlock {
    /// A block for at most `room` bytes of text, which keeps memory for what
    /// is written alone.
    pub(crate) fn new(room: usize) -> Self {
        Self {
            sealed: Arc::default(),
            bytes: Vec::new(),
            filled: 0,
            room,
        }
    }

    /// How many bytes are written.
    pub(crate) fn len(&self) -> usize {
        self.filled
    }

    /// What is written behind the first `start` bytes.
    pub(crate) fn written(&self, start: usize) -> &[u8] {
        self.bytes.get(start..self.filled).unwrap_or_default()
    }

    /// What is free behind them.
    pub(crate) fn free(&mut self) -> &mut [u8] {
        if self.bytes.is_empty() {
            self.bytes = SCRATCH.take();
            if self.bytes.len() < self.room {
                self.bytes.resize(self.room, 0);
            }
        }
        self.bytes.get_mut(self.filled..).unwrap_or_default()
    }

    /// Counts `bytes` of what was free as written.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.filled = self.bytes.len().min(self.filled + bytes);
    }

    /// Gives up what is written behind the first `len` bytes.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.filled = self.filled.min(len);
    }

    /// All that is written from `start` on as one text; `None` when it can't
    /// begin there. What is written before and behind it must be texts too.
    pub(crate) fn text(&self, start: usize) -> Option<Text> {
        let first = self.bytes.get(start..self.filled)?.first()?;
        let continues = first & 0xc0 == 0x80;
        (!continues).then(|| Text {
            block: Some(Arc::clone(&self.sealed)),
            range: start..self.filled,
        })
    }

    /// Makes the texts readable; `false` when the block is no UTF-8, and none
    /// of them can be used.
    pub(crate) fn seal(self) -> bool {
        // Each text begins with a first byte, so each also ends behind a whole
        // character if all of them together are UTF-8.
        let block = simdutf8::basic::from_utf8(self.written(0));
        block.is_ok_and(|block| self.sealed.set(block.to_owned()).is_ok())
    }
}

impl Drop for TextBlock {
    fn drop(&mut self) {
        if self.bytes.len() <= MAX_SCRATCH_BYTES {
            SCRATCH.set(mem::take(&mut self.bytes));
        }
    }
}

/// The most that a thread keeps of what a block was written to, in bytes.
const MAX_SCRATCH_BYTES: usize = 1 << 20;

thread_local! {
    /// What the next block of this thread is written to: most lines say so
    /// little that clearing memory for them costs more than reading them.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(block: &mut TextBlock, bytes: &[u8]) -> Option<Text> {
        let start = block.len();
        block.free()[..bytes.len()].copy_from_slice(bytes);
        block.advance(bytes.len());
        block.text(start)
    }

    #[test]
    fn texts_of_a_block_read_as_they_were_written() {
        let mut block = TextBlock::new(20);
        let a = write(&mut block, "é世".as_bytes()).unwrap();
        let given_up = block.len();
        write(&mut block, b"gone").unwrap();
        block.truncate(given_up);
        let b = write(&mut block, b"b").unwrap();
        assert!(block.seal());
        assert_eq!((&*a, &*b), ("é世", "b"));
        assert_eq!(a, Text::from("é世"));
        assert_eq!(format!("{b:?}"), "\"b\"");
    }

    #[test]
    fn a_character_torn_over_two_texts_is_none() {
        let mut block = TextBlock::new(20);
        let (head, tail) = "世".as_bytes().split_at(1);
        assert!(write(&mut block, head).is_some());
        assert!(write(&mut block, tail).is_none());
    }

    #[test]
    fn a_block_that_is_no_utf8_is_refused() {
        let mut block = TextBlock::new(20);
        write(&mut block, b"a\xff").unwrap();
        assert!(!block.seal());
    }
}
