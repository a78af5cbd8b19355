//! What of a text goes into the index, and what of a query is looked up there.
//!
//! A token is one of: three characters in a row without a space among them;
//! two in a row or one alone where a dense script takes part (登录); a word of
//! one or two letters, whole (`go`). A text that matches a term holds all
//! tokens of the term, so the index gives every match, and some texts that are
//! none; those the text itself rules out.

use super::fold::{fold, is_dense, is_word};

/// How FTS5 is to read the tokens, as it stands in a `tokenize` option: only
/// a space ends one.
pub const TOKENIZER: &str = r##"ascii tokenchars ''!"#$%&''''()*+,-./:;<=>?@[\]^_`{|}~''"##;

/// How many tokens of a term are looked up at the most; more would only
/// repeat what these say.
const MAX_OF_TERM: usize = 24;
/// How many of a query.
const MAX_LOOKED_UP: usize = 64;
/// How many tokens are remembered, so as not to be written twice. A token
/// that is forgotten is written again, which costs time alone.
const REMEMBERED: usize = 4096;

/// Makes the tokens of one text after another.
#[derive(Debug)]
pub struct Tokens {
    seen: Vec<u64>,
    joined: String,
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            seen: vec![0; REMEMBERED],
            joined: String::new(),
        }
    }
}

impl Tokens {
    /// With nothing read yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The tokens of a message, with a space after each.
    pub fn of_text(&mut self, text: &str) -> &str {
        self.seen.fill(0);
        self.joined.clear();
        let Self { seen, joined } = self;
        each(text, true, |token| {
            if is_new(seen, token) {
                joined.extend(token);
                joined.push(' ');
            }
        });
        &self.joined
    }
}

/// Whether the token was not seen lately.
fn is_new(seen: &mut [u64], token: &[char]) -> bool {
    // A character has 21 bits, and none is NUL once folded.
    let key = token
        .iter()
        .fold(0, |key, c| key << 21 | u64::from(u32::from(*c)));
    let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let slot = usize::try_from(mixed).unwrap_or_default() % REMEMBERED;
    match seen.get_mut(slot) {
        Some(slot) if *slot == key => false,
        Some(slot) => {
            *slot = key;
            true
        }
        None => true,
    }
}

/// The tokens that every text with this term in it has; none when the index
/// knows nothing of such a term. `is_whole`: the term is no part of a longer
/// word.
pub(super) fn of_term(term: &str, is_whole: bool) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    each(term, is_whole, |token| tokens.push(token.iter().collect()));
    tokens.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    tokens.dedup();
    let is_said = |token: &String| {
        token.chars().any(is_dense)
            && tokens
                .iter()
                .any(|longer| longer.len() > token.len() && longer.contains(token.as_str()))
    };
    let needed: Vec<String> = tokens.iter().filter(|t| !is_said(t)).cloned().collect();
    spread(&needed, MAX_OF_TERM).cloned().collect()
}

/// At most `max` of them, from all parts.
fn spread(tokens: &[String], max: usize) -> impl Iterator<Item = &String> {
    tokens.iter().step_by(tokens.len().div_ceil(max).max(1))
}

/// The expression that finds texts with these tokens, or as many of them as
/// are worth it. Nothing of a token can be syntax in it.
pub(super) fn expression(tokens: &[String]) -> String {
    let quoted =
        spread(tokens, MAX_LOOKED_UP).map(|token| format!("\"{}\"", token.replace('"', "\"\"")));
    quoted.collect::<Vec<_>>().join(" AND ")
}

/// Shows every token to `each`. Unless the text `is_whole`, its first and its
/// last word may go on beyond it, and count for nothing as words.
fn each(text: &str, is_whole: bool, mut each: impl FnMut(&[char])) {
    let (mut before_last, mut last) = (' ', ' ');
    let mut word = Word {
        letters: [' '; 2],
        len: if is_whole { 0 } else { Word::TOO_LONG },
    };
    for c in text.chars().map(fold) {
        if c != ' ' && last != ' ' {
            if before_last != ' ' {
                each(&[before_last, last, c]);
            }
            if is_dense(last) || is_dense(c) {
                each(&[last, c]);
            }
        }
        if is_dense(c) {
            each(&[c]);
        }
        if is_word(c) {
            word.push(c);
        } else {
            word.end(&mut each);
        }
        (before_last, last) = (last, c);
    }
    if is_whole {
        word.end(&mut each);
    }
}

/// The word that is being read.
struct Word {
    letters: [char; 2],
    len: usize,
}

impl Word {
    const TOO_LONG: usize = 3;

    fn push(&mut self, c: char) {
        if let Some(letter) = self.letters.get_mut(self.len) {
            *letter = c;
        }
        self.len = (self.len + 1).min(Self::TOO_LONG);
    }

    fn end(&mut self, each: &mut impl FnMut(&[char])) {
        if self.len > 0
            && let Some(word) = self.letters.get(..self.len)
        {
            each(word);
        }
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<String> {
        let mut tokens = Tokens::new();
        let joined = tokens.of_text(text);
        joined.split_terminator(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_text_gives_what_can_be_looked_for_in_it() {
        assert_eq!(text("Foo::b"), ["foo", "oo:", "o::", "::b", "b"]);
        assert_eq!(text("go to"), ["go", "to"]);
        assert_eq!(text("登录x"), ["登", "登录", "录", "登录x", "录x", "x"]);
        assert_eq!(text("aaaaaa\n"), ["aaa"]);
        assert_eq!(text(" \0\n"), [""; 0]);
    }

    #[test]
    fn a_term_needs_no_more_than_any_text_around_it_has() {
        assert_eq!(of_term("go", true), ["go"]);
        assert_eq!(of_term("go", false), [""; 0]);
        assert_eq!(of_term("x go to", false), ["go"]);
        assert_eq!(of_term("登录", false), ["登录"]);
        assert_eq!(of_term("登录页", false), ["登录页"]);
        assert_eq!(of_term("::", false), [""; 0]);
        let long: String = ('a'..='z').cycle().take(10_000).collect();
        assert!(of_term(&long, false).len() <= MAX_OF_TERM);
    }

    #[test]
    fn a_token_is_no_syntax() {
        let tokens = ["\"or".to_owned(), "a\"\"".to_owned()];
        assert_eq!(expression(&tokens), "\"\"\"or\" AND \"a\"\"\"\"\"");
    }
}
