//! What a model is sent of a conversation, whatever the wire format.
//!
//! Standing instructions come first, as one text. The rest are turns of the
//! person's side and the model's, one after the other: servers refuse two
//! turns of one side in a row, empty texts, and instructions in the middle.
//! Reasoning is never sent back.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Options, Request};
use crate::session::{Message, Role};

/// The messages of a request in the shape that every server takes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Prompt {
    /// Standing instructions; `None` when there are none.
    pub(super) system: Option<String>,
    /// The turns; no two of one side follow one another.
    pub(super) turns: Vec<Turn>,
}

/// What one side says at once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) side: Side,
    /// At least one; none of them blank.
    pub(super) texts: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Person,
    Model,
}

/// What is between texts that have to be sent as one.
const BETWEEN: &str = "\n\n";

impl Turn {
    pub(super) fn joined(&self) -> String {
        self.texts.join(BETWEEN)
    }
}

impl Prompt {
    pub(super) fn of(messages: &[Arc<Message>]) -> Self {
        let mut system = Vec::new();
        let mut turns: Vec<Turn> = Vec::new();
        for message in messages {
            let text = message.text();
            if text.trim().is_empty() {
                continue;
            }
            let side = match message.role {
                Role::System => {
                    system.push(text);
                    continue;
                }
                Role::User | Role::Tool => Side::Person,
                Role::Assistant => Side::Model,
            };
            match turns.last_mut() {
                Some(last) if last.side == side => last.texts.push(text),
                _ => turns.push(Turn {
                    side,
                    texts: vec![text],
                }),
            }
        }
        Self {
            system: (!system.is_empty()).then(|| system.join(BETWEEN)),
            turns,
        }
    }

    /// The turns as most servers take them: `{"role", "content"}`.
    pub(super) fn role_messages(self, with_system: bool) -> Vec<Value> {
        let system = self.system.filter(|_| with_system);
        let system = system.map(|text| role_message("system", text));
        let turns = self.turns.iter().map(|turn| {
            let role = match turn.side {
                Side::Person => "user",
                Side::Model => "assistant",
            };
            role_message(role, turn.joined())
        });
        system.into_iter().chain(turns).collect()
    }
}

fn role_message(role: &str, content: String) -> Value {
    object([("role", role.into()), ("content", content.into())])
}

/// A JSON object with its keys in this order.
pub(super) fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries.map(|(key, value)| (key.to_owned(), value));
    Value::Object(Map::from_iter(entries))
}

/// The bytes of a body with the options' further keys in it. Objects are
/// joined, `null` takes a key out, and `fixed` keys stay as they are.
pub(super) fn finish(mut body: Value, options: &Options, fixed: &[&str]) -> Vec<u8> {
    for (key, value) in &options.extra {
        if let Some(map) = body.as_object_mut()
            && !fixed.contains(&key.as_str())
        {
            merge(map, key, value);
        }
    }
    body.to_string().into_bytes()
}

/// Joins one key of a JSON object into another object.
pub(super) fn merge(map: &mut Map<String, Value>, key: &str, value: &Value) {
    match (map.get_mut(key), value) {
        (_, Value::Null) => drop(map.shift_remove(key)),
        (Some(Value::Object(old)), Value::Object(new)) => {
            for (key, value) in new {
                merge(old, key, value);
            }
        }
        _ => drop(map.insert(key.to_owned(), value.clone())),
    }
}

impl Request {
    pub(super) fn prompt(&self) -> Prompt {
        Prompt::of(&self.messages)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::session::{Block, Source};

    fn message(role: Role, content: Vec<Block>) -> Arc<Message> {
        Arc::new(Message::new(role, Source::person(), content))
    }

    fn says(role: Role, text: &str) -> Arc<Message> {
        message(role, vec![Block::text(text)])
    }

    #[test]
    fn texts_of_one_side_in_a_row_are_one_turn() {
        let prompt = Prompt::of(&[
            says(Role::User, "look at this"),
            says(Role::User, "## Referenced sessions"),
            says(Role::Assistant, "a"),
            says(Role::Tool, "b"),
        ]);
        assert_eq!(
            prompt.role_messages(true),
            [
                json!({"role": "user", "content": "look at this\n\n## Referenced sessions"}),
                json!({"role": "assistant", "content": "a"}),
                json!({"role": "user", "content": "b"}),
            ]
        );
    }

    #[test]
    fn instructions_come_first_as_one_text() {
        let prompt = Prompt::of(&[
            says(Role::System, "be brief"),
            says(Role::User, "hello"),
            says(Role::System, "be kind"),
            says(Role::User, "bye"),
        ]);
        assert_eq!(prompt.system.as_deref(), Some("be brief\n\nbe kind"));
        assert_eq!(prompt.turns.len(), 1);
    }

    #[test]
    fn nothing_blank_and_no_reasoning_is_sent() {
        let prompt = Prompt::of(&[
            says(Role::System, "\n"),
            says(Role::User, "hello"),
            message(Role::Assistant, vec![Block::reasoning("hm")]),
            says(Role::User, " "),
            message(
                Role::Assistant,
                vec![Block::reasoning("hm"), Block::text("a"), Block::text("b")],
            ),
        ]);
        assert_eq!(prompt.system, None);
        assert_eq!(
            prompt.role_messages(true),
            [
                json!({"role": "user", "content": "hello"}),
                json!({"role": "assistant", "content": "a\nb"}),
            ]
        );
    }

    #[test]
    fn further_keys_join_the_body_and_never_change_what_is_fixed() {
        let extra = json!({"model": "other", "o": {"b": 2, "a": null}, "x": null, "new": 1});
        let options = Options {
            extra: extra.as_object().cloned().unwrap_or_default(),
            ..Options::default()
        };
        let body = json!({"model": "m", "o": {"a": 1, "c": 3}, "x": true});
        assert_eq!(
            String::from_utf8_lossy(&finish(body, &options, &["model"])),
            r#"{"model":"m","o":{"c":3,"b":2},"new":1}"#
        );
    }
}
