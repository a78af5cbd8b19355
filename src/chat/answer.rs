//! The way of an answer in: asked for, streamed, kept.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::TURN_END;
use super::{ATTEMPT, Chat, Effect, FINISH, Failure, Generation, Notice, RequestHeader};
use crate::figures;
use crate::model::{Delta, FinishReason, ModelError, Usage, Waiting};
use crate::reference::ports::ModelRoute;
use crate::session::{Block, Entry, Event, Message, MessageKind, Payload, Role, Seq, Source};

/// The answer on its way in.
#[derive(Debug, Default)]
pub(super) enum Answer {
    #[default]
    None,
    Streaming {
        generation: Generation,
        received: Received,
    },
    Saving {
        generation: Generation,
        what: Unsaved,
    },
}

/// An answer that could not be written: it goes in front of the next write.
#[derive(Debug)]
pub(super) struct Unsaved {
    pub(super) received: Received,
    pub(super) entries: Vec<Entry>,
    /// It came to its end, and nothing was told of it.
    is_whole: bool,
    /// Why it could not be written the last time.
    pub(super) why: Option<Failure>,
}

/// What has come so far.
#[derive(Clone, Debug)]
pub(super) struct Received {
    /// Who was asked.
    pub(super) from: ModelRoute,
    /// The answer that this one takes the place of when it is whole.
    instead: Option<Seq>,
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) usage: Option<Usage>,
    pub(super) finish: Option<FinishReason>,
    /// The last that was heard is that the request is made again.
    pub(super) is_waiting: bool,
}

impl Received {
    /// Nothing yet.
    pub(super) fn of(header: &RequestHeader) -> Self {
        Self {
            from: header.config().route(),
            instead: None,
            text: String::new(),
            reasoning: String::new(),
            usage: None,
            finish: None,
            is_waiting: false,
        }
    }

    /// Takes in a piece of the answer. Gives back what is no part of it.
    pub(super) fn take(&mut self, delta: Delta) -> Option<Waiting> {
        self.is_waiting = matches!(delta, Delta::Waiting(_));
        match delta {
            Delta::Text(text) => self.text.push_str(&text),
            Delta::Reasoning(text) => self.reasoning.push_str(&text),
            Delta::Usage(usage) => self.usage = Some(usage),
            Delta::Finished(reason) => self.finish = Some(reason),
            Delta::Waiting(waiting) => return Some(waiting),
        }
        None
    }
}

impl Answer {
    pub(super) fn received(&self) -> Option<&Received> {
        match self {
            Self::None => None,
            Self::Streaming { received, .. } => Some(received),
            Self::Saving { what, .. } => Some(&what.received),
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        self.received().map(|received| &*received.text)
    }

    pub(super) fn is_under_way(&self) -> bool {
        !matches!(self, Self::None)
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self, Self::Streaming { received, .. } if received.is_waiting)
    }

    pub(super) fn is_saved_by(&self, asked: Generation) -> bool {
        matches!(self, Self::Saving { generation, .. } if *generation == asked)
    }
}

/// Says that the model is asked again after a while.
pub(super) fn waits(waiting: &Waiting) -> Effect {
    let wait = figures::wait(waiting.wait);
    let why = &waiting.why;
    Effect::Say(Notice::Waiting(format!(
        "{why}; asking again in {wait} (Esc stops)"
    )))
}

impl Chat {
    /// Asks for the answer that was just logged to be asked for.
    pub(super) fn ask(
        &mut self,
        header: Arc<RequestHeader>,
        instead: Option<Seq>,
        cancelled: bool,
    ) -> Vec<Effect> {
        let received = Received {
            instead,
            ..Received::of(&header)
        };
        if cancelled {
            return self.save_answer(received, &Outcome::Interrupted);
        }
        let generation = self.next_generation();
        self.assembled = true;
        self.keeping.begin();
        self.answer = Answer::Streaming {
            generation,
            received,
        };
        let surface = self.session.surface().map(Arc::clone).collect();
        vec![Effect::Ask(generation, header, surface)]
    }

    pub(super) fn delta(&mut self, asked: Generation, delta: Delta) -> Vec<Effect> {
        if let Answer::Streaming {
            generation,
            received,
        } = &mut self.answer
            && *generation == asked
        {
            let waiting = received.take(delta);
            return waiting.as_ref().map(waits).into_iter().collect();
        }
        Vec::new()
    }

    pub(super) fn answer_ended(
        &mut self,
        asked: Generation,
        error: Option<ModelError>,
    ) -> Vec<Effect> {
        let current =
            matches!(self.answer, Answer::Streaming { generation, .. } if generation == asked);
        if !current {
            return Vec::new();
        }
        let Answer::Streaming { received, .. } = std::mem::take(&mut self.answer) else {
            return Vec::new();
        };
        match error {
            // A message without text would be refused when it is sent again.
            None if received.text.trim().is_empty() => {
                let told = "the model ended its turn without an answer".to_owned();
                let mut effects = vec![Effect::Say(Notice::Info(told.clone()))];
                effects.extend(self.take_back_waiting());
                let failure = Failure {
                    code: NO_ANSWER.to_owned(),
                    message: told,
                };
                effects.extend(self.save_answer(received, &Outcome::Failed(failure)));
                effects
            }
            None => self.save_answer(received, &Outcome::Complete),
            Some(error) => {
                let failure = Failure::from(&error);
                let mut effects = vec![Effect::Say(Notice::Failed(failure.clone()))];
                effects.extend(self.take_back_waiting());
                effects.extend(self.save_answer(received, &Outcome::Failed(failure)));
                effects
            }
        }
    }

    pub(super) fn cancel_answer(&mut self) -> Vec<Effect> {
        match std::mem::take(&mut self.answer) {
            Answer::Streaming {
                generation,
                received,
            } => {
                let mut effects = vec![Effect::Stop(generation)];
                effects.extend(self.save_answer(received, &Outcome::Interrupted));
                effects
            }
            Answer::None => self.save_again(),
            saving @ Answer::Saving { .. } => {
                self.answer = saving;
                Vec::new()
            }
        }
    }

    /// Tries once more to write what could not be written.
    fn save_again(&mut self) -> Vec<Effect> {
        let unsaved = self.unsaved.take();
        unsaved.map(|what| self.save(what)).unwrap_or_default()
    }

    fn save_answer(&mut self, received: Received, outcome: &Outcome) -> Vec<Effect> {
        let turn = self.turn();
        let mut entries = self.unsaved_entries();
        let answer = Self::answer_payload(&received, outcome, turn);
        entries.extend(answer.map(|answer| match received.instead {
            Some(old) if matches!(outcome, Outcome::Complete) => {
                Entry::replacing(answer, (old, old), vec![old])
            }
            _ => Entry::from(answer),
        }));
        let mut end = Map::new();
        end.insert("turn".to_owned(), turn.into());
        end.insert("outcome".to_owned(), outcome.word().into());
        if let Some(finish) = received.finish {
            end.insert(FINISH.to_owned(), finish.as_str().into());
        }
        if let Outcome::Failed(failure) = outcome {
            end.insert("error".to_owned(), json!({"code": failure.code}));
        }
        entries.push(Payload::log_only(TURN_END, Value::Object(end)).into());
        self.save(Unsaved {
            received,
            entries,
            is_whole: matches!(outcome, Outcome::Complete),
            why: None,
        })
    }

    fn save(&mut self, what: Unsaved) -> Vec<Effect> {
        let generation = self.next_generation();
        let entries = what.entries.clone();
        self.answer = Answer::Saving { generation, what };
        vec![Effect::Log(generation, entries)]
    }

    pub(super) fn unsaved_entries(&self) -> Vec<Entry> {
        let unsaved = self.unsaved.as_ref();
        unsaved.map(|u| u.entries.clone()).unwrap_or_default()
    }

    /// A whole answer is a message of the conversation; a partial one is
    /// kept beside it, and never cited.
    fn answer_payload(received: &Received, outcome: &Outcome, turn: u64) -> Option<Payload> {
        if let Outcome::Complete = outcome {
            let mut content = Vec::new();
            if !received.reasoning.is_empty() {
                content.push(Block::reasoning(&*received.reasoning));
            }
            content.push(Block::text(&*received.text));
            let source = Source::model(&received.from.provider, &received.from.model);
            let message = Message::new(Role::Assistant, source, content);
            let mut payload = Payload::step(MessageKind::Assistant, message, turn, 1);
            if let Payload::Message { envelope, .. } = &mut payload {
                if let Some(usage) = received.usage {
                    envelope.insert("usage".to_owned(), usage_json(usage));
                }
                if let Some(finish) = received.finish {
                    envelope.insert(FINISH.to_owned(), finish.as_str().into());
                }
            }
            return Some(payload);
        }
        if received.text.is_empty() && received.reasoning.is_empty() {
            return None;
        }
        let mut data = Map::new();
        data.insert("turn".to_owned(), turn.into());
        data.insert("provider".to_owned(), received.from.provider.clone().into());
        data.insert("model".to_owned(), received.from.model.clone().into());
        data.insert("text".to_owned(), received.text.clone().into());
        if !received.reasoning.is_empty() {
            data.insert("reasoning".to_owned(), received.reasoning.clone().into());
        }
        data.insert("interrupted".to_owned(), true.into());
        if let Outcome::Failed(failure) = outcome {
            data.insert("error".to_owned(), json!({"code": failure.code}));
        }
        Some(Payload::log_only(ATTEMPT, Value::Object(data)))
    }

    pub(super) fn answer_logged(
        &mut self,
        outcome: Result<Vec<Arc<Event>>, Failure>,
    ) -> Vec<Effect> {
        let Answer::Saving { what, .. } = std::mem::take(&mut self.answer) else {
            return Vec::new();
        };
        let mut effects = match outcome {
            Ok(events) => {
                self.unsaved = None;
                let mut effects = self.absorb(events);
                // Why there is no whole answer counts more than the room.
                if what.is_whole {
                    effects.extend(self.crowded());
                }
                effects
            }
            Err(failure) => {
                self.unsaved = Some(Unsaved {
                    why: Some(failure.clone()),
                    ..what
                });
                vec![Effect::Say(Notice::Failed(Failure {
                    message: format!(
                        "{}; the answer is kept here and written with the next message, or on Esc",
                        failure.message
                    ),
                    ..failure
                }))]
            }
        };
        effects.extend(self.release_waiting());
        effects.extend(self.begin_title());
        effects
    }
}

/// The code of an answer that is whole and has no text.
pub const NO_ANSWER: &str = "NO_ANSWER";

/// How an answer came to its end.
enum Outcome {
    Complete,
    Interrupted,
    Failed(Failure),
}

impl Outcome {
    fn word(&self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Failed(_) => "failed",
        }
    }
}

pub(super) fn usage_json(usage: Usage) -> Value {
    json!({"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens})
}
