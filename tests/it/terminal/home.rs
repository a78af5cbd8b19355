//! Homes to start the program in, and what it left in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ibid::session::SessionId;
use ibid::store::Home;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home, and a directory to work in.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let place = Self { folder };
        Home::at(place.home()).create().unwrap();
        place
    }

    /// One in which messages go without being shown first.
    pub fn without_review() -> Self {
        let place = Self::new();
        fs::write(place.home().join("config.toml"), "review = \"never\"\n").unwrap();
        place
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn cwd(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// The logs, each whole.
    pub fn logs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.home().join("sessions")).unwrap();
        let mut logs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        logs.sort();
        logs
    }

    /// The one log that is not among these.
    pub fn new_log(&self, before: &[PathBuf]) -> PathBuf {
        let mut new = self.logs();
        new.retain(|log| !before.contains(log));
        assert_eq!(new.len(), 1, "one session was begun: {new:?}");
        new.remove(0)
    }

    /// Stores a session of one question and one answer.
    pub fn store(&self, id: &str, title: &str, said: &str, cwd: &str) -> PathBuf {
        let message = |role: &str, text: &str, source: Value| {
            json!({
                "id": format!("m-{role}"),
                "role": role,
                "content": [{"type": "text", "text": text}],
                "source": source,
            })
        };
        let model = json!({"kind": "model", "provider": "offline", "model": "offline"});
        let lines = [
            json!({
                "type": "session", "version": 1, "id": id,
                "createdAt": 1_786_436_520_502_i64, "cwd": cwd,
            }),
            json!({
                "seq": 0, "time": 1, "type": "user/message", "surfaceOp": "append",
                "data": message("user", said, json!({"kind": "user"})),
            }),
            json!({
                "seq": 1, "time": 2, "type": "session/title",
                "data": {"title": title, "messageSeqs": [0], "source": {"kind": "fallback"}},
            }),
            json!({
                "seq": 2, "time": 3, "type": "assistant/message", "surfaceOp": "append",
                "data": {"turn": 1, "step": 1, "message": message("assistant", said, model)},
            }),
        ];
        let text = lines.map(|line| line.to_string() + "\n").concat();
        let path = Home::at(self.home()).session_file(&SessionId::from(id));
        fs::write(&path, text).unwrap();
        path
    }
}

/// Waits for what only the disk tells.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < deadline, "never came: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// The events of a log.
pub fn events(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap();
    assert!(text.ends_with('\n'));
    let lines = text.lines().skip(1);
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The ids of the sessions that were sent along, in the log's order.
pub fn cited(log: &Path) -> Vec<String> {
    events(log)
        .iter()
        .filter_map(|event| {
            event
                .pointer("/data/source/references")?
                .as_array()
                .cloned()
        })
        .flatten()
        .map(|reference| reference["sessionId"].as_str().unwrap().to_owned())
        .collect()
}

/// What the person said, in the log's order.
pub fn said(log: &Path) -> Vec<String> {
    events(log)
        .iter()
        .filter(|event| {
            event["type"] == "user/message" && event["data"]["source"]["kind"] == "user"
        })
        .map(|event| {
            let text = &event["data"]["content"][0]["text"];
            text.as_str().unwrap().to_owned()
        })
        .collect()
}
