//! A table in the making: the rows of the cache, and the live sessions, whose
//! own word counts.

use std::collections::HashMap;
use std::sync::MutexGuard;

use super::cache::CachedRow;
use super::files::Kind;
use super::index::{Builder, Hidden, Index, NewRow};
use super::{Library, LiveSession, LogFile, Stored};
use crate::session::{FORMAT_VERSION, Header, Millis};
use crate::threads::lock;

/// A live session as a list shows it.
pub(super) struct LiveRow {
    pub(super) header: Header,
    title: Option<String>,
}

impl LiveRow {
    pub(super) fn new(session: &dyn LiveSession) -> Self {
        Self {
            header: session.header(),
            title: session.title(),
        }
    }

    pub(super) fn row(&self) -> NewRow<'_> {
        NewRow {
            title: self.title.as_deref(),
            is_live: true,
            ..NewRow::new(&self.header)
        }
    }
}

/// A live session and what its log adds: last activity, messages, whether the
/// title is pinned.
pub(super) struct LiveAndStored {
    live: LiveRow,
    log: Option<(Millis, Option<u32>, bool)>,
}

/// The live sessions by their ids.
pub(super) type LiveRows = HashMap<String, LiveAndStored>;

pub(super) struct Gathering {
    builder: Builder,
    live: LiveRows,
    show_subagents: bool,
    hidden: Hidden,
}

impl Gathering {
    /// Nothing yet of about this many stored sessions.
    pub(super) fn new(sessions: usize, live: LiveRows, show_subagents: bool) -> Self {
        Self {
            builder: Builder::with_capacity(sessions + live.len()),
            live,
            show_subagents,
            hidden: Hidden::default(),
        }
    }

    /// Adds what the cache says of a session.
    pub(super) fn cached(&mut self, row: &CachedRow<'_>) {
        if self.hides(row) {
            return;
        }
        if let Some(live) = self.live.get_mut(row.id) {
            live.log = Some((row.updated_at, row.messages, row.is_pinned));
            return;
        }
        self.builder.push(&NewRow {
            id: row.id,
            title: row.title,
            is_pinned: row.is_pinned,
            cwd: row.cwd,
            parent: row.parent,
            version: row.version,
            created_at: row.created_at,
            updated_at: row.updated_at,
            messages: row.messages,
            tool: row.tool,
            is_subagent: row.kind == Kind::Subagent,
            is_seeded: row.is_seeded,
            is_live: false,
            is_stored: true,
            is_unread: false,
        });
    }

    /// Counts a row that no list shows.
    fn hides(&mut self, row: &CachedRow<'_>) -> bool {
        let count = match row.kind {
            _ if row.is_double => &mut self.hidden.doubles,
            Kind::Stub => &mut self.hidden.stubs,
            Kind::Subagent if !self.show_subagents => &mut self.hidden.subagents,
            Kind::Subagent | Kind::Session => return false,
        };
        *count += 1;
        true
    }

    /// Adds all that the name of a log tells, which is nothing where the id is
    /// too long for it.
    pub(super) fn unread(&mut self, log: &LogFile) {
        let Some(id) = &log.id else { return };
        let written_at = log.stamp.written_at();
        if let Some(live) = self.live.get_mut(id.as_str()) {
            live.log = Some((written_at, None, false));
            return;
        }
        self.builder.push(&NewRow {
            id: id.as_str(),
            title: None,
            is_pinned: false,
            cwd: None,
            parent: None,
            version: FORMAT_VERSION,
            created_at: written_at,
            updated_at: written_at,
            messages: None,
            tool: log.tool,
            is_subagent: false,
            is_seeded: false,
            is_live: false,
            is_stored: true,
            is_unread: true,
        });
    }

    /// Forgets what was added: what a broken cache said before it broke is
    /// not believed.
    pub(super) fn start_over(&mut self) {
        self.builder = Builder::default();
        self.hidden = Hidden::default();
        for live in self.live.values_mut() {
            live.log = None;
        }
    }

    /// The table as far as it is.
    pub(super) fn so_far(&self) -> Index {
        finished(self.builder.clone(), &self.live, self.hidden)
    }

    pub(super) fn finish(self) -> Index {
        finished(self.builder, &self.live, self.hidden)
    }
}

fn finished(mut builder: Builder, live: &LiveRows, hidden: Hidden) -> Index {
    builder.set_hidden(hidden);
    for live in live.values() {
        builder.push(&live.row());
    }
    builder.finish()
}

impl LiveAndStored {
    fn row(&self) -> NewRow<'_> {
        let row = self.live.row();
        let (updated_at, messages, is_pinned) =
            self.log.unwrap_or((row.updated_at, row.messages, false));
        NewRow {
            updated_at,
            messages,
            is_pinned,
            is_stored: self.log.is_some(),
            ..row
        }
    }
}

impl Library {
    /// The stored side, locked, with the live sessions as they are now. These
    /// are asked without the lock: they may be waiting for it.
    pub(super) fn lock_with_live(&self) -> (MutexGuard<'_, Stored>, LiveRows) {
        loop {
            let live = lock(&self.shared.live);
            let version = live.version;
            let sessions: Vec<_> = live.sessions.values().cloned().collect();
            drop(live);
            let rows = sessions
                .into_iter()
                .map(|session| {
                    let live = LiveRow::new(&*session);
                    let id = live.header.id.as_str().to_owned();
                    (id, LiveAndStored { live, log: None })
                })
                .collect();
            let stored = lock(&self.shared.stored);
            if lock(&self.shared.live).version == version {
                return (stored, rows);
            }
        }
    }
}
