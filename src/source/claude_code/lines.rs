//! The lines of a file: what a look at one gives.

use std::sync::atomic::{AtomicBool, Ordering};

use super::marks::{self, Kind, Marked};
use super::record::{self, Record};
use super::said::{Said, Seen};
use super::skim;
use super::told::Told;
use crate::source::pass::{Form, Skim};
use crate::source::records;
use crate::text::TextBlock;

/// What a line says; `W` is what is said in a record of the dialogue.
pub(super) enum Line<W> {
    /// A record of the chain.
    Told(Told<W>),
    /// One that is known by its marks. Most have nothing beside them.
    Marked(Marked, Option<Box<Beside<W>>>),
    /// Another record.
    Record(Box<Record>),
}

/// What is read of a record besides its marks.
pub(super) struct Beside<W> {
    /// Its words, where the marks do not tell all of them that is wanted.
    pub(super) words: Option<W>,
    /// All of it, when it was looked at before the start was known.
    pub(super) early: Option<Early>,
}

/// A record that is read whole because it may tell the start: it, or what is
/// glued to a damaged one, and how many could not be read.
pub(super) struct Early {
    pub(super) record: Option<Record>,
    pub(super) lost: usize,
}

/// The form of the lines.
pub(super) struct Lines {
    /// Whether the words of tools and the names of models are kept.
    keeps_results: bool,
    /// Whether all is known that the first records tell of the session. What is
    /// known by its marks and looked at before is read whole, and what counts
    /// of it is decided in the order of the file.
    start_is_known: AtomicBool,
}

impl Lines {
    pub(super) fn new(keeps_results: bool) -> Self {
        Self {
            keeps_results,
            start_is_known: AtomicBool::new(false),
        }
    }

    /// From here on nothing is asked of the records that the first ones tell.
    pub(super) fn know_the_start(&self) {
        self.start_is_known.store(true, Ordering::Relaxed);
    }
}

impl Form for Lines {
    type Seen = Line<Seen>;
    type Said = Line<Option<Said>>;
    type Record = Record;

    fn skim(&self, line: &[u8], mut texts: Option<&mut TextBlock>) -> Skim<Line<Seen>> {
        if !record::wanted(line) {
            return Skim::Nothing;
        }
        let start_is_known = self.start_is_known.load(Ordering::Relaxed);
        let mut skimmed = || {
            let texts = texts.as_deref_mut()?;
            skim::record(line, texts, start_is_known, self.keeps_results)
        };
        let Some(marked) = marks::marked(line) else {
            return skimmed().map_or(Skim::Unclear, |told| Skim::Said(Line::Told(told)));
        };
        if start_is_known && !self.keeps_results {
            return Skim::Said(Line::Marked(marked, None));
        }
        let words = || {
            let skimmed = skimmed().map(|told| told.words);
            skimmed.or_else(|| Some(Seen::of(&serde_json::from_slice(line).ok()?)))
        };
        let is_said = self.keeps_results && marked.kind != Kind::Attachment;
        let words = is_said.then(words).flatten();
        let beside = Beside {
            words: words.filter(|words| words.is_like(marked.kind)),
            early: (!start_is_known).then(|| {
                let (record, lost) = records::record(line);
                Early { record, lost }
            }),
        };
        Skim::Said(Line::Marked(marked, Some(Box::new(beside))))
    }

    fn whole(&self, _line: &[u8], record: Record) -> Line<Seen> {
        Line::Record(Box::new(record))
    }

    fn said(&self, seen: Line<Seen>) -> Line<Option<Said>> {
        match seen {
            Line::Told(told) => Line::Told(told.said()),
            Line::Marked(marked, beside) => {
                let time = marked.time;
                let said = |beside: Box<Beside<Seen>>| {
                    Box::new(Beside {
                        words: beside.words.map(|seen| Said::of(time, seen)),
                        early: beside.early,
                    })
                };
                Line::Marked(marked, beside.map(said))
            }
            Line::Record(record) => Line::Record(record),
        }
    }
}
