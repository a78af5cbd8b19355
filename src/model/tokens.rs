//! How many tokens a text takes, as far as that can be told without the model's
//! own tokenizer.
//!
//! An estimate that errs upwards: a request that is taken for short enough and
//! is not costs more than one that is looked at once too often. English takes
//! a token for about four bytes, code for about three, and models that are not
//! made for it one or more for each character of Chinese or Japanese.

use crate::session::{Block, Message};

/// What a message takes beside its text.
const AROUND_A_MESSAGE: u64 = 8;

/// About how many tokens this text takes.
#[must_use]
pub fn estimate(text: &str) -> u64 {
    text.bytes().map(thirds).sum::<u64>().div_ceil(3)
}

/// About how many tokens a message takes in a request. Reasoning is never sent.
#[must_use]
pub fn of_message(message: &Message) -> u64 {
    let texts = message.content.iter().filter_map(Block::as_text);
    texts.map(estimate).sum::<u64>() + AROUND_A_MESSAGE
}

/// The part of a character that its first byte stands for; further bytes of it
/// count nothing.
fn thirds(byte: u8) -> u64 {
    match byte {
        0..=0x7f => 1,
        0x80..=0xbf => 0,
        // Latin with marks, Greek, Cyrillic, Arabic.
        0xc0..=0xdf => 2,
        // Chinese, Japanese, Korean.
        0xe0..=0xef => 4,
        // Emoji.
        0xf0..=0xff => 9,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Role, Source};

    #[test]
    fn each_script_counts_what_its_characters_take() {
        for (text, tokens) in [
            ("", 0),
            ("a", 1),
            ("The quick brown fox jumps over it.", 12),
            ("fn main() {}", 4),
            ("Größe", 3),
            ("Привет", 4),
            ("日本語", 4),
            ("👍👍", 6),
        ] {
            assert_eq!(estimate(text), tokens, "{text:?}");
        }
    }

    #[test]
    fn a_message_counts_its_texts_and_a_little_more_but_no_reasoning() {
        let content = vec![Block::reasoning("hm ".repeat(100)), Block::text("abc")];
        let message = Message::new(Role::Assistant, Source::person(), content);
        assert_eq!(of_message(&message), 1 + AROUND_A_MESSAGE);
    }
}
