//! Anthropic's Messages.
//!
//! Standing instructions are no message, and the most tokens of an answer must
//! be told. Each text is a block of its own.

use serde::Deserialize;
use serde_json::Value;

use super::decoder::Event;
use super::piece::Piece;
use super::prompt::{Side, finish, object};
use super::reading::{self, Sink};
use super::verdict::Report;
use super::{Api, FinishReason, Request};

/// The version of the API that every request names.
pub(super) const VERSION: &str = "2023-06-01";

/// The most tokens of an answer where nothing is known of the model: what the
/// smallest of them allow.
const MAX_OUTPUT: u64 = 4096;

/// The body of a request.
pub(super) fn body(request: &Request) -> Vec<u8> {
    let options = &request.config.options;
    let prompt = request.prompt();
    let turns = prompt.turns.into_iter().map(|turn| {
        let role = match turn.side {
            Side::Person => "user",
            Side::Model => "assistant",
        };
        let blocks = turn.texts.into_iter().map(text_block);
        object([
            ("role", role.into()),
            ("content", blocks.collect::<Vec<_>>().into()),
        ])
    });
    let mut body = object([
        ("model", request.config.model.as_str().into()),
        (
            "max_tokens",
            options.max_output.unwrap_or(MAX_OUTPUT).into(),
        ),
        ("messages", turns.collect::<Vec<_>>().into()),
        ("stream", true.into()),
    ]);
    if let (Some(system), Some(map)) = (prompt.system, body.as_object_mut()) {
        map.insert("system".to_owned(), system.into());
    }
    finish(body, options, Api::Anthropic.own_keys())
}

fn text_block(text: String) -> Value {
    object([("type", "text".into()), ("text", text.into())])
}

#[derive(Deserialize)]
struct Step {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    message: Option<Message>,
    #[serde(default)]
    content_block: Option<Content>,
    #[serde(default)]
    delta: Option<Content>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    usage: Option<Tokens>,
}

/// A block as it begins, more of it, or how the message ends.
#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    text: Option<Piece>,
    #[serde(default)]
    thinking: Option<Piece>,
    #[serde(default)]
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default, rename = "input_tokens")]
    input: Option<u64>,
    #[serde(default, rename = "cache_creation_input_tokens")]
    into_cache: Option<u64>,
    #[serde(default, rename = "cache_read_input_tokens")]
    from_cache: Option<u64>,
    #[serde(default, rename = "output_tokens")]
    output: Option<u64>,
}

/// Reads one event.
pub(super) fn read(event: &Event<'_>, sink: &mut Sink) -> Result<(), Report> {
    let step: Step = reading::json(event)?;
    let usage = step.usage.or(step.message.and_then(|m| m.usage));
    if let Some(usage) = usage {
        take_usage(&usage, sink);
    }
    let content = step.content_block.or(step.delta);
    match step.kind.as_str() {
        "content_block_start" | "content_block_delta" => match content {
            Some(content) => take(content, sink),
            None => Ok(()),
        },
        "message_delta" => stop(content.and_then(|c| c.stop_reason).as_deref(), sink),
        "message_stop" => {
            sink.over();
            Ok(())
        }
        "error" | "" => match reading::error_in(event) {
            Some(report) => Err(report),
            None if step.kind.is_empty() => Ok(()),
            None => Err(reading::odd_end("error")),
        },
        // `ping`, `content_block_stop`, and kinds to come.
        _ => Ok(()),
    }
}

fn take(content: Content, sink: &mut Sink) -> Result<(), Report> {
    if let Some(piece) = content.thinking {
        sink.reasoning(piece)?;
    }
    match content.text {
        Some(piece) => sink.text(piece),
        None => Ok(()),
    }
}

/// Tokens that the cache held or takes are tokens of the request too.
fn take_usage(usage: &Tokens, sink: &mut Sink) {
    let input = usage.input.map(|input| {
        let cached = [usage.into_cache, usage.from_cache];
        cached
            .into_iter()
            .flatten()
            .fold(input, u64::saturating_add)
    });
    sink.usage(input, usage.output);
}

fn stop(reason: Option<&str>, sink: &mut Sink) -> Result<(), Report> {
    match reason {
        None => {}
        Some("end_turn" | "stop_sequence") => sink.finish(FinishReason::Stop),
        Some("max_tokens" | "model_context_window_exceeded") => {
            sink.finish(FinishReason::Length);
        }
        Some("refusal") => return Err(Report::refused("it refuses to go on")),
        Some(other) => return Err(reading::odd_end(other)),
    }
    Ok(())
}
