//! The composer's text: a buffer with mentions and pastes as single pieces, a caret, undo, and its layout in rows.
//!
//! Pure state: keys, clocks and the terminal are the host's, and so is the history of prompts. Positions are bytes and are
//! kept in `content` alone; the caret always stands between two grapheme clusters or elements.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

mod cells;
mod command;
mod content;
mod history;
mod mention;
mod moves;
mod rows;
mod words;
mod wrap;

#[cfg(test)]
mod tests;

pub use crate::chat::draft::{Draft, Element, Part};
pub use command::CommandQuery;
pub use mention::MentionQuery;
pub use rows::{Point, Row, Rows, Span, SpanKind};

use content::Content;
use history::{Change, History, Join};
use wrap::Wrap;

/// The longest paste in characters that is shown as text; a longer one becomes an [`Element::Paste`].
pub const LONGEST_PLAIN_PASTE: usize = 1_000;

/// What was done last: it decides what the next edit joins and whether a popup may open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    Typed,
    Erased,
    Killed,
    /// Moved, pasted, undone: nothing joins it.
    #[default]
    Other,
}

/// A text editor without a screen.
#[derive(Clone, Debug, Default)]
pub struct Editor {
    content: Content,
    caret: usize,
    /// The column that vertical moves aim at.
    goal: Option<usize>,
    killed: Content,
    history: History,
    last: Last,
    revision: u64,
    /// The rows at the width that was asked for last, kept up to date by edits.
    wrap: RefCell<Option<Arc<Wrap>>>,
}

impl Editor {
    /// An empty editor.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is nothing at all, not even white space.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.content.is_empty()
    }

    /// Whether there is nothing to send: no element, and no text but white space.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.content.elements().is_empty() && self.content.text().trim().is_empty()
    }

    /// A number that changes with every change of the content, to notice that a saved draft or a preview is out of date.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The elements, from first to last.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        self.content
            .elements()
            .iter()
            .map(|(_, placed)| &placed.element)
    }

    /// The content as a value that can be saved or sent.
    #[must_use]
    pub fn draft(&self) -> Draft {
        self.content.to_draft()
    }

    /// Takes the content out to send it. What remains is empty, with nothing to undo; what was killed can still be yanked.
    pub fn take(&mut self) -> Draft {
        let draft = self.draft();
        self.set(Draft::default());
        draft
    }

    /// Begins anew with this content, the caret at its end and nothing to undo.
    pub fn set(&mut self, draft: Draft) {
        *self = Self {
            content: Content::of_draft(draft),
            killed: std::mem::take(&mut self.killed),
            revision: self.revision + 1,
            ..Self::default()
        };
        self.caret = self.content.len();
    }

    /// Puts this content in place of all there is, as one edit that can be undone.
    pub fn replace(&mut self, draft: Draft) {
        self.edit(0..self.content.len(), Content::of_draft(draft), Join::Never);
        self.settle(Last::Other);
    }

    /// Empties the editor, as one edit that can be undone.
    pub fn clear(&mut self) {
        self.replace(Draft::default());
    }

    /// Types a character. `\r` is a line break.
    pub fn insert_char(&mut self, c: char) {
        self.insert_str(c.encode_utf8(&mut [0; 4]));
    }

    /// Types a text, as an input method does at once.
    pub fn insert_str(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let starts_word = text.starts_with(|c: char| !c.is_whitespace());
        let behind_space = self
            .content
            .slice(self.content.prev(self.caret)..self.caret)
            .ends_with(char::is_whitespace);
        let joins = self.last == Last::Typed && !(starts_word && behind_space);
        let join = if joins { Join::Typing } else { Join::Never };
        self.edit(self.caret..self.caret, Content::typed(text), join);
        self.settle(Last::Typed);
    }

    /// Breaks the line.
    pub fn insert_newline(&mut self) {
        self.insert_char('\n');
    }

    /// Inserts a paste, as one edit. Its line breaks become `\n`; nothing in it starts a mention or a command; a paste longer than
    /// [`LONGEST_PLAIN_PASTE`] becomes an element.
    pub fn paste(&mut self, text: &str) {
        let text = content::with_plain_breaks(text);
        let is_long = text.chars().nth(LONGEST_PLAIN_PASTE).is_some();
        let pasted = if is_long {
            Content::element(Element::Paste {
                text: text.into_owned(),
            })
        } else {
            Content::pasted(&text)
        };
        self.edit(self.caret..self.caret, pasted, Join::Never);
        self.settle(Last::Other);
    }

    /// Erases the grapheme cluster or element before the caret.
    pub fn backspace(&mut self) {
        self.erase(self.content.prev(self.caret)..self.caret);
    }

    /// Erases the grapheme cluster or element behind the caret.
    pub fn delete(&mut self) {
        self.erase(self.caret..self.content.next(self.caret));
    }

    /// Kills to the beginning of the word before the caret; an element is a word.
    pub fn delete_word_back(&mut self) {
        self.kill(self.content.word_before(self.caret)..self.caret);
    }

    /// Kills to the end of the word behind the caret; an element is a word.
    pub fn delete_word_forward(&mut self) {
        self.kill(self.caret..self.content.word_after(self.caret));
    }

    /// Kills to the end of the hard line, or the newline when the caret stands there.
    pub fn kill_to_line_end(&mut self) {
        let end = self.content.line_end(self.caret);
        self.kill(
            self.caret..if end == self.caret {
                self.content.next(end)
            } else {
                end
            },
        );
    }

    /// Kills to the start of the hard line, or the newline before it when the caret stands there.
    pub fn kill_to_line_start(&mut self) {
        let start = self.content.line_start(self.caret);
        self.kill(
            if start == self.caret {
                self.content.prev(start)
            } else {
                start
            }..self.caret,
        );
    }

    /// Inserts what was killed last, its elements with their identity. Kills in a row are killed as one.
    pub fn yank(&mut self) {
        self.edit(self.caret..self.caret, self.killed.clone(), Join::Never);
        self.settle(Last::Other);
    }

    /// Takes the last edit back and puts the caret where it was. Typing and erasing are taken back by word.
    /// Returns false when there is nothing to undo.
    pub fn undo(&mut self) -> bool {
        let Some(change) = self.history.pop_undo() else {
            return false;
        };
        self.caret = change.caret_before;
        let change = self.swap(change);
        self.history.push_redo(change);
        self.settle(Last::Other);
        true
    }

    /// Makes again what was undone last. Returns false when there is nothing to redo.
    pub fn redo(&mut self) -> bool {
        let Some(change) = self.history.pop_redo() else {
            return false;
        };
        self.caret = change.caret_after;
        let change = self.swap(change);
        self.history.push_undo(change);
        self.settle(Last::Other);
        true
    }

    /// The text in rows of at most `width` columns, the caret's column included; less than 4 counts as 4. Rows break
    /// between words where possible; elements and wide characters are kept whole where they fit a row.
    #[must_use]
    pub fn layout(&self, width: usize) -> Rows<'_> {
        let mut cached = self.wrap.borrow_mut();
        let wrap = match cached.take() {
            Some(wrap) if wrap.is_for(width) => wrap,
            _ => Arc::new(Wrap::new(&self.content, width)),
        };
        *cached = Some(Arc::clone(&wrap));
        Rows::new(&self.content, self.caret, wrap)
    }

    fn erase(&mut self, range: Range<usize>) {
        let join = if self.last == Last::Erased {
            Join::Erasing
        } else {
            Join::Never
        };
        self.edit(range, Content::default(), join);
        self.settle(Last::Erased);
    }

    fn kill(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let mut piece = self.content.copy(range.clone());
        let before = if self.last == Last::Killed {
            std::mem::take(&mut self.killed)
        } else {
            Content::default()
        };
        self.killed = if range.end == self.caret {
            piece.append(before);
            piece
        } else {
            let mut killed = before;
            killed.append(piece);
            killed
        };
        self.edit(range, Content::default(), Join::Never);
        self.settle(Last::Killed);
    }

    /// Every change by a person goes through here: it moves the caret behind what is inserted and remembers how to undo it.
    fn edit(&mut self, range: Range<usize>, inserted: Content, join: Join) {
        if range.is_empty() && inserted.is_empty() {
            return;
        }
        let (at, len, caret_before) = (range.start, inserted.len(), self.caret);
        let other = self.splice(range, inserted);
        // What was inserted may have become one cluster with what follows it.
        self.caret = self.content.boundary_from(at + len);
        self.history.record(
            Change {
                at,
                len,
                other,
                caret_before,
                caret_after: self.caret,
            },
            join,
        );
    }

    /// Carries a change out, and returns the one that takes it back.
    fn swap(&mut self, mut change: Change) -> Change {
        let len = change.other.len();
        change.other = self.splice(change.at..change.at + change.len, change.other);
        change.len = len;
        change
    }

    fn splice(&mut self, range: Range<usize>, content: Content) -> Content {
        let (at, inserted) = (range.start, content.len());
        let removed = self.content.splice(range, content);
        if let Some(wrap) = self.wrap.get_mut() {
            Arc::make_mut(wrap).update(&self.content, at, removed.len(), inserted);
        }
        self.revision += 1;
        removed
    }

    /// Ends an action.
    fn settle(&mut self, last: Last) {
        self.last = last;
        self.goal = None;
    }
}
