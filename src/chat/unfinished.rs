//! Ends what a program left open when it ended itself, by what its log tells:
//! an answer or a summary that is there whole stays what it is.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::compaction::{self, COMPACT_END, COMPACT_START, COMPACTION_ID, is_of_summary};
use super::keeping::DELTA;
use super::request::is_for_answer;
use super::{ATTEMPT, FINISH, REQUEST_HEADER, TURN_END, TURN_START};
use crate::session::{Event, MessageKind, Payload, Session};

/// What ends a turn or a compaction that a program left open when it ended
/// itself. What had come of an answer that is not there whole becomes an attempt.
/// Nothing where none is open.
#[must_use]
pub fn unfinished(session: &Session) -> Vec<Payload> {
    let mut end = unfinished_compaction(session);
    end.extend(unfinished_turn(session));
    end
}

/// The events from the last one of type `start` on, where none of type `end`
/// follows it.
fn left_open<'s>(session: &'s Session, start: &str, end: &str) -> Option<&'s [Arc<Event>]> {
    let is = |event: &Arc<Event>, kind| event.payload.type_name() == kind;
    let events = session.events();
    let at = events.iter().rposition(|event| is(event, start))?;
    let since = events.get(at..)?;
    (!since.iter().any(|event| is(event, end))).then_some(since)
}

/// The provider and the model that a request header names.
fn asked_of(header: &Value) -> impl Iterator<Item = (String, Value)> {
    let value = |key| header.pointer(&format!("/header/config/{key}"));
    let named = ["provider", "model"].map(|key| Some((key.to_owned(), value(key)?.clone())));
    named.into_iter().flatten()
}

/// How an attempt that is in the log ended what it is of.
fn outcome_of(attempt: &Value) -> &'static str {
    if attempt.get("error").is_some() {
        "failed"
    } else {
        "interrupted"
    }
}

/// What the log holds of a turn that was left open.
#[derive(Default)]
struct Turn {
    number: Option<Value>,
    from: Vec<(String, Value)>,
    text: String,
    reasoning: String,
    /// How it came to its end, where the log tells, and why the model ended it.
    outcome: Option<&'static str>,
    finish: Option<Value>,
    /// What ended it, where that was an error.
    error: Option<Value>,
}

impl Turn {
    fn take(&mut self, event: &Event) {
        match &event.payload {
            Payload::Message {
                kind: MessageKind::Assistant,
                envelope,
                ..
            } if envelope.get("turn") == self.number.as_ref() => {
                self.outcome = Some("complete");
                self.finish = envelope.get(FINISH).cloned();
            }
            Payload::Message { .. } => {}
            Payload::LogOnly { kind, data } => self.note(kind, data),
        }
    }

    fn note(&mut self, kind: &str, data: &Value) {
        let said = |key| data.get(key).and_then(Value::as_str).unwrap_or_default();
        let is_its_own = || data.get("turn") == self.number.as_ref();
        match kind {
            TURN_START => self.number = data.get("turn").cloned(),
            REQUEST_HEADER if is_for_answer(data) => self.from = asked_of(data).collect(),
            DELTA if data.get("turn").is_some() => {
                self.text.push_str(said("text"));
                self.reasoning.push_str(said("reasoning"));
            }
            ATTEMPT if !is_of_summary(data) && is_its_own() => {
                self.outcome = Some(outcome_of(data));
                self.error = data.get("error").cloned();
            }
            _ => {}
        }
    }

    fn end(self) -> Vec<Payload> {
        let number = self.number.map(|number| ("turn".to_owned(), number));
        let mut end = Map::from_iter(number.clone());
        let outcome = self.outcome.unwrap_or("interrupted");
        end.insert("outcome".to_owned(), outcome.into());
        end.extend(self.finish.map(|finish| (FINISH.to_owned(), finish)));
        end.extend(self.error.map(|error| ("error".to_owned(), error)));
        let end = Payload::log_only(TURN_END, Value::Object(end));
        let is_told = self.outcome.is_some();
        if is_told || self.text.is_empty() && self.reasoning.is_empty() {
            return vec![end];
        }
        let from = number.into_iter().chain(self.from);
        let mut attempt: Map<String, Value> = from.collect();
        attempt.insert("text".to_owned(), self.text.into());
        if !self.reasoning.is_empty() {
            attempt.insert("reasoning".to_owned(), self.reasoning.into());
        }
        attempt.insert("interrupted".to_owned(), true.into());
        vec![Payload::log_only(ATTEMPT, Value::Object(attempt)), end]
    }
}

fn unfinished_turn(session: &Session) -> Vec<Payload> {
    let Some(since) = left_open(session, TURN_START, TURN_END) else {
        return Vec::new();
    };
    let mut turn = Turn::default();
    for event in since {
        turn.take(event);
    }
    turn.end()
}

fn unfinished_compaction(session: &Session) -> Vec<Payload> {
    let Some(since) = left_open(session, COMPACT_START, COMPACT_END) else {
        return Vec::new();
    };
    let mut id = "";
    let mut from = Vec::new();
    let mut text = String::new();
    let mut outcome = None;
    for event in since {
        let (kind, data) = match &event.payload {
            Payload::LogOnly { kind, data } => (kind.as_str(), data),
            Payload::Message { message, .. } => {
                let of = message.source.rest.get(COMPACTION_ID);
                if message.source.is_checkpoint() && of.and_then(Value::as_str) == Some(id) {
                    outcome = Some("complete");
                }
                continue;
            }
        };
        let word = |key| data.get(key).and_then(Value::as_str).unwrap_or_default();
        match kind {
            COMPACT_START => id = word(COMPACTION_ID),
            REQUEST_HEADER if from.is_empty() => from.extend(asked_of(data)),
            DELTA if word(COMPACTION_ID) == id => text.push_str(word("text")),
            ATTEMPT if word(COMPACTION_ID) == id => outcome = Some(outcome_of(data)),
            _ => {}
        }
    }
    let end = json!({COMPACTION_ID: id, "outcome": outcome.unwrap_or("interrupted")});
    let end = Payload::log_only(COMPACT_END, end);
    let attempt = outcome
        .is_none()
        .then(|| compaction::attempt(id, from, &text, None));
    attempt.flatten().into_iter().chain([end]).collect()
}
