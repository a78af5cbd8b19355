//! The records of a Gemini CLI file, as far as they matter here.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::source::loose::{Content, Excerpt, List, Object, Word};

/// One line, or the whole of an older file: about the session, a message, or a
/// change of what came before.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) session_id: Word,
    pub(super) project_hash: Word,
    pub(super) start_time: Word,
    pub(super) last_updated: Word,
    pub(super) summary: Word,
    /// `main` or `subagent`.
    #[serde(rename = "kind")]
    pub(super) session_kind: Word,
    pub(super) messages: Option<List<Object<Message>>>,
    #[serde(rename = "$set")]
    pub(super) set: Option<Box<Object<Record>>>,
    #[serde(rename = "$rewindTo")]
    pub(super) rewind_to: Option<Word>,
    // Those of a message, when the line is one.
    id: Word,
    timestamp: Word,
    #[serde(rename = "type")]
    kind: Word,
    content: Option<Content<Part>>,
    display_content: Option<Content<Part>>,
    model: Word,
    tool_calls: Option<List<Object<ToolCall>>>,
}

impl Record {
    /// The message that the line is; `None` when it is none.
    pub(super) fn into_message(self) -> Option<Message> {
        self.id.get()?;
        Some(Message {
            id: self.id,
            timestamp: self.timestamp,
            kind: self.kind,
            content: self.content,
            display_content: self.display_content,
            model: self.model,
            tool_calls: self.tool_calls,
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Message {
    pub(super) id: Word,
    pub(super) timestamp: Word,
    #[serde(rename = "type")]
    pub(super) kind: Word,
    pub(super) content: Option<Content<Part>>,
    /// What a person typed, when the tool sent the model something else.
    pub(super) display_content: Option<Content<Part>>,
    pub(super) model: Word,
    pub(super) tool_calls: Option<List<Object<ToolCall>>>,
}

impl Message {
    /// Takes over what a later record of the same id says.
    pub(super) fn update(&mut self, later: Self) {
        fn word(known: &mut Word, later: Word) {
            if later.get().is_some() {
                *known = later;
            }
        }
        word(&mut self.timestamp, later.timestamp);
        word(&mut self.kind, later.kind);
        word(&mut self.model, later.model);
        if later.content.is_some() {
            self.content = later.content;
        }
        if later.display_content.is_some() {
            self.display_content = later.display_content;
        }
        if later.tool_calls.is_some() {
            self.tool_calls = later.tool_calls;
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Part {
    pub(super) text: Word,
    /// `true` for the model's reasoning.
    thought: Value,
    // Known, and no words of the dialogue.
    code_execution_result: Option<IgnoredAny>,
    executable_code: Option<IgnoredAny>,
    file_data: Option<IgnoredAny>,
    function_call: Option<IgnoredAny>,
    function_response: Option<IgnoredAny>,
    inline_data: Option<IgnoredAny>,
}

impl Part {
    pub(super) fn is_thought(&self) -> bool {
        !matches!(self.thought, Value::Null | Value::Bool(false))
    }

    /// Whether it is of a known form.
    pub(super) fn is_known(&self) -> bool {
        let silent = [
            self.code_execution_result,
            self.executable_code,
            self.file_data,
            self.function_call,
            self.function_response,
            self.inline_data,
        ];
        self.text.get().is_some() || self.is_thought() || silent.iter().any(Option::is_some)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolCall {
    pub(super) id: Word,
    pub(super) result: Excerpt,
}
