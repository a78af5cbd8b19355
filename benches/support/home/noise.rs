//! What fills most of a session's file: the same lines in every file, made
//! once.

use std::io::{self, Write};

use super::random::Random;

/// How long the lines of one tool are together.
const LEN: usize = 4 << 20;

/// Lines of one tool, to be taken piece by piece.
pub struct Noise {
    pieces: Vec<Vec<u8>>,
}

impl Noise {
    /// `line` makes one line from what it is filled with. Most lines are short;
    /// a few are as long as a file that a tool was shown.
    pub fn new(seed: u64, mut line: impl FnMut(&str, &mut Random) -> Vec<u8>) -> Self {
        let mut random = Random::new(seed);
        let mut pieces = Vec::new();
        let mut len = 0;
        while len < LEN {
            let length = 1 << random.below(11);
            let filling = random.text(length);
            let piece = line(&filling, &mut random);
            len += piece.len();
            pieces.push(piece);
        }
        Self { pieces }
    }

    /// One of the lines.
    pub fn piece(&self, random: &mut Random) -> &[u8] {
        let at = random.below(self.pieces.len() as u64);
        &self.pieces[usize::try_from(at).unwrap()]
    }

    /// Writes about `len` bytes of whole lines, and gives how many it wrote.
    pub fn write(&self, out: &mut impl Write, len: u64, random: &mut Random) -> io::Result<u64> {
        let mut written = 0;
        let mut at = random.below(self.pieces.len() as u64);
        while written < len {
            let piece = &self.pieces[usize::try_from(at).unwrap()];
            out.write_all(piece)?;
            written += piece.len() as u64;
            at = (at + 1) % self.pieces.len() as u64;
        }
        Ok(written)
    }
}
