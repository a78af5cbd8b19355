//! What of an event is shown, and how it reads.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::chat::{ATTEMPT, FINISH, KEPT, is_of_summary, leaves};
use crate::model::FinishReason;
use crate::reference::frame::TAG;
use crate::reference::mention;
use crate::sanitize;
use crate::session::{Block, Event, Message, MessageKind, Payload, SessionId};
use crate::text::Text;
use crate::tui::human::{counted, human_bytes, human_count};
use crate::tui::pager::piece::{Body, Kind, Piece, shared, split};

/// What is said behind an answer that the model could not end.
const CUT_AT_LIMIT: &str = "cut at the model's length limit";
/// What is said where a compaction was given up.
const NOT_COMPACTED: &str = "the summary was given up · nothing was compacted";
/// How much of a tool's result is looked at for its line, in bytes.
const TOOL_LINE_BYTES: usize = 400;

/// The pieces that an event shows; none for what is no part of the dialogue.
pub(super) fn pieces(
    event: &Arc<Event>,
    tool_of: &dyn Fn(&SessionId) -> Option<String>,
) -> Vec<Piece> {
    match &event.payload {
        Payload::Message {
            kind,
            message,
            envelope,
        } => match kind {
            MessageKind::User if message.source.is_person() => said_by_person(event, message),
            MessageKind::User if message.source.is_checkpoint() => checkpoint(event, message),
            MessageKind::User if message.source.is_session_reference() => {
                citations(message, tool_of)
            }
            MessageKind::Assistant => answer(event, message, envelope),
            MessageKind::ToolResult => vec![tool_line(message)],
            MessageKind::User | MessageKind::System => Vec::new(),
        },
        Payload::LogOnly { kind, data } if kind == ATTEMPT => attempt(data),
        Payload::LogOnly { .. } => Vec::new(),
    }
}

fn who(source: &Map<String, Value>) -> &str {
    ["provider", "model"]
        .iter()
        .filter_map(|key| source.get(*key).and_then(Value::as_str))
        .find(|name| !name.is_empty())
        .unwrap_or("assistant")
}

/// The speaker's name and the text blocks; nothing when there is no text.
fn said(speaker: Piece, event: &Arc<Event>, message: &Message) -> Vec<Piece> {
    let mut pieces = vec![speaker];
    for (place, block) in message.content.iter().enumerate() {
        if let Some(text) = block.as_text().filter(|text| !text.is_empty()) {
            pieces.extend(block_text(event, place, text));
        }
    }
    if pieces.len() == 1 {
        pieces.clear();
    }
    pieces
}

/// What a model answered, and whether it came to the end that the model had
/// in mind.
fn answer(event: &Arc<Event>, message: &Message, envelope: &Map<String, Value>) -> Vec<Piece> {
    let speaker = Piece::own(Kind::Model, who(&message.source.rest));
    let mut pieces = said(speaker, event, message);
    let finish = envelope.get(FINISH).and_then(Value::as_str);
    if !pieces.is_empty() && finish == Some(FinishReason::Length.as_str()) {
        pieces.push(Piece::own(Kind::Interrupted, CUT_AT_LIMIT));
    }
    pieces
}

/// The text stays in its event: nothing is copied.
fn block_text(event: &Arc<Event>, place: usize, text: &str) -> Vec<Piece> {
    split(text)
        .map(|range| Piece {
            kind: Kind::Text,
            body: Body::Block(Arc::clone(event), place, range),
        })
        .collect()
}

fn said_by_person(event: &Arc<Event>, message: &Message) -> Vec<Piece> {
    let mut pieces = vec![Piece::own(Kind::You, "You")];
    for (place, block) in message.content.iter().enumerate() {
        match block {
            Block::Text(block) => match mention::parse(&block.text) {
                Ok(parsed) if !parsed.references.is_empty() => {
                    let text: Text = parsed.text.into();
                    pieces.extend(shared(Kind::Text, &text, 0..text.len()));
                }
                _ => pieces.extend(block_text(event, place, &block.text)),
            },
            Block::Other(block) => {
                let kind = block.get("type").and_then(Value::as_str);
                pieces.push(Piece::own(
                    Kind::Remark,
                    format!("[{}]", kind.unwrap_or("attachment")),
                ));
            }
        }
    }
    pieces
}

fn checkpoint(event: &Arc<Event>, message: &Message) -> Vec<Piece> {
    let kept = message.source.rest.get(KEPT).and_then(Value::as_u64);
    let (noun, kept) = match kept {
        None | Some(0) => ("earlier message", String::new()),
        Some(1) => ("message", " · the last one was kept".to_owned()),
        Some(kept) => ("message", format!(" · the last {kept} were kept")),
    };
    let what = match event.source_event_seqs.as_deref() {
        // One that is written again stands in the place of another way.
        Some(seqs @ [_, ..]) if !leaves(event) => counted(seqs.len(), noun),
        _ => "earlier messages".to_owned(),
    };
    let rule = format!("── {what} compacted into this summary{kept} ──");
    let mut pieces = said(Piece::own(Kind::Cut, rule.clone()), event, message);
    if pieces.is_empty() {
        pieces.push(Piece::own(Kind::Cut, rule));
    }
    pieces
}

fn tool_line(message: &Message) -> Piece {
    let texts = || message.content.iter().filter_map(Block::as_text);
    let bytes: usize = texts().map(str::len).sum();
    let text = texts().next().unwrap_or_default();
    let text = text
        .get(..text.floor_char_boundary(TOOL_LINE_BYTES))
        .unwrap_or_default();
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    let size = human_bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
    let line = match first {
        Some(first) => format!("tool result · {size} · {first}"),
        None => format!("tool result · {size}"),
    };
    Piece::own(Kind::Remark, line)
}

/// What came of an answer before it was stopped. Attempts that were given up
/// for another are not shown.
fn attempt(data: &Value) -> Vec<Piece> {
    if data.get("interrupted").and_then(Value::as_bool) != Some(true) {
        return Vec::new();
    }
    if is_of_summary(data) {
        return vec![Piece::own(Kind::Interrupted, NOT_COMPACTED)];
    }
    let name = data.as_object().map_or("assistant", who);
    let mut pieces = vec![Piece::own(Kind::Model, name)];
    let text = data.get("text").and_then(Value::as_str).unwrap_or_default();
    if !text.is_empty() {
        let text: Text = text.into();
        pieces.extend(shared(Kind::Text, &text, 0..text.len()));
    }
    let how = ended_by(data);
    pieces.push(Piece::own(
        Kind::Interrupted,
        format!("{how} · not sent on"),
    ));
    pieces
}

/// How an answer that is not whole came to its end: an error is told apart
/// from a person, or the end of the program.
fn ended_by(data: &Value) -> String {
    let code = data.pointer("/error/code").and_then(Value::as_str);
    match code {
        Some(code) => format!("broke off [{code}]"),
        None => "interrupted".to_owned(),
    }
}

/// What stands where an answer was asked for and nothing of it came.
pub(super) fn unanswered(code: Option<&str>) -> Piece {
    let how = match code {
        Some(code) => format!("failed [{code}] · no answer came"),
        None => "interrupted · no answer was kept".to_owned(),
    };
    Piece::own(Kind::Interrupted, how)
}

/// One piece for each session that a context message cites.
fn citations(message: &Message, tool_of: &dyn Fn(&SessionId) -> Option<String>) -> Vec<Piece> {
    let text = message.text();
    let saved = full_texts(&text);
    let references = message.source.rest.get("references");
    references
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|reference| Piece::own(Kind::Citation, citation(reference, &saved, tool_of)))
        .collect()
}

fn citation(
    reference: &Value,
    saved: &HashMap<String, bool>,
    tool_of: &dyn Fn(&SessionId) -> Option<String>,
) -> String {
    let word = |key| reference.get(key).and_then(Value::as_str);
    let number = |key| reference.get(key).and_then(Value::as_u64);
    let count = |key| number(key).and_then(|n| usize::try_from(n).ok());
    let id = word("sessionId").unwrap_or_default();
    let mut parts = vec![sanitize::line(word("label").unwrap_or(id)).into_owned()];
    let tool = tool_of(&SessionId::from(id));
    parts.extend(tool.map(|tool| sanitize::line(&tool).into_owned()));
    match (count("retainedMessages"), count("originalMessages")) {
        (Some(kept), Some(all)) if kept < all => {
            parts.push(format!(
                "{} of {}",
                human_count(kept),
                counted(all, "message")
            ));
        }
        (_, Some(all)) => parts.push(counted(all, "message")),
        _ => {}
    }
    let mut line = parts.join(" · ");
    if let Some(bytes) = number("omittedBytes").filter(|&bytes| bytes > 0) {
        let full_text = match saved.get(id) {
            Some(true) => ", full text saved",
            Some(false) => ", full text not saved",
            None => "",
        };
        line.push_str("\n· ");
        line.push_str(&human_bytes(bytes));
        line.push_str(" omitted");
        line.push_str(full_text);
    }
    line
}

/// By session, whether the full text of what was left out is saved: the
/// notices behind the data, which itself can't spell the closing tag.
fn full_texts(context: &str) -> HashMap<String, bool> {
    let close = format!("</{TAG}>");
    let notices = context
        .rsplit_once(&close)
        .and_then(|(_, after)| after.lines().find(|line| line.starts_with('[')))
        .and_then(|line| serde_json::from_str::<Vec<Value>>(line).ok());
    notices
        .into_iter()
        .flatten()
        .filter_map(|notice| {
            let id = notice.get("sessionId")?.as_str()?.to_owned();
            let status = notice.pointer("/fullSnapshot/status")?.as_str()?;
            Some((id, status == "saved"))
        })
        .collect()
}
