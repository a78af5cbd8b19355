//! What a compaction replaces, and what it leaves as it is.

use std::sync::Arc;

use crate::model::tokens;
use crate::session::{Event, MessageKind, Payload, Seq, Session, Source};

/// The window that is reckoned with where a model declares none, in tokens.
const USUAL_WINDOW: u64 = 32_768;

/// The part of a session that a summary takes the place of.
///
/// Standing instructions in front stay in front. The last turn stays as it was
/// said, unless it alone takes more than a fourth of the window; while it has no
/// answer it always stays, so that it can still be answered. Earlier whole
/// turns stay with it as long as all that stays is at most a tenth of the
/// window and at most a fourth of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// How many messages stand in front of what is kept, from the first one of
    /// the surface on: what the model is sent.
    pub(super) sent: usize,
    /// The first and the last message that are replaced.
    pub(super) range: (Seq, Seq),
    /// All that are replaced.
    pub(super) replaced: Vec<Seq>,
    /// How many messages stay behind them.
    pub(super) kept: usize,
}

impl Plan {
    /// The plan for a session as it stands now, for a model with this window
    /// in tokens; `None` where there is nothing to gain: fewer than two
    /// messages that are no summary already.
    pub(super) fn of(session: &Session, window: Option<u64>) -> Option<Self> {
        let surface: Vec<&Arc<Event>> = session.surface().collect();
        let head = surface.iter();
        let head = head.take_while(|event| is_of(event, MessageKind::System));
        let head = head.count();
        let body = surface.get(head..)?;
        let kept = kept(body, window.unwrap_or(USUAL_WINDOW));
        let replaced = body.get(..body.len().checked_sub(kept)?)?;
        let is_new = |event: &&&Arc<Event>| {
            let source = event.message().map(|message| &message.source);
            source.is_some_and(|source| !source.is_checkpoint())
        };
        if replaced.iter().filter(is_new).count() < 2 {
            return None;
        }
        Some(Self {
            sent: head + replaced.len(),
            range: (replaced.first()?.seq, replaced.last()?.seq),
            replaced: replaced.iter().map(|event| event.seq).collect(),
            kept,
        })
    }
}

fn is_of(event: &Event, wanted: MessageKind) -> bool {
    matches!(&event.payload, Payload::Message { kind, .. } if *kind == wanted)
}

/// How many messages at the end stay as they are.
fn kept(body: &[&Arc<Event>], window: u64) -> usize {
    let tokens = |event: &&Arc<Event>| event.message().map_or(0, tokens::of_message);
    let all: u64 = body.iter().map(tokens).sum();
    let most = (window / 10).min(all / 4);
    let mut is_answered = false;
    let (mut kept, mut size) = (0, 0_u64);
    for (place, event) in body.iter().rev().enumerate() {
        size = size.saturating_add(tokens(event));
        is_answered |= is_of(event, MessageKind::Assistant);
        let limit = match kept {
            0 if is_answered => window / 4,
            0 => u64::MAX,
            _ => most,
        };
        if size > limit {
            break;
        }
        // A turn begins with what a person said.
        let source = event.message().map(|message| &message.source);
        if source.is_some_and(Source::is_person) {
            kept = place + 1;
        }
    }
    kept
}
