//! What is shown while the cache can't be written.

use std::path::Path;

use ibid::library::Library;
use ibid::tool::Tool;
use rusqlite::Connection;
use tempfile::TempDir;

use super::cache::Home;
use super::elsewhere::{Files, over};
use super::{Logs, labels, log, open, refresh, shown, verify};

/// From now on no session can be written to this cache.
fn fill_up(cache: &Path) {
    let full = "CREATE TRIGGER full BEFORE INSERT ON sessions \
                BEGIN SELECT RAISE(ABORT, 'the disk is full'); END;";
    Connection::open(cache)
        .unwrap()
        .execute_batch(full)
        .unwrap();
}

fn codes(library: &Library) -> Vec<&'static str> {
    let notices = refresh(library).notices;
    notices.iter().map(ibid::library::Notice::code).collect()
}

/// A library of another tool's files over a cache that is full.
fn full(files: &std::sync::Arc<Files>) -> (TempDir, Library) {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache.sqlite3");
    let library = over(&Logs::with([]), files, false, Some(&cache));
    refresh(&library);
    fill_up(&cache);
    (folder, library)
}

#[test]
fn a_session_in_several_files_is_one_row() {
    let files = Files::of(Tool::Codex);
    let (_folder, library) = full(&files);
    files.session("x", 2, "x", "Goes on");
    files.session("y", 1, "x", "Begins");
    assert_eq!(codes(&library), ["CACHE_NOT_WRITTEN"]);
    assert_eq!(shown(&library), ["Goes on"]);
    assert_eq!(library.index().hidden().doubles, 1);
}

#[test]
fn a_file_that_comes_later_takes_the_place_of_an_older_one_alone() {
    let files = Files::of(Tool::Codex);
    let (_folder, library) = full(&files);
    files.session("y", 2, "x", "Middle");
    assert_eq!(codes(&library), ["CACHE_NOT_WRITTEN"]);
    files.session("x", 1, "x", "Begins");
    assert!(codes(&library).is_empty(), "told once");
    assert_eq!(shown(&library), ["Middle"]);
    files.session("z", 3, "x", "Goes on");
    refresh(&library);
    assert_eq!(shown(&library), ["Goes on"]);
    files.remove("z");
    refresh(&library);
    assert_eq!(shown(&library), ["Middle"]);
}

#[test]
fn a_lie_that_was_found_out_is_not_told_again() {
    let home = Home::new();
    home.sql("UPDATE sessions SET created_at = 77, title = 'Lie' WHERE file = 'a.jsonl'");
    fill_up(&home.path());
    let library = home.library();
    library.load().unwrap();
    assert_eq!(verify(&library).changed, 1);
    assert_eq!(shown(&library), ["Two", "One"]);
    assert_eq!(labels(&library), ["Two", "One"]);
    assert_eq!(verify(&library).changed, 0);
}

#[test]
fn what_the_cache_said_before_is_known_still() {
    let home = Home::new();
    fill_up(&home.path());
    let library = home.library();
    library.recall(&mut || {});
    home.logs.put(log("c", "Three", 3));
    assert_eq!(codes(&library), ["CACHE_NOT_WRITTEN"]);
    assert_eq!(labels(&library), ["Three", "Two", "One"]);
    assert_eq!(home.logs.opened(), 3);
    // Another run knows what the file says, and reads the rest again.
    let again = open(&home.logs, Some(&home.path()));
    assert_eq!(labels(&again), ["c", "Two", "One"]);
}
