//! The message that waits for what is under way: it goes when that has ended,
//! or comes back.

use super::outgoing::{Outgoing, Shown, give_up, stop_preparing};
use super::{Chat, Effect};

impl Chat {
    /// Sends what waited for the answer or the compaction that has just ended.
    pub(super) fn release_waiting(&mut self) -> Vec<Effect> {
        match std::mem::take(&mut self.outgoing) {
            // Time has passed since it was prepared, looked at or not.
            Outgoing::Waiting { draft, step, .. } => self.depart(draft, step, true),
            other => {
                self.outgoing = other;
                Vec::new()
            }
        }
    }

    /// Gives back what would go by itself behind an answer that failed: it was
    /// written for one that never came, so the person decides. What they look
    /// at, or asked to look at, goes only when they say so.
    pub(super) fn take_back_waiting(&mut self) -> Vec<Effect> {
        match std::mem::take(&mut self.outgoing) {
            Outgoing::Waiting { draft, step } => give_up(draft, &step),
            Outgoing::Preparing {
                generation,
                draft,
                shown: Shown::ByPolicy,
                again,
                ..
            } => stop_preparing(generation, draft, again.as_deref()),
            other => {
                self.outgoing = other;
                Vec::new()
            }
        }
    }
}
