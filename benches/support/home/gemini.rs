//! Gemini CLI: one file of lines a session, in a folder a project.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::noise::Noise;
use super::random::Random;
use super::{About, END, Kind, Tool, file, line, timestamp, turns};

pub struct Gemini {
    home: PathBuf,
    noise: Noise,
    /// The folder of each directory.
    projects: BTreeMap<String, String>,
}

impl Gemini {
    pub fn new(home: &Path) -> Self {
        Self {
            home: home.join(".gemini"),
            noise: Noise::new(4, |filling, random| {
                line(&json!({
                    "id": random.uuid(),
                    "timestamp": timestamp(END),
                    "type": "info",
                    "content": filling,
                }))
            }),
            projects: BTreeMap::new(),
        }
    }
}

impl Tool for Gemini {
    fn write(&mut self, about: &About, random: &mut Random) -> io::Result<u64> {
        let slug = about.cwd.rsplit('/').next().unwrap().to_owned();
        let folder = self.home.join("tmp").join(&slug);
        if self.projects.insert(about.cwd.clone(), slug).is_none() {
            fs::create_dir_all(&folder)?;
            fs::write(folder.join(".project_root"), &about.cwd)?;
        }
        let begun = timestamp(about.created_at);
        let name = match &about.kind {
            Kind::Subagent(parent) => format!("chats/{parent}/{}.jsonl", about.id),
            _ => format!(
                "chats/session-{}-{}.jsonl",
                begun[..16].replace(':', "-"),
                &about.id[..8]
            ),
        };
        file(&folder.join(name), about.updated_at, |out| {
            out.write_all(&line(&json!({
                "sessionId": about.id,
                "projectHash": "98907e50ceee1aa8fa1e0da313b3450dc93bdd6fdd3ef0875d65cd486e01719e",
                "startTime": begun,
                "lastUpdated": begun,
                "kind": if matches!(about.kind, Kind::Subagent(_)) { "subagent" } else { "main" },
            })))?;
            let context = "<session_context>\nThis is the Gemini CLI.\n</session_context>";
            out.write_all(&line(&json!({"$set": {"messages": [{
                "id": random.uuid(),
                "timestamp": begun,
                "type": "user",
                "content": [{"text": context}],
            }]}})))?;
            if about.kind == Kind::Stub {
                return Ok(());
            }
            turns(out, about, &self.noise, random, |number, random| {
                let prompt = match (number, &about.kind) {
                    (0, Kind::Fork(_, prompt)) => prompt.clone(),
                    (0, _) => about.prompt.clone(),
                    _ => random.prompt(),
                };
                let mut lines = line(&json!({
                    "id": random.uuid(),
                    "timestamp": begun,
                    "type": "user",
                    "content": [{"text": prompt}],
                }));
                lines.extend(line(&json!({
                    "id": random.uuid(),
                    "timestamp": begun,
                    "type": "gemini",
                    "content": random.text(12),
                    "thoughts": [],
                    "model": "gemini-2.5-flash",
                })));
                lines
            })?;
            let title = about.title.iter();
            title
                .map(|title| line(&json!({"$set": {"summary": title}})))
                .try_for_each(|line| out.write_all(&line))
        })
    }

    fn finish(&mut self) -> io::Result<u64> {
        let projects = json!({"projects": self.projects});
        file(&self.home.join("projects.json"), END, |out| {
            serde_json::to_writer_pretty(out, &projects).map_err(io::Error::other)
        })
    }
}
