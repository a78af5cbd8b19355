//! Codex: one file of lines a session, in a folder a day.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::noise::Noise;
use super::random::Random;
use super::{About, END, Kind, Tool, file, line, timestamp, turns};

pub struct Codex {
    home: PathBuf,
    noise: Noise,
    /// The names that people gave.
    names: Vec<u8>,
}

impl Codex {
    pub fn new(home: &Path) -> Self {
        Self {
            home: home.join(".codex"),
            noise: Noise::new(3, |filling, random| {
                line(&json!({
                    "timestamp": timestamp(END),
                    "type": "response_item",
                    "payload": {
                        "type": "function_call_output",
                        "call_id": random.uuid(),
                        "output": filling,
                    },
                }))
            }),
            names: Vec::new(),
        }
    }
}

impl Tool for Codex {
    fn write(&mut self, about: &About, random: &mut Random) -> io::Result<u64> {
        let begun = timestamp(about.created_at);
        let (day, time) = begun.split_once('T').unwrap();
        let name = format!(
            "sessions/{}/rollout-{day}T{}-{}.jsonl",
            day.replace('-', "/"),
            time[..8].replace(':', "-"),
            about.id
        );
        if let Some(title) = about.title.as_ref().filter(|_| about.kind == Kind::Session) {
            self.names.extend(line(
                &json!({"id": about.id, "thread_name": title, "updated_at": begun}),
            ));
        }
        let record = |kind: &str, payload: serde_json::Value| {
            line(&json!({"timestamp": begun, "type": kind, "payload": payload}))
        };
        let mut meta = json!({
            "id": about.id,
            "timestamp": begun,
            "cwd": about.cwd,
            "originator": "codex_cli_rs",
            "cli_version": "0.120.0",
            "source": "cli",
            "base_instructions": {"text": random.text(400)},
        });
        match &about.kind {
            Kind::Subagent(parent) => {
                meta["source"] =
                    json!({"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}});
            }
            Kind::Fork(parent, _) => meta["forked_from_id"] = json!(parent),
            _ => {}
        }
        let message = |role: &str, text: &str| {
            let part = match role {
                "assistant" => "output_text",
                _ => "input_text",
            };
            let content = json!([{"type": part, "text": text}]);
            record(
                "response_item",
                json!({"type": "message", "role": role, "content": content}),
            )
        };
        file(&self.home.join(name), about.updated_at, |out| {
            out.write_all(&record("session_meta", meta))?;
            if about.kind == Kind::Stub {
                return Ok(());
            }
            out.write_all(&message(
                "user",
                &format!(
                    "<environment_context>\n  <cwd>{}</cwd>\n</environment_context>",
                    about.cwd
                ),
            ))?;
            turns(out, about, &self.noise, random, |number, random| {
                let prompt = match (number, &about.kind) {
                    (0, Kind::Fork(_, prompt)) => prompt.clone(),
                    (0, _) => about.prompt.clone(),
                    _ => random.prompt(),
                };
                let mut lines = message("user", &prompt);
                let shown = json!({"type": "user_message", "message": prompt, "kind": "plain"});
                lines.extend(record("event_msg", shown));
                let answer = random.text(12);
                let shown = json!({"type": "agent_message", "message": answer});
                lines.extend(record("event_msg", shown));
                lines.extend(message("assistant", &answer));
                lines
            })
        })
    }

    fn finish(&mut self) -> io::Result<u64> {
        file(&self.home.join("session_index.jsonl"), END, |out| {
            out.write_all(&self.names)
        })
    }
}
