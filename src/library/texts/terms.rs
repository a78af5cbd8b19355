//! What a person looks for: words, phrases, and what must not be there.

use memchr::memmem::Finder;

use super::fold::{fold, fold_smart, is_word};
use super::tokens;

/// The shortest word that may be a part of a longer one.
const MIN_PART: usize = 3;

/// What to look for in a message.
///
/// Every word must be in the message, and so must every `"quoted phrase"`;
/// none of what follows a minus (`-word`, `-"a phrase"`) may be. All else is
/// text: no character has another meaning. A word of three characters and more, or in a
/// script without spaces, is found anywhere; one or two letters only as a
/// whole word. Case counts where the word has a capital, and so do diacritics
/// where it has one; white space counts as one space each.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    include: Vec<Term>,
    exclude: Vec<Term>,
    /// All that is included, as one phrase; `None` where that is one term.
    together: Option<Term>,
}

/// Equal terms find the same.
impl PartialEq for Terms {
    fn eq(&self, other: &Self) -> bool {
        let texts = |terms: &[Term]| -> Vec<String> {
            terms.iter().map(|term| term.text.clone()).collect()
        };
        texts(&self.include) == texts(&other.include)
            && texts(&self.exclude) == texts(&other.exclude)
    }
}

impl Eq for Terms {}

impl Terms {
    /// Reads what was typed. Anything is a query. A quote that has no other
    /// one holds all that follows, as it does while a person types.
    #[must_use]
    pub fn parse(query: &str) -> Self {
        let mut terms = Self::default();
        let mut rest = query.trim_start();
        while !rest.is_empty() {
            let (excludes, piece) = excluded(rest);
            let (text, after) = match piece.strip_prefix('"') {
                Some(phrase) => phrase.split_once('"').unwrap_or((phrase, "")),
                None => piece
                    .split_at_checked(word_len(piece))
                    .unwrap_or((piece, "")),
            };
            let into = if excludes {
                &mut terms.exclude
            } else {
                &mut terms.include
            };
            if !into.iter().any(|term| term.text == text) {
                into.extend(Term::new(text));
            }
            rest = after.trim_start();
        }
        if terms.include.len() > 1 {
            let texts: Vec<&str> = terms.include.iter().map(|term| &*term.text).collect();
            terms.together = Term::new(&texts.join(" "));
        }
        terms
    }

    /// Whether there is nothing to look for. Nothing is found then, even where
    /// something is excluded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.include.is_empty()
    }

    pub(super) fn included(&self) -> &[Term] {
        &self.include
    }

    pub(super) fn excluded(&self) -> &[Term] {
        &self.exclude
    }

    pub(super) fn together(&self) -> Option<&Term> {
        self.together.as_ref()
    }

    /// What to look up in the index; `None` when it can't tell texts that may
    /// match from others.
    pub(super) fn expression(&self) -> Option<String> {
        let terms = self.include.iter();
        let mut all: Vec<String> = terms
            .flat_map(|term| tokens::of_term(&term.text, term.is_whole_word))
            .collect();
        all.sort_unstable();
        all.dedup();
        (!all.is_empty()).then(|| tokens::expression(&all))
    }
}

/// Whether the piece at the beginning of `rest` is to be excluded, and the
/// piece. Only before a word or a quote does a minus say so: `->` and `--all`
/// are text.
fn excluded(rest: &str) -> (bool, &str) {
    match rest.strip_prefix('-') {
        Some(piece) if piece.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '"') => {
            (true, piece)
        }
        _ => (false, rest),
    }
}

fn word_len(piece: &str) -> usize {
    piece.find(char::is_whitespace).unwrap_or(piece.len())
}

/// One word or phrase.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "five independent facts of a text"
)]
pub(super) struct Term {
    text: String,
    finder: Finder<'static>,
    keeps_case: bool,
    keeps_marks: bool,
    is_whole_word: bool,
    begins_in_word: bool,
    ends_in_word: bool,
}

impl Term {
    /// `None` for a blank one.
    fn new(text: &str) -> Option<Self> {
        let is_kept = |keeps_case, keeps_marks| {
            text.chars()
                .any(|c| fold_smart(c, keeps_case, keeps_marks) != fold_smart(c, true, true))
        };
        let folded: String = text.chars().map(fold).collect();
        let len = folded.chars().count();
        let first = folded.chars().next()?;
        let last = folded.chars().next_back()?;
        (!folded.trim().is_empty()).then(|| Self {
            keeps_case: is_kept(false, true),
            keeps_marks: is_kept(true, false),
            is_whole_word: len < MIN_PART && folded.chars().all(is_word),
            begins_in_word: is_word(first),
            ends_in_word: is_word(last),
            finder: Finder::new(&folded).into_owned(),
            text: text.to_owned(),
        })
    }

    /// The length of a match in the folded text, in bytes.
    pub(super) fn folded_len(&self) -> usize {
        self.finder.needle().len()
    }

    /// Where the first candidate at or after `from` begins in the folded text.
    pub(super) fn find(&self, folded: &str, from: usize) -> Option<usize> {
        let rest = folded.as_bytes().get(from..)?;
        self.finder.find(rest).map(|at| from + at)
    }

    /// Whether case and diacritics have to be compared with the text itself.
    pub(super) fn is_particular(&self) -> bool {
        self.keeps_case || self.keeps_marks
    }

    /// Whether the text itself, from where a candidate begins, is a match.
    pub(super) fn begins(&self, text: &str) -> bool {
        let kept = |c| fold_smart(c, self.keeps_case, self.keeps_marks);
        let mut text = text.chars();
        self.text
            .chars()
            .all(|c| text.next().is_some_and(|other| kept(c) == kept(other)))
    }

    /// How a candidate stands among its neighbours; `None` when they make it
    /// no match.
    pub(super) fn place(&self, before: Option<char>, after: Option<char>) -> Option<Place> {
        let touches = |is_in_word: bool, neighbour: Option<char>| {
            is_in_word && neighbour.is_some_and(is_word)
        };
        let is_snake = |is_in_word: bool, neighbour| is_in_word && neighbour == Some('_');
        let begins = !touches(self.begins_in_word, before);
        let ends = !touches(self.ends_in_word, after);
        match (begins, ends) {
            (true, true) => Some(
                if is_snake(self.begins_in_word, before) || is_snake(self.ends_in_word, after) {
                    Place::Part
                } else {
                    Place::Whole
                },
            ),
            _ if self.is_whole_word => None,
            (true, false) => Some(Place::Beginning),
            (false, _) => Some(Place::Inside),
        }
    }
}

/// How a match stands in the word around it; the last is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// In the middle or at the end of a word.
    Inside,
    /// At the beginning of a word.
    Beginning,
    /// A part of an identifier: `login` in `login_test`.
    Part,
    /// By itself.
    Whole,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(query: &str) -> (Vec<String>, Vec<String>) {
        let terms = Terms::parse(query);
        let texts = |terms: &[Term]| terms.iter().map(|t| t.text.clone()).collect();
        (texts(&terms.include), texts(&terms.exclude))
    }

    fn included(query: &str) -> Vec<String> {
        let (include, exclude) = parsed(query);
        assert!(exclude.is_empty(), "{exclude:?}");
        include
    }

    #[test]
    fn words_phrases_and_what_to_leave_out() {
        assert_eq!(included(" login  test\n"), ["login", "test"]);
        assert_eq!(included("\"login  test\" x"), ["login  test", "x"]);
        assert_eq!(included("a A a"), ["a", "A"]);
        let (include, exclude) = parsed("login -flaky -\"on CI\" -_x -登录");
        assert_eq!(include, ["login"]);
        assert_eq!(exclude, ["flaky", "on CI", "_x", "登录"]);
    }

    #[test]
    fn all_else_is_text() {
        for word in [
            "->", "-", "--all", "a-b", "NEAR(a", "col:x", "*", "OR", "foo::bar", "5\"", "^x", "-)",
        ] {
            assert_eq!(included(word), [word]);
        }
    }

    #[test]
    fn a_lone_quote_holds_what_follows() {
        assert_eq!(included("a \"b c"), ["a", "b c"]);
        assert_eq!(included("\""), [""; 0]);
        assert_eq!(included("\"\" \" \""), [""; 0]);
        assert_eq!(included("\"a\"b"), ["a", "b"]);
        assert!(Terms::parse("-\"").is_empty());
        assert!(Terms::parse("-x").is_empty());
    }

    #[test]
    fn only_short_words_must_be_whole() {
        let is_whole = |query| Terms::parse(query).include[0].is_whole_word;
        assert!(is_whole("go"));
        assert!(is_whole("é"));
        assert!(!is_whole("log"));
        assert!(!is_whole("登录"));
        assert!(!is_whole("::"));
        assert!(!is_whole("c+"));
    }

    #[test]
    fn equal_terms_are_equal_however_they_were_typed() {
        assert_eq!(Terms::parse("a  \"b\" -c"), Terms::parse("a -c b"));
        assert_ne!(Terms::parse("a"), Terms::parse("A"));
        assert_ne!(Terms::parse("\"a b\""), Terms::parse("a b"));
    }
}
