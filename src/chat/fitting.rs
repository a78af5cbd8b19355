//! Whether a request fits into the window of the model that is asked.

use std::sync::Arc;

use super::window::{Count, counted};
use super::{Chat, Failure, Notice};
use crate::figures::thousands;
use crate::model::{Chosen, tokens};
use crate::reference::ports::ModelRoute;
use crate::session::Message;

/// The tokens that are kept free for an answer where no limit of answers is
/// known.
const FOR_AN_ANSWER: u64 = 4_096;
/// The part of a window that an answer has at most, as one over this: some
/// models may answer with as much as their whole window.
const PART_FOR_AN_ANSWER: u64 = 4;

/// What a person wants of a model, as far as its length counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// An answer to this message.
    Message(String),
    /// The last answer once more, or the one that never came.
    Answer,
    /// A summary.
    Summary,
}

/// What was not asked, as an estimate says that it is too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    wanted: Wanted,
    route: ModelRoute,
    /// How long all of the request was: on another branch the same words ask
    /// for another thing.
    tokens: u64,
}

/// A request that is longer than the model takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TooLong {
    message: String,
    tokens: u64,
    /// By what the model counted itself it would not be.
    is_estimate: bool,
}

impl Chat {
    /// The conversation in which what is too long by an estimate alone goes at
    /// once.
    #[must_use]
    pub fn despite_estimates(mut self, despite: bool) -> Self {
        self.despite_estimates = despite;
        self
    }

    /// Why what is wanted can't be asked, if it is too long. Where that is an
    /// estimate the person may know better: the same once more goes.
    pub(super) fn refusal(&mut self, wanted: Wanted, too_long: Option<TooLong>) -> Option<Notice> {
        let before = self.refused.take();
        let too_long = too_long?;
        let failure = Failure {
            code: TOO_LONG.to_owned(),
            message: too_long.message,
        };
        if !too_long.is_estimate {
            return Some(Notice::Failed(failure));
        }
        let now = Refused {
            wanted,
            route: self.chosen.config.route(),
            tokens: too_long.tokens,
        };
        if self.despite_estimates || before.as_ref() == Some(&now) {
            return None;
        }
        self.refused = Some(now);
        Some(Notice::ByEstimate(failure))
    }

    /// How the first `kept` messages of the surface with these behind them are
    /// longer than the chosen model takes. `None` where they fit, or nobody
    /// knows the window.
    pub(super) fn too_long(&self, kept: usize, new: &[Arc<Message>]) -> Option<TooLong> {
        let window = self.chosen.context_window.filter(|window| *window > 0)?;
        let answer = for_an_answer(&self.chosen, window);
        let room = window.saturating_sub(answer);
        let size = |message: &Arc<Message>| tokens::of_message(message);
        let count = self.count_of(kept, new.iter().map(size).sum());
        if count.all() <= room {
            return None;
        }
        let is_context = |message: &&Arc<Message>| message.source.is_session_reference();
        let cited: u64 = new.iter().filter(is_context).map(size).sum();
        let cite_less = match cited {
            0 => "write less".to_owned(),
            cited => format!("cite less (about {} of them)", thousands(cited)),
        };
        let message = format!(
            "this would send about {} tokens of the {} that model {:?} takes, with {} for \
                 its answer; {cite_less}, compact the session with /compact in the chat, or \
                 choose a model with a larger window",
            thousands(count.all()),
            thousands(window),
            self.chosen.config.model,
            thousands(answer),
        );
        Some(TooLong {
            message,
            tokens: count.all(),
            is_estimate: count.reported <= room,
        })
    }

    /// How the first `kept` messages of the surface with this instruction
    /// behind them are longer than the chosen model takes. A server that cuts
    /// what does not fit would tell of the rest only, and that would stand for
    /// all of it. No room is kept free: a conversation is compacted when there
    /// is little left.
    pub(super) fn too_long_to_compact(
        &self,
        kept: usize,
        instruction: &Message,
    ) -> Option<TooLong> {
        let window = self.chosen.context_window.filter(|window| *window > 0)?;
        let count = self.count_of(kept, tokens::of_message(instruction));
        if count.all() <= window {
            return None;
        }
        let message = format!(
            "a summary needs all of the conversation, about {} tokens, and model {:?} takes {}; \
             choose a model with a larger window (Ctrl-L), and compact then",
            thousands(count.all()),
            self.chosen.config.model,
            thousands(window),
        );
        Some(TooLong {
            message,
            tokens: count.all(),
            is_estimate: count.reported <= window,
        })
    }

    /// How many tokens the first messages of the surface take, and so many
    /// more, which are an estimate.
    fn count_of(&self, kept: usize, more: u64) -> Count {
        let surface = self.session.surface().take(kept);
        let count = counted(surface, &self.chosen.config.route());
        Count {
            estimated: count.estimated.saturating_add(more),
            ..count
        }
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
