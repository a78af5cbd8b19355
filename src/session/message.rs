//! Messages: who said what, and where it came from.
//!
//! Every type here keeps the keys it does not know, so that reading and
//! writing a message of a newer program loses nothing.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::text::Text;

/// Whose turn a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Standing instructions to the model.
    System,
    /// The person's side, software's injections included.
    User,
    /// The model's side.
    Assistant,
    /// What a tool returned.
    Tool,
}

impl Role {
    /// The word used in logs and projections.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// One block of a message's content.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Block {
    /// `{"type":"text","text":…}`, with any further keys.
    Text(TextBlock),
    /// Any other block, as it stands.
    Other(Value),
}

/// The text block of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename = "text")]
pub struct TextBlock {
    /// What was said.
    pub text: Text,
    /// Keys this program does not know.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl From<Value> for Block {
    fn from(value: Value) -> Self {
        let Value::Object(mut map) = value else {
            return Self::Other(value);
        };
        if map.get("type").and_then(Value::as_str) == Some("text")
            && let Some(Value::String(text)) = map.get_mut("text")
        {
            let text = std::mem::take(text).into();
            map.shift_remove("type");
            map.shift_remove("text");
            return Self::Text(TextBlock { text, rest: map });
        }
        Self::Other(Value::Object(map))
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

impl Block {
    /// A plain text block.
    pub fn text(text: impl Into<Text>) -> Self {
        Self::Text(TextBlock {
            text: text.into(),
            rest: Map::new(),
        })
    }

    /// A block of the model's reasoning, which is never cited.
    pub fn reasoning(text: impl Into<String>) -> Self {
        Self::Other(json!({"type": "reasoning", "text": text.into()}))
    }

    /// The text of a text block; `None` for every other kind.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            Self::Other(_) => None,
        }
    }
}

/// Where a message came from: `{"kind": …}` and what that kind adds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// `user`, `model`, `tool`, `plugin`, `session-reference`, or a kind of a
    /// newer program.
    pub kind: String,
    /// What the kind adds, as it stands.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The value of `plugin` that marks a compaction checkpoint.
pub const COMPACT_PLUGIN: &str = "compact";

impl Source {
    fn with(kind: &str, rest: Value) -> Self {
        let rest = match rest {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        Self {
            kind: kind.to_owned(),
            rest,
        }
    }

    /// A person typed it.
    #[must_use]
    pub fn person() -> Self {
        Self::with("user", Value::Null)
    }

    /// A language model wrote it.
    #[must_use]
    pub fn model(provider: &str, model: &str) -> Self {
        Self::with("model", json!({"provider": provider, "model": model}))
    }

    /// A tool returned it for the given call.
    #[must_use]
    pub fn tool(call_id: &str) -> Self {
        Self::with("tool", json!({"callId": call_id}))
    }

    /// Software made it.
    #[must_use]
    pub fn plugin(plugin: &str) -> Self {
        Self::with("plugin", json!({"plugin": plugin}))
    }

    /// A compaction made it: the checkpoint that stands for what it shadows.
    #[must_use]
    pub fn checkpoint(compaction_id: &str) -> Self {
        Self::with(
            "plugin",
            json!({"plugin": COMPACT_PLUGIN, "compactionId": compaction_id}),
        )
    }

    /// The resolver made it out of other sessions.
    #[must_use]
    pub fn session_reference(record: Map<String, Value>) -> Self {
        Self {
            kind: "session-reference".to_owned(),
            rest: record,
        }
    }

    /// Whether a person typed it.
    #[must_use]
    pub fn is_person(&self) -> bool {
        self.kind == "user"
    }

    /// Whether it is a compaction checkpoint.
    #[must_use]
    pub fn is_checkpoint(&self) -> bool {
        self.kind == "plugin"
            && self.rest.get("plugin").and_then(Value::as_str) == Some(COMPACT_PLUGIN)
            && self.rest.get("compactionId").is_some_and(Value::is_string)
    }

    /// Whether the resolver made it out of other sessions.
    #[must_use]
    pub fn is_session_reference(&self) -> bool {
        self.kind == "session-reference"
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Unique within its session.
    #[serde(default)]
    pub id: String,
    /// Whose turn it belongs to.
    pub role: Role,
    /// Where it came from.
    pub source: Source,
    /// What was said, block by block.
    pub content: Vec<Block>,
    /// Keys this program does not know.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Message {
    /// A message with a fresh id.
    #[must_use]
    pub fn new(role: Role, source: Source, content: Vec<Block>) -> Self {
        Self {
            id: uuid::Uuid::now_v7().to_string(),
            role,
            source,
            content,
            rest: Map::new(),
        }
    }

    /// What a person typed.
    pub fn person(text: impl Into<Text>) -> Self {
        Self::new(Role::User, Source::person(), vec![Block::text(text)])
    }

    /// The text blocks joined with line feeds; empty when there is none.
    #[must_use]
    pub fn text(&self) -> String {
        (*self.shared_text()).to_owned()
    }

    /// [`text`](Self::text) without a copy, where the message has one text
    /// block alone.
    #[must_use]
    pub fn shared_text(&self) -> Text {
        let texts = || {
            self.content.iter().filter_map(|block| match block {
                Block::Text(block) => Some(&block.text),
                Block::Other(_) => None,
            })
        };
        let mut rest = texts();
        match (rest.next(), rest.next()) {
            (None, _) => Text::default(),
            (Some(only), None) => only.clone(),
            _ => texts()
                .map(|text| &**text)
                .collect::<Vec<_>>()
                .join("\n")
                .into(),
        }
    }
}
