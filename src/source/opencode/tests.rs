//! Both layouts as a specification, on small sessions.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::reference::projection::capture;
use crate::source::testing::read_file;

/// A storage folder, and the document of its session `ses_1`.
pub(super) struct Storage {
    pub(super) dir: TempDir,
    pub(super) session: PathBuf,
}

impl Storage {
    pub(super) fn new(keys: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let session = dir.path().join("session/p/ses_1.json");
        let storage = Self { dir, session };
        storage.put(
            "session/p/ses_1.json",
            &format!(
                r#"{{"id":"ses_1","version":"1.0.152","projectID":"p","time":{{"created":5}}{keys}}}"#
            ),
        );
        storage
    }

    pub(super) fn put(&self, name: &str, json: &str) {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, json).unwrap();
    }

    /// A message with the parts, which get ids in their order.
    pub(super) fn message(&self, id: &str, created: i64, keys: &str, parts: &[&str]) -> &Self {
        self.put(
            &format!("message/ses_1/{id}.json"),
            &format!(
                r#"{{"id":"{id}","sessionID":"ses_1","time":{{"created":{created}}},{keys}}}"#
            ),
        );
        for (at, part) in parts.iter().enumerate() {
            self.put(
                &format!("part/{id}/p{at}.json"),
                &format!(r#"{{"id":"prt_{id}_{at}",{part}}}"#),
            );
        }
        self
    }

    pub(super) fn user(&self, id: &str, created: i64, text: &str) -> &Self {
        self.message(id, created, USER, &[&said(text)])
    }

    fn answer(&self, id: &str, created: i64, text: &str) -> &Self {
        self.message(
            id,
            created,
            r#""role":"assistant","modelID":"m""#,
            &[&said(text)],
        )
    }

    /// A request to compact, and what came of it.
    pub(super) fn compaction(&self, at: i64, tail: &str, outcome: &str) -> &Self {
        let request = format!("req{at}");
        let part = format!(r#""type":"compaction","auto":true{tail}"#);
        self.message(&request, at, USER, &[&part]);
        let keys = format!(r#""role":"assistant","parentID":"{request}","summary":true{outcome}"#);
        self.message(&format!("sum{at}"), at + 1, &keys, &[&said("summary")])
    }

    fn read(&self) -> ForeignSession {
        read_file(&self.session).unwrap()
    }
}

pub(super) const USER: &str = r#""role":"user","summary":{"diffs":[]}"#;
pub(super) const DONE: &str = r#","finish":"stop""#;

pub(super) fn said(text: &str) -> String {
    format!(r#""type":"text","text":"{text}""#)
}

pub(super) fn conversation(session: &ForeignSession) -> Vec<String> {
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

pub(super) fn notices(session: &ForeignSession) -> Vec<String> {
    session.notices.iter().map(ToString::to_string).collect()
}

#[test]
fn messages_stand_in_the_order_of_time_whatever_their_ids() {
    let storage = Storage::new(r#","directory":"/w","title":"T""#);
    storage
        .answer("a", 20, "ho")
        .user("b", 10, "hi")
        .user("c", 20, "you");
    let session = storage.read();
    assert_eq!(
        conversation(&session),
        ["user: hi", "assistant: ho", "user: you"]
    );
    assert_eq!(session.session.id().as_str(), "opencode:ses_1");
    assert_eq!(session.session.header().cwd.as_deref(), Some("/w"));
    assert_eq!(session.session.header().created_at.0, 5);
    assert_eq!(session.session.title().unwrap().text, "T");
    assert_eq!(notices(&session), [""; 0]);
}

#[test]
fn what_software_added_is_kept_and_never_cited() {
    let storage = Storage::new("");
    let synthetic = r#""type":"text","text":"Called the Read tool","synthetic":true"#;
    let ignored = r#""type":"text","text":"a notice","ignored":true"#;
    storage.message(
        "a",
        1,
        USER,
        &[&said("one"), synthetic, &said("two"), ignored],
    );
    let session = storage.read();
    assert_eq!(conversation(&session), ["user: one\ntwo"]);
    assert_eq!(session.session.derive_messages().count(), 3);
}

#[test]
fn reasoning_and_steps_are_dropped_and_tool_output_is_kept() {
    let storage = Storage::new("");
    storage.message(
        "a",
        1,
        r#""role":"assistant""#,
        &[
            r#""type":"step-start""#,
            r#""type":"reasoning","text":"hm""#,
            &said("ho"),
            r#""type":"tool","callID":"c","state":{"status":"completed","output":"out"}"#,
            r#""type":"tool","callID":"d","state":{"status":"error","error":"no"}"#,
        ],
    );
    let session = storage.read();
    assert_eq!(conversation(&session), ["assistant: ho"]);
    assert_eq!(
        session.session.derive_messages().last().unwrap().text(),
        "out"
    );
}

#[test]
fn a_finished_compaction_stands_for_all_before_it() {
    let storage = Storage::new("");
    storage
        .user("a", 1, "old")
        .compaction(2, "", DONE)
        .user("b", 9, "new");
    assert_eq!(
        conversation(&storage.read()),
        ["checkpoint: summary", "user: new"]
    );
}

#[test]
fn the_tail_follows_the_summary() {
    let storage = Storage::new("");
    storage
        .user("a", 1, "old")
        .user("b", 2, "tail")
        .answer("c", 3, "end of tail");
    storage
        .compaction(4, r#","tail_start_id":"b""#, DONE)
        .user("d", 9, "new");
    assert_eq!(
        conversation(&storage.read()),
        [
            "checkpoint: summary",
            "user: tail",
            "assistant: end of tail",
            "user: new"
        ]
    );
}

#[test]
fn without_its_tail_a_compaction_cuts_nothing_off() {
    let storage = Storage::new("");
    storage
        .user("a", 1, "old")
        .compaction(4, r#","tail_start_id":"gone""#, DONE)
        .user("b", 9, "new");
    assert_eq!(
        conversation(&storage.read()),
        ["user: old", "checkpoint: summary", "user: new"]
    );
}

#[test]
fn a_compaction_that_failed_or_still_runs_cuts_nothing() {
    let failed = Storage::new("");
    failed
        .user("a", 1, "old")
        .compaction(2, "", r#","finish":"stop","error":{"name":"E"}"#);
    assert_eq!(conversation(&failed.read()), ["user: old"]);
    let running = Storage::new("");
    running.user("a", 1, "old").compaction(2, "", "");
    assert_eq!(
        conversation(&running.read()),
        ["user: old", "assistant: summary"]
    );
}

#[test]
fn only_the_last_compaction_cuts() {
    let storage = Storage::new("");
    storage
        .user("a", 1, "old")
        .compaction(2, "", DONE)
        .user("b", 5, "gone too");
    storage
        .compaction(6, "", DONE)
        .compaction(9, "", r#","error":{}"#);
    assert_eq!(conversation(&storage.read()), ["checkpoint: summary"]);
}

#[test]
fn a_summary_of_a_version_without_requests_stands_for_all_before_it() {
    for finished in ["", r#","finish":"stop""#] {
        let storage = Storage::new("");
        let summary = format!(r#""role":"assistant","summary":true{finished}"#);
        storage
            .user("a", 1, "old")
            .message("s", 2, &summary, &[&said("first")])
            .user("b", 3, "old too")
            .message("t", 4, &summary, &[&said("second")])
            .message("u", 5, &summary, &[])
            .message(
                "v",
                5,
                &format!(r#"{summary},"error":{{}}"#),
                &[&said("no")],
            )
            .user("c", 6, "new");
        assert_eq!(
            conversation(&storage.read()),
            ["checkpoint: second", "user: new"]
        );
    }
}

#[test]
fn a_time_with_a_part_of_a_millisecond_is_one() {
    let storage = Storage::new("");
    for (id, created) in [("a", "1000.5"), ("b", r#""soon""#)] {
        storage.message(id, 1, USER, &[&said("hi")]);
        let message = format!(r#"{{"id":"{id}","time":{{"created":{created}}},{USER}}}"#);
        storage.put(&format!("message/ses_1/{id}.json"), &message);
    }
    assert_eq!(conversation(&storage.read()), ["user: hi", "user: hi"]);
}

#[test]
fn a_compaction_part_of_the_model_is_no_cut() {
    let storage = Storage::new("");
    storage.user("a", 1, "hi");
    storage.message(
        "b",
        2,
        r#""role":"assistant","summary":{"title":null}"#,
        &[r#""type":"compaction","auto":true"#, &said("ho")],
    );
    assert_eq!(conversation(&storage.read()), ["user: hi", "assistant: ho"]);
}

#[test]
fn what_was_taken_back_is_hidden_before_the_cut_is_looked_for() {
    let storage = Storage::new(r#","revert":{"messageID":"req2"}"#);
    storage
        .user("a", 1, "hi")
        .compaction(2, "", DONE)
        .user("b", 9, "new");
    assert_eq!(conversation(&storage.read()), ["user: hi"]);
}

#[test]
fn of_a_message_taken_back_in_part_the_first_parts_stay() {
    let storage = Storage::new(r#","revert":{"messageID":"b","partID":"prt_b_1"}"#);
    storage.user("a", 1, "hi");
    storage.message(
        "b",
        2,
        r#""role":"assistant""#,
        &[&said("one"), &said("two")],
    );
    storage.user("c", 3, "new");
    assert_eq!(
        conversation(&storage.read()),
        ["user: hi", "assistant: one"]
    );
}

#[test]
fn a_message_to_go_back_to_that_is_gone_hides_what_came_after_it() {
    let storage = Storage::new(r#","revert":{"messageID":"b"}"#);
    storage.user("a", 1, "hi").user("c", 3, "new");
    assert_eq!(conversation(&storage.read()), ["user: hi"]);
}

#[test]
fn placeholders_are_no_titles() {
    for title in [
        "New session - 2026-12-01T20:52:04.488Z",
        "Child session - 2026-12-01T20:52:04.488Z",
    ] {
        assert!(is_placeholder(title), "{title}");
    }
    for title in [
        "New session - about parsing",
        "A new session - 2026-12-01T20:52:04.488Z",
    ] {
        assert!(!is_placeholder(title), "{title}");
    }
}

#[test]
fn a_session_with_a_parent_is_a_subagents() {
    let storage = Storage::new(r#","parentID":"ses_0""#);
    let session = storage.user("a", 1, "hi").read();
    assert!(session.is_subagent);
    let parent = session.session.header().parent_session.clone().unwrap();
    assert_eq!(parent.as_str(), "opencode:ses_0");
}

#[test]
fn parts_can_lie_flat() {
    let storage = Storage::new("");
    storage.message("a", 1, USER, &[]);
    storage.put(
        "part/prt_1.json",
        r#"{"id":"prt_1","messageID":"a","type":"text","text":"hi"}"#,
    );
    storage.put(
        "part/prt_2.json",
        r#"{"id":"prt_2","messageID":"z","type":"text","text":"no"}"#,
    );
    assert_eq!(conversation(&storage.read()), ["user: hi"]);
}

#[test]
fn the_oldest_layout_is_read() {
    let storage = Storage::new("");
    let session = r#"{"id":"ses_2","version":"0.3.0","title":"Old","time":{"created":5}}"#;
    storage.put("session/info/ses_2.json", session);
    storage.put(
        "session/message/ses_2/a.json",
        r#"{"id":"a","role":"user","time":{"created":1}}"#,
    );
    storage.put(
        "session/part/ses_2/a/p.json",
        &format!("{{{}}}", said("hi")),
    );
    let read = read_file(&storage.dir.path().join("session/info/ses_2.json")).unwrap();
    assert_eq!(conversation(&read), ["user: hi"]);
    assert_eq!(read.session.title().unwrap().text, "Old");
    assert_eq!(notices(&read), [""; 0]);
}

#[test]
fn without_a_directory_the_project_has_one() {
    let storage = Storage::new("");
    storage.put("project/p.json", r#"{"id":"p","worktree":"/w"}"#);
    assert_eq!(storage.read().session.header().cwd.as_deref(), Some("/w"));
}

#[test]
fn ids_never_lead_out_of_the_storage() {
    let storage = Storage::new("");
    storage.put(
        "session/p/ses_1.json",
        r#"{"id":"../x","projectID":"../x","time":{"created":1}}"#,
    );
    storage.put(
        "x/a.json",
        r#"{"id":"a","role":"user","time":{"created":1}}"#,
    );
    storage.put("x.json", r#"{"worktree":"/secret"}"#);
    let session = storage.read();
    assert_eq!(session.session.derive_messages().count(), 0);
    assert_eq!(session.session.header().cwd, None);
}

#[test]
fn damage_is_survived_and_counted() {
    let storage = Storage::new("");
    storage.user("a", 1, "hi");
    storage.put("message/ses_1/b.json", r#"{"id":"b","role":"us"#);
    storage.put("message/ses_1/c.json", r#"{"id":"c","role":"robot"}"#);
    storage.put("part/a/torn.json", "{");
    storage.put("part/a/new.json", r#"{"id":"n","type":"hologram"}"#);
    fs::create_dir(storage.dir.path().join("part/a/folder.json")).unwrap();
    let session = storage.read();
    assert_eq!(conversation(&session), ["user: hi"]);
    assert_eq!(notices(&session), ["5 records skipped"]);
}

#[test]
fn messages_that_none_can_be_read_of_are_an_error() {
    let storage = Storage::new("");
    storage.message("a", 1, USER, &[r#""type":"words","words":"hi""#]);
    let error = read_file(&storage.session).unwrap_err();
    assert_eq!(error.code(), "SOURCE_NO_DIALOGUE");
    assert!(error.to_string().contains("opencode 1.0.152"), "{error}");
}

#[test]
fn messages_without_a_word_are_an_empty_session() {
    let storage = Storage::new("");
    storage.message("a", 1, USER, &[r#""type":"file","url":"x""#]);
    assert_eq!(conversation(&storage.read()), [""; 0]);
}
