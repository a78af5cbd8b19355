//! The lines of a log, and what they say.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::loose::{Flag, MAX_RESULT_BYTES, whole};
use super::marks;
use crate::text::Text;

/// One line: the header, an event, or several packed ones.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) seq: Option<u64>,
    pub(super) seq0: Option<u64>,
    #[serde(default, deserialize_with = "whole")]
    pub(super) time: Option<i64>,
    #[serde(default)]
    pub(super) data: Data,
    surface_op: Option<Box<RawValue>>,
    source_event_seqs: Option<Box<RawValue>>,
    /// Whether a reader that does not know the type may go on without it.
    #[serde(default)]
    ignorable: Flag,
    pub(super) version: Option<u64>,
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "whole")]
    pub(super) created_at: Option<i64>,
    pub(super) cwd: Option<String>,
    pub(super) parent_session: Option<String>,
    pub(super) is_seeded: Option<bool>,
    pub(super) origin: Option<String>,
    pub(super) delegation_depth: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Data {
    message: Option<Body>,
    content: Option<Box<RawValue>>,
    source: Option<Source>,
    /// The model, where early logs have it.
    provenance: Option<Source>,
    call_id: Option<String>,
    title: Option<Value>,
    texts: Option<Vec<IgnoredAny>>,
    args: Option<Vec<IgnoredAny>>,
}

#[derive(Deserialize)]
struct Body {
    content: Option<Box<RawValue>>,
    source: Option<Source>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Source {
    pub(super) kind: Option<String>,
    pub(super) plugin: Option<String>,
    pub(super) compaction_id: Option<String>,
    pub(super) call_id: Option<String>,
    pub(super) model: Option<Value>,
}

/// Where an event goes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Op {
    Append,
    Replace(u64, u64),
    /// Of a form that is not known: where it goes must not be guessed.
    Unknown,
}

/// A message, as far as it is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Whether it is of a person's or the model's side.
    pub(super) is_dialogue: bool,
    pub(super) seq: Option<u64>,
    pub(super) time: Option<i64>,
    pub(super) op: Op,
    /// The events that it was made from, where it stands for others.
    pub(super) sources: Vec<u64>,
    /// `None` when its content is of no known form.
    pub(super) said: Option<Said>,
}

/// What a message says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Said {
    /// It takes part in the order, and says nothing to anyone.
    #[default]
    Hidden,
    Person(Text),
    Injected {
        by: String,
        text: Text,
    },
    Checkpoint {
        id: String,
        text: Text,
    },
    Model {
        model: String,
        text: Text,
    },
    /// The beginning of what a tool gave.
    Tool {
        call: String,
        text: Text,
    },
}

impl Message {
    /// A tool's result with what the tool gave, if the row can be read.
    pub(super) fn with_words_of(mut self, line: &[u8]) -> Self {
        let row: Option<Row> = serde_json::from_slice(line).ok();
        if let Some(said) = row.and_then(Row::said) {
            self.said = Some(said);
        }
        self
    }
}

impl Row {
    /// How many events it stands for.
    pub(super) fn members(&self) -> u64 {
        let packed = self.data.texts.as_ref().or(self.data.args.as_ref());
        packed.map_or(1, |members| members.len() as u64)
    }

    /// Whether it goes to the surface.
    pub(super) fn has_op(&self) -> bool {
        self.surface_op.is_some()
    }

    /// Whether it says nothing of the conversation, and nothing is lost without
    /// it.
    pub(super) fn is_noise(&self) -> bool {
        let is_known = self.ignorable.0 || marks::is_own(self.kind.as_bytes());
        self.kind.contains('/') && is_known && !self.has_op()
    }

    /// A message's operation. Messages without one stand at the end.
    pub(super) fn op(&self) -> Op {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Word(String),
            Range {
                op: String,
                #[serde(alias = "startSeq")]
                start: u64,
                #[serde(alias = "endSeq")]
                end: u64,
            },
        }
        let Some(raw) = &self.surface_op else {
            return Op::Append;
        };
        match serde_json::from_str(raw.get()) {
            Ok(Written::Word(word)) if word == "append" => Op::Append,
            Ok(Written::Range { op, start, end }) if op == "replace" => Op::Replace(start, end),
            _ => Op::Unknown,
        }
    }

    /// The events that it was made from.
    pub(super) fn sources(&self) -> Vec<u64> {
        let raw = self.source_event_seqs.as_ref();
        raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
            .unwrap_or_default()
    }

    /// The title it sets, and whether a person chose it.
    pub(super) fn title(&self) -> Option<(&str, bool)> {
        let title = self.data.title.as_ref()?.as_str()?;
        let source = self.data.source.as_ref();
        let by_person = source.is_some_and(|source| source.kind.as_deref() == Some("user"));
        Some((title, by_person))
    }

    /// The message that it is.
    pub(super) fn message(self) -> Message {
        let op = self.op();
        Message {
            is_dialogue: matches!(self.kind.as_str(), "user/message" | "assistant/message"),
            seq: self.seq.or(self.seq0),
            time: self.time,
            sources: match op {
                Op::Replace(..) => self.sources(),
                _ => Vec::new(),
            },
            op,
            said: self.said(),
        }
    }

    fn said(self) -> Option<Said> {
        let data = self.data;
        let (content, source) = match data.message {
            Some(body) => (body.content, body.source),
            None => (data.content, data.source.or(data.provenance)),
        };
        let source = source.unwrap_or_default();
        let text = content.as_deref().and_then(text)?;
        Some(match self.kind.as_str() {
            "user/message" => of_user(source, text.into()),
            "assistant/message" => Said::Model {
                model: match source.model {
                    Some(Value::String(model)) => model,
                    _ => String::new(),
                },
                text: text.into(),
            },
            "tool/result" => {
                let end = text.floor_char_boundary(MAX_RESULT_BYTES);
                Said::Tool {
                    call: source.call_id.or(data.call_id).unwrap_or_default(),
                    text: text.get(..end).unwrap_or_default().into(),
                }
            }
            _ => Said::Hidden,
        })
    }
}

/// Only `user` is a person. A compaction was a plugin like any other up to
/// version 3, and has a kind of its own since.
pub(super) fn of_user(source: Source, text: Text) -> Said {
    let kind = source.kind.unwrap_or_default();
    match (kind.as_str(), source.plugin) {
        ("user", _) => Said::Person(text),
        ("compact-checkpoint", _) => Said::Checkpoint {
            id: source.compaction_id.unwrap_or_default(),
            text,
        },
        ("plugin", Some(plugin)) if plugin == "compact" => Said::Checkpoint {
            id: source.compaction_id.unwrap_or_default(),
            text,
        },
        ("plugin", Some(plugin)) => Said::Injected { by: plugin, text },
        _ => Said::Injected { by: kind, text },
    }
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    content: Option<Box<RawValue>>,
}

/// The text blocks of a content, joined with line feeds; those of tool results
/// up to version 3 are one level further down. `None` when it is no content.
fn text(content: &RawValue) -> Option<String> {
    let content = content.get();
    if content.starts_with('"') {
        return serde_json::from_str(content).ok();
    }
    let blocks: Vec<Block> = serde_json::from_str(content).ok()?;
    let mut known = blocks.is_empty();
    let mut texts: Vec<String> = Vec::new();
    for block in blocks {
        match (block.kind.as_str(), block.text, block.content) {
            ("text", Some(text), _) => texts.push(text),
            ("tool-result", _, Some(inner)) => texts.extend(inner_text(&inner)),
            ("reasoning" | "tool-call" | "tool-result" | "image" | "file", ..) => {}
            _ => continue,
        }
        known = true;
    }
    known.then(|| texts.join("\n"))
}

fn inner_text(content: &RawValue) -> Option<String> {
    let content = content.get();
    if content.starts_with('"') {
        return serde_json::from_str(content).ok();
    }
    let blocks: Vec<Block> = serde_json::from_str(content).ok()?;
    let texts: Vec<String> = blocks.into_iter().filter_map(|block| block.text).collect();
    Some(texts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(json: &str) -> Row {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn operations_have_two_forms_of_keys() {
        let op = |op: &str| row(&format!(r#"{{"type":"t","surfaceOp":{op}}}"#)).op();
        assert_eq!(op(r#""append""#), Op::Append);
        assert_eq!(
            op(r#"{"op":"replace","start":4,"end":5}"#),
            Op::Replace(4, 5)
        );
        assert_eq!(
            op(r#"{"op":"replace","startSeq":54,"endSeq":49}"#),
            Op::Replace(54, 49)
        );
        assert_eq!(op(r#"{"op":"prepend"}"#), Op::Unknown);
        assert_eq!(op(r#""prepend""#), Op::Unknown);
        assert_eq!(row(r#"{"type":"t"}"#).op(), Op::Append);
    }

    #[test]
    fn a_moment_may_have_a_fraction() {
        let row = row(r#"{"type":"session","time":7.9,"createdAt":8e3}"#);
        assert_eq!((row.time, row.created_at), (Some(7), Some(8000)));
    }

    #[test]
    fn a_packed_row_stands_for_its_members() {
        let texts = row(r#"{"type":"text-chunks","data":{"texts":["a","b","c"]}}"#);
        let args = row(r#"{"type":"tool-call-chunks","data":{"args":["",""]}}"#);
        assert_eq!((texts.members(), args.members()), (3, 2));
    }

    fn said(kind: &str, data: &str) -> String {
        match row(&format!(r#"{{"type":"{kind}","data":{data}}}"#)).said() {
            None => "unknown".to_owned(),
            Some(Said::Hidden) => "hidden".to_owned(),
            Some(Said::Person(text)) => format!("person: {text}"),
            Some(Said::Injected { by, text }) => format!("by {by}: {text}"),
            Some(Said::Checkpoint { id, text }) => format!("checkpoint {id}: {text}"),
            Some(Said::Model { model, text }) => format!("model {model}: {text}"),
            Some(Said::Tool { call, text }) => format!("tool {call}: {text}"),
        }
    }

    fn user(source: &str) -> String {
        let data = format!(r#"{{"content":[{{"type":"text","text":"x"}}],"source":{source}}}"#);
        said("user/message", &data)
    }

    #[test]
    fn only_the_kind_user_is_a_person() {
        assert_eq!(user(r#"{"kind":"user","rpcId":"r"}"#), "person: x");
        assert_eq!(user(r#"{"kind":"plugin","plugin":"p"}"#), "by p: x");
        assert_eq!(user(r#"{"kind":"goal"}"#), "by goal: x");
        assert_eq!(
            user(r#"{"kind":"runtime-context"}"#),
            "by runtime-context: x"
        );
        assert_eq!(user("null"), "by : x");
    }

    #[test]
    fn a_compaction_is_a_plugin_or_a_kind_of_its_own() {
        let old = r#"{"kind":"plugin","plugin":"compact","compactionId":"c"}"#;
        let new = r#"{"kind":"compact-checkpoint","compactionId":"c"}"#;
        assert_eq!(user(old), "checkpoint c: x");
        assert_eq!(user(new), "checkpoint c: x");
    }

    #[test]
    fn a_model_says_its_text_blocks_and_nothing_else() {
        let content = r#"[{"type":"reasoning","text":"hm"},{"type":"text","text":"a"},
            {"type":"tool-call","id":"1"},{"type":"text","text":"b"}]"#;
        let message = format!(r#"{{"message":{{"content":{content},"source":{{"model":"m"}}}}}}"#);
        assert_eq!(said("assistant/message", &message), "model m: a\nb");
        let early = format!(r#"{{"content":{content},"provenance":{{"model":"m"}}}}"#);
        assert_eq!(said("assistant/message", &early), "model m: a\nb");
    }

    #[test]
    fn a_tool_result_has_three_forms() {
        let text = r#"[{"type":"text","text":"out"}]"#;
        let early = format!(r#"{{"callId":"c","content":{text},"isError":false}}"#);
        let packed = format!(
            r#"{{"message":{{"source":{{"callId":"c"}},"content":[{{"type":"tool-result","content":{text}}}]}}}}"#
        );
        let lifted = format!(
            r#"{{"message":{{"role":"tool","source":{{"callId":"c"}},"content":{text}}}}}"#
        );
        for data in [early, packed, lifted] {
            assert_eq!(said("tool/result", &data), "tool c: out", "{data}");
        }
    }

    #[test]
    fn what_the_system_says_is_hidden() {
        let data = r#"{"message":{"content":[{"type":"text","text":"x"}]}}"#;
        assert_eq!(said("system/message", data), "hidden");
        assert_eq!(said("developer/message", data), "hidden");
    }

    #[test]
    fn a_content_of_no_known_form_says_so() {
        assert_eq!(
            said("assistant/message", r#"{"content":{"new":1}}"#),
            "unknown"
        );
        assert_eq!(
            said("assistant/message", r#"{"content":[{"type":"new"}]}"#),
            "unknown"
        );
        assert_eq!(said("assistant/message", r#"{"new":1}"#), "unknown");
        assert_eq!(said("assistant/message", r#"{"content":[]}"#), "model : ");
    }
}
