//! What a text is made of, as bit sets: it can match a word only if it has all
//! of the word's letters, and match it well only if they stand where matches
//! count more.

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

/// What a text is made of, as far as it decides how to take it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Bytes that are characters.
    Ascii,
    /// Characters that are grapheme clusters.
    Single,
    /// Grapheme clusters of any length.
    Clusters,
}

impl Form {
    /// That of a text.
    pub(crate) fn of(text: &str) -> Self {
        if text.is_ascii() {
            Self::Ascii
        } else if chars::graphemes(text).eq(text.chars()) {
            Self::Single
        } else {
            Self::Clusters
        }
    }
}

#[cfg(test)]
thread_local! {
    /// How many shapes this thread made.
    pub(super) static SHAPED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// What decides how well a text can match at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The characters that the matcher gives a bonus for where they stand: at
    /// the beginning of a word, a capital or digit in it, or no letter.
    boosted: u64,
    /// Which characters stand side by side.
    pairs: [u64; 2],
}

impl Shape {
    /// That of a text. One that is not ASCII has all there is: what it looks
    /// like to the matcher is not known beforehand.
    #[must_use]
    pub(crate) fn of(text: &str) -> Self {
        #[cfg(test)]
        SHAPED.set(SHAPED.get() + 1);
        if !text.is_ascii() {
            return Self {
                boosted: u64::MAX,
                pairs: [u64::MAX; 2],
            };
        }
        let mut shape = Self::default();
        let mut before = b' ';
        for c in text.bytes() {
            let is_plain = (c.is_ascii_lowercase() && before.is_ascii_alphanumeric())
                || (c.is_ascii_uppercase() && before.is_ascii_uppercase());
            if !is_plain {
                shape.boosted |= bit(char::from(c.to_ascii_lowercase()));
            }
            let (bit, half) = pair(char::from(before), char::from(c));
            if let Some(pairs) = shape.pairs.get_mut(half) {
                *pairs |= bit;
            }
            before = c;
        }
        shape
    }

    /// Whether this character may stand where it counts more.
    pub(crate) fn boosts(&self, c: char) -> bool {
        let bit = bit(c.to_ascii_lowercase());
        self.boosted & bit == bit
    }

    /// Whether these characters may stand side by side.
    pub(crate) fn has_pair(&self, before: char, c: char) -> bool {
        let (bit, half) = pair(before, c);
        self.pairs.get(half).is_some_and(|pairs| pairs & bit == bit)
    }
}

/// The bit of two characters side by side, in either case, and which half of
/// the bits it is in.
fn pair(before: char, c: char) -> (u64, usize) {
    let value = |c: char| u32::from(c.to_ascii_lowercase());
    let at = value(before).wrapping_mul(37).wrapping_add(value(c)) % 128;
    (1 << (at % 64), (at / 64) as usize)
}
