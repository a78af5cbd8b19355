//! What becomes of the cache and of what can be searched through damage, loss,
//! other versions and other processes.

use ibid::library::query::Filter;
use ibid::library::texts::Depth;
use ibid::library::{Library, LibraryError, Notice, Search};
use ibid::session::Millis;
use rusqlite::Connection;
use tokio_util::sync::CancellationToken;

use super::cache::Home;
use super::{labels, log, refresh, shown};

/// What is said of a session that there is none of.
fn missing(library: &Library, id: &str) -> LibraryError {
    library.missing(&id.into())
}

fn is_gone(library: &Library, id: &str) -> bool {
    matches!(missing(library, id), LibraryError::Gone { title, .. } if title == "One")
}

#[test]
fn what_was_last_seen_when_outlives_another_schema_and_another_file() {
    for is_noticed in [false, true] {
        for trouble in ["older", "damaged", "started over"] {
            if trouble == "damaged" && !is_noticed {
                // What was in the damaged pages is not known.
                continue;
            }
            let home = Home::new();
            home.logs.remove("a");
            if is_noticed {
                refresh(&home.library());
            }
            match trouble {
                "older" => home.sql("PRAGMA user_version = 2;"),
                "damaged" => home.scribble("sessions"),
                _ => drop(home.library().start_over().unwrap()),
            }
            let library = home.library();
            refresh(&library);
            let what = format!("{trouble}, noticed before: {is_noticed}");
            assert!(is_gone(&library, "a"), "{what}");
            assert_eq!(missing(&library, "x").code(), "SESSION_NOT_FOUND", "{what}");
            assert_eq!(shown(&library), ["Two"], "{what}");
            home.logs.put(log("a", "One", 1));
            refresh(&library);
            assert!(super::read(&library, "a").is_ok(), "{what}: it is back");
        }
    }
}

#[test]
fn an_own_session_that_is_gone_was_last_seen_when_the_folder_was_listed() {
    let home = Home::new();
    let before = Millis::now();
    home.sql("DELETE FROM scans;");
    let library = home.library();
    refresh(&library);
    home.logs.remove("a");
    refresh(&library);
    let LibraryError::Gone { last_seen, .. } = missing(&library, "a") else {
        panic!("it is not known");
    };
    assert!(last_seen >= before, "{last_seen:?}");
}

#[test]
fn one_that_another_process_just_made_is_not_made_again() {
    let home = Home::new();
    let other = Connection::open(home.path()).unwrap();
    let version: i64 = other
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    home.sql("PRAGMA user_version = 2;");
    other
        .execute_batch(&format!(
            "BEGIN IMMEDIATE; PRAGMA user_version = {version}; UPDATE sessions SET title = 'Kept';"
        ))
        .unwrap();
    let begun = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        let opening = scope.spawn(|| {
            let library = home.library();
            begun.wait();
            library.load().unwrap();
            shown(&library)
        });
        begun.wait();
        other.execute_batch("COMMIT").unwrap();
        assert_eq!(opening.join().unwrap(), ["Kept", "Kept"]);
    });
}

/// How many sessions a search finds once all were read.
fn found(library: &Library) -> usize {
    let never = CancellationToken::new();
    refresh(library);
    library.index_texts(&never, &mut |_| {}).unwrap();
    let search = Search {
        text: "program",
        exclude: None,
        now: Millis(0),
        zone: &jiff::tz::TimeZone::UTC,
        limit: 9,
        depth: Depth::All,
        filter: &Filter::default(),
    };
    let found = library.search(&search, &never).unwrap().unwrap();
    found.hits.sessions
}

#[test]
fn starting_over_mends_whatever_is_damaged() {
    type Trouble = fn(&Home);
    let troubles: [(&str, Trouble); 8] = [
        ("whole", |_| {}),
        ("rows of the index", |home| {
            home.sql("UPDATE texts_index_data SET block = x'ff';");
        }),
        ("a table of the index", |home| {
            home.sql("DROP TABLE texts_index_config;");
        }),
        ("pages of texts", |home| home.scribble("texts_messages")),
        ("pages of an index", |home| {
            home.scribble("sessions_of_file");
        }),
        ("pages of what is gone", |home| home.scribble("gone")),
        ("newer", |home| home.sql("PRAGMA user_version = 99;")),
        ("no database", |home| {
            std::fs::write(home.path(), "a shopping list of some length".repeat(99)).unwrap();
        }),
    ];
    for (what, trouble) in troubles {
        let home = Home::new();
        assert_eq!(found(&home.library()), 2);
        trouble(&home);
        let library = home.library();
        let notice = library.start_over().unwrap();
        let is_rebuilt = !matches!(what, "whole" | "rows of the index");
        assert_eq!(notice.is_some(), is_rebuilt, "{what}: {notice:?}");
        let refreshed = refresh(&library);
        assert!(refreshed.notices.is_empty(), "{what}: {refreshed:?}");
        assert_eq!(found(&library), 2, "{what}");
        let standing = library.texts_standing().unwrap();
        assert!(standing.is_complete(), "{what}: {standing:?}");
        let again = home.library();
        assert_eq!(labels(&again), ["Two", "One"], "{what}");
        assert_eq!(found(&again), 2, "{what}");
        home.sql("PRAGMA integrity_check;");
    }
}

#[test]
fn starting_over_where_no_file_can_be_says_why() {
    let home = Home::new();
    std::fs::remove_file(home.path()).unwrap();
    std::fs::create_dir(home.path()).unwrap();
    let refused = home.library().start_over().unwrap_err();
    assert_eq!(refused.code(), "CACHE_SET_ASIDE");
}

#[test]
fn a_cache_that_is_deleted_under_a_library_is_noticed_and_filled_again() {
    let home = Home::new();
    let library = home.library();
    refresh(&library);
    assert_eq!(found(&library), 2);
    assert!(!library.has_lost_texts());
    for end in ["", "-wal", "-shm"] {
        let path = home.path().into_os_string().into_string().unwrap() + end;
        std::fs::remove_file(path).unwrap();
    }
    assert!(library.has_lost_texts());
    refresh(&library);
    assert_eq!(shown(&library), ["Two", "One"]);
    assert_eq!(found(&library), 2);
    assert!(!library.has_lost_texts());
    assert_eq!(home.titles(), 2);
}

#[test]
fn a_session_that_cannot_be_read_for_search_is_told() {
    let home = Home::new();
    let library = home.library();
    refresh(&library);
    home.logs.broken.lock().unwrap().push("a.jsonl".to_owned());
    assert_eq!(found(&library), 1);
    let standing = library.texts_standing().unwrap();
    assert_eq!(
        (standing.indexed, standing.of, standing.pending()),
        (1, 2, 0)
    );
    assert_eq!(standing.unread, [("a".into(), "damaged".to_owned())]);
    assert!(!standing.is_complete());
    home.logs.broken.lock().unwrap().clear();
    assert_eq!(found(&library), 2);
    let standing = library.texts_standing().unwrap();
    assert!(standing.is_complete() && standing.unread.is_empty());
}

#[test]
fn a_message_is_found_as_of_its_own_time_and_else_as_of_its_session() {
    let home = Home::new();
    let mut timed = log("timed", "Three", 3);
    timed.capture.conversation[0].time = Millis(77);
    home.logs.put(timed);
    let library = home.library();
    refresh(&library);
    found(&library);
    let never = CancellationToken::new();
    let search = Search {
        text: "program",
        exclude: None,
        now: Millis(0),
        zone: &jiff::tz::TimeZone::UTC,
        limit: 9,
        depth: Depth::All,
        filter: &Filter::default(),
    };
    let hits = library.search(&search, &never).unwrap().unwrap().hits;
    let mut whens: Vec<_> = hits
        .rows
        .iter()
        .map(|hit| (hit.id.as_str(), hit.when))
        .collect();
    whens.sort_unstable();
    let expected = [("a", Millis(1)), ("b", Millis(2)), ("timed", Millis(77))];
    assert_eq!(whens, expected);
}

#[test]
fn one_that_is_damaged_where_it_is_written_says_how_to_mend_it() {
    let home = Home::new();
    home.scribble("sessions_by_id");
    home.logs.put(log("c", "Three", 3));
    let library = home.library();
    let notices = refresh(&library).notices;
    let told: Vec<String> = notices.iter().map(ToString::to_string).collect();
    assert!(
        told.iter().any(|told| told.contains("ibid reindex")),
        "{told:?}"
    );
    assert_eq!(shown(&library), ["Three", "Two", "One"]);
    assert!(library.start_over().unwrap().is_some());
    assert!(refresh(&library).notices.is_empty());
    assert_eq!(labels(&home.library()), ["Three", "Two", "One"]);
}

#[test]
fn a_session_that_another_process_kept_from_the_cache_is_missed_in_search_till_the_next_look() {
    let home = Home::new();
    let library = home.library();
    assert_eq!(found(&library), 2);
    home.logs.put(log("c", "Three", 3));
    let other = Connection::open(home.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let notices = refresh(&library).notices;
    assert!(
        matches!(&*notices, [Notice::CacheHeld { .. }, ..]),
        "{notices:?}"
    );
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(shown(&library), ["Three", "Two", "One"]);
    let standing = library.texts_standing().unwrap();
    let told = (standing.indexed, standing.of, standing.pending());
    assert_eq!(told, (2, 3, 1));
    assert_eq!(found(&library), 3);
    assert!(library.texts_standing().unwrap().is_complete());
}
