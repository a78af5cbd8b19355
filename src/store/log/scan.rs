//! One pass over the lines of a log.

use std::fs::File;
use std::io;
use std::mem;
use std::ops::{ControlFlow, Range};

use super::fold::{Fold, Sequencer};
use super::notice::{LogNotice, Place, Problem};
use crate::blocks::{self, Lines, Reader};

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
        held: None,
        lost: Vec::new(),
    };
    let reader = Reader {
        load: |part: &Range<u64>, buffer: &mut Vec<u8>| {
            blocks::read_at(file, part, buffer)?;
            Ok(ControlFlow::Continue(()))
        },
        parse: parse_lines::<F>,
        most: usize::MAX,
    };
    reader.read(blocks::ranges(offset, end), |lines| {
        if let Lines::Parsed(lines) = lines {
            for line in lines {
                state.add(line);
            }
        }
    })?;
    state.finish(file)?;
    let (fold, notices) = state.sequencer.finish();
    Ok(Scanned {
        fold,
        notices,
        valid_len: state.valid_len,
    })
}

/// A line's length with its line feed, and what it says; blank lines say
/// nothing.
struct Line<T> {
    bytes: usize,
    said: Option<Result<T, Box<Problem>>>,
}

struct State<F: Fold> {
    sequencer: Sequencer<F>,
    line: u64,
    offset: u64,
    valid_len: u64,
    /// The last record, which is folded when the next one bears it out.
    held: Option<(Place, F::Record)>,
    /// What could not be read behind it.
    lost: Vec<(Place, Problem)>,
}

impl<F: Fold> State<F> {
    fn finish(&mut self, file: &File) -> io::Result<()> {
        if let Some((place, record)) = self.held.take() {
            // The last record that counts is looked at whole where no other
            // stands behind it to bear it out.
            let said = if self.lost.is_empty() {
                Ok(record)
            } else {
                let mut line = Vec::new();
                blocks::read_at(file, &(place.offset..place.offset + place.bytes), &mut line)?;
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
