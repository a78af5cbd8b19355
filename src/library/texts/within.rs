//! Search within one session.

use std::ops::Range;

use super::matching::TextMatcher;
use super::snippet::Snippet;
use super::terms::Terms;
use crate::reference::projection::Capture;
use crate::session::Role;

/// A message that was found in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventHit {
    /// Its place in the conversation, counted from 0.
    pub message: u32,
    /// Whose words they are.
    pub role: Role,
    /// The part of it that matches, as one clean line.
    pub snippet: String,
    /// What of the snippet matches, in bytes, in order and apart.
    pub marks: Vec<Range<usize>>,
    /// How well it matches; comparable with any other score of these terms.
    pub score: u32,
}

/// Every message of a conversation that matches, in order. Reads the text of
/// all of them; needs no index.
#[must_use]
pub fn search_events(capture: &Capture, terms: &Terms) -> Vec<EventHit> {
    let mut matcher = TextMatcher::new(terms);
    let items = (0..).zip(&capture.conversation);
    items
        .filter_map(|(message, item)| {
            let score = matcher.score(&item.text)?;
            let snippet = Snippet::new(&mut matcher, &item.text);
            Some(EventHit {
                message,
                role: item.role,
                snippet: snippet.text,
                marks: snippet.marks,
                score,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::projection::Item;
    use crate::session::{Header, Millis};

    #[test]
    fn every_message_that_matches_is_given_in_order() {
        let texts = ["Fix login_test", "no", "The LOGIN test\nis fixed"];
        let roles = [Role::User, Role::Assistant, Role::Assistant];
        let conversation = texts.into_iter().zip(roles).map(|(text, role)| Item {
            time: Millis(0),
            role,
            checkpoint: false,
            text: text.into(),
        });
        let capture = Capture {
            header: Header::new("a", Millis(0), None),
            captured_through: None,
            conversation: conversation.collect(),
            damage: None,
        };
        let found = search_events(&capture, &Terms::parse("login"));
        let marks = std::slice::from_ref(&(4..9));
        let shown: Vec<_> = found
            .iter()
            .map(|hit| (hit.message, hit.role, &*hit.snippet, &*hit.marks))
            .collect();
        assert_eq!(
            shown,
            [
                (0, Role::User, "Fix login_test", marks),
                (2, Role::Assistant, "The LOGIN test is fixed", marks),
            ]
        );
        assert!(found[1].score > found[0].score);
        assert!(search_events(&capture, &Terms::default()).is_empty());
    }
}
