//! Whether a request fits into the window of the model that is asked.
//!
//! What the model counted itself is believed; what came since is estimated.

use std::sync::Arc;

use serde_json::Value;

use super::{Chat, Failure, Notice};
use crate::figures::thousands;
use crate::model::{Chosen, tokens};
use crate::reference::ports::ModelRoute;
use crate::session::{Event, Message, MessageKind, Payload};

/// The tokens that are kept free for an answer where no limit of answers is
/// known.
const FOR_AN_ANSWER: u64 = 4_096;
/// The part of a window that an answer has at most, as one over this: some
/// models may answer with as much as their whole window.
const PART_FOR_AN_ANSWER: u64 = 4;

impl Chat {
    /// About how many tokens the conversation takes when it is sent to the
    /// chosen model: as that model counted the last time, and an estimate of
    /// what came since.
    #[must_use]
    pub fn context_tokens(&self) -> u64 {
        self.context
    }

    /// Counts again after the conversation or the model changed.
    pub(super) fn recount(&mut self) {
        let surface: Vec<_> = self.session.surface().collect();
        self.context = counted(&surface, &self.chosen.config.route());
    }

    /// Why a request can't be sent: the first `kept` messages of the surface
    /// with these behind them are longer than the chosen model takes. `None`
    /// where they fit, or nobody knows the window.
    pub(super) fn too_long(&self, kept: usize, new: &[Arc<Message>]) -> Option<Notice> {
        let window = self.chosen.context_window.filter(|window| *window > 0)?;
        let answer = for_an_answer(&self.chosen, window);
        let surface: Vec<_> = self.session.surface().take(kept).collect();
        let old = counted(&surface, &self.chosen.config.route());
        let size = |message: &Arc<Message>| tokens::of_message(message);
        let asked = old.saturating_add(new.iter().map(size).sum());
        if asked <= window.saturating_sub(answer) {
            return None;
        }
        let is_context = |message: &&Arc<Message>| message.source.is_session_reference();
        let cited: u64 = new.iter().filter(is_context).map(size).sum();
        let cite_less = match cited {
            0 => "write less".to_owned(),
            cited => format!("cite less (about {} of them)", thousands(cited)),
        };
        Some(Notice::Failed(Failure {
            code: TOO_LONG.to_owned(),
            message: format!(
                "this would send about {} tokens of the {} that model {:?} takes, with {} for \
                 its answer; {cite_less}, compact the session (/compact), or choose a model \
                 with a larger window (Ctrl-L)",
                thousands(asked),
                thousands(window),
                self.chosen.config.model,
                thousands(answer),
            ),
        }))
    }
}

/// The code of a request that was not sent as the model's window is too small.
const TOO_LONG: &str = "CHAT_TOO_LONG";

/// The tokens of a window that an answer needs: what is asked for, else what
/// the model may take, within reason.
fn for_an_answer(chosen: &Chosen, window: u64) -> u64 {
    let asked_for = chosen.config.options.max_output;
    asked_for.map_or_else(
        || {
            let most = chosen.max_output.unwrap_or(FOR_AN_ANSWER);
            most.min(window / PART_FOR_AN_ANSWER)
        },
        |asked_for| asked_for.min(window),
    )
}

/// About how many tokens these take as the beginning of a request.
fn counted(surface: &[&Arc<Event>], route: &ModelRoute) -> u64 {
    let (reported, from) = report(surface, route).unwrap_or_default();
    let since = surface.iter().skip(from);
    let since = since.filter_map(|event| event.message());
    since
        .map(tokens::of_message)
        .fold(reported, u64::saturating_add)
}

/// What the model counted of a request, and how many messages that had. It
/// counts as long as they are still the same: none of them is newer than the
/// answer.
fn report(surface: &[&Arc<Event>], route: &ModelRoute) -> Option<(u64, usize)> {
    let mut newest = None;
    let mut latest = None;
    for (place, event) in surface.iter().enumerate() {
        if newest > Some(event.seq) {
            continue;
        }
        newest = Some(event.seq);
        if let Some(tokens) = reported(event, route) {
            latest = Some((tokens, place));
        }
    }
    latest
}

/// The tokens of the request that was answered with this, as its model said.
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
