//! Undo and redo: what to put back, and where.

use std::collections::VecDeque;

use super::content::Content;

/// Units kept. An edit holds only what it replaced, so this bounds memory in practice.
const LIMIT: usize = 1_000;

/// How to take one edit back, or to make it again.
#[derive(Clone, Debug)]
pub(super) struct Change {
    /// Where the edit was made.
    pub(super) at: usize,
    /// How many bytes stand there now.
    pub(super) len: usize,
    /// What stands there on the other side of this change.
    pub(super) other: Content,
    pub(super) caret_before: usize,
    pub(super) caret_after: usize,
}

/// How an edit joins the one before it, so that undo takes back words rather than letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// It stands alone.
    Never,
    /// It is typed right behind what was typed before.
    Typing,
    /// It erases right before or behind what was erased before.
    Erasing,
}

#[derive(Clone, Debug, Default)]
pub(super) struct History {
    undo: VecDeque<Change>,
    redo: Vec<Change>,
}

impl History {
    /// Remembers an edit that was just made.
    pub(super) fn record(&mut self, change: Change, join: Join) {
        self.redo.clear();
        let change = match self.undo.back_mut() {
            Some(last) => join_changes(last, change, join),
            None => Some(change),
        };
        self.undo.extend(change);
        if self.undo.len() > LIMIT {
            self.undo.pop_front();
        }
    }

    pub(super) fn pop_undo(&mut self) -> Option<Change> {
        self.undo.pop_back()
    }

    pub(super) fn pop_redo(&mut self) -> Option<Change> {
        self.redo.pop()
    }

    /// Keeps a change that was taken back, to make it again.
    pub(super) fn push_redo(&mut self, change: Change) {
        self.redo.push(change);
    }

    /// Keeps a change that was made again, to take it back.
    pub(super) fn push_undo(&mut self, change: Change) {
        self.undo.push_back(change);
    }
}

/// Adds `change` to `last`, or returns it when the two do not belong together.
fn join_changes(last: &mut Change, change: Change, join: Join) -> Option<Change> {
    let erases = join == Join::Erasing && change.len == 0 && last.len == 0;
    if join == Join::Typing && last.at + last.len == change.at && change.other.is_empty() {
        last.len += change.len;
    } else if erases
        && change.at + change.other.len() == last.at
        && is_one_word(&last.other, &change.other)
    {
        let behind = std::mem::replace(&mut last.other, change.other);
        last.other.append(behind);
        last.at = change.at;
    } else if erases && change.at == last.at && is_one_word(&last.other, &change.other) {
        last.other.append(change.other);
    } else {
        return Some(change);
    }
    last.caret_after = change.caret_after;
    None
}

/// Whether undo brings both pieces back at once: white space ends a word, and an element stands alone.
fn is_one_word(erased: &Content, next: &Content) -> bool {
    let is_space = |content: &Content| content.text().chars().all(char::is_whitespace);
    let are_text = erased.elements().is_empty() && next.elements().is_empty();
    are_text && (!is_space(next) || is_space(erased))
}
