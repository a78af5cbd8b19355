//! An earlier message of the person, changed and sent anew: it takes the place of
//! all that stands on the surface from the old one on. The log keeps that, so
//! it can be gone back to.

use super::{Chat, Draft, Effect, Failure, Notice, Prompt, prompts};
use crate::session::{Entry, Payload, Seq};

impl Chat {
    /// The message that the next one takes the place of.
    #[must_use]
    pub fn revising(&self) -> Option<Seq> {
        self.revising
    }

    /// What the person said, as far as the model still sees it, oldest first.
    pub fn prompts(&self) -> impl Iterator<Item = Prompt> {
        prompts(self.session.surface())
    }

    /// Goes on changing a message that was being changed when the program
    /// ended; its draft is in the composer.
    pub fn go_on_revising(&mut self, seq: Seq) {
        self.revising = self.said_at(seq).map(|_| seq);
    }

    /// Takes an earlier message into the composer.
    pub(super) fn revise(&mut self, seq: Seq) -> Vec<Effect> {
        if !matches!(self.outgoing, super::Outgoing::None) {
            let wait = "another message is on its way; Esc takes it back";
            return vec![Effect::Say(Notice::Info(wait.to_owned()))];
        }
        let Some(draft) = self.said_at(seq) else {
            return vec![Effect::Say(gone())];
        };
        self.revising = Some(seq);
        vec![Effect::RestoreDraft(draft)]
    }

    /// What stands in the composer is a message like any other from now on.
    pub(super) fn leave_revising(&mut self) -> Vec<Effect> {
        if self.outgoing.departed().is_some() || self.revising.take().is_none() {
            return Vec::new();
        }
        let now = "the earlier message stays as it was: what is written here is a new one";
        vec![Effect::Say(Notice::Info(now.to_owned()))]
    }

    fn said_at(&self, seq: Seq) -> Option<Draft> {
        let mut said = self.prompts();
        said.find(|prompt| prompt.seq == seq)
            .map(|prompt| prompt.draft)
    }

    /// What the next message takes the place of, in order; nothing where it is
    /// simply the next one.
    pub(super) fn shadowed(&mut self) -> Result<Vec<Seq>, Notice> {
        let Some(from) = self.revising else {
            return Ok(Vec::new());
        };
        if self.unsaved.is_some() {
            let save = "the last answer is not saved: Esc tries to save it, then send again";
            return Err(Notice::Info(save.to_owned()));
        }
        let seqs = self.session.surface().map(|event| event.seq);
        let shadowed: Vec<Seq> = seqs.skip_while(|seq| *seq != from).collect();
        if shadowed.is_empty() {
            self.revising = None;
            return Err(gone());
        }
        Ok(shadowed)
    }
}

fn gone() -> Notice {
    Notice::Failed(Failure {
        code: "CHAT_MESSAGE_GONE".to_owned(),
        message: "the message to be changed is no part of the conversation any more; \
                  sent again it is a new one"
            .to_owned(),
    })
}

/// Messages as they are written: the first takes the place of all that is
/// shadowed, the others follow it.
pub(super) fn in_place_of(
    shadowed: Vec<Seq>,
    messages: impl IntoIterator<Item = Payload>,
) -> Vec<Entry> {
    let mut messages = messages.into_iter();
    let (Some(&start), Some(&end)) = (shadowed.first(), shadowed.last()) else {
        return messages.map(Entry::from).collect();
    };
    let first = messages.next();
    let first = first.map(|payload| Entry::replacing(payload, (start, end), shadowed));
    first.into_iter().chain(messages.map(Entry::from)).collect()
}
