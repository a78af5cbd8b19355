//! What of a file is the conversation, and whose words it is.

mod compactions;
mod damage;
mod links;
mod listing;
mod steps;
mod voices;

use super::*;
use crate::reference::projection::capture;
use crate::session::{Payload, Role};
use crate::source::testing;

/// A record of the tree: its type, uuid and parent, and what else it has.
fn record(kind: &str, uuid: &str, parent: &str, rest: &str) -> String {
    let parent = if parent.is_empty() {
        "null".to_owned()
    } else {
        format!("\"{parent}\"")
    };
    let rest = if rest.is_empty() {
        String::new()
    } else {
        format!(",{rest}")
    };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{kind}","uuid":"{uuid}","sessionId":"s","cwd":"/w","version":"2.1.0","timestamp":"2026-01-01T00:00:00Z"{rest}}}"#
    )
}

fn user(uuid: &str, parent: &str, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    record(
        "user",
        uuid,
        parent,
        &format!(r#""message":{{"role":"user","content":{text}}}"#),
    )
}

fn model(uuid: &str, parent: &str, text: &str) -> String {
    model_with(
        uuid,
        parent,
        "",
        &format!(r#"{{"type":"text","text":"{text}"}}"#),
    )
}

/// A line of the model's message of this id, with one block.
fn model_with(uuid: &str, parent: &str, id: &str, block: &str) -> String {
    let id = if id.is_empty() {
        String::new()
    } else {
        format!(r#""id":"{id}","#)
    };
    let message =
        format!(r#""message":{{{id}"role":"assistant","model":"m","content":[{block}]}}"#);
    record("assistant", uuid, parent, &message)
}

fn result(uuid: &str, parent: &str) -> String {
    let block = r#"{"type":"tool_result","tool_use_id":"t","content":"out"}"#;
    record(
        "user",
        uuid,
        parent,
        &format!(r#""message":{{"content":[{block}]}}"#),
    )
}

fn marker(leaf: &str) -> String {
    format!(r#"{{"type":"last-prompt","leafUuid":"{leaf}","sessionId":"s"}}"#)
}

fn boundary(uuid: &str, logical: &str, metadata: &str) -> String {
    let rest = format!(
        r#""subtype":"compact_boundary","logicalParentUuid":"{logical}","compactMetadata":{metadata}"#
    );
    record("system", uuid, "", &rest)
}

fn summary(uuid: &str, parent: &str, text: &str) -> String {
    let rest = format!(r#""isCompactSummary":true,"message":{{"content":"{text}"}}"#);
    record("user", uuid, parent, &rest)
}

fn read(path: &Path) -> Result<ForeignSession, SourceError> {
    testing::agreed(super::read(path), super::read(path))
}

fn read_lines(lines: &[String]) -> ForeignSession {
    read_at("s.jsonl", lines).unwrap()
}

fn read_at(name: &str, lines: &[String]) -> Result<ForeignSession, SourceError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, lines.join("\n")).unwrap();
    read(&path)
}

/// The conversation, a line a message.
fn told(session: &ForeignSession) -> String {
    let lines = capture(&session.session)
        .conversation
        .into_iter()
        .map(|item| {
            let who = match (item.role, item.checkpoint) {
                (_, true) => "=",
                (Role::User, _) => ">",
                _ => "<",
            };
            format!("{who}{}", item.text)
        });
    lines.collect::<Vec<_>>().join(" ")
}

fn conversation(lines: &[String]) -> String {
    told(&read_lines(lines))
}

#[test]
fn the_way_from_the_newest_record_up_is_the_conversation() {
    let lines = [
        user("u1", "", "q1"),
        model("a1", "u1", "r1"),
        record("attachment", "x", "a1", r#""attachment":{"type":"date"}"#),
        record("system", "y", "x", r#""subtype":"turn_duration""#),
        record("progress", "p", "y", ""),
        user("u2", "p", "q2"),
        model("a2", "u2", "r2"),
    ];
    assert_eq!(conversation(&lines), ">q1 <r1 >q2 <r2");
}

#[test]
fn a_rewound_branch_is_hidden() {
    let lines = [
        user("u1", "", "q1"),
        model("a1", "u1", "r1"),
        user("u2", "a1", "old"),
        model("a2", "u2", "old"),
        user("u3", "a1", "new"),
    ];
    assert_eq!(conversation(&lines), ">q1 <r1 >new");
}

#[test]
fn the_last_marker_names_the_branch_and_a_stale_one_loses_nothing() {
    let branches = [
        user("u1", "", "q1"),
        user("u2", "u1", "kept"),
        marker("u1"),
        marker("u2"),
        user("u3", "u1", "sibling"),
        model("a2", "u2", "later"),
    ];
    assert_eq!(conversation(&branches), ">q1 >kept <later");
    let elsewhere = [user("u1", "", "q1"), user("u2", "u1", "q2"), marker("gone")];
    assert_eq!(conversation(&elsewhere), ">q1 >q2");
}

#[test]
fn a_marker_from_before_a_compaction_leads_over_it() {
    for logical in ["a1", "gone"] {
        let lines = [
            user("u1", "", "q1"),
            model("a1", "u1", "r1"),
            marker("a1"),
            boundary("b", logical, "{}"),
            summary("c", "b", "sum"),
            user("u2", "c", "q2"),
        ];
        assert_eq!(conversation(&lines), "=sum >q2");
    }
}

#[test]
fn progress_is_no_end_of_a_conversation() {
    let lines = [
        user("u1", "", "q"),
        model("a1", "u1", "r"),
        record("progress", "p", "u1", ""),
    ];
    assert_eq!(conversation(&lines), ">q <r");
}

#[test]
fn lines_of_one_message_are_merged() {
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let lines = [
        user("u1", "", "q"),
        model_with("a1", "u1", "m1", r#"{"type":"thinking","thinking":"hm"}"#),
        model_with("a0", "a1", "m1", &text("\\n\\n")),
        model_with("a2", "a0", "m1", &text("one")),
        model_with("a3", "a2", "m1", r#"{"type":"tool_use","id":"t"}"#),
        result("r", "a3"),
        model_with("a4", "r", "m1", &text("two")),
        model_with("a5", "a4", "m2", &text("three")),
    ];
    assert_eq!(conversation(&lines), ">q <one\ntwo <three");
}

#[test]
fn lines_without_a_message_id_are_never_merged() {
    let lines = [
        user("u", "", "q"),
        model("a1", "u", "one"),
        model("a2", "a1", "two"),
    ];
    assert_eq!(conversation(&lines), ">q <one <two");
}

#[test]
fn parts_of_a_message_beside_the_way_belong_to_it() {
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let lines = [
        user("u1", "", "q"),
        model_with("a1", "u1", "m1", &text("one")),
        model_with("a2", "a1", "m1", &text("two")),
        result("r1", "a1"),
        result("r2", "a2"),
        model_with("a3", "r1", "m2", &text("three")),
    ];
    assert_eq!(conversation(&lines), ">q <one\ntwo <three");
}

#[test]
fn titles_rank_by_who_gave_them_and_the_last_of_a_kind_wins() {
    let title = |kind: &str, key: &str, text: &str| {
        format!(r#"{{"type":"{kind}","{key}":"{text}","leafUuid":"u","sessionId":"s"}}"#)
    };
    let mut lines = vec![user("u", "", "q")];
    let mut add = |kind: &str, key: &str, text: &str| {
        lines.push(title(kind, key, text));
        let session = read_lines(&lines);
        session.session.title().map(|title| title.text.clone())
    };
    assert_eq!(add("summary", "summary", "A").as_deref(), Some("A"));
    assert_eq!(add("ai-title", "aiTitle", "B").as_deref(), Some("B"));
    assert_eq!(add("agent-name", "agentName", "C").as_deref(), Some("C"));
    assert_eq!(
        add("custom-title", "customTitle", "D").as_deref(),
        Some("D")
    );
    assert_eq!(
        add("custom-title", "customTitle", "E").as_deref(),
        Some("E")
    );
    assert_eq!(add("ai-title", "aiTitle", "F").as_deref(), Some("E"));
}

#[test]
fn a_summary_of_another_session_is_no_title() {
    let lines = [
        r#"{"type":"summary","summary":"other","leafUuid":"gone"}"#.to_owned(),
        user("u", "", "q"),
    ];
    assert!(read_lines(&lines).session.title().is_none());
}

#[test]
fn a_subagents_file_is_marked_and_names_its_parent() {
    let side = |line: String| {
        line.replace(
            r#""isSidechain":false"#,
            r#""isSidechain":true,"agentId":"x1""#,
        )
    };
    let lines = [side(user("u", "", "task")), side(model("a", "u", "done"))];
    for name in ["p/s/subagents/agent-x1.jsonl", "p/agent-x1.jsonl"] {
        let session = read_at(name, &lines).unwrap();
        assert!(session.is_subagent);
        assert_eq!(told(&session), ">task <done");
        let header = session.session.header();
        assert_eq!(header.id.as_str(), "claude:agent-x1");
        assert_eq!(header.parent_session.as_ref().unwrap().as_str(), "claude:s");
    }
}

#[test]
fn what_another_agent_did_beside_the_conversation_is_not_its_end() {
    let side = user("s1", "", "task").replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
    let lines = [user("u", "", "q"), model("a", "u", "r"), side];
    let session = read_lines(&lines);
    assert_eq!(told(&session), ">q <r");
    assert!(!session.is_subagent);
}

#[test]
fn a_fork_names_what_it_is_of() {
    for key in [
        r#""requestSessionId":"p""#,
        r#""forkedFrom":{"sessionId":"p"}"#,
    ] {
        let copied = record(
            "assistant",
            "a",
            "u",
            &format!(r#"{key},"message":{{"content":"r"}}"#),
        );
        let session = read_lines(&[user("u", "", "q"), copied]);
        let parent = session.session.header().parent_session.clone();
        assert_eq!(parent.unwrap().as_str(), "claude:p");
    }
}

#[test]
fn the_id_is_that_of_the_file_where_a_record_says_it_too() {
    let other = user("u", "", "q").replace(r#""sessionId":"s""#, r#""sessionId":"old""#);
    let lines = [other, model("a", "u", "r")];
    let id = |name: &str| read_at(name, &lines).unwrap().session.header().id.clone();
    assert_eq!(id("s.jsonl").as_str(), "claude:s");
    assert_eq!(id("copy.jsonl").as_str(), "claude:old");
    let name = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f";
    assert_eq!(
        id(&format!("{name}.jsonl")).as_str(),
        format!("claude:{name}")
    );
}

#[test]
fn records_without_ids_are_read_in_the_order_of_the_file() {
    let line = |kind: &str| {
        format!(
            r#"{{"type":"{kind}","message":{{"role":"{kind}","content":"{kind}"}},"timestamp":"2026-01-01T00:00:00Z","sessionId":"s"}}"#
        )
    };
    let session = read_lines(&[line("user"), line("assistant"), line("user")]);
    assert_eq!(told(&session), ">user <assistant >user");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let either = [
        r#","sessionId":"s""#,
        r#""timestamp":"2026-01-01T00:00:00Z","#,
    ];
    for left_out in either.iter().chain([&""]) {
        std::fs::write(&path, line("user").replacen(left_out, "", 1)).unwrap();
        assert_eq!(testing::read_file(&path).unwrap().tool, Tool::ClaudeCode);
    }
}
