//! Search within one session.

use std::ops::Range;

use super::matching::TextMatcher;
use super::snippet::Snippet;
use super::terms::Terms;
use crate::reference::projection::Said;
use crate::session::Role;

/// A message that was found in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventHit {
    /// Its place in what can be cited of the session, counted from 0; `None` where
    /// it can't be any more.
    pub message: Option<u32>,
    /// Whose words they are.
    pub role: Role,
    /// The part of it that matches, as one clean line.
    pub snippet: String,
    /// What of the snippet matches, in bytes, in order and apart.
    pub marks: Vec<Range<usize>>,
    /// How well it matches; comparable with any other score of these terms.
    pub score: u32,
}

/// Every message of a session that matches, in order. Reads the text of
/// all of them; needs no index.
#[must_use]
pub fn search_events(said: &[Said], terms: &Terms) -> Vec<EventHit> {
    let mut matcher = TextMatcher::new(terms);
    said.iter()
        .filter_map(|Said { item, cited }| {
            let score = matcher.score(&item.text)?;
            let snippet = Snippet::new(&mut matcher, &item.text);
            Some(EventHit {
                message: *cited,
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
    use crate::session::Millis;

    #[test]
    fn every_message_that_matches_is_given_in_order() {
        let texts = ["Fix login_test", "login, no", "The LOGIN test\nis fixed"];
        let roles = [Role::User, Role::Assistant, Role::Assistant];
        let cited = [Some(0), None, Some(1)];
        let said = texts.into_iter().zip(roles).zip(cited);
        let said = said.map(|((text, role), cited)| {
            let (time, checkpoint, text) = (Millis(0), false, text.into());
            let item = Item {
                time,
                role,
                checkpoint,
                text,
            };
            Said { item, cited }
        });
        let said: Vec<Said> = said.collect();
        let found = search_events(&said, &Terms::parse("login"));
        let [first, marks] = [0..5, 4..9];
        let [first, marks] = [&first, &marks].map(std::slice::from_ref);
        let shown: Vec<_> = found
            .iter()
            .map(|hit| (hit.message, hit.role, &*hit.snippet, &*hit.marks))
            .collect();
        assert_eq!(
            shown,
            [
                (Some(0), Role::User, "Fix login_test", marks),
                (None, Role::Assistant, "login, no", first),
                (Some(1), Role::Assistant, "The LOGIN test is fixed", marks),
            ]
        );
        assert!(found[2].score > found[0].score);
        assert!(search_events(&said, &Terms::default()).is_empty());
    }
}
