//! One pass over the lines of a log.
//!
//! The file is cut into blocks without regard to its lines. A block is read
//! and parsed by one thread, while it is in that one's cache, and what was
//! parsed is folded in order; the lines that are cut come together there.
//! Memory stays at a block for each thread and what few blocks parse to.

use std::fs::File;
use std::io;
use std::mem;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::fold::{Fold, Sequencer};
use super::notice::{LogNotice, Place, Problem};

/// How much is read at once, in bytes: it must stay in a core's cache.
const BLOCK_BYTES: u64 = 256 << 10;

/// How many blocks are parsed before what they gave is folded.
const BLOCKS_AT_ONCE: usize = 32;

/// A guess that spares most vectors from growing.
const USUAL_LINE_BYTES: usize = 128;

/// A log behind its header, read to the end.
pub(super) struct Scanned<F> {
    pub(super) fold: F,
    pub(super) notices: Vec<LogNotice>,
    pub(super) valid_len: u64,
}

/// Reads a log from `offset`, where its second line begins, to `end`.
pub(super) fn scan<F: Fold>(file: &File, offset: u64, end: u64, fold: F) -> io::Result<Scanned<F>> {
    let mut state = State {
        sequencer: Sequencer::new(fold),
        line: 2,
        offset,
        valid_len: offset,
        cut: Vec::new(),
        held: None,
        lost: Vec::new(),
    };
    let mut starts = (0..).map(|i| offset.saturating_add(i * BLOCK_BYTES));
    let mut next_group = || -> Vec<u64> {
        let group = starts.by_ref().take_while(|start| *start < end);
        group.take(BLOCKS_AT_ONCE).collect()
    };
    let buffers = Buffers::default();
    let parse = |group: Vec<u64>| -> io::Result<Vec<Block<F::Record>>> {
        let parse = |start: u64| {
            let behind = end.min(start.saturating_add(BLOCK_BYTES));
            buffers.lend(|buffer| {
                read_at(file, start..behind, buffer)?;
                Ok(parse_block::<F>(buffer, behind == end))
            })
        };
        if group.len() < 2 {
            return group.into_iter().map(parse).collect();
        }
        group.into_par_iter().map(parse).collect()
    };
    let mut parsed = parse(next_group())?;
    loop {
        let group = next_group();
        if group.is_empty() {
            break;
        }
        let ready = mem::take(&mut parsed);
        let (blocks, ()) = rayon::join(|| parse(group), || state.fold(ready));
        parsed = blocks?;
    }
    state.fold(parsed);
    state.finish(file)?;
    let (fold, notices) = state.sequencer.finish();
    Ok(Scanned {
        fold,
        notices,
        valid_len: state.valid_len,
    })
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

/// Reads this part of the file, or as much as there is of it, to the buffer.
fn read_at(file: &File, part: Range<u64>, buffer: &mut Vec<u8>) -> io::Result<()> {
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

/// A line's length with its line feed, and what it says; blank lines say
/// nothing.
struct Line<T> {
    bytes: usize,
    said: Option<Result<T, Box<Problem>>>,
}

/// A block, parsed.
struct Block<T> {
    /// The rest of the line that began before it. Without a line feed, when it
    /// goes on behind this block.
    head: Vec<u8>,
    lines: Vec<Line<T>>,
    /// The beginning of the line that goes on behind it.
    tail: Vec<u8>,
}

/// Cuts off the unfinished lines at both ends and parses those between. A line
/// that begins with the block is taken for an unfinished one too.
fn parse_block<F: Fold>(block: &[u8], ends_the_log: bool) -> Block<F::Record> {
    let (head, rest) = match memchr::memchr(b'\n', block) {
        Some(at) => block.split_at_checked(at + 1).unwrap_or((block, &[])),
        None => (block, &[][..]),
    };
    let whole = memchr::memrchr(b'\n', rest).map_or(0, |at| at + 1);
    let (whole, tail) = rest.split_at_checked(whole).unwrap_or((rest, &[]));
    Block {
        head: head.to_vec(),
        lines: parse_lines::<F>(whole, ends_the_log && tail.is_empty()),
        tail: tail.to_vec(),
    }
}

struct State<F: Fold> {
    sequencer: Sequencer<F>,
    line: u64,
    offset: u64,
    valid_len: u64,
    /// What was read of a line that goes on.
    cut: Vec<u8>,
    /// The last record, which is folded when the next one bears it out.
    held: Option<(Place, F::Record)>,
    /// What could not be read behind it.
    lost: Vec<(Place, Problem)>,
}

impl<F: Fold> State<F> {
    fn fold(&mut self, blocks: Vec<Block<F::Record>>) {
        for block in blocks {
            if !block.head.is_empty() && self.cut.ends_with(b"\n") {
                self.flush(false);
            }
            self.cut.extend(&block.head);
            if block.lines.is_empty() && block.tail.is_empty() {
                // More may come of this line, or it may be the last of all.
                continue;
            }
            self.flush(false);
            for line in block.lines {
                self.add(line);
            }
            self.cut = block.tail;
        }
    }

    fn finish(&mut self, file: &File) -> io::Result<()> {
        self.flush(true);
        if let Some((place, record)) = self.held.take() {
            // The last record that counts is looked at whole where no other
            // stands behind it to bear it out.
            let said = if self.lost.is_empty() {
                Ok(record)
            } else {
                let mut line = Vec::new();
                read_at(file, place.offset..place.offset + place.bytes, &mut line)?;
                F::parse(&line, None, true)
            };
            self.sequencer.line(place, said);
        }
        self.tell_lost();
        Ok(())
    }

    fn tell_lost(&mut self) {
        for (place, problem) in mem::take(&mut self.lost) {
            self.sequencer.line(place, Err(problem));
        }
    }

    /// Parses the line that was cut.
    fn flush(&mut self, ends_the_log: bool) {
        let cut = mem::take(&mut self.cut);
        for line in parse_lines::<F>(&cut, ends_the_log) {
            self.add(line);
        }
    }

    fn add(&mut self, line: Line<F::Record>) {
        let place = Place {
            line: self.line,
            offset: self.offset,
            bytes: line.bytes as u64,
        };
        self.line += 1;
        self.offset += place.bytes;
        if !matches!(&line.said, Some(Err(problem)) if **problem == Problem::TornTail) {
            self.valid_len = self.offset;
        }
        match line.said {
            None => {}
            Some(Err(problem)) => self.lost.push((place, *problem)),
            Some(Ok(record)) => {
                if let Some((place, record)) = self.held.replace((place, record)) {
                    self.sequencer.line(place, Ok(record));
                }
                self.tell_lost();
            }
        }
    }
}

/// Parses whole lines; only the last of a log may lack its line feed.
fn parse_lines<F: Fold>(lines: &[u8], ends_the_log: bool) -> Vec<Line<F::Record>> {
    if lines.is_empty() {
        return Vec::new();
    }
    let mut shared = F::share(lines.len());
    let parsed = parse_each::<F>(lines, Some(&mut shared), ends_the_log);
    if F::complete(shared) {
        return parsed;
    }
    parse_each::<F>(lines, None, ends_the_log)
}

fn parse_each<F: Fold>(
    piece: &[u8],
    mut shared: Option<&mut F::Shared>,
    ends_the_log: bool,
) -> Vec<Line<F::Record>> {
    let mut lines = Vec::with_capacity(piece.len() / USUAL_LINE_BYTES + 1);
    let mut rest = piece;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        rest = after;
        let last = ends_the_log && rest.is_empty();
        lines.push(Line {
            bytes: line.len(),
            said: parse_line::<F>(line, shared.as_deref_mut(), last),
        });
    }
    lines
}

fn parse_line<F: Fold>(
    line: &[u8],
    shared: Option<&mut F::Shared>,
    last: bool,
) -> Option<Result<F::Record, Box<Problem>>> {
    if line.trim_ascii_start().is_empty() {
        return None;
    }
    let parsed = F::parse(line, shared, last);
    // A line is written with its line feed at once. Where that is missing and
    // the JSON ends early, the writer was interrupted; a whole line that
    // merely lacks it has lost nothing and is kept.
    Some(match parsed {
        Err(Problem::NotJson(_)) if last && !line.ends_with(b"\n") => {
            Err(Box::new(Problem::TornTail))
        }
        parsed => parsed.map_err(Box::new),
    })
}
