//! What of a file is the conversation, and whose words it is.

mod listing;

use std::path::PathBuf;

use super::*;
use crate::reference::projection::capture;
use crate::session::Role;
use crate::source::SourceNotice;
use crate::source::testing;

const META: &str = r#"{"sessionId":"aabbccdd-1","projectHash":"h","startTime":"2026-01-01T00:00:00Z","lastUpdated":"2026-01-01T00:00:00Z","kind":"main"}"#;

fn message(id: &str, kind: &str, content: &str) -> String {
    format!(
        r#"{{"id":"{id}","timestamp":"2026-01-01T00:00:00Z","type":"{kind}","content":{content},"model":"m"}}"#
    )
}

fn user(id: &str, text: &str) -> String {
    message(id, "user", &format!(r#"[{{"text":"{text}"}}]"#))
}

fn model(id: &str, text: &str) -> String {
    message(id, "gemini", &format!("\"{text}\""))
}

/// A project's folder in a home of the tool.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir_all(home.chats()).unwrap();
        home
    }

    fn chats(&self) -> PathBuf {
        self.0.path().join("tmp/slug/chats")
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.chats().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

fn read(path: &Path) -> Result<ForeignSession, SourceError> {
    testing::agreed(super::read(path), super::read(path))
}

fn read_text(text: &str) -> ForeignSession {
    let home = Home::new();
    read(&home.write("session-x-aabbccdd.jsonl", text)).unwrap()
}

fn read_lines(lines: &[String]) -> ForeignSession {
    read_text(&[&[META.to_owned()], lines].concat().join("\n"))
}

/// The conversation, a line a message.
fn told(session: &ForeignSession) -> String {
    let lines = capture(&session.session)
        .conversation
        .into_iter()
        .map(|item| {
            let who = if item.role == Role::User { ">" } else { "<" };
            format!("{who}{}", item.text)
        });
    lines.collect::<Vec<_>>().join(" ")
}

fn conversation(lines: &[String]) -> String {
    told(&read_lines(lines))
}

#[test]
fn lines_are_the_conversation_in_their_order() {
    let set = r#"{"$set":{"lastUpdated":"2026-01-01T00:00:00Z"}}"#.to_owned();
    assert_eq!(
        conversation(&[user("1", "q"), set, model("2", "r")]),
        ">q <r"
    );
}

#[test]
fn a_repeated_id_updates_in_place() {
    let calls = r#"{"id":"2","type":"gemini","toolCalls":[{"id":"c","result":[{"functionResponse":{"response":{"output":"out"}}}]}]}"#;
    let lines = [
        user("1", "q"),
        model("2", "half"),
        user("3", "q2"),
        model("2", "whole"),
        calls.to_owned(),
    ];
    let session = read_lines(&lines);
    assert_eq!(told(&session), ">q <whole >q2");
    assert_eq!(
        session.session.surface().count(),
        4,
        "the tool's result is kept"
    );
}

#[test]
fn set_messages_replaces_all() {
    let set = format!(
        r#"{{"$set":{{"messages":[{},{}]}}}}"#,
        user("1", "q"),
        model("2", "new")
    );
    let lines = [
        user("1", "old"),
        model("9", "old"),
        set,
        user("3", "q2"),
        model("2", "newer"),
    ];
    assert_eq!(conversation(&lines), ">q <newer >q2");
}

#[test]
fn set_messages_without_any_leaves_none() {
    let set = r#"{"$set":{"messages":[]}}"#.to_owned();
    let lines = [user("1", "q"), model("2", "r"), set, user("3", "q2")];
    assert_eq!(conversation(&lines), ">q2");
}

#[test]
fn a_rewind_drops_a_message_and_all_after_it() {
    let rewind = |id: &str| format!(r#"{{"$rewindTo":"{id}"}}"#);
    let before = [
        user("1", "q"),
        model("2", "r"),
        user("3", "q2"),
        model("4", "r2"),
    ];
    let lines = [&before[..], &[rewind("3"), user("3", "again")]].concat();
    assert_eq!(conversation(&lines), ">q <r >again");
    let unknown = [&before[..], &[rewind("nowhere"), user("5", "only")]].concat();
    assert_eq!(conversation(&unknown), ">only");
}

#[test]
fn what_nobody_typed_and_commands_are_hidden() {
    let parts = |id: &str, parts: &str| message(id, "user", parts);
    let lines = [
        user("1", "<session_context>\\nx</session_context>"),
        user("2", "/help"),
        user("3", "?"),
        user("4", ""),
        user("5", " "),
        parts(
            "6",
            r#"[{"text":"typed"},{"text":"<hook_context>x</hook_context>"}]"#,
        ),
        parts(
            "7",
            r#"[{"functionResponse":{"id":"c","response":{"output":"out"}}}]"#,
        ),
        parts(
            "8",
            r#"[{"text":"see @a"},{"text":"\n--- Content from referenced files ---"},{"text":"file"},{"text":"\n--- End of content ---"}]"#,
        ),
        message("9", "info", "\"info\""),
        message("10", "error", "\"error\""),
        message("11", "warning", "\"warning\""),
        model("12", ""),
    ];
    let session = read_lines(&lines);
    assert_eq!(told(&session), ">typed >see @a");
    assert_eq!(session.notices, []);
}

#[test]
fn the_summary_of_a_compressed_session_is_a_checkpoint_and_its_receipt_nobodys() {
    let receipt = "Got it. Thanks for the additional context!";
    for summary in [
        "<state_snapshot>about q</state_snapshot>",
        "\\n<state_snapshot>cut off",
        "<state_snapshot>y</state_snapshot> and more",
        "told: <state_snapshot>y</state_snapshot> and more",
    ] {
        let set = format!(
            r#"{{"$set":{{"messages":[{},{},{},{}]}}}}"#,
            user("0", "<session_context>x</session_context>"),
            user("s", summary),
            model("k", receipt),
            user("3", "q2"),
        );
        let lines = [user("1", "q"), model("2", "r"), set, model("4", "r2")];
        let session = read_lines(&lines).session;
        let items = capture(&session).conversation;
        let told: Vec<_> = items.iter().map(|item| item.checkpoint).collect();
        assert_eq!(told, [true, false, false], "{summary}");
        assert!(items[0].text.contains("<state_snapshot>"), "{summary}");
        assert_eq!(&*items[1].text, "q2");
    }
    // The same words are a person's and the model's anywhere else.
    let lines = [user("1", "what is <state_snapshot>?"), model("2", receipt)];
    let with = [&lines[..1], &[model("2", "a tag"), model("3", receipt)]].concat();
    assert_eq!(
        conversation(&with),
        format!(">what is <state_snapshot>? <a tag <{receipt}")
    );
}

#[test]
fn a_request_that_the_tool_sends_again_is_nobodys() {
    let lines = [
        user("1", "q"),
        model("2", "half"),
        user("3", "System: Please continue."),
        model("4", "rest"),
        r#"{"id":"5","type":"user","content":[{"text":"Please continue."}],"displayContent":[{"text":"q"}]}"#.to_owned(),
        model("6", "more"),
        user("7", "Please continue."),
    ];
    assert_eq!(
        conversation(&lines),
        ">q <half <rest <more >Please continue."
    );
}

#[test]
fn a_person_said_what_was_typed_and_not_what_it_was_expanded_to() {
    let shown = |id: &str, content: &str, shown: &str| {
        format!(r#"{{"id":"{id}","type":"user","content":{content},"displayContent":{shown}}}"#)
    };
    let lines = [
        shown("1", r#"[{"text":"expanded"}]"#, r#"[{"text":"typed"}]"#),
        shown("2", r#"[{"text":"expanded"}]"#, r#""typed too""#),
        shown("3", r#"[{"text":"a prompt"}]"#, r#""/command""#),
        shown("4", r#"[{"text":"sent"}]"#, "[]"),
    ];
    assert_eq!(conversation(&lines), ">typed >typed too >sent");
}

#[test]
fn nothing_of_a_message_that_begins_with_a_context_goes_on() {
    let parts = r#"[{"text":"<session_context>x</session_context>"},{"text":"y"}]"#;
    let lines = [message("1", "user", parts), user("2", "q")];
    assert_eq!(conversation(&lines), ">q");
}

#[test]
fn parts_of_a_text_belong_together_and_thoughts_are_hidden() {
    let parts = r#"[{"text":"hm","thought":true},{"text":"one "},"two",{"functionCall":{}}]"#;
    let lines = [
        message("0", "user", r#"{"text":"q"}"#),
        message("1", "gemini", parts),
    ];
    assert_eq!(conversation(&lines), ">q <one two");
}

#[test]
fn a_document_of_many_lines_is_read() {
    let document = format!(
        "{{\n  \"sessionId\": \"s\",\n  \"projectHash\": \"h\",\n  \"messages\": [\n{},\n{}\n  ],\n  \"summary\": \"About it\"\n}}",
        user("1", "q"),
        model("2", "r")
    );
    let session = read_text(&document);
    assert_eq!(told(&session), ">q <r");
    assert_eq!(session.session.title().unwrap().text, "About it");
    assert_eq!(session.session.header().id.as_str(), "gemini:s");
    let one_line = document.replace('\n', "");
    assert_eq!(told(&read_text(&one_line)), ">q <r");
}

#[test]
fn a_torn_or_damaged_document_gives_its_whole_messages() {
    let document = |second: &str| {
        format!(
            "{{\n\"sessionId\": \"s\",\n\"projectHash\": \"h\",\n\"messages\": [\n{},\n{second}",
            user("1", "q")
        )
    };
    let half = &model("2", "lost")[..50];
    for text in [document(half), document(half).replace('\n', "")] {
        let session = read_text(&text);
        assert_eq!(told(&session), ">q");
        assert_eq!(session.session.header().id.as_str(), "gemini:s");
        assert_eq!(session.notices, [SourceNotice::Skipped { records: 1 }]);
    }
    let damaged = document(&format!("{half}\n,{}]}}", user("3", "q2")));
    assert_eq!(told(&read_text(&damaged)), ">q >q2");
}

#[test]
fn the_last_summary_is_the_title() {
    let summary = |text: &str| format!(r#"{{"$set":{{"summary":"{text}"}}}}"#);
    let session = read_lines(&[user("1", "q"), summary("One"), summary("Two")]);
    assert_eq!(session.session.title().unwrap().text, "Two");
    assert!(read_lines(&[user("1", "q")]).session.title().is_none());
}

#[test]
fn the_directory_comes_from_the_projects_own_file_or_the_index() {
    let home = Home::new();
    let path = home.write(
        "session-x-aabbccdd.jsonl",
        &[META, &user("1", "q")].join("\n"),
    );
    let cwd = || read(&path).unwrap().session.header().cwd.clone();
    assert_eq!(cwd(), None);
    let index = home.0.path().join("projects.json");
    std::fs::write(&index, r#"{"projects":{"/other":"x","/indexed":"slug"}}"#).unwrap();
    assert_eq!(cwd().as_deref(), Some("/indexed"));
    std::fs::write(home.0.path().join("tmp/slug/.project_root"), "/rooted\n").unwrap();
    assert_eq!(cwd().as_deref(), Some("/rooted"));
}

#[test]
fn a_hash_of_an_indexed_directory_tells_it() {
    let home = Home::new();
    let hash = "98907e50ceee1aa8fa1e0da313b3450dc93bdd6fdd3ef0875d65cd486e01719e";
    let meta = META.replace("\"h\"", &format!("\"{hash}\""));
    let path = home.write(
        "session-x-aabbccdd.jsonl",
        &[meta, user("1", "q")].join("\n"),
    );
    let index = home.0.path().join("projects.json");
    std::fs::write(index, r#"{"projects":{"/home/u/gmproj":"elsewhere"}}"#).unwrap();
    let header = read(&path).unwrap().session.header().clone();
    assert_eq!(header.cwd.as_deref(), Some("/home/u/gmproj"));
}

#[test]
fn of_a_stub_the_twin_with_the_content_is_read() {
    let home = Home::new();
    let stub = [META, &user("1", "<session_context>x</session_context>")].join("\n");
    let path = home.write("session-3-aabbccdd.jsonl", &stub);
    assert_eq!(told(&read(&path).unwrap()), "");
    home.write("session-2-aabbccdd.jsonl", &stub);
    home.write(
        "session-0-aabbccdd.jsonl",
        &[META, &user("1", "older")].join("\n"),
    );
    home.write(
        "session-1-aabbccdd.jsonl",
        &[META, &user("1", "newer")].join("\n"),
    );
    let other = META.replace("ccdd-1", "ccdd-2");
    home.write(
        "session-9-aabbccdd.jsonl",
        &[other.as_str(), &user("1", "another") as &str].join("\n"),
    );
    let session = read(&path).unwrap();
    assert_eq!(told(&session), ">newer");
    assert!(
        session.notices[0]
            .to_string()
            .contains("session-1-aabbccdd.jsonl")
    );
}

#[test]
fn a_subagents_file_is_marked_and_names_its_parent() {
    let home = Home::new();
    let meta = META
        .replace("aabbccdd-1", "child")
        .replace("main", "subagent");
    let path = home.write(
        "parent-id/child.jsonl",
        &[meta, user("1", "task")].join("\n"),
    );
    std::fs::write(home.0.path().join("tmp/slug/.project_root"), "/rooted").unwrap();
    let session = read(&path).unwrap();
    let header = session.session.header();
    assert!(session.is_subagent);
    assert_eq!(header.id.as_str(), "gemini:child");
    assert_eq!(
        header.parent_session.as_ref().unwrap().as_str(),
        "gemini:parent-id"
    );
    assert_eq!(header.cwd.as_deref(), Some("/rooted"));
}

#[test]
fn unknown_and_damaged_records_are_counted_and_the_rest_is_read() {
    let lines = [
        user("1", "q"),
        "garbage".to_owned(),
        r#"{"$brandNew":1}"#.to_owned(),
        r#"{"$rewindTo":7}"#.to_owned(),
        message("2", "brand-new", "\"x\""),
        message("3", "gemini", "7"),
        model("4", "r"),
        r#"{"id":"5","type":"us"#.to_owned(),
    ];
    let session = read_lines(&lines);
    assert_eq!(told(&session), ">q <r");
    assert_eq!(session.notices, [SourceNotice::Skipped { records: 6 }]);
}

#[test]
fn dialogue_of_no_known_form_is_an_error() {
    let home = Home::new();
    let strange = message("1", "user", r#"[{"words":"q"}]"#);
    let path = home.write("session-x-aabbccdd.jsonl", &[META, &strange].join("\n"));
    assert_eq!(read(&path).unwrap_err().code(), "SOURCE_NO_DIALOGUE");
}

#[test]
fn a_file_cut_or_damaged_anywhere_is_survived() {
    let set = format!(r#"{{"$set":{{"messages":[{}]}}}}"#, user("1", "é"));
    let lines = [
        META.to_owned(),
        set,
        model("2", "r"),
        r#"{"$rewindTo":"2"}"#.to_owned(),
    ];
    let home = Home::new();
    for text in [
        lines.join("\n"),
        format!("{{\n\"messages\":[{}]}}", user("1", "q")),
    ] {
        let bytes = text.into_bytes();
        let path = home.chats().join("session-x-aabbccdd.jsonl");
        let survive = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let _ = read(&path);
        };
        for at in (0..bytes.len()).step_by(41) {
            survive(&bytes[..at]);
            survive(&bytes[at..]);
            for with in [b'"', b'{', b'\n', 0, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = with;
                survive(&damaged);
            }
        }
    }
}
