//! A summary in place of what was said before: asked for, streamed, put on the
//! surface in one write. Whatever goes wrong changes nothing there.

mod instruction;
mod plan;

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::answer::{Received, usage_json, waits};
use super::fitting::Wanted;
use super::{ATTEMPT, Chat, Effect, FINISH, Failure, Generation, Notice};
use super::{RequestHeader, View, log};
use crate::figures::counted;
use crate::model::{Delta, FinishReason, ModelError, Purpose};
use crate::session::{Entry, Event, Payload};
pub use instruction::{COMPACTED, KEPT};
use plan::Plan;

/// The event that begins a compaction.
pub const COMPACT_START: &str = "compact/start";
/// The event that ends a compaction, whether it came to anything or not.
pub const COMPACT_END: &str = "compact/end";
/// Where the events of a compaction name it.
pub(super) const COMPACTION_ID: &str = "compactionId";

/// The summary on its way in.
#[derive(Debug, Default)]
pub(super) enum Compaction {
    #[default]
    None,
    Starting {
        generation: Generation,
        job: Job,
        header: Arc<RequestHeader>,
        /// The person called it off after the write began.
        cancelled: bool,
    },
    Streaming {
        generation: Generation,
        job: Job,
        received: Received,
    },
    Saving {
        generation: Generation,
        job: Job,
        text: String,
        /// Whether it ends with a summary.
        is_whole: bool,
    },
}

/// One compaction.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) id: String,
    plan: Plan,
}

/// How a compaction came to its end without a summary.
enum Outcome {
    Interrupted,
    Failed(Failure),
}

impl Compaction {
    pub(super) fn is_under_way(&self) -> bool {
        !matches!(self, Self::None)
    }

    pub(super) fn is_written_by(&self, asked: Generation) -> bool {
        match self {
            Self::Starting { generation, .. } | Self::Saving { generation, .. } => {
                *generation == asked
            }
            Self::None | Self::Streaming { .. } => false,
        }
    }

    pub(super) fn is_asked_by(&self, asked: Generation) -> bool {
        matches!(self, Self::Streaming { generation, .. } if *generation == asked)
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self, Self::Streaming { received, .. } if received.is_waiting)
    }

    /// The summary so far.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Starting { .. } => Some(""),
            Self::Streaming { received, .. } => Some(&received.text),
            Self::Saving { text, .. } => Some(text),
        }
    }
}

impl Chat {
    /// Asks for a summary of what was said, that gives weight to `hint`.
    pub(super) fn compact(&mut self, hint: Option<&str>) -> Vec<Effect> {
        let refuse = |why: &str| vec![Effect::Say(Notice::Info(why.to_owned()))];
        if let Some(why) = self.no_compaction_now() {
            return refuse(why);
        }
        let window = self.chosen.context_window;
        let Some(plan) = Plan::of(&self.session, window) else {
            return refuse("there is nothing to compact yet: the last turn stays as it is");
        };
        let hint = hint.map(str::trim).filter(|hint| !hint.is_empty());
        let instruction = instruction::instruction(hint);
        let too_long = self.too_long_to_compact(plan.sent, &instruction);
        if let Some(too_long) = self.refusal(Wanted::Summary, too_long) {
            return vec![Effect::Say(too_long)];
        }
        let turn = self.turn();
        let header = RequestHeader::beside(
            (turn, self.chosen.config.clone()),
            Purpose::Summary,
            plan.sent,
            instruction,
        );
        let job = Job {
            id: uuid::Uuid::now_v7().to_string(),
            plan,
        };
        let start = json!({COMPACTION_ID: job.id, "turn": turn});
        let asked = match header.event() {
            Ok(asked) => asked,
            Err(failure) => return vec![nothing_changed(failure)],
        };
        let payloads = vec![Payload::log_only(COMPACT_START, start), asked];
        let generation = self.next_generation();
        self.compaction = Compaction::Starting {
            generation,
            job,
            header: Arc::new(header),
            cancelled: false,
        };
        vec![log(generation, payloads)]
    }

    /// Why no compaction can begin now: one thing is under way at a time.
    fn no_compaction_now(&self) -> Option<&'static str> {
        if self.compaction.is_under_way() {
            Some("the conversation is being compacted already; Esc stops that")
        } else if self.answer.is_under_way() {
            Some("an answer is under way: compact when it has ended, or stop it with Esc")
        } else if !matches!(self.outgoing(), View::None) {
            Some("a message is on its way: compact when it is answered, or take it back with Esc")
        } else if self.unsaved.is_some() {
            Some("the last answer is not saved yet: Esc tries to save it; compact then")
        } else {
            None
        }
    }

    /// The summary so far, while a compaction is under way.
    #[must_use]
    pub fn compacting(&self) -> Option<&str> {
        self.compaction.text()
    }

    pub(super) fn compaction_logged(
        &mut self,
        outcome: Result<Vec<Arc<Event>>, Failure>,
    ) -> Vec<Effect> {
        match std::mem::take(&mut self.compaction) {
            Compaction::Starting {
                job,
                header,
                cancelled,
                ..
            } => self.compaction_started(job, header, cancelled, outcome),
            Compaction::Saving { job, is_whole, .. } => {
                self.compaction_saved(&job, is_whole, outcome)
            }
            other => {
                self.compaction = other;
                Vec::new()
            }
        }
    }

    fn compaction_started(
        &mut self,
        job: Job,
        header: Arc<RequestHeader>,
        cancelled: bool,
        outcome: Result<Vec<Arc<Event>>, Failure>,
    ) -> Vec<Effect> {
        let events = match outcome {
            Ok(events) => events,
            Err(failure) => {
                let mut effects = vec![nothing_changed(failure)];
                effects.extend(self.release_waiting());
                return effects;
            }
        };
        let mut effects = self.absorb(events);
        let received = Received::of(&header);
        if cancelled {
            effects.extend(self.end_compaction(job, &received, &Outcome::Interrupted));
            return effects;
        }
        let generation = self.next_generation();
        self.keeping.begin();
        self.compaction = Compaction::Streaming {
            generation,
            job,
            received,
        };
        let surface = self.session.surface().map(Arc::clone).collect();
        effects.push(Effect::Ask(generation, header, surface));
        effects
    }

    pub(super) fn summary_delta(&mut self, delta: Delta) -> Vec<Effect> {
        // How the model came to its summary is of no use later.
        let Compaction::Streaming { received, .. } = &mut self.compaction else {
            return Vec::new();
        };
        if matches!(delta, Delta::Reasoning(_)) {
            received.is_waiting = false;
            return Vec::new();
        }
        let waiting = received.take(delta);
        waiting.as_ref().map(waits).into_iter().collect()
    }

    pub(super) fn summary_ended(&mut self, error: Option<&ModelError>) -> Vec<Effect> {
        let (job, received) = match std::mem::take(&mut self.compaction) {
            Compaction::Streaming { job, received, .. } => (job, received),
            other => {
                self.compaction = other;
                return Vec::new();
            }
        };
        match error.map(Failure::from).or(no_summary(&received)) {
            None => self.save_summary(job, received),
            Some(failure) => {
                let mut effects = vec![nothing_changed(failure.clone())];
                effects.extend(self.end_compaction(job, &received, &Outcome::Failed(failure)));
                effects
            }
        }
    }

    /// Puts the summary in place of what it stands for.
    fn save_summary(&mut self, job: Job, received: Received) -> Vec<Effect> {
        let checkpoint = Payload::user(instruction::checkpoint(&job.id, &received.text, &job.plan));
        let mut end = Map::new();
        end.insert(COMPACTION_ID.to_owned(), job.id.clone().into());
        end.insert("outcome".to_owned(), "complete".into());
        end.extend(
            received
                .usage
                .map(|usage| ("usage".to_owned(), usage_json(usage))),
        );
        let entries = vec![
            Entry::replacing(checkpoint, job.plan.range, job.plan.replaced.clone()),
            Payload::log_only(COMPACT_END, Value::Object(end)).into(),
        ];
        let generation = self.next_generation();
        self.compaction = Compaction::Saving {
            generation,
            job,
            text: received.text,
            is_whole: true,
        };
        vec![Effect::Log(generation, entries)]
    }

    /// Ends a compaction that came to nothing. What came of it is kept beside
    /// the conversation.
    fn end_compaction(&mut self, job: Job, received: &Received, outcome: &Outcome) -> Vec<Effect> {
        let error = match outcome {
            Outcome::Interrupted => None,
            Outcome::Failed(failure) => Some(json!({"code": failure.code})),
        };
        let from = &received.from;
        let from = [("provider", &from.provider), ("model", &from.model)];
        let from = from.map(|(key, name)| (key.to_owned(), name.clone().into()));
        let mut payloads: Vec<_> = attempt(&job.id, from, &received.text, error.as_ref())
            .into_iter()
            .collect();
        let mut end = Map::new();
        end.insert(COMPACTION_ID.to_owned(), job.id.clone().into());
        let word = if error.is_some() {
            "failed"
        } else {
            "interrupted"
        };
        end.insert("outcome".to_owned(), word.into());
        end.extend(error.map(|error| ("error".to_owned(), error)));
        if let Some(finish) = received.finish {
            end.insert(FINISH.to_owned(), finish.as_str().into());
        }
        payloads.push(Payload::log_only(COMPACT_END, Value::Object(end)));
        let generation = self.next_generation();
        self.compaction = Compaction::Saving {
            generation,
            job,
            text: received.text.clone(),
            is_whole: false,
        };
        vec![log(generation, payloads)]
    }

    fn compaction_saved(
        &mut self,
        job: &Job,
        is_whole: bool,
        outcome: Result<Vec<Arc<Event>>, Failure>,
    ) -> Vec<Effect> {
        let mut effects = match outcome {
            Ok(events) => {
                let mut effects = self.absorb(events);
                if is_whole && effects.is_empty() {
                    effects.push(Effect::Say(Notice::Info(self.compacted(&job.plan))));
                }
                effects
            }
            Err(failure) => vec![nothing_changed(failure)],
        };
        effects.extend(self.release_waiting());
        effects
    }

    fn compacted(&self, plan: &Plan) -> String {
        let share = self.window_share();
        let share = share.map(|share| format!("; {share}% of the window is used now"));
        let share = share.unwrap_or_default();
        let messages = counted(plan.compacted, "message");
        let are = if plan.compacted == 1 { "is" } else { "are" };
        format!("{messages} {are} compacted into a summary{share}")
    }

    /// Calls the compaction off; `None` where none is under way.
    pub(super) fn cancel_compaction(&mut self) -> Option<Vec<Effect>> {
        match std::mem::take(&mut self.compaction) {
            Compaction::None => None,
            Compaction::Starting {
                generation,
                job,
                header,
                ..
            } => {
                // A write can't be taken back; what follows it can.
                self.compaction = Compaction::Starting {
                    generation,
                    job,
                    header,
                    cancelled: true,
                };
                Some(Vec::new())
            }
            Compaction::Streaming {
                generation,
                job,
                received,
            } => {
                let told = "the compaction was stopped; nothing was changed".to_owned();
                let mut effects = vec![Effect::Stop(generation), Effect::Say(Notice::Info(told))];
                effects.extend(self.end_compaction(job, &received, &Outcome::Interrupted));
                Some(effects)
            }
            saving @ Compaction::Saving { .. } => {
                self.compaction = saving;
                Some(Vec::new())
            }
        }
    }
}

/// Whether an attempt's data is of a summary, and not of an answer.
#[must_use]
pub fn is_of_summary(attempt: &Value) -> bool {
    attempt.get(COMPACTION_ID).is_some()
}

/// Why what a model answered is no summary, if it is none.
fn no_summary(received: &Received) -> Option<Failure> {
    let (code, message) = if received.finish == Some(FinishReason::Length) {
        (
            "COMPACT_CUT",
            "the summary reached the model's length limit before it was whole; try again with a \
             hint to be brief, or with another model",
        )
    } else if received.text.trim().is_empty() {
        (
            "COMPACT_EMPTY",
            "the model gave no summary; try again, or with another model",
        )
    } else {
        return None;
    };
    Some(Failure {
        code: code.to_owned(),
        message: message.to_owned(),
    })
}

fn nothing_changed(failure: Failure) -> Effect {
    Effect::Say(Notice::Failed(Failure {
        message: format!("nothing was compacted: {}", failure.message),
        ..failure
    }))
}

/// What came of a summary that did not come to its end; nothing of nothing.
pub(super) fn attempt(
    compaction_id: &str,
    from: impl IntoIterator<Item = (String, Value)>,
    text: &str,
    error: Option<&Value>,
) -> Option<Payload> {
    if text.is_empty() {
        return None;
    }
    let mut data = Map::new();
    data.insert(COMPACTION_ID.to_owned(), compaction_id.into());
    data.extend(from);
    data.insert("text".to_owned(), text.into());
    data.insert("interrupted".to_owned(), true.into());
    data.extend(error.map(|error| ("error".to_owned(), error.clone())));
    Some(Payload::log_only(ATTEMPT, Value::Object(data)))
}
