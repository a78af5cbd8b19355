//! Fuzzy search over an [`Index`], fast enough to run at every key.
//!
//! Every word of the query must match the title or the directory of a
//! session, with smart case; a directory counts half. Sessions come in order
//! of match quality, then those of the target's own directory, then those
//! without one, then the others, each with the latest activity first. A query of one
//! word that looks like part of an id (at least four hexadecimal digits and
//! hyphens, one of them a digit) finds sessions by their ids as well.
//!
//! Four things keep it fast: a bit set of letters tells most sessions apart
//! without looking at their text; a query that extends the one before looks
//! only at what that one found; a directory is matched once, however many
//! sessions were begun in it; and only the first rows are ever sorted.

mod needle;
mod span;

use std::sync::{Arc, Weak};

use nucleo::{Config, Matcher};
use rayon::prelude::*;
use tokio_util::sync::CancellationToken;

use self::needle::{Needles, haystack};
use self::span::{Found, Span};
use super::index::Index;
use crate::reference::discovery::workspace_rank;
use crate::session::SessionId;

/// How many rows are looked at between two questions whether to stop.
const STRIDE: u32 = 256;
/// Below this many rows a second thread costs more than it saves.
const MIN_SPAN: u32 = 2048;
/// Spans a thread, so that one slow thread does not hold up the rest.
const SPANS_PER_THREAD: usize = 4;

/// What to search for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// What was typed. Blank: everything, in the order of a list.
    pub text: String,
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
    /// How many sessions match.
    pub matched: usize,
    /// How many sessions there are to match.
    pub total: usize,
    /// What a longer query can build on.
    pub state: SearchState,
}

/// What one search learnt, for the next one. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SearchState(Arc<Learnt>);

#[derive(Debug)]
struct Learnt {
    index: Weak<Index>,
    needles: Needles,
    exclude: Option<SessionId>,
    excluded_row: Option<u32>,
    /// Every row that matched, in order; `None` when all did.
    rows: Option<Vec<u32>>,
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
    let previous = previous
        .map(|state| &*state.0)
        .filter(|learnt| Weak::ptr_eq(&learnt.index, &Arc::downgrade(index)));
    let excluded_row = match previous {
        Some(learnt) if learnt.exclude == query.exclude => learnt.excluded_row,
        _ => query.exclude.as_ref().and_then(|id| index.find(id)),
    };
    let needles = Needles::new(&query.text);
    let ranks: Vec<u8> = index
        .cwds()
        .map(|(cwd, _)| workspace_rank(query.target_cwd.as_deref(), Some(cwd)))
        .collect();
    let span = Span {
        index,
        needles: &needles,
        cwd_scores: &[],
        ranks: &ranks,
        no_cwd_rank: workspace_rank(query.target_cwd.as_deref(), None),
        excluded_row,
        limit: query.limit,
        cancel,
    };
    let found = if needles.is_empty() {
        span.first_rows()?
    } else {
        let cwd_scores = score_cwds(index, &needles, cancel)?;
        let span = Span {
            cwd_scores: &cwd_scores,
            ..span
        };
        let narrowed = previous
            .filter(|learnt| learnt.exclude == query.exclude && needles.extend(&learnt.needles))
            .and_then(|learnt| learnt.rows.as_deref());
        search_spans(&span, narrowed)?
    };
    let total = index.len() - usize::from(excluded_row.is_some());
    Some(Hits {
        matched: found.rows.as_ref().map_or(total, Vec::len),
        total,
        rows: found.top.into_hits(query.limit),
        state: SearchState(Arc::new(Learnt {
            index: Arc::downgrade(index),
            needles,
            exclude: query.exclude.clone(),
            excluded_row,
            rows: found.rows,
        })),
    })
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
    let haystack = haystack(index.display(row), row.is_ascii(), &mut buffer);
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
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let mut buffer = Vec::new();
        let mut scores = vec![Vec::with_capacity(to - from); needles.len()];
        for (at, (cwd, letters)) in cwds.get(from..to).unwrap_or_default().iter().enumerate() {
            if at % STRIDE as usize == 0 && cancel.is_cancelled() {
                return None;
            }
            for (needle, scores) in needles.iter().zip(&mut scores) {
                let score = needle
                    .may_match(*letters)
                    .then(|| needle.score(haystack(cwd, cwd.is_ascii(), &mut buffer), &mut matcher))
                    .flatten();
                // A match is worth something, however poor.
                scores.push(score.map_or(0, |score| (score / 2).max(1)));
            }
        }
        Some(scores)
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
