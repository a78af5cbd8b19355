//! Words of a server, made fit to show.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use unicode_segmentation::UnicodeSegmentation;

use crate::sanitize;

/// Takes secrets out of texts that may repeat them.
#[derive(Default)]
pub(super) struct Redactor {
    secrets: Vec<SecretString>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

/// The longest message, in characters as people count them.
const LONGEST: usize = 300;
/// How much of a text is looked at, in bytes.
const LOOKED_AT: usize = 64 * 1024;
/// A shorter word is no secret worth the name, and may be part of any word.
const SHORTEST_SECRET: usize = 6;

/// So much of a secret at its ends is what servers show to tell which it was.
const LONGEST_PART_SHOWN: usize = 9;

impl Redactor {
    /// From now on this is never shown, and none of its words are.
    pub(super) fn add(&mut self, secret: &str) {
        let words = secret.split_ascii_whitespace();
        let words = words.filter(|word| word.len() >= SHORTEST_SECRET);
        self.secrets.extend(words.map(SecretString::from));
    }

    /// The text on one line, cut, without secrets, safe for a terminal.
    pub(super) fn clean(&self, text: &str) -> String {
        // A secret that the cut would leave half of has its first half well
        // behind what is shown.
        let mut end = text.len().min(LOOKED_AT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut text = text.get(..end).unwrap_or_default().to_owned();
        for secret in &self.secrets {
            let secret = secret.expose_secret();
            text = without_parts(&text.replace(secret, "[key]"), secret);
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        let safe = sanitize::line(&text);
        match safe.grapheme_indices(true).nth(LONGEST) {
            Some((end, _)) => safe.get(..end).unwrap_or_default().to_owned() + "…",
            None => safe.into_owned(),
        }
    }
}

/// The text without what is so long a part of a secret that a server must have
/// cut it from there.
fn without_parts(text: &str, secret: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let part = secret
            .char_indices()
            .filter(|(_, start)| *start == first)
            .map(|(at, _)| common(rest, secret.get(at..).unwrap_or_default()))
            .max_by_key(|part| part.len());
        let part = part.filter(|part| part.chars().count() >= LONGEST_PART_SHOWN);
        let (shown, taken) = match part {
            Some(part) => ("[key]", part.len()),
            None => (
                rest.get(..first.len_utf8()).unwrap_or_default(),
                first.len_utf8(),
            ),
        };
        kept.push_str(shown);
        rest = rest.get(taken..).unwrap_or_default();
    }
    kept
}

/// What two texts have in common at their beginnings.
fn common<'a>(one: &'a str, other: &str) -> &'a str {
    let mut ends = one.char_indices().zip(other.chars());
    let differs = ends.find(|((_, a), b)| a != b);
    let end = differs.map_or(one.len().min(other.len()), |((at, _), _)| at);
    one.get(..end).unwrap_or(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str) -> String {
        let mut redactor = Redactor::default();
        redactor.add("sk-secret-0123");
        redactor.add("Bearer other-secret");
        redactor.clean(text)
    }

    #[test]
    fn a_key_that_a_server_repeats_is_not_shown() {
        assert_eq!(
            clean("Incorrect API key: sk-secret-0123, or other-secret"),
            "Incorrect API key: [key], or [key]"
        );
        let long = "x ".repeat(140) + "sk-secret-0123 " + &"y".repeat(100_000);
        assert!(!clean(&long).contains("sk-"));
    }

    #[test]
    fn a_part_of_a_key_is_not_shown_but_for_a_few_characters() {
        assert_eq!(clean("bad key sk-secret-01…"), "bad key [key]…");
        assert_eq!(clean("bad key ret-0123!"), "bad key ret-0123!");
        assert_eq!(clean("ends with secret-0123"), "ends with [key]");
    }

    #[test]
    fn a_message_is_one_short_line_that_controls_no_terminal() {
        assert_eq!(clean("a\r\n\t b\u{1b}[2J"), "a b␛[2J");
        assert_eq!(clean(&"é".repeat(400)), "é".repeat(300) + "…");
    }
}
