//! The table that discovery looks through: every session there is, packed for
//! a million of them.
//!
//! All text lies in one string; a session has a row of fixed size, and
//! directories, which repeat, are kept once. Rows stand last used first, so the
//! order of a list without a query is a walk along them. A table never
//! changes: a change makes a new one.

mod builder;
mod letters;

use std::collections::HashSet;
use std::sync::Arc;

pub(super) use builder::{Builder, NewRow};
pub(super) use letters::{Form, Shape, bit, letters};

use crate::reference::mention::Reference;
use crate::reference::ports::{KnownTitle, ListedSession};
use crate::session::{Header, Millis, SessionId};
use crate::tool::Tool;

/// Marks a session that was begun in no directory.
const NO_CWD: u32 = u32::MAX;
/// Marks a session of which it is not known how many messages it has.
const UNKNOWN: u32 = u32::MAX;
/// What a path that is shared takes beside its text, in bytes.
const COUNTS: usize = 2 * size_of::<usize>();

/// Every session there is, as of one moment.
#[derive(Debug, Default)]
pub struct Index {
    /// Id, label, clean title and parent of each session, one after another.
    text: String,
    /// How many bytes of the text no row has: those of rows that older tables
    /// had.
    unused: usize,
    rows: Vec<Row>,
    /// Which letters the shown title of each row has. Apart from the rows,
    /// because a search walks along all of them.
    letters: Vec<u64>,
    /// What bounds the score of each row's shown title.
    shapes: Vec<Shape>,
    /// A hash of each row's id, to find one without looking at all of them.
    tags: Vec<u8>,
    cwds: Vec<Cwd>,
    hidden: Hidden,
}

/// How many sessions are known and not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// Those that other sessions' agents made.
    pub subagents: usize,
    /// Files without a message.
    pub stubs: usize,
    /// Further files of sessions that are shown.
    pub doubles: usize,
}

/// A directory that sessions were begun in.
#[derive(Clone, Debug)]
struct Cwd {
    path: Arc<str>,
    letters: u64,
}

/// One session. Lengths are in bytes of [`Index::text`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    at: u64,
    id: u32,
    label: u32,
    clean: u32,
    parent: u32,
    cwd: u32,
    version: u32,
    messages: u32,
    tool: Tool,
    flags: Flags,
    created_at: Millis,
    updated_at: Millis,
}

impl Row {
    /// Which of [`Index::cwds`] it was begun in; out of range when in none.
    pub(super) fn cwd(&self) -> usize {
        self.cwd as usize
    }

    pub(super) fn updated_at(&self) -> Millis {
        self.updated_at
    }

    /// What [`Index::display`] is made of.
    pub(super) fn form(&self) -> Form {
        if self.flags.has(Flags::ASCII) {
            Form::Ascii
        } else if self.flags.has(Flags::SINGLE) {
            Form::Single
        } else {
            Form::Clusters
        }
    }

    pub(super) fn tool(&self) -> Tool {
        self.tool
    }

    pub(super) fn is_stored(&self) -> bool {
        self.flags.has(Flags::STORED)
    }

    fn text_len(&self) -> usize {
        [self.id, self.label, self.clean, self.parent]
            .into_iter()
            .map(|len| len as usize)
            .sum()
    }
}

/// What is so of a session, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Flags(u16);

impl Flags {
    /// It is open here.
    const LIVE: Self = Self(1);
    /// It has a title that may be shown.
    const TITLED: Self = Self(1 << 1);
    /// A person chose the title.
    const PINNED: Self = Self(1 << 2);
    /// Its header says `isSeeded`.
    const SEEDED: Self = Self(1 << 3);
    /// It was forked from another session.
    const FORKED: Self = Self(1 << 4);
    /// It has a log.
    const STORED: Self = Self(1 << 5);
    /// Nothing but the name of its log is known.
    const UNREAD: Self = Self(1 << 6);
    /// Its label is no clean line; one stands beside it.
    const CLEANED: Self = Self(1 << 7);
    /// What is shown of it is ASCII.
    const ASCII: Self = Self(1 << 8);
    /// What is shown of it has a grapheme cluster a character.
    const SINGLE: Self = Self(1 << 10);
    /// Another session's agent made it.
    const SUBAGENT: Self = Self(1 << 9);

    fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    fn set(&mut self, other: Self, on: bool) {
        if on {
            self.0 |= other.0;
        } else {
            self.0 &= !other.0;
        }
    }
}

/// A session in an [`Index`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent facts, each shown by itself"
)]
pub struct Entry<'a> {
    /// Its id.
    pub id: &'a str,
    /// What a mention of it says: its title where one can be trusted, else
    /// its id.
    pub label: &'a str,
    /// The label as one clean line.
    pub display: &'a str,
    /// Whether the label is a title.
    pub is_titled: bool,
    /// Whether a person chose the title.
    pub is_pinned: bool,
    /// The directory it was begun in.
    pub cwd: Option<&'a str>,
    /// The session it was forked from.
    pub parent: Option<&'a str>,
    /// The format generation of its log.
    pub version: u32,
    /// When it began; while [`is_unread`](Self::is_unread), when its log was
    /// last written.
    pub created_at: Millis,
    /// When something last happened in it.
    pub updated_at: Millis,
    /// How many of its messages can be cited, where that is known.
    pub messages: Option<u32>,
    /// The tool that it belongs to.
    pub tool: Tool,
    /// Whether another session's agent made it.
    pub is_subagent: bool,
    /// Whether it is open here.
    pub is_live: bool,
    /// Whether its header says `isSeeded`.
    pub is_seeded: bool,
    /// Whether nothing but the name of its log is known yet.
    pub is_unread: bool,
}

impl Entry<'_> {
    /// The id as a value of its own.
    #[must_use]
    pub fn session_id(&self) -> SessionId {
        SessionId::from(self.id)
    }

    /// The reference that picking it makes.
    #[must_use]
    pub fn reference(&self) -> Reference {
        Reference {
            session_id: self.session_id(),
            label: self.label.to_owned(),
        }
    }

    pub(crate) fn listed(&self) -> ListedSession {
        let title = self.is_titled.then(|| self.label.to_owned());
        let mut header = Header::new(
            self.session_id(),
            self.created_at,
            self.cwd.map(str::to_owned),
        );
        header.version = self.version;
        header.parent_session = self.parent.map(SessionId::from);
        header.is_seeded = self.is_seeded.then_some(true);
        ListedSession {
            header,
            title: match title {
                title if self.is_live => KnownTitle::Live(title),
                Some(title) => KnownTitle::Cached(title),
                None => KnownTitle::Unknown,
            },
        }
    }
}

/// What a table takes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The ids, labels and directories themselves.
    pub strings: usize,
    /// Everything beside them, unused capacity included.
    pub beside: usize,
}

impl Index {
    /// How many sessions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The session in this row. Rows stand last used first.
    #[must_use]
    pub fn get(&self, row: u32) -> Option<Entry<'_>> {
        let row = self.row(row)?;
        let [id, label, clean, parent] = self.texts(row);
        let label = if row.flags.has(Flags::TITLED) {
            label
        } else {
            id
        };
        Some(Entry {
            id,
            label,
            display: if row.flags.has(Flags::CLEANED) {
                clean
            } else {
                label
            },
            is_titled: row.flags.has(Flags::TITLED),
            is_pinned: row.flags.has(Flags::PINNED),
            cwd: self.cwds.get(row.cwd as usize).map(|cwd| &*cwd.path),
            parent: row.flags.has(Flags::FORKED).then_some(parent),
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
            messages: (row.messages != UNKNOWN).then_some(row.messages),
            tool: row.tool,
            is_subagent: row.flags.has(Flags::SUBAGENT),
            is_live: row.flags.has(Flags::LIVE),
            is_seeded: row.flags.has(Flags::SEEDED),
            is_unread: row.flags.has(Flags::UNREAD),
        })
    }

    /// All sessions, last used first.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.row_count()).filter_map(|row| self.get(row))
    }

    /// The row of this session.
    #[must_use]
    pub fn find(&self, id: &SessionId) -> Option<u32> {
        let id = id.as_str();
        let row = memchr::memchr_iter(tag(id), &self.tags)
            .find(|at| self.rows.get(*at).is_some_and(|row| self.id(row) == id))?;
        u32::try_from(row).ok()
    }

    /// The rows of these sessions, in order.
    pub(super) fn rows_of(&self, ids: &HashSet<&str>) -> Vec<u32> {
        let mut tagged = [false; 256];
        for id in ids {
            if let Some(tagged) = tagged.get_mut(usize::from(tag(id))) {
                *tagged = true;
            }
        }
        let may_be = |tag: u8| tagged.get(usize::from(tag)) == Some(&true);
        (0..)
            .zip(self.rows.iter().zip(&self.tags))
            .filter(|(_, (row, tag))| may_be(**tag) && ids.contains(self.id(row)))
            .map(|(at, _)| at)
            .collect()
    }

    /// What is known and not shown.
    #[must_use]
    pub fn hidden(&self) -> Hidden {
        self.hidden
    }

    /// What the table takes.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        let text = self.text.len().saturating_sub(self.unused);
        let strings = text + self.cwds.iter().map(|cwd| cwd.path.len()).sum::<usize>();
        let all = self.text.capacity()
            + self.rows.capacity() * size_of::<Row>()
            + self.letters.capacity() * size_of::<u64>()
            + self.shapes.capacity() * size_of::<Shape>()
            + self.tags.capacity()
            + self.cwds.capacity() * (size_of::<Cwd>() + COUNTS)
            + self.cwds.iter().map(|cwd| cwd.path.len()).sum::<usize>();
        Footprint {
            strings,
            beside: all - strings,
        }
    }

    pub(super) fn row_count(&self) -> u32 {
        u32::try_from(self.rows.len()).unwrap_or(u32::MAX)
    }

    /// The letters of the shown titles, row by row.
    pub(super) fn title_letters(&self) -> &[u64] {
        &self.letters
    }

    /// The shape of the shown title.
    pub(super) fn title_shape(&self, row: u32) -> Option<&Shape> {
        self.shapes.get(row as usize)
    }

    pub(super) fn cwds(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.cwds.iter().map(|cwd| (&*cwd.path, cwd.letters))
    }

    pub(super) fn row(&self, row: u32) -> Option<&Row> {
        self.rows.get(row as usize)
    }

    /// The shown title alone, for the hot path of a search.
    pub(super) fn display(&self, row: &Row) -> &str {
        let id = u64::from(row.id);
        let label = u64::from(row.label);
        if row.flags.has(Flags::CLEANED) {
            self.slice(row.at + id + label, row.clean)
        } else if row.flags.has(Flags::TITLED) {
            self.slice(row.at + id, row.label)
        } else {
            self.slice(row.at, row.id)
        }
    }

    pub(super) fn id(&self, row: &Row) -> &str {
        self.slice(row.at, row.id)
    }

    fn texts(&self, row: &Row) -> [&str; 4] {
        let mut at = row.at;
        [row.id, row.label, row.clean, row.parent].map(|len| {
            let text = self.slice(at, len);
            at += u64::from(len);
            text
        })
    }

    fn slice(&self, at: u64, len: u32) -> &str {
        slice(&self.text, at, len)
    }
}

fn tag(id: &str) -> u8 {
    id.bytes()
        .fold(0, |tag: u8, b| tag.rotate_left(3).wrapping_add(b))
}

fn slice(text: &str, at: u64, len: u32) -> &str {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    text.get(at..at.saturating_add(len as usize))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
