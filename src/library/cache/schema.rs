//! The tables of the cache, and opening the file that they lie in.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, MAIN_DB, Transaction, TransactionBehavior, ffi};

use super::{rows, write};
use crate::library::journal::use_wal;
use crate::store::private;

/// The version of the tables below. A file with an older one is made anew; one
/// with a newer one belongs to a newer program and is left alone.
pub(super) const SCHEMA_VERSION: i64 = 4;
/// How long to wait for another process. Its transactions are short.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_millis(400);

/// In bytes. Big pages, because all rows are read at each start.
const PAGE_SIZE: i64 = 16_384;

/// The rows lie in the order of a list, last used first, so that one walk along
/// them gives the first rows at once and all of them in order. A file can hold
/// several sessions; one of its rows is its first, and stands for the file.
pub(super) const CREATE: &str = "
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
        PRIMARY KEY (updated_at DESC, id, tool, file)
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
pub(super) enum Refusal {
    /// It belongs to a newer program.
    Newer(i64),
    /// It is no database, or a broken one.
    Damaged(rusqlite::Error),
    /// Locked, unreadable, not a file, …
    Unusable(rusqlite::Error),
    /// It can't be thrown away.
    Stuck(std::io::Error),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Newer(version) => write!(
                f,
                "a newer version of this program made it (schema {version}, this one knows \
                 {SCHEMA_VERSION})"
            ),
            Self::Damaged(error) | Self::Unusable(error) => error.fmt(f),
            Self::Stuck(error) => write!(f, "it can't be thrown away: {error}"),
        }
    }
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

pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)
    )
}

/// Opens the cache in a file, with the tables of this version. Tells whether
/// others had to make way for them.
///
/// What was last seen when is taken over from others, as far as it can be read.
/// Another process is waited for as long as `patience` says.
pub(super) fn open(path: &Path, patience: Duration) -> Result<(Connection, bool), Refusal> {
    // Titles and folders stand in it. What SQLite puts beside the file is for
    // those who may read the file. Where this fails, SQLite says why.
    let _ = private().write(true).create_new(true).open(path);
    let mut connection = Connection::open(path)?;
    if connection.is_readonly(MAIN_DB)? {
        // It would say so at the first new row only, and tell old ones till then.
        let code = ffi::Error::new(ffi::SQLITE_READONLY);
        let why = Some("it can only be read".to_owned());
        return Err(rusqlite::Error::SqliteFailure(code, why).into());
    }
    connection.busy_timeout(patience)?;
    refuse_newer(&connection)?;
    // Means something to a new file only.
    connection.pragma_update(None, "page_size", PAGE_SIZE)?;
    use_wal(&connection, patience)?;
    // Losing the last rows in a power cut costs one reading of their logs.
    connection.pragma_update(None, "synchronous", "normal")?;
    if is_current(&connection)? {
        return Ok((connection, false));
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it meanwhile, of this version or of a newer
    // one.
    refuse_newer(&transaction)?;
    let is_replaced = !is_current(&transaction)? && replace_tables(&transaction)?;
    transaction.commit()?;
    Ok((connection, is_replaced))
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn refuse_newer(connection: &Connection) -> Result<(), Refusal> {
    let version = version(connection)?;
    if version > SCHEMA_VERSION {
        return Err(Refusal::Newer(version));
    }
    Ok(())
}

fn is_current(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(version(connection)? == SCHEMA_VERSION && connection.prepare(rows::SELECT).is_ok())
}

/// Whether there were any.
fn replace_tables(transaction: &Transaction<'_>) -> rusqlite::Result<bool> {
    let had_tables: bool = transaction.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sessions')",
        [],
        |row| row.get(0),
    )?;
    let seen = write::seen(transaction);
    transaction.execute_batch(CREATE)?;
    write::remember(transaction, &seen)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    Ok(had_tables)
}
