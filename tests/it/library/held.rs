//! A cache that another program holds, as two programs that share it can do to
//! each other.

use ibid::library::{Library, LibraryError};
use rusqlite::Connection;

use super::cache::Home;
use super::{labels, log, refresh, shown};

/// Another program's connection, which lets nobody write, or not even read.
fn hold(home: &Home, how: &str) -> Connection {
    let other = Connection::open(home.path()).unwrap();
    other.execute_batch(how).unwrap();
    other
}

const WRITING: &str = "BEGIN IMMEDIATE";
const ALONE: &str = "PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE; DELETE FROM sessions";

fn release(other: Connection) {
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
}

fn codes(library: &Library) -> Vec<&'static str> {
    let notices = refresh(library).notices;
    notices.iter().map(ibid::library::Notice::code).collect()
}

/// A library that found a third log while its cache was held, and who holds it.
fn found_beside(home: &Home) -> (Library, Connection) {
    let library = home.library();
    library.load().unwrap();
    let other = hold(home, WRITING);
    home.logs.put(log("c", "Three", 3));
    assert_eq!(codes(&library), ["CACHE_HELD"]);
    (library, other)
}

#[test]
fn what_is_found_meanwhile_is_shown_and_written_once_it_is_free() {
    let home = Home::new();
    let (library, other) = found_beside(&home);
    home.logs.put(log("d", "Four", 4));
    assert_eq!(codes(&library), [""; 0], "told once");
    assert_eq!(shown(&library), ["Four", "Three", "Two", "One"]);
    release(other);
    assert_eq!(codes(&library), ["CACHE_FREE"]);
    assert_eq!(codes(&library), [""; 0]);
    assert_eq!(home.logs.opened(), 4, "nothing is read twice");
    assert_eq!(labels(&home.library()), ["Four", "Three", "Two", "One"]);
}

#[test]
fn one_that_can_not_even_be_opened_is_used_once_it_is_free() {
    let home = Home::new();
    let other = hold(&home, ALONE);
    let library = home.library();
    assert_eq!(codes(&library), ["CACHE_HELD"]);
    assert_eq!(shown(&library), ["Two", "One"]);
    home.logs.put(log("c", "Three", 3));
    release(other);
    assert_eq!(codes(&library), ["CACHE_FREE"]);
    assert_eq!(labels(&home.library()), ["Three", "Two", "One"]);
}

#[test]
fn a_long_reading_goes_back_to_the_file_in_the_middle_of_it() {
    let home = Home::new();
    for n in 0..200 {
        home.logs.put(log(&format!("s{n}"), "Many", 10 + n));
    }
    let library = home.library();
    library.load().unwrap();
    let mut other = Some(hold(&home, WRITING));
    let never = tokio_util::sync::CancellationToken::new();
    let refreshed = library.refresh(&never, &mut |_| {
        if let Some(other) = other.take() {
            release(other);
        }
    });
    let notices = refreshed.unwrap().notices;
    let told: Vec<_> = notices.iter().map(ibid::library::Notice::code).collect();
    assert_eq!(told, ["CACHE_HELD", "CACHE_FREE"]);
    let again = home.library();
    assert!(labels(&again).iter().all(|label| !label.starts_with('s')));
    assert_eq!(home.logs.opened(), 202);
}

#[test]
fn what_went_away_meanwhile_is_known_as_gone() {
    let home = Home::new();
    let library = home.library();
    library.load().unwrap();
    let other = hold(&home, WRITING);
    home.logs.remove("a");
    assert_eq!(codes(&library), ["CACHE_HELD"]);
    release(other);
    assert_eq!(codes(&library), ["CACHE_FREE"]);
    let missing = home.library().missing(&"a".into());
    assert!(matches!(missing, LibraryError::Gone { .. }), "{missing}");
}

#[test]
fn what_another_ibid_wrote_meanwhile_stays_and_what_it_says_of_the_past_is_mended() {
    let home = Home::new();
    let second = home.library();
    second.load().unwrap();
    let (first, other) = found_beside(&home);
    release(other);
    home.logs.put(log("c", "Three and more", 5));
    home.logs.put(log("d", "Four", 4));
    assert_eq!(codes(&second), [""; 0]);
    assert_eq!(codes(&first), ["CACHE_FREE"]);
    let expected = ["Three and more", "Four", "Two", "One"];
    assert_eq!(shown(&first), expected);
    assert_eq!(labels(&home.library()), expected);
}

#[test]
fn reading_what_was_said_goes_back_to_it_too() {
    let home = Home::new();
    let (library, other) = found_beside(&home);
    release(other);
    let never = tokio_util::sync::CancellationToken::new();
    library.index_texts(&never, &mut |_| {}).unwrap();
    assert_eq!(labels(&home.library()), ["Three", "Two", "One"]);
}
