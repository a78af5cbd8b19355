//! Pieces of text as they are in JSON, and how they become whole.
//!
//! A server that cuts its text into UTF-16 units may write one half of a
//! character at the end of a piece and the other at the start of the next,
//! each as an escape. Neither half is a `char`, so a piece is kept as bytes
//! (WTF-8) until it is whole.

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A string of JSON, its lone surrogates included.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Piece(Vec<u8>);

impl Piece {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For people to read: half of a character is shown as a mark.
    pub(super) fn shown(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl<'de> Deserialize<'de> for Piece {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Piece;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Piece, E> {
                Ok(Piece(bytes.to_vec()))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Piece, E> {
                Ok(Piece(text.as_bytes().to_vec()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// A text half of whose last character may still be to come.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    /// The first half of a character.
    held: Option<u32>,
}

/// Half of a character without its other half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Torn;

impl Joiner {
    /// The text that is whole with this piece.
    pub(super) fn push(&mut self, piece: Piece) -> Result<String, Torn> {
        let bytes = match (self.held, String::from_utf8(piece.0)) {
            (None, Ok(text)) => return Ok(text),
            (Some(_), Ok(text)) if text.is_empty() => return Ok(text),
            (Some(_), Ok(_)) => return Err(Torn),
            (_, Err(error)) => error.into_bytes(),
        };
        let mut text = String::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        loop {
            let (valid, after) = valid_up_to(rest);
            if !valid.is_empty() && self.held.is_some() {
                return Err(Torn);
            }
            text.push_str(valid);
            let Some((unit, after)) = surrogate(after) else {
                return if after.is_empty() {
                    Ok(text)
                } else {
                    Err(Torn)
                };
            };
            match (self.held.take(), unit) {
                (None, 0xd800..=0xdbff) => self.held = Some(unit),
                (Some(high), 0xdc00..=0xdfff) => {
                    let code = 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00);
                    text.push(char::from_u32(code).ok_or(Torn)?);
                }
                _ => return Err(Torn),
            }
            rest = after;
        }
    }

    /// Whether half of a character is missing.
    pub(super) fn is_torn(&self) -> bool {
        self.held.is_some()
    }
}

fn valid_up_to(bytes: &[u8]) -> (&str, &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text, &[]),
        Err(error) => {
            let (valid, after) = bytes
                .split_at_checked(error.valid_up_to())
                .unwrap_or_default();
            (std::str::from_utf8(valid).unwrap_or_default(), after)
        }
    }
}

/// The UTF-16 unit of a surrogate at the start, and what is behind it.
fn surrogate(bytes: &[u8]) -> Option<(u32, &[u8])> {
    match bytes {
        [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, rest @ ..] => {
            let unit = 0xd000 | (u32::from(*second) & 0x3f) << 6 | u32::from(*third) & 0x3f;
            Some((unit, rest))
        }
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn joined(pieces: &[&str]) -> Result<String, Torn> {
        let mut joiner = Joiner::default();
        let mut text = String::new();
        for piece in pieces {
            text += &joiner.push(serde_json::from_str(piece).unwrap())?;
        }
        if joiner.is_torn() {
            Err(Torn)
        } else {
            Ok(text)
        }
    }

    #[test]
    fn halves_of_a_character_become_one() {
        assert_eq!(
            joined(&[r#""a\ud83d""#, r#""""#, r#""\ude42b""#]).unwrap(),
            "a\u{1f642}b"
        );
        assert_eq!(
            joined(&[r#""\ud83d""#, r#""\ude42\ud83d""#, r#""\ude42""#]).unwrap(),
            "\u{1f642}\u{1f642}"
        );
        assert_eq!(
            joined(&[r#""\ud83d\ude42\ufffd""#]).unwrap(),
            "\u{1f642}\u{fffd}"
        );
    }

    #[test]
    fn a_half_that_stays_alone_is_torn_and_not_replaced() {
        for pieces in [
            &[r#""\ud83d""#] as &[_],
            &[r#""\ud83d""#, r#""a""#],
            &[r#""\ude42""#],
            &[r#""\ud83d\ud83d""#],
            &[r#""\ud83da\ude42""#],
        ] {
            assert_eq!(joined(pieces), Err(Torn), "{pieces:?}");
        }
    }
}
