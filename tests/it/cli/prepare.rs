//! `ibid prepare`.

use std::path::Path;

use ibid::session::{Event, Header};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Place, header_line, log_of, rows};
use crate::support::sessions::{conversation, said, say, session, session_in};

/// What the context says of the first source.
fn facts(prepared: &Value) -> &Value {
    &prepared["context"]["source"]["references"][0]
}

fn labels(prepared: &Value) -> Vec<&str> {
    let data = prepared["data"].as_array().unwrap();
    data.iter()
        .map(|source| source["label"].as_str().unwrap())
        .collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    session: Header,
    label: String,
    events: Vec<Event>,
    max_bytes: u64,
    expect: Value,
}

#[test]
fn every_conversation_of_the_vectors_is_kept_under_its_budget() {
    let rows = rows("retention.jsonl");
    assert_eq!(rows.len(), 335);
    std::thread::scope(|scope| {
        for rows in rows.chunks(rows.len().div_ceil(4)) {
            scope.spawn(move || {
                let place = Place::new();
                for row in rows {
                    keep(&place, &serde_json::from_value(row.clone()).unwrap());
                }
            });
        }
    });
}

fn keep(place: &Place, row: &Row) {
    let mut log = header_line(&row.session);
    for event in &row.events {
        log += &(serde_json::to_string(event).unwrap() + "\n");
    }
    let log = place.write("row.jsonl", log);
    let budget = row.max_bytes.to_string();
    let ended = place.run(&[
        "prepare",
        "--log",
        &log,
        "--label",
        &row.label,
        "--max-reference-bytes",
        &budget,
        "--no-spill",
        "--json",
    ]);
    if let Some(code) = row.expect["error"].as_str() {
        assert_eq!(ended.refused().0, code, "{budget} bytes");
        return;
    }
    let prepared = ended.json();
    let expected = row.expect["dataJson"].as_str().unwrap();
    let text = prepared["context"]["text"].as_str().unwrap();
    assert!(text.contains(&format!("\n[{expected}]\n")), "{text}");
    let expected: Value = serde_json::from_str(expected).unwrap();
    assert_eq!(prepared["data"], json!([expected]), "{budget} bytes");
    let stats = row.expect["stats"].as_object().unwrap();
    for (name, value) in stats {
        assert_eq!(&facts(&prepared)[name], value, "{name}, {budget} bytes");
    }
    let notices = prepared["notices"].as_array().unwrap();
    assert_eq!(notices.len(), usize::from(stats["truncated"] == true));
}

#[test]
fn without_json_the_context_text_alone_is_printed() {
    let place = Place::new();
    let mut source = session_in("a", "/work/api");
    conversation(&mut source);
    let log = place.log("a.jsonl", &source);
    let text = place.text(&["prepare", "--log", &log]);
    let prepared = place.json(&["prepare", "--log", &log, "--json"]);
    assert_eq!(prepared["context"]["text"], text);
    let conversation = &prepared["data"][0]["conversation"];
    let user = |text: &str| json!({"role": "user", "text": text});
    assert_eq!(
        *conversation,
        json!([
            user("<compacted-summary>checkpoint</compacted-summary>"),
            user("recent user"),
            user("human steer"),
            {"role": "assistant", "text": "visible answer"},
        ])
    );
    assert_eq!(facts(&prepared)["capturedThroughSeq"], 14);
    assert_eq!(facts(&prepared)["compacted"], true);
    assert_eq!(prepared["notices"], json!([]));
}

#[test]
fn a_stored_session_is_read_by_its_id() {
    let place = Place::new();
    for id in ["plain", "a/../b", "line\nbreak \"'", "--json", "-", ""] {
        place.store(&said(id, ["hello"]));
        let prepared = place.json(&["prepare", "--session", id, "--json"]);
        let source = json!([{
            "sessionId": id, "label": id, "cwd": null, "capturedThroughSeq": 0,
            "conversation": [{"role": "user", "text": "hello"}],
        }]);
        assert_eq!(prepared["data"], source);
    }
}

#[test]
fn sources_and_labels_keep_the_order_of_the_command_line() {
    let place = Place::new();
    place.store(&said("a", ["one"]));
    place.store(&said("c", ["three"]));
    let log = place.log("b.jsonl", &said("b", ["two"]));
    let sources = ["prepare", "--session", "a", "--log", &log, "--session", "c"];
    let prepare = |more: &[&str]| place.json(&[&sources[..], more, &["--json"]].concat());

    assert_eq!(labels(&prepare(&[])), ["a", "b", "c"]);
    let two = prepare(&["--label", "first", "--label", "second"]);
    assert_eq!(labels(&two), ["first", "second", "c"]);

    let labels_first = ["prepare", "--label", "x", "--log", &log, "--session", "a"];
    let prepared = place.json(&[&labels_first[..], &["--json"]].concat());
    assert_eq!(labels(&prepared), ["x", "a"]);
}

#[test]
fn more_labels_than_sources_are_wrong_usage() {
    let place = Place::new();
    let (code, message) = place.refused(&[
        "prepare",
        "--session",
        "a",
        "--label",
        "x",
        "--label",
        "y",
        "--json",
    ]);
    assert_eq!(code, "USAGE");
    assert_eq!(message, "too many labels: 2 labels for 1 source");
}

#[test]
fn duplicates_are_dropped_before_they_are_counted() {
    let place = Place::new();
    let log = place.log("a.jsonl", &said("a", ["hello"]));
    let mut args = vec!["prepare", "--json", "--label", "first", "--label", "second"];
    for _ in 0..4 {
        args.extend(["--log", log.as_str()]);
    }
    assert_eq!(labels(&place.json(&args)), ["first"]);
}

#[test]
fn a_source_that_was_named_before_is_the_one_that_counts() {
    let place = Place::new();
    place.store(&said("a", ["stored"]));
    let log = place.log("a.jsonl", &said("a", ["beside"]));
    let said = |args: &[&str]| {
        let prepared = place.json(args);
        prepared["data"][0]["conversation"][0]["text"].clone()
    };
    let stored_first = ["prepare", "--session", "a", "--log", &log, "--json"];
    assert_eq!(said(&stored_first), "stored");
    let log_first = ["prepare", "--log", &log, "--session", "a", "--json"];
    assert_eq!(said(&log_first), "beside");
}

#[test]
fn four_sources_are_too_many() {
    let place = Place::new();
    let mut args = vec!["prepare", "--json"];
    for id in ["a", "b", "c", "d"] {
        place.store(&said(id, ["hello"]));
        args.extend(["--session", id]);
    }
    let (code, message) = place.refused(&args);
    assert_eq!(code, "SESSION_REFERENCE_TOO_MANY");
    assert!(message.contains("remove 1"), "{message}");
}

#[test]
fn a_session_can_t_cite_itself() {
    let place = Place::new();
    let log = place.log("a.jsonl", &said("a", ["hello"]));
    let (code, message) = place.refused(&["prepare", "--log", &log, "--target", "a", "--json"]);
    assert_eq!(code, "SESSION_REFERENCE_SELF_REFERENCE");
    assert!(message.contains("\"a\""), "{message}");
    place.json(&["prepare", "--log", &log, "--target", "b", "--json"]);
}

#[test]
fn a_budget_follows_the_context_window() {
    let place = Place::new();
    let source = said("a", ["old".repeat(50_000), "new".repeat(50_000)]);
    let log = place.log("a.jsonl", &source);
    let kept = |more: &[&str]| {
        let args = ["prepare", "--log", &log, "--no-spill", "--json"];
        let prepared = place.json(&[&args[..], more].concat());
        serde_json::to_string(&prepared["data"][0]).unwrap().len()
    };
    // A session is cut to its budget exactly, as far as whole characters go.
    assert_eq!(kept(&[]), 65_536);
    assert_eq!(kept(&["--context-window", "1000"]), 65_536);
    assert_eq!(kept(&["--context-window", "100000"]), 80_000);
    let half = ["--context-window", "100000", "--fraction", "0.25"];
    assert_eq!(kept(&half), 100_000);
    assert_eq!(kept(&["--max-reference-bytes", "70001"]), 70_001);
}

#[test]
fn the_settings_file_holds_where_no_flag_is_given() {
    let place = Place::new();
    place.store(&said("a", ["x".repeat(5000)]));
    place.write("home/config.toml", "[references]\nmax-bytes = 2000");
    let kept = |more: &[&str]| {
        let args = ["prepare", "--session", "a", "--no-spill", "--json"];
        let prepared = place.json(&[&args[..], more].concat());
        serde_json::to_string(&prepared["data"][0]).unwrap().len()
    };
    assert_eq!(kept(&[]), 2000);
    assert_eq!(kept(&["--max-reference-bytes", "1000"]), 1000);
    assert!(kept(&["--context-window", "1000"]) > 5000);
}

#[test]
fn a_torn_or_damaged_log_gives_what_can_be_read_and_says_so() {
    let place = Place::new();
    let whole = log_of(&said("a", ["one", "two"]));
    let torn = place.write("torn.jsonl", whole.trim_end().trim_end_matches('}'));
    let ended = place.run(&["prepare", "--log", &torn, "--json"]);
    let told = "ibid: the log of \"a\" can't be read whole: line 3 ";
    assert!(ended.err.starts_with(told), "{}", ended.err);
    assert_eq!(ended.err.matches('\n').count(), 1);
    let prepared: Value = serde_json::from_slice(&ended.out).unwrap();
    let conversation = prepared["data"][0]["conversation"].as_array().unwrap();
    assert_eq!(conversation.len(), 1);
    assert_eq!(facts(&prepared)["capturedThroughSeq"], 0);
    assert!(!prepared["context"].to_string().contains("line 3"));
    let warning = prepared["warnings"][0]["message"].as_str().unwrap();
    assert!(
        warning.contains("can't be read whole: line 3 "),
        "{warning}"
    );

    // A stored one too, where a line in the middle is no JSON.
    let said = said("b", ["one", "two"]);
    place.store(&said);
    let log = place.home().session_file(&"b".into());
    let mut lines: Vec<String> = log_of(&said).lines().map(str::to_owned).collect();
    lines[1] = "{broken".to_owned();
    std::fs::write(&log, lines.join("\n") + "\n").unwrap();
    let ended = place.run(&["prepare", "--session", "b"]);
    assert!(ended.err.contains("\"b\" can't be read whole: line 2 "));
    assert!(!String::from_utf8(ended.out).unwrap().contains("broken"));
}

#[test]
fn an_empty_session_is_an_empty_conversation() {
    let place = Place::new();
    let log = place.log("a.jsonl", &session("a"));
    let prepared = place.json(&["prepare", "--log", &log, "--json"]);
    let source = json!([{
        "sessionId": "a", "label": "a", "cwd": null, "capturedThroughSeq": null, "conversation": [],
    }]);
    assert_eq!(prepared["data"], source);
}

#[test]
fn ten_thousand_messages_are_no_trouble() {
    let place = Place::new();
    let mut source = session("a");
    for _ in 0..10_000 {
        say(&mut source, "x".repeat(100));
    }
    let log = place.log("a.jsonl", &source);
    let prepared = place.json(&["prepare", "--log", &log, "--no-spill", "--json"]);
    assert_eq!(facts(&prepared)["originalMessages"], 10_000);
}

/// A file that Claude Code wrote, trimmed.
fn claude_file() -> String {
    format!(
        "{}/tests/fixtures/claude-code/subagent/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f.jsonl",
        env!("CARGO_MANIFEST_DIR")
    )
}

#[test]
fn a_file_of_any_tool_is_told_by_its_content() {
    let place = Place::new();
    let own = place.log("own.txt", &said("mine", ["text"]));
    let prepared = place.json(&[
        "prepare",
        "--file",
        &claude_file(),
        "--file",
        &own,
        "--label",
        "theirs",
        "--label",
        "ours",
        "--json",
    ]);
    assert_eq!(labels(&prepared), ["theirs", "ours"]);
    let ids: Vec<&str> = prepared["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|source| source["sessionId"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["claude:0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f", "mine"]);
    assert_ne!(prepared["data"][0]["conversation"], json!([]));
}

#[test]
fn records_of_a_file_that_were_passed_over_are_told_to_people_and_programs() {
    let place = Place::new();
    let whole = std::fs::read_to_string(claude_file()).unwrap();
    let torn = place.write("torn.jsonl", format!("{whole}{{\"type\":\"user\",\"uu"));
    let ended = place.run(&["prepare", "--file", &torn, "--json"]);
    let prepared: Value = serde_json::from_slice(&ended.out).unwrap();
    let warning = &prepared["warnings"][0];
    assert_eq!(warning["sessionId"], prepared["data"][0]["sessionId"]);
    let message = warning["message"].as_str().unwrap();
    assert!(
        message.ends_with("torn.jsonl: 1 record skipped"),
        "{message}"
    );
    assert_eq!(ended.err, format!("ibid: {message}\n"));
}

#[test]
fn a_file_of_no_tool_is_refused_by_its_name() {
    let place = Place::new();
    let notes = place.write("notes.txt", "buy milk\n");
    let (code, message) = place.refused(&["prepare", "--file", &notes, "--json"]);
    assert_eq!(code, "SOURCE_UNKNOWN_FORMAT");
    assert!(message.contains("notes.txt"), "{message}");
    let newer = place.write(
        "newer.jsonl",
        "{\"type\":\"session\",\"version\":99,\"id\":\"a\",\"createdAt\":1}\n",
    );
    let (code, _) = place.refused(&["prepare", "--file", &newer, "--json"]);
    assert_eq!(code, "SESSION_FORMAT_TOO_NEW");
}

#[test]
fn a_file_named_from_its_own_folder_or_by_a_link_is_read_with_what_lies_around_it() {
    let place = Place::new();
    for file in [
        "codex/v0.171-fork/sessions/2026/12/01/rollout-2026-12-01T20-57-50-01a23366-45b3-7b41-a9dd-77204871a87e.jsonl",
        "opencode/v1.0.152-real/storage/session/a40d85c57945c10a5500e3fea254e2ea9a6479ff/ses_dcc9f00f7ffeIMJkelrTYu1smA.json",
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures")
            .join(file);
        let whole = place.json(&["prepare", "--file", path.to_str().unwrap(), "--json"]);
        let mut beside = place.command();
        beside.current_dir(path.parent().unwrap());
        beside
            .args(["prepare", "--json", "--file"])
            .arg(path.file_name().unwrap());
        let read: Value = serde_json::from_slice(&beside.output().unwrap().stdout).unwrap();
        assert_eq!(read["data"], whole["data"], "{file}");
        assert_eq!(read["warnings"], json!([]));
        #[cfg(unix)]
        {
            let link = place.path("link");
            std::os::unix::fs::symlink(&path, &link).unwrap();
            let read = place.json(&["prepare", "--file", "link", "--json"]);
            assert_eq!(read["data"], whole["data"], "a link to {file}");
            std::fs::remove_file(link).unwrap();
        }
    }
}
