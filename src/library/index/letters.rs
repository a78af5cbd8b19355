//! Which letters a text has, as a bit set: a text can match a word only if it
//! has all of the word's letters.

use nucleo::chars;

/// The letters of `text`, as the matcher may come to see them.
///
/// Whichever way it folds case and accents, the letters of a word that
/// matches are among those of the text: a word with a capital is never matched
/// to a small letter.
#[must_use]
pub(crate) fn letters(text: &str) -> u64 {
    if text.is_ascii() {
        return text.bytes().fold(0, |set, b| set | bit(char::from(b)));
    }
    text.chars().fold(0, |set, c| set | folded(c))
}

fn folded(c: char) -> u64 {
    if c.is_ascii() {
        return bit(c);
    }
    let plain = chars::normalize(c);
    bit(c) | bit(chars::to_lower_case(c)) | bit(plain) | bit(chars::to_lower_case(plain))
}

/// The bits of one character. A capital has those of its small letter and one
/// more, so that a word which insists on a capital passes over most texts.
pub(crate) fn bit(c: char) -> u64 {
    // 28 bits remain for all that is neither small letter nor digit.
    let other = || 1 << (36 + u32::from(c) % 28);
    match c {
        'a'..='z' => 1 << (u32::from(c) - u32::from('a')),
        'A'..='Z' => 1 << (u32::from(c) - u32::from('A')) | other(),
        '0'..='9' => 1 << (26 + u32::from(c) - u32::from('0')),
        _ => other(),
    }
}
