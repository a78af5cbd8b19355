//! Responses: OpenAI's newer wire format.
//!
//! Nothing is stored at the server (`store` is false): each request holds the
//! whole conversation. The answer's end is one of three events; text that only
//! the last one holds was told before, piece by piece.

use serde::Deserialize;

use super::decoder::Event;
use super::piece::Piece;
use super::prompt::{finish, object};
use super::reading::{self, Sink};
use super::verdict::{Report, Verdict};
use super::{Api, FinishReason, Request};

/// The body of a request.
pub(super) fn body(request: &Request) -> Vec<u8> {
    let options = &request.config.options;
    let prompt = request.prompt();
    let instructions = prompt.system.clone();
    let mut body = object([
        ("model", request.config.model.as_str().into()),
        ("input", prompt.role_messages(false).into()),
        ("stream", true.into()),
        ("store", false.into()),
    ]);
    if let Some(map) = body.as_object_mut() {
        if let Some(instructions) = instructions {
            map.insert("instructions".to_owned(), instructions.into());
        }
        if let Some(max) = options.max_output {
            map.insert("max_output_tokens".to_owned(), max.into());
        }
    }
    finish(body, options, Api::OpenaiResponses.own_keys())
}

#[derive(Deserialize)]
struct Step {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    delta: Option<Piece>,
    #[serde(default)]
    response: Option<Response>,
}

#[derive(Default, Deserialize)]
struct Response {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    incomplete_details: Option<Incomplete>,
    #[serde(default)]
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Incomplete {
    #[serde(default)]
    reason: Option<String>,
}

/// Reads one event.
pub(super) fn read(event: &Event<'_>, sink: &mut Sink) -> Result<(), Report> {
    if event.data.trim() == "[DONE]" {
        sink.over();
        return Ok(());
    }
    let step: Step = reading::json(event)?;
    let kind = if step.kind.is_empty() {
        event.name
    } else {
        step.kind.as_str()
    };
    let response = step.response.unwrap_or_default();
    if let Some(usage) = &response.usage {
        sink.usage(usage.input_tokens, usage.output_tokens);
    }
    match (kind, step.delta) {
        ("response.output_text.delta", Some(piece)) => sink.text(piece),
        (
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta",
            Some(piece),
        ) => sink.reasoning(piece),
        ("response.refusal.delta", Some(piece)) => {
            sink.refuse(&piece);
            Ok(())
        }
        (
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled",
            _,
        ) => {
            let kind = kind.strip_prefix("response.").unwrap_or(kind);
            ended(kind, response, sink)
        }
        ("error", _) => Err(reading::error_in(event).unwrap_or_else(|| failed(None))),
        ("", _) => match reading::error_in(event) {
            Some(report) => Err(report),
            None => Ok(()),
        },
        // There are many kinds of events, and more to come.
        _ => Ok(()),
    }
}

/// The last event. What the response says of itself counts more than the
/// event's name: an answer that was cut may come as completed.
fn ended(kind: &str, response: Response, sink: &mut Sink) -> Result<(), Report> {
    let details = response.incomplete_details;
    let reason = details.and_then(|details| details.reason);
    let finish = match (
        response.status.as_deref().unwrap_or(kind),
        reason.as_deref(),
    ) {
        ("completed", None) => FinishReason::Stop,
        ("completed" | "incomplete", Some("max_output_tokens")) | ("incomplete", None) => {
            FinishReason::Length
        }
        ("completed" | "incomplete", Some("content_filter")) => {
            return Err(Report::refused("its content filter ended the answer"));
        }
        ("completed" | "incomplete", Some(other)) => return Err(reading::odd_end(other)),
        _ => return Err(failed(response.error.as_ref())),
    };
    sink.finish(finish);
    sink.over();
    Ok(())
}

fn failed(error: Option<&serde_json::Value>) -> Report {
    let told = error.and_then(Report::of_error);
    told.unwrap_or_else(|| Report::new(Verdict::Rejected, "it does not tell why"))
}
