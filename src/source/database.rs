//! Databases of other tools, read without leaving a trace: no lock, no shared
//! memory file, no journal, nothing checkpointed.
//!
//! SQLite makes its own files beside a database that has a log, even to read
//! it, so such a one is read from a private copy, log included. Any other is
//! read where it is, as one that can't change; when it did, it is read again.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::types::FromSql;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use tempfile::TempDir;

use super::{SourceError, Walk};
use crate::stamp::Stamp;
use crate::threads::lock;

/// The most that is copied to be read, in bytes.
const MAX_COPIED_BYTES: u64 = 512 * 1024 * 1024;
/// How often a database that changes while it is read is read.
const ATTEMPTS: usize = 4;
/// What stands beside a database: its write-ahead log, its rollback journal.
const LOGS: [&str; 2] = ["-wal", "-journal"];

/// Asks a database something, all of one moment.
///
/// # Errors
/// When it can't be read, is no database, is of another form than `query`
/// expects, changes all the time, or is in use and too large to be copied.
pub(super) fn ask<T>(
    path: &Path,
    query: impl FnMut(&Connection) -> rusqlite::Result<T>,
) -> Result<T, SourceError> {
    ask_held(&mut None, path, MAX_COPIED_BYTES, query)
}

/// Databases that are asked many things, one after the other: each stays open
/// until this ends, so that one in use is copied once. What is told of it is of
/// the moment when it was first asked, or later.
#[derive(Default)]
pub(super) struct Databases {
    held: Mutex<HashMap<PathBuf, Arc<Mutex<Option<Held>>>>>,
}

impl Databases {
    /// [`ask`] of a database that stays open.
    ///
    /// # Errors
    /// Those of [`ask`].
    pub(super) fn ask<T>(
        &self,
        path: &Path,
        query: impl FnMut(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, SourceError> {
        let held = Arc::clone(lock(&self.held).entry(path.to_owned()).or_default());
        ask_held(&mut lock(&held), path, MAX_COPIED_BYTES, query)
    }
}

/// An open database and the state in which it was opened.
struct Held {
    open: Open,
    states: [Option<Stamp>; 3],
}

impl Held {
    /// Whether what it holds can't be what another program is about to write.
    fn is_settled(&self, file: &Path) -> bool {
        self.open.is_copy() || states(file) == self.states
    }
}

/// Asks a database through the one that is held, or opens it. The one that
/// answered is held from then on.
fn ask_held<T>(
    held: &mut Option<Held>,
    path: &Path,
    most: u64,
    mut query: impl FnMut(&Connection) -> rusqlite::Result<T>,
) -> Result<T, SourceError> {
    let failed = |cause| SourceError::Unreadable {
        path: path.to_owned(),
        cause,
    };
    // A log lies beside the database itself, not beside a link to it.
    let file = path.canonicalize().map_err(failed)?;
    if !file.is_file() {
        return Err(failed(io::Error::other("it is no regular file")));
    }
    for _ in 0..ATTEMPTS {
        let known = held.take().filter(|held| held.is_settled(&file));
        let Some(open) = known.map_or_else(|| hold(path, &file, most), |known| Ok(Some(known)))?
        else {
            continue;
        };
        let answer = query(&open.open.connection).map_err(|e| failed(refused(e)));
        // What went wrong can be for the change alone.
        if open.is_settled(&file) {
            *held = Some(open);
            return answer;
        }
    }
    Err(failed(io::Error::other("it changes all the time")))
}

/// Opens a database, or a copy of one that is in use; `None` where it changed
/// meanwhile.
fn hold(path: &Path, file: &Path, most: u64) -> Result<Option<Held>, SourceError> {
    let states_before = states(file);
    let in_use = states_before
        .iter()
        .skip(1)
        .flatten()
        .any(|log| log.size > 0);
    let size: u64 = states_before.iter().flatten().map(|state| state.size).sum();
    if in_use && size > most {
        return Err(SourceError::TooLarge {
            path: path.to_owned(),
            problem: format!(
                "it is in use, and of one in use no more than {most} bytes are copied to be \
                 read; it has {size}. It can be read once its program has ended"
            ),
        });
    }
    let opened = if in_use {
        open_copy(file)
    } else {
        open_in_place(file)
    };
    if states(file) != states_before {
        return Ok(None);
    }
    let open = opened.map_err(|cause| SourceError::Unreadable {
        path: path.to_owned(),
        cause,
    })?;
    let states = states_before;
    Ok(Some(Held { open, states }))
}

/// The state of a database and of each of its logs.
fn states(path: &Path) -> [Option<Stamp>; 3] {
    ["", LOGS[0], LOGS[1]].map(|end| state(&beside(path, end)))
}

fn state(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    metadata.is_file().then(|| Stamp::of(&metadata))
}

/// Adds a database to what a walk found, in the state that it has together
/// with its write-ahead log: all that was written last may be in there.
pub(super) fn found(path: PathBuf, walk: &mut Walk) {
    let real = path.canonicalize().ok();
    let states = real.and_then(|real| Some((state(&real)?, state(&beside(&real, LOGS[0])))));
    let Some((database, log)) = states else {
        walk.file(path, None);
        return;
    };
    let log = log.unwrap_or_default();
    let stamp = Stamp {
        size: database.size.saturating_add(log.size),
        mtime_ns: database.mtime_ns.max(log.mtime_ns),
        inode: database.inode,
    };
    if stamp.size > 0 {
        walk.found(path, stamp, None);
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    PathBuf::from(name)
}

/// An open database. A copy goes with it.
struct Open {
    connection: Connection,
    copy: Option<TempDir>,
}

impl Open {
    /// Whether nobody else can change it.
    fn is_copy(&self) -> bool {
        self.copy.is_some()
    }
}

fn open_in_place(path: &Path) -> io::Result<Open> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    open(immutable(path), flags, None)
}

fn open_copy(path: &Path) -> io::Result<Open> {
    let copy = tempfile::tempdir()?;
    let place = copy.path().join("copy.db");
    for end in ["", LOGS[0], LOGS[1]] {
        let from = beside(path, end);
        if from.is_file() {
            // Not `fs::copy`, which copies a mode that may forbid writing.
            io::copy(
                &mut File::open(from)?,
                &mut File::create(beside(&place, end))?,
            )?;
        }
    }
    // What a log asks for is done to the copy.
    open(place, OpenFlags::SQLITE_OPEN_READ_WRITE, Some(copy))
}

fn open(place: PathBuf, flags: OpenFlags, copy: Option<TempDir>) -> io::Result<Open> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(place, flags).map_err(io::Error::other)?;
    // Nothing that the schema says is run.
    connection
        .pragma_update(None, "trusted_schema", false)
        .map_err(io::Error::other)?;
    Ok(Open { connection, copy })
}

/// Why a query could not be answered.
fn refused(error: rusqlite::Error) -> io::Error {
    let misfit = match &error {
        rusqlite::Error::SqlInputError { msg, .. } => Some(msg.clone()),
        other => (other.sqlite_error_code() == Some(ErrorCode::Unknown)).then(|| other.to_string()),
    };
    misfit.map_or_else(
        || io::Error::other(error),
        |misfit| io::Error::other(format!("its form is not known yet: {misfit}")),
    )
}

/// A path as a URI that tells SQLite to touch nothing.
fn immutable(path: &Path) -> PathBuf {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(*byte));
            }
            byte => {
                let _ = std::fmt::Write::write_fmt(&mut uri, format_args!("%{byte:02X}"));
            }
        }
    }
    uri.push_str("?immutable=1");
    PathBuf::from(uri)
}

/// The names of all tables; views are none.
pub(super) fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut names = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'")?;
    names.query_map([], |row| row.get(0))?.collect()
}

/// A column that an older or newer schema may not have, or that says nothing.
pub(super) fn optional<T: FromSql>(row: &Row<'_>, column: &str) -> Option<T> {
    row.get::<_, Option<T>>(column).ok().flatten()
}

#[cfg(test)]
mod tests;
