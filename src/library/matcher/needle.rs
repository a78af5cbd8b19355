//! The words of a query, and what it means for one query to extend another.

use nucleo::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo::{Matcher, Utf32Str, chars};

use crate::library::index::bit;

/// The shortest word that may be part of an id.
const MIN_ID_PART: usize = 4;

/// The words of a query.
#[derive(Debug)]
pub(super) struct Needles {
    words: Vec<Needle>,
    /// The query in lower case, when it looks like part of an id.
    id_part: Option<String>,
}

/// One word of a query.
#[derive(Debug)]
pub(super) struct Needle {
    atom: Atom,
    letters: u64,
}

/// A text as the matcher wants it: one character a grapheme cluster.
///
/// Not `Utf32Str::new`, which takes a text of ASCII letters with combining
/// marks for one of single bytes.
pub(super) fn haystack<'a>(
    text: &'a str,
    is_ascii: bool,
    buffer: &'a mut Vec<char>,
) -> Utf32Str<'a> {
    if is_ascii {
        return Utf32Str::Ascii(text.as_bytes());
    }
    buffer.clear();
    buffer.extend(chars::graphemes(text));
    Utf32Str::Unicode(buffer)
}

impl Needles {
    pub(super) fn new(query: &str) -> Self {
        let words: Vec<Needle> = query.split_whitespace().map(Needle::new).collect();
        Self {
            id_part: id_part(query.trim()),
            words,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Needle> {
        self.words.iter()
    }

    /// Whether ids are searched as well.
    pub(super) fn look_like_id(&self) -> bool {
        self.id_part.is_some()
    }

    /// How well the query matches as a part of this id; `None` when it does
    /// not, or does not look like one.
    pub(super) fn score_id(&self, id: &str) -> Option<u32> {
        let part = self.id_part.as_deref()?;
        // Every character counts as much as the best that a title can give.
        let found = id
            .as_bytes()
            .windows(part.len())
            .any(|window| window.eq_ignore_ascii_case(part.as_bytes()));
        found.then(|| {
            u32::try_from(part.len())
                .unwrap_or(u32::MAX)
                .saturating_mul(26)
        })
    }

    /// Whether all that this query matches, `shorter` matches too.
    pub(super) fn extend(&self, shorter: &Self) -> bool {
        let ids = match (&self.id_part, &shorter.id_part) {
            (None, _) => true,
            (Some(longer), Some(shorter)) => longer.contains(shorter),
            (Some(_), None) => false,
        };
        ids && shorter.len() <= self.len()
            && self
                .words
                .iter()
                .zip(&shorter.words)
                .all(|(longer, shorter)| longer.extends(shorter))
    }

    /// Where the words match, in no order.
    pub(super) fn places(&self, haystack: Utf32Str<'_>, matcher: &mut Matcher) -> Vec<u32> {
        let mut places = Vec::new();
        for word in &self.words {
            let before = places.len();
            if word.atom.indices(haystack, matcher, &mut places).is_none() {
                places.truncate(before);
            }
        }
        places
    }
}

impl Needle {
    fn new(word: &str) -> Self {
        let atom = Atom::new(
            word,
            CaseMatching::Smart,
            Normalization::Smart,
            AtomKind::Fuzzy,
            false,
        );
        let letters = atom.needle_text().chars().fold(0, |set, c| set | bit(c));
        Self { atom, letters }
    }

    /// Whether a text with these letters can match at all.
    pub(super) fn may_match(&self, letters: u64) -> bool {
        self.letters & letters == self.letters
    }

    pub(super) fn score(&self, haystack: Utf32Str<'_>, matcher: &mut Matcher) -> Option<u32> {
        // A match is worth something, however poor.
        let score = self.atom.score(haystack, matcher)?;
        Some(u32::from(score).max(1))
    }

    /// Whether all that this word matches, `shorter` matches too: true of a
    /// prefix, since more characters only ever make case and accents count
    /// more. A word that is not ASCII never matches ASCII text, so nothing
    /// can be learnt from it about one that is.
    fn extends(&self, shorter: &Self) -> bool {
        let (longer, shorter) = (self.atom.needle_text(), shorter.atom.needle_text());
        let mut rest = longer.chars();
        (shorter.is_ascii() || !longer.is_ascii())
            && shorter.chars().all(|c| rest.next() == Some(c))
    }
}

fn id_part(query: &str) -> Option<String> {
    let looks_like_one = query.len() >= MIN_ID_PART
        && query.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
        && query.bytes().any(|b| b.is_ascii_digit());
    looks_like_one.then(|| query.to_ascii_lowercase())
}
