//! `ibid search`, and what is said of what it could not read.

use ibid::session::{Block, Message, Millis, NewEvent, Payload, Role, Seq, Source};
use serde_json::{Value, json};

use super::Place;
use crate::support::sessions::{said, session_in};

#[test]
fn an_answer_says_whether_all_was_searched_and_when_each_message_was_said() {
    let place = Place::new();
    let mut session = session_in("a", "/work");
    for (time, text) in [(1_000, "the login fails"), (2_000, "never mind")] {
        let message = Payload::user(Message::person(text));
        let event = NewEvent::plain(Millis(time), message);
        session.append(event).unwrap();
    }
    place.store(&session);
    let found = place.json(&["search", "login", "--json"]);
    assert_eq!(found["results"][0]["when"], 1_000);
    let told = json!([
        found["complete"],
        found["indexed"],
        found["of"],
        found["unread"]
    ]);
    assert_eq!(told, json!([true, 1, 1, {"count": 0, "first": []}]));
}

#[test]
fn what_a_summary_or_another_message_took_the_place_of_is_found() {
    let place = Place::new();
    let mut session = session_in("a", "/work");
    for text in ["the login fails", "never mind"] {
        let message = Payload::user(Message::person(text));
        session.append(NewEvent::plain(Millis(1), message)).unwrap();
    }
    let source = Source::checkpoint("c");
    let summary = Message::new(Role::User, source, vec![Block::text("it was about tests")]);
    let (first, last) = (Seq(0), Seq(1));
    let summary = NewEvent::replacing(
        Millis(2),
        Payload::user(summary),
        (first, last),
        vec![first, last],
    );
    session.append(summary).unwrap();
    place.store(&session);

    let found = place.json(&["search", "login", "--json"]);
    assert_eq!(found["results"][0]["sessionId"], "a");
    assert_eq!(
        found["results"][0]["message"],
        Value::Null,
        "it can't be cited"
    );
    let found = place.json(&["search", "tests", "--json"]);
    assert_eq!(found["results"][0]["message"], 0);

    let within = place.json(&["search", "login", "--session", "a", "--json"]);
    assert_eq!(within["results"][0]["message"], Value::Null);
    assert_eq!(within["results"][0]["snippet"], "the login fails");
    let within = place.text(&["search", "login", "--session", "a"]);
    assert!(within.starts_with("-\tuser\t"), "{within}");
}

#[test]
fn a_session_that_cannot_be_read_for_search_is_told_everywhere() {
    let place = Place::new();
    place.store(&said("good", ["the login fails"]));
    let id = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f";
    let line = json!({
        "type": "user", "uuid": "u", "parentUuid": null, "sessionId": id, "isSidechain": false,
        "timestamp": "2026-01-02T03:04:05.000Z", "cwd": "/w", "version": "9.9.9",
        "message": {"role": "user", "content": 7},
    });
    let folder = "person/.claude/projects/-w";
    std::fs::create_dir_all(place.path(folder)).unwrap();
    place.write(&format!("{folder}/{id}.jsonl"), format!("{line}\n"));
    let id = format!("claude:{id}");

    let ended = place.run(&["search", "login"]);
    assert!(String::from_utf8(ended.out).unwrap().starts_with("good\t"));
    let told = format!("1 session could not be read for search, the first is {id}: ");
    assert!(ended.err.contains(&told), "{}", ended.err);
    assert!(ended.err.contains("9.9.9"), "{}", ended.err);

    let found = place.json(&["search", "login", "--json"]);
    let told = json!([found["complete"], found["indexed"], found["of"]]);
    assert_eq!(told, json!([false, 1, 2]));
    assert_eq!(found["unread"]["count"], 1);
    assert_eq!(found["unread"]["first"][0]["sessionId"], json!(id));

    let sources = place.text(&["sources"]);
    assert!(
        sources.contains("1 session could not be read for search"),
        "{sources}"
    );
    let doctor = place.text(&["doctor"]);
    assert!(
        doctor.contains(&format!("{id} could not be read for search")),
        "{doctor}"
    );
}

#[test]
fn nothing_to_search_for_is_wrong_usage() {
    let place = Place::new();
    place.store(&said("a", ["hello"]));
    for query in [
        "",
        " ",
        "\"\"",
        "\"",
        "-word",
        "tool:ibid",
        "tool:ibid -word",
    ] {
        let (code, message) = place.refused(&["search", query, "--json"]);
        assert_eq!(code, "USAGE", "{query}");
        assert!(message.contains("nothing to search for"), "{message}");
        let within = ["search", query, "--session", "a"];
        if !query.starts_with("tool") {
            assert_eq!(place.run(&within).code, Some(2), "{query}");
        }
    }
    assert_eq!(place.run(&["search", "--", "->"]).code, Some(0));
}

#[test]
fn a_time_that_cannot_be_is_refused_as_a_flag_and_told_in_a_query() {
    let place = Place::new();
    place.store(&said("a", ["hello"]));
    for time in [
        "201y",
        "99999999999999999999d",
        "2026-13-01",
        "2026-11-01T10:00",
        "soon",
    ] {
        let (code, message) = place.refused(&["search", "hello", "--since", time, "--json"]);
        assert_eq!(code, "USAGE", "{time}");
        assert!(message.contains(time), "{message}");
        let ended = place.run(&["search", &format!("hello since:{time}")]);
        assert!(ended.err.contains(time), "{}", ended.err);
    }
}

#[test]
fn where_the_cache_can_be_no_file_the_search_finds_all_the_same() {
    let place = Place::new();
    place.store(&said("a", ["the login fails"]));
    std::fs::create_dir(place.home().cache_file()).unwrap();
    let ended = place.run(&["search", "login"]);
    assert_eq!(ended.code, Some(0));
    assert!(String::from_utf8(ended.out).unwrap().starts_with("a\t"));
    let ended = place.run(&["search", "login", "--json"]);
    let found: Value = serde_json::from_slice(&ended.out).unwrap();
    assert_eq!(found["complete"], true);
    let warning: Value = serde_json::from_str(&ended.err).unwrap();
    assert_eq!(warning["warning"]["code"], "CACHE_SET_ASIDE");
}

#[test]
fn a_cache_that_another_program_holds_is_told_with_what_to_do() {
    let place = Place::new();
    place.store(&said("a", ["the login fails"]));
    place.text(&["sessions", "list"]);
    let other = rusqlite::Connection::open(place.home().cache_file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    place.store(&said("b", ["the login works"]));
    let doctor = place.text(&["doctor"]);
    assert!(doctor.contains("another program holds"), "{doctor}");
    assert!(doctor.contains("nothing is lost"), "{doctor}");
    other.execute_batch("ROLLBACK").unwrap();
    let doctor = place.text(&["doctor"]);
    assert!(doctor.contains("everything"), "{doctor}");
}

#[test]
fn reindexing_mends_a_damaged_index_and_says_so() {
    let place = Place::new();
    place.store(&said("a", ["the login fails"]));
    place.text(&["search", "login"]);
    let cache = rusqlite::Connection::open(place.home().cache_file()).unwrap();
    cache
        .execute_batch("DROP TABLE texts_index_config;")
        .unwrap();
    drop(cache);
    let (code, message) = place.refused(&["search", "login", "--json"]);
    assert_eq!(code, "SEARCH_DAMAGED");
    assert!(message.contains("ibid reindex"), "{message}");
    let doctor = place.text(&["doctor"]);
    assert!(doctor.contains("ibid reindex"), "{doctor}");
    let said = place.text(&["reindex"]);
    assert!(said.contains("was made anew"), "{said}");
    assert!(said.contains("read 1 session for search"), "{said}");
    assert!(place.text(&["search", "login"]).starts_with("a\t"));
    let again = place.json(&["reindex", "--json"]);
    let told = json!([again["rebuilt"], again["indexed"], again["of"]]);
    assert_eq!(told, json!([null, 1, 1]));
}

#[test]
fn a_session_whose_id_cannot_be_shown_is_used_by_what_is_shown() {
    let place = Place::new();
    for id in ["an\u{1b}[31modd\nid", "dsh-session:x"] {
        place.store(&said(id, ["the login fails"]));
    }
    let list = place.text(&["sessions", "list"]);
    let found = place.text(&["search", "login"]);
    let candidates = place.text(&["candidates"]);
    for text in [list, found, candidates] {
        let ids: Vec<&str> = text
            .lines()
            .filter_map(|line| line.split('\t').next())
            .collect();
        assert_eq!(ids.len(), 2, "{text}");
        for id in ids {
            assert!(id.starts_with("dsh-session:"), "{id}");
            let shown = place.text(&["sessions", "show", id]);
            assert!(shown.contains("the login fails"), "{shown}");
            assert_eq!(place.run(&["prepare", "--session", id]).code, Some(0));
            let within = place.text(&["search", "login", "--session", id]);
            assert!(within.starts_with("0\t"), "{within}");
            let without = place.text(&["candidates", "--target", id]);
            assert_eq!(without.lines().count(), 1, "{without}");
        }
    }
}

#[test]
fn tools_are_given_with_commas_or_one_by_one_and_a_directory_by_its_short_name() {
    let place = Place::new();
    let here = place.path("here");
    std::fs::create_dir(&here).unwrap();
    let here = here.canonicalize().unwrap();
    place.store(&said("a", ["the login fails"]));
    place.store(&session_in("b", here.to_str().unwrap()));
    for tools in [
        &["--tool", "codex,ibid"][..],
        &["--tool", "codex", "--tool", "ibid"],
    ] {
        let args = [&["search", "login", "--json"], tools].concat();
        assert_eq!(place.json(&args)["sessions"], 1, "{tools:?}");
        let args = [&["sessions", "list", "--json"], tools].concat();
        assert_eq!(place.json(&args).as_array().unwrap().len(), 2, "{tools:?}");
    }
    let mut session = session_in("c", here.to_str().unwrap());
    let message = Payload::user(Message::person("a login here"));
    session.append(NewEvent::plain(Millis(1), message)).unwrap();
    place.store(&session);
    let mut command = place.command();
    command.current_dir(&here);
    command.args(["search", "login", "--cwd", ".", "--json"]);
    let found: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    assert_eq!(found["results"][0]["sessionId"], "c");
    assert_eq!(found["sessions"], 1);
}
