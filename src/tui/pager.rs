//! A long text that is read row by row.
//!
//! It stands at a place in the text, not at a row number, so that nothing but
//! the rows on the screen is ever wrapped, and a new width keeps the place.
//! Laid out pieces are cached up to a limit.

mod draw;
pub(crate) mod piece;
mod search;
#[cfg(test)]
mod tests;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use piece::{Body, Kind, Laid, Piece};
use search::Search;

use super::wrap::{self, Wrap};

pub(super) use draw::paint;

/// Laid out text is dropped when it takes more than this many bytes.
const CACHE_BYTES: usize = 2 * 1024 * 1024;
/// Laid out pieces are dropped when there are more than this many.
const CACHE_PIECES: usize = 1024;

/// The columns that speakers' names may take beside what they say.
const NAMES: RangeInclusive<u16> = 8..=10;

/// A place in the text: a piece, and a byte of it as it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) piece: usize,
    pub(super) byte: usize,
}

/// A text, and where the reader stands in it.
#[derive(Clone, Debug)]
pub struct Pager {
    pieces: Vec<Piece>,
    /// What is laid out, by piece.
    laid: Vec<Option<Arc<Laid>>>,
    /// The pieces that are laid out, and what they take.
    cached: Vec<usize>,
    cached_bytes: usize,
    how: Wrap,
    /// Whether speakers' names may stand in a column of their own.
    name_column: bool,
    /// The columns of the longest name, within [`NAMES`].
    longest_name: u16,
    /// The first row on the screen.
    top: Place,
    /// The size it was last drawn at, in columns and rows.
    size: (u16, u16),
    search: Search,
}

impl Pager {
    pub(crate) fn new(how: Wrap, name_column: bool) -> Self {
        Self {
            pieces: Vec::new(),
            laid: Vec::new(),
            cached: Vec::new(),
            cached_bytes: 0,
            how,
            name_column,
            longest_name: *NAMES.start(),
            top: Place::default(),
            size: (80, 24),
            search: Search::default(),
        }
    }

    pub(crate) fn with(mut self, pieces: impl IntoIterator<Item = Piece>) -> Self {
        self.extend(pieces);
        self
    }

    pub(crate) fn extend(&mut self, pieces: impl IntoIterator<Item = Piece>) {
        let first = self.pieces.len();
        self.pieces.extend(pieces);
        self.laid.resize(self.pieces.len(), None);
        self.make_room_for_names(first);
    }

    /// Makes the column of names as wide as those from piece `first` on want.
    fn make_room_for_names(&mut self, first: usize) {
        let new = self.pieces.get(first..).unwrap_or_default().iter();
        let names = new.filter(|piece| piece.kind.is_speaker());
        let longest = names.map(|name| wrap::columns(&name.shown())).max();
        let longest = u16::try_from(longest.unwrap_or_default()).unwrap_or(u16::MAX);
        let longest = longest.clamp(*NAMES.start(), *NAMES.end());
        if longest > self.longest_name {
            self.longest_name = longest;
            self.forget_layout();
        }
    }

    /// Drops all pieces from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.pieces.truncate(len);
        let gone = self.laid.get(len..).unwrap_or_default().iter().flatten();
        let bytes: usize = gone.map(|laid| laid.size()).sum();
        self.cached_bytes = self.cached_bytes.saturating_sub(bytes);
        self.laid.truncate(len);
        self.cached.retain(|&place| place < len);
    }

    /// Drops the pieces in these ranges, which stand in order and apart. The
    /// reader stays at the same text, or where it was.
    pub(crate) fn remove(&mut self, gone: &[Range<usize>]) {
        let Some(first) = gone.first().map(|range| range.start.min(self.len())) else {
            return;
        };
        let behind = self.pieces.split_off(first);
        self.truncate(first);
        let before = |at: usize| gone.get(..gone.partition_point(|range| range.end <= at));
        let is_gone = |at: usize| {
            let next = before(at).and_then(|before| gone.get(before.len()));
            next.is_some_and(|range| range.contains(&at))
        };
        let behind = (first..).zip(behind);
        self.extend(behind.filter_map(|(at, piece)| (!is_gone(at)).then_some(piece)));
        let at = self.top.piece;
        let gone_before = before(at).into_iter().flatten().map(Range::len);
        let within = gone.iter().find(|range| range.contains(&at));
        let piece = within.map_or(at, |range| range.start) - gone_before.sum::<usize>();
        let byte = if within.is_some() { 0 } else { self.top.byte };
        self.top = Place { piece, byte };
    }

    pub(crate) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The size of a piece's text, in bytes.
    pub(crate) fn bytes_of(&self, place: usize) -> usize {
        self.pieces.get(place).map_or(0, |piece| piece.raw().len())
    }

    /// Adds to the text of a piece that has its own.
    pub(crate) fn grow(&mut self, place: usize, more: &str) {
        let Some(piece) = self.pieces.get_mut(place) else {
            return;
        };
        if let Body::Own(text) = &mut piece.body {
            text.push_str(more);
        }
        if let Some(laid) = self.laid.get_mut(place).and_then(Option::as_mut) {
            let before = laid.size();
            let laid = Arc::make_mut(laid);
            laid.extend(piece);
            self.cached_bytes += laid.size().saturating_sub(before);
        }
    }

    /// Puts `pieces` in place of the first `count`, and keeps the reader's
    /// place in what follows. A reader at the start stays at the start.
    pub(crate) fn replace_head(&mut self, count: usize, pieces: Vec<Piece>) {
        let added = pieces.len();
        let at = self.match_in_view().filter(|at| at.piece >= count);
        self.pieces.splice(..count.min(self.pieces.len()), pieces);
        self.forget_layout();
        self.top = if self.top > Place::default() && self.top.piece >= count {
            Place {
                piece: self.top.piece - count + added,
                ..self.top
            }
        } else {
            Place::default()
        };
        self.search_restart(at.map(|at| Place {
            piece: at.piece - count + added,
            ..at
        }));
    }

    /// How far a place is from the start of a piece, in bytes, a line feed
    /// between pieces counted.
    pub(crate) fn top_offset_from(&self, first: usize) -> Option<usize> {
        let before = self.pieces.get(first..self.top.piece)?;
        let bytes: usize = before.iter().map(|piece| piece.raw().len() + 1).sum();
        Some(bytes + self.top.byte)
    }

    /// Stands `offset` bytes behind the start of piece `first`.
    pub(crate) fn set_top_offset(&mut self, first: usize, mut offset: usize) {
        let mut place = first;
        while let Some(piece) = self.pieces.get(place) {
            let len = piece.raw().len() + 1;
            if offset < len {
                break;
            }
            offset -= len;
            place += 1;
        }
        self.top = Place {
            piece: place,
            byte: offset,
        };
    }

    /// Stands at a byte of a shared text that the pieces are made of.
    pub(crate) fn go_to_byte(&mut self, at: usize) {
        let place = self.pieces.partition_point(|piece| match &piece.body {
            Body::Shared(_, range) => range.end <= at,
            Body::Block(..) | Body::Own(_) => true,
        });
        let start = match self.pieces.get(place).map(|piece| &piece.body) {
            Some(Body::Shared(_, range)) => range.start,
            _ => return,
        };
        self.top = Place {
            piece: place,
            byte: at.saturating_sub(start),
        };
    }

    /// Stands at the message of this number, counted from 0: each begins with
    /// something that is no text.
    pub(crate) fn go_to_message(&mut self, number: usize) {
        let mut pieces = (0..).zip(&self.pieces);
        let heading = pieces
            .by_ref()
            .filter(|(_, piece)| piece.kind != Kind::Text)
            .nth(number);
        if let Some((piece, _)) = heading {
            self.top = Place { piece, byte: 0 };
        }
    }

    /// Moves by rows, forwards when positive.
    pub fn scroll(&mut self, rows: i16) {
        self.search.stay();
        let mut at = self.snapped(self.top);
        for _ in 0..rows.unsigned_abs() {
            let moved = if rows > 0 {
                self.below(at)
            } else {
                self.above(at)
            };
            match moved {
                Some(place) => at = place,
                None => break,
            }
        }
        self.top = at.min(self.end_top());
    }

    /// Moves by screens, forwards when positive. One row stays in view.
    pub fn page(&mut self, pages: i16) {
        let rows = i16::try_from(self.size.1.saturating_sub(1).max(1)).unwrap_or(i16::MAX);
        self.scroll(rows.saturating_mul(pages));
    }

    /// Goes to the start.
    pub fn home(&mut self) {
        self.search.stay();
        self.top = Place::default();
    }

    /// Goes to the end.
    pub fn end(&mut self) {
        self.search.stay();
        self.top = self.end_top();
    }

    /// Whether the last row is on the screen.
    pub fn is_at_end(&mut self) -> bool {
        self.snapped(self.top) >= self.end_top()
    }

    /// Rows in all, counted up to `limit`.
    pub(crate) fn rows_up_to(&mut self, limit: usize) -> usize {
        let mut rows = 0;
        for place in 0..self.pieces.len() {
            rows += self.laid(place).map_or(0, |laid| laid.rows.len());
            if rows >= limit {
                return limit;
            }
        }
        rows
    }

    /// How far the reader is, in percent of the pieces.
    pub(crate) fn percent(&mut self) -> usize {
        if self.is_at_end() {
            return 100;
        }
        let within = self.laid(self.top.piece).map_or(0, |laid| {
            let len = laid.text.len().max(1);
            self.top.byte.min(len) * 100 / len
        });
        (self.top.piece * 100 + within) / self.pieces.len().max(1)
    }

    pub(crate) fn resize(&mut self, width: u16, height: u16) {
        if self.size == (width, height) {
            return;
        }
        let at = self.match_in_view();
        if self.size.0 != width {
            self.forget_layout();
        }
        self.size = (width, height);
        if let Some(at) = at {
            self.show(at);
        }
    }

    fn forget_layout(&mut self) {
        self.laid.clear();
        self.laid.resize(self.pieces.len(), None);
        self.cached.clear();
        self.cached_bytes = 0;
    }

    /// The columns of the speakers' names; 0 when they stand above.
    fn name_columns(&self) -> u16 {
        if self.name_column && self.size.0 >= 50 {
            self.longest_name + 3
        } else {
            0
        }
    }

    fn laid(&mut self, place: usize) -> Option<Arc<Laid>> {
        let piece = self.pieces.get(place)?;
        if let Some(laid) = self.laid.get(place).and_then(Option::as_ref) {
            return Some(Arc::clone(laid));
        }
        let names = self.name_columns();
        let laid = Arc::new(Laid::new(
            piece,
            self.size.0.saturating_sub(names).max(1),
            self.how,
            names > 0,
        ));
        if self.cached.len() >= CACHE_PIECES || self.cached_bytes >= CACHE_BYTES {
            self.forget_layout();
        }
        self.cached.push(place);
        self.cached_bytes += laid.size();
        if let Some(slot) = self.laid.get_mut(place) {
            *slot = Some(Arc::clone(&laid));
        }
        Some(laid)
    }

    /// The start of the row that a place stands in.
    fn snapped(&mut self, place: Place) -> Place {
        let start = self
            .laid(place.piece)
            .and_then(|laid| laid.rows.get(laid.row_of(place.byte)).copied())
            .map(|row| Place {
                byte: row.start,
                ..place
            });
        match start {
            Some(start) => start,
            None => self.below(place).unwrap_or_else(|| self.last_row()),
        }
    }

    /// The row below.
    fn below(&mut self, at: Place) -> Option<Place> {
        if let Some(laid) = self.laid(at.piece)
            && let Some(row) = laid.rows.get(laid.row_of(at.byte) + 1)
        {
            return Some(Place {
                byte: row.start,
                ..at
            });
        }
        for piece in at.piece + 1..self.pieces.len() {
            if let Some(row) = self.laid(piece)?.rows.first() {
                return Some(Place {
                    piece,
                    byte: row.start,
                });
            }
        }
        None
    }

    /// The row above.
    fn above(&mut self, at: Place) -> Option<Place> {
        if let Some(laid) = self.laid(at.piece)
            && let Some(row) = laid
                .row_of(at.byte)
                .checked_sub(1)
                .and_then(|row| laid.rows.get(row))
        {
            return Some(Place {
                byte: row.start,
                ..at
            });
        }
        for piece in (0..at.piece).rev() {
            if let Some(row) = self.laid(piece)?.rows.last() {
                return Some(Place {
                    piece,
                    byte: row.start,
                });
            }
        }
        None
    }

    fn last_row(&mut self) -> Place {
        let past = Place {
            piece: self.pieces.len(),
            byte: 0,
        };
        self.above(past).unwrap_or_default()
    }

    /// The top when the last row stands at the bottom.
    fn end_top(&mut self) -> Place {
        let last = self.last_row();
        self.up_from(last, self.size.1.saturating_sub(1))
    }

    fn up_from(&mut self, mut at: Place, rows: u16) -> Place {
        for _ in 0..rows {
            match self.above(at) {
                Some(place) => at = place,
                None => break,
            }
        }
        at
    }

    /// Brings a place into view, a third down the screen when it was not.
    fn show(&mut self, place: Place) {
        if !self.is_in_view(place) {
            let row = self.snapped(place);
            self.top = self.up_from(row, self.size.1 / 3).min(self.end_top());
        }
    }

    fn is_in_view(&mut self, place: Place) -> bool {
        let row = self.snapped(place);
        let mut at = self.snapped(self.top);
        for _ in 0..self.size.1 {
            if at == row {
                return true;
            }
            match self.below(at) {
                Some(next) => at = next,
                None => break,
            }
        }
        false
    }

    /// The kind of a piece; only for deciding what to draw.
    fn kind(&self, place: usize) -> Option<Kind> {
        self.pieces.get(place).map(|piece| piece.kind)
    }
}
