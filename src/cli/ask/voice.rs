//! What a turn tells: the answer on stdout and the rest on stderr, or all of it
//! as JSON events on stdout.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::cli::{CliError, Output, output};
use crate::figures::{self, counted, thousands};
use crate::model::offline;
use crate::model::{FinishReason, Usage, Waiting};
use crate::reference::frame::{FullSnapshot, Notice, PreparedReference};
use crate::reference::ports::ModelRoute;
use crate::session::SessionId;
use crate::tool::Tool;

/// Tells what happens. Everything is written out at once.
pub(super) struct Voice<'o>(&'o mut Output);

impl<'o> Voice<'o> {
    pub(super) fn new(out: &'o mut Output) -> Self {
        Self(out)
    }

    fn event(&mut self, event: &Value) -> Result<(), CliError> {
        self.0.json(event)?;
        self.0.flush()
    }

    /// The session that the message was written to.
    pub(super) fn session(&mut self, id: &SessionId, is_new: bool) -> Result<(), CliError> {
        if self.0.is_json() {
            return self.event(&json!({"type": "session", "sessionId": id, "new": is_new}));
        }
        let new = if is_new { " (new)" } else { "" };
        output::tell(format!("session {id}{new}"));
        Ok(())
    }

    /// A session that the message cites, and what of it is sent.
    pub(super) fn reference(&mut self, prepared: &PreparedReference) -> Result<(), CliError> {
        if self.0.is_json() {
            return self.event(&reference_event(prepared));
        }
        let facts = prepared.retained.facts;
        let mut told = format!(
            "cites {:?} ({}): {} of {}",
            prepared.reference.label,
            Tool::of(&prepared.reference.session_id),
            facts.retained_messages,
            counted(facts.original_messages, "message"),
        );
        if let Some(notice) = &prepared.notice {
            let bytes = thousands(notice.omitted_bytes as u64);
            // Writing to a String can't fail.
            let _ = write!(told, ", {bytes} bytes left out; {}", place(notice));
        }
        output::tell(told);
        if let Some(damage) = &prepared.damage {
            let label = &prepared.reference.label;
            output::tell(format!("{label:?} can't be read whole: {damage}"));
        }
        Ok(())
    }

    /// The model is asked.
    pub(super) fn request(&mut self, route: &ModelRoute, turn: u64) -> Result<(), CliError> {
        let ModelRoute { provider, model } = route;
        if self.0.is_json() {
            return self.event(&json!({
                "type": "request", "turn": turn, "provider": provider, "model": model,
            }));
        }
        if provider == offline::PROVIDER {
            output::tell(
                "the offline model answers, which is no language model; choose one with \
                 --model provider/model, or as `model` in config.toml",
            );
        }
        Ok(())
    }

    /// More of the answer.
    pub(super) fn text(&mut self, text: &str) -> Result<(), CliError> {
        if self.0.is_json() {
            return self.event(&json!({"type": "delta", "text": text}));
        }
        self.0.stream(text)
    }

    /// More of the model's reasoning, which is no part of the answer.
    pub(super) fn reasoning(&mut self, text: &str) -> Result<(), CliError> {
        if self.0.is_json() {
            return self.event(&json!({"type": "reasoning", "text": text}));
        }
        Ok(())
    }

    /// The model is asked again after a while.
    pub(super) fn waiting(&mut self, waiting: &Waiting) -> Result<(), CliError> {
        let Waiting {
            attempt,
            wait,
            code,
            why,
        } = waiting;
        if self.0.is_json() {
            let seconds = wait.as_secs_f64();
            return self.event(&json!({
                "type": "waiting", "attempt": attempt, "seconds": seconds,
                "code": code, "message": why,
            }));
        }
        let wait = figures::wait(*wait);
        output::tell(format!("{why}; asking again in {wait} (Ctrl-C stops)"));
        Ok(())
    }

    /// What the request took so far.
    pub(super) fn usage(&mut self, usage: Usage) -> Result<(), CliError> {
        if self.0.is_json() {
            return self.event(&json!({
                "type": "usage",
                "inputTokens": usage.input_tokens,
                "outputTokens": usage.output_tokens,
            }));
        }
        Ok(())
    }

    /// Something to know that stops nothing.
    pub(super) fn notice(&mut self, message: &str) -> Result<(), CliError> {
        if self.0.is_json() {
            return self.event(&json!({"type": "notice", "message": message}));
        }
        output::tell(message);
        Ok(())
    }

    /// The answer has ended, and is in the session.
    pub(super) fn finished(&mut self, finish: FinishReason) -> Result<(), CliError> {
        if self.0.is_json() {
            return self.event(&json!({"type": "finished", "finish": finish.as_str()}));
        }
        Ok(())
    }

    /// No more text comes: what was printed ends with its line.
    pub(super) fn end(&mut self) -> Result<(), CliError> {
        self.0.end_stream()
    }
}

fn reference_event(prepared: &PreparedReference) -> Value {
    let tool = Tool::of(&prepared.reference.session_id).name();
    let mut event = Map::new();
    let mut add = |key: &str, value: Value| drop(event.insert(key.to_owned(), value));
    add("type", "reference".into());
    add("sessionId", json!(prepared.reference.session_id));
    add("label", prepared.reference.label.clone().into());
    add("tool", tool.into());
    add("facts", json!(prepared.retained.facts));
    add("bytes", prepared.retained.json.len().into());
    add("budget", prepared.budget.into());
    if let Some(notice) = &prepared.notice {
        add("notice", notice.to_json());
    }
    if let Some(damage) = &prepared.damage {
        add("damage", damage.to_string().into());
    }
    Value::Object(event)
}

/// Where the full text of what was left out is.
fn place(notice: &Notice) -> String {
    match &notice.full_snapshot {
        FullSnapshot::Saved(spill) => format!("full text: ibid spill show {}", spill.locator),
        FullSnapshot::NotConfigured => "full text not kept".to_owned(),
        FullSnapshot::SaveFailed(why) => format!("full text could not be kept: {why}"),
    }
}
