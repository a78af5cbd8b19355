//! How much of the model's window the conversation takes.

use std::sync::Arc;

use serde_json::Value;

use super::{Chat, Effect, Notice};
use crate::model::tokens;
use crate::reference::ports::ModelRoute;
use crate::session::{Event, MessageKind, Payload, Seq, Session};

/// From this share of the window on, in percent, the person is told how to
/// make room.
pub const CROWDED: u64 = 80;

/// The tokens of what a model sees of a session now, when it is sent to the
/// model of this route: what that model counted of its last request, and an
/// estimate of what came since. Where something before its answer was replaced
/// after it, or another model answered, all of it is an estimate.
#[must_use]
pub fn context_tokens(session: &Session, route: &ModelRoute) -> u64 {
    counted(session.surface(), route).all()
}

/// How many tokens messages take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// What the model counted itself, of the messages up to its last answer.
    pub(super) reported: u64,
    /// An estimate of the others.
    pub(super) estimated: u64,
}

impl Count {
    pub(super) fn all(self) -> u64 {
        self.reported.saturating_add(self.estimated)
    }
}

/// The tokens of these messages of a surface, from its first on.
pub(super) fn counted<'a>(
    surface: impl Iterator<Item = &'a Arc<Event>>,
    route: &ModelRoute,
) -> Count {
    let surface: Vec<&Arc<Event>> = surface.collect();
    let (mut start, mut reported) = (0, 0);
    let mut newest_before = None;
    for (place, event) in surface.iter().enumerate() {
        let is_in_order = newest_before.is_none_or(|before: Seq| before < event.seq);
        if is_in_order && let Some(tokens) = self::reported(event, route) {
            (start, reported) = (place, tokens);
        }
        newest_before = newest_before.max(Some(event.seq));
    }
    let since = surface.iter().skip(start);
    let messages = since.filter_map(|event| event.message());
    Count {
        reported,
        estimated: messages.map(tokens::of_message).sum(),
    }
}

/// The tokens of the request that was answered with this, as its model counted
/// them.
fn reported(event: &Event, route: &ModelRoute) -> Option<u64> {
    let Payload::Message {
        kind: MessageKind::Assistant,
        message,
        envelope,
    } = &event.payload
    else {
        return None;
    };
    let from = |key| message.source.rest.get(key).and_then(Value::as_str);
    if from("provider") != Some(&route.provider) || from("model") != Some(&route.model) {
        return None;
    }
    let tokens = envelope.get("usage")?.get("inputTokens")?.as_u64()?;
    (tokens > 0).then_some(tokens)
}

impl Chat {
    /// The tokens of what the model sees of the conversation now, as
    /// [`context_tokens`] has them.
    #[must_use]
    pub fn context_tokens(&self) -> u64 {
        self.context
    }

    /// Counts again after the conversation or the model changed.
    pub(super) fn recount(&mut self) {
        self.context = context_tokens(&self.session, &self.chosen.config.route());
    }

    /// How much of the chosen model's window that is, in percent; `None` where
    /// the model declares no window.
    #[must_use]
    pub fn window_share(&self) -> Option<u64> {
        let window = self.chosen.context_window.filter(|window| *window > 0)?;
        Some(self.context_tokens().saturating_mul(100) / window)
    }

    /// Tells how to make room, once each time that the window gets crowded.
    pub(super) fn crowded(&mut self) -> Option<Effect> {
        let share = self.window_share().unwrap_or_default();
        let was_told = std::mem::replace(&mut self.is_crowded, share >= CROWDED);
        (self.is_crowded && !was_told).then(|| {
            Effect::Say(Notice::Info(format!(
                "{share}% of the window is used: /compact in the chat makes room"
            )))
        })
    }
}
