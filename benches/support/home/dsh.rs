//! DeepSeek Harness: one compressed file a session, each in its folder.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::noise::Noise;
use super::random::Random;
use super::{About, END, Kind, Tool, file, line, turns};

pub struct Dsh {
    sessions: PathBuf,
    /// A frame a line.
    noise: Noise,
}

fn frame(lines: &[u8]) -> Vec<u8> {
    zrip::compress(lines, 1).unwrap()
}

impl Dsh {
    pub fn new(home: &Path) -> Self {
        Self {
            sessions: home.join(".dsh/sessions"),
            noise: Noise::new(5, |filling, random| {
                frame(&line(&json!({
                    "type": "assistant/attempt",
                    "seq": 1_000_000 + random.below(1_000_000),
                    "time": END,
                    "data": {"stream": [{"type": "chunk", "text": filling}]},
                })))
            }),
        }
    }
}

impl Tool for Dsh {
    fn write(&mut self, about: &About, random: &mut Random) -> io::Result<u64> {
        let id = |uuid: &str| format!("session-{uuid}");
        let mut header = json!({
            "type": "session",
            "version": 4,
            "id": id(&about.id),
            "createdAt": about.created_at,
            "cwd": about.cwd,
            "isSeeded": false,
            "delegationDepth": 0,
        });
        match &about.kind {
            Kind::Subagent(parent) => {
                header["parentSession"] = json!(id(parent));
                header["origin"] = json!("subagent");
                header["delegationDepth"] = json!(1);
            }
            Kind::Fork(parent, _) => header["parentSession"] = json!(id(parent)),
            _ => {}
        }
        let slug = about.cwd.trim_matches('/').replace('/', "-");
        let path = self
            .sessions
            .join(format!("--{slug}--"))
            .join(id(&about.id))
            .join("session.v4.jsonl.zstd");
        let mut seq = 0;
        let mut event = |kind: &str, data: serde_json::Value| {
            seq += 1;
            let mut event = json!({
                "type": kind,
                "seq": seq - 1,
                "time": about.created_at + seq,
                "data": data,
            });
            if kind.ends_with("/message") {
                event["surfaceOp"] = json!("append");
            }
            line(&event)
        };
        file(&path, about.updated_at, |out| {
            out.write_all(&frame(&line(&header)))?;
            if about.kind == Kind::Stub {
                return Ok(());
            }
            turns(out, about, &self.noise, random, |number, random| {
                let prompt = match (number, &about.kind) {
                    (0, Kind::Fork(_, prompt)) => prompt.clone(),
                    (0, _) => about.prompt.clone(),
                    _ => random.prompt(),
                };
                let mut lines = event(
                    "user/message",
                    json!({
                        "content": [{"type": "text", "text": prompt}],
                        "source": {"kind": "user"},
                        "role": "user",
                        "id": random.uuid(),
                    }),
                );
                let answer = json!({
                    "role": "assistant",
                    "content": [{"type": "text", "text": random.text(12)}],
                    "source": {"kind": "model", "provider": "deepseek-official"},
                    "id": random.uuid(),
                });
                lines.extend(event(
                    "assistant/message",
                    json!({"turn": number + 1, "step": 1, "message": answer}),
                ));
                if let Some(title) = about.title.as_ref().filter(|_| number == 0) {
                    lines.extend(event("session/title", json!({"title": title})));
                }
                frame(&lines)
            })
        })
    }
}
