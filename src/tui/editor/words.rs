//! Where words begin and end, for moves and deletions.

use super::content::Content;

/// What a grapheme cluster is to a word move. A word is a run of one kind that is not [`Kind::Gap`]; an element is a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// White space and punctuation.
    Gap,
    Letters,
    /// Scripts without spaces: a change of script is the best guess at a border between words.
    Han,
    Hiragana,
    Katakana,
    /// Emoji and other symbols.
    Symbols,
    Element,
}

impl Content {
    /// The beginning of the word before an offset.
    pub(super) fn word_before(&self, at: usize) -> usize {
        skip_word(at, |at| {
            let start = self.prev(at);
            (start != at).then(|| (start, self.kind_at(start)))
        })
    }

    /// The end of the word after an offset.
    pub(super) fn word_after(&self, at: usize) -> usize {
        skip_word(at, |at| {
            let end = self.next(at);
            (end != at).then(|| (end, self.kind_at(at)))
        })
    }

    fn kind_at(&self, at: usize) -> Kind {
        if self.element_at(at).is_some() {
            return Kind::Element;
        }
        match self.slice(at..self.len()).chars().next() {
            None => Kind::Gap,
            Some('\u{3040}'..='\u{309f}') => Kind::Hiragana,
            Some('\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}') => {
                Kind::Katakana
            }
            Some(
                '々'
                | '\u{3400}'..='\u{4dbf}'
                | '\u{4e00}'..='\u{9fff}'
                | '\u{f900}'..='\u{faff}'
                | '\u{20000}'..='\u{3ffff}',
            ) => Kind::Han,
            Some('_') => Kind::Letters,
            Some(c) if c.is_ascii() && !c.is_ascii_alphanumeric() => Kind::Gap,
            Some(c) if c.is_alphanumeric() => Kind::Letters,
            // General punctuation, CJK punctuation, full-width forms.
            Some(c)
                if c.is_whitespace()
                    || matches!(c, '\u{80}'..='\u{bf}' | '\u{2010}'..='\u{205e}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff65}') =>
            {
                Kind::Gap
            }
            // A mark that stands alone belongs to the letters around it.
            Some('\u{300}'..='\u{36f}') => Kind::Letters,
            Some(_) => Kind::Symbols,
        }
    }
}

/// Steps over gaps and then over one word. `step` gives the offset behind the next cluster, and the cluster's kind.
fn skip_word(mut at: usize, step: impl Fn(usize) -> Option<(usize, Kind)>) -> usize {
    let mut word = Kind::Gap;
    while let Some((next, kind)) = step(at) {
        if word != Kind::Gap && (kind != word || word == Kind::Element) {
            break;
        }
        word = kind;
        at = next;
    }
    at
}
