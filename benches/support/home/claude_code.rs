//! Claude Code: one file of lines a session, in a folder a directory.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::noise::Noise;
use super::random::Random;
use super::{About, Kind, Tool, file, line, timestamp, turns};

pub struct ClaudeCode {
    projects: PathBuf,
    noise: Noise,
}

impl ClaudeCode {
    pub fn new(home: &Path) -> Self {
        Self {
            projects: home.join(".claude/projects"),
            noise: Noise::new(2, |filling, random| {
                line(&json!({
                    "type": "file-history-snapshot",
                    "messageId": random.uuid(),
                    "snapshot": {"trackedFileBackups": {"notes.md": {"content": filling}}},
                    "isSnapshotUpdate": false,
                }))
            }),
        }
    }

    fn path(&self, about: &About) -> PathBuf {
        let slug = about.cwd.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let folder = self.projects.join(slug);
        match &about.kind {
            Kind::Subagent(parent) => folder
                .join(parent)
                .join("subagents")
                .join(format!("agent-{}.jsonl", &about.id[..8])),
            _ => folder.join(format!("{}.jsonl", about.id)),
        }
    }
}

impl Tool for ClaudeCode {
    fn write(&mut self, about: &About, random: &mut Random) -> io::Result<u64> {
        let session = match &about.kind {
            Kind::Subagent(parent) => parent,
            _ => &about.id,
        };
        let title = about.title.as_ref().map(|title| {
            line(&json!({"type": "custom-title", "customTitle": title, "sessionId": session}))
        });
        let path = self.path(about);
        file(&path, about.updated_at, |out| {
            out.write_all(&title.clone().unwrap_or_default())?;
            out.write_all(&line(
                &json!({"type": "mode", "mode": "normal", "sessionId": session}),
            ))?;
            if about.kind == Kind::Stub {
                return Ok(());
            }
            let mut last = match &about.kind {
                // A fork has its parent's first turn under the same id.
                Kind::Fork(parent, _) => Some(parent.clone()),
                _ => None,
            };
            turns(out, about, &self.noise, random, |number, random| {
                let mut record = |role: &str, content: serde_json::Value, random: &mut Random| {
                    let is_copied = matches!(&about.kind, Kind::Fork(..)) && number == 0;
                    let uuid = match &last {
                        Some(parent) if is_copied && role == "user" => parent.clone(),
                        _ => random.uuid(),
                    };
                    let before = last.replace(uuid.clone()).filter(|last| *last != uuid);
                    let mut record = json!({
                        "parentUuid": before,
                        "isSidechain": matches!(about.kind, Kind::Subagent(_)),
                        "userType": "external",
                        "cwd": about.cwd,
                        "sessionId": session,
                        "version": "2.1.332",
                        "gitBranch": "main",
                        "type": role,
                        "message": {"role": role, "content": content},
                        "uuid": uuid,
                        "timestamp": timestamp(about.created_at + i64::try_from(number).unwrap()),
                    });
                    if let Kind::Subagent(_) = about.kind {
                        record["agentId"] = about.id[..8].into();
                    }
                    line(&record)
                };
                let prompt = match (number, &about.kind) {
                    (0, Kind::Fork(_, prompt)) => prompt.clone(),
                    (0, _) => about.prompt.clone(),
                    _ => random.prompt(),
                };
                let mut lines = record("user", json!(prompt), random);
                let answer = json!([{"type": "text", "text": random.text(12)}]);
                lines.extend(record("assistant", answer, random));
                lines
            })?;
            out.write_all(&title.unwrap_or_default())
        })
    }
}
