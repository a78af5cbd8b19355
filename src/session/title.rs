//! Titles: how any text becomes one clean, short line.

/// The longest title, in bytes.
pub const MAX_TITLE_BYTES: usize = 80;
/// How many words of a first message make a title.
pub const FALLBACK_MAX_WORDS: usize = 5;
/// The longest title made from a first message, in bytes.
pub const FALLBACK_MAX_BYTES: usize = 40;

/// One clean line of at most `max_bytes` bytes: terminal escape sequences,
/// control characters and directional or invisible controls go, each run of
/// white space becomes one space, and no code point is split.
#[must_use]
pub fn normalise(text: &str, max_bytes: usize) -> String {
    cut(&clean(text), max_bytes).to_owned()
}

/// The title made from a first message: its first
/// [`FALLBACK_MAX_WORDS`] words, at most [`FALLBACK_MAX_BYTES`] bytes.
#[must_use]
pub fn fallback(text: &str) -> String {
    let clean = clean(text);
    let end = clean
        .match_indices(' ')
        .nth(FALLBACK_MAX_WORDS - 1)
        .map_or(clean.len(), |(at, _)| at);
    cut(clean.get(..end).unwrap_or(&clean), FALLBACK_MAX_BYTES).to_owned()
}

/// The title in a model's answer: its first line that says something, without
/// the marks that models put around titles. At most [`MAX_TITLE_BYTES`]; empty
/// where there is none.
#[must_use]
pub fn from_model(answer: &str) -> String {
    let marks = ['"', '\'', '`', '*', '#', '“', '”', '„', '«', '»', ' '];
    let mut lines = answer.lines().map(clean);
    let line = lines.find(|line| line.chars().any(char::is_alphanumeric));
    let line = line.unwrap_or_default();
    cut(line.trim_matches(marks), MAX_TITLE_BYTES).to_owned()
}

fn cut(text: &str, max_bytes: usize) -> &str {
    let end = text.floor_char_boundary(max_bytes);
    text.get(..end).unwrap_or(text).trim_end_matches(' ')
}

fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut pending_space = false;
    while let Some(c) = rest.chars().next() {
        if c == '\u{1b}' {
            rest = after_escape(rest);
            continue;
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if is_space(c) {
            pending_space = true;
        } else if !is_dropped(c) {
            if pending_space && !out.is_empty() {
                out.push(' ');
            }
            pending_space = false;
            out.push(c);
        }
    }
    out
}

/// What follows the escape sequence that `text` begins with.
fn after_escape(text: &str) -> &str {
    let bytes = text.as_bytes();
    let is = |at: usize, range: std::ops::RangeInclusive<u8>| {
        bytes.get(at).is_some_and(|b| range.contains(b))
    };
    let end = match bytes.get(1) {
        // OSC: up to BEL or ST; without an end it takes all that follows, as
        // a terminal would.
        Some(b']') => {
            let at = bytes
                .iter()
                .skip(2)
                .position(|b| matches!(b, 0x07 | 0x1b))
                .map_or(bytes.len(), |p| p + 2);
            if is(at, 0x07..=0x07) {
                at + 1
            } else if is(at, 0x1b..=0x1b) && is(at + 1, b'\\'..=b'\\') {
                at + 2
            } else {
                at
            }
        }
        // CSI: parameters, intermediates, one final byte.
        Some(b'[') => {
            let mut at = 2;
            while is(at, 0x30..=0x3f) {
                at += 1;
            }
            while is(at, 0x20..=0x2f) {
                at += 1;
            }
            if is(at, 0x40..=0x7e) { at + 1 } else { at }
        }
        _ => {
            let mut at = 1;
            while is(at, 0x20..=0x2f) {
                at += 1;
            }
            if is(at, 0x30..=0x7e) { at + 1 } else { 1 }
        }
    };
    text.get(end..).unwrap_or_default()
}

/// White space as ECMAScript's `\s` counts it, the byte order mark aside.
fn is_space(c: char) -> bool {
    c.is_whitespace() && c != '\u{85}'
}

fn is_dropped(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_title_is_its_first_line_without_marks_around_it() {
        for (answer, title) in [
            ("Fix the login", "Fix the login"),
            ("\n\n  \"Fix the login\"\nHere is why", "Fix the login"),
            ("---\n**# Fix `the` login**", "Fix `the` login"),
            ("„Der Zugang\u{202e}“", "Der Zugang"),
            ("\u{1b}]0;owned\u{7}Fine", "Fine"),
            (" \n***\n", ""),
            ("", ""),
        ] {
            assert_eq!(from_model(answer), title, "{answer:?}");
        }
        assert_eq!(from_model(&"ü".repeat(100)).len(), MAX_TITLE_BYTES);
    }
}
