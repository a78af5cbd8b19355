//! The lines of a rollout file: what a look at one gives.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::super::pass::{Form, Skim};
use super::record::{self, Kind, Record};
use super::skim;
use super::words::{Message, Parts, Role, Words};
use crate::text::TextBlock;

/// How far into a record of the display log its item's type may be, in bytes.
const ITEM_BYTES: usize = 512;

/// Where it tells that.
static ITEM: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"item\":{\"type\":\""));

/// What a line says; `W` is what its message does.
pub(super) enum Line<W> {
    /// A message of the history.
    Message(Message<W>),
    /// A message of the display log, which is not read.
    Shown(Role),
    /// One of the model's agents asked something of it.
    Asked,
    /// A turn started, at this time.
    Started(Option<i64>),
    /// What the model is called from here on, and when that was told.
    Model(Option<i64>, Box<str>),
    /// A record of no known kind.
    Unknown,
    /// Another record, and whether its line is laid out as the tool does it.
    Record(Box<Record>, bool),
}

/// The form of the lines.
pub(super) struct Lines {
    /// Whether the display log is read.
    pub(super) display: bool,
    /// Whether it is the file that was asked for.
    pub(super) is_leaf: bool,
}

impl Form for Lines {
    type Seen = Line<Parts>;
    type Said = Line<Words>;
    type Record = Record;

    fn skim(&self, line: &[u8], texts: Option<&mut TextBlock>) -> Skim<Line<Parts>> {
        let types = record::types(line).filter(|_| record::is_whole(line));
        let Some((outer, inner)) = types else {
            return Skim::Unclear;
        };
        match record::kind(outer, inner) {
            Kind::Wanted if outer == "session_meta" && !self.is_leaf => Skim::Nothing,
            Kind::Wanted => wanted(line, (outer, inner), texts).map_or(Skim::Unclear, Skim::Said),
            Kind::Display if self.display => Skim::Unclear,
            Kind::Display => {
                shown(inner, line).map_or(Skim::Nothing, |role| Skim::Said(Line::Shown(role)))
            }
            Kind::Noise => Skim::Nothing,
            Kind::Asked => Skim::Said(Line::Asked),
            Kind::Unknown => Skim::Said(Line::Unknown),
        }
    }

    fn whole(&self, line: &[u8], record: Record) -> Line<Parts> {
        Line::Record(Box::new(record), record::types(line).is_some())
    }

    fn said(&self, seen: Line<Parts>) -> Line<Words> {
        match seen {
            Line::Message(message) => Line::Message(message.said()),
            Line::Shown(role) => Line::Shown(role),
            Line::Started(time) => Line::Started(time),
            Line::Model(time, model) => Line::Model(time, model),
            Line::Unknown => Line::Unknown,
            Line::Asked => Line::Asked,
            Line::Record(record, is_laid_out) => Line::Record(record, is_laid_out),
        }
    }
}

/// Reads a record of these types without building what it holds.
fn wanted(line: &[u8], types: (&str, &str), texts: Option<&mut TextBlock>) -> Option<Line<Parts>> {
    match types {
        ("response_item", "message") => skim::message(line, texts?).map(Line::Message),
        ("event_msg", "task_started" | "turn_started") => {
            skim::started(line).map(|event| Line::Started(event.time))
        }
        ("turn_context", _) => {
            skim::model(line).map(|event| Line::Model(event.time, event.told.into()))
        }
        _ => None,
    }
}

/// Whose message a record of the display log shows.
pub(super) fn shown(inner: &str, line: &[u8]) -> Option<Role> {
    match inner {
        "user_message" => return Some(Role::User),
        "agent_message" => return Some(Role::Assistant),
        _ => {}
    }
    let head = line.get(..ITEM_BYTES.min(line.len())).unwrap_or_default();
    let kind = head.get(ITEM.find(head)? + ITEM.needle().len()..)?;
    if kind.starts_with(b"UserMessage\"") {
        return Some(Role::User);
    }
    kind.starts_with(b"AgentMessage\"")
        .then_some(Role::Assistant)
}
