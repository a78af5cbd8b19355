//! Full text search: what a person said and the model answered.
//!
//! The index lies in the same database as the projection cache and is as much
//! a cache as that: all of it can be read again from the sessions. It takes
//! up what was said in a session, cited or not, and never the noise of tools.
//! Several processes may use it at once.
//!
//! The index gives candidates; each is compared with its text, kept beside it.
//! So what is found is exact, and what a query says is text and never
//! the syntax of SQLite. `docs/decisions/search.md` says why it is made like this.

mod database;
mod error;
mod fold;
mod matching;
mod rows;
mod searching;
mod snippet;
mod terms;
mod tokens;
mod within;
mod writing;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use self::database::{Database, Purpose};
pub use self::error::{Place, TextsError};
pub use self::terms::Terms;
pub use self::tokens::{TOKENIZER, Tokens};
pub use self::within::{EventHit, search_events};
use super::room;
use crate::session::{Millis, Role, SessionId};
use crate::stamp::Stamp;

/// The full text of all sessions. Cheap to clone; all clones are the same
/// index. Every call blocks.
#[derive(Clone)]
pub struct Texts {
    database: Arc<Database>,
}

/// The conversation of a session, as [`Texts`] takes it up.
#[derive(Clone, Copy, Debug)]
pub struct SessionTexts<'a> {
    /// Whose it is.
    pub id: &'a SessionId,
    /// The state of the file that it was read from.
    pub stamp: Stamp,
    /// What was said, in order.
    pub messages: &'a [TextMessage<'a>],
}

/// One message of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct TextMessage<'a> {
    /// Whose words they are.
    pub role: Role,
    /// When it was said, or else when something last happened in the session.
    /// No reason to write a
    /// message again: one that is in the index keeps its time.
    pub when: Millis,
    /// Its place in what can be cited of the session, counted from 0; `None` where
    /// it can't be any more.
    pub cited: Option<u32>,
    /// The words.
    pub text: &'a str,
}

/// What to search for.
#[derive(Clone, Copy)]
pub struct TextQuery<'a> {
    /// What must be in a message, and what must not.
    pub terms: &'a Terms,
    /// Which sessions may be found. Asked at most once for each.
    pub admits: &'a dyn Fn(&SessionId) -> bool,
    /// How many sessions to give.
    pub limit: usize,
    /// How far to look.
    pub depth: Depth,
}

/// How far a search looks. Candidates come with the newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// As far as takes a moment: an answer for every key. It is never empty where there is a match.
    First,
    /// To the end, unless there are very many matches.
    All,
}

/// The answer to a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextHits {
    /// The sessions found: one row each, the best match first, and the newest
    /// among equals.
    pub rows: Vec<TextHit>,
    /// How many sessions were found; more than rows, where those were limited.
    pub sessions: usize,
    /// Whether there are candidates that were not looked at: all numbers may be too low then.
    pub is_cut: bool,
}

/// A session that was found, shown by its best message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextHit {
    /// The session.
    pub id: SessionId,
    /// The place of the message in what can be cited of the session, counted from
    /// 0; `None` where it can't be any more.
    pub message: Option<u32>,
    /// Whose words they are.
    pub role: Role,
    /// When it was said.
    pub when: Millis,
    /// The part of it that matches, as one clean line.
    pub snippet: String,
    /// What of the snippet matches, in bytes, in order and apart.
    pub marks: Vec<Range<usize>>,
    /// How well it matches; comparable with any other score of these terms.
    pub score: u32,
    /// How many messages of the session match.
    pub matches: u32,
}

impl Texts {
    /// The index in this database, or in memory. Touches no disk yet. Where
    /// the file is missing, it is made; one that holds other tables keeps
    /// them; where there can be none, memory takes its place.
    #[must_use]
    pub fn open(path: Option<PathBuf>) -> Self {
        Self {
            database: Arc::new(Database::new(Place(path), room::free)),
        }
    }

    /// Whether there is room to fill it on.
    ///
    /// # Errors
    /// When there is none.
    pub fn require_room(&self) -> Result<(), TextsError> {
        self.database.require_room()
    }

    /// Which of these sessions must be read for the index: those that it does
    /// not know whole and in just this state. Their places in `known`, in order.
    ///
    /// # Errors
    /// When the database can't be used.
    pub fn stale(&self, known: &[(SessionId, Stamp)]) -> Result<Vec<usize>, TextsError> {
        let indexed = self.database.with(Purpose::Reading, |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, size, mtime_ns, inode FROM texts_sessions WHERE inode IS NOT NULL",
            )?;
            let rows = statement.query_map([], |row| {
                let stamp = Stamp {
                    size: row.get::<_, i64>(1)?.cast_unsigned(),
                    mtime_ns: row.get(2)?,
                    inode: row.get::<_, i64>(3)?.cast_unsigned(),
                };
                Ok((row.get(0)?, stamp))
            })?;
            rows.collect::<Result<HashMap<String, Stamp>, _>>()
        })?;
        let is_stale = |(id, stamp): &(SessionId, Stamp)| indexed.get(id.as_str()) != Some(stamp);
        let stale = (0..).zip(known).filter(|(_, session)| is_stale(session));
        Ok(stale.map(|(at, _)| at).collect())
    }

    /// Takes up the conversations of these sessions. Give many at once, the
    /// newest first: it is written in transactions of a size. Of a session
    /// that is known, what it has in common with its former self, from the
    /// beginning on, stays.
    ///
    /// # Errors
    /// When the database can't be used, or has no room. What was written stays; a
    /// session that was not written to its end is stale.
    pub fn put(&self, sessions: &[SessionTexts<'_>]) -> Result<(), TextsError> {
        writing::put(&self.database, sessions)
    }

    /// Takes note of sessions that can't be read, and why. What is in the index
    /// of them stays; being read the next time makes that forgotten.
    ///
    /// # Errors
    /// When the database can't be used.
    pub fn put_problems(&self, problems: &[(SessionId, String)]) -> Result<(), TextsError> {
        writing::put_problems(&self.database, problems)
    }

    /// The sessions that could not be read the last time, and why, by their
    /// ids.
    ///
    /// # Errors
    /// When the database can't be used, or its index can't be asked.
    pub fn problems(&self) -> Result<Vec<(SessionId, String)>, TextsError> {
        self.database.with(Purpose::Reading, |connection| {
            connection
                .prepare_cached("SELECT rowid FROM texts_index LIMIT 1")?
                .exists([])?;
            let mut statement =
                connection.prepare_cached("SELECT id, problem FROM texts_problems ORDER BY id")?;
            let rows = statement.query_map([], |row| {
                let id: String = row.get(0)?;
                Ok((id.into(), row.get(1)?))
            })?;
            rows.collect()
        })
    }

    /// Which file it is in, where it is in one: another one holds nothing of
    /// what was put in before.
    pub(super) fn file(&self) -> Option<u64> {
        self.database.file()
    }

    /// Removes these sessions.
    fn forget(&self, ids: &[SessionId]) -> Result<(), TextsError> {
        writing::forget(&self.database, ids)
    }

    /// Removes every session that is none of these.
    ///
    /// # Errors
    /// When the database can't be used. Some may be gone then.
    pub fn forget_others(&self, kept: &HashSet<SessionId>) -> Result<(), TextsError> {
        let ids: Vec<SessionId> = self.database.with(Purpose::Reading, |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id FROM texts_sessions UNION SELECT id FROM texts_problems",
            )?;
            let ids = statement.query_map([], |row| row.get(0).map(|id: String| id.into()))?;
            ids.collect::<Result<_, _>>()
        })?;
        let gone: Vec<SessionId> = ids.into_iter().filter(|id| !kept.contains(id)).collect();
        self.forget(&gone)
    }

    /// Empties the index, so that all sessions are stale; one of another version
    /// too, even of a newer one.
    ///
    /// # Errors
    /// When the database can't be used, or is damaged.
    pub fn clear(&self) -> Result<(), TextsError> {
        self.database.clear()
    }

    /// Searches. `None` as soon as it is cancelled.
    ///
    /// # Errors
    /// When the database can't be used.
    pub fn search(
        &self,
        query: &TextQuery<'_>,
        cancel: &CancellationToken,
    ) -> Result<Option<TextHits>, TextsError> {
        self.database.with(Purpose::Reading, |connection| {
            searching::search(connection, query, cancel)
        })
    }
}

/// What stands for a role in the tables.
fn role_number(role: Role) -> i64 {
    match role {
        Role::System => 0,
        Role::User => 1,
        Role::Assistant => 2,
        Role::Tool => 3,
    }
}

fn role_of(number: i64) -> Option<Role> {
    let roles = [Role::System, Role::User, Role::Assistant, Role::Tool];
    let at = usize::try_from(number).ok()?;
    roles.get(at).copied()
}

#[cfg(test)]
mod tests;
