//! Earlier prompts of the session, walked through with Up and Down.

use crate::chat::{Draft, prompts};
use crate::session::Session;

/// The prompts sent so far, and the draft that was left to look at them.
#[derive(Debug, Default)]
pub struct History {
    prompts: Vec<Draft>,
    /// How far back the walk is, from 1; 0 is the draft itself.
    back: usize,
    kept: Option<Draft>,
}

impl History {
    /// The prompts that a session's log holds, their mentions made whole
    /// again from the citations that follow them.
    #[must_use]
    pub fn of(session: &Session) -> Self {
        let prompts = prompts(session.events().iter());
        let prompts = prompts.map(|prompt| prompt.draft).collect();
        Self {
            prompts,
            back: 0,
            kept: None,
        }
    }

    /// Adds a prompt that is sent.
    pub fn push(&mut self, draft: Draft) {
        self.leave();
        if !draft.is_blank() && self.prompts.last() != Some(&draft) {
            self.prompts.push(draft);
        }
    }

    /// The prompt before the one shown; `draft` is kept for the way back.
    pub fn earlier(&mut self, draft: impl FnOnce() -> Draft) -> Option<Draft> {
        let place = self.prompts.len().checked_sub(self.back + 1)?;
        let earlier = self.prompts.get(place)?.clone();
        if self.back == 0 {
            self.kept = Some(draft());
        }
        self.back += 1;
        Some(earlier)
    }

    /// The prompt after the one shown, or the draft that was kept.
    pub fn later(&mut self) -> Option<Draft> {
        self.back = self.back.checked_sub(1)?;
        if self.back == 0 {
            return Some(self.kept.take().unwrap_or_default());
        }
        self.prompts
            .get(self.prompts.len().checked_sub(self.back)?)
            .cloned()
    }

    /// The draft that was left for the walk; `None` while none is walked.
    #[must_use]
    pub fn kept(&self) -> Option<&Draft> {
        self.kept.as_ref()
    }

    /// The prompt that was recalled is edited: it is the draft now.
    pub fn leave(&mut self) {
        self.back = 0;
        self.kept = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(prompts: &[&str]) -> History {
        let mut history = History::default();
        for prompt in prompts {
            history.push(Draft::from_text(*prompt));
        }
        history
    }

    #[test]
    fn the_walk_back_ends_at_the_first_prompt_and_returns_to_the_draft() {
        let mut history = history(&["one", "two"]);
        let draft = || Draft::from_text("half written");
        assert_eq!(history.earlier(draft), Some(Draft::from_text("two")));
        assert_eq!(history.earlier(draft), Some(Draft::from_text("one")));
        assert_eq!(history.earlier(draft), None);
        assert_eq!(history.later(), Some(Draft::from_text("two")));
        assert_eq!(history.later(), Some(Draft::from_text("half written")));
        assert_eq!(history.later(), None);
    }

    #[test]
    fn an_edited_prompt_is_the_draft_from_then_on() {
        let mut history = history(&["one"]);
        history.earlier(Draft::default);
        history.leave();
        assert_eq!(history.later(), None);
        assert_eq!(
            history.earlier(|| Draft::from_text("one, edited")),
            Some(Draft::from_text("one"))
        );
        assert_eq!(history.later(), Some(Draft::from_text("one, edited")));
    }
}
