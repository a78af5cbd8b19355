//! What comes of an answer is written down while it comes, so that a program
//! that ends in the middle loses no more than the last moment.
//!
//! Each write is a log-only event of what is new since the one before. A whole
//! answer is a message of its own all the same: these events only count where
//! no end of the turn follows them.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::answer::{Answer, Received};
use super::compaction::{self, COMPACTION_ID, Compaction};
use super::request::is_for_answer;
use super::{ATTEMPT, Chat, Effect, Failure, Generation, Notice, REQUEST_HEADER};
use super::{TURN_END, TURN_START, log};
use crate::session::{Event, Payload, Session};

/// The event that holds what came of an answer since the one before.
pub const DELTA: &str = "assistant/delta";

/// How much of the answer under way is in the log.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    /// The write under way, and how much it writes.
    asked: Option<(Generation, Kept)>,
    kept: Kept,
    /// It was time to write again while that write was under way.
    due: Option<Generation>,
    /// The person was told that it can't be written.
    told: bool,
}

/// How much of an answer, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kept {
    text: usize,
    reasoning: usize,
}

impl Keeping {
    pub(super) fn is_asked_by(&self, generation: Generation) -> bool {
        matches!(self.asked, Some((asked, _)) if asked == generation)
    }

    /// The next answer begins.
    pub(super) fn begin(&mut self) {
        self.kept = Kept::default();
        self.due = None;
        self.told = false;
    }
}

impl Chat {
    /// Writes what came since the last time: at once, or when the write that is
    /// under way has ended.
    pub(super) fn keep(&mut self, asked: Generation) -> Vec<Effect> {
        let Some((of, received)) = self.kept_by(asked) else {
            return Vec::new();
        };
        if self.keeping.asked.is_some() {
            self.keeping.due = Some(asked);
            return Vec::new();
        }
        let kept = self.keeping.kept;
        let now = Kept {
            text: received.text.len(),
            reasoning: received.reasoning.len(),
        };
        if now == kept {
            return Vec::new();
        }
        let mut data = Map::from_iter([of]);
        for (key, whole, from) in [
            ("text", &received.text, kept.text),
            ("reasoning", &received.reasoning, kept.reasoning),
        ] {
            let new = whole.get(from..).unwrap_or_default();
            if !new.is_empty() {
                data.insert(key.to_owned(), new.into());
            }
        }
        let delta = Payload::log_only(DELTA, Value::Object(data));
        let generation = self.next_generation();
        self.keeping.asked = Some((generation, now));
        vec![log(generation, vec![delta])]
    }

    /// What comes in under this generation and is to be kept: what it is of,
    /// and all that came.
    fn kept_by(&self, asked: Generation) -> Option<((String, Value), &Received)> {
        match (&self.answer, &self.compaction) {
            (
                Answer::Streaming {
                    generation,
                    received,
                },
                _,
            ) if *generation == asked => Some((("turn".to_owned(), self.turn().into()), received)),
            (
                _,
                Compaction::Streaming {
                    generation,
                    job,
                    received,
                },
            ) if *generation == asked => {
                let id = job.id.clone().into();
                Some(((COMPACTION_ID.to_owned(), id), received))
            }
            _ => None,
        }
    }

    pub(super) fn kept(&mut self, outcome: Result<Vec<Arc<Event>>, Failure>) -> Vec<Effect> {
        let Some((_, now)) = self.keeping.asked.take() else {
            return Vec::new();
        };
        match outcome {
            Ok(events) => {
                self.keeping.kept = now;
                let mut effects = self.absorb(events);
                if let Some(due) = self.keeping.due.take() {
                    effects.extend(self.keep(due));
                }
                effects
            }
            Err(_) if self.keeping.told => Vec::new(),
            Err(failure) => {
                self.keeping.told = true;
                vec![Effect::Say(Notice::Failed(Failure {
                    message: format!(
                        "{}; the answer goes on, and is written when it has ended",
                        failure.message
                    ),
                    ..failure
                }))]
            }
        }
    }
}

/// What ends a turn or a compaction that a program left open when it ended
/// itself: what had come of the answer becomes an attempt. Nothing where none
/// is open.
#[must_use]
pub fn unfinished(session: &Session) -> Vec<Payload> {
    let mut end = compaction::unfinished(session);
    end.extend(unfinished_turn(session));
    end
}

fn unfinished_turn(session: &Session) -> Vec<Payload> {
    let log_only = |event: &Arc<Event>, kind| event.payload.type_name() == kind;
    let events = session.events();
    let Some(start) = events.iter().rposition(|event| log_only(event, TURN_START)) else {
        return Vec::new();
    };
    let turn = events.get(start..).unwrap_or_default();
    if turn.iter().any(|event| log_only(event, TURN_END)) {
        return Vec::new();
    }
    let mut attempt = Map::new();
    let mut end = Map::new();
    let (mut text, mut reasoning) = (String::new(), String::new());
    for event in turn {
        let Payload::LogOnly { kind, data } = &event.payload else {
            continue;
        };
        let said = |key| data.get(key).and_then(Value::as_str).unwrap_or_default();
        match kind.as_str() {
            TURN_START => {
                if let Some(turn) = data.get("turn") {
                    attempt.insert("turn".to_owned(), turn.clone());
                    end.insert("turn".to_owned(), turn.clone());
                }
            }
            REQUEST_HEADER if is_for_answer(data) => {
                for key in ["provider", "model"] {
                    if let Some(value) = data.pointer(&format!("/header/config/{key}")) {
                        attempt.insert(key.to_owned(), value.clone());
                    }
                }
            }
            DELTA if data.get("turn").is_some() => {
                text.push_str(said("text"));
                reasoning.push_str(said("reasoning"));
            }
            _ => {}
        }
    }
    end.insert("outcome".to_owned(), "interrupted".into());
    let end = Payload::log_only(TURN_END, Value::Object(end));
    if text.is_empty() && reasoning.is_empty() {
        return vec![end];
    }
    attempt.insert("text".to_owned(), text.into());
    if !reasoning.is_empty() {
        attempt.insert("reasoning".to_owned(), reasoning.into());
    }
    attempt.insert("interrupted".to_owned(), true.into());
    vec![Payload::log_only(ATTEMPT, Value::Object(attempt)), end]
}
