//! A conversation as a pure state machine: event in, effects out.
//!
//! Owns the session that is shown, the message on its way out (prepared,
//! reviewed, waiting, being logged) and the answer on its way in. Knows no
//! task and no terminal, and no clock but the one that the ids of new messages
//! come from ([`Message::new`]); `runtime` carries the effects out and brings
//! their outcomes back. Each outcome names the generation of its
//! question: one that nobody waits for any more is dropped in [`Chat::update`].

mod answer;
mod branches;
mod compaction;
pub mod draft;
mod fitting;
mod keeping;
mod left;
mod outgoing;
mod recalled;
mod regenerating;
mod renaming;
mod request;
mod revising;
mod step;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod titling;
mod unfinished;
mod waiting;
mod window;

use std::sync::Arc;

pub use answer::NO_ANSWER;
use answer::{Answer, Unsaved};
pub use branches::{Branch, branches, leaves};
use compaction::Compaction;
pub use compaction::{COMPACT_END, COMPACT_START, COMPACTED, KEPT, is_of_summary};
pub use draft::{Departed, Draft, Element, KeptDraft, Part};
use fitting::Refused;
use keeping::Keeping;
pub use left::{Left, Page, Places};
use outgoing::Outgoing;
pub use recalled::{Prompt, prompts};
pub use request::{RequestHeader, is_for_answer, last_asked, requests};
use serde::Deserialize;
pub use step::Step;
use titling::Titling;
pub use titling::{TITLE_FAILED, TitlePolicy};
pub use unfinished::unfinished;
pub use window::{CROWDED, context_tokens};

use crate::model::{Chosen, Delta, ModelError};
use crate::reference::ports::{ModelRoute, SpillRef};
use crate::reference::resolver::{Growth, PreparedStep, Target};
use crate::reference::{ReferenceError, RouteChoice};
use crate::session::{Entry, Event, Message, Payload, Seq, Session};

/// The number of a question; an answer with another number is stale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Generation(u64);

/// When a message that cites sessions is shown before it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewPolicy {
    /// Every time.
    #[default]
    Always,
    /// When something of a cited session had to be left out, or could not be
    /// read.
    WhenOmitted,
    /// Only when asked for.
    Never,
}

/// A failure behind an effect, in words for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The stable code.
    pub code: String,
    /// What happened, to which thing, what to do now.
    pub message: String,
}

impl From<&ReferenceError> for Failure {
    fn from(error: &ReferenceError) -> Self {
        Self {
            code: error.code().unwrap_or("MODEL_LOOKUP_FAILED").to_owned(),
            message: error.to_string(),
        }
    }
}

impl From<&ModelError> for Failure {
    fn from(error: &ModelError) -> Self {
        Self {
            code: error.code().to_owned(),
            message: error.to_string(),
        }
    }
}

/// What happens to a conversation.
#[derive(Clone, Debug)]
pub enum ChatEvent {
    /// The person chooses the model of the next turn.
    UseModel(Chosen),
    /// The person sends a draft.
    Send(Draft),
    /// The person wants to see what a draft would send.
    Preview(Draft),
    /// The person agrees to what is shown.
    Confirm,
    /// The person wants a summary in place of what was said before, with this
    /// hint about what counts.
    Compact(Option<String>),
    /// The person calls off what is going on.
    Cancel,
    /// The person wants the last answer anew, or the one that never came.
    Regenerate,
    /// The person takes this earlier message of theirs into the composer, to
    /// send another in its place.
    Revise(Seq),
    /// The person sends a new message after all.
    LeaveRevising,
    /// The person goes back to the way that was left by this event.
    GoBack(Seq),
    /// The person names the session.
    Rename(String),
    /// The person goes elsewhere: what runs beside the conversation ends.
    Leave,
    /// References were prepared.
    Prepared(Generation, Result<PreparedStep, ReferenceError>),
    /// The captures were compared with the sources as they are now.
    Rechecked(Generation, Result<Vec<Growth>, ReferenceError>),
    /// Events were written to the log.
    Logged(Generation, Result<Vec<Arc<Event>>, Failure>),
    /// A piece of the answer came.
    Delta(Generation, Delta),
    /// What came of the answer so far is to be kept in the log.
    Keep(Generation),
    /// The answer's stream ended, with an error or without.
    AnswerEnded(Generation, Option<ModelError>),
}

/// What a conversation wants done.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Prepare the references of a message.
    Prepare(Generation, Target, Arc<Message>),
    /// Compare captures with their sources as they are now.
    Recheck(Generation, Arc<Step>),
    /// Write these to the log, all or none.
    Log(Generation, Vec<Entry>),
    /// Ask a model what the log says of this surface.
    Ask(Generation, Arc<RequestHeader>, Vec<Arc<Event>>),
    /// End the task of this question.
    Stop(Generation),
    /// Remove full texts that were saved for something never sent.
    Discard(Vec<SpillRef>),
    /// The draft left the composer.
    ClearComposer,
    /// Put a draft back into the composer, in front of what is there.
    RestoreDraft(Draft),
    /// Tell the person.
    Say(Notice),
}

/// Something the person is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Something failed.
    Failed(Failure),
    /// Something was not asked, by an estimate that may be wrong: the same
    /// once more is asked all the same.
    ByEstimate(Failure),
    /// Something to know.
    Info(String),
    /// The model is asked again after a while. It is of no use any more once
    /// [`Chat::is_waiting`] says no.
    Waiting(String),
}

impl Notice {
    /// Whether it tells of something that failed.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::ByEstimate(_))
    }
}

/// A conversation.
#[derive(Debug)]
pub struct Chat {
    session: Session,
    chosen: Chosen,
    review: ReviewPolicy,
    assembled: bool,
    outgoing: Outgoing,
    answer: Answer,
    compaction: Compaction,
    keeping: Keeping,
    unsaved: Option<Unsaved>,
    /// The message that the next one takes the place of.
    revising: Option<Seq>,
    /// What writes the title that a person chose.
    renaming: Option<Generation>,
    titles: TitlePolicy,
    titling: Titling,
    generation: Generation,
    /// About how many tokens the conversation takes.
    context: u64,
    /// The person was told that the window is nearly used.
    is_crowded: bool,
    /// What is too long by an estimate goes all the same.
    despite_estimates: bool,
    /// What was refused by an estimate: the same once more goes.
    refused: Option<Refused>,
}

impl Chat {
    /// A conversation over a session as its log stands.
    #[must_use]
    pub fn new(session: Session, chosen: Chosen, review: ReviewPolicy) -> Self {
        let mut chat = Self {
            session,
            chosen,
            review,
            assembled: false,
            is_crowded: false,
            despite_estimates: false,
            refused: None,
            outgoing: Outgoing::None,
            answer: Answer::None,
            compaction: Compaction::None,
            keeping: Keeping::default(),
            unsaved: None,
            revising: None,
            context: 0,
            renaming: None,
            titles: TitlePolicy::default(),
            titling: Titling::None,
            generation: Generation::default(),
        };
        chat.recount();
        chat
    }

    /// The session as far as its log is written.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The model that answers the next message.
    #[must_use]
    pub fn chosen(&self) -> &Chosen {
        &self.chosen
    }

    /// The message under way, for the screen.
    #[must_use]
    pub fn outgoing(&self) -> View<'_> {
        self.outgoing.view()
    }

    /// The answer so far, while one is under way.
    #[must_use]
    pub fn partial_answer(&self) -> Option<&str> {
        self.answer.text()
    }

    /// The model whose answer is under way, or could not be written.
    #[must_use]
    pub fn answering(&self) -> Option<&ModelRoute> {
        let unsaved = self.unsaved.as_ref().map(|unsaved| &unsaved.received);
        Some(&self.answer.received().or(unsaved)?.from)
    }

    /// Whether a request failed and is made again, and nothing has come of that
    /// yet.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.answer.is_waiting() || self.compaction.is_waiting()
    }

    /// Whether anything is under way: a message, an answer, a summary, or a
    /// title that the person chose.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !matches!(self.outgoing, Outgoing::None)
            || self.answer.text().is_some()
            || self.compaction.is_under_way()
            || self.is_renaming()
    }

    /// An answer that came to its end and could not be written to the log. It
    /// is written with the next message, or when a person calls off nothing.
    #[must_use]
    pub fn unsaved_answer(&self) -> Option<&str> {
        self.unsaved.as_ref().map(|unsaved| &*unsaved.received.text)
    }

    /// Why that answer could not be written.
    #[must_use]
    pub fn unsaved_reason(&self) -> Option<&Failure> {
        self.unsaved.as_ref()?.why.as_ref()
    }

    /// The draft that left the composer and is not in the log yet.
    #[must_use]
    pub fn departed(&self) -> Option<Departed> {
        let (draft, message) = self.outgoing.departed()?;
        Some(Departed {
            message_id: message.id.clone(),
            draft: draft.clone(),
        })
    }

    /// Takes one event and tells what to do.
    pub fn update(&mut self, event: ChatEvent) -> Vec<Effect> {
        match event {
            // A title made of a first message must not come after it.
            ChatEvent::Send(_)
            | ChatEvent::Preview(_)
            | ChatEvent::Confirm
            | ChatEvent::Compact(_)
                if self.is_renaming() =>
            {
                let wait = "the title is still being written: press it again";
                vec![Effect::Say(Notice::Info(wait.to_owned()))]
            }
            ChatEvent::UseModel(chosen) => {
                self.chosen = chosen;
                self.recount();
                Vec::new()
            }
            ChatEvent::Send(draft) => self.send(draft),
            ChatEvent::Preview(draft) => self.preview(draft),
            ChatEvent::Confirm => self.confirm(),
            ChatEvent::Compact(hint) => self.compact(hint.as_deref()),
            ChatEvent::Cancel => self.cancel(),
            ChatEvent::Regenerate => self.regenerate(),
            ChatEvent::Revise(seq) => self.revise(seq),
            ChatEvent::LeaveRevising => self.leave_revising(),
            ChatEvent::GoBack(left_by) => self.go_back(left_by),
            ChatEvent::Rename(title) => self.rename(&title),
            ChatEvent::Leave => self.leave(),
            ChatEvent::Prepared(generation, outcome) => self.prepared(generation, outcome),
            ChatEvent::Rechecked(generation, outcome) => self.rechecked(generation, outcome),
            ChatEvent::Logged(generation, outcome) => self.logged(generation, outcome),
            ChatEvent::Delta(generation, delta) if self.compaction.is_asked_by(generation) => {
                self.summary_delta(delta)
            }
            ChatEvent::Delta(generation, delta) if self.titling.is_asked_by(generation) => {
                self.title_delta(delta)
            }
            ChatEvent::Delta(generation, delta) => self.delta(generation, delta),
            ChatEvent::Keep(generation) => self.keep(generation),
            ChatEvent::AnswerEnded(generation, error)
                if self.compaction.is_asked_by(generation) =>
            {
                self.summary_ended(error.as_ref())
            }
            ChatEvent::AnswerEnded(generation, error) if self.titling.is_asked_by(generation) => {
                self.title_ended(error)
            }
            ChatEvent::AnswerEnded(generation, error) => self.answer_ended(generation, error),
        }
    }

    /// Counts on from the conversation before, so that what still comes for
    /// that one is not taken for this one.
    pub fn follow(&mut self, before: &Self) {
        self.generation = before.generation;
    }

    fn next_generation(&mut self) -> Generation {
        self.generation.0 += 1;
        self.generation
    }

    fn target(&self) -> Target {
        let route = Some(self.chosen.config.route());
        Target {
            id: self.session.id().clone(),
            cwd: self.session.header().cwd.clone(),
            route: if self.assembled {
                RouteChoice::Assembled(route)
            } else {
                RouteChoice::Own(route)
            },
        }
    }

    fn turn(&self) -> u64 {
        let started = |event: &&Arc<Event>| event.payload.type_name() == TURN_START;
        self.session.events().iter().filter(started).count() as u64
    }

    fn logged(
        &mut self,
        generation: Generation,
        outcome: Result<Vec<Arc<Event>>, Failure>,
    ) -> Vec<Effect> {
        if self.outgoing.is_logged_by(generation) {
            self.message_logged(outcome)
        } else if self.outgoing.is_going_back_by(generation) {
            self.went_back(outcome)
        } else if self.answer.is_saved_by(generation) {
            self.answer_logged(outcome)
        } else if self.compaction.is_written_by(generation) {
            self.compaction_logged(outcome)
        } else if self.titling.is_written_by(generation) {
            self.title_logged(outcome)
        } else if self.renaming == Some(generation) {
            self.renamed(outcome)
        } else if self.keeping.is_asked_by(generation) {
            self.kept(outcome)
        } else {
            Vec::new()
        }
    }

    /// Takes events that are in the log into the session shown.
    fn absorb(&mut self, events: Vec<Arc<Event>>) -> Vec<Effect> {
        let says = events.iter().any(|event| event.message().is_some());
        for event in events {
            if let Err(error) = self.session.push(event) {
                return vec![Effect::Say(Notice::Failed(Failure {
                    code: "CHAT_OUT_OF_STEP".to_owned(),
                    message: format!(
                        "the log went on without this screen ({error}); open the session again"
                    ),
                }))];
            }
        }
        if says {
            self.recount();
        }
        Vec::new()
    }
}

/// Writes these at the end of the log.
fn log(generation: Generation, payloads: Vec<Payload>) -> Effect {
    Effect::Log(generation, payloads.into_iter().map(Entry::from).collect())
}

/// The event that begins a turn.
pub const TURN_START: &str = "turn/start";
/// The event that ends a turn.
pub const TURN_END: &str = "turn/end";
/// The event that names the model of a request.
pub const REQUEST_HEADER: &str = "request/header";
/// The event that keeps an answer that did not come to its end.
pub const ATTEMPT: &str = "assistant/attempt";
/// Where an answer's envelope, and the end of its turn, say why the model
/// ended it: a word of [`FinishReason`](crate::model::FinishReason).
pub const FINISH: &str = "finish";

/// The message under way, as the screen shows it.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// None.
    None,
    /// Its references are being prepared.
    Preparing,
    /// It is shown, and waits for the person's word.
    Review {
        /// What would be sent.
        step: &'a Step,
        /// How the sources grew since it was last shown.
        growth: &'a [Growth],
    },
    /// It waits for the answer under way to end.
    Waiting(&'a Draft),
    /// It is being sent.
    Sending,
}
