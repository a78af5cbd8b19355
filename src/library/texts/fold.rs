//! Which characters count as the same, for the index and for a search alike.
//!
//! Every mapping here is from one character to one character, so a place in a
//! folded text is a place in the text, counted in characters.

use nucleo::chars;

/// White space and control characters count as one space: a line feed, a tab.
fn space(c: char) -> Option<char> {
    (c.is_whitespace() || c.is_control()).then_some(' ')
}

/// Without regard to case and diacritics.
pub(super) fn fold(c: char) -> char {
    if c.is_ascii() {
        return if c.is_ascii_graphic() {
            c.to_ascii_lowercase()
        } else {
            ' '
        };
    }
    // Most of what is no Latin, Greek or Cyrillic; a test proves it.
    if matches!(c, '\u{3001}'..='\u{a63f}' | '\u{ac00}'..='\u{d7a3}') {
        return c;
    }
    // A letter without its mark may have another lower case, and the reverse.
    space(c).unwrap_or_else(|| {
        let bare = chars::normalize(chars::to_lower_case(c));
        chars::normalize(chars::to_lower_case(bare))
    })
}

/// With regard to what is asked for.
pub(super) fn fold_smart(c: char, keep_case: bool, keep_marks: bool) -> char {
    match (space(c), keep_case, keep_marks) {
        (Some(space), ..) => space,
        (None, true, true) => c,
        (None, true, false) => {
            // Of a few capitals this makes another letter than of their small
            // form; those keep their mark.
            let bare = chars::normalize(c);
            if fold(bare) == fold(c) { bare } else { c }
        }
        (None, false, true) => chars::to_lower_case(c),
        (None, false, false) => fold(c),
    }
}

/// Puts the folded text into `folded`, which is emptied first.
pub(super) fn fold_text(text: &str, folded: &mut String) {
    folded.clear();
    if text.is_ascii() {
        // Byte by byte is what the processor does many at once.
        let mut bytes = std::mem::take(folded).into_bytes();
        bytes.extend(text.bytes().map(|byte| match byte {
            b'!'..=b'~' => byte.to_ascii_lowercase(),
            _ => b' ',
        }));
        *folded = String::from_utf8(bytes).unwrap_or_default();
        return;
    }
    folded.reserve(text.len());
    folded.extend(text.chars().map(fold));
}

/// Whether words of its script may be one or two characters long and stand
/// without a space between them: Thai to Khmer, Han, Kana, Hangul; emoji too.
pub(super) fn is_dense(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{a63f}' | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}'
        | '\u{1f000}'..='\u{1faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether it is part of a word that spaces or punctuation end.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() && !is_dense(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lies above is folded to itself, and takes long to go through.
    fn every_char() -> impl Iterator<Item = char> {
        ('\0'..='\u{1ffff}').chain([char::MAX])
    }

    #[test]
    fn whatever_is_kept_of_a_character_it_folds_to_the_same() {
        for c in every_char() {
            for (case, marks) in [(true, true), (true, false), (false, true), (false, false)] {
                let kept = fold_smart(c, case, marks);
                assert_eq!(fold(kept), fold(c), "{c:?} {case} {marks}");
            }
        }
    }

    #[test]
    fn a_short_cut_is_no_other_way() {
        for c in every_char().filter(|c| !c.is_control() && !c.is_whitespace()) {
            let bare = chars::normalize(chars::to_lower_case(c));
            let long = chars::normalize(chars::to_lower_case(bare));
            assert_eq!(fold(c), long, "{c:?}");
        }
    }

    #[test]
    fn folding_a_text_is_folding_its_characters() {
        let mut folded = String::from("old");
        for text in ["Foo::Bar\n\0x", "Éclair 登录\u{3000}ＬＯＧ", ""] {
            fold_text(text, &mut folded);
            assert_eq!(folded, text.chars().map(fold).collect::<String>());
        }
    }
}
