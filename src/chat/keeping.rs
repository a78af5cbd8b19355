//! What comes of an answer is written down while it comes, so that a program
//! that ends in the middle loses no more than the last moment.
//!
//! Each write is a log-only event of what is new since the one before. A whole
//! answer is a message of its own all the same: these events only count where
//! no end of the turn follows them.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::answer::{Answer, Received};
use super::compaction::{COMPACTION_ID, Compaction};
use super::{Chat, Effect, Failure, Generation, Notice, log};
use crate::session::{Event, Payload};

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
