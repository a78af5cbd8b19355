//! What a person said before, as a draft again.

use std::sync::Arc;

use super::{Draft, Part};
use crate::reference::Reference;
use crate::session::{Event, Message, Millis, Seq};

/// A message that a person sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// Its place in the log.
    pub seq: Seq,
    /// When it was sent.
    pub time: Millis,
    /// What was sent, its mentions whole again.
    pub draft: Draft,
}

/// What a person said in these events, in order. Mentions are made whole again
/// from the citations that follow them.
pub fn prompts<'a>(events: impl Iterator<Item = &'a Arc<Event>>) -> impl Iterator<Item = Prompt> {
    let mut events = events
        .filter_map(|event| Some((event, event.message()?)))
        .peekable();
    std::iter::from_fn(move || {
        loop {
            let (event, message) = events.next()?;
            if !message.source.is_person() {
                continue;
            }
            let next = events.peek().map(|(_, next)| *next);
            let cited = next.filter(|next| next.source.is_session_reference());
            let cited = cited.map(cited_by).unwrap_or_default();
            return Some(Prompt {
                seq: event.seq,
                time: event.time,
                draft: with_mentions(&message.text(), &cited),
            });
        }
    })
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
