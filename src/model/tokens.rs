//! How many tokens a text takes, as far as that can be told without the model's
//! own tokenizer.
//!
//! An estimate that errs upwards: a request that is taken for short enough and
//! is not costs more than one that is looked at once too often. It looks at
//! each character and the one before it, as tokenizers join what often stands
//! together: a word is little more than a token, signs and digits are nearly
//! one each, and so are the characters of what no one speaks, such as base64.
//! The figures are made so that the estimate lies a little above what the
//! public vocabularies count; the tests hold it against two of them.

use crate::session::{Block, Message};

/// What a message takes beside its text.
const AROUND_A_MESSAGE: u64 = 8;
/// Of a longer row of letters and digits nothing is a word.
const LONGEST_WORD: u32 = 16;
/// Words of no more letters than this are a token in most languages.
const SHORT_WORD: u32 = 5;

/// About how many tokens this text takes.
#[must_use]
pub fn estimate(text: &str) -> u64 {
    let mut hundredths: u64 = 0;
    let mut before = Class::LineEnd;
    // How many letters and digits stand in a row.
    let mut row: u32 = 0;
    for byte in text.bytes() {
        let class = Class::of(byte);
        if class == Class::Within {
            continue;
        }
        row = if class.is_of_words() {
            row.saturating_add(1)
        } else {
            0
        };
        hundredths += class.takes(before, row);
        before = class;
    }
    hundredths.div_ceil(100)
}

/// About how many tokens a message takes in a request. Reasoning is never sent.
#[must_use]
pub fn of_message(message: &Message) -> u64 {
    let texts = message.content.iter().filter_map(Block::as_text);
    texts.map(estimate).sum::<u64>() + AROUND_A_MESSAGE
}

/// Characters that tokenizers treat alike, by their first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Space,
    /// Tabs too.
    LineEnd,
    Sign,
    /// Latin letters with marks.
    Marked,
    /// Greek and Cyrillic.
    Greek,
    /// Hebrew, Arabic and their neighbours.
    Arabic,
    /// The scripts of India and their neighbours, and signs outside ASCII.
    Indic,
    /// Chinese and Japanese.
    Chinese,
    /// Korean, and what is rare.
    Korean,
    /// Emoji.
    Emoji,
    /// A further byte of a character.
    Within,
}

impl Class {
    fn of(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' => Self::Lower,
            b'A'..=b'Z' => Self::Upper,
            b'0'..=b'9' => Self::Digit,
            b' ' => Self::Space,
            b'\t' | b'\n' | b'\r' => Self::LineEnd,
            0..=0x7f => Self::Sign,
            0x80..=0xbf => Self::Within,
            0xc0..=0xcc => Self::Marked,
            0xcd..=0xd6 => Self::Greek,
            0xd7..=0xdf => Self::Arabic,
            0xe0..=0xe2 => Self::Indic,
            0xe3..=0xe9 => Self::Chinese,
            0xea..=0xef => Self::Korean,
            0xf0..=0xff => Self::Emoji,
        }
    }

    fn is_of_words(self) -> bool {
        matches!(self, Self::Lower | Self::Upper | Self::Digit | Self::Marked)
    }

    /// Hundredths of a token that a character takes behind another one, where
    /// so many letters and digits stand in a row.
    fn takes(self, before: Self, row: u32) -> u64 {
        if row > LONGEST_WORD {
            return 100;
        }
        let goes_on = before == self;
        let one_of = |begun: u64, gone_on: u64| if goes_on { gone_on } else { begun };
        match self {
            Self::Lower => match before {
                Self::Lower | Self::Marked if row <= SHORT_WORD => 12,
                Self::Lower | Self::Marked => 22,
                Self::Upper => 25,
                _ => 66,
            },
            Self::Upper if before == Self::Marked => 20,
            Self::Upper => one_of(70, 50),
            // No tokenizer joins a figure to the space before it.
            Self::Digit if before == Self::Space => 150,
            Self::Digit => one_of(100, 75),
            Self::Space => one_of(15, 5),
            Self::LineEnd => one_of(75, 25),
            Self::Sign => one_of(85, 50),
            Self::Marked if matches!(before, Self::Lower | Self::Upper) => 110,
            Self::Marked => 80,
            Self::Greek => one_of(65, 50),
            Self::Arabic => 90,
            Self::Indic => 130,
            Self::Chinese => 115,
            Self::Korean => 120,
            Self::Emoji => 300,
            Self::Within => 0,
        }
    }
}

#[cfg(test)]
mod tests;
