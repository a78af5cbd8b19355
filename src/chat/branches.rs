//! The ways that a conversation took before it was taken back: each is left
//! where a message or an answer takes the place of what stood there, and can
//! be gone back to.

use std::collections::HashSet;
use std::sync::Arc;

use super::outgoing::Outgoing;
use super::revising::in_place_of;
use super::{Chat, Effect, Failure, Notice, prompts};
use crate::session::{Event, Message, MessageKind, Millis, Payload, Seq, Session, SurfaceOp};

/// A way that was left.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The event that left it, which is its name.
    pub left_by: Seq,
    /// When its last message was written.
    pub time: Millis,
    /// What only it has: the messages behind those that it shares with the
    /// conversation as it is. At least one.
    pub messages: Vec<Arc<Event>>,
    /// How many it shares.
    shared: usize,
}

impl Branch {
    /// What the person said first on it, or else what was answered.
    #[must_use]
    pub fn words(&self) -> String {
        let said = prompts(self.messages.iter()).next();
        let said = said.map(|prompt| prompt.draft.readable());
        let first = || self.messages.first().and_then(|event| event.message());
        said.or_else(|| first().map(Message::text))
            .unwrap_or_default()
    }
}

/// The ways of a conversation that were left, the last one first. One that
/// goes on in another, or in the conversation as it is, is told once.
#[must_use]
pub fn branches(session: &Session) -> Vec<Branch> {
    let now: Vec<_> = session.surface().map(Arc::clone).collect();
    let mut branches: Vec<Branch> = Vec::new();
    let mut known: Vec<Vec<Arc<Event>>> = vec![now];
    for (left_by, surface) in left(session).into_iter().rev() {
        if known.iter().any(|other| begins(other, &surface)) {
            continue;
        }
        let shared = known.first().map_or(0, |now| shared(now, &surface));
        let messages: Vec<_> = surface.iter().skip(shared).map(Arc::clone).collect();
        let time = messages.last().map_or(Millis(0), |event| event.time);
        known.push(surface);
        branches.push(Branch {
            left_by,
            time,
            messages,
            shared,
        });
    }
    branches
}

/// The surface before each event that left a way, and that event, in order.
fn left(session: &Session) -> Vec<(Seq, Vec<Arc<Event>>)> {
    let leaving: HashSet<Seq> = session
        .events()
        .iter()
        .filter(|event| leaves(event))
        .map(|event| event.seq)
        .collect();
    if leaving.is_empty() {
        return Vec::new();
    }
    let mut past = Session::new(session.header().clone());
    let mut left = Vec::new();
    for event in session.events() {
        if leaving.contains(&event.seq) {
            left.push((event.seq, past.surface().map(Arc::clone).collect()));
        }
        past.skip_to(event.seq);
        // It was taken by a session once, so it is again.
        if past.push(Arc::clone(event)).is_err() {
            break;
        }
    }
    left
}

/// Whether an event takes the place of what was said, and is no summary of it.
#[must_use]
pub fn leaves(event: &Event) -> bool {
    matches!(event.surface_op, Some(SurfaceOp::Replace { .. }))
        && event.message().is_some_and(|message| {
            !message.source.is_checkpoint() || message.rest.contains_key(AGAIN)
        })
}

/// What a summary that is written again has beside what it says: it takes the
/// place of another way, and sums nothing up there.
const AGAIN: &str = "again";

/// How many messages two surfaces have in common from their beginning on.
fn shared(one: &[Arc<Event>], other: &[Arc<Event>]) -> usize {
    let pairs = one.iter().zip(other);
    pairs.take_while(|(one, other)| is_same(one, other)).count()
}

/// Whether a surface begins with all of another one.
fn begins(surface: &[Arc<Event>], with: &[Arc<Event>]) -> bool {
    with.len() <= surface.len() && shared(surface, with) == with.len()
}

/// Whether two events say the same: one may have been written again.
fn is_same(one: &Arc<Event>, other: &Arc<Event>) -> bool {
    Arc::ptr_eq(one, other)
        || match (one.message(), other.message()) {
            (Some(one), Some(other)) => {
                one.role == other.role && one.source == other.source && one.content == other.content
            }
            _ => false,
        }
}

impl Chat {
    /// Goes back to a way that was left: what only it has is written again, in
    /// place of what only the conversation has as it is.
    pub(super) fn go_back(&mut self, left_by: Seq) -> Vec<Effect> {
        if let Some(refused) = self.not_now() {
            return vec![Effect::Say(Notice::Info(refused.to_owned()))];
        }
        let branches = branches(&self.session);
        let Some(branch) = branches.into_iter().find(|b| b.left_by == left_by) else {
            return vec![Effect::Say(Notice::Failed(Failure {
                code: "CHAT_BRANCH_GONE".to_owned(),
                message: "there is no such earlier branch; list them again".to_owned(),
            }))];
        };
        let seqs = self.session.surface().map(|event| event.seq);
        let shadowed = seqs.skip(branch.shared).collect();
        let again = branch.messages.iter().filter_map(|event| again(event));
        let entries = in_place_of(shadowed, again);
        let generation = self.next_generation();
        self.outgoing = Outgoing::GoingBack { generation };
        vec![Effect::Log(generation, entries)]
    }

    pub(super) fn went_back(&mut self, outcome: Result<Vec<Arc<Event>>, Failure>) -> Vec<Effect> {
        self.outgoing = Outgoing::None;
        match outcome {
            Ok(events) => {
                // What was to be changed may be on the way that was left.
                self.revising = None;
                let mut effects = self.absorb(events);
                let back = "back on the earlier branch; /branches lists the one just left";
                effects.push(Effect::Say(Notice::Info(back.to_owned())));
                effects
            }
            Err(failure) => vec![Effect::Say(Notice::Failed(failure))],
        }
    }
}

/// A message as it is written once more, under an id of its own. What its
/// model counted is not taken along: it was of another place.
fn again(event: &Event) -> Option<Payload> {
    let Payload::Message {
        kind,
        message,
        envelope,
    } = &event.payload
    else {
        return None;
    };
    let mut rest = message.rest.clone();
    if message.source.is_checkpoint() {
        rest.insert(AGAIN.to_owned(), true.into());
    }
    let copy = Message {
        rest,
        ..Message::new(
            message.role,
            message.source.clone(),
            message.content.clone(),
        )
    };
    if *kind == MessageKind::User {
        return Some(Payload::user(copy));
    }
    let mut envelope = envelope.clone();
    envelope.shift_remove("usage");
    Some(Payload::Message {
        kind: *kind,
        message: copy,
        envelope,
    })
}
