//! The words of a query, and what it means for one query to extend another.

use memchr::{memchr, memchr2};
use nucleo::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo::{Matcher, Utf32Str, chars};

use crate::library::index::{Form, Shape, bit};

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
    /// `None` when a character is not ASCII: then no ASCII text matches.
    ascii: Option<Ascii>,
}

/// A word of ASCII characters.
#[derive(Debug)]
struct Ascii {
    text: Box<[u8]>,
    ignores_case: bool,
}

/// How the matcher scores: what each character of a word is worth, how much
/// more it can be at the most for where it stands, how much more it is at
/// least right behind the one before, and what the least gap costs. What the
/// first character is worth for where it stands counts twice.
const MATCH: u32 = 16;
const BOOST: u32 = 10;
const ADJACENT: u32 = 4;
const GAP: u32 = 3;

/// A text as the matcher wants it: one character a grapheme cluster.
///
/// Not `Utf32Str::new`, which takes a text of ASCII letters with combining
/// marks for one of single bytes.
pub(super) fn haystack<'a>(text: &'a str, form: Form, buffer: &'a mut Vec<char>) -> Utf32Str<'a> {
    buffer.clear();
    match form {
        Form::Ascii => return Utf32Str::Ascii(text.as_bytes()),
        Form::Single => buffer.extend(text.chars()),
        Form::Clusters => buffer.extend(chars::graphemes(text)),
    }
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
        found.then(|| self.best_id())
    }

    /// What a match with an id scores; 0 where ids are not searched.
    pub(super) fn best_id(&self) -> u32 {
        let len = self.id_part.as_ref().map_or(0, String::len);
        u32::try_from(len)
            .unwrap_or(u32::MAX)
            .saturating_mul(MATCH + BOOST)
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

    /// How many of the first words need not be looked at again among what
    /// `shorter` found: they were words of that query.
    pub(super) fn known_from(&self, shorter: &Self) -> usize {
        // What was found by its id need not match any word.
        if shorter.look_like_id() {
            return 0;
        }
        let words = self.words.iter().zip(&shorter.words);
        words
            .take_while(|(word, known)| word.extends(known) && known.extends(word))
            .count()
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
        let text = atom.needle_text();
        let letters = text.chars().fold(0, |set, c| set | bit(c));
        let ascii = match text {
            Utf32Str::Ascii(text) => Some(Ascii {
                text: text.into(),
                ignores_case: !text.iter().any(u8::is_ascii_uppercase),
            }),
            Utf32Str::Unicode(_) => None,
        };
        Self {
            atom,
            letters,
            ascii,
        }
    }

    /// Whether a text with these letters can match at all.
    pub(super) fn may_match(&self, letters: u64) -> bool {
        self.letters & letters == self.letters
    }

    /// No text of this shape scores more than this.
    ///
    /// Follows the matcher along the word with what can be known without the
    /// text: which of its characters can stand where they count more, and
    /// which can stand right behind the one before.
    pub(super) fn best(&self, shape: &Shape) -> u32 {
        let mut word = self.atom.needle_text().chars();
        let Some(mut before) = word.next() else {
            return 0;
        };
        // The most so far where this run of characters has no boost, and where
        // it has one, which then counts for the rest of it too.
        let mut plain = MATCH;
        let mut boosted = shape.boosts(before).then_some(MATCH + 2 * BOOST);
        for c in word {
            let apart = boosted.unwrap_or(0).max(plain).saturating_sub(GAP);
            let is_adjacent = shape.has_pair(before, c);
            let mut next_plain = apart;
            let mut next_boosted = boosted.filter(|_| is_adjacent);
            if shape.boosts(c) {
                let from = if is_adjacent { plain.max(apart) } else { apart };
                next_boosted = next_boosted.max(Some(from));
            }
            if is_adjacent {
                next_plain = next_plain.max(plain.saturating_add(ADJACENT));
            }
            plain = next_plain.saturating_add(MATCH);
            boosted = next_boosted.map(|score| score.saturating_add(MATCH + BOOST));
            before = c;
        }
        boosted.unwrap_or(0).max(plain)
    }

    /// Whether an ASCII text that [may match](Self::may_match) does.
    pub(super) fn is_in_ascii<'a>(&self, text: impl FnOnce() -> &'a [u8]) -> bool {
        self.ascii
            .as_ref()
            .is_some_and(|word| word.is_told_by_letters() || word.is_in(text()))
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

impl Ascii {
    /// Whether the letters of a text say all there is to say: true of one
    /// letter or digit in either case, which has a bit of its own.
    fn is_told_by_letters(&self) -> bool {
        matches!(*self.text, [b'a'..=b'z' | b'0'..=b'9'])
    }

    /// Whether the characters stand in the text in this order.
    fn is_in(&self, mut text: &[u8]) -> bool {
        self.text.iter().all(|&c| {
            let found = if self.ignores_case && c.is_ascii_lowercase() {
                memchr2(c, c.to_ascii_uppercase(), text)
            } else {
                memchr(c, text)
            };
            let behind = found.and_then(|at| text.get(at + 1..));
            text = behind.unwrap_or_default();
            behind.is_some()
        })
    }
}

fn id_part(query: &str) -> Option<String> {
    let looks_like_one = query.len() >= MIN_ID_PART
        && query.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
        && query.bytes().any(|b| b.is_ascii_digit());
    looks_like_one.then(|| query.to_ascii_lowercase())
}
