//! The tables of the full text, and the connections to them.
//!
//! They lie in the same file as the projection cache, and depend on nothing
//! else in it: they have a version of their own in a table of their own.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use rusqlite::{Connection, MAIN_DB, OptionalExtension as _, Transaction, TransactionBehavior};

use super::error::{Place, TextsError};
use super::tokens::TOKENIZER;
use crate::library::journal::use_wal;
use crate::library::room::RESERVE;
use crate::stamp::Stamp;
use crate::store::private;
use crate::threads::lock;

/// The version of the tables below. Older ones are dropped and made anew; newer ones
/// belong to a newer program and are left alone.
const VERSION: i64 = 3;
/// How long to wait for another process. Its transactions are short.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// In bytes; of meaning for a new file only.
const PAGE_SIZE: i64 = 16_384;
/// What a connection keeps in memory, in KiB; negative, as SQLite wants it.
const CACHE_SIZE: i64 = -16_384;

/// `stamp` is null while a session is not written to its end. `writes` tells a writer
/// that another one was here. `cited` is a message's place in what can be cited of its
/// session, and null where it can't be any more. The index holds tokens alone: each text is
/// kept once, as it is.
const CREATE: &str = "
    CREATE TABLE IF NOT EXISTS texts_about (version INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS texts_sessions (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        writes INTEGER NOT NULL,
        size INTEGER,
        mtime_ns INTEGER,
        inode INTEGER
    ) STRICT;
    CREATE TABLE IF NOT EXISTS texts_messages (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        place INTEGER NOT NULL,
        role INTEGER NOT NULL,
        time INTEGER NOT NULL,
        cited INTEGER,
        text TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX IF NOT EXISTS texts_places ON texts_messages (session, place);
    -- Sessions that could not be read the last time, and why.
    CREATE TABLE IF NOT EXISTS texts_problems (
        id TEXT PRIMARY KEY,
        problem TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;";
const DROP: &str = "
    DROP TABLE IF EXISTS texts_problems;
    DROP TABLE IF EXISTS texts_index;
    DROP TABLE IF EXISTS texts_messages;
    DROP TABLE IF EXISTS texts_sessions;
    DROP TABLE IF EXISTS texts_about;";

/// The table of tokens: no positions, because every match is compared with
/// its text anyway, and no second copy of the text.
fn create_index() -> String {
    format!(
        "CREATE VIRTUAL TABLE IF NOT EXISTS texts_index USING fts5(
            tokens, tokenize = '{TOKENIZER}', detail = none, content = '', contentless_delete = 1
        );"
    )
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Reading,
    Writing,
}

/// The database, opened when it is first needed, once to read and once to
/// write, so that a search does not wait for the index to grow.
///
/// Where its file can't be opened or written, the index is kept in memory, for
/// as long as this lives.
pub(super) struct Database {
    place: Place,
    /// Why the file is not used.
    set_aside: OnceLock<TextsError>,
    /// How much room there is beside a file, in bytes.
    free: fn(&Path) -> Option<u64>,
    reading: Mutex<Option<Open>>,
    writing: Mutex<Option<Open>>,
}

struct Open {
    connection: Connection,
    /// Which file it is, to notice that another one took its place.
    file: Option<u64>,
}

impl Database {
    pub(super) fn new(place: Place, free: fn(&Path) -> Option<u64>) -> Self {
        Self {
            place,
            set_aside: OnceLock::new(),
            free,
            reading: Mutex::default(),
            writing: Mutex::default(),
        }
    }

    /// Runs `work` on a connection; one at a time for each purpose.
    pub(super) fn with<T>(
        &self,
        purpose: Purpose,
        work: impl FnOnce(&mut Connection) -> Result<T, rusqlite::Error>,
    ) -> Result<T, TextsError> {
        let mut slot = self.slot(purpose);
        // One whose file is gone is closed here, or the file would stay in use.
        let kept = slot.take().filter(|open| open.file == self.file());
        let opened = match kept {
            Some(open) => Ok(open),
            None => self.open(),
        };
        let mut open = match opened {
            Ok(open) => open,
            Err(error @ TextsError::Unusable { .. }) if self.path().is_some() => {
                drop(slot);
                // Whoever noticed it first has said why.
                let _ = self.set_aside.set(error);
                return self.with(purpose, work);
            }
            Err(error) => return Err(error),
        };
        let outcome =
            work(&mut open.connection).map_err(|error| TextsError::new(&self.place, error));
        // A damaged file is thrown away by whoever owns it.
        if !matches!(outcome, Err(TextsError::Damaged { .. })) {
            *slot = Some(open);
        }
        outcome
    }

    /// Refuses to write where that would take the room that is left alone.
    pub(super) fn require_room(&self) -> Result<(), TextsError> {
        let free = self.path().and_then(self.free);
        match free.filter(|free| *free < RESERVE) {
            None => Ok(()),
            Some(free) => Err(TextsError::NoRoom {
                place: self.place.clone(),
                free,
                reserve: RESERVE,
            }),
        }
    }

    /// Which file the index is in now, to notice that another one took its
    /// place; `None` while there is none.
    pub(super) fn file(&self) -> Option<u64> {
        self.path().and_then(inode)
    }

    /// Drops all that is in the index, of whichever version it is. What else is
    /// in the file stays.
    pub(super) fn clear(&self) -> Result<(), TextsError> {
        *lock(&self.reading) = None;
        let outcome = connect(self.path()).and_then(|mut connection| {
            let transaction = begin(&mut connection)?;
            create(&transaction)?;
            transaction.commit()?;
            Ok(connection)
        });
        let connection = outcome.map_err(|error| TextsError::new(&self.place, error))?;
        // What is in memory is the connection.
        *lock(&self.writing) = Some(Open {
            connection,
            file: self.file(),
        });
        Ok(())
    }

    /// The file, unless it can't be used.
    fn path(&self) -> Option<&Path> {
        let path = self.place.0.as_deref();
        path.filter(|_| self.set_aside.get().is_none())
    }

    fn slot(&self, purpose: Purpose) -> MutexGuard<'_, Option<Open>> {
        match purpose {
            // Nobody else sees what is in memory.
            Purpose::Reading if self.path().is_some() => lock(&self.reading),
            _ => lock(&self.writing),
        }
    }

    fn open(&self) -> Result<Open, TextsError> {
        let (connection, found) =
            open(self.path()).map_err(|error| TextsError::new(&self.place, error))?;
        if found > VERSION {
            return Err(TextsError::Newer {
                place: self.place.clone(),
                found,
                known: VERSION,
            });
        }
        Ok(Open {
            connection,
            file: self.file(),
        })
    }
}

fn inode(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|file| Stamp::of(&file).inode)
}

/// A transaction that may write from its beginning: one that began with
/// reading can't wait for another writer.
pub(super) fn begin(connection: &mut Connection) -> Result<Transaction<'_>, rusqlite::Error> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// A connection to whatever tables there are.
fn connect(path: Option<&Path>) -> Result<Connection, rusqlite::Error> {
    let connection = match path {
        Some(path) => {
            // Private texts stand in it. Where this fails, SQLite says why.
            let _ = private().write(true).create_new(true).open(path);
            Connection::open(path)?
        }
        None => Connection::open_in_memory()?,
    };
    if connection.is_readonly(MAIN_DB)? {
        return Err(read_only());
    }
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.pragma_update(None, "page_size", PAGE_SIZE)?;
    connection.pragma_update(None, "cache_size", CACHE_SIZE)?;
    use_wal(&connection, BUSY_TIMEOUT)?;
    // A power cut may cost the last sessions, which are then read again.
    connection.pragma_update(None, "synchronous", "normal")?;
    Ok(connection)
}

/// What SQLite says when it can't write, where it would not have said it yet.
fn read_only() -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY);
    rusqlite::Error::SqliteFailure(code, Some("it can only be read".to_owned()))
}

/// The connection, and the version of the tables in it. Older ones have been
/// replaced.
fn open(path: Option<&Path>) -> Result<(Connection, i64), rusqlite::Error> {
    let mut connection = connect(path)?;
    let mut found = version(&connection)?;
    if found.is_none_or(|version| version < VERSION) {
        let transaction = begin(&mut connection)?;
        // Another process may have done it meanwhile.
        found = version(&transaction)?;
        if found.is_none_or(|version| version < VERSION) {
            create(&transaction)?;
            found = Some(VERSION);
        }
        transaction.commit()?;
    }
    Ok((connection, found.unwrap_or(VERSION)))
}

fn version(connection: &Connection) -> Result<Option<i64>, rusqlite::Error> {
    let has_table = "SELECT 1 FROM sqlite_schema WHERE name = 'texts_about'";
    let has_table = connection.query_row(has_table, [], |_| Ok(())).optional()?;
    match has_table {
        Some(()) => connection
            .query_row("SELECT version FROM texts_about", [], |row| row.get(0))
            .optional(),
        None => Ok(None),
    }
}

fn create(transaction: &Transaction<'_>) -> Result<(), rusqlite::Error> {
    transaction.execute_batch(DROP)?;
    transaction.execute_batch(CREATE)?;
    transaction.execute_batch(&create_index())?;
    transaction.execute("INSERT INTO texts_about VALUES (?1)", [VERSION])?;
    Ok(())
}
