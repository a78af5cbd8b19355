//! The database. It is read without leaving a trace: no lock file, no shared
//! memory file, no journal, nothing checkpointed.
//!
//! SQLite makes a `-shm` file beside a database with a write-ahead log, even
//! to read it, so such a one is read from a private copy, log included. One
//! that has neither that log nor a journal is read where it is.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags, Row};
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use super::current::{MessageData, PartData};
use super::{SourceError, Stored};

/// How long a writer is waited for.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often files that change while they are copied are copied again.
const COPIES: usize = 4;
/// Where a database's header says how it is journalled, and the value there
/// for a write-ahead log.
const JOURNAL_MODES: std::ops::Range<usize> = 18..20;
const WRITE_AHEAD: u8 = 2;

/// An open database. The copy goes with it.
struct Database {
    connection: Connection,
    _copy: Option<TempDir>,
}

pub(super) fn read(path: &Path) -> Result<Stored, SourceError> {
    let failed = |cause| SourceError::Unreadable {
        path: path.to_owned(),
        cause,
    };
    let database = open(path).map_err(failed)?;
    let tables = tables(&database.connection).map_err(|e| failed(io::Error::other(e)))?;
    if !["session", "message", "part"]
        .iter()
        .all(|table| tables.contains(&(*table).to_owned()))
    {
        return Err(SourceError::UnknownFormat {
            path: path.to_owned(),
            found: "it is a database, and not of opencode".to_owned(),
        });
    }
    let has_next_form = tables.iter().any(|table| table == "session_message");
    let stored = last_used(&database.connection, has_next_form);
    stored
        .map_err(|e| failed(io::Error::other(e)))?
        .ok_or_else(|| SourceError::NoSession {
            path: path.to_owned(),
            wanted: None,
        })
}

fn open(path: &Path) -> io::Result<Database> {
    // The log lies beside the database itself, not beside a link to it.
    let path = &path.canonicalize()?;
    let mut header = Vec::new();
    File::open(path)?.take(100).read_to_end(&mut header)?;
    let modes = header.get(JOURNAL_MODES).unwrap_or_default();
    let beside = ["-wal", "-journal"].map(|end| beside(path, end));
    let is_alone = !modes.contains(&WRITE_AHEAD) && !beside.iter().any(|file| file.is_file());
    let (copy, place, mode) = if is_alone {
        (None, path.to_owned(), OpenFlags::SQLITE_OPEN_READ_ONLY)
    } else {
        let copy = tempfile::tempdir()?;
        let place = copy.path().join("copy.db");
        copy_all(path, &place)?;
        // What a journal asks for is done to the copy.
        (Some(copy), place, OpenFlags::SQLITE_OPEN_READ_WRITE)
    };
    let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(place, flags).map_err(io::Error::other)?;
    connection
        .busy_timeout(PATIENCE)
        .map_err(io::Error::other)?;
    // Nothing that the schema says is run.
    connection
        .pragma_update(None, "trusted_schema", false)
        .map_err(io::Error::other)?;
    Ok(Database {
        connection,
        _copy: copy,
    })
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    PathBuf::from(name)
}

/// Copies a database and what belongs to it, all of one moment.
fn copy_all(path: &Path, place: &Path) -> io::Result<()> {
    let files = ["", "-wal", "-journal"].map(|end| (beside(path, end), beside(place, end)));
    let states = || files.each_ref().map(|(from, _)| state(from));
    for _ in 0..COPIES {
        let before = states();
        for ((from, to), state) in files.iter().zip(before) {
            if state.is_some() {
                // Not `fs::copy`, which copies a mode that may forbid writing.
                io::copy(&mut File::open(from)?, &mut File::create(to)?)?;
            } else if to.exists() {
                std::fs::remove_file(to)?;
            }
        }
        if states() == before {
            return Ok(());
        }
    }
    Err(io::Error::other("it changes all the time"))
}

fn state(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    let metadata = std::fs::metadata(path)
        .ok()
        .filter(std::fs::Metadata::is_file)?;
    Some((metadata.len(), metadata.modified().ok()))
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut names = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'")?;
    names.query_map([], |row| row.get(0))?.collect()
}

/// The session that was used last: one with messages before one without, and
/// a person's before a subagent's.
fn last_used(connection: &Connection, has_next_form: bool) -> rusqlite::Result<Option<Stored>> {
    // All of one moment.
    let connection = connection.unchecked_transaction()?;
    let mut last = connection.prepare(
        "SELECT id FROM session
         ORDER BY EXISTS (SELECT 1 FROM message WHERE session_id = session.id) DESC,
                  parent_id IS NOT NULL, time_updated DESC, id DESC
         LIMIT 1",
    )?;
    let Some(id) = last.query_map([], |row| row.get::<_, String>(0))?.next() else {
        return Ok(None);
    };
    let mut stored = session(&connection, &id?)?;
    let others = "SELECT count(*) FROM session WHERE id != ?1";
    let others = count(&connection, others, &stored.id)?;
    if others > 0 {
        let sessions = others + 1;
        stored.note = Some(format!(
            "the database holds {sessions} sessions, and this is the one used last"
        ));
    }
    messages(&connection, &mut stored)?;
    if has_next_form && stored.records == 0 {
        let query = "SELECT count(*) FROM session_message WHERE session_id = ?1";
        stored.records = count(&connection, query, &stored.id)?;
    }
    Ok(Some(stored))
}

fn count(connection: &Connection, query: &str, id: &str) -> rusqlite::Result<usize> {
    let count: i64 = connection.query_row(query, [id], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

fn session(connection: &Connection, id: &str) -> rusqlite::Result<Stored> {
    connection.query_row("SELECT * FROM session WHERE id = ?1", [id], |row| {
        let revert: Option<String> = optional(row, "revert");
        Ok(Stored {
            id: id.to_owned(),
            directory: optional(row, "directory"),
            title: optional(row, "title"),
            version: optional(row, "version"),
            parent: optional(row, "parent_id"),
            created: optional(row, "time_created").unwrap_or(0),
            revert: revert.and_then(|revert| serde_json::from_str(&revert).ok()),
            ..Stored::default()
        })
    })
}

/// A column that an older or newer schema may not have.
fn optional<T: rusqlite::types::FromSql>(row: &Row<'_>, column: &str) -> Option<T> {
    row.get::<_, Option<T>>(column).ok().flatten()
}

fn messages(connection: &Connection, stored: &mut Stored) -> rusqlite::Result<()> {
    let mut places = HashMap::new();
    let mut rows =
        connection.prepare("SELECT id, time_created, data FROM message WHERE session_id = ?1")?;
    let mut rows = rows.query([&stored.id])?;
    while let Some(row) = rows.next()? {
        stored.records += 1;
        let message = id(row).and_then(|id| {
            let created = row.get(1).unwrap_or(0);
            data::<MessageData>(row)?.message(id, created)
        });
        match message {
            Some(message) => {
                places.insert(message.id.clone(), stored.messages.len());
                stored.messages.push(message);
            }
            None => stored.skipped += 1,
        }
    }
    let mut rows =
        connection.prepare("SELECT id, message_id, data FROM part WHERE session_id = ?1")?;
    let mut rows = rows.query([&stored.id])?;
    while let Some(row) = rows.next()? {
        let place = row.get::<_, String>(1).ok().and_then(|id| places.get(&id));
        // Parts of a message that can't be read were counted with it.
        let Some(message) = place.and_then(|place| stored.messages.get_mut(*place)) else {
            continue;
        };
        match id(row).and_then(|id| Some(data::<PartData>(row)?.part(id))) {
            Some(part) => message.parts.push(part),
            None => stored.skipped += 1,
        }
    }
    Ok(())
}

fn id(row: &Row<'_>) -> Option<String> {
    row.get(0).ok()
}

/// The JSON in the third column.
fn data<T: DeserializeOwned>(row: &Row<'_>) -> Option<T> {
    serde_json::from_slice(row.get_ref(2).ok()?.as_bytes().ok()?).ok()
}

#[cfg(test)]
mod tests;
