//! How databases are read: nothing of them changes, and nothing is missed.

use std::cell::Cell;
use std::fs;

use super::*;

/// A database with one row, and the connection that made it.
fn database(mode: &str) -> (TempDir, PathBuf, Connection) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .pragma_update(None, "journal_mode", mode)
        .unwrap();
    connection
        .execute_batch("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1);")
        .unwrap();
    (dir, path, connection)
}

fn sum(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT sum(n) FROM t", [], |row| row.get(0))
}

/// The names in a folder with what is in them.
fn contents(dir: &TempDir) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(dir.path()).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn whatever_journal_it_has_it_is_read_and_nothing_beside_it_changes() {
    for mode in ["delete", "persist", "wal"] {
        let (dir, path, connection) = database(mode);
        let before = contents(&dir);
        assert_eq!(ask(&path, sum).unwrap(), 1, "{mode}, open");
        assert_eq!(contents(&dir), before, "{mode}, open");
        drop(connection);
        let before = contents(&dir);
        assert_eq!(ask(&path, sum).unwrap(), 1, "{mode}, closed");
        assert_eq!(contents(&dir), before, "{mode}, closed");
    }
}

#[test]
fn one_that_another_program_has_locked_is_read_as_it_was_left() {
    let (dir, path, connection) = database("delete");
    connection
        .execute_batch("BEGIN EXCLUSIVE; INSERT INTO t VALUES (5)")
        .unwrap();
    let before = contents(&dir);
    assert_eq!(ask(&path, sum).unwrap(), 1);
    assert_eq!(contents(&dir), before);
    connection.execute_batch("COMMIT").unwrap();
    assert_eq!(ask(&path, sum).unwrap(), 6);
}

#[test]
fn one_that_changes_while_it_is_read_is_read_again() {
    let (_dir, path, connection) = database("delete");
    let reads = Cell::new(0);
    let answer = ask(&path, |open| {
        reads.set(reads.get() + 1);
        let sum = sum(open);
        if reads.get() == 1 {
            let blob = "CREATE TABLE u (b); INSERT INTO u VALUES (zeroblob(9000));";
            connection.execute_batch(blob).unwrap();
            connection.execute("INSERT INTO t VALUES (2)", []).unwrap();
        }
        sum
    });
    assert_eq!((answer.unwrap(), reads.get()), (3, 2));
}

#[test]
fn one_that_changes_all_the_time_is_an_error() {
    let (_dir, path, connection) = database("delete");
    connection.execute_batch("CREATE TABLE u (b)").unwrap();
    let error = ask(&path, |open| {
        let blob = "INSERT INTO u VALUES (zeroblob(9000));";
        connection.execute_batch(blob).unwrap();
        sum(open)
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("changes all the time"), "{error}");
}

#[test]
fn only_one_that_is_in_use_can_be_too_large() {
    let (_dir, path, connection) = database("wal");
    let error = ask_held(&mut None, &path, 100, sum).unwrap_err();
    assert_eq!(error.code(), "SOURCE_TOO_LARGE");
    assert!(error.to_string().contains("in use"), "{error}");
    drop(connection);
    assert_eq!(ask_held(&mut None, &path, 100, sum).unwrap(), 1);
}

#[test]
fn one_in_use_is_copied_once_for_all_that_is_asked_of_it() {
    let (_dir, path, connection) = database("wal");
    let databases = Databases::default();
    let copy_and_sum = || {
        let answer = databases.ask(&path, |open| {
            Ok((open.path().map(str::to_owned), sum(open)?))
        });
        answer.unwrap()
    };
    let first = copy_and_sum();
    connection.execute("INSERT INTO t VALUES (2)", []).unwrap();
    assert_eq!(copy_and_sum(), first);
    assert_eq!(first.1, 1);
    assert_eq!(ask(&path, sum).unwrap(), 3);
    let copy = PathBuf::from(first.0.unwrap());
    assert!(copy.exists() && copy != path);
    drop(databases);
    assert!(!copy.exists());
}

#[test]
fn one_that_changes_between_two_questions_is_opened_again() {
    let (_dir, path, connection) = database("delete");
    let databases = Databases::default();
    assert_eq!(databases.ask(&path, sum).unwrap(), 1);
    let blob = "CREATE TABLE u (b); INSERT INTO u VALUES (zeroblob(9000));";
    connection.execute_batch(blob).unwrap();
    connection.execute("INSERT INTO t VALUES (2)", []).unwrap();
    assert_eq!(databases.ask(&path, sum).unwrap(), 3);
}

#[test]
fn what_can_not_be_asked_says_why() {
    let (dir, path, connection) = database("delete");
    drop(connection);
    let ask_for = |path: &Path, sql: &'static str| {
        let query = move |open: &Connection| open.query_row(sql, [], |_| Ok(()));
        ask(path, query).unwrap_err().to_string()
    };
    for newer in ["SELECT m FROM t", "SELECT n FROM u"] {
        let newer = ask_for(&path, newer);
        assert!(newer.contains("not known yet"), "{newer}");
    }
    let mut bytes = fs::read(&path).unwrap();
    bytes[100..].fill(0xff);
    fs::write(&path, &bytes).unwrap();
    let corrupt = ask_for(&path, "SELECT n FROM t");
    assert!(corrupt.contains("malformed"), "{corrupt}");
    fs::write(&path, vec![b'x'; 4096]).unwrap();
    let none = ask_for(&path, "SELECT n FROM t");
    assert!(none.contains("not a database"), "{none}");
    let folder = ask_for(dir.path(), "SELECT n FROM t");
    assert!(folder.contains("no regular file"), "{folder}");
}

#[test]
fn its_state_covers_its_write_ahead_log() {
    let (_dir, path, connection) = database("wal");
    let stamp = || {
        let mut walk = Walk::default();
        found(path.clone(), &mut walk);
        walk.files.pop().unwrap().stamp
    };
    let before = stamp();
    let log = fs::metadata(beside(&path, "-wal")).unwrap().len();
    assert_eq!(before.size, fs::metadata(&path).unwrap().len() + log);
    connection.execute("INSERT INTO t VALUES (2)", []).unwrap();
    let after = stamp();
    assert_ne!(before, after);
    assert_eq!(before.inode, after.inode);
}

#[test]
fn a_path_in_a_uri_keeps_its_odd_characters() {
    let uri = immutable(Path::new("/a b/?#%.sqlite"));
    assert_eq!(uri, Path::new("file:/a%20b/%3F%23%25.sqlite?immutable=1"));
}
