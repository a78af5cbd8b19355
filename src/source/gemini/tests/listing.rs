//! Which files there are, and what a list shows of one.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::*;
use crate::session::Millis;
use crate::source::{Kind, Listed, SourceNotice};

fn look(path: &Path) -> Listed {
    let Look::Sessions(mut listed) = Gemini.look(path, &Round::default()).unwrap() else {
        panic!("no session");
    };
    assert_eq!(listed.len(), 1);
    listed.remove(0)
}

fn look_at(name: &str, text: &str) -> Listed {
    look(&Home::new().write(name, text))
}

fn listed(lines: &[String]) -> Listed {
    let text = [&[META.to_owned()], lines].concat().join("\n");
    look_at("session-x-aabbccdd.jsonl", &text)
}

fn title(listed: &Listed) -> Option<&str> {
    listed.title.as_ref().map(|title| title.text.as_str())
}

/// Messages of so many bytes and more.
fn long(bytes: usize) -> Vec<String> {
    let text = "x".repeat(1000);
    (0..=bytes / 1000)
        .map(|n| model(&format!("l{n}"), &text))
        .collect()
}

/// A document of old versions, with what stands behind its messages.
fn document(messages: &[String], rest: &str) -> String {
    let about = META
        .strip_suffix('}')
        .unwrap()
        .replace(",\"kind\":\"main\"", "");
    let about = about.replace(",\"", ",\n  \"").replace('{', "{\n  ");
    format!(
        "{about},\n  \"messages\": [\n{}\n  ]{rest}\n}}\n",
        messages.join(",\n")
    )
}

#[test]
fn sessions_lie_below_home_or_the_home_of_the_environment() {
    let home = Some(PathBuf::from("/h"));
    let places = |environment| Gemini.places(&environment);
    assert_eq!(
        places(Environment::new(home.clone(), [])),
        [PathBuf::from("/h/.gemini/tmp")]
    );
    let other = [("GEMINI_CLI_HOME", OsString::from("/g"))];
    assert_eq!(
        places(Environment::new(home, other)),
        [PathBuf::from("/g/.gemini/tmp")]
    );
    assert!(places(Environment::default()).is_empty());
}

#[test]
fn a_scan_finds_sessions_of_both_forms_and_subagents() {
    let home = Home::new();
    let mut expected = Vec::new();
    for name in [
        "session-1-aabbccdd.json",
        "session-1-aabbccdd.jsonl",
        "lone-agent.jsonl",
        "parent-id/child.jsonl",
    ] {
        expected.push(home.write(name, "x"));
    }
    let place = home.0.path().join("tmp");
    for name in [
        "checkpoint.json",
        "session-2-aabbccdd.json.tmp",
        "parent-id/deeper/x.jsonl",
        "../logs.json",
        "../session-3-aabbccdd.json",
    ] {
        let other = home.write(name, "x");
        assert_eq!(Gemini.find(&place, &other), None, "{name}");
    }
    home.write("session-4-aabbccdd.jsonl", "");
    let mut walk = Walk::default();
    Gemini.scan(&place, &mut walk);
    assert!(walk.obstacles.is_empty());
    for file in &walk.files {
        assert_eq!(Gemini.find(&place, &file.path).as_ref(), Some(file));
    }
    let mut found: Vec<PathBuf> = walk.files.iter().map(|file| file.path.clone()).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert!(walk.files.iter().all(|file| file.native_id.is_none()));
}

#[test]
fn a_session_is_located_by_the_part_of_its_id_in_a_name() {
    let home = Home::new();
    let chat = |id: &str| [META.replace("aabbccdd-1", id), user("1", "q")].join("\n");
    let path = home.write("session-1-aabbccdd.jsonl", &chat("aabbccdd-1"));
    let agent = home.write("aabbccdd-1/agent_7-0.jsonl", &chat("agent#7-0"));
    let place = home.0.path().join("tmp");
    let locate = |id: &str| Gemini.locate(&place, id);
    assert_eq!(locate("aabbccdd-1"), Some(path));
    assert_eq!(locate("agent#7-0"), Some(agent));
    for id in ["", "bbccdd", "1-aabbccdd", "session-1-aabbccdd/x"] {
        assert_eq!(locate(id), None, "{id}");
    }
    home.write("session-2-aabbccdd.jsonl", &chat("aabbccdd-2"));
    let second = locate("aabbccdd-2").unwrap();
    assert!(second.ends_with("session-2-aabbccdd.jsonl"));
    assert_eq!(locate("aabbccdd-3"), None);
}

#[test]
fn of_several_files_of_a_session_the_last_that_is_no_stub_is_located() {
    let home = Home::new();
    let write = |name: &str, text: &str, second: u64| {
        let path = home.write(name, text);
        let file = fs::File::options().append(true).open(&path).unwrap();
        let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
        file.set_modified(moment).unwrap();
        path
    };
    let whole = [META, &user("1", "q")].join("\n");
    write(
        "session-1-aabbccdd.json",
        &document(&[user("1", "q")], ""),
        1,
    );
    let live = write("session-1-aabbccdd.jsonl", &whole, 2);
    write("session-3-aabbccdd.jsonl", META, 3);
    let place = home.0.path().join("tmp");
    assert_eq!(Gemini.locate(&place, "aabbccdd-1"), Some(live));
}

#[test]
fn the_first_records_and_the_last_tell_what_is_listed() {
    let set =
        |second: u32| format!(r#"{{"$set":{{"lastUpdated":"2026-01-01T00:00:{second:02}Z"}}}}"#);
    for size in [0, 40_000, 300_000] {
        let mut lines = vec![user("1", "/help"), user("2", "fix the parser of dates now")];
        lines.push(set(1));
        lines.extend(long(size));
        lines.push(set(9));
        let listed = listed(&lines);
        assert_eq!(listed.native_id, "aabbccdd-1");
        assert_eq!(title(&listed), Some("fix the parser of dates"));
        assert_eq!(listed.created_at, Millis(1_767_225_600_000));
        assert_eq!(listed.updated_at, Some(Millis(1_767_225_609_000)), "{size}");
        assert_eq!((listed.kind, listed.parent), (Kind::Session, None));
        assert_eq!(listed.messages, (size == 0).then_some(2));
        assert_eq!(listed.notices, []);
    }
}

#[test]
fn a_summary_is_the_title_wherever_it_stands() {
    for size in [0, 40_000, 300_000] {
        let mut lines = vec![user("1", "q")];
        lines.extend(long(size));
        lines.push(r#"{"$set":{"summary":"About it"}}"#.to_owned());
        lines.push(user("2", "q2"));
        let listed = listed(&lines);
        assert_eq!(title(&listed), Some("About it"), "{size}");
        assert!(!listed.title.unwrap().pinned);
    }
}

#[test]
fn a_document_is_listed_by_its_beginning_and_its_summary() {
    for size in [0, 40_000, 300_000] {
        let mut messages = vec![user("1", "q")];
        messages.extend(long(size));
        // A member of the same name that is none of the document's.
        messages.push(r#"{"id":"x","type":"info","args":{"summary":"no"}}"#.to_owned());
        let listed = look_at("session-x-aabbccdd.json", &document(&messages, ""));
        assert_eq!(listed.native_id, "aabbccdd-1", "{size}");
        assert_eq!(title(&listed), Some("q"), "{size}");
        assert_eq!(listed.created_at, Millis(1_767_225_600_000));
        assert_eq!(listed.updated_at, Some(Millis(1_767_225_600_000)));
        assert_eq!(listed.notices, []);
        let rest = ",\n  \"summary\": \"About \\\"it\\\"\"";
        for text in [
            document(&messages, rest),
            document(&messages, rest).replace('\n', ""),
        ] {
            let listed = look_at("session-x-aabbccdd.json", &text);
            assert_eq!(title(&listed), Some("About \"it\""), "{size}");
        }
    }
}

#[test]
fn a_document_of_one_endless_message_is_listed_by_what_is_there() {
    let message = user("1", &format!("see this {}", "x".repeat(20_000_000)));
    let listed = look_at("session-x-aabbccdd.json", &document(&[message], ""));
    assert_eq!(listed.native_id, "aabbccdd-1");
    assert!(title(&listed).unwrap().starts_with("see this x"));
    assert_eq!(listed.kind, Kind::Session);
}

#[test]
fn a_file_without_a_message_is_a_stub() {
    let context = user("1", "<session_context>x</session_context>");
    let stub = listed(std::slice::from_ref(&context));
    assert_eq!((stub.kind, stub.messages), (Kind::Stub, Some(0)));
    assert_eq!(title(&stub), None);
    let strange = message("2", "user", r#"[{"words":"q"}]"#);
    assert_eq!(listed(&[strange]).kind, Kind::Session);
    assert_eq!(listed(&[context, model("2", "r")]).kind, Kind::Session);
}

#[test]
fn a_subagents_file_names_its_parent_and_its_directory() {
    let home = Home::new();
    let meta = META
        .replace("aabbccdd-1", "child")
        .replace("main", "subagent");
    let text = [meta, user("1", "task")].join("\n");
    let path = home.write("parent-id/child.jsonl", &text);
    fs::write(home.0.path().join("tmp/slug/.project_root"), "/rooted").unwrap();
    let agent = look(&path);
    assert_eq!(agent.kind, Kind::Subagent);
    assert_eq!(agent.native_id, "child");
    assert_eq!(agent.parent.as_deref(), Some("parent-id"));
    assert_eq!(agent.cwd.as_deref(), Some("/rooted"));
}

#[test]
fn damage_is_survived_and_said() {
    let torn = &user("2", "torn")[..40];
    let damaged = listed(&[user("1", "q"), torn.to_owned()]);
    assert_eq!(title(&damaged), Some("q"));
    assert_eq!(damaged.notices, [SourceNotice::Skipped { records: 1 }]);
    let mut lines = vec![user("1", "q")];
    lines.extend(long(300_000));
    lines.push(torn.to_owned());
    assert_eq!(
        listed(&lines).notices,
        [SourceNotice::Skipped { records: 1 }]
    );
    let endless = look_at("session-x-aabbccdd.jsonl", &"\0".repeat(2_000_000));
    assert_eq!(endless.native_id, "session-x-aabbccdd");
    assert_eq!((endless.kind, endless.notices.len()), (Kind::Session, 1));
}

#[test]
fn a_file_cut_anywhere_can_be_looked_at() {
    let home = Home::new();
    let lines = [META.to_owned(), user("1", "é"), model("2", "r")].join("\n");
    for (name, text) in [
        ("session-1-aabbccdd.jsonl", lines),
        ("session-1-aabbccdd.json", document(&[user("1", "q")], "")),
    ] {
        let bytes = text.into_bytes();
        let path = home.chats().join(name);
        for at in (0..bytes.len()).step_by(7) {
            for part in [&bytes[..at], &bytes[at..]] {
                fs::write(&path, part).unwrap();
                assert!(Gemini.look(&path, &Round::default()).is_ok());
            }
        }
    }
}

#[test]
fn another_session_than_the_one_asked_for_is_not_given() {
    let home = Home::new();
    let text = [META, &user("1", "q")].join("\n");
    let path = home.write("session-x-aabbccdd.jsonl", &text);
    assert!(Gemini.read(&path, Some("aabbccdd-1")).is_ok());
    let error = Gemini.read(&path, Some("aabbccdd-2")).unwrap_err();
    assert_eq!(error.code(), "SOURCE_NO_SESSION");
}
