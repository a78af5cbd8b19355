//! The lines of a log: what a look at one gives.

use std::sync::atomic::{AtomicBool, Ordering};

use super::super::pass::{Form, Skim};
use super::marks::{self, Mark};
use super::rows::{Message, Row};
use super::skim;
use crate::text::TextBlock;

/// What a line says.
pub(super) enum Line {
    Message(Message),
    /// So many events of a stream.
    Packed(u64),
    Row(Box<Row>),
}

/// The form of the lines.
#[derive(Default)]
pub(super) struct Rows {
    /// Whether the words of tools are kept.
    keeps_results: bool,
    /// Whether rows that stand for several are counted. Where no row tells its
    /// seq they must be, but only if a range of them is named.
    counts: bool,
    /// Whether such a row was passed over.
    has_uncounted: AtomicBool,
}

impl Rows {
    pub(super) fn new(keeps_results: bool) -> Self {
        Self {
            keeps_results,
            ..Self::default()
        }
    }

    /// The same, with every row counted.
    pub(super) fn counted(&self) -> Self {
        Self {
            keeps_results: self.keeps_results,
            counts: true,
            ..Self::default()
        }
    }

    pub(super) fn has_uncounted(&self) -> bool {
        self.has_uncounted.load(Ordering::Relaxed)
    }

    fn message(&self, line: &[u8], texts: Option<&mut TextBlock>) -> Skim<Line> {
        let skimmed = || texts.and_then(|texts| skim::message(line, texts));
        let message = match marks::result(line) {
            Some(result) if !self.keeps_results => Some(result),
            Some(result) => skimmed().or_else(|| Some(result.with_words_of(line))),
            None => skimmed(),
        };
        message.map_or(Skim::Unclear, |message| Skim::Said(Line::Message(message)))
    }
}

impl Form for Rows {
    type Seen = Line;
    type Said = Line;
    type Record = Row;

    fn skim(&self, line: &[u8], texts: Option<&mut TextBlock>) -> Skim<Line> {
        match marks::mark(line) {
            Mark::Noise => Skim::Nothing,
            Mark::Wanted => self.message(line, texts),
            Mark::Packed if !self.counts => {
                self.has_uncounted.store(true, Ordering::Relaxed);
                Skim::Nothing
            }
            Mark::Packed => skim::packed(line)
                .map_or(Skim::Unclear, |members| Skim::Said(Line::Packed(members))),
            Mark::Unclear => Skim::Unclear,
        }
    }

    fn whole(&self, _line: &[u8], row: Row) -> Line {
        Line::Row(Box::new(row))
    }

    fn said(&self, seen: Line) -> Line {
        seen
    }
}
