//! Fuzzy search over an [`Index`], fast enough to run at every key.
//!
//! Every word of the query must match the title or the directory of a
//! session, with smart case; a directory counts half. Sessions come in order
//! of match quality, then those of the target's own directory, then those
//! without one, then the others, each with the latest activity first. A query of one
//! word that looks like part of an id (at least four hexadecimal digits and
//! hyphens, one of them a digit) finds sessions by their ids as well. A
//! session that the filter does not admit is no answer.
//!
//! Five things keep it fast: a bit set of letters tells most sessions apart
//! without looking at their text; a query that extends one before looks only
//! at what that one found; a directory is matched and filtered once, however
//! many sessions were begun in it; once enough good rows are there, one that
//! cannot be among the best however well it matches is counted, which is
//! quick, and not scored; and only the first rows are ever sorted.

mod few;
mod learnt;
mod needle;
mod scorer;
mod span;
mod top;

use std::sync::{Arc, Weak};

use nucleo::{Config, Matcher};
use rayon::prelude::*;
use tokio_util::sync::CancellationToken;

pub use self::few::{Few, Match};
pub use self::learnt::SearchState;
use self::learnt::{Learnt, Search};
use self::needle::{Needles, haystack};
use self::scorer::Scorer;
use self::span::{Found, Span};
use self::top::Bound;
use super::index::{Form, Index};
use super::query::Filter;
use crate::reference::discovery::workspace_rank;
use crate::session::{Millis, SessionId};

/// How many rows are looked at between two questions whether to stop.
const STRIDE: u32 = 256;
/// Below this many rows a second thread costs more than it saves.
const MIN_SPAN: u32 = 2048;
/// Spans a thread, so that one slow thread does not hold up the rest.
const SPANS_PER_THREAD: usize = 4;

/// What to search for. The default is everything, and gives no row of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// What was typed, without filters. Blank: everything, in the order of a
    /// list.
    pub text: String,
    /// Which sessions may be answers.
    pub filter: Filter,
    /// The moment of asking, which the filter may count back from.
    pub now: Millis,
    /// The directory whose sessions come first among equals.
    pub target_cwd: Option<String>,
    /// A session that is no answer: the one that is written in.
    pub exclude: Option<SessionId>,
    /// How many rows to give.
    pub limit: usize,
}

/// A session that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its row in the index that was searched.
    pub row: u32,
    /// How well it matches; comparable within one answer only.
    pub score: u32,
}

/// The answer to a query.
#[derive(Clone, Debug)]
pub struct Hits {
    /// The best matches, best first.
    pub rows: Vec<Hit>,
    /// How many sessions match, the filter included.
    pub matched: usize,
    /// How many sessions there are, whether the filter admits them or not;
    /// one that is no answer is not counted.
    pub total: usize,
    /// What a longer query can build on.
    pub state: SearchState,
}

/// Searches `index`. Blocks, and uses all of rayon's threads; `None` as soon
/// as it is cancelled.
///
/// With the state of an earlier search in the same index only the rows which
/// that one found are looked at where the new query allows it; the answer is
/// the same.
#[must_use]
pub fn search(
    index: &Arc<Index>,
    query: &Query,
    previous: Option<&SearchState>,
    cancel: &CancellationToken,
) -> Option<Hits> {
    let previous = previous.map(|state| &*state.0).filter(|learnt| {
        Weak::ptr_eq(&learnt.index, &Arc::downgrade(index)) && learnt.exclude == query.exclude
    });
    let excluded_row = match previous {
        Some(learnt) => learnt.excluded_row,
        None => query.exclude.as_ref().and_then(|id| index.find(id)),
    };
    let needles = Needles::new(&query.text);
    let mut searches = previous.map_or_else(Vec::new, |learnt| {
        learnt::covering(&learnt.searches, query, &needles)
    });
    let narrowed = searches.last().map(|search| &**search);
    let found = find(index, query, &needles, excluded_row, narrowed, cancel)?;
    let total = index.len() - usize::from(excluded_row.is_some());
    let matched = found.rows.as_ref().map_or(total, Vec::len);
    if let Some(rows) = found.rows {
        let search = Search {
            needles,
            filter: query.filter.clone(),
            now: query.now,
            rows,
        };
        learnt::keep(&mut searches, search, index);
    }
    Some(Hits {
        matched,
        total,
        rows: found.top.into_hits(query.limit),
        state: SearchState(Arc::new(Learnt {
            index: Arc::downgrade(index),
            exclude: query.exclude.clone(),
            excluded_row,
            searches,
        })),
    })
}

/// Finds what matches among what an earlier search found, or all.
fn find(
    index: &Index,
    query: &Query,
    needles: &Needles,
    excluded_row: Option<u32>,
    narrowed: Option<&Search>,
    cancel: &CancellationToken,
) -> Option<Found> {
    let cwd_scores = score_cwds(index, needles, cancel)?;
    let ranks: Vec<Option<u8>> = index
        .cwds()
        .map(|(cwd, _)| rank(query, Some(cwd)))
        .collect();
    let span = Span {
        index,
        needles,
        known: narrowed.map_or(0, |search| needles.known_from(&search.needles)),
        cwd_scores: &cwd_scores,
        ranks: &ranks,
        no_cwd_rank: rank(query, None),
        filter: &query.filter,
        time: query.filter.span(query.now),
        excluded_row,
        limit: query.limit,
        bound: &Bound::default(),
        cancel,
    };
    if needles.is_empty() && query.filter.is_empty() {
        span.first_rows()
    } else {
        search_spans(&span, narrowed.map(|search| &*search.rows))
    }
}

/// Where a directory stands beside the target's; `None` when the filter does
/// not admit it.
fn rank(query: &Query, cwd: Option<&str>) -> Option<u8> {
    let admits = query.filter.admits_cwd(cwd);
    admits.then(|| workspace_rank(query.target_cwd.as_deref(), cwd))
}

/// Scores these rows, or all, on all threads; `None` when cancelled.
fn search_spans(span: &Span<'_>, rows: Option<&[u32]>) -> Option<Found> {
    let spans = match rows {
        Some(rows) => in_spans(rows.len(), |from, to| {
            span.search(rows.get(from..to).unwrap_or_default().iter().copied())
        }),
        None => in_spans(span.index.len(), |from, to| {
            span.search((from..to).filter_map(|row| u32::try_from(row).ok()))
        }),
    }?;
    let joined = spans.into_iter().reduce(|a, b| a.join(b, span.limit));
    Some(joined.unwrap_or_else(Found::nothing))
}

/// Which grapheme clusters of the row's shown title the query matches, counted
/// from 0, in order. None where the directory or the id is what matched.
#[must_use]
pub fn highlight(index: &Index, row: u32, query: &str) -> Vec<u32> {
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut buffer = Vec::new();
    let Some(row) = index.row(row) else {
        return Vec::new();
    };
    let haystack = haystack(index.display(row), row.form(), &mut buffer);
    let mut places = Needles::new(query).places(haystack, &mut matcher);
    places.sort_unstable();
    places.dedup();
    places
}

/// How well each word matches each directory: one list a word, half the
/// matcher's score, 0 for no match. Empty for a word that matches none.
fn score_cwds(
    index: &Index,
    needles: &Needles,
    cancel: &CancellationToken,
) -> Option<Vec<Vec<u32>>> {
    let cwds: Vec<(&str, u64)> = index.cwds().collect();
    let chunks = in_spans(cwds.len(), |from, to| {
        let cwds = cwds.get(from..to).unwrap_or_default();
        Scorer::with(Config::DEFAULT.match_paths(), |scorer| {
            score_chunk(cwds, needles, scorer, cancel)
        })
    })?;
    let mut scores = vec![Vec::with_capacity(cwds.len()); needles.len()];
    for chunk in chunks {
        for (all, chunk) in scores.iter_mut().zip(chunk) {
            all.extend(chunk);
        }
    }
    for scores in &mut scores {
        if scores.iter().all(|score| *score == 0) {
            scores.clear();
        }
    }
    Some(scores)
}

fn score_chunk(
    cwds: &[(&str, u64)],
    needles: &Needles,
    Scorer { matcher, buffer }: &mut Scorer,
    cancel: &CancellationToken,
) -> Option<Vec<Vec<u32>>> {
    let mut scores = vec![Vec::with_capacity(cwds.len()); needles.len()];
    for (at, (cwd, letters)) in cwds.iter().enumerate() {
        if at % STRIDE as usize == 0 && cancel.is_cancelled() {
            return None;
        }
        let form = if cwd.is_ascii() {
            Form::Ascii
        } else {
            Form::Clusters
        };
        for (needle, scores) in needles.iter().zip(&mut scores) {
            let score = needle
                .may_match(*letters)
                .then(|| needle.score(haystack(cwd, form, buffer), matcher))
                .flatten();
            // A match is worth something, however poor.
            scores.push(score.map_or(0, |score| (score / 2).max(1)));
        }
    }
    Some(scores)
}

/// Cuts `0..len` into spans and works on them side by side; `None` if one of
/// them gave up.
fn in_spans<T: Send>(
    len: usize,
    work: impl Fn(usize, usize) -> Option<T> + Sync,
) -> Option<Vec<T>> {
    let size = len
        .div_ceil(rayon::current_num_threads() * SPANS_PER_THREAD)
        .max(MIN_SPAN as usize);
    (0..len.div_ceil(size))
        .into_par_iter()
        .map(|span| work(span * size, len.min((span + 1) * size)))
        .collect()
}

#[cfg(test)]
mod tests;
