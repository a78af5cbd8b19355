//! The projection cache: what is known of each stored log, in one database, so that
//! no log has to be opened to list sessions.
//!
//! It is only a cache. A row counts for nothing unless the state of its file
//! is the one that the row was made from; a cache that can't be used is made
//! anew, or set aside for this run. Several processes may share it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::error::Notice;
use crate::session::Millis;
use crate::store::private;
use crate::tool::Tool;

mod lookup;
mod rows;
mod write;

pub use lookup::Standing;
pub(super) use lookup::{
    Gone, Place, Searchable, gone, hidden, place, searchable, stamp, standing,
};
pub(super) use rows::{CachedFile, CachedRow};
pub(super) use write::{Corrections, ReadFile};

/// The version of the table below. A file with an older one is made anew; one
/// with a newer one belongs to a newer program and is left alone.
const SCHEMA_VERSION: i64 = 3;
/// How long to wait for another process. Its transactions are short.
const BUSY_TIMEOUT: Duration = Duration::from_millis(400);

/// In bytes. Big pages, because all rows are read at each start.
const PAGE_SIZE: i64 = 16_384;

/// The rows lie in the order of a list, newest first, so that one walk along
/// them gives the first rows at once and all of them in order. A file can hold
/// several sessions; one of its rows is its first, and stands for the file.
const CREATE: &str = "
    DROP TABLE IF EXISTS sessions;
    DROP TABLE IF EXISTS files;
    DROP TABLE IF EXISTS names;
    DROP TABLE IF EXISTS gone;
    DROP TABLE IF EXISTS scans;
    CREATE TABLE sessions (
        file TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        cwd TEXT,
        parent TEXT,
        is_seeded INTEGER NOT NULL,
        title TEXT,
        title_pinned INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        messages INTEGER,
        tool INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        is_first INTEGER NOT NULL,
        is_double INTEGER NOT NULL,
        name TEXT,
        notices TEXT,
        PRIMARY KEY (created_at DESC, id, tool, file)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sessions_of_file ON sessions (tool, file);
    CREATE INDEX sessions_by_id ON sessions (id);
    CREATE INDEX sessions_hidden ON sessions (kind, is_double)
        WHERE kind != 0 OR is_double != 0;
    -- Files without a session of their own: names, and what can't be read.
    CREATE TABLE files (
        tool INTEGER NOT NULL,
        file TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        problem TEXT,
        PRIMARY KEY (tool, file)
    ) STRICT, WITHOUT ROWID;
    -- Names that tools keep apart from their sessions.
    CREATE TABLE names (
        id TEXT NOT NULL,
        tool INTEGER NOT NULL,
        file TEXT NOT NULL,
        title TEXT NOT NULL,
        PRIMARY KEY (id, tool, file)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX names_of_file ON names (tool, file);
    -- Sessions whose files are gone.
    CREATE TABLE gone (
        id TEXT PRIMARY KEY,
        tool INTEGER NOT NULL,
        file TEXT NOT NULL,
        title TEXT,
        last_seen INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    -- When the files of a tool were last listed, to a minute.
    CREATE TABLE scans (
        tool INTEGER PRIMARY KEY,
        at INTEGER NOT NULL
    ) STRICT;";

/// Why a cache file can't be used as it is.
enum Refusal {
    /// It belongs to a newer program.
    Newer(i64),
    /// It is no database, or a broken one.
    Damaged(rusqlite::Error),
    /// Locked, unreadable, not a file, …
    Unusable(rusqlite::Error),
}

impl From<rusqlite::Error> for Refusal {
    fn from(error: rusqlite::Error) -> Self {
        if is_damage(&error) {
            Self::Damaged(error)
        } else {
            Self::Unusable(error)
        }
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)
    )
}

/// The cache of one home folder, in its file or, failing that, in memory.
pub(super) struct Cache {
    path: Option<PathBuf>,
    /// `None` when not even memory can hold one: nothing is remembered then.
    connection: Option<Connection>,
}

impl Cache {
    /// Opens the cache at `path`, or one in memory, and says what had to be
    /// done about the file, if anything.
    pub(super) fn open(path: Option<&Path>) -> (Self, Option<Notice>) {
        let Some(path) = path else {
            return (Self::in_memory(), None);
        };
        let notice = match open_file(path) {
            Ok(cache) => return cache,
            Err(Refusal::Damaged(error)) => match Self::replace(path, &error) {
                Ok(cache) => return cache,
                Err(reason) => set_aside(path, reason),
            },
            Err(Refusal::Newer(version)) => set_aside(
                path,
                format!(
                    "a newer version of this program made it (schema {version}, this one \
                     knows {SCHEMA_VERSION})"
                ),
            ),
            Err(Refusal::Unusable(error)) => set_aside(path, error.to_string()),
        };
        (Self::in_memory(), Some(notice))
    }

    fn in_memory() -> Self {
        let connection = Connection::open_in_memory().and_then(|connection| {
            connection.execute_batch(CREATE)?;
            Ok(connection)
        });
        Self {
            path: None,
            connection: connection.ok(),
        }
    }

    /// Throws a damaged file away and begins an empty one.
    fn replace(path: &Path, error: &rusqlite::Error) -> Result<(Self, Option<Notice>), String> {
        for suffix in ["-wal", "-shm", ""] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            match std::fs::remove_file(&name) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.to_string()),
                _ => {}
            }
        }
        match open_file(path) {
            Ok((cache, _)) => Ok((cache, Some(rebuilt(path, error.to_string())))),
            Err(Refusal::Damaged(e) | Refusal::Unusable(e)) => Err(e.to_string()),
            Err(Refusal::Newer(version)) => Err(format!("schema {version} is from the future")),
        }
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
            Self::replace(&path, &error)
                .unwrap_or_else(|reason| (Self::in_memory(), Some(set_aside(&path, reason))))
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
        self.change(|connection| write::write(connection, read))
    }

    /// Forgets these files, and remembers their sessions as gone. Gives what
    /// is shown instead, where a session has another file.
    pub(super) fn remove(&mut self, files: &[(Tool, String)]) -> (Corrections, Option<Notice>) {
        if files.is_empty() {
            return (Corrections::default(), None);
        }
        self.change(|connection| write::remove(connection, files))
    }

    /// Changes what the cache says. Which sessions are shown depends on it, so
    /// where the file can't be changed, a copy in memory is from now on.
    fn change(
        &mut self,
        change: impl Fn(&mut Connection) -> rusqlite::Result<Corrections>,
    ) -> (Corrections, Option<Notice>) {
        let Some(connection) = &mut self.connection else {
            return (Corrections::default(), None);
        };
        let error = match change(connection) {
            Ok(corrections) => return (corrections, None),
            Err(error) => error,
        };
        if let Some(path) = self.path.take() {
            *self = Self::in_memory();
            if let (Some(connection), Some(path)) = (&self.connection, path.to_str()) {
                // What can't be copied is looked at again.
                let _ = write::copy(connection, path);
            }
        }
        let changed = self.connection.as_mut().map(change);
        let corrections = changed.and_then(Result::ok).unwrap_or_default();
        (corrections, Some(not_written(error)))
    }

    /// Takes note of when the files of these tools were listed.
    pub(super) fn scanned(&mut self, tools: &[Tool], at: Millis) -> Result<(), Notice> {
        match &self.connection {
            Some(connection) => write::scanned(connection, tools, at).map_err(not_written),
            None => Ok(()),
        }
    }

    /// Forgets everything, so that all is read anew.
    pub(super) fn clear(&mut self) -> Result<(), Notice> {
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

fn set_aside(path: &Path, reason: String) -> Notice {
    Notice::CacheSetAside {
        path: path.to_owned(),
        reason,
    }
}

fn rebuilt(path: &Path, reason: String) -> Notice {
    Notice::CacheRebuilt {
        path: path.to_owned(),
        reason,
    }
}

fn not_written(error: rusqlite::Error) -> Notice {
    Notice::CacheNotWritten {
        cause: Arc::new(error),
    }
}

fn open_file(path: &Path) -> Result<(Cache, Option<Notice>), Refusal> {
    // Titles and folders stand in it. What SQLite puts beside the file is for
    // those who may read the file. Where this fails, SQLite says why.
    let _ = private().write(true).create_new(true).open(path);
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version > SCHEMA_VERSION {
        return Err(Refusal::Newer(version));
    }
    // Means something to a new file only.
    connection.pragma_update(None, "page_size", PAGE_SIZE)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    // Losing the last rows in a power cut costs one reading of their logs.
    connection.pragma_update(None, "synchronous", "normal")?;
    let mut notice = None;
    if version < SCHEMA_VERSION || connection.prepare(rows::SELECT).is_err() {
        let had_tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        // Inside a transaction, because another process may do the same now.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(CREATE)?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        transaction.commit()?;
        notice = (had_tables > 0).then(|| rebuilt(path, "its schema was another one".to_owned()));
    }
    let cache = Cache {
        path: Some(path.to_owned()),
        connection: Some(connection),
    };
    Ok((cache, notice))
}
