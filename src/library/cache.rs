//! The projection cache: what is known of each stored log, in one database, so that
//! no log has to be opened to list sessions.
//!
//! It is only a cache. A row counts for nothing unless the state of its file
//! is the one that the row was made from; a cache that can't be used is made
//! anew, or set aside for this run. Several processes may share it: one that
//! finds it held by another goes on in memory until it is free.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use self::schema::{BUSY_TIMEOUT, CREATE, Refusal, is_damage};
use self::waiting::{Change, Waiting};
use self::write::Seen;
use super::error::Notice;
use super::journal::is_busy;
use crate::reference::Cause;
use crate::session::Millis;
use crate::stamp::Stamp;
use crate::tool::Tool;

mod lookup;
mod rows;
mod schema;
mod waiting;
mod write;

pub use lookup::Standing;
pub(super) use lookup::{
    Gone, Place, Searchable, gone, hidden, place, searchable, stamp, standing,
};
pub(super) use rows::{CachedFile, CachedRow};
pub(super) use write::{Corrections, ReadFile};

/// The cache of one home folder, in its file or, failing that, in memory.
pub(super) struct Cache {
    path: Option<PathBuf>,
    /// Which file it is, to notice that another one took its place.
    file: Option<u64>,
    /// `None` when not even memory can hold one: nothing is remembered then.
    connection: Option<Connection>,
    /// The file that memory stands in for, while another program holds it.
    waiting: Option<Waiting>,
}

impl Cache {
    /// Opens the cache at `path`, or one in memory, and says what had to be
    /// done about the file, if anything.
    pub(super) fn open(path: Option<&Path>) -> (Self, Option<Notice>) {
        let Some(path) = path else {
            return (Self::in_memory(), None);
        };
        let outcome = match Self::open_file(path) {
            Err(Refusal::Damaged(error)) => Self::replace(path, &error.to_string()),
            outcome => outcome,
        };
        outcome.unwrap_or_else(|refusal| match refusal {
            Refusal::Unusable(error) if is_busy(&error) => Self::beside(path),
            refusal => {
                let notice = set_aside(path, refusal.to_string());
                (Self::in_memory(), Some(notice))
            }
        })
    }

    /// One in memory, till the file is free that another program holds.
    fn beside(path: &Path) -> (Self, Option<Notice>) {
        let mut cache = Self::in_memory();
        cache.waiting = Some(Waiting::of(path.to_owned()));
        (cache, Some(held(path)))
    }

    fn open_file(path: &Path) -> Result<(Self, Option<Notice>), Refusal> {
        Self::open_within(path, BUSY_TIMEOUT)
    }

    fn open_within(path: &Path, patience: Duration) -> Result<(Self, Option<Notice>), Refusal> {
        let (connection, is_replaced) = schema::open(path, patience)?;
        let notice = is_replaced.then(|| rebuilt(path, "its schema was another one".to_owned()));
        let cache = Self {
            path: Some(path.to_owned()),
            file: inode(path),
            connection: Some(connection),
            waiting: None,
        };
        Ok((cache, notice))
    }

    /// Whether its file was deleted, or another one took its place.
    pub(super) fn has_lost_its_file(&self) -> bool {
        let path = self.path.as_deref();
        path.is_some_and(|path| inode(path) != self.file)
    }

    fn in_memory() -> Self {
        let connection = Connection::open_in_memory().and_then(|connection| {
            connection.execute_batch(CREATE)?;
            Ok(connection)
        });
        Self {
            path: None,
            file: None,
            connection: connection.ok(),
            waiting: None,
        }
    }

    /// Throws a file away and begins an empty one, which knows what was last
    /// seen when, as far as that can still be read.
    fn replace(path: &Path, reason: &str) -> Result<(Self, Option<Notice>), Refusal> {
        let seen = seen_in(path);
        // The database goes first: what is beside a new one that is still
        // empty is no part of it.
        for suffix in ["", "-wal", "-shm"] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            match std::fs::remove_file(&name) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Refusal::Stuck(e));
                }
                _ => {}
            }
        }
        let (cache, _) = Self::open_file(path)?;
        if let Some(connection) = &cache.connection {
            write::remember(connection, &seen)?;
        }
        Ok((cache, Some(rebuilt(path, reason.to_owned()))))
    }

    /// Forgets everything, so that all is read anew, but not what was last seen
    /// when. A file that is not whole, or belongs to a newer program, makes way
    /// for another one, which the notice says.
    pub(super) fn start_over(&mut self, path: Option<&Path>) -> Result<Option<Notice>, Notice> {
        let Some(path) = path else {
            self.clear()?;
            return Ok(None);
        };
        let mut opened = None;
        if self.path.is_none() || self.connection.is_none() {
            match Self::open_file(path) {
                Ok((cache, notice)) => (*self, opened) = (cache, notice),
                Err(refusal @ (Refusal::Damaged(_) | Refusal::Newer(_))) => {
                    return self.start_anew(path, &refusal.to_string()).map(Some);
                }
                Err(refusal) => return Err(set_aside(path, refusal.to_string())),
            }
        }
        let cleared = self.connection.as_ref().map(write::clear_whole);
        let reason = match cleared {
            None | Some(Ok(())) => return Ok(opened),
            Some(Err(error)) if is_busy(&error) => return Err(not_written(error)),
            Some(Err(error)) => error.to_string(),
        };
        self.start_anew(path, &reason).map(Some)
    }

    /// Puts an empty file in the place of the one there, whatever that is.
    pub(super) fn start_anew(&mut self, path: &Path, reason: &str) -> Result<Notice, Notice> {
        // The file must not be open while it is thrown away.
        *self = Self::in_memory();
        let refused = |refusal: Refusal| set_aside(path, refusal.to_string());
        let (cache, notice) = Self::replace(path, reason).map_err(refused)?;
        *self = cache;
        Ok(notice.unwrap_or_else(|| rebuilt(path, reason.to_owned())))
    }

    /// Shows every row that can be read to `each`, newest first, and gives the
    /// files that have none. A damaged file is replaced by an empty one; the
    /// rows shown before count for nothing then, and `Err` says so.
    pub(super) fn read(
        &mut self,
        each: impl FnMut(CachedRow<'_>),
    ) -> Result<Vec<CachedFile>, Notice> {
        let Some(connection) = &self.connection else {
            return Ok(Vec::new());
        };
        let error = match rows::all(connection, each) {
            Ok(files) => return Ok(files),
            Err(error) => error,
        };
        let Some(path) = self.path.clone() else {
            *self = Self::in_memory();
            return Err(not_written(error));
        };
        // The file must not be open while it is thrown away.
        self.connection = None;
        let (cache, notice) = if is_damage(&error) {
            Self::replace(&path, &error.to_string()).unwrap_or_else(|refusal| {
                let notice = set_aside(&path, refusal.to_string());
                (Self::in_memory(), Some(notice))
            })
        } else if is_busy(&error) {
            Self::beside(&path)
        } else {
            (Self::in_memory(), None)
        };
        *self = cache;
        Err(notice.unwrap_or_else(|| set_aside(&path, error.to_string())))
    }

    /// Writes what was found in files, in place of what was known of them, in
    /// one short transaction. Gives what is shown from now on of each session
    /// where that is not just what was found.
    pub(super) fn write(&mut self, read: &[ReadFile]) -> (Corrections, Option<Notice>) {
        if read.is_empty() {
            return (Corrections::default(), None);
        }
        self.change(Change::Write(read))
    }

    /// Forgets these files, and remembers their sessions as gone. Gives what
    /// is shown instead, where a session has another file.
    pub(super) fn remove(&mut self, files: &[(Tool, String)]) -> (Corrections, Option<Notice>) {
        if files.is_empty() {
            return (Corrections::default(), None);
        }
        self.change(Change::Remove(files))
    }

    /// Changes what the cache says. Which sessions are shown depends on it, so
    /// where the file can't be changed, a copy in memory is from now on.
    fn change(&mut self, change: Change<'_>) -> (Corrections, Option<Notice>) {
        if let Some(waiting) = &mut self.waiting {
            waiting.keep(change);
        }
        let error = match self.apply(change) {
            None => return (Corrections::default(), None),
            Some(Ok(corrections)) => return (corrections, None),
            Some(Err(error)) => error,
        };
        let Some(path) = self.path.take() else {
            return (Corrections::default(), Some(not_written(error)));
        };
        let notice = if is_busy(&error) {
            let (cache, held) = Self::beside(&path);
            *self = cache;
            held
        } else {
            *self = Self::in_memory();
            Some(not_written(error))
        };
        if let (Some(connection), Some(path)) = (&self.connection, path.to_str()) {
            // What can't be copied is looked at again.
            let _ = write::copy(connection, path);
        }
        if let Some(waiting) = &mut self.waiting {
            waiting.keep(change);
        }
        let corrections = self.apply(change).and_then(Result::ok).unwrap_or_default();
        (corrections, notice)
    }

    fn apply(&mut self, change: Change<'_>) -> Option<rusqlite::Result<Corrections>> {
        let connection = self.connection.as_mut()?;
        Some(match change {
            Change::Write(read) => write::write(connection, read),
            Change::Remove(files) => write::remove(connection, files),
        })
    }

    /// Takes note of when the files of these tools were listed.
    pub(super) fn scanned(&mut self, tools: &[Tool], at: Millis) -> Result<(), Notice> {
        match &self.connection {
            Some(connection) => write::scanned(connection, tools, at).map_err(not_written),
            None => Ok(()),
        }
    }

    fn clear(&mut self) -> Result<(), Notice> {
        match &self.connection {
            Some(connection) => write::clear(connection).map_err(not_written),
            None => Ok(()),
        }
    }

    /// Asks for one thing; what can't be read is not there.
    pub(super) fn ask<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Option<T> {
        ask(self.connection.as_ref()?).ok()
    }
}

/// What the cache in a file that can't be used knows of what was last seen.
fn seen_in(path: &Path) -> Vec<Seen> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    Connection::open_with_flags(path, flags)
        .map(|connection| write::seen(&connection))
        .unwrap_or_default()
}

fn inode(path: &Path) -> Option<u64> {
    std::fs::metadata(path)
        .ok()
        .map(|file| Stamp::of(&file).inode)
}

fn set_aside(path: &Path, reason: String) -> Notice {
    Notice::CacheSetAside {
        path: path.to_owned(),
        reason,
    }
}

fn held(path: &Path) -> Notice {
    Notice::CacheHeld {
        path: path.to_owned(),
    }
}

fn rebuilt(path: &Path, reason: String) -> Notice {
    Notice::CacheRebuilt {
        path: path.to_owned(),
        reason,
    }
}

fn not_written(error: rusqlite::Error) -> Notice {
    let cause: Cause = if is_damage(&error) {
        // What can be read of it is still right, so it is kept till then.
        let advice = format!("it is damaged ({error}); `ibid reindex` makes it anew");
        Arc::new(std::io::Error::other(advice))
    } else {
        Arc::new(error)
    };
    Notice::CacheNotWritten { cause }
}
