//! Tells the filters in a text from the rest of it.

use super::Key;

/// A part of what was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// As it stands there.
    Text(&'a str),
    /// A filter, of which the spaces behind it are a part.
    Filter {
        key: Key,
        not: bool,
        /// Without its quotes.
        value: String,
    },
}

/// The parts of `text`, in order.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, behind) = rest.split_at(word_len(rest));
        let spaces = behind.len() - behind.trim_start().len();
        let (with_spaces, next) = rest.split_at(word.len() + spaces);
        pieces.push(filter(word).unwrap_or(Piece::Text(with_spaces)));
        rest = next;
    }
    pieces
}

/// How long the word at the beginning is, in bytes: up to the first space
/// that is in no quotes. A quote that is still open goes on to the end.
fn word_len(text: &str) -> usize {
    let may_quote = text.starts_with('"') || key(text).is_some();
    let mut is_quoted = false;
    let end = text.find(|c: char| {
        is_quoted ^= c == '"' && may_quote;
        c.is_whitespace() && !is_quoted
    });
    end.unwrap_or(text.len())
}

fn filter(word: &str) -> Option<Piece<'static>> {
    let (key, not, value) = key(word)?;
    let value = value.replace('"', "");
    Some(Piece::Filter { key, not, value })
}

/// The key that a text begins with, whether it is negated, and what is behind
/// the colon. Two colons are no filter but a path of some language.
fn key(text: &str) -> Option<(Key, bool, &str)> {
    let (text, not) = match text.strip_prefix('-') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let (name, value) = text.split_once(':')?;
    let key = Key::ALL.into_iter().find(|key| key.name() == name)?;
    (!value.starts_with(':')).then_some((key, not, value))
}
