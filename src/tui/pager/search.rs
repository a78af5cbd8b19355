//! Searching a paged text.

use crate::tui::find::Needle;
use crate::tui::human::human_count;

use super::{Pager, Place};

/// How much text one call looks through, in bytes: too short to notice.
const STEP_BYTES: usize = 256 * 1024;
/// Past this many places the search stops.
const MAX_FOUND: usize = 100_000;

/// A place that matches, in bytes of a piece as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) piece: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Where a search goes as soon as enough is looked through to know the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// To the first match from where the search began.
    First,
    Next,
    Previous,
}

/// A search and what it found so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    query: String,
    typing: bool,
    /// Where the text stood when the search began.
    origin: Place,
    found: Vec<Found>,
    current: Option<usize>,
    /// Where it is to go.
    way: Option<Way>,
    /// The first piece not looked through; past the end when all are.
    next_piece: usize,
}

impl Search {
    /// What was found in a piece.
    pub(super) fn found_in(&self, piece: usize) -> &[Found] {
        let start = self.found.partition_point(|f| f.piece < piece);
        let end = self.found.partition_point(|f| f.piece <= piece);
        self.found.get(start..end).unwrap_or_default()
    }

    pub(super) fn current(&self) -> Option<Found> {
        self.found.get(self.current?).copied()
    }

    /// Goes nowhere any more: the reader goes elsewhere.
    pub(super) fn stay(&mut self) {
        self.way = None;
    }

    /// Forgets what was found, but not the query.
    fn restart(&mut self) {
        self.found.clear();
        self.current = None;
        self.next_piece = 0;
    }
}

impl Pager {
    /// Begins a search: what is typed next is its query.
    pub fn search_begin(&mut self) {
        self.search = Search {
            typing: true,
            origin: self.top,
            ..Search::default()
        };
    }

    /// Adds to the query and goes to the first match from where the search
    /// began.
    pub fn search_push(&mut self, more: &str) {
        self.search.query.push_str(more);
        self.search_again();
    }

    /// Takes the last character off the query; without one, ends the search.
    pub fn search_pop(&mut self) {
        if self.search.query.pop().is_none() {
            self.search_cancel();
        } else {
            self.search_again();
        }
    }

    /// Ends the typing of the query and keeps its matches.
    pub fn search_accept(&mut self) {
        self.search.typing = false;
    }

    /// Ends the search and goes back to where it began.
    pub fn search_cancel(&mut self) {
        if self.search.typing {
            self.top = self.search.origin;
        }
        self.search = Search::default();
    }

    /// Whether what is typed goes to the query.
    #[must_use]
    pub fn is_search_open(&self) -> bool {
        self.search.typing
    }

    /// The query; empty without a search.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.search.query
    }

    /// Sets the whole query at once, without moving the text.
    pub fn set_query(&mut self, query: &str) {
        self.search = Search {
            query: query.to_owned(),
            origin: self.top,
            ..Search::default()
        };
        self.search_more();
    }

    /// Sets the whole query at once, and goes to its first match from here on.
    pub fn search_for(&mut self, query: &str) {
        self.set_query(query);
        self.search_go(Way::First);
    }

    /// Goes to the next match, and from the last to the first; where that is
    /// not known yet, as soon as [`Pager::search_more`] has found it.
    pub fn search_next(&mut self) {
        self.search_go(Way::Next);
    }

    /// Goes to the match before, and from the first to the last, in the same
    /// way.
    pub fn search_previous(&mut self) {
        self.search_go(Way::Previous);
    }

    fn search_go(&mut self, way: Way) {
        self.search.way = Some(way);
        self.go_if_known();
        if self.search.way.is_some() {
            self.search_more();
        }
    }

    /// Looks through the next part of a long text. Gives whether there is
    /// still more: call it again, between frames, while there is.
    pub fn search_more(&mut self) -> bool {
        let Some(needle) = Needle::new(&self.search.query) else {
            self.search.stay();
            return false;
        };
        let mut looked_at = 0;
        while looked_at < STEP_BYTES && !self.is_looked_through() {
            let place = self.search.next_piece;
            let Some(piece) = self.pieces.get(place) else {
                break;
            };
            self.search.next_piece += 1;
            looked_at += piece.raw().len() + 1;
            if piece.kind.is_speaker() {
                continue;
            }
            let found = &mut self.search.found;
            needle.each_in(&piece.shown(), |range| {
                found.push(Found {
                    piece: place,
                    start: range.start,
                    end: range.end,
                });
                found.len() < MAX_FOUND
            });
        }
        self.go_if_known();
        !self.is_looked_through()
    }

    fn is_looked_through(&self) -> bool {
        self.search.next_piece >= self.pieces.len() || self.search.found.len() >= MAX_FOUND
    }

    /// Where the search stands: `3/17`, with `…` while there is text left to
    /// look through; `None` without a query.
    #[must_use]
    pub fn search_count(&self) -> Option<String> {
        let search = &self.search;
        if search.query.is_empty() {
            return None;
        }
        let at = search.current.map_or(0, |at| at + 1);
        let of = search.found.len();
        let more = if of >= MAX_FOUND {
            "+"
        } else if !self.is_looked_through() {
            "…"
        } else {
            ""
        };
        Some(if of == 0 && more.is_empty() {
            "not found".to_owned()
        } else {
            format!("{}/{}{more}", human_count(at), human_count(of))
        })
    }

    /// Looks for a query that changed.
    fn search_again(&mut self) {
        self.search.restart();
        self.top = self.search.origin;
        self.search_go(Way::First);
    }

    /// Goes where the search is to go, once the place is known.
    fn go_if_known(&mut self) {
        let Some(way) = self.search.way else { return };
        let is_done = self.is_looked_through();
        let last = self.search.found.len().checked_sub(1);
        let (from, at) = match (way, self.search.current) {
            (Way::First, _) => (self.search.origin, None),
            (_, current) => (self.top, current),
        };
        // The first match from there on, as far as is known.
        let next = at.map_or_else(|| self.matches_before(from), |at| at + 1);
        let to = match way {
            Way::First | Way::Next if last.is_some_and(|last| next <= last) => Some(next),
            Way::First | Way::Next => is_done.then_some(0),
            Way::Previous if at.is_none() && !is_done && self.search.next_piece <= from.piece => {
                None
            }
            Way::Previous => match at.unwrap_or(next).checked_sub(1) {
                Some(before) => Some(before),
                None if is_done => Some(last.unwrap_or_default()),
                None => None,
            },
        };
        if let Some(to) = to {
            self.search.stay();
            self.go_to_match(to);
        }
    }

    /// How many matches stand before a place.
    fn matches_before(&self, place: Place) -> usize {
        let found = &self.search.found;
        found.partition_point(|f| (f.piece, f.start) < (place.piece, place.byte))
    }

    fn go_to_match(&mut self, place: usize) {
        if let Some(found) = self.search.found.get(place).copied() {
            self.search.current = Some(place);
            self.show(Place {
                piece: found.piece,
                byte: found.start,
            });
        }
    }

    /// Begins the search anew after pieces changed, at the place where its
    /// match is now.
    pub(super) fn search_restart(&mut self, at: Option<Place>) {
        self.search.restart();
        if let Some(at) = at {
            self.search.origin = at;
            self.search.way = Some(Way::First);
        }
        self.search_more();
    }

    /// The match that the search stands at, as far as it is on the screen.
    pub(super) fn match_in_view(&mut self) -> Option<Place> {
        let found = self.search.current()?;
        let place = Place {
            piece: found.piece,
            byte: found.start,
        };
        self.is_in_view(place).then_some(place)
    }
}
