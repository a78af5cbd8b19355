//! Whose words the parts of a message are.

use super::record::{Message, Part};
use crate::source::build::{Builder, Sink};
use crate::source::loose::Piece;

/// How text begins that the tool puts before the model, and nobody typed.
const CONTEXT: &[&str] = &["<session_context>", "<hook_context>"];
/// What stands around the summary that `/compress` leaves, which the model
/// wrote.
const SNAPSHOT: (&str, &str) = ("<state_snapshot>", "</state_snapshot>");
/// What the tool has the model say to that.
const SCRIPTED: &str = "Got it. Thanks for the additional context!";
/// What the tool asks where an answer broke off.
const CONTINUE: &str = "System: Please continue.";
/// How a command of the tool begins.
const COMMAND: &[char] = &['/', '?'];
/// What the tool puts around files that a message names.
const FILES_BEGIN: &str = "--- Content from referenced files ---";
const FILES_END: &str = "--- End of content ---";

/// The texts of a message.
#[derive(Default)]
struct Texts {
    /// What the person or the model said.
    said: String,
    /// What the tool put beside it.
    injected: String,
    /// A summary of what came before.
    summary: String,
    /// Whether its content is of a known form.
    is_known: bool,
}

fn texts(message: &Message) -> Texts {
    let mut texts = Texts::default();
    let Some(content) = &message.content else {
        // A message of tool calls alone.
        texts.is_known = message.tool_calls.is_some();
        return texts;
    };
    let Some(pieces) = &content.0 else {
        return texts;
    };
    let is_user = message.kind.is("user");
    let is_known = |piece: &Piece<Part>| match piece {
        Piece::Text(_) => true,
        Piece::Block(part) => part.is_known(),
        Piece::Other => false,
    };
    texts.is_known = pieces.is_empty() || pieces.iter().any(is_known);
    let mut in_files = false;
    for piece in pieces {
        let text = match piece {
            Piece::Text(text) => text,
            Piece::Block(part) if part.is_thought() => continue,
            Piece::Block(part) => part.text.get().unwrap_or_default(),
            Piece::Other => continue,
        };
        let edge = text.trim();
        in_files |= is_user && edge == FILES_BEGIN;
        if in_files || (is_user && CONTEXT.iter().any(|with| edge.starts_with(with))) {
            texts.injected.push_str(text);
        } else {
            texts.said.push_str(text);
        }
        in_files &= edge != FILES_END;
    }
    if !is_user {
        return texts;
    }
    let said = texts.said.trim();
    if said.is_empty() || said.starts_with(COMMAND) || said == CONTINUE {
        texts.injected.push_str(&texts.said);
        texts.said.clear();
    } else if is_snapshot(said) {
        texts.summary = std::mem::take(&mut texts.said);
    }
    texts
}

fn is_snapshot(text: &str) -> bool {
    let (open, close) = SNAPSHOT;
    (text.starts_with(open) && text.contains(close))
        || (text.ends_with(close) && text.contains(open))
}

/// Whether a message is a summary of what came before.
pub(super) fn is_summary(message: &Message) -> bool {
    message.kind.is("user") && !texts(message).summary.is_empty()
}

/// Whether a person or the model says anything in a message.
pub(super) fn is_said(message: &Message) -> bool {
    let says_anything = |texts: Texts| !texts.said.is_empty() || !texts.summary.is_empty();
    (message.kind.is("user") || message.kind.is("gemini")) && says_anything(texts(message))
}

/// What a person typed.
pub(super) fn prompt(message: &Message) -> Option<String> {
    message
        .kind
        .is("user")
        .then(|| texts(message).said)
        .filter(|said| !said.is_empty())
}

/// Whether a message is of a known form.
pub(super) fn is_known(message: &Message) -> bool {
    match message.kind.get() {
        Some("user" | "gemini") => texts(message).is_known,
        Some("info" | "error" | "warning") => true,
        _ => false,
    }
}

/// Emits what a message says; `false` when it is of no known form. What the
/// model says right behind a summary may be the tool's.
pub(super) fn emit<S: Sink>(
    builder: &mut Builder<S>,
    message: &Message,
    is_behind_a_summary: bool,
) -> bool {
    let time = message.timestamp.millis();
    match message.kind.get() {
        Some("user") => {
            let texts = texts(message);
            builder.person(time, &texts.said);
            if !texts.summary.is_empty() {
                let id = message.id.get().unwrap_or_default();
                builder.checkpoint_in_place(time, id, &texts.summary);
            }
            builder.injected(time, "gemini", &texts.injected);
            texts.is_known
        }
        Some("gemini") => {
            let texts = texts(message);
            if !(is_behind_a_summary && texts.said.trim() == SCRIPTED) {
                builder.model(time, message.model.get().unwrap_or_default(), &texts.said);
            }
            for call in message.tool_calls.iter().flat_map(|calls| &calls.0) {
                let id = call.0.id.get().unwrap_or_default();
                if !call.0.result.0.is_empty() {
                    builder.tool_result(time, id, &call.0.result.0);
                }
            }
            texts.is_known
        }
        Some("info" | "error" | "warning") => true,
        _ => false,
    }
}
