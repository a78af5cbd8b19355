//! One pass over the lines of a file, on several threads.
//!
//! The file comes in parts without regard to its lines. A part is loaded and
//! parsed by one thread, while it is in that one's cache, and what was parsed
//! is folded in order; the lines that are cut come together there. Memory stays
//! at a part for each thread and what few parts parse to.

use std::fs::File;
use std::io;
use std::mem;
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// How much is best loaded at once, in bytes: it must stay in a core's cache.
pub(crate) const BLOCK_BYTES: u64 = 256 << 10;

/// How many parts are parsed before what they gave is folded.
const PARTS_AT_ONCE: usize = 32;

/// A part of a file that is not loaded yet, and whether it is known to be the
/// last.
pub(crate) type Part<P> = (P, bool);

/// What was made of lines that stand together.
pub(crate) enum Lines<T> {
    /// They were parsed.
    Parsed(T),
    /// It is one line that is too long, and was passed over.
    TooLong,
}

/// How lines are read.
pub(crate) struct Reader<Load, Parse> {
    /// Loads a part into a buffer, whatever that held before. A break says that
    /// nothing behind the part counts.
    pub(crate) load: Load,
    /// Parses whole lines. Only the last line of the file may lack its line
    /// feed; `true` says that it is among them.
    pub(crate) parse: Parse,
    /// The longest line that is parsed, in bytes.
    pub(crate) most: usize,
}

impl<Load, Parse> Reader<Load, Parse> {
    /// Reads all the parts that `next` gives. The first one is folded before
    /// any other is parsed.
    ///
    /// # Errors
    /// When a part can't be found or loaded.
    pub(crate) fn read<P, T>(
        &self,
        mut next: impl FnMut() -> io::Result<Option<Part<P>>> + Send,
        fold: impl FnMut(Lines<T>) + Send,
    ) -> io::Result<()>
    where
        P: Send + Sync,
        T: Send,
        Load: Fn(&P, &mut Vec<u8>) -> io::Result<ControlFlow<()>> + Sync,
        Parse: Fn(&[u8], bool) -> T + Sync,
    {
        let mut joined = Joined {
            parse: &self.parse,
            fold,
            most: self.most,
            cut: Vec::new(),
            is_too_long: false,
            is_over: false,
        };
        let buffers = Buffers::default();
        let read = |(part, is_last): Part<P>| {
            buffers.lend(|buffer| {
                let flow = (self.load)(&part, buffer)?;
                Ok(self.block(buffer, is_last, flow.is_break()))
            })
        };
        let read = |group: Vec<Part<P>>| -> io::Result<Vec<Block<T>>> {
            if group.len() < 2 {
                return group.into_iter().map(read).collect();
            }
            group.into_par_iter().map(read).collect()
        };
        let mut found = |most: usize| -> io::Result<Vec<Part<P>>> {
            let mut group = Vec::new();
            while group.len() < most
                && let Some(part) = next()?
            {
                group.push(part);
            }
            Ok(group)
        };
        joined.fold(read(found(1)?)?);
        let mut group = found(PARTS_AT_ONCE)?;
        let mut ready = Vec::new();
        while !(joined.is_over || group.is_empty() && ready.is_empty()) {
            let now = mem::take(&mut ready);
            let (after, (blocks, ())) = rayon::join(
                || found(PARTS_AT_ONCE),
                || rayon::join(|| read(group), || joined.fold(now)),
            );
            (group, ready) = (after?, blocks?);
        }
        joined.flush(true);
        Ok(())
    }

    /// Cuts off the unfinished lines at both ends and parses those between. A
    /// line that begins with the block is taken for an unfinished one too.
    fn block<T>(&self, block: &[u8], is_last: bool, is_end: bool) -> Block<T>
    where
        Parse: Fn(&[u8], bool) -> T,
    {
        let (head, rest) = match memchr::memchr(b'\n', block) {
            Some(at) => block.split_at_checked(at + 1).unwrap_or((block, &[])),
            None => (block, &[][..]),
        };
        let whole = memchr::memrchr(b'\n', rest).map_or(0, |at| at + 1);
        let (whole, tail) = rest.split_at_checked(whole).unwrap_or((rest, &[]));
        let parse = || (self.parse)(whole, is_last && tail.is_empty());
        Block {
            head: head.to_vec(),
            lines: (!whole.is_empty()).then(parse),
            tail: tail.to_vec(),
            is_end,
        }
    }
}

/// A part, parsed.
struct Block<T> {
    /// The rest of the line that began before it. Without a line feed, when it
    /// goes on behind this block.
    head: Vec<u8>,
    lines: Option<T>,
    /// The beginning of the line that goes on behind it.
    tail: Vec<u8>,
    /// Whether nothing behind it counts.
    is_end: bool,
}

/// Puts the lines together that were cut.
struct Joined<'a, Parse, F> {
    parse: &'a Parse,
    fold: F,
    most: usize,
    /// What was read of a line that goes on.
    cut: Vec<u8>,
    /// Whether it was longer, and is passed over.
    is_too_long: bool,
    is_over: bool,
}

impl<Parse, F> Joined<'_, Parse, F> {
    fn fold<T>(&mut self, blocks: Vec<Block<T>>)
    where
        Parse: Fn(&[u8], bool) -> T,
        F: FnMut(Lines<T>),
    {
        for block in blocks {
            if self.is_over {
                return;
            }
            self.is_over = block.is_end;
            if !block.head.is_empty() && self.cut.ends_with(b"\n") {
                self.flush(false);
            }
            self.add(&block.head);
            if block.lines.is_none() && block.tail.is_empty() {
                // More may come of this line, or it may be the last of all.
                continue;
            }
            self.flush(false);
            if let Some(lines) = block.lines {
                (self.fold)(Lines::Parsed(lines));
            }
            self.cut = block.tail;
        }
    }

    fn add(&mut self, piece: &[u8]) {
        if self.cut.len() + piece.len() > self.most {
            self.is_too_long = true;
            // Its end must still be found.
            self.cut = Vec::new();
            self.cut.extend(piece.last());
        } else {
            self.cut.extend(piece);
        }
    }

    /// Parses the line that was cut.
    fn flush<T>(&mut self, ends_the_file: bool)
    where
        Parse: Fn(&[u8], bool) -> T,
        F: FnMut(Lines<T>),
    {
        let cut = mem::take(&mut self.cut);
        if mem::take(&mut self.is_too_long) {
            (self.fold)(Lines::TooLong);
        } else if !cut.is_empty() {
            (self.fold)(Lines::Parsed((self.parse)(&cut, ends_the_file)));
        }
    }
}

/// Buffers that are used again and again, as many as there are threads.
#[derive(Default)]
struct Buffers(Mutex<Vec<Vec<u8>>>);

impl Buffers {
    fn lend<T>(&self, work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = free().pop();
        let mut buffer = taken.unwrap_or_default();
        let done = work(&mut buffer);
        free().push(buffer);
        done
    }
}

/// A part of a file after the other, from `offset` to `end`.
pub(crate) fn ranges(
    offset: u64,
    end: u64,
) -> impl FnMut() -> io::Result<Option<Part<Range<u64>>>> {
    let mut at = offset;
    move || {
        let start = at;
        at = end.min(start.saturating_add(BLOCK_BYTES));
        Ok((start < end).then_some((start..at, at == end)))
    }
}

/// Reads this part of the file, or as much as there is of it, to the buffer.
///
/// # Errors
/// When the file can't be read.
pub(crate) fn read_at(file: &File, part: &Range<u64>, buffer: &mut Vec<u8>) -> io::Result<()> {
    let bytes = usize::try_from(part.end - part.start).map_err(io::Error::other)?;
    buffer.resize(bytes, 0);
    let mut filled = 0;
    while let Some(room @ [_, ..]) = buffer.get_mut(filled..) {
        let at = part.start + filled as u64;
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(file, room, at);
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(file, room, at);
        match read {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(filled);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of these parts, a letter a line, `!` for one too long.
    fn read(parts: &[&str], most: usize) -> String {
        let reader = Reader {
            load: |part: &&str, buffer: &mut Vec<u8>| {
                buffer.clear();
                buffer.extend(part.bytes());
                Ok(if part.contains('.') {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            },
            parse: |lines: &[u8], ends: bool| {
                let end = if ends { "$" } else { "" };
                String::from_utf8_lossy(lines).replace('\n', "|") + end
            },
            most,
        };
        let mut parts = parts.iter();
        let mut told = String::new();
        let next = || Ok(parts.next().map(|part| (*part, parts.len() == 0)));
        let read = reader.read(next, |lines| match lines {
            Lines::Parsed(text) => told += &text,
            Lines::TooLong => told.push('!'),
        });
        read.unwrap();
        told
    }

    #[test]
    fn lines_that_are_cut_come_together() {
        assert_eq!(
            read(&["ab\nc", "d\ne", "f", "g\n", "h\n"], 9),
            "ab|cd|efg|h|$"
        );
        assert_eq!(read(&["ab\n", "cd\n", "ef"], 9), "ab|cd|ef$");
        assert_eq!(read(&["ab\ncd\n"], 9), "ab|cd|$");
        assert_eq!(read(&[], 9), "");
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        assert_eq!(read(&["a\nbbb", "bbb", "b\nc\n", "d\n"], 5), "a|!c|d|$");
        assert_eq!(read(&["a\nbbb", "bbb"], 5), "a|!");
        assert_eq!(read(&["a\nbbb", "bbb\n", "c\n"], 5), "a|!c|$");
    }

    #[test]
    fn nothing_counts_behind_the_end() {
        let parts = ["a\n", "b\n", "c\nd.", "e\n", "f\n"];
        assert_eq!(read(&parts, 9), "a|b|c|d.$");
    }
}
