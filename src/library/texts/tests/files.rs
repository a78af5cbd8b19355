//! The index in a file, which others may use, damage or replace.

use rusqlite::Connection;

use super::*;

fn error(texts: &Texts) -> TextsError {
    let query = TextQuery {
        terms: &Terms::parse("login"),
        admits: &|_| true,
        limit: 9,
        depth: Depth::All,
    };
    texts.search(&query, &CancellationToken::new()).unwrap_err()
}

fn count(path: &std::path::Path, table: &str) -> i64 {
    let connection = Connection::open(path).unwrap();
    let sql = format!("SELECT count(*) FROM {table}");
    connection.query_row(&sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn an_index_is_there_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite3");
    put(&Texts::open(Some(path.clone())), &[("a", &["login"])], 1);
    assert_eq!(ids(&Texts::open(Some(path)), "login"), ["a"]);
}

#[test]
fn the_last_room_of_a_disk_is_left_for_what_can_not_be_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite3");
    put(&Texts::open(Some(path.clone())), &[("a", &["login"])], 1);
    let with = |path, free| Texts {
        database: Arc::new(Database::new(Place(path), free)),
    };
    let short = with(Some(path.clone()), |_| Some((64 << 20) - 1));
    let new = SessionTexts {
        id: &"b".into(),
        stamp: stamp(1),
        messages: &[],
    };
    let TextsError::NoRoom { free, reserve, .. } = short.put(&[new]).unwrap_err() else {
        panic!("it was written");
    };
    assert_eq!((free, reserve), ((64 << 20) - 1, 64 << 20));
    assert_eq!(ids(&short, "login"), ["a"]);
    for enough in [
        with(Some(path.clone()), |_| Some(64 << 20)),
        with(Some(path), |_| None),
        with(None, |_| Some(0)),
    ] {
        enough.put(&[new]).unwrap();
    }
}

#[test]
fn other_tables_of_the_database_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite3");
    let connection = Connection::open(&path).unwrap();
    let other = "CREATE TABLE sessions (id); INSERT INTO sessions VALUES (1);
         PRAGMA user_version = 99;";
    connection.execute_batch(other).unwrap();
    let texts = Texts::open(Some(path.clone()));
    put(&texts, &[("a", &["login"])], 1);
    texts.clear().unwrap();
    assert_eq!(count(&path, "sessions"), 1);
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0));
    assert_eq!(version, Ok(99));
}

#[test]
fn tables_of_an_older_version_are_made_anew_and_newer_ones_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite3");
    put(&Texts::open(Some(path.clone())), &[("a", &["login"])], 1);
    let set = |version: i64| {
        let connection = Connection::open(&path).unwrap();
        connection
            .execute("UPDATE texts_about SET version = ?1", [version])
            .unwrap();
    };
    set(99);
    let newer = error(&Texts::open(Some(path.clone())));
    assert_eq!(newer.code(), "SEARCH_NEWER");
    assert_eq!(count(&path, "texts_messages"), 1);
    set(0);
    let texts = Texts::open(Some(path.clone()));
    assert_eq!(ids(&texts, "login"), [""; 0]);
    put(&texts, &[("a", &["login"])], 1);
    assert_eq!(ids(&texts, "login"), ["a"]);
}

#[test]
fn a_damaged_database_says_so_and_a_new_one_in_its_place_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite3");
    std::fs::write(&path, "no database, but long enough to be one ".repeat(99)).unwrap();
    let texts = Texts::open(Some(path.clone()));
    assert_eq!(error(&texts).code(), "SEARCH_DAMAGED");
    std::fs::remove_file(&path).unwrap();
    put(&texts, &[("a", &["login"])], 1);
    assert_eq!(ids(&texts, "login"), ["a"]);
    // Whoever owns the file may replace it while it is open here.
    std::fs::rename(&path, folder.path().join("away")).unwrap();
    assert_eq!(ids(&texts, "login"), [""; 0]);
}

#[test]
fn a_locked_database_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite3");
    let other = Connection::open(&path).unwrap();
    other
        .execute_batch("PRAGMA locking_mode = exclusive; CREATE TABLE a (b); BEGIN EXCLUSIVE;")
        .unwrap();
    let texts = Texts::open(Some(path));
    assert_eq!(error(&texts).code(), "SEARCH_LOCKED");
    drop(other);
    assert_eq!(ids(&texts, "login"), [""; 0]);
}

#[test]
fn where_there_can_be_no_file_the_index_is_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [folder.path().to_owned(), file.join("cache.sqlite3")] {
        let texts = Texts::open(Some(path.clone()));
        put(&texts, &[("a", &["login"])], 1);
        assert_eq!(ids(&texts, "login"), ["a"], "{path:?}");
        assert_eq!(texts.stale(&[("a".into(), stamp(1))]).unwrap(), [0; 0]);
    }
}

#[test]
fn clearing_makes_an_index_of_any_version_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite3");
    put(&Texts::open(Some(path.clone())), &[("a", &["login"])], 1);
    Connection::open(&path)
        .unwrap()
        .execute("UPDATE texts_about SET version = 99", [])
        .unwrap();
    let texts = Texts::open(Some(path));
    assert_eq!(error(&texts).code(), "SEARCH_NEWER");
    texts.clear().unwrap();
    put(&texts, &[("b", &["login"])], 1);
    assert_eq!(ids(&texts, "login"), ["b"]);
}

#[test]
fn another_file_in_its_place_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite3");
    let texts = Texts::open(Some(path.clone()));
    put(&texts, &[("a", &["login"])], 1);
    let file = texts.file();
    assert!(file.is_some());
    std::fs::rename(&path, folder.path().join("away")).unwrap();
    assert_eq!(texts.file(), None);
    assert_eq!(ids(&texts, "login"), [""; 0]);
    assert_ne!(texts.file(), file);
}

#[test]
fn two_writers_at_once_leave_every_session_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache.sqlite3");
    let long = "words and words ".repeat(7_000);
    let many: Vec<&str> = ["first", &*long, &*long, &*long, &*long, &*long, "last"].to_vec();
    std::thread::scope(|scope| {
        for name in ["one", "two"] {
            let (path, many) = (path.clone(), &many);
            scope.spawn(move || {
                let texts = Texts::open(Some(path));
                for state in 0..3 {
                    let own: &[(&str, &[&str])] = &[("shared", many), (name, &["first"])];
                    put(&texts, own, state);
                }
            });
        }
    });
    let texts = Texts::open(Some(path.clone()));
    let hits = search(&texts, "words", Depth::All);
    assert_eq!(hits.rows[0].matches, 5);
    let mut found = ids(&texts, "first");
    found.sort_unstable();
    assert_eq!(found, ["one", "shared", "two"]);
    assert_eq!(count(&path, "texts_messages"), 9);
    let check = "INSERT INTO texts_index(texts_index) VALUES ('integrity-check')";
    Connection::open(&path)
        .unwrap()
        .execute_batch(check)
        .unwrap();
}
