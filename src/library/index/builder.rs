//! Makes tables: from what a store knows, or from an older table and changes.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::{Cwd, Flags, Form, Hidden, Index, NO_CWD, Row, Shape, UNKNOWN, letters, range, tag};
use crate::session::{Header, Millis, SessionId, title};
use crate::threads::in_background;
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

#[derive(Clone, Default)]
pub(crate) struct Builder {
    text: String,
    rows: Vec<Row>,
    cwds: Vec<Cwd>,
    known_cwds: HashMap<Box<str>, u32>,
    hidden: Hidden,
}

impl Builder {
    /// A table for about this many sessions.
    pub(crate) fn with_capacity(sessions: usize) -> Self {
        Self {
            rows: Vec::with_capacity(sessions),
            ..Self::default()
        }
    }

    /// A table that begins as a copy of another without some of its rows.
    pub(crate) fn without(index: &Index, rows: &HashSet<u32>) -> Self {
        let mut builder = Self {
            text: String::with_capacity(index.text.len()),
            rows: Vec::with_capacity(index.rows.len()),
            known_cwds: (0..)
                .zip(&index.cwds)
                .map(|(at, cwd)| (cwd.path.clone(), at))
                .collect(),
            cwds: index.cwds.clone(),
            hidden: index.hidden,
        };
        for (at, row) in (0..).zip(&index.rows) {
            if rows.contains(&at) {
                continue;
            }
            let len = u32::try_from(row.text_len()).unwrap_or(u32::MAX);
            let text = index.text.get(range(row.at, len)).unwrap_or_default();
            builder.rows.push(Row {
                at: builder.text.len() as u64,
                ..*row
            });
            builder.text.push_str(text);
        }
        builder
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
    }

    /// Says what is known and not shown.
    pub(crate) fn set_hidden(&mut self, hidden: Hidden) {
        self.hidden = hidden;
    }

    /// Puts the rows in order.
    pub(crate) fn finish(self) -> Index {
        let mut index = Index {
            text: self.text,
            rows: self.rows,
            letters: Vec::new(),
            shapes: Vec::new(),
            tags: Vec::new(),
            cwds: self.cwds,
            hidden: self.hidden,
        };
        let mut rows = std::mem::take(&mut index.rows);
        let newest_first = |a: &Row, b: &Row| {
            b.created_at
                .cmp(&a.created_at)
                .then_with(|| index.slice(a.at, a.id).cmp(index.slice(b.at, b.id)))
        };
        let (letters, shapes) = in_background(|| {
            if !rows.is_sorted_by(|a, b| newest_first(a, b) != Ordering::Greater) {
                rows.par_sort_unstable_by(newest_first);
            }
            rows.par_iter()
                .map(|row| {
                    let shown = index.display(row);
                    (letters(shown), Shape::of(shown))
                })
                .unzip::<_, _, Vec<_>, Vec<_>>()
        });
        rows.shrink_to_fit();
        index.letters = letters;
        index.shapes = shapes;
        index.tags = rows.iter().map(|row| tag(index.id(row))).collect();
        index.rows = rows;
        index.text.shrink_to_fit();
        index.cwds.shrink_to_fit();
        index
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
        self.cwds.push(Cwd {
            path: cwd.into(),
            letters: letters(cwd),
        });
        self.known_cwds.insert(cwd.into(), at);
        at
    }
}
