//! `ibid sessions`.

use serde_json::{Value, json};

use super::{Place, log_of};
use crate::support::sessions::{answer, conversation, said, say, session, session_in};
use ibid::session::Block;

#[test]
fn list_names_every_session() {
    let place = Place::new();
    place.store(&said("a", ["how does the cache work"]));
    let mut other = session_in("b/2", "/work/api");
    say(&mut other, "hello");
    answer(&mut other, vec![Block::text("hi")]);
    place.store(&other);

    let list = place.json(&["sessions", "list", "--json"]);
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 2);
    let row = list.iter().find(|row| row["sessionId"] == "b/2").unwrap();
    assert_eq!(row["cwd"], "/work/api");
    assert_eq!(row["messages"], 2);
    assert_eq!(row["createdAt"], 1);

    let text = place.text(&["sessions", "list"]);
    let mut ids: Vec<&str> = text
        .lines()
        .map(|line| line.split('\t').next().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, ["a", "b/2"]);
}

#[test]
fn show_prints_the_conversation() {
    let place = Place::new();
    let mut session = said("a", ["what is 世界?\u{1b}[31m"]);
    answer(&mut session, vec![Block::text("the world\n")]);
    place.store(&session);
    let text = place.text(&["sessions", "show", "a"]);
    assert_eq!(
        text,
        "## user\n\nwhat is 世界?\u{1b}[31m\n\n## assistant\n\nthe world\n\n\n"
    );
}

#[test]
fn show_with_json_gives_every_event() {
    let place = Place::new();
    let mut whole = session("-x");
    conversation(&mut whole);
    place.store(&whole);
    let shown = place.json(&["sessions", "show", "-x", "--json"]);
    assert_eq!(shown["header"], json!(whole.header()));
    assert_eq!(shown["events"], json!(whole.events()));
    assert_eq!(shown["notices"], json!([]));
}

#[test]
fn damage_is_told_and_the_rest_is_shown() {
    let place = Place::new();
    place.store(&said("a", ["one", "two", "three"]));
    let file = place.home().session_file(&"a".into());
    let log = log_of(&said("a", ["one", "two", "three"]));
    std::fs::write(&file, log.replace("\"two\"", "\"two")).unwrap();
    let ended = place.run(&["sessions", "show", "a"]);
    assert_eq!(ended.code, Some(0));
    let text = String::from_utf8(ended.out).unwrap();
    assert!(text.contains("one") && text.contains("three"), "{text}");
    assert!(ended.err.contains("line 3"), "{}", ended.err);

    let shown = place.json(&["sessions", "show", "a", "--json"]);
    let notice = shown["notices"][0].as_str().unwrap();
    assert!(notice.contains("line 3"), "{notice}");
}

#[test]
fn a_log_that_can_t_be_read_is_told_and_the_others_are_listed() {
    let place = Place::new();
    place.store(&said("good", ["hello"]));
    let newer = r#"{"type":"session","version":99,"id":"newer","createdAt":1}"#;
    place.write("home/sessions/newer.jsonl", format!("{newer}\n"));
    let ended = place.run(&["sessions", "list"]);
    assert_eq!(ended.code, Some(0));
    let text = String::from_utf8(ended.out).unwrap();
    assert!(text.contains("good\t"), "{text}");
    // What stays so is told once, elsewhere.
    assert_eq!(
        ended.err,
        "ibid: 1 warning: `ibid doctor` tells what and where\n"
    );
    let doctor = place.text(&["doctor"]);
    assert!(doctor.contains("newer.jsonl"), "{doctor}");
    assert!(doctor.contains("update ibid"), "{doctor}");

    // Programs get it whole, beside the list.
    let ended = place.run(&["sessions", "list", "--json"]);
    let warning: Value = serde_json::from_str(&ended.err).unwrap();
    assert_eq!(warning["warning"]["code"], "SESSION_UNREADABLE");
    let list: Value = serde_json::from_slice(&ended.out).unwrap();
    let rows = list.as_array().unwrap();
    let unread = rows.iter().find(|row| row["sessionId"] == "newer").unwrap();
    let updated_at = &unread["updatedAt"];
    assert!(updated_at.is_i64());
    let expected = json!({
        "sessionId": "newer", "updatedAt": updated_at, "tool": "ibid", "unread": true,
    });
    assert_eq!(*unread, expected);
    assert!(rows.iter().any(|row| row.get("unread").is_none()));
}
