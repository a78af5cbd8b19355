//! The projection cache: what is known of each stored log, in one database, so that
//! no log has to be opened to list sessions.
//!
//! It is only a cache. A row counts for nothing unless the state of its file
//! is the one that the row was made from; a cache that can't be used is made
//! anew, or set aside for this run. Several processes may share it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, Row, params};

use super::error::Notice;
use super::files::{Facts, LogFile, Stamp};
use crate::session::{Millis, SessionId};
use crate::store::private;

/// The version of the table below. A file with an older one is made anew; one
/// with a newer one belongs to a newer program and is left alone.
const SCHEMA_VERSION: i64 = 2;
/// How long to wait for another process. Its transactions are short.
const BUSY_TIMEOUT: Duration = Duration::from_millis(400);

/// In bytes. Big pages, because all rows are read at each start.
const PAGE_SIZE: i64 = 16_384;

/// The rows lie in the order of a list, newest first, so that one walk along
/// them gives the first rows at once and all of them in order.
const CREATE: &str = "
    DROP TABLE IF EXISTS sessions;
    CREATE TABLE sessions (
        file TEXT NOT NULL UNIQUE,
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
        messages INTEGER NOT NULL,
        PRIMARY KEY (created_at DESC, id, file)
    ) STRICT, WITHOUT ROWID;";
const SELECT: &str = "SELECT file, size, mtime_ns, inode, id, version, created_at, cwd, parent, \
     is_seeded, title, title_pinned, updated_at, messages FROM sessions \
     ORDER BY created_at DESC, id, file";
const PUT: &str = "INSERT OR REPLACE INTO sessions \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";

/// A row as it stands in the cache, believed by nobody yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct CachedRow<'a> {
    pub(super) file: &'a str,
    pub(super) stamp: Stamp,
    pub(super) id: &'a str,
    pub(super) version: u32,
    pub(super) created_at: Millis,
    pub(super) cwd: Option<&'a str>,
    pub(super) parent: Option<&'a str>,
    pub(super) is_seeded: bool,
    pub(super) title: Option<&'a str>,
    pub(super) is_pinned: bool,
    pub(super) updated_at: Millis,
    pub(super) messages: u32,
}

impl<'a> CachedRow<'a> {
    /// `None` for a row that this program can't have written.
    fn read(row: &'a Row<'_>) -> Option<Self> {
        let text = |at| row.get_ref(at).ok()?.as_str().ok();
        let optional = |at| match row.get_ref(at).ok()? {
            ValueRef::Null => Some(None),
            value => value.as_str().ok().map(Some),
        };
        let int = |at| row.get_ref(at).ok()?.as_i64().ok();
        Some(Self {
            file: text(0)?,
            stamp: Stamp {
                size: int(1)?.cast_unsigned(),
                mtime_ns: int(2)?,
                inode: int(3)?.cast_unsigned(),
            },
            id: text(4)?,
            version: u32::try_from(int(5)?).ok()?,
            created_at: Millis(int(6)?),
            cwd: optional(7)?,
            parent: optional(8)?,
            is_seeded: int(9)? != 0,
            title: optional(10)?,
            is_pinned: int(11)? != 0,
            updated_at: Millis(int(12)?),
            messages: u32::try_from(int(13)?).ok()?,
        })
    }
}

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

    /// Shows every row that can be read to `each`, newest first. A damaged
    /// file is replaced by an empty one; the rows shown before count for
    /// nothing then, and `Err` says so.
    pub(super) fn read(&mut self, each: impl FnMut(CachedRow<'_>)) -> Result<(), Notice> {
        let Some(connection) = &self.connection else {
            return Ok(());
        };
        let Err(error) = select(connection, each) else {
            return Ok(());
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

    /// Writes rows and removes others, in one short transaction.
    pub(super) fn write(
        &mut self,
        put: &[(LogFile, Facts)],
        remove: &[String],
    ) -> Result<(), Notice> {
        let Some(connection) = &mut self.connection else {
            return Ok(());
        };
        if put.is_empty() && remove.is_empty() {
            return Ok(());
        }
        write(connection, put, remove).map_err(not_written)
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
    if version < SCHEMA_VERSION || connection.prepare(SELECT).is_err() {
        let had_tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        // Inside a transaction, because another process may do the same now.
        let transaction = connection.transaction()?;
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

fn select(
    connection: &Connection,
    mut each: impl FnMut(CachedRow<'_>),
) -> Result<(), rusqlite::Error> {
    let mut statement = connection.prepare_cached(SELECT)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(row) = CachedRow::read(row) {
            each(row);
        }
    }
    Ok(())
}

fn write(
    connection: &mut Connection,
    put: &[(LogFile, Facts)],
    remove: &[String],
) -> Result<(), rusqlite::Error> {
    let transaction = connection.transaction()?;
    {
        let mut statement = transaction.prepare_cached(PUT)?;
        for (log, facts) in put {
            let header = &facts.header;
            statement.execute(params![
                log.file,
                log.stamp.size.cast_signed(),
                log.stamp.mtime_ns,
                log.stamp.inode.cast_signed(),
                header.id.as_str(),
                header.version,
                header.created_at.0,
                header.cwd,
                header.parent_session.as_ref().map(SessionId::as_str),
                header.is_seeded == Some(true),
                facts.title.as_ref().map(|title| &title.text),
                facts.title.as_ref().is_some_and(|title| title.pinned),
                facts.updated_at.0,
                facts.messages,
            ])?;
        }
        let mut statement = transaction.prepare_cached("DELETE FROM sessions WHERE file = ?1")?;
        for file in remove {
            statement.execute([file])?;
        }
    }
    transaction.commit()
}
