//! Whether a request fits into the window of the model that is asked.

use std::sync::Arc;

use super::window::counted;
use super::{Chat, Failure, Notice};
use crate::figures::thousands;
use crate::model::{Chosen, tokens};
use crate::session::Message;

/// The tokens that are kept free for an answer where no limit of answers is
/// known.
const FOR_AN_ANSWER: u64 = 4_096;
/// The part of a window that an answer has at most, as one over this: some
/// models may answer with as much as their whole window.
const PART_FOR_AN_ANSWER: u64 = 4;

impl Chat {
    /// Why a request can't be sent: the first `kept` messages of the surface
    /// with these behind them are longer than the chosen model takes. `None`
    /// where they fit, or nobody knows the window.
    pub(super) fn too_long(&self, kept: usize, new: &[Arc<Message>]) -> Option<Notice> {
        let window = self.chosen.context_window.filter(|window| *window > 0)?;
        let answer = for_an_answer(&self.chosen, window);
        let size = |message: &Arc<Message>| tokens::of_message(message);
        let asked = self.tokens_of(kept, new.iter().map(size).sum());
        if asked <= window.saturating_sub(answer) {
            return None;
        }
        let is_context = |message: &&Arc<Message>| message.source.is_session_reference();
        let cited: u64 = new.iter().filter(is_context).map(size).sum();
        let cite_less = match cited {
            0 => "write less".to_owned(),
            cited => format!("cite less (about {} of them)", thousands(cited)),
        };
        Some(refused(format!(
            "this would send about {} tokens of the {} that model {:?} takes, with {} for \
                 its answer; {cite_less}, compact the session with /compact in the chat, or \
                 choose a model with a larger window",
            thousands(asked),
            thousands(window),
            self.chosen.config.model,
            thousands(answer),
        )))
    }

    /// Why the first `kept` messages of the surface can't be summarised: with
    /// this instruction alone they are longer than the chosen model takes. A
    /// server that cuts what does not fit would tell of the rest only, and
    /// that would stand for all of it. No room is kept free: a conversation is
    /// compacted when there is little left.
    pub(super) fn too_long_to_compact(&self, kept: usize, instruction: &Message) -> Option<Notice> {
        let window = self.chosen.context_window.filter(|window| *window > 0)?;
        let asked = self.tokens_of(kept, tokens::of_message(instruction));
        if asked <= window {
            return None;
        }
        Some(refused(format!(
            "a summary needs all of the conversation, about {} tokens, and model {:?} takes {}; \
             choose a model with a larger window (Ctrl-L), and compact then",
            thousands(asked),
            self.chosen.config.model,
            thousands(window),
        )))
    }

    /// About how many tokens the first messages of the surface take, and more.
    fn tokens_of(&self, kept: usize, more: u64) -> u64 {
        let surface = self.session.surface().take(kept);
        counted(surface, &self.chosen.config.route()).saturating_add(more)
    }
}

fn refused(message: String) -> Notice {
    Notice::Failed(Failure {
        code: TOO_LONG.to_owned(),
        message,
    })
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
