//! Earlier prompts of the session, walked through with Up and Down.

use crate::chat::{Draft, Part};
use crate::reference::Reference;
use crate::session::{Message, Session};

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
        let messages: Vec<&Message> = session
            .events()
            .iter()
            .filter_map(|e| e.message())
            .collect();
        let prompts = messages
            .iter()
            .enumerate()
            .filter(|(_, message)| message.source.is_person())
            .map(|(place, message)| {
                let cited = messages
                    .get(place + 1)
                    .filter(|next| next.source.is_session_reference())
                    .map(|next| cited_by(next))
                    .unwrap_or_default();
                with_mentions(&message.text(), &cited)
            })
            .collect();
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

/// What a context message cites, in order.
fn cited_by(context: &Message) -> Vec<Reference> {
    let references = context.source.rest.get("references");
    references
        .and_then(|r| r.as_array())
        .map(|records| {
            records
                .iter()
                .filter_map(|record| {
                    let id = record.get("sessionId")?.as_str()?;
                    let label = record.get("label")?.as_str()?;
                    Some(Reference::new(id, Some(label.to_owned())))
                })
                .collect()
        })
        .unwrap_or_default()
}

/// The readable text of a message with `@label` turned into mentions again.
/// Where that can't be done so that it cites exactly what was cited, the text
/// stays text: a person sees that, but not that another session is meant.
fn with_mentions(text: &str, cited: &[Reference]) -> Draft {
    // The longest label that fits wins, so that one label may begin another.
    let mut by_length: Vec<&Reference> = cited.iter().collect();
    by_length.sort_by_key(|reference| std::cmp::Reverse(reference.label.len()));
    let mut found: Vec<&Reference> = Vec::new();
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('@') {
        plain.push_str(before);
        let is_here = |reference: &&&Reference| after.starts_with(&*reference.label);
        // Of those that share a label, each is mentioned for the first time in
        // the order in which they are cited.
        let fits = by_length.iter().find(is_here).map(|longest| {
            let alike = || by_length.iter().filter(|r| r.label == longest.label);
            let new = alike().find(|reference| !found.contains(reference));
            new.or_else(|| alike().next_back()).unwrap_or(longest)
        });
        if let Some(reference) = fits {
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Element(Reference::clone(reference).into()));
            rest = after.get(reference.label.len()..).unwrap_or_default();
            if !found.contains(reference) {
                found.push(reference);
            }
        } else {
            plain.push('@');
            rest = after;
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    if found.into_iter().eq(cited) {
        Draft { parts }
    } else {
        Draft::from_text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Element;

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

    #[test]
    fn a_logged_prompt_gets_its_mentions_back() {
        let flaky = Reference::new("a", Some("Fix".to_owned()));
        let longer = Reference::new("b", Some("Fix the test".to_owned()));
        let draft = with_mentions(
            "mail a@b.c, @Fix the test and @Fix",
            &[longer.clone(), flaky.clone()],
        );
        assert_eq!(
            draft.parts,
            [
                Part::Text("mail a@b.c, ".to_owned()),
                Part::Element(longer.into()),
                Part::Text(" and ".to_owned()),
                Part::Element(flaky.into()),
            ]
        );
    }
    fn recalled(text: &str, cited: &[(&str, &str)]) -> Vec<String> {
        let cited: Vec<Reference> = cited
            .iter()
            .map(|(id, label)| Reference::new(*id, Some((*label).to_owned())))
            .collect();
        with_mentions(text, &cited)
            .elements()
            .map(|element| match element {
                Element::Mention { session_id, .. } => session_id.as_str().to_owned(),
                Element::Paste { .. } => unreachable!("nothing was pasted"),
            })
            .collect()
    }

    #[test]
    fn sessions_of_one_label_are_recalled_in_the_order_of_their_citation() {
        let cited = [("b", "Fix"), ("a", "Fix")];
        assert_eq!(recalled("@Fix and @Fix", &cited), ["b", "a"]);
        assert_eq!(recalled("@Fix, @Fix, @Fix", &cited), ["b", "a", "a"]);
    }

    #[test]
    fn a_prompt_that_would_cite_something_else_is_recalled_as_text() {
        // The first was picked as "Fix", with " it" typed behind it.
        let cited = [("a", "Fix"), ("b", "Fix it")];
        assert!(recalled("@Fix it and @Fix it", &cited).is_empty());
        assert!(recalled("the mention is gone", &[("a", "Fix")]).is_empty());
    }
}
