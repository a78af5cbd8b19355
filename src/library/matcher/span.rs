//! The search of one span of rows.

use std::cmp::Reverse;

use nucleo::Config;
use tokio_util::sync::CancellationToken;

use super::STRIDE;
use super::needle::{Needle, Needles, haystack};
use super::scorer::Scorer;
use super::top::{Bound, Top};
use crate::library::index::{Form, Index, Row};
use crate::library::query::{Filter, TimeSpan};

/// All that the search of a span needs to know.
#[derive(Clone, Copy)]
pub(super) struct Span<'a> {
    pub(super) index: &'a Index,
    pub(super) needles: &'a Needles,
    /// How many of the first needles all rows are known to match.
    pub(super) known: usize,
    /// The score of each directory under each word, 0 for none; empty where
    /// no directory has one.
    pub(super) cwd_scores: &'a [Vec<u32>],
    /// Where each directory stands beside the target's; `None` where the
    /// filter does not admit it.
    pub(super) ranks: &'a [Option<u8>],
    pub(super) no_cwd_rank: Option<u8>,
    pub(super) filter: &'a Filter,
    /// That of the filter.
    pub(super) time: TimeSpan,
    pub(super) excluded_row: Option<u32>,
    pub(super) limit: usize,
    /// Shared by all spans of a search.
    pub(super) bound: &'a Bound,
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
        self.top.join(next.top, limit);
        self
    }
}

impl Span<'_> {
    /// Looks for matches among these rows; `None` when cancelled.
    pub(super) fn search(&self, rows: impl Iterator<Item = u32>) -> Option<Found> {
        Scorer::with(Config::DEFAULT, |scorer| self.search_with(scorer, rows))
    }

    fn search_with(&self, scorer: &mut Scorer, rows: impl Iterator<Item = u32>) -> Option<Found> {
        let mut found = Vec::new();
        let mut top = Top::default();
        for (row, step) in rows.zip((0..STRIDE).cycle()) {
            if step == 0 {
                if self.cancel.is_cancelled() {
                    return None;
                }
                top.share(self.bound);
            }
            let Some((letters, at)) = self.candidate(row) else {
                continue;
            };
            let Some(rank) = self.admit(row, at) else {
                continue;
            };
            // Rows are last used first already.
            let key = |score| (Reverse(score), rank, row);
            if top.takes(key(self.best(row, letters, at))) {
                let Some(score) = self.score(letters, at, scorer) else {
                    continue;
                };
                top.push(key(score), self.limit);
            } else if !self.matches(letters, at, scorer) {
                continue;
            }
            found.push(row);
        }
        Some(Found {
            rows: Some(found),
            top,
        })
    }

    /// The first rows of the list with neither query nor filter; `None` when
    /// cancelled.
    pub(super) fn first_rows(&self) -> Option<Found> {
        let mut by_rank: [Vec<u32>; 3] = Default::default();
        for (row, step) in (0..self.index.row_count()).zip((0..STRIDE).cycle()) {
            if step == 0 && self.cancel.is_cancelled() {
                return None;
            }
            if let Some(at) = self.index.row(row)
                && let Some(rank) = self.admit(row, at)
                && let Some(rows) = by_rank.get_mut(usize::from(rank))
                && rows.len() < self.limit
            {
                rows.push(row);
            }
            if by_rank.first().is_some_and(|own| own.len() >= self.limit) {
                break;
            }
        }
        let keys = (0..)
            .zip(by_rank)
            .flat_map(|(rank, rows)| rows.into_iter().map(move |row| (Reverse(0), rank, row)));
        Some(Found {
            rows: None,
            top: Top::of(keys),
        })
    }

    /// The row, unless its letters tell that it does not match. Most rows
    /// fail here, before anything else of them is looked at.
    fn candidate(&self, row: u32) -> Option<(u64, &Row)> {
        let letters = *self.index.title_letters().get(row as usize)?;
        let is_hopeless = !self.needles.look_like_id()
            && self
                .words()
                .any(|(word, cwds)| cwds.is_empty() && !word.may_match(letters));
        if is_hopeless {
            return None;
        }
        Some((letters, self.index.row(row)?))
    }

    /// Where the row stands beside the target; `None` when it is no answer.
    fn admit(&self, row: u32, at: &Row) -> Option<u8> {
        let cwd_rank = self.ranks.get(at.cwd()).copied();
        let rank = cwd_rank.unwrap_or(self.no_cwd_rank)?;
        let admits = self.excluded_row != Some(row)
            && self.filter.admits_tool(at.tool())
            && self.time.has(at.updated_at());
        admits.then_some(rank)
    }

    /// The words, each with the scores of the directories under it.
    fn words(&self) -> impl Iterator<Item = (&Needle, &[u32])> {
        let scores = self.cwd_scores.iter().map(Vec::as_slice);
        self.needles.iter().zip(scores)
    }

    /// A score that the row cannot exceed.
    fn best(&self, row: u32, letters: u64, at: &Row) -> u32 {
        let shape = self.index.title_shape(row).copied().unwrap_or_default();
        let by_words = self.words().fold(0u32, |sum, (word, cwds)| {
            let by_title = if word.may_match(letters) {
                word.best(&shape)
            } else {
                0
            };
            sum.saturating_add(by_title.max(by_cwd(cwds, at)))
        });
        by_words.max(self.needles.best_id())
    }

    /// Whether the row matches: the same as whether it has a score.
    fn matches(&self, letters: u64, at: &Row, scorer: &mut Scorer) -> bool {
        if at.form() != Form::Ascii || self.needles.look_like_id() {
            return self.score(letters, at, scorer).is_some();
        }
        let title = || self.index.display(at).as_bytes();
        self.words().skip(self.known).all(|(word, cwds)| {
            by_cwd(cwds, at) > 0 || (word.may_match(letters) && word.is_in_ascii(title))
        })
    }

    /// How well the row matches, by its words or its id.
    fn score(&self, letters: u64, at: &Row, scorer: &mut Scorer) -> Option<u32> {
        let by_words = self.score_words(letters, at, scorer);
        if !self.needles.look_like_id() {
            return by_words;
        }
        by_words.max(self.needles.score_id(self.index.id(at)))
    }

    /// The sum over all words of the better of title and directory; `None`
    /// when one matches neither.
    fn score_words(&self, letters: u64, at: &Row, scorer: &mut Scorer) -> Option<u32> {
        let is_hopeless =
            |(word, cwds): (&Needle, &[u32])| !word.may_match(letters) && by_cwd(cwds, at) == 0;
        if self.words().any(is_hopeless) {
            return None;
        }
        let Scorer { matcher, buffer } = scorer;
        let title = haystack(self.index.display(at), at.form(), buffer);
        let mut sum = 0u32;
        for (word, cwds) in self.words() {
            let by_title = word
                .may_match(letters)
                .then(|| word.score(title, matcher))
                .flatten();
            let best = by_title.unwrap_or(0).max(by_cwd(cwds, at));
            if best == 0 {
                return None;
            }
            sum = sum.saturating_add(best);
        }
        Some(sum)
    }
}

/// The score of the row's directory.
fn by_cwd(scores: &[u32], at: &Row) -> u32 {
    scores.get(at.cwd()).copied().unwrap_or(0)
}
