//! What searches found, for the next one of the same list.

use std::sync::{Arc, Weak};

use super::Query;
use super::needle::Needles;
use crate::library::index::Index;
use crate::library::query::Filter;
use crate::session::{Millis, SessionId};

/// What the searches of one list learnt, for the next one. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SearchState(pub(super) Arc<Learnt>);

#[derive(Debug)]
pub(super) struct Learnt {
    pub(super) index: Weak<Index>,
    pub(super) exclude: Option<SessionId>,
    pub(super) excluded_row: Option<u32>,
    /// The last search, and those before that it narrowed, of use again when
    /// the end of a query is taken back. The last one stands last.
    pub(super) searches: Vec<Arc<Search>>,
}

/// One search and all that it found.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) needles: Needles,
    pub(super) filter: Filter,
    pub(super) now: Millis,
    /// Every row that matched, in order.
    pub(super) rows: Vec<u32>,
}

impl Search {
    /// Whether it found all that the query can find.
    fn covers(&self, query: &Query, needles: &Needles) -> bool {
        needles.extend(&self.needles) && query.filter.narrows(query.now, &self.filter, self.now)
    }
}

/// Those of the searches which found all that the query can find.
pub(super) fn covering(
    searches: &[Arc<Search>],
    query: &Query,
    needles: &Needles,
) -> Vec<Arc<Search>> {
    let covers = |search: &&Arc<Search>| search.covers(query, needles);
    searches.iter().filter(covers).cloned().collect()
}

/// Keeps a search beside those that it narrowed, unless it found no fewer than
/// the last of them: then that one is as good, and covers more queries.
///
/// The oldest, which found the most and so save the least, are forgotten until
/// all but the last have fewer rows than the index.
pub(super) fn keep(searches: &mut Vec<Arc<Search>>, search: Search, index: &Index) {
    let last = searches.last();
    if last.is_some_and(|last| last.rows.len() <= search.rows.len()) {
        return;
    }
    let mut rows: usize = searches.iter().map(|search| search.rows.len()).sum();
    searches.retain(|search| {
        let is_kept = rows < index.len();
        if !is_kept {
            rows -= search.rows.len();
        }
        is_kept
    });
    searches.push(Arc::new(search));
}
