//! Makes tables: from what a store knows, or from an older table and changes.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Cwd, Flags, Form, Hidden, Index, NO_CWD, Row, Shape, UNKNOWN, letters, slice, tag};
use crate::session::{Header, Millis, SessionId, title};
use crate::tool::Tool;

/// A session on its way into a table.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "these become bits of the row, where any mix of them can stand"
)]
pub(crate) struct NewRow<'a> {
    pub(crate) id: &'a str,
    /// The title as known, trusted or not.
    pub(crate) title: Option<&'a str>,
    pub(crate) is_pinned: bool,
    pub(crate) cwd: Option<&'a str>,
    pub(crate) parent: Option<&'a str>,
    pub(crate) version: u32,
    pub(crate) created_at: Millis,
    pub(crate) updated_at: Millis,
    pub(crate) messages: Option<u32>,
    pub(crate) tool: Tool,
    pub(crate) is_subagent: bool,
    pub(crate) is_seeded: bool,
    pub(crate) is_live: bool,
    pub(crate) is_stored: bool,
    pub(crate) is_unread: bool,
}

impl<'a> NewRow<'a> {
    /// A session of which the header is known, and nothing else.
    pub(crate) fn new(header: &'a Header) -> Self {
        Self {
            id: header.id.as_str(),
            title: None,
            is_pinned: false,
            cwd: header.cwd.as_deref(),
            parent: header.parent_session.as_ref().map(SessionId::as_str),
            version: header.version,
            created_at: header.created_at,
            updated_at: header.created_at,
            messages: Some(0),
            tool: Tool::Ibid,
            is_subagent: false,
            is_seeded: header.is_seeded == Some(true),
            is_live: false,
            is_stored: false,
            is_unread: false,
        }
    }
}

/// Whether it can be seen at a glance that a label is a clean line: most are.
fn is_clean(label: &str) -> bool {
    let mut before = b' ';
    for byte in label.bytes() {
        if !matches!(byte, b' '..=b'~') || (byte == b' ' && before == b' ') {
            return false;
        }
        before = byte;
    }
    before != b' ' || label.is_empty()
}

/// All that a row has is made when it is added, once: a table that is made
/// from another takes over what that one knows.
#[derive(Clone, Default)]
pub(crate) struct Builder {
    text: String,
    /// How many bytes of the text are no row's any more.
    unused: usize,
    rows: Vec<Row>,
    letters: Vec<u64>,
    shapes: Vec<Shape>,
    tags: Vec<u8>,
    /// How many of the first rows are in order: those of the other table.
    in_order: usize,
    cwds: Vec<Cwd>,
    known_cwds: HashMap<Arc<str>, u32>,
    hidden: Hidden,
}

impl Builder {
    /// A table for about this many sessions.
    pub(crate) fn with_capacity(sessions: usize) -> Self {
        Self {
            rows: Vec::with_capacity(sessions),
            letters: Vec::with_capacity(sessions),
            shapes: Vec::with_capacity(sessions),
            tags: Vec::with_capacity(sessions),
            ..Self::default()
        }
    }

    /// A table that begins as a copy of another without some of its rows,
    /// which are told in order.
    pub(crate) fn without(index: &Index, rows: &[u32]) -> Self {
        let kept = kept(index.rows.len(), rows);
        let lost = rows.iter().filter_map(|row| index.row(*row));
        let mut builder = Self {
            text: index.text.clone(),
            unused: index.unused + lost.map(Row::text_len).sum::<usize>(),
            rows: picked(&index.rows, &kept),
            letters: picked(&index.letters, &kept),
            shapes: picked(&index.shapes, &kept),
            tags: picked(&index.tags, &kept),
            in_order: 0,
            known_cwds: (0..)
                .zip(&index.cwds)
                .map(|(at, cwd)| (Arc::clone(&cwd.path), at))
                .collect(),
            cwds: index.cwds.clone(),
            hidden: index.hidden,
        };
        builder.in_order = builder.rows.len();
        if builder.unused > builder.text.len() / 2 {
            builder.pack();
        }
        builder
    }

    /// Lets go of text that no row has.
    fn pack(&mut self) {
        let used = self.text.len().saturating_sub(self.unused);
        let mut text = String::with_capacity(used);
        for row in &mut self.rows {
            let len = u32::try_from(row.text_len()).unwrap_or(u32::MAX);
            let its = slice(&self.text, row.at, len);
            row.at = text.len() as u64;
            text.push_str(its);
        }
        self.text = text;
        self.unused = 0;
    }

    /// Adds a session, which must not be there yet.
    pub(crate) fn push(&mut self, new: &NewRow<'_>) {
        // The title of a seeded session that is not open here may be that of
        // the session its events came from.
        let title = new
            .title
            .filter(|title| !title.is_empty() && (new.is_live || !new.is_seeded));
        let label = title.unwrap_or(new.id);
        let clean = (!is_clean(label))
            .then(|| title::normalise(label, label.len()))
            .filter(|clean| clean != label);
        let mut flags = Flags::default();
        flags.set(Flags::LIVE, new.is_live);
        flags.set(Flags::TITLED, title.is_some());
        flags.set(Flags::PINNED, title.is_some() && new.is_pinned);
        flags.set(Flags::SEEDED, new.is_seeded);
        flags.set(Flags::FORKED, new.parent.is_some());
        flags.set(Flags::STORED, new.is_stored);
        flags.set(Flags::UNREAD, new.is_unread);
        flags.set(Flags::SUBAGENT, new.is_subagent);
        flags.set(Flags::CLEANED, clean.is_some());
        let shown = clean.as_deref().unwrap_or(label);
        let form = Form::of(shown);
        flags.set(Flags::ASCII, form == Form::Ascii);
        flags.set(Flags::SINGLE, form == Form::Single);
        let row = Row {
            at: self.text.len() as u64,
            id: self.append(new.id),
            label: self.append(title.unwrap_or_default()),
            clean: self.append(clean.as_deref().unwrap_or_default()),
            parent: self.append(new.parent.unwrap_or_default()),
            cwd: new.cwd.map_or(NO_CWD, |cwd| self.intern(cwd)),
            version: new.version,
            messages: new.messages.unwrap_or(UNKNOWN),
            tool: new.tool,
            flags,
            created_at: new.created_at,
            updated_at: new.updated_at,
        };
        self.rows.push(row);
        self.letters.push(letters(shown));
        self.shapes.push(Shape::of(shown));
        self.tags.push(tag(new.id));
    }

    /// Says what is known and not shown.
    pub(crate) fn set_hidden(&mut self, hidden: Hidden) {
        self.hidden = hidden;
    }

    /// Puts the rows in order.
    pub(crate) fn finish(mut self) -> Index {
        self.put_in_order();
        self.text.shrink_to_fit();
        self.rows.shrink_to_fit();
        self.letters.shrink_to_fit();
        self.shapes.shrink_to_fit();
        self.tags.shrink_to_fit();
        self.cwds.shrink_to_fit();
        Index {
            text: self.text,
            unused: self.unused,
            rows: self.rows,
            letters: self.letters,
            shapes: self.shapes,
            tags: self.tags,
            cwds: self.cwds,
            hidden: self.hidden,
        }
    }

    /// Puts the rows that were added among those that are in order already.
    fn put_in_order(&mut self) {
        let last_used_first = |a: &Row, b: &Row| {
            let id = |row: &Row| slice(&self.text, row.at, row.id);
            b.updated_at
                .cmp(&a.updated_at)
                .then_with(|| id(a).cmp(id(b)))
        };
        let last_in_order = self.in_order.saturating_sub(1);
        let tail = self.rows.get(last_in_order..).unwrap_or_default();
        if tail.is_sorted_by(|a, b| last_used_first(a, b) != Ordering::Greater) {
            return;
        }
        let (old, new) = self
            .rows
            .split_at_checked(self.in_order)
            .unwrap_or_default();
        let mut new: Vec<(usize, &Row)> = (self.in_order..).zip(new).collect();
        // Mostly they come in a few runs, which a stable sort makes use of.
        new.sort_by(|(_, a), (_, b)| last_used_first(a, b));
        let mut order: Vec<Range<usize>> = Vec::new();
        let mut done = 0;
        for (at, row) in new {
            let rest = old.get(done..).unwrap_or_default();
            let before = rest.partition_point(|old| last_used_first(old, row) != Ordering::Greater);
            if before > 0 {
                order.push(done..done + before);
                done += before;
            }
            match order.last_mut() {
                Some(run) if run.end == at => run.end += 1,
                _ => order.push(at..at + 1),
            }
        }
        order.push(done..old.len());
        self.rows = picked(&self.rows, &order);
        self.letters = picked(&self.letters, &order);
        self.shapes = picked(&self.shapes, &order);
        self.tags = picked(&self.tags, &order);
    }

    fn append(&mut self, text: &str) -> u32 {
        // No string of 4 GiB comes through SQLite or a log line; one that did
        // would be cut off here rather than break the table.
        let text = text
            .get(..text.floor_char_boundary(u32::MAX as usize))
            .unwrap_or_default();
        self.text.push_str(text);
        u32::try_from(text.len()).unwrap_or(u32::MAX)
    }

    fn intern(&mut self, cwd: &str) -> u32 {
        if let Some(at) = self.known_cwds.get(cwd) {
            return *at;
        }
        let at = u32::try_from(self.cwds.len()).unwrap_or(NO_CWD);
        let path: Arc<str> = cwd.into();
        self.cwds.push(Cwd {
            path: Arc::clone(&path),
            letters: letters(cwd),
        });
        self.known_cwds.insert(path, at);
        at
    }
}

/// What is left of so many rows without these, as runs.
fn kept(len: usize, without: &[u32]) -> Vec<Range<usize>> {
    let mut runs = Vec::with_capacity(without.len() + 1);
    let mut done = 0;
    for row in without {
        let row = *row as usize;
        runs.push(done..row);
        done = row + 1;
    }
    runs.push(done..len);
    runs
}

/// A column of these runs of rows.
fn picked<T: Copy>(column: &[T], runs: &[Range<usize>]) -> Vec<T> {
    let mut picked = Vec::with_capacity(runs.iter().map(Range::len).sum());
    for run in runs {
        picked.extend_from_slice(column.get(run.clone()).unwrap_or_default());
    }
    picked
}
