//! The `/word` at the start of the text, which may be a command.

use super::{Editor, Last};

/// The longest word in bytes that may become a command.
const LONGEST_WORD: usize = 40;

/// A `/word` that is all there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandQuery {
    /// What stands behind the `/`.
    pub word: String,
    /// Whether the last thing done was to type or erase. Only then may the popup open; it stays open in any case.
    pub typed: bool,
}

impl Editor {
    /// The word behind a `/` that all text begins with, while the caret stands at its end and nothing follows.
    #[must_use]
    pub fn command_query(&self) -> Option<CommandQuery> {
        let word = self.content.text().strip_prefix('/')?;
        let is_word = word.len() <= LONGEST_WORD
            && self.caret == self.content.len()
            && self.content.elements().is_empty()
            && !self.content.is_pasted_at(0)
            && !word.contains(char::is_whitespace);
        is_word.then(|| CommandQuery {
            word: word.to_owned(),
            typed: self.last != Last::Other,
        })
    }

    /// The whole text, mentions by their labels, when it begins with a `/` that was not pasted: it may be a command.
    #[must_use]
    pub fn command_line(&self) -> Option<String> {
        if !self.content.text().starts_with('/') || self.content.is_pasted_at(0) {
            return None;
        }
        Some(self.draft().readable())
    }
}
