//! The best rows found so far.

use std::cmp::Reverse;
use std::sync::Mutex;

use super::Hit;
use crate::threads::lock;

/// Smaller is better: quality, directory, activity, place in the list.
pub(super) type Key = (Reverse<u32>, u8, u32);

/// The best rows so far, in no order, with some more among them.
#[derive(Default)]
pub(super) struct Top {
    keys: Vec<Key>,
    /// The best that a cut dropped: anything behind it is no use.
    bound: Option<Key>,
}

/// The best that any span of a search dropped. There are enough better rows in
/// that span alone, so it bounds the others too.
#[derive(Default)]
pub(super) struct Bound(Mutex<Option<Key>>);

impl Top {
    /// These rows, which are few.
    pub(super) fn of(keys: impl Iterator<Item = Key>) -> Self {
        Self {
            keys: keys.collect(),
            bound: None,
        }
    }

    /// Whether a row with this key may be among the best.
    pub(super) fn takes(&self, key: Key) -> bool {
        self.bound.is_none_or(|bound| key <= bound)
    }

    pub(super) fn push(&mut self, key: Key, limit: usize) {
        if !self.takes(key) {
            return;
        }
        // Cutting back now and then keeps this short at a constant cost a row.
        if self.keys.len() >= limit.saturating_mul(2).max(256) {
            self.cut(limit);
        }
        self.keys.push(key);
    }

    pub(super) fn join(&mut self, other: Self, limit: usize) {
        for key in other.keys {
            self.push(key, limit);
        }
    }

    /// Learns what the other spans know, and tells them.
    pub(super) fn share(&mut self, bound: &Bound) {
        let mut shared = lock(&bound.0);
        let best = self.bound.into_iter().chain(*shared).min();
        self.bound = best;
        *shared = best;
    }

    fn cut(&mut self, limit: usize) {
        if limit < self.keys.len() {
            let (_, bound, _) = self.keys.select_nth_unstable(limit);
            self.bound = self.bound.into_iter().chain([*bound]).min();
            self.keys.truncate(limit);
        }
    }

    pub(super) fn into_hits(mut self, limit: usize) -> Vec<Hit> {
        self.cut(limit);
        self.keys.sort_unstable();
        self.keys
            .into_iter()
            .map(|(Reverse(score), _, row)| Hit { row, score })
            .collect()
    }
}
