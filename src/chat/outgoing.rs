//! The way of a message out: prepared, reviewed, checked once more, logged.

use std::sync::Arc;

use serde_json::json;

use super::TURN_START;
use super::draft::joined;
use super::fitting::Wanted;
use super::revising::in_place_of;
use super::step::{Step, cites, first_title, whole};
use super::{Chat, Draft, Effect, Failure, Generation, Notice, RequestHeader, ReviewPolicy, View};
use crate::reference::ReferenceError;
use crate::reference::ports::ModelRoute;
use crate::reference::resolver::{Growth, PreparedStep};
use crate::session::{Event, Message, Payload, Seq, Title, TitleSource};

/// The message on its way out.
///
/// While it is first prepared and reviewed its draft is still in the composer.
/// From then on the draft has departed, also where `again` tells that the
/// message is prepared anew because its sources grew in that way.
#[derive(Debug, Default)]
pub(super) enum Outgoing {
    #[default]
    None,
    Preparing {
        generation: Generation,
        draft: Draft,
        message: Arc<Message>,
        route: ModelRoute,
        shown: Shown,
        again: Option<Vec<Growth>>,
    },
    Review {
        draft: Draft,
        step: Arc<Step>,
        again: Option<Vec<Growth>>,
    },
    /// It goes when the answer or the compaction under way has ended.
    Waiting { draft: Draft, step: Arc<Step> },
    Rechecking {
        generation: Generation,
        draft: Draft,
        step: Arc<Step>,
    },
    Logging {
        generation: Generation,
        draft: Draft,
        step: Arc<Step>,
        header: Arc<RequestHeader>,
        /// The person called it off after the write began.
        cancelled: bool,
    },
    /// A request without a message of its own is being written.
    Asking {
        generation: Generation,
        header: Arc<RequestHeader>,
        /// The answer that the new one takes the place of.
        instead: Option<Seq>,
        /// The person called it off after the write began.
        cancelled: bool,
    },
    /// The messages of an earlier branch are being written again.
    GoingBack { generation: Generation },
}

/// Whether a prepared message is shown before it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The person asked to see it.
    Asked,
    /// As the policy says.
    ByPolicy,
}

impl Outgoing {
    pub(super) fn view(&self) -> View<'_> {
        match self {
            Self::None => View::None,
            Self::Preparing { .. } => View::Preparing,
            Self::Review { step, again, .. } => View::Review {
                step,
                growth: again.as_deref().unwrap_or_default(),
            },
            Self::Waiting { draft, .. } => View::Waiting(draft),
            Self::Rechecking { .. }
            | Self::Logging { .. }
            | Self::Asking { .. }
            | Self::GoingBack { .. } => View::Sending,
        }
    }

    /// The draft that left the composer, and its message.
    pub(super) fn departed(&self) -> Option<(&Draft, &Message)> {
        match self {
            Self::None
            | Self::Preparing { again: None, .. }
            | Self::Review { again: None, .. }
            | Self::Asking { .. }
            | Self::GoingBack { .. } => None,
            Self::Preparing { draft, message, .. } => Some((draft, message)),
            Self::Review { draft, step, .. }
            | Self::Waiting { draft, step }
            | Self::Rechecking { draft, step, .. }
            | Self::Logging { draft, step, .. } => Some((draft, step.messages.first()?)),
        }
    }

    pub(super) fn is_prepared_by(&self, asked: Generation) -> bool {
        matches!(self, Self::Preparing { generation, .. } if *generation == asked)
    }

    pub(super) fn is_rechecked_by(&self, asked: Generation) -> bool {
        matches!(self, Self::Rechecking { generation, .. } if *generation == asked)
    }

    pub(super) fn is_logged_by(&self, asked: Generation) -> bool {
        matches!(
            self,
            Self::Logging { generation, .. } | Self::Asking { generation, .. }
                if *generation == asked
        )
    }

    pub(super) fn is_going_back_by(&self, asked: Generation) -> bool {
        matches!(self, Self::GoingBack { generation } if *generation == asked)
    }
}

fn failed(error: &ReferenceError) -> Effect {
    Effect::Say(Notice::Failed(Failure::from(error)))
}

impl Chat {
    pub(super) fn send(&mut self, draft: Draft) -> Vec<Effect> {
        if draft.is_blank() {
            return Vec::new();
        }
        self.begin(draft, Shown::ByPolicy)
    }

    pub(super) fn preview(&mut self, draft: Draft) -> Vec<Effect> {
        self.begin(draft, Shown::Asked)
    }

    fn begin(&mut self, draft: Draft, shown: Shown) -> Vec<Effect> {
        let under_way = match self.outgoing {
            Outgoing::None => None,
            Outgoing::Waiting { .. } if self.compaction.is_under_way() => {
                Some("another message waits; Esc stops the compaction and takes it back")
            }
            Outgoing::Waiting { .. } => {
                Some("another message waits; Esc stops the answer and takes it back")
            }
            _ => Some("another message is on its way; Esc takes it back"),
        };
        if let Some(under_way) = under_way {
            return vec![Effect::Say(Notice::Info(under_way.to_owned()))];
        }
        let message = draft.message();
        let cites = match cites(&message) {
            Ok(cites) => cites,
            Err(error) => return vec![failed(&error)],
        };
        if !cites {
            if shown == Shown::Asked {
                return vec![Effect::Say(Notice::Info(
                    "nothing is cited yet: type @ to cite a session".to_owned(),
                ))];
            }
            let step = Step {
                messages: vec![Arc::new(joined(&message))],
                ..Step::default()
            };
            let mut effects = vec![Effect::ClearComposer];
            effects.extend(self.depart(draft, Arc::new(step), false));
            return effects;
        }
        self.prepare(draft, Arc::new(message), shown, None)
    }

    fn prepare(
        &mut self,
        draft: Draft,
        message: Arc<Message>,
        shown: Shown,
        again: Option<Vec<Growth>>,
    ) -> Vec<Effect> {
        let generation = self.next_generation();
        self.outgoing = Outgoing::Preparing {
            generation,
            draft,
            message: Arc::clone(&message),
            route: self.chosen.config.route(),
            shown,
            again,
        };
        vec![Effect::Prepare(generation, self.target(), message)]
    }

    pub(super) fn prepared(
        &mut self,
        generation: Generation,
        outcome: Result<PreparedStep, ReferenceError>,
    ) -> Vec<Effect> {
        if !self.outgoing.is_prepared_by(generation) {
            return stale(outcome);
        }
        let Outgoing::Preparing {
            draft,
            route,
            shown,
            again,
            ..
        } = std::mem::take(&mut self.outgoing)
        else {
            return stale(outcome);
        };
        let is_departed = again.is_some();
        let back = |draft| is_departed.then_some(Effect::RestoreDraft(draft));
        let step = match outcome {
            Ok(PreparedStep::Enter { messages, contexts }) => Arc::new(Step {
                messages: messages.iter().map(whole).collect(),
                contexts: contexts.into_iter().map(Arc::new).collect(),
                route: Some(route),
            }),
            Ok(PreparedStep::Reject) => return back(draft).into_iter().collect(),
            Err(error) => return back(draft).into_iter().chain([failed(&error)]).collect(),
        };
        let show = shown == Shown::Asked
            || match self.review {
                ReviewPolicy::Always => true,
                ReviewPolicy::WhenOmitted => step.omits(),
                ReviewPolicy::Never => false,
            };
        if show {
            self.outgoing = Outgoing::Review { draft, step, again };
            return Vec::new();
        }
        let mut effects = vec![Effect::ClearComposer];
        effects.extend(self.depart(draft, step, false));
        effects
    }

    pub(super) fn confirm(&mut self) -> Vec<Effect> {
        match std::mem::take(&mut self.outgoing) {
            Outgoing::Review { draft, step, again } => {
                let is_departed = again.is_some();
                let mut effects = Vec::new();
                effects.extend((!is_departed).then_some(Effect::ClearComposer));
                effects.extend(self.depart(draft, step, true));
                effects
            }
            other => {
                self.outgoing = other;
                Vec::new()
            }
        }
    }

    /// Sends a message, or lets it wait for what is under way. What a
    /// person looked at may have grown old: it is checked once more.
    pub(super) fn depart(&mut self, draft: Draft, step: Arc<Step>, reviewed: bool) -> Vec<Effect> {
        if self.answer.is_under_way() || self.compaction.is_under_way() {
            self.outgoing = Outgoing::Waiting { draft, step };
            return Vec::new();
        }
        if reviewed && !step.contexts.is_empty() {
            let generation = self.next_generation();
            self.outgoing = Outgoing::Rechecking {
                generation,
                draft,
                step: Arc::clone(&step),
            };
            return vec![Effect::Recheck(generation, step)];
        }
        self.log_message(draft, step)
    }

    pub(super) fn rechecked(
        &mut self,
        generation: Generation,
        outcome: Result<Vec<Growth>, ReferenceError>,
    ) -> Vec<Effect> {
        if !self.outgoing.is_rechecked_by(generation) {
            return Vec::new();
        }
        let Outgoing::Rechecking { draft, step, .. } = std::mem::take(&mut self.outgoing) else {
            return Vec::new();
        };
        match outcome {
            Ok(growth) if growth.is_empty() => self.log_message(draft, step),
            // Never swapped in silence: it is captured anew, and shown.
            Ok(growth) => {
                let mut effects = discard(&step);
                let message = Arc::new(draft.message());
                effects.extend(self.prepare(draft, message, Shown::Asked, Some(growth)));
                effects
            }
            Err(error) => {
                let mut effects = give_up(draft, &step);
                effects.push(failed(&error));
                effects
            }
        }
    }

    fn log_message(&mut self, draft: Draft, step: Arc<Step>) -> Vec<Effect> {
        let route = self.chosen.config.route();
        if step
            .route
            .as_ref()
            .is_some_and(|made_for| *made_for != route)
        {
            // What fits in one model's window may not fit in another's.
            let mut effects = discard(&step);
            let message = Arc::new(draft.message());
            effects.extend(self.prepare(draft, message, Shown::ByPolicy, Some(Vec::new())));
            return effects;
        }
        let shadowed = match self.shadowed() {
            Ok(shadowed) => shadowed,
            Err(notice) => return refuse(draft, &step, notice),
        };
        let kept = self.session.surface().count() - shadowed.len();
        let too_long = self.too_long(kept, &step.messages);
        let wanted = Wanted::Message(draft.to_text());
        if let Some(too_long) = self.refusal(wanted, too_long) {
            return refuse(draft, &step, too_long);
        }
        let turn = self.turn() + 1;
        let header = RequestHeader::answer(turn, self.chosen.config.clone());
        let asked = match header.event() {
            Ok(asked) => asked,
            Err(failure) => return refuse(draft, &step, Notice::Failed(failure)),
        };
        let mut entries = self.unsaved_entries();
        entries.push(Payload::log_only(TURN_START, json!({"turn": turn})).into());
        if self.session.title().is_none()
            && let Some(title) = self.session.fallback_title().or_else(|| first_title(&step))
        {
            entries.push(Title::event(&title, TitleSource::Fallback).into());
        }
        let messages = step.messages.iter();
        let messages = messages.map(|message| Payload::user(Message::clone(message)));
        entries.extend(in_place_of(shadowed, messages));
        entries.push(asked.into());
        let generation = self.next_generation();
        self.outgoing = Outgoing::Logging {
            generation,
            draft,
            step,
            header: Arc::new(header),
            cancelled: false,
        };
        vec![Effect::Log(generation, entries)]
    }

    /// The message, or the request without one, is in the log, or is not.
    pub(super) fn message_logged(
        &mut self,
        outcome: Result<Vec<Arc<Event>>, Failure>,
    ) -> Vec<Effect> {
        let (left, header, instead, cancelled) = match std::mem::take(&mut self.outgoing) {
            Outgoing::Logging {
                draft,
                step,
                header,
                cancelled,
                ..
            } => (Some((draft, step)), header, None, cancelled),
            Outgoing::Asking {
                header,
                instead,
                cancelled,
                ..
            } => (None, header, instead, cancelled),
            other => {
                self.outgoing = other;
                return Vec::new();
            }
        };
        match outcome {
            Ok(events) => {
                self.unsaved = None;
                if left.is_some() {
                    self.revising = None;
                }
                let mut effects = self.absorb(events);
                // Never over another surface than the one in the log.
                if effects.is_empty() {
                    effects.extend(self.ask(header, instead, cancelled));
                }
                effects
            }
            Err(failure) => {
                let back = left.map(|(draft, step)| give_up(draft, &step));
                let mut effects = back.unwrap_or_default();
                effects.push(Effect::Say(Notice::Failed(failure)));
                effects
            }
        }
    }

    pub(super) fn cancel(&mut self) -> Vec<Effect> {
        let mut effects = match std::mem::take(&mut self.outgoing) {
            Outgoing::None => Vec::new(),
            Outgoing::Preparing {
                generation,
                draft,
                again,
                ..
            } => {
                let mut effects = vec![Effect::Stop(generation)];
                effects.extend(again.map(|_| Effect::RestoreDraft(draft)));
                return effects;
            }
            Outgoing::Review { draft, step, again } => {
                let mut effects = discard(&step);
                effects.extend(again.map(|_| Effect::RestoreDraft(draft)));
                return effects;
            }
            Outgoing::Waiting { draft, step, .. } => give_up(draft, &step),
            Outgoing::Rechecking {
                generation,
                draft,
                step,
            } => {
                let mut effects = vec![Effect::Stop(generation)];
                effects.extend(give_up(draft, &step));
                return effects;
            }
            mut writing @ (Outgoing::Logging { .. }
            | Outgoing::Asking { .. }
            | Outgoing::GoingBack { .. }) => {
                // A write can't be taken back; what follows it can.
                if let Outgoing::Logging { cancelled, .. } | Outgoing::Asking { cancelled, .. } =
                    &mut writing
                {
                    *cancelled = true;
                }
                self.outgoing = writing;
                return Vec::new();
            }
        };
        let called_off = self.cancel_compaction();
        effects.extend(called_off.unwrap_or_else(|| self.cancel_answer()));
        effects
    }
}

/// The draft goes back, and what was saved for it goes away.
pub(super) fn give_up(draft: Draft, step: &Step) -> Vec<Effect> {
    let mut effects = vec![Effect::RestoreDraft(draft)];
    effects.extend(discard(step));
    effects
}

/// The draft goes back, and the person is told why.
fn refuse(draft: Draft, step: &Step, why: Notice) -> Vec<Effect> {
    let mut effects = give_up(draft, step);
    effects.push(Effect::Say(why));
    effects
}

/// What was saved for a step that is not sent goes away.
fn discard(step: &Step) -> Vec<Effect> {
    let spills = step.spills();
    if spills.is_empty() {
        return Vec::new();
    }
    vec![Effect::Discard(spills)]
}

/// A preparation that nobody waits for any more leaves nothing behind.
fn stale(outcome: Result<PreparedStep, ReferenceError>) -> Vec<Effect> {
    match outcome {
        Ok(PreparedStep::Enter { contexts, .. }) => discard(&Step {
            contexts: contexts.into_iter().map(Arc::new).collect(),
            ..Step::default()
        }),
        Ok(PreparedStep::Reject) | Err(_) => Vec::new(),
    }
}
