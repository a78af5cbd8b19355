//! The message that waits for what is under way: it goes when that has ended,
//! or comes back.

use super::outgoing::{Outgoing, give_up};
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

    /// Gives back what waited for an answer that failed: it was written for one
    /// that never came, so the person decides.
    pub(super) fn take_back_waiting(&mut self) -> Vec<Effect> {
        match std::mem::take(&mut self.outgoing) {
            Outgoing::Waiting { draft, step } => give_up(draft, &step),
            other => {
                self.outgoing = other;
                Vec::new()
            }
        }
    }
}
