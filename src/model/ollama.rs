//! Ollama's own chat: one JSON object a line.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::decoder::Event;
use super::piece::Piece;
use super::prompt::{finish, object};
use super::reading::{self, Sink};
use super::verdict::Report;
use super::{Api, FinishReason, Request};

/// The body of a request.
pub(super) fn body(request: &Request) -> Vec<u8> {
    let options = &request.config.options;
    let mut body = object([
        ("model", request.config.model.as_str().into()),
        ("messages", request.prompt().role_messages(true).into()),
        ("stream", true.into()),
    ]);
    let settings: Map<String, Value> = [
        ("num_ctx", options.num_ctx),
        ("num_predict", options.max_output),
    ]
    .into_iter()
    .filter_map(|(key, value)| Some((key.to_owned(), value?.into())))
    .collect();
    if let (false, Some(map)) = (settings.is_empty(), body.as_object_mut()) {
        map.insert("options".to_owned(), settings.into());
    }
    finish(body, options, Api::Ollama.own_keys())
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    done: bool,
    #[serde(default)]
    done_reason: Option<String>,
    #[serde(default)]
    prompt_eval_count: Option<u64>,
    #[serde(default)]
    eval_count: Option<u64>,
    #[serde(default)]
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Default, Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<Piece>,
    #[serde(default)]
    thinking: Option<Piece>,
    /// What some servers that speak as Ollama does call it.
    #[serde(default)]
    reasoning_content: Option<Piece>,
}

/// Reads one line.
pub(super) fn read(event: &Event<'_>, sink: &mut Sink) -> Result<(), Report> {
    let line: Line = reading::json(event)?;
    if line.error.is_some()
        && let Some(report) = reading::error_in(event)
    {
        return Err(report);
    }
    let message = line.message.unwrap_or_default();
    if let Some(piece) = message.thinking.or(message.reasoning_content) {
        sink.reasoning(piece)?;
    }
    if let Some(piece) = message.content {
        sink.text(piece)?;
    }
    sink.usage(line.prompt_eval_count, line.eval_count);
    if line.done {
        match line.done_reason.as_deref() {
            // Older servers give no reason.
            None | Some("" | "stop") => sink.finish(FinishReason::Stop),
            Some("length") => sink.finish(FinishReason::Length),
            Some(other) => return Err(reading::odd_end(other)),
        }
        sink.over();
    }
    Ok(())
}
