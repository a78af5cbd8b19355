//! `ibid candidates`.

use ibid::session::{Header, Millis, Session, Title, TitleSource};
use serde_json::{Value, json};

use super::Place;
use crate::support::sessions::{append, say};

/// A place with sessions in two directories and in none.
fn place() -> Place {
    let place = Place::new();
    for (id, created, cwd, title) in [
        (
            "api-1",
            10,
            Some("/work/api"),
            Some("Fix the flaky login test"),
        ),
        ("api-2", 20, Some("/work/api"), None),
        ("none", 5, None, Some("Scratch")),
        ("web-1", 30, Some("/work/web"), Some("Login page redesign")),
    ] {
        let mut session = Session::new(Header::new(id, Millis(created), cwd.map(str::to_owned)));
        say(&mut session, "hello there");
        if let Some(title) = title {
            append(&mut session, Title::event(title, TitleSource::Person));
        }
        place.store(&session);
    }
    place
}

fn ids(candidates: &Value) -> Vec<&str> {
    let candidates = candidates.as_array().unwrap();
    candidates
        .iter()
        .map(|candidate| candidate["sessionId"].as_str().unwrap())
        .collect()
}

#[test]
fn the_same_directory_comes_first_then_none_then_others_newest_first() {
    let place = place();
    let found = place.json(&["candidates", "--cwd", "/work/api", "--json"]);
    assert_eq!(ids(&found), ["api-2", "api-1", "none", "web-1"]);
    let found = place.json(&["candidates", "--cwd", "/work/web", "--json"]);
    assert_eq!(ids(&found), ["web-1", "none", "api-2", "api-1"]);
}

#[test]
fn a_candidate_has_its_title_and_a_mention_to_paste() {
    let place = place();
    let found = place.json(&["candidates", "flaky", "--cwd", "/work/api", "--json"]);
    let mention = place.text(&[
        "mention",
        "format",
        "--id",
        "api-1",
        "--label",
        "Fix the flaky login test",
    ]);
    assert_eq!(
        found,
        json!([{
            "sessionId": "api-1",
            "label": "Fix the flaky login test",
            "cwd": "/work/api",
            "sameWorkspace": true,
            "createdAt": 10,
            "mention": mention.trim_end(),
        }])
    );
}

#[test]
fn a_query_is_part_of_an_id_a_directory_or_a_title_in_any_case() {
    let place = place();
    let found = |query: &str| {
        let found = place.json(&["candidates", query, "--cwd", "/work/api", "--json"]);
        ids(&found)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(found("LOGIN"), ["api-1", "web-1"]);
    assert_eq!(found("/WORK/W"), ["web-1"]);
    assert_eq!(found("API-"), ["api-2", "api-1"]);
    assert_eq!(found("-"), ["api-2", "api-1", "web-1"]);
    assert_eq!(found("nothing like it"), Vec::<String>::new());
}

#[test]
fn the_target_is_left_out_and_its_directory_comes_first() {
    let place = place();
    let found = place.json(&["candidates", "--target", "web-1", "--json"]);
    assert_eq!(ids(&found), ["none", "api-2", "api-1"]);
    let found = place.json(&["candidates", "--target", "api-1", "--json"]);
    assert_eq!(ids(&found), ["api-2", "none", "web-1"]);
    assert_eq!(found[0]["sameWorkspace"], true);
}

#[test]
fn the_limit_counts_matches() {
    let place = place();
    let args = ["candidates", "login", "--cwd", "/work/web", "--json"];
    let limited = |limit: &'static str| [&args[..], &["--limit", limit]].concat();
    assert_eq!(ids(&place.json(&limited("1"))), ["web-1"]);
    assert_eq!(ids(&place.json(&limited("9"))), ["web-1", "api-1"]);
    let (code, message) = place.refused(&limited("0"));
    assert_eq!(code, "SESSION_REFERENCE_INVALID_REFERENCE");
    assert!(message.contains("at least one"), "{message}");

    place.write("home/config.toml", "[references]\ncandidate-limit = 1");
    assert_eq!(ids(&place.json(&args)), ["web-1"]);
}

#[test]
fn plain_rows_have_tabs_between_their_columns_and_nowhere_else() {
    let place = Place::new();
    let header = Header::new("a\tb\nc", Millis(1), Some("/work".to_owned()));
    let mut session = Session::new(header);
    say(&mut session, "hello there");
    place.store(&session);
    let text = place.text(&["candidates"]);
    assert_eq!(text.lines().count(), 1, "{text}");
    let columns: Vec<&str> = text.trim_end_matches('\n').split('\t').collect();
    assert_eq!(columns.len(), 3, "{text}");
    // The URI of an id that can't be shown.
    assert_eq!(
        (columns[0], columns[2]),
        ("dsh-session:ImFcdGJcbmMi", "/work")
    );
}

#[test]
fn a_relative_directory_is_looked_up() {
    let place = Place::new();
    let here = place.path(".").canonicalize().unwrap();
    let cwd = here.to_str().unwrap().to_owned();
    let mut session = Session::new(Header::new("a", Millis(1), Some(cwd)));
    say(&mut session, "hello");
    place.store(&session);
    for args in [
        &["candidates", "--cwd", ".", "--json"][..],
        &["candidates", "--json"],
    ] {
        assert_eq!(place.json(args)[0]["sameWorkspace"], true);
    }
}

#[test]
fn a_cache_that_is_damaged_or_gone_changes_nothing() {
    let place = place();
    let args = ["candidates", "--cwd", "/work/api", "--json"];
    let found = place.json(&args);
    let cache = place.home().cache_file();
    assert!(cache.is_file());
    std::fs::write(&cache, "no database").unwrap();
    assert_eq!(place.json(&args), found);
    std::fs::remove_file(&cache).unwrap();
    assert_eq!(place.json(&args), found);
}

#[test]
fn a_cached_row_that_contradicts_its_log_is_not_believed() {
    let place = place();
    let args = ["candidates", "--cwd", "/work/api", "--json"];
    let found = place.json(&args);
    let cache = rusqlite::Connection::open(place.home().cache_file()).unwrap();
    let changed = cache
        .execute(
            "UPDATE sessions SET cwd = '/elsewhere', created_at = 99",
            [],
        )
        .unwrap();
    assert_eq!(changed, 4);
    drop(cache);
    assert_eq!(place.json(&args), found);
}

#[test]
fn a_candidate_whose_log_can_t_be_read_says_so() {
    let place = place();
    let newer = r#"{"type":"session","version":99,"id":"newer","createdAt":1}"#;
    place.write("home/sessions/newer.jsonl", format!("{newer}\n"));
    let ended = place.run(&["candidates", "newer", "--json"]);
    let warning: Value = serde_json::from_str(&ended.err).unwrap();
    assert_eq!(warning["warning"]["code"], "SESSION_UNREADABLE");
    let found: Value = serde_json::from_slice(&ended.out).unwrap();
    let mention = &found[0]["mention"];
    assert!(mention.as_str().unwrap().starts_with("@[newer]"));
    let expected = json!([{
        "sessionId": "newer", "label": "newer", "unread": true, "mention": mention,
    }]);
    assert_eq!(found, expected);
}

#[test]
fn only_the_logs_of_the_rows_that_are_printed_are_opened() {
    let place = place();
    let args = ["candidates", "--cwd", "/work/api", "--limit", "1", "--json"];
    let cache = || rusqlite::Connection::open(place.home().cache_file()).unwrap();
    place.json(&args);
    let lie = "UPDATE sessions SET cwd = '/work/api', created_at = 99 WHERE id LIKE 'web%'";
    assert_eq!(cache().execute(lie, []).unwrap(), 1);
    // It was first, was wrong, and left its place to another one.
    assert_eq!(ids(&place.json(&args)), ["api-2"]);
    let lie = "UPDATE sessions SET version = 0 WHERE id <> 'api-2'";
    assert_eq!(cache().execute(lie, []).unwrap(), 3);
    assert_eq!(ids(&place.json(&args)), ["api-2"]);
    let count = "SELECT count(*) FROM sessions WHERE version = 0";
    let left: i64 = cache().query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(left, 3);
}

#[test]
fn filters_leave_candidates_out_and_wrong_ones_are_refused() {
    let place = place();
    let found = |query: &str| {
        let found = place.json(&["candidates", query, "--cwd", "/work/api", "--json"]);
        ids(&found).join(" ")
    };
    assert_eq!(found("cwd:web"), "web-1");
    assert_eq!(found("-cwd:web login"), "api-1");
    assert_eq!(found("tool:ibid none"), "none");
    assert_eq!(found("tool:codex"), "");
    for wrong in ["tool:bad", "since:xx login"] {
        let (code, _) = place.refused(&["candidates", wrong, "--json"]);
        assert_eq!(code, "USAGE");
    }
}
