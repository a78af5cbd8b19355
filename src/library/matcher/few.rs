//! The same matching for lists that are too short to need an index.

use nucleo::Config;

use super::needle::{Needles, haystack};
use super::scorer::Scorer;
use crate::library::index::Form;

/// A query, ready to be held against a few texts.
#[derive(Debug)]
pub struct Few(Needles);

/// How a text matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// How well; comparable among texts of one query.
    pub score: u32,
    /// Which grapheme clusters of the text match, counted from 0, in order.
    pub places: Vec<u32>,
}

impl Few {
    /// A query of words, all of which must match.
    #[must_use]
    pub fn new(query: &str) -> Self {
        Self(Needles::new(query))
    }

    /// How a text matches; `None` when it does not.
    #[must_use]
    pub fn rank(&self, text: &str) -> Option<Match> {
        Scorer::with(Config::DEFAULT, |Scorer { matcher, buffer }| {
            let haystack = haystack(text, Form::of(text), buffer);
            let mut score = 0_u32;
            for word in self.0.iter() {
                score = score.saturating_add(word.score(haystack, matcher)?);
            }
            let mut places = self.0.places(haystack, matcher);
            places.sort_unstable();
            places.dedup();
            Some(Match { score, places })
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_word_must_match_and_its_clusters_are_told() {
        let few = Few::new("son ant");
        assert_eq!(
            few.rank("anthropic/sonnet").unwrap().places,
            [0, 1, 2, 10, 11, 12]
        );
        assert_eq!(few.rank("openai/gpt"), None);
        let places = few.rank("世son x\u{301}ant").unwrap().places;
        assert_eq!(places, [1, 2, 3, 6, 7, 8]);
    }

    #[test]
    fn nothing_typed_matches_everything() {
        let all = Few::new(" ").rank("anything").unwrap();
        assert_eq!((all.score, all.places.len()), (0, 0));
    }

    #[test]
    fn what_stands_together_counts_more() {
        let few = Few::new("mini");
        let score = |text| few.rank(text).unwrap().score;
        assert!(score("gpt-mini") > score("m-i-n-i"));
    }
}
