//! Tells whether a folder is as it was, without remembering all of it.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::files::{LogFile, Stamp};
use crate::tool::Tool;

/// Stands for a set of logs and their states, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Digest {
    count: u64,
    sum: u64,
}

impl Digest {
    pub(super) fn of<'a>(files: impl IntoIterator<Item = &'a LogFile>) -> Self {
        let mut digest = Self::default();
        for log in files {
            digest.add(log.tool, &log.file, log.stamp);
        }
        digest
    }

    pub(super) fn add(&mut self, tool: Tool, file: &str, stamp: Stamp) {
        let mut hasher = DefaultHasher::new();
        (tool, file, stamp).hash(&mut hasher);
        self.count += 1;
        self.sum = self.sum.wrapping_add(hasher.finish());
    }
}
