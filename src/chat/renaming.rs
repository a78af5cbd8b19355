//! The title that a person gives the session.

use std::sync::Arc;

use super::{Chat, Effect, Failure, Notice, log};
use crate::session::{Event, Title, TitleSource, title};

impl Chat {
    /// Whether a title is being written.
    pub(super) fn is_renaming(&self) -> bool {
        self.renaming.is_some()
    }

    /// Names the session, for good: nothing else renames it.
    pub(super) fn rename(&mut self, text: &str) -> Vec<Effect> {
        let refused = if title::normalise(text, title::MAX_TITLE_BYTES).is_empty() {
            Some("a title has at least one letter")
        } else if self.is_busy() || self.unsaved.is_some() {
            Some("something is still on its way to this session: name it when that is there")
        } else if self.session.captured_through().is_none() {
            Some("this session is stored with its first message: name it then")
        } else {
            None
        };
        if let Some(refused) = refused {
            return vec![Effect::Say(Notice::Info(refused.to_owned()))];
        }
        let generation = self.next_generation();
        self.renaming = Some(generation);
        let named = Title::event(text, TitleSource::Person);
        vec![log(generation, vec![named])]
    }

    pub(super) fn renamed(&mut self, outcome: Result<Vec<Arc<Event>>, Failure>) -> Vec<Effect> {
        self.renaming = None;
        match outcome {
            Ok(events) => self.absorb(events),
            Err(failure) => vec![Effect::Say(Notice::Failed(failure))],
        }
    }
}
