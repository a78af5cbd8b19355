//! How much of the model's window the conversation takes.

use serde_json::Value;

use super::{Chat, Effect, Notice};
use crate::session::{Block, Message, Payload, Seq, Session};

/// From this share of the window on, in percent, the person is told how to
/// make room.
pub const CROWDED: u64 = 80;

/// The estimate of a text's tokens: a fourth of its bytes, rounded up.
#[must_use]
pub fn estimated_tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

/// The tokens of a message by [`estimated_tokens`]. Reasoning is never sent
/// again, so it does not count.
#[must_use]
pub fn message_tokens(message: &Message) -> u64 {
    let texts = message.content.iter().filter_map(Block::as_text);
    estimated_tokens(texts.map(str::len).sum())
}

/// The tokens of what a model sees of a session now: what its provider counted
/// for the last answer, and an estimate of what came since. Where something
/// before that answer was replaced after it, all of it is an estimate.
#[must_use]
pub fn context_tokens(session: &Session) -> u64 {
    let mut tokens: u64 = 0;
    let mut newest_before = None;
    for event in session.surface() {
        let Payload::Message {
            message, envelope, ..
        } = &event.payload
        else {
            continue;
        };
        let is_in_order = newest_before.is_none_or(|before: Seq| before < event.seq);
        match envelope.get("usage").and_then(counted) {
            Some(counted) if is_in_order => tokens = counted,
            _ => tokens = tokens.saturating_add(message_tokens(message)),
        }
        newest_before = newest_before.max(Some(event.seq));
    }
    tokens
}

/// The tokens of a request and its answer, as a provider counted them.
fn counted(usage: &Value) -> Option<u64> {
    let count = |key| usage.get(key).and_then(Value::as_u64);
    let (input, output) = (count("inputTokens"), count("outputTokens"));
    let sum = input?.saturating_add(output.unwrap_or_default());
    (sum > 0).then_some(sum)
}

impl Chat {
    /// The tokens of what the model sees of the conversation now, as
    /// [`context_tokens`] has them.
    #[must_use]
    pub fn context_tokens(&self) -> u64 {
        self.context
    }

    /// Counts again after the conversation changed.
    pub(super) fn recount(&mut self) {
        self.context = context_tokens(&self.session);
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
                "{share}% of the window is used: /compact makes room"
            )))
        })
    }
}
