//! Where visual rows begin.
//!
//! Where a row begins decides all that follows, so after an edit only rows near it are worked out again, until one
//! begins where an old one did; the rest is moved along. A key in a text of a megabyte costs a few rows, not the text.

use unicode_segmentation::UnicodeSegmentation as _;

use super::cells::{Class, can_break};
use super::content::Content;
use crate::tui::wrap::columns;

/// The narrowest layout: a row holds the widest character there is, and the caret behind it.
const MIN_WIDTH: usize = 4;

/// The widest layout; no terminal is wider.
const MAX_WIDTH: usize = u16::MAX as usize;

/// How many rows before the one with an edit may depend on it, the rows of a cut cell counted as one: a row depends on the
/// cell that did not fit, which is at most two rows further on.
const LOOK_BACK: usize = 2;

/// Where a row begins: the offset of a cell, and how many bytes of what that cell shows stand on earlier rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowStart {
    pub(super) at: usize,
    pub(super) skip: usize,
}

/// The beginnings of all rows at a width; there is always a first one, at 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrap {
    width: usize,
    starts: Vec<RowStart>,
}

impl Wrap {
    pub(super) fn new(content: &Content, width: usize) -> Self {
        let width = width.clamp(MIN_WIDTH, MAX_WIDTH);
        let first = RowStart { at: 0, skip: 0 };
        let starts =
            std::iter::successors(Some(first), |&start| next_row(content, start, width)).collect();
        Self { width, starts }
    }

    pub(super) fn is_for(&self, width: usize) -> bool {
        self.width == width.clamp(MIN_WIDTH, MAX_WIDTH)
    }

    pub(super) fn rows(&self) -> usize {
        self.starts.len()
    }

    /// Where a row begins, and where the next one does.
    pub(super) fn bounds(&self, row: usize) -> Option<(RowStart, Option<RowStart>)> {
        Some((*self.starts.get(row)?, self.starts.get(row + 1).copied()))
    }

    /// The row on which the caret stands at an offset: at a soft break the later row, behind a cut element its last one.
    pub(super) fn row_of(&self, at: usize) -> usize {
        self.starts
            .partition_point(|start| start.at < at || (start.at == at && start.skip == 0))
            .saturating_sub(1)
    }

    /// The row itself, or for the continuation of a cut cell the row where that cell begins.
    fn whole_row(&self, row: usize) -> usize {
        let is_continued = |row: &usize| self.starts.get(*row).is_some_and(|start| start.skip > 0);
        (0..=row).rev().find(|row| !is_continued(row)).unwrap_or(0)
    }

    /// Follows an edit of `content`, which is made already: at `at`, `inserted` bytes stand in place of `removed` ones.
    pub(super) fn update(&mut self, content: &Content, at: usize, removed: usize, inserted: usize) {
        let moved = |start: &RowStart| RowStart {
            at: start.at - removed + inserted,
            skip: start.skip,
        };
        let mut kept = self
            .starts
            .partition_point(|start| start.at < at)
            .saturating_sub(1);
        for _ in 0..LOOK_BACK {
            kept = self.whole_row(kept).saturating_sub(1);
        }
        kept = self.whole_row(kept);
        let mut old = self.starts.partition_point(|start| start.at < at + removed);
        let mut fresh = Vec::new();
        let mut start = self.starts.get(kept).copied();
        while let Some(begin) = start {
            while self
                .starts
                .get(old)
                .is_some_and(|start| moved(start) < begin)
            {
                old += 1;
            }
            if begin.at >= at + inserted && self.starts.get(old).map(moved) == Some(begin) {
                break;
            }
            fresh.push(begin);
            start = next_row(content, begin, self.width);
        }
        let kept_behind = if start.is_some() {
            old
        } else {
            self.starts.len()
        };
        for start in self.starts.iter_mut().skip(kept_behind) {
            *start = moved(start);
        }
        self.starts.splice(kept..kept_behind, fresh);
    }
}

/// Where the row after the one that begins at `start` begins; nothing for the last row.
///
/// Text leaves the last column free for the caret; a space may stand in it. So the caret is always within the width: behind
/// a space in the last column it stands on the next row, which is there even when it is empty.
fn next_row(content: &Content, start: RowStart, width: usize) -> Option<RowStart> {
    // A long run without any break, such as base64, is the one text where an edit moves all rows behind it.
    let ahead = content.text().as_bytes().get(start.at..start.at + width);
    if ahead.is_some_and(|ahead| ahead.iter().all(u8::is_ascii_alphanumeric)) {
        return Some(RowStart {
            at: start.at + width - 1,
            skip: 0,
        });
    }
    let mut used = 0;
    let mut before: Option<Class> = None;
    let mut last_break = None;
    for cell in content.cells(start.at) {
        if cell.class == Class::Newline {
            let at = if used == width { cell.at } else { cell.end };
            return Some(RowStart { at, skip: 0 });
        }
        let skip = if cell.at == start.at { start.skip } else { 0 };
        let room = if cell.class == Class::Space {
            width
        } else {
            width - 1
        };
        if skip == 0 && used + cell.width <= room {
            if before.is_some_and(|before| can_break(before, cell.class)) {
                last_break = Some(cell.at);
            }
            used += cell.width;
        } else if let Some(before) = before {
            let breaks_here = cell.class == Class::Space || can_break(before, cell.class);
            let at = if breaks_here {
                cell.at
            } else {
                last_break.unwrap_or(cell.at)
            };
            return Some(RowStart { at, skip: 0 });
        } else {
            let (end, columns) = cut(&cell.shown, skip, width - 1);
            if end < cell.shown.len() {
                return Some(RowStart {
                    at: cell.at,
                    skip: end,
                });
            }
            used = columns;
        }
        before = Some(cell.class);
    }
    (used == width).then(|| RowStart {
        at: content.len(),
        skip: 0,
    })
}

/// How much of `shown` fits a row, from byte `skip` on: the byte where it ends, and its width. Cuts between clusters where
/// possible, and always takes at least one character.
fn cut(shown: &str, skip: usize, room: usize) -> (usize, usize) {
    let rest = shown.get(skip..).unwrap_or_default();
    let (mut taken, mut used) = (0, 0);
    for cluster in rest.graphemes(true) {
        let width = columns(cluster);
        if used + width > room {
            break;
        }
        taken += cluster.len();
        used += width;
    }
    if taken == 0 {
        // A cluster wider than the row, such as a pile of Hangul letters; bounded, as it may be piled with marks as well.
        let ends = rest
            .char_indices()
            .map(|(at, c)| at + c.len_utf8())
            .take(64);
        let fitting = ends.take_while(|&end| columns(rest.get(..end).unwrap_or_default()) <= room);
        taken = fitting
            .last()
            .or(rest.chars().next().map(char::len_utf8))
            .unwrap_or(0);
        used = columns(rest.get(..taken).unwrap_or_default());
    }
    (skip + taken, used)
}
