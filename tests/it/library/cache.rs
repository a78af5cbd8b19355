//! The projection cache is repaired, and never believed.

use std::path::PathBuf;

use ibid::library::{Library, Notice};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{Logs, labels, log, open, refresh, shown, verify};

pub(super) struct Home {
    folder: TempDir,
    pub(super) logs: std::sync::Arc<Logs>,
}

impl Home {
    /// Two logs, and a cache that knows them.
    pub(super) fn new() -> Self {
        let home = Self {
            folder: tempfile::tempdir().unwrap(),
            logs: Logs::with([log("a", "One", 1), log("b", "Two", 2)]),
        };
        let refreshed = refresh(&home.library());
        assert!(refreshed.notices.is_empty(), "{refreshed:?}");
        assert_eq!(home.logs.opened(), 2);
        home
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("cache.sqlite3")
    }

    pub(super) fn library(&self) -> Library {
        open(&self.logs, Some(&self.path()))
    }

    pub(super) fn sql(&self, sql: &str) {
        let connection = Connection::open(self.path()).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    /// Damages the pages of a table or an index.
    pub(super) fn scribble(&self, name: &str) {
        let connection = Connection::open(self.path()).unwrap();
        let checkpoint = "PRAGMA wal_checkpoint(truncate)";
        connection.query_row(checkpoint, [], |_| Ok(())).unwrap();
        let page = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let page: isize = connection
            .query_row(page, [name], |row| row.get(0))
            .unwrap();
        let size: isize = connection
            .pragma_query_value(None, "page_size", |row| row.get(0))
            .unwrap();
        let [page, size] = [page, size].map(isize::unsigned_abs);
        drop(connection);
        let mut bytes = std::fs::read(self.path()).unwrap();
        bytes[(page - 1) * size..page * size].fill(0xff);
        std::fs::write(self.path(), bytes).unwrap();
    }

    pub(super) fn titles(&self) -> i64 {
        let connection = Connection::open(self.path()).unwrap();
        let sql = "SELECT count(*) FROM sessions WHERE title IN ('One', 'Two')";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// After this trouble both logs are read again, and known from then on.
    fn assert_repaired(&self, codes: &[&str]) {
        let library = self.library();
        assert_eq!(labels(&library), ["b", "a"], "not believed");
        let notices = refresh(&library).notices;
        let found: Vec<_> = notices.iter().map(Notice::code).collect();
        assert_eq!(found, codes, "{notices:?}");
        assert_eq!(shown(&library), ["Two", "One"]);
        drop(library);
        assert_eq!(labels(&self.library()), ["Two", "One"], "repaired");
        assert_eq!(self.logs.opened(), 4);
    }
}

#[test]
fn another_run_labels_every_session_without_opening_a_log() {
    let home = Home::new();
    assert_eq!(labels(&home.library()), ["Two", "One"]);
    assert_eq!(home.logs.opened(), 2);
}

#[test]
fn a_deleted_cache_is_made_anew() {
    let home = Home::new();
    std::fs::remove_file(home.path()).unwrap();
    home.assert_repaired(&[]);
}

#[test]
fn an_older_schema_is_made_anew() {
    let home = Home::new();
    home.sql("ALTER TABLE sessions DROP COLUMN messages; PRAGMA user_version = 0;");
    home.assert_repaired(&["CACHE_REBUILT"]);
}

#[test]
fn a_table_that_is_not_what_its_version_says_is_made_anew() {
    let home = Home::new();
    home.sql("ALTER TABLE sessions RENAME COLUMN title TO heading;");
    home.assert_repaired(&["CACHE_REBUILT"]);
}

#[test]
fn a_file_that_is_no_database_is_made_anew() {
    let home = Home::new();
    std::fs::write(
        home.path(),
        "this is a shopping list, long enough to be read".repeat(40),
    )
    .unwrap();
    home.assert_repaired(&["CACHE_REBUILT"]);
}

#[test]
fn a_database_with_damaged_pages_is_made_anew() {
    let home = Home::new();
    let mut bytes = std::fs::read(home.path()).unwrap();
    bytes[4096..].fill(0xff);
    std::fs::write(home.path(), bytes).unwrap();
    home.assert_repaired(&["CACHE_REBUILT"]);
}

#[test]
fn a_newer_schema_is_left_alone() {
    let home = Home::new();
    home.sql("PRAGMA user_version = 99;");
    let library = home.library();
    assert_eq!(labels(&library), ["b", "a"]);
    let notices = refresh(&library).notices;
    assert!(
        matches!(&*notices, [Notice::CacheSetAside { reason, .. }] if reason.contains("newer")),
        "{notices:?}"
    );
    assert_eq!(labels(&library), ["Two", "One"], "known in this run");
    home.sql("UPDATE sessions SET title = 'Kept';");
    assert_eq!(home.titles(), 0, "its rows are still there");
}

#[test]
fn a_cache_that_cannot_be_a_file_is_set_aside() {
    let home = Home::new();
    std::fs::remove_file(home.path()).unwrap();
    std::fs::create_dir(home.path()).unwrap();
    let library = home.library();
    let notices = refresh(&library).notices;
    assert!(
        matches!(&*notices, [Notice::CacheSetAside { .. }]),
        "{notices:?}"
    );
    assert_eq!(shown(&library), ["Two", "One"]);
    assert!(home.path().is_dir());
}

#[test]
fn two_processes_share_it() {
    let home = Home::new();
    let (first, second) = (home.library(), home.library());
    first.load().unwrap();
    second.load().unwrap();
    home.logs.put(log("c", "Three", 3));
    refresh(&first);
    assert_eq!(labels(&second), ["Three", "Two", "One"]);
    assert_eq!(home.logs.opened(), 3);
}

#[test]
fn a_row_of_impossible_types_is_not_believed() {
    let home = Home::new();
    home.sql("UPDATE sessions SET version = -1;");
    home.assert_repaired(&[]);
}

#[test]
fn a_row_that_claims_another_id_than_its_file_is_not_believed() {
    let home = Home::new();
    home.sql("UPDATE sessions SET id = 'x' || id;");
    home.assert_repaired(&[]);
}

#[test]
fn a_row_that_disagrees_with_its_logs_header_is_repaired() {
    for lie in [
        "created_at = 77",
        "cwd = '/etc'",
        "cwd = NULL",
        "parent = 'x'",
        "is_seeded = 1",
        "version = 0",
    ] {
        let home = Home::new();
        home.sql(&format!(
            "UPDATE sessions SET {lie}, title = 'Lie' WHERE file = 'a.jsonl'"
        ));
        let library = home.library();
        library.load().unwrap();
        assert_eq!(verify(&library).changed, 1, "{lie}");
        assert_eq!(shown(&library), ["Two", "One"], "{lie}");
        assert_eq!(home.titles(), 2, "{lie}");
        assert_eq!(verify(&library).changed, 0, "{lie}");
    }
}

#[test]
fn a_row_that_lies_is_mended_when_its_log_is_read() {
    let home = Home::new();
    home.sql("UPDATE sessions SET cwd = '/etc', title = 'Lie' WHERE file = 'a.jsonl'");
    let library = home.library();
    assert_eq!(labels(&library), ["Two", "Lie"]);
    super::read(&library, "a").unwrap();
    assert_eq!(shown(&library), ["Two", "One"]);
    assert_eq!(home.titles(), 2);
}

#[cfg(unix)]
#[test]
fn the_cache_and_what_stands_beside_it_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    for made_anew in [false, true] {
        if made_anew {
            std::fs::write(home.path(), "no database at all").unwrap();
            home.logs.put(log("c", "Three", 3));
            refresh(&home.library());
        }
        // Open, so that the journal is there too.
        let library = home.library();
        library.load().unwrap();
        let mut names = Vec::new();
        for entry in home.folder.path().read_dir().unwrap() {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{entry:?}");
            names.push(entry.file_name().into_string().unwrap());
        }
        names.sort();
        let expected = ["cache.sqlite3", "cache.sqlite3-shm", "cache.sqlite3-wal"];
        assert_eq!(names, expected);
    }
}
