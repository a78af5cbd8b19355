//! Headers and events: the lines of a session's log.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Message, Millis, Seq, SessionId};

/// The version of the log format that this program writes, and the newest it
/// reads. Version 0 has the same lines.
pub const FORMAT_VERSION: u32 = 1;

/// What stands above the events of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// The format generation of the log.
    pub version: u32,
    /// The session's name.
    pub id: SessionId,
    /// When the session began.
    pub created_at: Millis,
    /// The directory it was begun in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The session it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<SessionId>,
    /// Whether its first events were copied from elsewhere: a cached title of
    /// such a session can't be trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_seeded: Option<bool>,
    /// Keys this program does not know.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Header {
    /// A header of the current format.
    pub fn new(id: impl Into<SessionId>, created_at: Millis, cwd: Option<String>) -> Self {
        Self {
            version: FORMAT_VERSION,
            id: id.into(),
            created_at,
            cwd,
            parent_session: None,
            is_seeded: None,
            rest: Map::new(),
        }
    }
}

/// The types of event that can stand on the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// `system/message`
    System,
    /// `user/message`
    User,
    /// `assistant/message`
    Assistant,
    /// `tool/result`
    ToolResult,
}

impl MessageKind {
    /// The type as it stands in the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system/message",
            Self::User => "user/message",
            Self::Assistant => "assistant/message",
            Self::ToolResult => "tool/result",
        }
    }

    /// The surface-eligible kind of this name; `None` for log-only types.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "system/message" => Self::System,
            "user/message" => Self::User,
            "assistant/message" => Self::Assistant,
            "tool/result" => Self::ToolResult,
            _ => return None,
        })
    }
}

/// What an event says.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "events live behind Arc, and most of those kept are messages"
)]
pub enum Payload {
    /// A message, which stands on the surface until it is shadowed.
    Message {
        /// Which of the four surface-eligible types.
        kind: MessageKind,
        /// The message itself.
        message: Message,
        /// What stands beside the message in `data` (`turn`, `step`, …).
        /// Always empty for `user/message`, whose `data` is the message.
        envelope: Map<String, Value>,
    },
    /// Anything else: counted, kept, never on the surface.
    LogOnly {
        /// The type as it stands in the log.
        kind: String,
        /// Its data, as it stands.
        data: Value,
    },
}

impl Payload {
    /// A `user/message`.
    #[must_use]
    pub fn user(message: Message) -> Self {
        Self::Message {
            kind: MessageKind::User,
            message,
            envelope: Map::new(),
        }
    }

    /// A message of another surface-eligible kind, of the given turn and step.
    #[must_use]
    pub fn step(kind: MessageKind, message: Message, turn: u64, step: u64) -> Self {
        let mut envelope = Map::new();
        envelope.insert("turn".to_owned(), turn.into());
        envelope.insert("step".to_owned(), step.into());
        Self::Message {
            kind,
            message,
            envelope,
        }
    }

    /// An event that is never on the surface.
    pub fn log_only(kind: impl Into<String>, data: Value) -> Self {
        Self::LogOnly {
            kind: kind.into(),
            data,
        }
    }

    /// The type as it stands in the log.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match self {
            Self::Message { kind, .. } => kind.as_str(),
            Self::LogOnly { kind, .. } => kind,
        }
    }

    /// Reads the `type` and `data` of a log line.
    ///
    /// # Errors
    /// When a surface-eligible type holds no message.
    pub fn from_parts(kind: &str, data: Value) -> Result<Self, serde_json::Error> {
        let Some(message_kind) = MessageKind::parse(kind) else {
            return Ok(Self::log_only(kind, data));
        };
        if message_kind == MessageKind::User {
            return Ok(Self::user(serde_json::from_value(data)?));
        }
        let Enveloped { message, rest } = serde_json::from_value(data)?;
        Ok(Self::Message {
            kind: message_kind,
            message,
            envelope: rest,
        })
    }
}

/// `data` of every surface-eligible type but `user/message`.
#[derive(Deserialize)]
struct Enveloped {
    message: Message,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// How an event changes the surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SurfaceOp {
    /// The event goes to the end.
    Append,
    /// The event takes the place of an inclusive range that stands on the
    /// surface now.
    Replace {
        /// The first event shadowed.
        start: Seq,
        /// The last event shadowed.
        end: Seq,
    },
}

/// A replacement as it stands in a log line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Replacement<'a> {
    #[serde(borrow)]
    op: Cow<'a, str>,
    start_seq: Seq,
    end_seq: Seq,
}

impl Serialize for SurfaceOp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Append => serializer.serialize_str("append"),
            Self::Replace { start, end } => Replacement {
                op: Cow::Borrowed("replace"),
                start_seq: *start,
                end_seq: *end,
            }
            .serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SurfaceOp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SurfaceOpVisitor)
    }
}

/// Takes the two forms and nothing else: an operation that is not understood
/// whole must not be guessed at.
struct SurfaceOpVisitor;

impl<'de> Visitor<'de> for SurfaceOpVisitor {
    type Value = SurfaceOp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(r#"surfaceOp "append" or {"op":"replace","startSeq":…,"endSeq":…}"#)
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<SurfaceOp, E> {
        match word {
            "append" => Ok(SurfaceOp::Append),
            _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SurfaceOp, A::Error> {
        let replacement = Replacement::deserialize(MapAccessDeserializer::new(map))?;
        match &*replacement.op {
            "replace" => Ok(SurfaceOp::Replace {
                start: replacement.start_seq,
                end: replacement.end_seq,
            }),
            op => Err(de::Error::invalid_value(Unexpected::Str(op), &self)),
        }
    }
}

/// An event on its way into a session, before it has a place there.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// When it happened.
    pub time: Millis,
    /// What it says.
    pub payload: Payload,
    /// How it changes the surface; required for messages, refused elsewhere.
    pub surface_op: Option<SurfaceOp>,
    /// The events it was made from; a replacement names all it shadows.
    pub source_event_seqs: Option<Vec<Seq>>,
}

impl NewEvent {
    /// A message at the end of the surface, or a log-only event.
    #[must_use]
    pub fn plain(time: Millis, payload: Payload) -> Self {
        let surface_op = matches!(payload, Payload::Message { .. }).then_some(SurfaceOp::Append);
        Self {
            time,
            payload,
            surface_op,
            source_event_seqs: None,
        }
    }

    /// A message in place of `start..=end`, made from `sources`.
    #[must_use]
    pub fn replacing(
        time: Millis,
        payload: Payload,
        (start, end): (Seq, Seq),
        sources: Vec<Seq>,
    ) -> Self {
        Self {
            time,
            payload,
            surface_op: Some(SurfaceOp::Replace { start, end }),
            source_event_seqs: Some(sources),
        }
    }
}

/// An event that is to be written, before its moment is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    payload: Payload,
    /// The range that it takes the place of, and all that it was made from.
    instead: Option<((Seq, Seq), Vec<Seq>)>,
}

impl Entry {
    /// A message in place of `start..=end`, made from `sources`.
    #[must_use]
    pub fn replacing(payload: Payload, range: (Seq, Seq), sources: Vec<Seq>) -> Self {
        Self {
            payload,
            instead: Some((range, sources)),
        }
    }

    /// What it says.
    #[must_use]
    pub fn payload(&self) -> &Payload {
        &self.payload
    }

    /// The event of this moment.
    #[must_use]
    pub fn at(self, time: Millis) -> NewEvent {
        match self.instead {
            None => NewEvent::plain(time, self.payload),
            Some((range, sources)) => NewEvent::replacing(time, self.payload, range, sources),
        }
    }
}

impl From<Payload> for Entry {
    /// A message at the end of the surface, or a log-only event.
    fn from(payload: Payload) -> Self {
        Self {
            payload,
            instead: None,
        }
    }
}

/// An event in its session's log. It never changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its place in the log.
    pub seq: Seq,
    /// When it happened.
    pub time: Millis,
    /// What it says.
    pub payload: Payload,
    /// How it changed the surface.
    pub surface_op: Option<SurfaceOp>,
    /// The events it was made from.
    pub source_event_seqs: Option<Vec<Seq>>,
    /// Keys this program does not know.
    pub rest: Map<String, Value>,
}

impl Event {
    /// The message it holds, when it is of a surface-eligible type.
    #[must_use]
    pub fn message(&self) -> Option<&Message> {
        match &self.payload {
            Payload::Message { message, .. } => Some(message),
            Payload::LogOnly { .. } => None,
        }
    }
}

/// An event's line in a log.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    seq: Seq,
    time: Millis,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    data: Value,
    #[serde(default)]
    surface_op: Option<SurfaceOp>,
    #[serde(default)]
    source_event_seqs: Option<Vec<Seq>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = Line::deserialize(deserializer)?;
        let payload = Payload::from_parts(&line.kind, line.data)
            .map_err(|e| serde::de::Error::custom(format_args!("{} data: {e}", line.kind)))?;
        Ok(Self {
            seq: line.seq,
            time: line.time,
            payload,
            surface_op: line.surface_op,
            source_event_seqs: line.source_event_seqs,
            rest: line.rest,
        })
    }
}

impl Serialize for Event {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("time", &self.time)?;
        map.serialize_entry("type", self.payload.type_name())?;
        match &self.payload {
            Payload::Message {
                kind: MessageKind::User,
                message,
                ..
            } => map.serialize_entry("data", message)?,
            Payload::Message {
                message, envelope, ..
            } => map.serialize_entry("data", &EnvelopedRef { envelope, message })?,
            Payload::LogOnly { data, .. } => map.serialize_entry("data", data)?,
        }
        if let Some(op) = &self.surface_op {
            map.serialize_entry("surfaceOp", op)?;
        }
        if let Some(seqs) = &self.source_event_seqs {
            map.serialize_entry("sourceEventSeqs", seqs)?;
        }
        for (key, value) in &self.rest {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct EnvelopedRef<'a> {
    #[serde(flatten)]
    envelope: &'a Map<String, Value>,
    message: &'a Message,
}
