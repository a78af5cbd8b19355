//! The `@token` under the caret, which the popup completes.

use super::cells::{CLOSING, OPENING};
use super::content::Content;
use super::history::Join;
use super::{Editor, Last};
use crate::chat::draft::Element;
use crate::library::query::Key;
use crate::session::SessionId;
use crate::tui::wrap::columns;

/// The longest query in characters. No one types a longer one, and a key must not search a long line for an `@`.
const LONGEST_QUERY: usize = 200;

/// An `@token` that ends at the caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionQuery {
    /// Byte offset of the `@`. It names the token as long as nothing before it changes.
    pub start: usize,
    /// What stands between the `@` and the caret. One that begins with `?` asks for what was said.
    pub query: String,
    /// Whether the last thing done was to type or erase. Only then may the popup open; it stays open in any case.
    pub typed: bool,
}

impl Editor {
    /// The token under the caret: an `@` at the start, after white space, after opening punctuation, after an element, or
    /// after a wide character (scripts that put no space between words, and emoji), and then all up to the caret, in
    /// which there is no white space and no element; after `@?`, and where the token begins with a filter such as `tool:codex`, there may be white space, but no
    /// line break. Inside a word (`a@b.c`) there is none, and an `@` that came by paste
    /// starts none.
    #[must_use]
    pub fn mention_query(&self) -> Option<MentionQuery> {
        let mut at = self.caret;
        let mut is_one_word = true;
        for _ in 0..=LONGEST_QUERY {
            let end = at;
            at = self.content.prev(end);
            let cluster = self.content.slice(at..end);
            let is_element = self.content.element_at(at).is_some();
            if is_element || cluster.is_empty() || cluster.contains(['\n', '\r']) {
                return None;
            }
            is_one_word &= !cluster.contains(char::is_whitespace);
            // A mark typed on the `@` is part of the query.
            if cluster.starts_with('@')
                && !self.content.is_pasted_at(at)
                && self.content.may_mention_behind(at)
            {
                let query = self.content.slice(at + 1..self.caret).to_owned();
                if !is_one_word && !may_hold_spaces(&query) {
                    return None;
                }
                return Some(MentionQuery {
                    start: at,
                    query,
                    typed: self.last != Last::Other,
                });
            }
        }
        None
    }

    /// Puts a mention in place of the token that begins at `start`, and the caret behind it and one space, which is added
    /// where neither white space nor closing punctuation follows. One undo takes it back. Does nothing and returns false
    /// when that token is no longer under the caret.
    pub fn accept_mention(
        &mut self,
        start: usize,
        session_id: SessionId,
        label: impl Into<String>,
    ) -> bool {
        if self
            .mention_query()
            .is_none_or(|query| query.start != start)
        {
            return false;
        }
        self.put_mention(start, Content::default(), session_id, label.into());
        true
    }

    /// Puts a mention at the caret, apart from the word before it, and the caret behind it as
    /// [`accept_mention`](Self::accept_mention) does.
    pub fn insert_mention(&mut self, session_id: SessionId, label: impl Into<String>) {
        let before = if self.content.may_mention_behind(self.caret) {
            Content::default()
        } else {
            Content::typed(" ")
        };
        self.put_mention(self.caret, before, session_id, label.into());
    }

    /// Puts a mention behind `before` in place of what stands between `start` and the caret.
    fn put_mention(&mut self, start: usize, before: Content, session_id: SessionId, label: String) {
        let mut mention = before;
        mention.append(Content::element(Element::Mention { session_id, label }));
        let next = self
            .content
            .slice(self.caret..self.content.len())
            .chars()
            .next();
        // A space that is there already is replaced by itself, so that the caret ends behind it.
        let end = if next == Some(' ') {
            self.caret + 1
        } else {
            self.caret
        };
        if next == Some(' ')
            || !next.is_some_and(|c| c.is_whitespace() || CLOSING.contains(c) || c == '"')
        {
            mention.append(Content::typed(" "));
        }
        self.edit(start..end, mention, Join::Never);
        self.settle(Last::Other);
    }
}

/// Whether a query goes on behind white space: one for what was said, and one that begins with a filter.
fn may_hold_spaces(query: &str) -> bool {
    let word = query.strip_prefix('-').unwrap_or(query);
    let is_filter = |key: Key| {
        let rest = word.strip_prefix(key.name());
        rest.is_some_and(|rest| rest.starts_with(':'))
    };
    query.starts_with('?') || Key::ALL.into_iter().any(is_filter)
}

impl Content {
    fn may_mention_behind(&self, at: usize) -> bool {
        let start = self.prev(at);
        let cluster = self.slice(start..at);
        match cluster.chars().next_back() {
            None => true,
            Some(c) => {
                c.is_whitespace()
                    || OPENING.contains(c)
                    || columns(cluster) > 1
                    || self.element_at(start).is_some()
            }
        }
    }
}
