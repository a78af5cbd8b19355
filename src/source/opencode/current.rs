//! Messages and their parts, and which of them are current: after what was
//! taken back, and after the last compaction.

use std::collections::HashSet;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::Revert;
use crate::source::loose;

/// One message.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) is_user: bool,
    /// When it began, in Unix milliseconds.
    pub(super) created: i64,
    /// The message that it answers.
    pub(super) parent: Option<String>,
    pub(super) model: String,
    pub(super) summary: Summary,
    pub(super) parts: Vec<Part>,
}

/// Whether a message is the summary of a compaction.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Summary {
    None,
    /// The model still writes it, or was stopped.
    Unfinished,
    Finished,
    Failed,
}

/// One part of a message.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) id: String,
    pub(super) kind: Kind,
}

/// What a part is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// What its author said.
    Text(String),
    /// What software said in its author's name.
    Injected(String),
    /// That the session is compacted here, but for a tail.
    Compaction {
        /// The first message of the tail.
        tail: Option<String>,
    },
    /// What a tool returned.
    Tool { call: String, output: String },
    /// Of a known type, and nothing that was said.
    Other,
    /// Of no known type.
    Unknown,
}

/// A message as it is stored; in a database without its id.
#[derive(Deserialize)]
pub(super) struct MessageData {
    pub(super) id: Option<String>,
    role: String,
    time: Option<Time>,
    #[serde(rename = "parentID")]
    parent: Option<String>,
    #[serde(rename = "modelID")]
    model_id: Option<String>,
    /// `true`, or for other messages an object that can be large.
    summary: Option<Box<RawValue>>,
    finish: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
pub(super) struct Time {
    #[serde(default, deserialize_with = "loose::whole")]
    pub(super) created: Option<i64>,
    #[serde(default, deserialize_with = "loose::whole")]
    pub(super) updated: Option<i64>,
}

impl MessageData {
    /// The message, without its parts yet; `None` when it is of no known role.
    pub(super) fn message(self, id: String, created: i64) -> Option<Message> {
        let is_user = match self.role.as_str() {
            "user" => true,
            "assistant" => false,
            _ => return None,
        };
        let is_summary = self.summary.is_some_and(|summary| summary.get() == "true");
        Some(Message {
            id,
            is_user,
            created: self.time.and_then(|time| time.created).unwrap_or(created),
            parent: self.parent,
            model: self.model_id.unwrap_or_default(),
            summary: match (is_summary, self.error, self.finish) {
                (false, ..) => Summary::None,
                (true, Some(_), _) => Summary::Failed,
                (true, None, Some(_)) => Summary::Finished,
                (true, None, None) => Summary::Unfinished,
            },
            parts: Vec::new(),
        })
    }
}

/// A part as it is stored; in a database without its ids.
#[derive(Deserialize)]
pub(super) struct PartData {
    pub(super) id: Option<String>,
    #[serde(rename = "messageID")]
    pub(super) message: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    #[serde(default)]
    synthetic: Option<bool>,
    #[serde(default)]
    ignored: Option<bool>,
    tail_start_id: Option<String>,
    #[serde(rename = "callID")]
    call: Option<String>,
    state: Option<ToolState>,
}

#[derive(Deserialize)]
struct ToolState {
    output: Option<Box<RawValue>>,
}

impl PartData {
    pub(super) fn part(self, id: String) -> Part {
        let is_injected = self.synthetic == Some(true) || self.ignored == Some(true);
        let kind = match (self.kind.as_str(), self.text) {
            ("text", Some(text)) if is_injected => Kind::Injected(text),
            ("text", Some(text)) => Kind::Text(text),
            ("compaction", _) => Kind::Compaction {
                tail: self.tail_start_id,
            },
            ("tool", _) => {
                let output = self.state.and_then(|state| state.output);
                let output = output.and_then(|raw| serde_json::from_str(raw.get()).ok());
                Kind::Tool {
                    call: self.call.unwrap_or_default(),
                    output: output.unwrap_or_default(),
                }
            }
            (
                "reasoning" | "file" | "step-start" | "step-finish" | "snapshot" | "patch"
                | "agent" | "subtask" | "retry",
                _,
            ) => Kind::Other,
            _ => Kind::Unknown,
        };
        Part { id, kind }
    }
}

impl Message {
    /// What its author said: the texts, joined with line feeds.
    pub(super) fn text(&self) -> String {
        let texts: Vec<&str> = self
            .parts
            .iter()
            .filter_map(|part| match &part.kind {
                Kind::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n")
    }

    /// Whether it asks for a compaction.
    fn asks_to_compact(&self) -> bool {
        let is_compaction = |part: &Part| matches!(part.kind, Kind::Compaction { .. });
        self.is_user && self.parts.iter().any(is_compaction)
    }

    /// The first message that its compaction leaves as it is.
    fn tail(&self) -> Option<&str> {
        self.parts.iter().find_map(|part| match &part.kind {
            Kind::Compaction { tail } => tail.as_deref(),
            _ => None,
        })
    }

    /// Whether it sums up what came before it, where nothing tells when a
    /// summary was finished.
    fn is_early_summary(&self) -> bool {
        let has_begun = matches!(self.summary, Summary::Unfinished | Summary::Finished);
        has_begun && !self.text().trim().is_empty()
    }

    /// Whether it ends a compaction: one that failed or still runs has no
    /// finished summary.
    fn completes(&self) -> Option<&str> {
        let completes = !self.is_user && self.summary == Summary::Finished;
        self.parent.as_deref().filter(|_| completes)
    }
}

/// The current conversation: all messages that the tool would send, in the
/// order it would send them. What is left of a compaction that failed never
/// was: it was no answer to anyone.
pub(super) fn current(mut messages: Vec<Message>, revert: Option<&Revert>) -> Vec<Message> {
    messages.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    for message in &mut messages {
        message.parts.sort_by(|a, b| a.id.cmp(&b.id));
    }
    if let Some(revert) = revert {
        take_back(&mut messages, revert);
    }
    if messages.iter().any(Message::asks_to_compact) {
        compact(&mut messages);
    } else {
        cut_at_summary(&mut messages);
    }
    messages.retain(|message| message.summary != Summary::Failed);
    messages
}

/// Cuts at the last compaction that was asked for and done: its summary stands
/// before the tail, and the tail before what followed.
fn compact(messages: &mut Vec<Message>) {
    let completed: HashSet<&str> = messages.iter().filter_map(Message::completes).collect();
    let cut = messages
        .iter()
        .rposition(|message| message.asks_to_compact() && completed.contains(message.id.as_str()));
    let Some((cut, request)) = cut.and_then(|cut| Some((cut, messages.get(cut)?))) else {
        return;
    };
    let id = Some(request.id.as_str());
    let summary = messages
        .iter()
        .position(|message| message.completes() == id);
    let tail = match request.tail() {
        None => Some(cut),
        // The tool looks for it from the cut back, and stops nowhere else.
        Some(tail) => {
            let mut before = messages.iter().take(cut + 1);
            before.position(|message| message.id == tail)
        }
    };
    // Without its tail all goes on as it stands, the summary in its place.
    let moved = summary.filter(|_| tail.is_some());
    let start = tail.unwrap_or(0);
    let mut summed_up = None;
    let mut kept = Vec::new();
    for (at, message) in std::mem::take(messages).into_iter().enumerate() {
        if Some(at) == moved {
            summed_up = Some(message);
        } else if at >= start && at != cut {
            kept.push(message);
        }
    }
    messages.extend(summed_up);
    messages.append(&mut kept);
}

/// Cuts as early releases did, which marked a summary alone: nobody asked for
/// it in a message of its own.
fn cut_at_summary(messages: &mut Vec<Message>) {
    let stands = |message: &Message| !message.is_user && message.is_early_summary();
    let Some(cut) = messages.iter().rposition(stands) else {
        return;
    };
    messages.drain(..cut);
    if let Some(summary) = messages.first_mut() {
        summary.summary = Summary::Finished;
    }
}

/// Hides a message and all after it, or its later parts and all after it.
fn take_back(messages: &mut Vec<Message>, revert: &Revert) {
    let at = messages
        .iter()
        .position(|message| message.id == revert.message)
        // The message can be gone already; ids ascend.
        .or_else(|| {
            messages
                .iter()
                .position(|message| message.id > revert.message)
        });
    let Some(at) = at else {
        return;
    };
    let part = revert.part.as_deref();
    let first = messages
        .get_mut(at)
        .filter(|first| first.id == revert.message);
    let (Some(part), Some(first)) = (part, first) else {
        messages.truncate(at);
        return;
    };
    first.parts.retain(|found| found.id.as_str() < part);
    messages.truncate(at + 1);
}
