//! The beginning of a rollout file, read as far as a list needs it.

use std::path::Path;

use super::history::Said;
use super::home;
use super::lines;
use super::reading::{Counts, Reading};
use super::record::{self, HistoryBase, Kind, Record};
use crate::session::title;
use crate::source::glance::{Glance, PROMPT_BYTES};
use crate::source::{SourceError, records, torn};

/// How far a file was read.
pub(super) struct Beginning {
    pub(super) glance: Glance,
    pub(super) reading: Reading,
    /// How many of its first bytes.
    read: usize,
    /// Whether a record is too long to be read whole.
    pub(super) is_cut: bool,
}

impl Beginning {
    /// Reads a file until its metadata and a person's first words are known,
    /// and no further than `most` bytes.
    pub(super) fn of(path: &Path, most: u64) -> Result<Self, SourceError> {
        let mut beginning = Self {
            glance: Glance::of(path)?,
            reading: Reading::default(),
            read: 0,
            is_cut: false,
        };
        beginning.go_on(path, most)?;
        if let Some(display) = beginning.reading.only_shown().filter(|it| it.persons) {
            beginning.reading = Reading::of_display(display);
            beginning.read = 0;
            beginning.go_on(path, most)?;
        }
        Ok(beginning)
    }

    fn go_on(&mut self, path: &Path, most: u64) -> Result<(), SourceError> {
        let id = home::ids(path).map_or("", |(id, _)| id);
        let mut number = 0;
        loop {
            while let Some((line, next)) = self.glance.line(self.read)
                && next as u64 <= most
                && !self.is_enough()
            {
                let line = records::trimmed(line);
                if !line.is_empty() {
                    number += 1;
                    self.reading.line(line, id, number);
                }
                self.read = next;
            }
            if self.is_enough() || self.read as u64 >= most {
                return Ok(());
            }
            let is_far = self.tells_directory() && self.glance.head().len() >= PROMPT_BYTES;
            if is_far || !self.glance.grow()? {
                self.cut(id, number + 1);
                return Ok(());
            }
        }
    }

    /// Takes what there is of a record that is too long to be read whole.
    fn cut(&mut self, id: &str, number: usize) {
        if self.is_all() {
            return;
        }
        let line = self.glance.head().get(self.read..).unwrap_or_default();
        let types = record::types(line);
        if types.is_some_and(|(outer, inner)| record::kind(outer, inner) == Kind::Wanted)
            && let Ok(begun) = torn::read(line)
        {
            self.is_cut = true;
            self.reading.record(begun, Some((id, number)));
        }
    }

    fn is_enough(&self) -> bool {
        self.tells_directory() && self.prompt().is_some()
    }

    fn tells_directory(&self) -> bool {
        let meta = self.reading.meta.as_ref();
        meta.is_some_and(|meta| meta.cwd.is_some()) || self.reading.environment.is_some()
    }

    /// Whether all of the file was read.
    pub(super) fn is_all(&self) -> bool {
        self.glance.is_whole() && self.read >= self.glance.head().len()
    }

    /// What a person said first.
    pub(super) fn prompt(&self) -> Option<&str> {
        let items = self.reading.history.items().iter();
        let said = items.filter(|item| item.said == Said::Person);
        let mut texts = said.map(|item| &*item.text);
        texts.find(|text| !title::fallback(text).is_empty())
    }

    /// The file's last lines, or all that were not read yet.
    pub(super) fn rest(&self) -> impl Iterator<Item = &[u8]> {
        self.glance.lines(self.read).chain(self.glance.tail_lines())
    }

    /// What the file builds on.
    pub(super) fn base(&self) -> Option<HistoryBase> {
        let base = self.reading.meta.as_ref()?.history_base.clone()?;
        serde_json::from_value(base).ok()
    }
}

impl Reading {
    /// Takes one line of a file that need not be read to its end. `id` is the
    /// one in the file's name, `number` the line's, from 1.
    fn line(&mut self, line: &[u8], id: &str, number: usize) {
        let types = record::types(line);
        if let Some((outer, inner)) = types.filter(|_| record::is_whole(line)) {
            match record::kind(outer, inner) {
                Kind::Wanted => {}
                Kind::Display => {
                    if let Some(role) = lines::shown(inner, line) {
                        self.shown.count(role);
                    }
                    if !self.display.is_read() {
                        return;
                    }
                }
                Kind::Noise | Kind::Asked => return,
                Kind::Unknown => {
                    self.skipped += 1;
                    return;
                }
            }
        }
        let (read, lost) = records::record::<Record>(line);
        self.skipped += lost;
        // The inside of a torn record is none, though it may look like an old
        // one.
        if let Some(record) = read.filter(|read| read.payload.is_some() || types.is_none()) {
            self.record(record, Some((id, number)));
        }
    }

    /// Whether no record of the tool's was found.
    pub(super) fn is_of_nothing(&self) -> bool {
        let says_nothing = self.dialogue == 0
            && self.shown == Counts::default()
            && self.history.items().is_empty();
        let tells_nothing = self.meta.is_none()
            && self.bare_id.is_none()
            && self.first_time.is_none()
            && self.environment.is_none()
            && self.renamed.is_empty();
        says_nothing && tells_nothing
    }
}
