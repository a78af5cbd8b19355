//! The rules of Codex's files, one test each: here those of the conversation.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a test reads best with the value where it is used"
)]

mod around;
mod damage;
mod turns;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::reference::projection::capture;
use crate::session::Role;
use crate::source::testing::read_file;

pub(super) const ID: &str = "01a23366-407e-7953-bf07-7558970eea43";
pub(super) const CHILD: &str = "01a23366-45b3-7b41-a9dd-77204871a87e";
pub(super) const SEGMENT: &str = "01a23366-5000-7b41-a9dd-77204871a87e";

/// A home of the tool in a folder of its own.
pub(super) struct Fixture(TempDir);

impl Fixture {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.0.path().join(relative)
    }

    pub(super) fn write(&self, relative: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

pub(super) fn rollout(id: &str) -> String {
    format!("sessions/2026/12/01/rollout-2026-12-01T20-57-48-{id}.jsonl")
}

/// Records as the tool lays them out.
pub(super) fn lines(records: &[Value]) -> String {
    records
        .iter()
        .flat_map(|record| [record.to_string(), "\n".to_owned()])
        .collect()
}

pub(super) fn line(kind: &str, payload: Value) -> Value {
    json!({"timestamp": "2026-12-01T20:57:48.947Z", "type": kind, "payload": payload})
}

pub(super) fn meta(id: &str) -> Value {
    line(
        "session_meta",
        json!({"id": id, "cwd": "/w", "cli_version": "0.120.0"}),
    )
}

pub(super) fn user(text: &str) -> Value {
    users(&[text])
}

pub(super) fn users(texts: &[&str]) -> Value {
    line("response_item", user_item(texts))
}

fn user_item(texts: &[&str]) -> Value {
    let parts = texts
        .iter()
        .map(|text| json!({"type": "input_text", "text": text}));
    json!({"type": "message", "role": "user", "content": parts.collect::<Vec<_>>()})
}

fn kinds(mut item: Value, kinds: &[&str]) -> Value {
    item["internal_chat_message_metadata_passthrough"] = json!({"content_item_kinds": kinds});
    item
}

pub(super) fn model(text: &str) -> Value {
    let parts = json!([{"type": "output_text", "text": text}]);
    let item = json!({"type": "message", "role": "assistant", "content": parts});
    line("response_item", item)
}

pub(super) fn event(payload: Value) -> Value {
    line("event_msg", payload)
}

fn started() -> Value {
    event(json!({"type": "task_started", "turn_id": "t"}))
}

fn rolled_back(turns: u64) -> Value {
    event(json!({"type": "thread_rolled_back", "num_turns": turns}))
}

fn compacted(message: &str, replacement: Value) -> Value {
    line(
        "compacted",
        json!({"message": message, "replacement_history": replacement}),
    )
}

/// A file that begins with the first bytes of another one.
pub(super) fn child(id: &str, base: &str, bytes: impl Into<Value>) -> String {
    let base =
        json!({"thread_id": base, "end_ordinal_exclusive": 3, "end_byte_offset": bytes.into()});
    lines(&[
        line(
            "session_meta",
            json!({"id": id, "cwd": "/w", "forked_from_id": ID, "history_base": base}),
        ),
        user("q3"),
    ])
}

/// A conversation in short: `u` a person's, `a` the model's, `c` a checkpoint.
fn said(read: &ForeignSession) -> Vec<String> {
    let conversation = capture(&read.session).conversation;
    let short = |item: &crate::reference::projection::Item| {
        let who = match (item.role, item.checkpoint) {
            (_, true) => 'c',
            (Role::User, _) => 'u',
            _ => 'a',
        };
        format!("{who} {}", item.text)
    };
    conversation.iter().map(short).collect()
}

fn notices(read: &ForeignSession) -> Vec<String> {
    read.notices.iter().map(ToString::to_string).collect()
}

fn read_records(records: &[Value]) -> ForeignSession {
    let home = Fixture::new();
    read_file(&home.write(&rollout(ID), lines(records))).unwrap()
}

pub(super) fn zstd(text: &str) -> Vec<u8> {
    zrip::compress(text.as_bytes(), 1).unwrap()
}

fn title(read: &ForeignSession) -> Option<&str> {
    read.session.title().map(|title| title.text.as_str())
}

#[test]
fn persons_and_the_model_are_kept_and_tools_and_reasoning_are_not() {
    let read = read_records(&[
        meta(ID),
        line(
            "response_item",
            json!({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]}),
        ),
        user("hello ✓"),
        event(json!({"type": "user_message", "message": "hello ✓"})),
        line(
            "response_item",
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}),
        ),
        line(
            "response_item",
            json!({"type": "function_call", "name": "sh", "arguments": "{}", "call_id": "1"}),
        ),
        line(
            "response_item",
            json!({"type": "function_call_output", "call_id": "1", "output": "out"}),
        ),
        event(json!({"type": "agent_message", "message": "hi"})),
        model("hi"),
        line(
            "response_item",
            json!({"type": "agent_message", "author": "a", "content": [{"type": "input_text", "text": "between agents"}]}),
        ),
    ]);
    assert_eq!(said(&read), ["u hello ✓", "a hi"]);
    assert_eq!(notices(&read), [""; 0]);
    assert_eq!(read.session.header().id.as_str(), format!("codex:{ID}"));
    assert_eq!(read.session.header().cwd.as_deref(), Some("/w"));
    assert_eq!(title(&read), None);
}

#[test]
fn the_first_metadata_count_and_copied_ones_do_not() {
    let read = read_records(&[
        line(
            "session_meta",
            json!({"id": CHILD, "cwd": "/child", "forked_from_id": ID}),
        ),
        meta(ID),
        user("copied"),
        model("copied"),
        user("own"),
    ]);
    assert_eq!(read.session.header().id.as_str(), format!("codex:{CHILD}"));
    assert_eq!(read.session.header().cwd.as_deref(), Some("/child"));
    let parent = read.session.header().parent_session.as_ref().unwrap();
    assert_eq!(parent.as_str(), format!("codex:{ID}"));
    assert_eq!(said(&read), ["u copied", "a copied", "u own"]);
}

#[test]
fn old_files_tell_injected_text_by_its_marks() {
    let environment = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>";
    let read = read_records(&[
        meta(ID),
        users(&[
            "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe brief\n</INSTRUCTIONS>",
            environment,
        ]),
        user("<user_instructions>\nBe brief\n</user_instructions>"),
        user("<permissions instructions>\nnone\n</permissions instructions>"),
        user("<turn_aborted>\nstopped\n</turn_aborted>"),
        user("# AGENTS.md instructions for /w are wrong"),
    ]);
    assert_eq!(said(&read), ["u # AGENTS.md instructions for /w are wrong"]);
}

#[test]
fn new_files_say_what_a_person_typed() {
    let injected = kinds(user_item(&["looks typed"]), &["skills.prompt"]);
    let typed = "<environment_context>typed</environment_context>";
    let mixed = kinds(
        user_item(&["context", "one", "two"]),
        &["goal.context", "user.text", "user.text"],
    );
    let read = read_records(&[
        meta(ID),
        line("response_item", injected),
        line("response_item", kinds(user_item(&[typed]), &["user.text"])),
        line("response_item", mixed),
        line("response_item", kinds(user_item(&["unsaid"]), &["unknown"])),
        line(
            "response_item",
            kinds(user_item(&["a", "b"]), &["user.text"]),
        ),
    ]);
    let expected = [&format!("u {typed}"), "u one\ntwo", "u unsaid", "u a\nb"];
    assert_eq!(said(&read), expected);
}

#[test]
fn what_frames_an_image_was_not_typed() {
    let parts = json!([
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:"},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "what is this"},
    ]);
    let only_image = json!([{"type": "input_image", "image_url": "data:"}]);
    let framed = parts.as_array().unwrap().get(..3);
    let message = |parts| {
        line(
            "response_item",
            json!({"type": "message", "role": "user", "content": parts}),
        )
    };
    let read = read_records(&[
        meta(ID),
        message(parts.clone()),
        message(only_image),
        message(json!(framed)),
        user("<image>"),
    ]);
    assert_eq!(said(&read), ["u what is this", "u <image>"]);
    assert_eq!(notices(&read), [""; 0]);
}

#[test]
fn parts_may_be_of_the_plain_text_type() {
    let parts = json!([{"type": "text", "text": "plain"}]);
    let message = json!({"type": "message", "role": "user", "content": parts});
    assert_eq!(
        said(&read_records(&[meta(ID), line("response_item", message)])),
        ["u plain"]
    );
}

#[test]
fn the_oldest_files_have_bare_lines() {
    let home = Fixture::new();
    let text = lines(&[
        json!({"id": ID, "timestamp": "2025-06-01T10:00:00Z", "instructions": null}),
        json!({"record_type": "state"}),
        json!({"type": "message", "id": null, "role": "user", "content": [{"type": "input_text", "text": "<environment_context>\nCurrent working directory: /old\n</environment_context>"}]}),
        json!({"type": "message", "id": null, "role": "user", "content": [{"type": "input_text", "text": "hello"}]}),
        json!({"type": "reasoning", "summary": []}),
        json!({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "1"}),
        json!({"type": "function_call_output", "call_id": "1", "output": "out"}),
        json!({"role": "assistant", "content": "hi"}),
    ]);
    let read = read_file(&home.write("old.jsonl", text)).unwrap();
    assert_eq!(said(&read), ["u hello", "a hi"]);
    assert_eq!(read.session.header().id.as_str(), format!("codex:{ID}"));
    assert_eq!(read.session.header().cwd.as_deref(), Some("/old"));
    assert_eq!(read.session.header().created_at.0, 1_748_772_000_000);
    assert_eq!(notices(&read), [""; 0]);
}

#[test]
fn bare_lines_may_follow_metadata_of_the_later_form() {
    let bare = json!({"role": "user", "content": "hello"});
    assert_eq!(said(&read_records(&[meta(ID), bare])), ["u hello"]);
}

#[test]
fn the_display_log_is_read_where_the_history_lacks() {
    let old = read_records(&[
        meta(ID),
        event(json!({"type": "user_message", "message": "q"})),
        event(json!({"type": "agent_message", "message": "a"})),
    ]);
    assert_eq!(said(&old), ["u q", "a a"]);
    let item = |kind: &str, part: &str, text: &str| {
        let item = json!({"type": kind, "id": "1", "content": [{"type": part, "text": text}]});
        event(json!({"type": "item_completed", "thread_id": ID, "turn_id": "t", "item": item}))
    };
    let new = read_records(&[
        meta(ID),
        item("UserMessage", "text", "q"),
        item("Reasoning", "text", "hm"),
        item("AgentMessage", "Text", "a"),
    ]);
    assert_eq!(said(&new), ["u q", "a a"]);
}

#[test]
fn the_display_log_doubles_nothing_and_takes_nothing_away() {
    let shown = event(json!({"type": "user_message", "message": "q"}));
    let read = read_records(&[meta(ID), user("q"), shown]);
    assert_eq!(said(&read), ["u q"]);
}

#[test]
fn a_compaction_is_what_it_left_and_what_follows() {
    let left = json!([
        user_item(&["q1"]),
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]},
        user_item(&["<environment_context>\n</environment_context>"]),
        user_item(&["the summary"]),
    ]);
    let read = read_records(&[
        meta(ID),
        user("q1"),
        model("a1"),
        compacted("the summary", left),
        user("q2"),
    ]);
    assert_eq!(said(&read), ["u q1", "c the summary", "u q2"]);
}

#[test]
fn new_files_say_which_message_a_compaction_made() {
    let left = json!([
        kinds(user_item(&["q1"]), &["user.text"]),
        kinds(
            user_item(&["injected"]),
            &["environments.environment_context"]
        ),
        kinds(user_item(&["short"]), &["compaction.summary"]),
    ]);
    let mut output = model("short");
    output["metadata"] = json!({"compaction_output": true});
    let read = read_records(&[
        meta(ID),
        user("q1"),
        output.clone(),
        compacted("", left),
        output,
    ]);
    assert_eq!(said(&read), ["u q1", "c short"]);
}

#[test]
fn a_compaction_without_a_replacement_keeps_what_persons_said() {
    let compaction = line("compacted", json!({"message": "the summary"}));
    let read = read_records(&[meta(ID), user("q1"), model("a1"), compaction, user("q2")]);
    assert_eq!(said(&read), ["u q1", "c the summary", "u q2"]);
}

#[test]
fn a_summary_that_can_not_be_read_is_said() {
    let left = json!([user_item(&["q1"]), {"type": "compaction", "encrypted_content": "x"}]);
    let read = read_records(&[meta(ID), user("q1"), model("a1"), compacted("", left)]);
    assert_eq!(said(&read), ["u q1"]);
    let [note] = &notices(&read)[..] else {
        panic!("{:?}", notices(&read));
    };
    assert!(note.contains("only its maker can read"), "{note}");
}

#[test]
fn a_subagents_session_is_marked() {
    let spawn = json!({"subagent": {"thread_spawn": {"parent_thread_id": CHILD, "depth": 1}}});
    let read = read_records(&[
        line("session_meta", json!({"id": ID, "source": spawn})),
        user("task"),
    ]);
    assert!(read.is_subagent);
    let parent = read.session.header().parent_session.as_ref().unwrap();
    assert_eq!(parent.as_str(), format!("codex:{CHILD}"));
    let marked = json!({"id": ID, "source": "cli", "thread_source": "subagent"});
    assert!(read_records(&[line("session_meta", marked), user("task")]).is_subagent);
    assert!(!read_records(&[meta(ID), user("task")]).is_subagent);
}

#[test]
fn persons_of_the_display_log_stand_between_the_models_of_the_history() {
    let shown = |text: &str| event(json!({"type": "user_message", "message": text}));
    let environment = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>";
    let read = read_records(&[
        meta(ID),
        user(environment),
        shown("q1"),
        model("a1"),
        shown("q2"),
        model("a2"),
    ]);
    assert_eq!(said(&read), ["u q1", "a a1", "u q2", "a a2"]);
}

#[test]
fn an_editor_does_not_speak_for_the_person() {
    let asked = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs: a.rs\n\n## My request for Codex:\nfix it\n";
    let typed = line("response_item", kinds(user_item(&[asked]), &["user.text"]));
    let read = read_records(&[meta(ID), user(asked), model("ok"), typed]);
    assert_eq!(said(&read), ["u fix it", "a ok", "u fix it"]);
}

#[test]
fn parts_that_are_all_softwares_are_it_however_many_there_are() {
    let item = kinds(user_item(&["from a hook"]), &["hooks.a", "hooks.b"]);
    let read = read_records(&[meta(ID), line("response_item", item), user("q")]);
    assert_eq!(said(&read), ["u q"]);
}
