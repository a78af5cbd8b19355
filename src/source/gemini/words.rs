//! Whose words the parts of a message are.

use super::record::{Message, Part};
use crate::source::build::{Builder, Sink};
use crate::source::loose::{Content, Piece};

/// How text begins that the tool puts before the model, and nobody typed.
const CONTEXT: &[&str] = &["<session_context>", "<hook_context>"];
/// How a command of the tool begins.
const COMMAND: &[char] = &['/', '?'];
/// How the tool sends a request again whose answer was cut off.
const RETRY: &str = "System: Please continue.";
/// How the tool lets the model go on. A person can type it too.
const GO_ON: &str = "Please continue.";
/// What stands around the summary that `/compress` leaves, which the model
/// wrote.
const SNAPSHOT: (&str, &str) = ("<state_snapshot>", "</state_snapshot>");
/// What the tool puts into the model's mouth after such a summary.
const RECEIPT: &str = "Got it. Thanks for the additional context!";
/// What the tool puts around files that a message names.
const FILES_BEGIN: &str = "--- Content from referenced files ---";
const FILES_END: &str = "--- End of content ---";

/// A message, and what it is among the others.
pub(super) struct Turn<'a> {
    message: &'a Message,
    role: Role,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Its author's own.
    Plain,
    /// The summary that stands for what was compressed.
    Snapshot,
    /// The answer that the tool wrote to a summary.
    Receipt,
}

/// Messages in their order, each with what it is.
pub(super) fn turns(messages: &[Message]) -> impl Iterator<Item = Turn<'_>> {
    let next = messages.iter().skip(1).map(Some).chain([None]);
    let mut is_after_snapshot = false;
    messages.iter().zip(next).map(move |(message, next)| {
        let role = match next {
            _ if is_after_snapshot && is_receipt(message) => Role::Receipt,
            _ if is_a_snapshot(message) => Role::Snapshot,
            Some(next) if holds_a_snapshot(message) && is_receipt(next) => Role::Snapshot,
            _ => Role::Plain,
        };
        is_after_snapshot = role == Role::Snapshot;
        Turn { message, role }
    })
}

/// The texts of a content, without the model's reasoning.
fn pieces(content: Option<&Content<Part>>) -> impl Iterator<Item = &str> {
    let pieces = content.and_then(|content| content.0.as_deref());
    pieces.unwrap_or_default().iter().filter_map(text)
}

fn text(piece: &Piece<Part>) -> Option<&str> {
    match piece {
        Piece::Text(text) => Some(text),
        Piece::Block(part) if part.is_thought() => None,
        Piece::Block(part) => part.text.get(),
        Piece::Other => None,
    }
}

/// Whether a summary is all that a user's message is.
fn is_a_snapshot(message: &Message) -> bool {
    let (open, close) = SNAPSHOT;
    let mut texts = pieces(message.content.as_ref()).filter(|text| !text.trim().is_empty());
    let begins = |text: &str| text.trim_start().starts_with(open);
    let ends = |text: &str| text.trim_end().ends_with(close);
    let first = texts.next();
    let last = texts.last().or(first);
    message.kind.is("user")
        && (first.is_some_and(begins) || (last.is_some_and(ends) && holds_a_snapshot(message)))
}

fn holds_a_snapshot(message: &Message) -> bool {
    let holds = |text: &str| text.contains(SNAPSHOT.0);
    message.kind.is("user") && pieces(message.content.as_ref()).any(holds)
}

fn is_receipt(message: &Message) -> bool {
    let mut texts = pieces(message.content.as_ref()).filter(|text| !text.trim().is_empty());
    let is_it = texts.next().is_some_and(|text| text.trim() == RECEIPT);
    is_it && texts.next().is_none() && message.kind.is("gemini")
}

/// The texts of a message.
#[derive(Default)]
struct Texts {
    /// What the person or the model said.
    said: String,
    /// What the tool put beside it.
    injected: String,
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
    let Some(blocks) = &content.0 else {
        return texts;
    };
    let is_known = |piece: &Piece<Part>| match piece {
        Piece::Text(_) => true,
        Piece::Block(part) => part.is_known(),
        Piece::Other => false,
    };
    texts.is_known = blocks.is_empty() || blocks.iter().any(is_known);
    if !message.kind.is("user") {
        texts.said = pieces(Some(content)).collect();
        return texts;
    }
    let mut in_files = false;
    for text in pieces(Some(content)) {
        let edge = text.trim();
        in_files |= edge == FILES_BEGIN;
        if in_files || is_context(edge) {
            texts.injected.push_str(text);
        } else {
            texts.said.push_str(text);
        }
        in_files &= edge != FILES_END;
    }
    let typed: String = pieces(message.display_content.as_ref()).collect();
    if is_nobodys(message, &texts.said, &typed) {
        texts.injected.push_str(&texts.said);
        texts.said.clear();
    } else if !typed.is_empty() {
        if typed != texts.said {
            texts.injected.insert_str(0, &texts.said);
        }
        texts.said = typed;
    }
    texts
}

fn is_context(text: &str) -> bool {
    CONTEXT.iter().any(|with| text.starts_with(with))
}

/// Whether none of a user's message is a person's words to the model. `sent`
/// is what the model got but for contexts and files, `typed` what the screen
/// showed instead.
fn is_nobodys(message: &Message, sent: &str, typed: &str) -> bool {
    let sent = sent.trim();
    let shown = if typed.is_empty() { sent } else { typed.trim() };
    // Of a message that begins like this the tool sends nothing on.
    let first = pieces(message.content.as_ref()).find(|text| !text.trim().is_empty());
    shown.is_empty()
        || shown.starts_with(COMMAND)
        || sent == RETRY
        || (sent == GO_ON && shown != GO_ON)
        || first.is_some_and(|text| is_context(text.trim_start()))
}

/// What a summary says.
fn summary(message: &Message) -> String {
    pieces(message.content.as_ref()).collect()
}

/// Whether a person or the model says anything in a message.
pub(super) fn is_said(turn: &Turn<'_>) -> bool {
    let message = turn.message;
    let has_author = message.kind.is("user") || message.kind.is("gemini");
    match turn.role {
        Role::Plain => has_author && !texts(message).said.is_empty(),
        Role::Snapshot => true,
        Role::Receipt => false,
    }
}

/// What a person typed.
pub(super) fn prompt(turn: &Turn<'_>) -> Option<String> {
    let is_it = turn.message.kind.is("user") && turn.role == Role::Plain;
    let said = is_it.then(|| texts(turn.message).said);
    said.filter(|said| !said.is_empty())
}

/// Whether a message is of a known form.
pub(super) fn is_known(message: &Message) -> bool {
    match message.kind.get() {
        Some("user" | "gemini") => texts(message).is_known,
        Some("info" | "error" | "warning") => true,
        _ => false,
    }
}

/// Emits what a message says; `false` when it is of no known form.
pub(super) fn emit<S: Sink>(builder: &mut Builder<S>, turn: &Turn<'_>) -> bool {
    let message = turn.message;
    let time = message.timestamp.millis();
    match (turn.role, message.kind.get()) {
        (Role::Snapshot, _) => {
            let id = message.id.get().unwrap_or_default();
            builder.checkpoint_in_place(time, id, summary(message));
            true
        }
        (Role::Receipt, _) | (_, Some("info" | "error" | "warning")) => true,
        (_, Some("user")) => {
            let texts = texts(message);
            builder.person(time, &texts.said);
            builder.injected(time, "gemini", &texts.injected);
            texts.is_known
        }
        (_, Some("gemini")) => {
            let texts = texts(message);
            builder.model(time, message.model.get().unwrap_or_default(), &texts.said);
            for call in message.tool_calls.iter().flat_map(|calls| &calls.0) {
                let id = call.0.id.get().unwrap_or_default();
                if !call.0.result.0.is_empty() {
                    builder.tool_result(time, id, &call.0.result.0);
                }
            }
            texts.is_known
        }
        _ => false,
    }
}
