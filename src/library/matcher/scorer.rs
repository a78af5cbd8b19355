//! The matcher of each thread.

use std::cell::Cell;

use nucleo::{Config, Matcher};

/// A matcher and room to decode texts in.
pub(super) struct Scorer {
    pub(super) matcher: Matcher,
    pub(super) buffer: Vec<char>,
}

thread_local! {
    /// To make a matcher takes longer than to look through a short span.
    static KEPT: Cell<Option<Scorer>> = const { Cell::new(None) };
}

impl Scorer {
    /// Works with this thread's scorer.
    pub(super) fn with<T>(config: Config, work: impl FnOnce(&mut Self) -> T) -> T {
        let mut scorer = KEPT.take().unwrap_or_else(|| Self {
            matcher: Matcher::new(Config::DEFAULT),
            buffer: Vec::new(),
        });
        scorer.matcher.config = config;
        let result = work(&mut scorer);
        KEPT.set(Some(scorer));
        result
    }
}
