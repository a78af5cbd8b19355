//! The records of a rollout file, as far as they are read, and how to pass
//! over the others unparsed.

use std::fmt;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::reading::millis;
use super::words::{Message, Parts, Role};
use crate::text::Text;

/// One line. The oldest versions wrote what is now the payload as the line.
#[derive(Deserialize)]
pub(super) struct Record {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) timestamp: Option<Value>,
    pub(super) payload: Option<Payload>,
    pub(super) metadata: Option<RecordMetadata>,
    /// A note that only the oldest versions wrote.
    #[serde(rename = "record_type")]
    pub(super) old_note: Option<IgnoredAny>,
    pub(super) id: Option<Value>,
    pub(super) role: Option<String>,
    #[serde(default)]
    pub(super) content: Content,
}

impl Record {
    /// The message of a person or the model that it is, if it is one of the
    /// history.
    pub(super) fn message(self) -> Option<Message<Parts>> {
        let payload = self.payload.filter(|payload| {
            self.kind.as_deref() == Some("response_item")
                && payload.kind.as_deref() == Some("message")
        })?;
        Some(Message {
            time: self.timestamp.as_ref().and_then(millis),
            is_output: self.metadata.and_then(|it| it.compaction_output) == Some(true),
            words: Parts {
                role: payload.role.as_deref().and_then(Role::of)?,
                content: payload.content,
                kinds: payload.passed.and_then(|passed| passed.content_item_kinds),
            },
        })
    }
}

/// What the tool noted beside a record.
#[derive(Default, Deserialize)]
pub(super) struct RecordMetadata {
    /// The model's answer to a compaction: no part of the conversation.
    #[serde(default)]
    pub(super) compaction_output: Option<bool>,
}

/// The payloads of all kinds of records together.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Payload {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    // Messages.
    pub(super) role: Option<String>,
    pub(super) content: Content,
    #[serde(rename = "internal_chat_message_metadata_passthrough")]
    pub(super) passed: Option<Passed>,
    // Session metadata.
    pub(super) id: Option<Value>,
    pub(super) timestamp: Option<Value>,
    pub(super) cwd: Option<String>,
    pub(super) cli_version: Option<String>,
    pub(super) source: Option<Value>,
    pub(super) thread_source: Option<Value>,
    pub(super) forked_from_id: Option<String>,
    pub(super) parent_thread_id: Option<String>,
    pub(super) history_base: Option<Value>,
    // Turn contexts.
    pub(super) model: Option<Value>,
    // Compactions, and messages of the display log.
    pub(super) message: Option<Value>,
    pub(super) replacement_history: Option<Vec<Payload>>,
    // Other events.
    pub(super) num_turns: Option<u64>,
    pub(super) thread_id: Option<Value>,
    pub(super) thread_name: Option<Value>,
    pub(super) item: Option<DisplayItem>,
}

/// What the tool knows of each part of a message.
#[derive(Default, Deserialize)]
pub(super) struct Passed {
    #[serde(default)]
    pub(super) content_item_kinds: Option<Vec<Marked>>,
}

/// The beginning of a session that stands in another file.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(super) struct HistoryBase {
    /// The id in the other file's name.
    pub(super) thread_id: String,
    /// How much of it, in bytes.
    pub(super) end_byte_offset: u64,
}

/// An item of the display log.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct DisplayItem {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) content: Content,
}

/// A message's content.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Content {
    /// None, or of no known form.
    #[default]
    Missing,
    Text(Text),
    Blocks(Vec<Block>),
}

/// A part of a message.
#[derive(Debug, Default, Deserialize, PartialEq, Eq)]
pub(super) struct Block {
    #[serde(default, rename = "type")]
    pub(super) kind: BlockKind,
    pub(super) text: Option<Text>,
}

/// What a part of a message is.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(from = "Option<String>")]
pub(super) enum BlockKind {
    #[default]
    Text,
    /// An image, a sound or a file.
    Other,
    Unknown,
}

impl From<Option<String>> for BlockKind {
    fn from(kind: Option<String>) -> Self {
        kind.map_or(Self::Text, |kind| Self::of(&kind))
    }
}

impl BlockKind {
    pub(super) fn of(kind: &str) -> Self {
        let is_other = || {
            let mut others = ["image", "audio", "file"].iter();
            others.any(|other| kind.contains(other)) || kind == "encrypted_content"
        };
        match kind {
            "input_text" | "output_text" | "text" | "Text" => Self::Text,
            _ if is_other() => Self::Other,
            _ => Self::Unknown,
        }
    }
}

/// What the tool says of a part of a message.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(from = "Option<String>")]
pub(super) enum Marked {
    Untold,
    Person,
    Summary,
    Software,
}

impl From<Option<String>> for Marked {
    fn from(kind: Option<String>) -> Self {
        kind.map_or(Self::Untold, |kind| Self::of(&kind))
    }
}

impl Marked {
    pub(super) fn of(kind: &str) -> Self {
        match kind {
            "" | "unknown" => Self::Untold,
            "compaction.summary" => Self::Summary,
            _ if kind.starts_with("user.") => Self::Person,
            _ => Self::Software,
        }
    }
}

impl Block {
    /// Its text, if it is one of text.
    pub(super) fn as_text(&self) -> Option<&Text> {
        self.text.as_ref().filter(|_| self.kind == BlockKind::Text)
    }

    /// Whether it is an image, a sound or a file.
    pub(super) fn is_other(&self) -> bool {
        self.kind == BlockKind::Other
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        Ok(Content::Text(text.into()))
    }

    fn visit_string<E>(self, text: String) -> Result<Content, E> {
        Ok(Content::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = parts.next_element()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Content::Missing)
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::Missing)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Content, E> {
        Ok(Content::Missing)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Content, E> {
        Ok(Content::Missing)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Content, E> {
        Ok(Content::Missing)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Content, E> {
        Ok(Content::Missing)
    }
}

/// What to do with a record of some kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Read it.
    Wanted,
    /// A message of the display log: read it if that is what is read.
    Display,
    /// A message between agents: no part of the conversation, but it begins a
    /// turn.
    Asked,
    /// Known, and no part of the conversation.
    Noise,
    /// Of no known kind.
    Unknown,
}

/// What to do with a record of these types.
pub(super) fn kind(outer: &str, inner: &str) -> Kind {
    match (outer, inner) {
        ("session_meta" | "turn_context" | "compacted", _)
        | ("response_item", "message")
        | (
            "event_msg",
            "thread_rolled_back" | "thread_name_updated" | "task_started" | "turn_started",
        ) => Kind::Wanted,
        ("event_msg", "user_message" | "agent_message" | "item_completed") => Kind::Display,
        ("response_item", "agent_message") | ("inter_agent_communication", _) => Kind::Asked,
        ("response_item", inner) if is_known_item(inner) => Kind::Noise,
        (
            "event_msg"
            | "world_state"
            | "token_usage_record"
            | "inter_agent_communication_metadata"
            | "session_state",
            _,
        ) => Kind::Noise,
        _ => Kind::Unknown,
    }
}

/// Whether an item that is no message is known to be none.
pub(super) fn is_known_item(kind: &str) -> bool {
    kind.ends_with("_call")
        || kind.ends_with("_call_output")
        || [
            "reasoning",
            "agent_message",
            "ghost_snapshot",
            "tool_search_output",
            "compaction",
            "compaction_summary",
            "compaction_trigger",
            "context_compaction",
            "configuration_update",
            "additional_tools",
            "item_reference",
            "other",
        ]
        .contains(&kind)
}

/// How far into a line its types are looked for, in bytes.
const LAYOUT_BYTES: usize = 256;

/// The types of a record, told by its first bytes alone; `None` when it is not
/// laid out the way the tool does it, and must be parsed to know.
pub(super) fn types(line: &[u8]) -> Option<(&str, &str)> {
    let head = line.get(..LAYOUT_BYTES.min(line.len()))?;
    let rest = head.strip_prefix(b"{\"timestamp\":\"")?;
    let (_, mut rest) = quoted(rest)?;
    if let Some(after) = rest.strip_prefix(b",\"ordinal\":") {
        let digits = after.iter().take_while(|b| b.is_ascii_digit()).count();
        rest = after.get(digits..)?;
    }
    let (outer, rest) = quoted(rest.strip_prefix(b",\"type\":\"")?)?;
    let rest = rest.strip_prefix(b",\"payload\":{")?;
    let inner = match rest.strip_prefix(b"\"type\":\"") {
        Some(inner) => quoted(inner)?.0,
        // These have no type of their own.
        None if !["response_item", "event_msg"].contains(&outer) => "",
        None => return None,
    };
    Some((outer, inner))
}

/// A plain string up to its quote, and what follows it.
fn quoted(text: &[u8]) -> Option<(&str, &[u8])> {
    let end = text.iter().position(|b| *b == b'"')?;
    let (inside, rest) = text.split_at_checked(end)?;
    let inside = std::str::from_utf8(inside).ok()?;
    (!inside.contains('\\')).then_some((inside, rest.get(1..)?))
}

/// How a record begins.
static BEGINNING: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"{\"timestamp\":\""));

/// Whether a line has the outside of one whole record: what is torn, or has
/// another record glued to it, has not.
pub(super) fn is_whole(line: &[u8]) -> bool {
    line.starts_with(b"{")
        && line.ends_with(b"}")
        && line
            .get(1..)
            .is_none_or(|rest| BEGINNING.find(rest).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_types_of_a_record_are_told_by_its_first_bytes() {
        let old =
            br#"{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user""#;
        assert_eq!(types(old), Some(("response_item", "message")));
        let new =
            br#"{"timestamp":"t","ordinal":12,"type":"event_msg","payload":{"type":"token_count","#;
        assert_eq!(types(new), Some(("event_msg", "token_count")));
        let meta = br#"{"timestamp":"t","type":"session_meta","payload":{"id":"1"}}"#;
        assert_eq!(types(meta), Some(("session_meta", "")));
    }

    #[test]
    fn a_record_that_is_laid_out_otherwise_must_be_parsed() {
        for line in [
            &br#"{"type":"response_item","payload":{"type":"message"}}"#[..],
            br#"{"timestamp": "t", "type": "event_msg", "payload": {}}"#,
            br#"{"timestamp":"t","type":"response_item","payload":{"role":"user","type":"message"}}"#,
            b"{\"timestamp\":\"t",
            b"",
        ] {
            assert_eq!(types(line), None, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn content_of_no_known_form_is_missing_and_fails_nothing() {
        for content in ["null", "1", "-1", "1.5", "true", r#"{"a":[1]}"#] {
            let read: Content = serde_json::from_str(content).unwrap();
            assert_eq!(read, Content::Missing, "{content}");
        }
    }
}
