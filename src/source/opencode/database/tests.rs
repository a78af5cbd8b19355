//! The database as a specification, and that reading it leaves no trace.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use tempfile::TempDir;

use super::super::tests::{conversation, notices};
use super::super::{Adapter, Opencode};
use crate::source::detect::read_file;

pub(in super::super) const SCHEMA: &str = "
    CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT,
        version TEXT, time_created INTEGER, time_updated INTEGER, revert TEXT);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,
        time_updated INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT,
        time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE INDEX message_session_idx ON message (session_id);
    CREATE INDEX part_message_idx ON part (message_id);";

/// A database with one session of one message.
pub(in super::super) fn database(mode: &str) -> (TempDir, PathBuf, Connection) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opencode.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .pragma_update(None, "journal_mode", mode)
        .unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    add_session(&connection, "ses_1", None, 10);
    add_message(&connection, "ses_1", "msg_1", "hi");
    (dir, path, connection)
}

pub(in super::super) fn add_session(
    connection: &Connection,
    id: &str,
    parent: Option<&str>,
    updated: i64,
) {
    connection
        .execute(
            "INSERT INTO session VALUES (?1, ?2, '/w', 'T', '1.18.33', 5, ?3, NULL)",
            (id, parent, updated),
        )
        .unwrap();
}

pub(in super::super) fn add_message(connection: &Connection, session: &str, id: &str, text: &str) {
    let message = r#"{"role":"user","time":{"created":1}}"#;
    let part = format!(r#"{{"type":"text","text":"{text}"}}"#);
    connection
        .execute(
            "INSERT INTO message VALUES (?1, ?2, 1, 1, ?3)",
            (id, session, message),
        )
        .unwrap();
    connection
        .execute(
            "INSERT INTO part VALUES ('prt_' || ?1, ?1, ?2, 1, 1, ?3)",
            (id, session, part),
        )
        .unwrap();
}

/// The names in a folder with what is in them.
pub(in super::super) fn contents(dir: &TempDir) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn a_database_is_read_and_nothing_beside_it_changes() {
    let (dir, path, connection) = database("delete");
    drop(connection);
    let before = contents(&dir);
    let session = read_file(&path).unwrap();
    assert_eq!(conversation(&session), ["user: hi"]);
    assert_eq!(session.session.id().as_str(), "opencode:ses_1");
    assert_eq!(notices(&session), [""; 0]);
    assert_eq!(contents(&dir), before);
}

#[test]
fn a_write_ahead_log_is_read_and_left_as_it_is() {
    let (dir, path, _writer) = database("wal");
    assert!(fs::metadata(path.with_extension("db-wal")).unwrap().len() > 0);
    let before = contents(&dir);
    assert_eq!(conversation(&read_file(&path).unwrap()), ["user: hi"]);
    assert_eq!(contents(&dir), before);
}

#[test]
fn a_write_ahead_log_without_its_shared_memory_gets_none() {
    let (source, path, _writer) = database("wal");
    let dir = tempfile::tempdir().unwrap();
    for name in ["opencode.db", "opencode.db-wal"] {
        fs::copy(source.path().join(name), dir.path().join(name)).unwrap();
    }
    let before = contents(&dir);
    let copy = dir.path().join(path.file_name().unwrap());
    assert_eq!(conversation(&read_file(&copy).unwrap()), ["user: hi"]);
    assert_eq!(contents(&dir), before);
}

#[test]
fn a_database_closed_with_a_write_ahead_log_gets_no_new_one() {
    let (dir, path, writer) = database("wal");
    drop(writer);
    let before = contents(&dir);
    assert_eq!(before.len(), 1);
    assert_eq!(conversation(&read_file(&path).unwrap()), ["user: hi"]);
    assert_eq!(contents(&dir), before);
}

#[test]
fn the_session_used_last_is_read_and_neither_a_stub_nor_a_subagents() {
    let (_dir, path, connection) = database("delete");
    add_session(&connection, "ses_2", None, 20);
    add_message(&connection, "ses_2", "msg_2", "newer");
    add_session(&connection, "ses_3", Some("ses_2"), 30);
    add_message(&connection, "ses_3", "msg_3", "from an agent");
    add_session(&connection, "ses_4", None, 40);
    drop(connection);
    let session = read_file(&path).unwrap();
    assert_eq!(conversation(&session), ["user: newer"]);
    assert_eq!(
        notices(&session),
        ["the database holds 4 sessions, and this is the one used last"]
    );
}

#[test]
fn columns_of_another_schema_may_be_missing() {
    let (_dir, path, connection) = database("delete");
    connection
        .execute_batch("ALTER TABLE session DROP COLUMN revert")
        .unwrap();
    drop(connection);
    assert_eq!(conversation(&read_file(&path).unwrap()), ["user: hi"]);
}

#[test]
fn a_database_whose_messages_moved_elsewhere_is_an_error() {
    let (_dir, path, connection) = database("delete");
    connection
        .execute_batch(
            "DELETE FROM message;
             CREATE TABLE session_message (id TEXT, session_id TEXT);
             INSERT INTO session_message VALUES ('x', 'ses_1');",
        )
        .unwrap();
    drop(connection);
    assert_eq!(read_file(&path).unwrap_err().code(), "SOURCE_NO_DIALOGUE");
}

#[test]
fn other_databases_and_damaged_ones_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE a (b)")
        .unwrap();
    assert_eq!(
        read_file(&path).unwrap_err().code(),
        "SOURCE_UNKNOWN_FORMAT"
    );
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(100);
    bytes[40..].fill(0xff);
    fs::write(&path, bytes).unwrap();
    assert_eq!(read_file(&path).unwrap_err().code(), "SOURCE_UNREADABLE");
}

#[test]
fn a_database_without_sessions_holds_none() {
    let (_dir, path, connection) = database("delete");
    connection.execute_batch("DELETE FROM session").unwrap();
    drop(connection);
    assert_eq!(read_file(&path).unwrap_err().code(), "SOURCE_NO_SESSION");
}

#[test]
fn damaged_rows_are_counted() {
    let (_dir, path, connection) = database("delete");
    connection
        .execute_batch(
            "INSERT INTO message VALUES ('m', 'ses_1', 1, 1, '{torn');
             INSERT INTO part VALUES ('p', 'msg_1', 'ses_1', 1, 1, x'ff');
             INSERT INTO part VALUES ('q', 'm', 'ses_1', 1, 1, '{}');",
        )
        .unwrap();
    drop(connection);
    let session = read_file(&path).unwrap();
    assert_eq!(conversation(&session), ["user: hi"]);
    assert_eq!(notices(&session), ["2 records skipped"]);
}

#[test]
fn a_session_is_read_by_its_id_and_another_id_is_an_error() {
    let (_dir, path, connection) = database("delete");
    add_session(&connection, "ses_2", None, 20);
    add_message(&connection, "ses_2", "msg_2", "newer");
    drop(connection);
    let session = Opencode.read(&path, Some("ses_1")).unwrap();
    assert_eq!(conversation(&session), ["user: hi"]);
    assert_eq!(notices(&session), [""; 0]);
    let error = Opencode.read(&path, Some("ses_3")).unwrap_err();
    assert_eq!(error.code(), "SOURCE_NO_SESSION");
    assert!(error.to_string().contains("ses_3"), "{error}");
}

#[cfg(unix)]
#[test]
fn through_a_link_the_write_ahead_log_is_found() {
    let (_dir, path, _writer) = database("wal");
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert_eq!(conversation(&read_file(&link).unwrap()), ["user: hi"]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}
