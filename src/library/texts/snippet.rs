//! The part of a message that shows why it was found, as one clean line.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use super::matching::{Found, TextMatcher};
use crate::sanitize;

/// How long a snippet is, in characters.
const LENGTH: usize = 160;
/// How many of them may stand before the first mark.
const LEAD: usize = 40;
/// How many matches of a term are looked at for the best place.
const LOOKED_AT: usize = 16;
/// Stands where the text goes on.
const CUT: &str = "…";

/// A part of a message on one line: no control character, no invisible one,
/// one space for each run of white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Snippet {
    pub(super) text: String,
    /// What matches, in bytes of the text, in order and apart.
    pub(super) marks: Vec<Range<usize>>,
}

impl Snippet {
    /// The part of `text` where most of the terms stand together.
    pub(super) fn new(matcher: &mut TextMatcher<'_>, text: &str) -> Self {
        let found = matcher.places(text, LOOKED_AT);
        let anchor = densest(&found);
        let before = text.get(..anchor).unwrap_or_default();
        let from = lead(before);
        let window = text.get(from..).unwrap_or_default();
        let len = window
            .char_indices()
            .nth(LENGTH)
            .map_or(window.len(), |(at, _)| at);
        let window = window.get(..len).unwrap_or_default();

        let mut line = Line::default();
        if from > 0 {
            line.text.push_str(CUT);
        }
        for (at, cluster) in window.grapheme_indices(true) {
            let bytes = from + at..from + at + cluster.len();
            line.push(cluster, is_in(&found, &bytes));
        }
        if from + len < text.len() {
            line.text.push_str(CUT);
        }
        Self {
            text: line.text,
            marks: line.marks,
        }
    }
}

/// Where the snippet begins when `before` is what stands before its first
/// mark: at a word, if one begins near enough.
fn lead(before: &str) -> usize {
    let Some((start, _)) = before.char_indices().rev().take(LEAD).last() else {
        return 0;
    };
    if before.chars().count() <= LEAD {
        return 0;
    }
    let near = before.get(start..).unwrap_or_default();
    let word = near
        .char_indices()
        .find(|(_, c)| c.is_whitespace())
        .map_or(0, |(at, c)| at + c.len_utf8());
    start + word
}

/// The beginning of the stretch, as long as a snippet, that the most terms
/// are in; the first such.
fn densest(found: &[Found]) -> usize {
    let mut best = (0, 0);
    for (at, first) in found.iter().enumerate() {
        let end = first.bytes.start + LENGTH - LEAD;
        let near = found.iter().skip(at).take_while(|f| f.bytes.end <= end);
        let mut terms: Vec<u32> = near.map(|f| f.term).collect();
        terms.sort_unstable();
        terms.dedup();
        // Even one that is longer than a snippet is better than none.
        let count = terms.len().max(1);
        if count > best.0 {
            best = (count, first.bytes.start);
        }
    }
    best.1
}

fn is_in(found: &[Found], bytes: &Range<usize>) -> bool {
    found
        .iter()
        .any(|f| f.bytes.start < bytes.end && bytes.start < f.bytes.end)
}

#[derive(Default)]
struct Line {
    text: String,
    marks: Vec<Range<usize>>,
}

impl Line {
    fn push(&mut self, cluster: &str, is_marked: bool) {
        let start = self.text.len();
        if cluster.chars().all(char::is_whitespace) {
            if !self.text.is_empty() && !self.text.ends_with([' ', '…']) {
                self.text.push(' ');
            }
        } else if sanitize::line(cluster) == cluster {
            self.text.push_str(cluster);
        } else {
            let mut buffer = [0; 4];
            for c in cluster.chars() {
                let c = c.encode_utf8(&mut buffer);
                if sanitize::line(c) == *c {
                    self.text.push_str(c);
                }
            }
        }
        let end = self.text.len();
        if !is_marked || start == end {
            return;
        }
        match self.marks.last_mut() {
            Some(mark) if mark.end == start => mark.end = end,
            _ => self.marks.push(start..end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::texts::terms::Terms;

    fn snippet(query: &str, text: &str) -> Snippet {
        let terms = Terms::parse(query);
        Snippet::new(&mut TextMatcher::new(&terms), text)
    }

    fn marked(snippet: &Snippet) -> Vec<&str> {
        let marks = snippet.marks.iter().cloned();
        marks.filter_map(|mark| snippet.text.get(mark)).collect()
    }

    #[test]
    fn a_short_text_is_shown_whole() {
        let found = snippet("login", "Fix the Login");
        assert_eq!(found.text, "Fix the Login");
        assert_eq!(marked(&found), ["Login"]);
    }

    #[test]
    fn a_long_text_is_cut_at_a_word_before_and_after() {
        let text = format!(
            "{}the login {}",
            "some words ".repeat(20),
            "more ".repeat(90)
        );
        let found = snippet("login", &text);
        assert!(found.text.starts_with("…some words "), "{}", found.text);
        assert!(found.text.ends_with('…'));
        assert!(found.text.chars().count() <= LENGTH + 2);
        assert_eq!(marked(&found), ["login"]);
    }

    #[test]
    fn what_the_terms_stand_together_in_is_what_is_shown() {
        let text = format!("login {} a test of the login", "x ".repeat(300));
        assert_eq!(marked(&snippet("login test", &text)), ["test", "login"]);
    }

    #[test]
    fn a_snippet_is_one_clean_line() {
        let found = snippet(
            "\"log in\"",
            "a\u{1b}[31m\n\t\u{202e}log\n  in log\r\nin log\nin👩‍💻 é",
        );
        assert_eq!(found.text, "a[31m log in log in log in👩‍💻 é");
        assert_eq!(marked(&found), ["log in"]);
    }

    #[test]
    fn a_phrase_longer_than_a_snippet_is_marked_as_far_as_it_goes() {
        let long = "abc ".repeat(100);
        let found = snippet(&format!("\"{long}\""), &format!("x {long}"));
        assert_eq!(found.marks.len(), 1);
    }
}
