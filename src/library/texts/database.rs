//! The tables of the full text, and the connections to them.
//!
//! They lie in the same file as the projection cache, and depend on nothing
//! else in it: they have a version of their own in a table of their own.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};

use super::error::{Place, TextsError};
use super::tokens::TOKENIZER;
use crate::stamp::Stamp;
use crate::store::private;
use crate::threads::lock;

/// The version of the tables below. Older ones are dropped and made anew; newer ones
/// belong to a newer program and are left alone.
const VERSION: i64 = 1;
/// How long to wait for another process. Its transactions are short.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// In bytes; of meaning for a new file only.
const PAGE_SIZE: i64 = 16_384;
/// What a connection keeps in memory, in KiB; negative, as SQLite wants it.
const CACHE_SIZE: i64 = -16_384;

/// `stamp` is null while a session is not written to its end. `writes` tells a writer
/// that another one was here. The index holds tokens alone: each text is
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
        text TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX IF NOT EXISTS texts_places ON texts_messages (session, place);";
const DROP: &str = "
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
pub(super) struct Database {
    place: Place,
    reading: Mutex<Option<Open>>,
    writing: Mutex<Option<Open>>,
}

struct Open {
    connection: Connection,
    /// Which file it is, to notice that another one took its place.
    file: Option<u64>,
}

impl Database {
    pub(super) fn new(place: Place) -> Self {
        Self {
            place,
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
        let path = self.place.0.as_deref();
        let is_gone = |open: &mut Open| path.is_some() && open.file != path.and_then(inode);
        if slot.as_mut().is_none_or(is_gone) {
            // The old one is closed before, or its file would stay in use.
            *slot = None;
        }
        let open = match &mut *slot {
            Some(open) => open,
            empty => empty.insert(self.open()?),
        };
        let outcome =
            work(&mut open.connection).map_err(|error| TextsError::new(&self.place, error));
        if matches!(outcome, Err(TextsError::Damaged { .. })) {
            // A damaged file is thrown away by whoever owns it.
            *slot = None;
        }
        outcome
    }

    /// Drops all that is in the index. What else is in the file stays.
    pub(super) fn clear(&self) -> Result<(), TextsError> {
        self.with(Purpose::Writing, |connection| {
            let transaction = begin(connection)?;
            create(&transaction)?;
            transaction.commit()
        })
    }

    fn slot(&self, purpose: Purpose) -> MutexGuard<'_, Option<Open>> {
        match purpose {
            // Nobody else sees what is in memory.
            Purpose::Reading if self.place.0.is_some() => lock(&self.reading),
            _ => lock(&self.writing),
        }
    }

    fn open(&self) -> Result<Open, TextsError> {
        let (connection, found) =
            open(self.place.0.as_deref()).map_err(|error| TextsError::new(&self.place, error))?;
        if found > VERSION {
            return Err(TextsError::Newer {
                place: self.place.clone(),
                found,
                known: VERSION,
            });
        }
        Ok(Open {
            connection,
            file: self.place.0.as_deref().and_then(inode),
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

/// The connection, and the version of the tables in it. Older ones have been
/// replaced.
fn open(path: Option<&Path>) -> Result<(Connection, i64), rusqlite::Error> {
    let mut connection = match path {
        Some(path) => {
            // Private texts stand in it. Where this fails, SQLite says why.
            let _ = private().write(true).create_new(true).open(path);
            Connection::open(path)?
        }
        None => Connection::open_in_memory()?,
    };
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.pragma_update(None, "page_size", PAGE_SIZE)?;
    connection.pragma_update(None, "cache_size", CACHE_SIZE)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    // A power cut may cost the last sessions, which are then read again.
    connection.pragma_update(None, "synchronous", "normal")?;
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
