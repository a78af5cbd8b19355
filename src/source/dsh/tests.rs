//! The format as a specification, on small logs.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::reference::projection::capture;
use crate::source::detect;
use crate::source::testing::read_file;

pub(super) const HEADER: &str =
    r#"{"type":"session","version":0,"id":"s","createdAt":7,"cwd":"/w","delegationDepth":0}"#;

/// Writes a log into a folder of its own.
fn log(lines: &[&str]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    (dir, path)
}

/// What stands in the conversation, marked with who said it.
fn conversation(session: &ForeignSession) -> Vec<String> {
    capture(&session.session)
        .conversation
        .iter()
        .map(|item| {
            let who = if item.checkpoint {
                "checkpoint"
            } else {
                item.role.as_str()
            };
            format!("{who}: {}", item.text)
        })
        .collect()
}

fn notices(session: &ForeignSession) -> Vec<String> {
    session.notices.iter().map(ToString::to_string).collect()
}

fn read_lines(lines: &[&str]) -> ForeignSession {
    read_file(&log(lines).1).unwrap()
}

pub(super) fn user(seq: u64, text: &str) -> String {
    user_of(seq, r#"{"kind":"user"}"#, text, r#""append""#)
}

pub(super) fn user_of(seq: u64, source: &str, text: &str, op: &str) -> String {
    format!(
        r#"{{"type":"user/message","seq":{seq},"time":9,"data":{{"content":[{{"type":"text","text":"{text}"}}],"source":{source},"role":"user"}},"surfaceOp":{op}}}"#
    )
}

pub(super) fn answer(seq: u64, text: &str) -> String {
    format!(
        r#"{{"type":"assistant/message","seq":{seq},"time":9,"data":{{"message":{{"role":"assistant","content":[{{"type":"text","text":"{text}"}}],"source":{{"kind":"model","model":"m"}}}}}},"surfaceOp":"append"}}"#
    )
}

pub(super) fn torn(line: &str, at: usize) -> &str {
    line.get(..at).unwrap()
}

fn head(lines: &[&str]) -> Head {
    let bytes = lines.join("\n").into_bytes();
    Head {
        records: detect::records_of(&bytes),
        bytes,
    }
}

#[test]
fn a_log_is_a_header_and_messages() {
    let session = read_lines(&[HEADER, &user(0, "hi"), &answer(1, "ho")]);
    assert_eq!(conversation(&session), ["user: hi", "assistant: ho"]);
    assert_eq!(session.session.id().as_str(), "dsh:s");
    assert_eq!(session.session.header().cwd.as_deref(), Some("/w"));
    assert_eq!(session.session.header().created_at.0, 7);
    assert!(!session.is_subagent);
    assert_eq!(notices(&session), [""; 0]);
}

#[test]
fn our_own_logs_are_not_recognised() {
    let ours = r#"{"type":"session","version":1,"id":"s","createdAt":7,"cwd":"/w"}"#;
    let early = r#"{"type":"session","version":0,"id":"s","createdAt":7}"#;
    let row = user(0, "hi");
    assert!(!recognises(&head(&[ours, &row])));
    assert!(!recognises(&head(&[ours])));
    assert!(!recognises(&head(&[early, &row])));
}

#[test]
fn its_logs_are_told_by_what_only_they_have() {
    let with = |keys: &str| format!(r#"{{"type":"session","id":"s","createdAt":7{keys}}}"#);
    let row = user(0, "hi");
    assert!(recognises(&head(&[HEADER])));
    assert!(recognises(&head(&[&with(r#","version":2"#), &row])));
    assert!(recognises(&head(&[&with(r#","seedLength":4"#), &row])));
    let without_seq = r#"{"type":"turn/start","data":{"turn":1}}"#;
    assert!(recognises(&head(&[&with(r#","version":0"#), without_seq])));
    let packed = r#"{"type":"text-chunks","seq":1,"seq0":4,"data":{}}"#;
    assert!(recognises(&head(&[&with(r#","version":0"#), packed])));
    assert!(!recognises(&head(&[
        r#"{"type":"session","version":3,"id":"s","timestamp":"t"}"#
    ])));
    assert!(!recognises(&head(&[])));
}

#[test]
fn prompts_in_the_inbox_and_commands_are_no_messages() {
    let inbox = r#"{"type":"agent/inbox/spliced","seq":0,"data":{"inserted":[{"content":[{"type":"text","text":"hi"}],"source":{"kind":"user"}}]}}"#;
    let command =
        r#"{"type":"command/run","seq":1,"data":{"args":" do it","source":{"kind":"user"}}}"#;
    let session = read_lines(&[HEADER, inbox, command, &user(2, "hi")]);
    assert_eq!(conversation(&session), ["user: hi"]);
    assert_eq!(notices(&session), [""; 0]);
}

#[test]
fn rows_without_a_seq_are_counted_and_packed_ones_by_their_members() {
    let strip = |line: String| line.replacen(r#""seq":0,"time":9,"#, "", 1);
    let checkpoint = user_of(
        0,
        r#"{"kind":"plugin","plugin":"compact","compactionId":"c"}"#,
        "sum",
        r#"{"op":"replace","start":1,"end":6}"#,
    );
    let session = read_lines(&[
        HEADER,
        r#"{"type":"turn/start","data":{}}"#,
        &strip(user(0, "one")),
        r#"{"type":"text-chunks","data":{"texts":["a","b","c"]}}"#,
        r#"{"type":"assistant/chunk","data":{}}"#,
        &strip(answer(0, "two")),
        &strip(user(0, "three")),
        &strip(checkpoint),
    ]);
    assert_eq!(conversation(&session), ["checkpoint: sum", "user: three"]);
}

#[test]
fn a_replacement_is_positional_even_when_its_end_has_the_lower_seq() {
    let compact = r#"{"kind":"compact-checkpoint","compactionId":"c"}"#;
    let range = |start, end| format!(r#"{{"op":"replace","startSeq":{start},"endSeq":{end}}}"#);
    let header = HEADER.replace(r#""version":0"#, r#""version":4"#);
    let session = read_lines(&[
        &header,
        &user(0, "a"),
        &user(1, "b"),
        &answer(2, "c"),
        &user_of(3, compact, "first", &range(0, 1)),
        &user_of(4, compact, "second", &range(3, 2)),
        &user(5, "d"),
    ]);
    assert_eq!(conversation(&session), ["checkpoint: second", "user: d"]);
    assert_eq!(notices(&session), [""; 0]);
}

#[test]
fn what_stands_before_a_checkpoint_stays() {
    let compact = r#"{"kind":"compact-checkpoint","compactionId":"c"}"#;
    let session = read_lines(&[
        HEADER,
        &user(0, "kept"),
        &user(1, "gone"),
        &user_of(2, compact, "sum", r#"{"op":"replace","start":1,"end":1}"#),
    ]);
    assert_eq!(conversation(&session), ["user: kept", "checkpoint: sum"]);
}

#[test]
fn injected_text_is_kept_and_never_cited() {
    let session = read_lines(&[
        HEADER,
        &user_of(0, r#"{"kind":"plugin","plugin":"p"}"#, "x", r#""append""#),
        &user_of(1, r#"{"kind":"runtime-context"}"#, "y", r#""append""#),
        &user(2, "hi"),
    ]);
    assert_eq!(conversation(&session), ["user: hi"]);
    assert_eq!(session.session.derive_messages().count(), 3);
}

#[test]
fn the_last_title_counts_and_a_persons_is_pinned() {
    let title = |title, kind| {
        format!(
            r#"{{"type":"session/title","seq":1,"data":{{"title":"{title}","source":{{"kind":"{kind}"}}}}}}"#
        )
    };
    let session = read_lines(&[
        HEADER,
        &user(0, "hi"),
        &title("a", "fallback"),
        &title("b", "user"),
    ]);
    let found = session.session.title().unwrap();
    assert_eq!((found.text.as_str(), found.pinned), ("b", true));
}

/// A home with one session of one message, and a cached title.
pub(super) fn home_with_cache(identity: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("sessions/--w--/s");
    let cache = dir.path().join("storages/session_projcache/sessions");
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir_all(&cache).unwrap();
    let entry = format!(
        r#"{{"version":7,"record":{{"identity":{identity},"rows":{{"title":{{"val":"cached"}}}}}}}}"#
    );
    fs::write(cache.join("s.json"), entry).unwrap();
    let path = folder.join("session.v4.jsonl");
    fs::write(&path, [HEADER, &user(0, "hi")].join("\n")).unwrap();
    (dir, path)
}

#[test]
fn without_a_title_in_the_log_the_cache_has_one() {
    let (_dir, path) = home_with_cache(r#"{"createdAt":7,"cwd":"/w"}"#);
    let session = read_file(&path).unwrap();
    assert_eq!(session.session.title().unwrap().text, "cached");
}

#[test]
fn a_cached_title_of_another_session_is_not_taken() {
    for identity in [
        r#"{"createdAt":8,"cwd":"/w"}"#,
        r#"{"createdAt":7,"cwd":"/v"}"#,
        r#"{"createdAt":7,"cwd":"/w","isSeeded":true}"#,
        "{}",
    ] {
        let (_dir, path) = home_with_cache(identity);
        assert!(
            read_file(&path).unwrap().session.title().is_none(),
            "{identity}"
        );
    }
}

#[test]
fn a_log_in_frames_loses_only_its_torn_end() {
    let frame = |text: &str| zrip::compress(text.as_bytes(), 1).unwrap();
    let header = format!("{HEADER}\n");
    let hi = format!("{}\n", user(0, "hi"));
    let lost = format!("{}\n", answer(1, "ho"));
    let mut bytes = [frame(&header), frame(&hi), frame(&lost)].concat();
    bytes.truncate(bytes.len() - 9);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.v1.jsonl.zstd");
    fs::write(&path, bytes).unwrap();
    assert_eq!(conversation(&read_file(&path).unwrap()), ["user: hi"]);
}

/// Two generations of a session in one folder.
fn generations(newer_id: &str) -> (TempDir, PathBuf) {
    let (dir, path) = log(&[HEADER, &user(0, "old")]);
    let header = HEADER.replace(r#""id":"s""#, &format!(r#""id":"{newer_id}""#));
    for (name, text) in [("session.v3.jsonl", "older"), ("session.v10.jsonl", "new")] {
        fs::write(
            dir.path().join(name),
            [header.as_str(), &user(0, text)].join("\n"),
        )
        .unwrap();
    }
    (dir, path)
}

#[test]
fn the_highest_generation_wins_and_says_so() {
    let (_dir, path) = generations("s");
    let session = read_file(&path).unwrap();
    assert_eq!(conversation(&session), ["user: new"]);
    assert_eq!(
        notices(&session),
        [
            "session.v10.jsonl, beside session.jsonl, is the newer generation of this session and was read instead"
        ]
    );
    let newest = read_file(&path.with_file_name("session.v10.jsonl")).unwrap();
    assert_eq!(notices(&newest), [""; 0]);
}

#[test]
fn another_sessions_file_is_no_newer_generation() {
    let (_dir, path) = generations("another");
    let session = read_file(&path).unwrap();
    assert_eq!(conversation(&session), ["user: old"]);
    assert_eq!(
        notices(&session),
        ["session.v10.jsonl, beside session.jsonl, is not of this session and was not read"]
    );
}

#[test]
fn file_names_tell_generations() {
    assert_eq!(generation("session.jsonl"), Some(0));
    assert_eq!(generation("session.jsonl.zstd"), Some(0));
    assert_eq!(generation("session.v4.jsonl.zstd"), Some(4));
    assert_eq!(generation("session.v4.jsonl"), Some(4));
    for name in [
        "session.lock",
        "session.1.jsonl",
        "session.vjsonl",
        "session.v4.jsonl.decoded.txt",
    ] {
        assert_eq!(generation(name), None, "{name}");
    }
}

#[test]
fn a_fork_names_its_parent_and_a_subagent_is_marked() {
    let header = HEADER.replace(
        r#""delegationDepth":0"#,
        r#""parentSession":"p","origin":"subagent","seedLength":4,"delegationDepth":1"#,
    );
    let session = read_lines(&[&header, &user(0, "hi")]);
    assert!(session.is_subagent);
    assert_eq!(
        session
            .session
            .header()
            .parent_session
            .as_ref()
            .unwrap()
            .as_str(),
        "dsh:p"
    );
}

#[test]
fn damage_is_survived_and_counted() {
    let chunk = r#"{"type":"assistant/chunk","seq":1,"data":{"chunk":{"te"#;
    let glued = format!("{}{}", torn(&answer(2, "lost"), 90), user(3, "glued"));
    let session = read_lines(&[
        HEADER,
        &user(0, "hi"),
        chunk,
        &glued,
        r#"{"type":"unheard-of","seq":4}"#,
        r#"{"type":"strange/message","seq":5,"data":{},"surfaceOp":"append"}"#,
        "\0\0\0",
        "not json",
        &answer(6, "ho"),
    ]);
    assert_eq!(
        conversation(&session),
        ["user: hi", "user: glued", "assistant: ho"]
    );
    assert_eq!(notices(&session), ["6 records skipped"]);
}

#[test]
fn a_checkpoint_of_lost_messages_is_kept_and_counted() {
    let compact = r#"{"kind":"compact-checkpoint","compactionId":"c"}"#;
    let session = read_lines(&[
        HEADER,
        &user(1, "gone"),
        &user_of(
            2,
            compact,
            "sum",
            r#"{"op":"replace","startSeq":0,"endSeq":1}"#,
        ),
    ]);
    assert_eq!(conversation(&session), ["checkpoint: sum"]);
    assert_eq!(notices(&session), ["1 record skipped"]);
}

#[test]
fn without_a_header_the_folder_names_the_session() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("session-1");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("session.jsonl");
    let packed = r#"{"type":"text-chunks","seq0":1,"data":{"texts":["a"]}}"#;
    fs::write(&path, [torn(HEADER, 40), &user(0, "hi"), packed].join("\n")).unwrap();
    let session = read_file(&path).unwrap();
    assert_eq!(session.session.id().as_str(), "dsh:session-1");
    assert_eq!(conversation(&session), ["user: hi"]);
    assert_eq!(notices(&session).len(), 2);
}

#[test]
fn of_types_that_are_not_the_programs_own_only_ignorable_ones_are_no_loss() {
    let row = |kind: &str, keys: &str| {
        let row = format!(r#"{{"type":"{kind}","seq":1,"time":9,"data":{{}}{keys}}}"#);
        notices(&read_lines(&[HEADER, &user(0, "hi"), &row]))
    };
    assert_eq!(row("some-plugin/event", ""), ["1 record skipped"]);
    assert_eq!(
        row("some-plugin/event", r#","ignorable":false"#),
        ["1 record skipped"]
    );
    assert_eq!(row("some-plugin/event", r#","ignorable":true"#), [""; 0]);
    assert_eq!(row("turn/brand-new", ""), [""; 0]);
}

#[test]
fn messages_that_none_can_be_read_of_are_an_error() {
    let header = HEADER.replace(r#""version":0"#, r#""version":9"#);
    let new = r#"{"type":"assistant/message","seq":0,"data":{"words":"hi"},"surfaceOp":"append"}"#;
    let (_dir, path) = log(&[&header, new]);
    let error = read_file(&path).unwrap_err();
    assert_eq!(error.code(), "SOURCE_NO_DIALOGUE");
    assert!(error.to_string().contains("dsh format 9"), "{error}");
}

#[test]
fn a_newer_version_is_read_as_the_newest_known_one_and_says_so() {
    let header = HEADER.replace(r#""version":0"#, r#""version":5"#);
    let session = read_lines(&[&header, &user(0, "hi")]);
    assert_eq!(conversation(&session), ["user: hi"]);
    assert!(notices(&session)[0].contains("version 5"));
}

#[test]
fn a_session_of_tool_calls_alone_is_empty_and_no_error() {
    let calls = r#"{"type":"assistant/message","seq":0,"data":{"message":{"content":[{"type":"tool-call","id":"1"}]}},"surfaceOp":"append"}"#;
    let session = read_lines(&[HEADER, calls]);
    assert_eq!(conversation(&session), [""; 0]);
    assert_eq!(notices(&session), [""; 0]);
}

#[test]
fn ids_never_lead_out_of_the_cache() {
    let (dir, path) = home_with_cache(r#"{"createdAt":7,"cwd":"/w"}"#);
    let cache = dir
        .path()
        .join("storages/session_projcache/sessions/s.json");
    fs::rename(cache, dir.path().join("storages/session_projcache/x.json")).unwrap();
    let header = HEADER.replace(r#""id":"s""#, r#""id":"../x""#);
    fs::write(&path, [header.as_str(), &user(0, "hi")].join("\n")).unwrap();
    assert!(read_file(&path).unwrap().session.title().is_none());
}

#[test]
fn nothing_is_changed_by_reading() {
    let (dir, path) = home_with_cache(r#"{"createdAt":7,"cwd":"/w"}"#);
    let names = |dir: &Path| fs::read_dir(dir).unwrap().count();
    let before = (
        names(dir.path()),
        fs::metadata(&path).unwrap().modified().unwrap(),
    );
    read_file(&path).unwrap();
    assert_eq!(
        (
            names(dir.path()),
            fs::metadata(&path).unwrap().modified().unwrap()
        ),
        before
    );
}
