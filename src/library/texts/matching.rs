//! Whether a text matches, how well, and where.

use std::ops::Range;

use super::fold::{fold, fold_text};
use super::terms::{Place, Term, Terms};

/// How many matches of a term are looked at to tell how good they are.
const LOOKED_AT: usize = 16;
/// From how many matches on more of them make no difference.
const MANY: u32 = 4;
/// What it is worth that all terms stand together as they were typed: more
/// than the best that one term can give.
const TOGETHER: u32 = 32;

/// Compares texts with terms; keeps its memory from one text to the next.
pub(super) struct TextMatcher<'a> {
    terms: &'a Terms,
    folded: String,
}

impl<'a> TextMatcher<'a> {
    pub(super) fn new(terms: &'a Terms) -> Self {
        Self {
            terms,
            folded: String::new(),
        }
    }

    /// How well the text matches; `None` when it does not. Each term counts
    /// for its best place and a little for its number, and all of them for
    /// standing together.
    pub(super) fn score(&mut self, text: &str) -> Option<u32> {
        if self.terms.is_empty() {
            return None;
        }
        fold_text(text, &mut self.folded);
        let found = |term| Matches::new(term, text, &self.folded).next().is_some();
        let mut score = 0u32;
        for term in self.terms.included() {
            score = score.saturating_add(self.score_term(term, text)?);
        }
        if self.terms.excluded().iter().any(found) {
            return None;
        }
        if self.terms.together().is_some_and(found) {
            score = score.saturating_add(TOGETHER);
        }
        Some(score)
    }

    fn score_term(&self, term: &Term, text: &str) -> Option<u32> {
        let mut best = None;
        let mut count = 0;
        for found in Matches::new(term, text, &self.folded).take(LOOKED_AT) {
            best = best.max(Some(found.place));
            count += 1;
            if best == Some(Place::Whole) && count >= MANY {
                break;
            }
        }
        let place = match best? {
            Place::Inside => 0,
            Place::Beginning => 1,
            Place::Part => 2,
            Place::Whole => 3,
        };
        Some(place * MANY + count.min(MANY))
    }

    /// Where the terms match in a text, in bytes and in order; those that
    /// overlap are one. At most `limit` of each term.
    pub(super) fn places(&mut self, text: &str, limit: usize) -> Vec<Found> {
        fold_text(text, &mut self.folded);
        let folded = &self.folded;
        let mut all: Vec<Found> = Vec::new();
        for (term, number) in self.terms.included().iter().zip(0..) {
            let mut offsets = Offsets::new(text, folded);
            for found in Matches::new(term, text, folded).take(limit) {
                let start = offsets.original(found.at);
                let end = offsets.original(found.at + term.folded_len());
                all.push(Found {
                    term: number,
                    bytes: start..end,
                });
            }
        }
        all.sort_unstable_by_key(|found| (found.bytes.start, found.bytes.end));
        all
    }
}

/// One match of one term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Which of the included terms.
    pub(super) term: u32,
    /// Where, in bytes of the text.
    pub(super) bytes: Range<usize>,
}

/// A match in the folded text.
struct InFolded {
    at: usize,
    place: Place,
}

/// The matches of one term, one after another.
struct Matches<'a> {
    term: &'a Term,
    text: &'a str,
    folded: &'a str,
    offsets: Offsets<'a>,
    from: usize,
}

impl<'a> Matches<'a> {
    fn new(term: &'a Term, text: &'a str, folded: &'a str) -> Self {
        Self {
            term,
            text,
            folded,
            offsets: Offsets::new(text, folded),
            from: 0,
        }
    }

    fn is_match(&mut self, at: usize) -> Option<Place> {
        let before = self.folded.get(..at)?.chars().next_back();
        let end = at + self.term.folded_len();
        let after = self.folded.get(end..)?.chars().next();
        let place = self.term.place(before, after)?;
        if !self.term.is_particular() {
            return Some(place);
        }
        let text = self.text.get(self.offsets.original(at)..)?;
        self.term.begins(text).then_some(place)
    }
}

impl Iterator for Matches<'_> {
    type Item = InFolded;

    fn next(&mut self) -> Option<InFolded> {
        loop {
            let at = self.term.find(self.folded, self.from)?;
            if let Some(place) = self.is_match(at) {
                self.from = at + self.term.folded_len();
                return Some(InFolded { at, place });
            }
            let first = self.folded.get(at..)?.chars().next()?;
            self.from = at + first.len_utf8();
        }
    }
}

/// Finds the places of a folded text in the text itself. Asked in rising
/// order, it walks along both once.
struct Offsets<'a> {
    /// `None` where both are the same.
    chars: Option<std::str::Chars<'a>>,
    folded: usize,
    original: usize,
}

impl<'a> Offsets<'a> {
    fn new(text: &'a str, folded: &str) -> Self {
        // Folding changes the length of no ASCII character.
        let is_same = text.len() == folded.len() && text.is_ascii();
        Self {
            chars: (!is_same).then(|| text.chars()),
            folded: 0,
            original: 0,
        }
    }

    fn original(&mut self, folded: usize) -> usize {
        let Some(chars) = &mut self.chars else {
            return folded;
        };
        while self.folded < folded
            && let Some(c) = chars.next()
        {
            self.folded += fold(c).len_utf8();
            self.original += c.len_utf8();
        }
        self.original
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(query: &str, text: &str) -> Option<u32> {
        TextMatcher::new(&Terms::parse(query)).score(text)
    }

    fn marked<'a>(query: &str, text: &'a str) -> Vec<&'a str> {
        let terms = Terms::parse(query);
        let places = TextMatcher::new(&terms).places(text, usize::MAX);
        places
            .into_iter()
            .filter_map(|f| text.get(f.bytes))
            .collect()
    }

    #[test]
    fn case_and_diacritics_count_where_the_query_has_them() {
        let texts = ["login", "Login", "cafe", "café", "Café", "CAFÉ"];
        for (query, finds) in [
            ("login", ["login", "Login"].as_slice()),
            ("Login", &["Login"]),
            ("cafe", &["cafe", "café", "Café", "CAFÉ"]),
            ("café", &["café", "Café", "CAFÉ"]),
            ("Café", &["Café"]),
        ] {
            let found = texts.into_iter().filter(|t| score(query, t).is_some());
            assert_eq!(found.collect::<Vec<_>>(), finds, "{query}");
        }
    }

    #[test]
    fn a_match_may_overlap_what_only_looked_like_one() {
        assert_eq!(marked("Aaa", "aAaaa"), ["Aaa"]);
        assert_eq!(marked("go", "ago go"), ["go"]);
    }

    #[test]
    fn marks_are_places_of_the_text_itself() {
        assert_eq!(marked("login", "İİ LOGIN ẞ login"), ["LOGIN", "login"]);
        assert_eq!(marked("\"a b\"", "xA\nb a  b"), ["A\nb"]);
        assert_eq!(marked("登录", "请登录页面"), ["登录"]);
    }

    #[test]
    fn every_word_must_be_there_and_nothing_that_is_excluded() {
        assert!(score("login test", "a test of the login").is_some());
        assert!(score("login test", "a login").is_none());
        assert!(score("login -flaky", "a login").is_some());
        assert!(score("login -flaky", "a flaky login").is_none());
        assert!(score("login -go", "a login ago").is_some());
        assert!(score("", "text").is_none());
        assert!(score("-x", "text").is_none());
    }

    #[test]
    fn better_places_are_worth_more_than_many_matches() {
        let texts = [
            "relogins relogins relogins relogins relogins",
            "logins",
            "login_test",
            "the login",
            "the login, a login",
        ];
        let scores = texts.map(|text| score("login", text));
        assert!(scores.is_sorted_by(|a, b| a < b), "{scores:?}");
        assert!(score("fix login", "fix login") > score("fix login", "login, login: fix, fix"));
    }
}
