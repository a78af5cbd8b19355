//! Finds a query in text. A query without capitals finds either case.

use std::ops::Range;

use memchr::memmem;

/// A query, ready to be sought.
#[derive(Clone, Debug)]
pub(crate) enum Needle {
    /// Exactly these characters.
    Exact(String),
    /// These ASCII characters in lower case, whatever the text's case.
    Ascii(String),
    /// These characters in lower case, whatever the text's case.
    Folded(Vec<char>),
}

impl Needle {
    /// The needle of a query; `None` for the empty one.
    pub(crate) fn new(query: &str) -> Option<Self> {
        if query.is_empty() {
            None
        } else if query.chars().any(char::is_uppercase) {
            Some(Self::Exact(query.to_owned()))
        } else if query.is_ascii() {
            Some(Self::Ascii(query.to_owned()))
        } else {
            Some(Self::Folded(
                query.chars().flat_map(char::to_lowercase).collect(),
            ))
        }
    }

    /// Calls `each` with every place of the needle in `text`, in order and
    /// without overlap, until it gives `false`.
    pub(crate) fn each_in(&self, text: &str, mut each: impl FnMut(Range<usize>) -> bool) {
        match self {
            Self::Exact(needle) => {
                for at in memmem::find_iter(text.as_bytes(), needle) {
                    if !each(at..at + needle.len()) {
                        return;
                    }
                }
            }
            Self::Ascii(needle) => each_ascii(needle.as_bytes(), text.as_bytes(), each),
            Self::Folded(needle) => {
                let mut from = 0;
                for (at, _) in text.char_indices() {
                    if at < from {
                        continue;
                    }
                    if let Some(len) = folded_prefix(needle, text.get(at..).unwrap_or_default()) {
                        from = at + len;
                        if !each(at..from) {
                            return;
                        }
                    }
                }
            }
        }
    }
}

fn each_ascii(needle: &[u8], text: &[u8], mut each: impl FnMut(Range<usize>) -> bool) {
    let Some(&first) = needle.first() else { return };
    let mut from = 0;
    for at in memchr::memchr2_iter(first, first.to_ascii_uppercase(), text) {
        let found = at >= from
            && text
                .get(at..at + needle.len())
                .is_some_and(|t| t.eq_ignore_ascii_case(needle));
        if found {
            from = at + needle.len();
            if !each(at..from) {
                return;
            }
        }
    }
}

/// The bytes at the start of `text` that fold to the needle. A character that
/// folds to several counts only as a whole.
fn folded_prefix(needle: &[char], text: &str) -> Option<usize> {
    let mut wanted = needle.iter();
    for (at, c) in text.char_indices() {
        if wanted.len() == 0 {
            return Some(at);
        }
        for lower in c.to_lowercase() {
            if wanted.next() != Some(&lower) {
                return None;
            }
        }
    }
    (wanted.len() == 0).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str, text: &str) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        if let Some(needle) = Needle::new(query) {
            needle.each_in(text, |place| {
                all.push((place.start, place.end));
                true
            });
        }
        all
    }

    #[test]
    fn a_query_without_capitals_finds_either_case() {
        assert_eq!(found("ab", "AB aB xab"), [(0, 2), (3, 5), (7, 9)]);
        assert_eq!(found("größe", "GRÖSSE Größe"), [(8, 15)]);
    }

    #[test]
    fn a_capital_makes_the_case_count() {
        assert_eq!(found("Ab", "AB aB Ab"), [(6, 8)]);
        assert_eq!(found("Ö", "ö Ö"), [(3, 5)]);
    }

    #[test]
    fn places_do_not_overlap() {
        assert_eq!(found("aa", "aaaaa"), [(0, 2), (2, 4)]);
        assert_eq!(found("éé", "ééé"), [(0, 4)]);
    }

    #[test]
    fn the_empty_query_finds_nothing() {
        assert!(found("", "abc").is_empty());
    }

    #[test]
    fn a_character_that_folds_to_several_is_found_whole_or_not() {
        assert_eq!(found("i\u{307}", "xİ"), [(1, 3)]);
        assert!(found("éi", "éİ").is_empty());
    }
}
