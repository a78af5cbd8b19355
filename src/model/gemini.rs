//! Google's Gemini, by `streamGenerateContent`.
//!
//! The model is part of the address. There is no last event: the answer is
//! whole when the stream ends after a finish reason.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value;

use super::decoder::Event;
use super::piece::Piece;
use super::prompt::{Side, finish, object};
use super::reading::{self, Sink};
use super::verdict::Report;
use super::{Api, FinishReason, Request};

/// The address of a model behind the base URL. Whatever the model's name
/// holds, it stays one segment of the path.
pub(super) fn path(model: &str) -> String {
    let name = model.strip_prefix("models/").unwrap_or(model);
    let mut path = "models/".to_owned();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                path.push(char::from(byte));
            }
            // Writing to a String can't fail.
            _ => drop(write!(path, "%{byte:02X}")),
        }
    }
    path + ":streamGenerateContent?alt=sse"
}

/// The body of a request. The model is not in it.
pub(super) fn body(request: &Request) -> Vec<u8> {
    let options = &request.config.options;
    let prompt = request.prompt();
    let turns = prompt.turns.into_iter().map(|turn| {
        let role = match turn.side {
            Side::Person => "user",
            Side::Model => "model",
        };
        object([("role", role.into()), ("parts", parts(turn.texts))])
    });
    let mut body = object([("contents", turns.collect::<Vec<_>>().into())]);
    if let Some(map) = body.as_object_mut() {
        if let Some(system) = prompt.system {
            let system = object([("parts", parts(vec![system]))]);
            map.insert("systemInstruction".to_owned(), system);
        }
        if let Some(max) = options.max_output {
            let config = object([("maxOutputTokens", max.into())]);
            map.insert("generationConfig".to_owned(), config);
        }
    }
    finish(body, options, Api::Gemini.own_keys())
}

fn parts(texts: Vec<String>) -> Value {
    texts
        .into_iter()
        .map(|text| object([("text", text.into())]))
        .collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    #[serde(default)]
    candidates: Option<Vec<Candidate>>,
    #[serde(default)]
    prompt_feedback: Option<Feedback>,
    #[serde(default)]
    usage_metadata: Option<Tokens>,
    #[serde(default)]
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    index: u64,
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    finish_message: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    text: Option<Piece>,
    #[serde(default)]
    thought: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    #[serde(default)]
    block_reason: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default, rename = "promptTokenCount")]
    prompt: Option<u64>,
    #[serde(default, rename = "candidatesTokenCount")]
    answer: Option<u64>,
    #[serde(default, rename = "thoughtsTokenCount")]
    thoughts: Option<u64>,
}

/// Reads one event.
pub(super) fn read(event: &Event<'_>, sink: &mut Sink) -> Result<(), Report> {
    let chunk: Chunk = reading::json(event)?;
    if chunk.error.is_some()
        && let Some(report) = reading::error_in(event)
    {
        return Err(report);
    }
    if let Some(reason) = chunk.prompt_feedback.and_then(|f| f.block_reason) {
        return Err(Report::refused(format!("the request is blocked: {reason}")));
    }
    if let Some(usage) = chunk.usage_metadata {
        let output = [usage.answer, usage.thoughts];
        let output = output.into_iter().flatten().reduce(u64::saturating_add);
        sink.usage(usage.prompt, output);
    }
    for candidate in chunk.candidates.unwrap_or_default() {
        // Only one answer was asked for.
        if candidate.index == 0 {
            take(candidate, sink)?;
        }
    }
    Ok(())
}

fn take(candidate: Candidate, sink: &mut Sink) -> Result<(), Report> {
    let parts = candidate.content.and_then(|content| content.parts);
    for part in parts.unwrap_or_default() {
        match part.text {
            Some(piece) if part.thought => sink.reasoning(piece)?,
            Some(piece) => sink.text(piece)?,
            None => {}
        }
    }
    let reason = match candidate.finish_reason.as_deref() {
        None | Some("" | "FINISH_REASON_UNSPECIFIED") => return Ok(()),
        Some("STOP") => {
            sink.finish(FinishReason::Stop);
            return Ok(());
        }
        Some("MAX_TOKENS") => {
            sink.finish(FinishReason::Length);
            return Ok(());
        }
        Some(reason) => reason,
    };
    let refused = [
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
    ];
    let words = match candidate.finish_message {
        Some(message) => format!("{reason}: {message}"),
        None => reason.to_owned(),
    };
    if refused.contains(&reason) {
        return Err(Report::refused(format!("it ended the answer: {words}")));
    }
    Err(reading::odd_end(&words))
}
