//! The search of one span of rows, and the best rows found so far.

use std::cmp::Reverse;

use nucleo::{Config, Matcher};
use tokio_util::sync::CancellationToken;

use super::needle::{Needles, haystack};
use super::{Hit, STRIDE};
use crate::library::index::{Index, Row};
use crate::session::Millis;

/// All that the search of a span needs to know.
#[derive(Clone, Copy)]
pub(super) struct Span<'a> {
    pub(super) index: &'a Index,
    pub(super) needles: &'a Needles,
    /// The score of each directory under each word, 0 for none; empty where
    /// no directory has one.
    pub(super) cwd_scores: &'a [Vec<u32>],
    /// Where each directory stands beside the target's.
    pub(super) ranks: &'a [u8],
    pub(super) no_cwd_rank: u8,
    pub(super) excluded_row: Option<u32>,
    pub(super) limit: usize,
    pub(super) cancel: &'a CancellationToken,
}

/// What a span held.
pub(super) struct Found {
    /// Every row that matched, in order; `None` when all did.
    pub(super) rows: Option<Vec<u32>>,
    pub(super) top: Top,
}

impl Found {
    /// No row at all.
    pub(super) fn nothing() -> Self {
        Self {
            rows: Some(Vec::new()),
            top: Top::default(),
        }
    }

    /// This span and the one behind it.
    pub(super) fn join(mut self, next: Self, limit: usize) -> Self {
        self.rows = self.rows.zip(next.rows).map(|(mut rows, more)| {
            rows.extend(more);
            rows
        });
        for key in next.top.keys {
            self.top.push(key, limit);
        }
        self
    }
}

/// Smaller is better: quality, directory, activity, place in the list.
type Key = (Reverse<u32>, u8, Reverse<Millis>, u32);

/// The best rows so far, in no order, with some more among them.
#[derive(Default)]
pub(super) struct Top {
    keys: Vec<Key>,
    /// The best that the last cut dropped: anything behind it is no use.
    bound: Option<Key>,
}

impl Top {
    fn push(&mut self, key: Key, limit: usize) {
        if self.bound.is_some_and(|bound| key > bound) {
            return;
        }
        // Cutting back now and then keeps this short at a constant cost a row.
        if self.keys.len() >= limit.saturating_mul(4).max(256) {
            self.cut(limit);
        }
        self.keys.push(key);
    }

    fn cut(&mut self, limit: usize) {
        if limit < self.keys.len() {
            let (_, bound, _) = self.keys.select_nth_unstable(limit);
            self.bound = Some(*bound);
            self.keys.truncate(limit);
        }
    }

    pub(super) fn into_hits(mut self, limit: usize) -> Vec<Hit> {
        self.cut(limit);
        self.keys.sort_unstable();
        self.keys
            .into_iter()
            .map(|(Reverse(score), _, _, row)| Hit { row, score })
            .collect()
    }
}

impl Span<'_> {
    /// Scores these rows; `None` when cancelled.
    pub(super) fn search(&self, rows: impl Iterator<Item = u32>) -> Option<Found> {
        let mut matcher = Matcher::new(Config::DEFAULT);
        let mut buffer = Vec::new();
        let mut found = Vec::new();
        let mut top = Top::default();
        for (row, step) in rows.zip((0..STRIDE).cycle()) {
            if step == 0 && self.cancel.is_cancelled() {
                return None;
            }
            let Some((score, at)) = self.score(row, &mut matcher, &mut buffer) else {
                continue;
            };
            if self.excluded_row == Some(row) {
                continue;
            }
            found.push(row);
            let key = (Reverse(score), self.rank(at), Reverse(at.updated_at()), row);
            top.push(key, self.limit);
        }
        Some(Found {
            rows: Some(found),
            top,
        })
    }

    /// The first rows of the list without a query; `None` when cancelled.
    pub(super) fn first_rows(&self) -> Option<Found> {
        let mut by_rank: [Vec<u32>; 3] = Default::default();
        for (row, step) in (0..self.index.row_count()).zip((0..STRIDE).cycle()) {
            if step == 0 && self.cancel.is_cancelled() {
                return None;
            }
            if self.excluded_row == Some(row) {
                continue;
            }
            if let Some(at) = self.index.row(row)
                && let Some(rows) = by_rank.get_mut(usize::from(self.rank(at)))
                && rows.len() < self.limit
            {
                rows.push(row);
            }
            if by_rank.first().is_some_and(|own| own.len() >= self.limit) {
                break;
            }
        }
        // Rows are newest first already: activity must not reorder them.
        let keys = (0..).zip(by_rank).flat_map(|(rank, rows)| {
            rows.into_iter()
                .map(move |row| (Reverse(0), rank, Reverse(Millis(0)), row))
        });
        Some(Found {
            rows: None,
            top: Top {
                keys: keys.collect(),
                bound: None,
            },
        })
    }

    fn rank(&self, row: &Row) -> u8 {
        self.ranks
            .get(row.cwd())
            .copied()
            .unwrap_or(self.no_cwd_rank)
    }

    fn score(
        &self,
        row: u32,
        matcher: &mut Matcher,
        buffer: &mut Vec<char>,
    ) -> Option<(u32, &Row)> {
        let letters = *self.index.title_letters().get(row as usize)?;
        let words = || self.needles.iter().zip(self.cwd_scores);
        // Most rows fail here, before anything else of them is looked at.
        let is_hopeless =
            words().any(|(word, scores)| scores.is_empty() && !word.may_match(letters));
        if self.needles.look_like_id() {
            let at = self.index.row(row)?;
            let by_words = (!is_hopeless).then(|| self.score_words(letters, at, matcher, buffer));
            let by_id = self.needles.score_id(self.index.id(at));
            return Some((by_words.flatten().max(by_id)?, at));
        }
        if is_hopeless {
            return None;
        }
        let at = self.index.row(row)?;
        Some((self.score_words(letters, at, matcher, buffer)?, at))
    }

    /// The sum over all words of the better of title and directory; `None`
    /// when one matches neither.
    fn score_words(
        &self,
        letters: u64,
        row: &Row,
        matcher: &mut Matcher,
        buffer: &mut Vec<char>,
    ) -> Option<u32> {
        let words = || self.needles.iter().zip(self.cwd_scores);
        let by_cwd = |scores: &[u32]| scores.get(row.cwd()).copied().unwrap_or(0);
        if words().any(|(word, scores)| !word.may_match(letters) && by_cwd(scores) == 0) {
            return None;
        }
        let title = haystack(self.index.display(row), row.is_ascii(), buffer);
        let mut sum = 0u32;
        for (word, scores) in words() {
            let by_title = word
                .may_match(letters)
                .then(|| word.score(title, matcher))
                .flatten();
            let best = by_title.unwrap_or(0).max(by_cwd(scores));
            if best == 0 {
                return None;
            }
            sum = sum.saturating_add(best);
        }
        Some(sum)
    }
}
