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
            text = text.replace(secret.expose_secret(), "[key]");
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
    fn a_message_is_one_short_line_that_controls_no_terminal() {
        assert_eq!(clean("a\r\n\t b\u{1b}[2J"), "a b␛[2J");
        assert_eq!(clean(&"é".repeat(400)), "é".repeat(300) + "…");
    }
}
