//! Mentions: how a message's text names the sessions that it cites.

use serde::{Deserialize, Serialize};

use super::{ReferenceError, uri};
use crate::session::SessionId;

/// A session that a message cites, and the name it goes by there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reference {
    /// The session cited.
    pub session_id: SessionId,
    /// What the message calls it.
    pub label: String,
}

impl Reference {
    /// A reference by id; the label defaults to the id.
    pub fn new(session_id: impl Into<SessionId>, label: Option<String>) -> Self {
        let session_id = session_id.into();
        let label = label.unwrap_or_else(|| session_id.as_str().to_owned());
        Self { session_id, label }
    }
}

/// A message's text with its mentions made readable, and what they name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParsedText {
    /// The text, each mention replaced by `@label`.
    pub text: String,
    /// What the mentions name, in order of appearance, repeats included.
    pub references: Vec<Reference>,
}

/// The Markdown mention of a session: `@[label](uri)`.
#[must_use]
pub fn format(reference: &Reference) -> String {
    let mut out = String::from("@[");
    for c in reference.label.chars() {
        if matches!(c, '\\' | ']') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push_str("](");
    out.push_str(&uri::encode(&reference.session_id));
    out.push(')');
    out
}

/// Replaces every Markdown mention and every bare URI by `@label`, from left
/// to right.
///
/// # Errors
/// Those of [`pieces`].
pub fn parse(text: &str) -> Result<ParsedText, ReferenceError> {
    let mut out = String::with_capacity(text.len());
    let mut references = Vec::new();
    for piece in pieces(text)? {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Mention(reference) => {
                out.push('@');
                out.push_str(&reference.label);
                references.push(reference);
            }
        }
    }
    Ok(ParsedText {
        text: out,
        references,
    })
}

/// A part of a message's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text without mentions; never empty.
    Text(&'a str),
    /// A mention or a bare URI.
    Mention(Reference),
}

/// Cuts text at its mentions and bare URIs, from left to right.
///
/// Bare text counts only where a run of base64url characters follows the
/// scheme. Takes time in proportion to the text.
///
/// # Errors
/// `INVALID_REFERENCE` for the first mention or bare URI that is not
/// canonical.
pub fn pieces(text: &str) -> Result<Vec<Piece<'_>>, ReferenceError> {
    let mut pieces = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    let mut markdown = Markdown::new(text);
    let text_between = |from: usize, to: usize| {
        text.get(from..to)
            .filter(|text| !text.is_empty())
            .map(Piece::Text)
    };
    while let Some(found) = next_opening(text, at) {
        let mention = if text.as_bytes().get(found) == Some(&b'@') {
            markdown.mention_at(found)
        } else {
            bare(text.get(found..).unwrap_or_default())
        };
        let Some(mention) = mention else {
            at = found + 1;
            continue;
        };
        let session_id = uri::decode(mention.uri)?;
        pieces.extend(text_between(copied, found));
        pieces.push(Piece::Mention(Reference::new(session_id, mention.label)));
        at = found + mention.len;
        copied = at;
    }
    pieces.extend(text_between(copied, text.len()));
    Ok(pieces)
}

struct Mention<'a> {
    uri: &'a str,
    label: Option<String>,
    len: usize,
}

/// The next place where a mention may begin.
fn next_opening(text: &str, from: usize) -> Option<usize> {
    let rest = text.as_bytes().get(from..)?;
    memchr::memchr2_iter(b'@', b'd', rest)
        .map(|offset| from + offset)
        .find(|&at| {
            text.get(at..)
                .is_some_and(|t| t.starts_with("@[") || t.starts_with(uri::SCHEME))
        })
}

/// Reads Markdown mentions from left to right.
///
/// What stops one label or URI stops every other that begins before that
/// place, so no part of the text is scanned twice in vain.
struct Markdown<'a> {
    text: &'a str,
    /// Openings before this place have labels that lead to no mention.
    no_label_before: usize,
    /// URIs that begin before this place never reach their bracket.
    no_uri_before: usize,
}

impl<'a> Markdown<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            no_label_before: 0,
            no_uri_before: 0,
        }
    }

    /// Reads `@[label](dsh-session:…)` where `@[` stands at `opening`.
    fn mention_at(&mut self, opening: usize) -> Option<Mention<'a>> {
        if opening < self.no_label_before {
            return None;
        }
        let label_start = opening + 2;
        let (label_end, closed) = label_end(self.text, label_start);
        let uri = if closed {
            self.uri_at(label_end + 1)
        } else {
            None
        };
        let Some(uri) = uri else {
            self.no_label_before = label_end;
            return None;
        };
        let label = unescape(self.text.get(label_start..label_end)?);
        Some(Mention {
            uri,
            label: Some(label),
            len: label_end + "](".len() + uri.len() + ")".len() - opening,
        })
    }

    /// Reads `(dsh-session:…)`: it runs to the bracket and holds no white
    /// space.
    fn uri_at(&mut self, at: usize) -> Option<&'a str> {
        let target = self.text.get(at..)?.strip_prefix('(')?;
        if at < self.no_uri_before || !target.starts_with(uri::SCHEME) {
            return None;
        }
        let end = target.find(|c: char| c == ')' || is_white_space(c));
        let stop = end.unwrap_or(target.len());
        let (uri, after) = target.split_at_checked(stop)?;
        if !after.starts_with(')') {
            self.no_uri_before = at + 1 + stop;
            return None;
        }
        Some(uri)
    }
}

/// Where the label that begins at `start` stops, and whether a bracket closes
/// it there: else an escaped line end does, or the text ends.
fn label_end(text: &str, start: usize) -> (usize, bool) {
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    let mut from = 0;
    while let Some(offset) = rest
        .get(from..)
        .and_then(|r| memchr::memchr2(b'\\', b']', r))
    {
        let at = start + from + offset;
        if text.as_bytes().get(at) == Some(&b']') {
            return (at, true);
        }
        match text.get(at + 1..).and_then(|t| t.chars().next()) {
            Some(c) if !is_line_end(c) => from += offset + 1 + c.len_utf8(),
            Some(_) => return (at, false),
            None => break,
        }
    }
    (text.len(), false)
}

fn unescape(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    let mut chars = label.chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}

/// Reads a bare URI at the start of `text`.
fn bare(text: &str) -> Option<Mention<'_>> {
    let payload = text.get(uri::SCHEME.len()..)?;
    let run = payload
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        .count();
    (run > 0).then(|| {
        let len = uri::SCHEME.len() + run;
        Mention {
            uri: text.get(..len).unwrap_or_default(),
            label: None,
            len,
        }
    })
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn is_white_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a mention of session `a` is spelled, behind any label.
    const TAIL: &str = "](dsh-session:ImEi)";

    fn labels(text: &str) -> Vec<String> {
        let parsed = parse(text).unwrap();
        parsed.references.into_iter().map(|r| r.label).collect()
    }

    #[test]
    fn a_label_takes_up_an_opening_inside_it() {
        assert_eq!(labels(&format!("@[one @[two{TAIL}")), ["one @[two"]);
    }

    #[test]
    fn a_label_that_leads_nowhere_does_not_hide_the_next() {
        assert_eq!(labels(&format!("@[x] @[y{TAIL}")), ["y"]);
        assert_eq!(labels(&format!("@[x](https://e.test) @[y{TAIL}")), ["y"]);
        assert_eq!(labels(&format!("@[x\\\n @[y{TAIL}")), ["y"]);
    }

    #[test]
    fn a_uri_that_never_closes_does_not_hide_the_next() {
        let text = format!("@[x](dsh-session:ImEi @[y{TAIL}");
        assert_eq!(labels(&text), ["a", "y"]);
    }

    #[test]
    fn an_escape_in_a_label_stands_for_one_whole_character() {
        assert_eq!(labels(&format!("@[\\]\\\\\\界\\[{TAIL}")), ["]\\界["]);
    }

    #[test]
    fn one_dead_end_settles_every_label_that_begins_inside_it() {
        for end in ["", "]", "](https://e.test)", "\\\n", "\\"] {
            let text = format!("{}{end}", "@[".repeat(50));
            let mut markdown = Markdown::new(&text);
            assert!(markdown.mention_at(0).is_none());
            assert!(markdown.no_label_before > 98, "{end:?}");
        }
    }

    #[test]
    fn one_dead_end_settles_every_uri_that_begins_inside_it() {
        for end in ["", " ", "\u{feff})"] {
            let text = format!("{}{end}", "@[](dsh-session:%".repeat(50));
            let mut markdown = Markdown::new(&text);
            assert!(markdown.mention_at(0).is_none());
            let last = text.rfind("@[").unwrap();
            assert!(markdown.no_uri_before > last, "{end:?}");
        }
    }
}
