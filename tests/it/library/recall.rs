//! What is shown at once at the start, and what it costs to stay up to date.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ibid::library::{Library, Notice};
use ibid::session::SessionId;

use super::cache::Home;
use super::live::Live;
use super::{Logs, log, open, refresh, shown};

fn recall(library: &Library) {
    library.recall(&mut || {});
}

#[test]
fn what_the_cache_remembers_is_shown_without_looking_at_the_folder() {
    let home = Home::new();
    let scans = home.logs.scans.load(Ordering::SeqCst);
    let library = home.library();
    recall(&library);
    assert_eq!(shown(&library), ["Two", "One"]);
    assert_eq!(home.logs.scans.load(Ordering::SeqCst), scans);
    assert_eq!(home.logs.opened(), 2);
}

#[test]
fn the_newest_rows_are_shown_before_the_cache_is_read_to_its_end() {
    let logs = Logs::with((0..3000).map(|at| log(&format!("{at}"), &format!("Title {at}"), at)));
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache.sqlite3");
    refresh(&open(&logs, Some(&cache)));
    let library = open(&logs, Some(&cache));
    let mut seen = Vec::new();
    library.recall(&mut || {
        let index = library.index();
        seen.push((index.len(), index.get(0).unwrap().label.to_owned()));
    });
    let newest = "Title 2999".to_owned();
    assert_eq!(seen, [(2048, newest.clone()), (3000, newest)]);
}

#[test]
fn a_recalled_row_whose_log_changed_or_went_is_put_right_by_a_refresh() {
    let home = Home::new();
    home.logs.remove("a");
    let mut renamed = log("b", "Renamed", 2);
    renamed.stamp.size += 1;
    home.logs.put(renamed);
    home.logs.put(log("c", "Three", 3));
    let library = home.library();
    recall(&library);
    assert_eq!(shown(&library), ["Two", "One"]);
    assert_eq!(refresh(&library).changed, 3);
    assert_eq!(shown(&library), ["Three", "Renamed"]);
}

#[test]
fn a_folder_that_is_as_it_was_is_listed_and_nothing_more() {
    let home = Home::new();
    let library = home.library();
    recall(&library);
    let index = library.index();
    // A cache that is gone would be missed by anyone who asked it.
    home.sql("DELETE FROM sessions;");
    assert_eq!(refresh(&library).changed, 0);
    assert!(Arc::ptr_eq(&index, &library.index()));
    assert_eq!(home.logs.opened(), 2);
    home.logs.put(log("c", "Three", 3));
    refresh(&library);
    assert_eq!(shown(&library), ["Three", "Two", "One"]);
}

#[test]
fn a_cache_that_breaks_is_not_recalled_and_the_next_refresh_tells() {
    let home = Home::new();
    std::fs::write(
        home.path(),
        "no database, and long enough to see".repeat(40),
    )
    .unwrap();
    let library = home.library();
    recall(&library);
    assert!(shown(&library).is_empty());
    let notices = refresh(&library).notices;
    let codes: Vec<_> = notices.iter().map(Notice::code).collect();
    assert_eq!(codes, ["CACHE_REBUILT"]);
    assert_eq!(shown(&library), ["Two", "One"]);
}

#[test]
fn a_row_under_another_id_than_its_files_is_not_recalled() {
    let home = Home::new();
    home.sql("UPDATE sessions SET id = 'x' WHERE file = 'a.jsonl';");
    let library = home.library();
    recall(&library);
    assert_eq!(shown(&library), ["Two"]);
    refresh(&library);
    assert_eq!(shown(&library), ["Two", "One"]);
}

#[test]
fn a_live_session_counts_before_what_is_recalled_of_it() {
    let home = Home::new();
    let library = home.library();
    library.attach(Live::of(&log("a", "", 1), Some("Live")));
    recall(&library);
    assert_eq!(shown(&library), ["Two", "Live"]);
    let index = library.index();
    assert_eq!(index.get(1).unwrap().messages, Some(1));
}

#[test]
fn only_the_headers_that_are_asked_for_are_compared() {
    let home = Home::new();
    home.sql("UPDATE sessions SET cwd = '/etc', title = 'Lie';");
    let library = home.library();
    library.load().unwrap();
    let [a, none] = [SessionId::from("a"), SessionId::from("none")];
    assert_eq!(library.verify_only([&a, &none]).unwrap().changed, 1);
    assert_eq!(shown(&library), ["Lie", "One"]);
    assert_eq!(home.logs.headers.load(Ordering::SeqCst), 1);
    assert_eq!(library.verify_only([&a]).unwrap().changed, 0);
}
