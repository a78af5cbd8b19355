//! Chat completions: OpenAI's first wire format, which most servers speak.
//!
//! Beside what OpenAI sends, this reads `reasoning_content` (DeepSeek, vLLM,
//! llama.cpp, xAI) and `reasoning` (OpenRouter, Groq, newer vLLM), and errors
//! within the stream (OpenRouter, vLLM, llama.cpp). Usage comes in a last
//! piece without choices, so the end is `[DONE]` or the end of the stream, and
//! never the finish reason itself.

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
    let mut body = object([
        ("model", request.config.model.as_str().into()),
        ("messages", request.prompt().role_messages(true).into()),
        ("stream", true.into()),
        ("stream_options", object([("include_usage", true.into())])),
    ]);
    if let (Some(max), Some(map)) = (options.max_output, body.as_object_mut()) {
        map.insert("max_tokens".to_owned(), max.into());
    }
    finish(body, options, Api::OpenaiChat.own_keys())
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: u64,
    #[serde(default)]
    delta: Option<Message>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<Piece>,
    #[serde(default)]
    reasoning_content: Option<Piece>,
    #[serde(default)]
    reasoning: Option<Piece>,
    #[serde(default)]
    refusal: Option<Piece>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
}

/// Reads one event.
pub(super) fn read(event: &Event<'_>, sink: &mut Sink) -> Result<(), Report> {
    if event.data.trim() == "[DONE]" {
        sink.over();
        return Ok(());
    }
    let chunk: Chunk = reading::json(event)?;
    if (chunk.error.is_some() || chunk.choices.is_none())
        && let Some(report) = reading::error_in(event)
    {
        return Err(report);
    }
    for choice in chunk.choices.unwrap_or_default() {
        // Only one answer was asked for.
        if choice.index == 0 {
            take(choice, sink)?;
        }
    }
    if let Some(usage) = chunk.usage {
        sink.usage(usage.prompt_tokens, usage.completion_tokens);
    }
    Ok(())
}

fn take(choice: Choice, sink: &mut Sink) -> Result<(), Report> {
    let delta = choice.delta.unwrap_or_default();
    // Some servers send the same reasoning under both names.
    let reasoning = delta.reasoning_content.filter(|piece| !piece.is_empty());
    if let Some(piece) = reasoning.or(delta.reasoning) {
        sink.reasoning(piece)?;
    }
    if let Some(piece) = delta.content {
        sink.text(piece)?;
    }
    if let Some(words) = delta.refusal {
        sink.refuse(&words);
    }
    match choice.finish_reason.as_deref() {
        None | Some("") => {}
        Some("stop" | "eos" | "eos_token" | "stop_sequence" | "end_turn") => {
            sink.finish(FinishReason::Stop);
        }
        Some("length" | "max_tokens" | "model_length") => sink.finish(FinishReason::Length),
        Some("content_filter") => {
            return Err(Report::refused("its content filter ended the answer"));
        }
        Some("insufficient_system_resource") => {
            return Err(Report::new(
                Verdict::Overloaded,
                "it has too much to do to go on",
            ));
        }
        Some(other) => return Err(reading::odd_end(other)),
    }
    Ok(())
}
