//! What goes wrong with stored sessions and their cache.

use std::collections::BTreeMap;
use std::path::PathBuf;

use thiserror::Error;

use crate::figures::thousands;
use crate::reference::Cause;
use crate::session::{Millis, SessionId};
use crate::tool::Tool;

/// How many notices of one kind are told one by one.
const MOST_OF_A_KIND: usize = 100;

/// Why a session can't be read.
#[derive(Clone, Debug, Error)]
pub enum LibraryError {
    /// No session has this id.
    #[error("there is no session {id:?}; `ibid sessions list` shows those there are")]
    NotFound {
        /// The id asked for.
        id: SessionId,
    },
    /// There was one of this id, and it is gone.
    #[error(
        "the session {id:?} ({title:?} of {tool}) is gone: it was last seen {} in {file}; \
         what was cited of it before stands in the sessions that cite it", day(*last_seen)
    )]
    Gone {
        /// The id asked for.
        id: SessionId,
        /// What it was called.
        title: String,
        /// The tool that wrote it.
        tool: Tool,
        /// When a listing found it for the last time.
        last_seen: Millis,
        /// Where it was.
        file: String,
    },
    /// A log that belongs to another session than its name says.
    #[error(
        "the log {file:?} says that it is session {found:?}, not {id:?}: \
         it was renamed or copied by hand; give it back its own name"
    )]
    Renamed {
        /// The log's file name.
        file: String,
        /// The id asked for.
        id: SessionId,
        /// The id in the log's header.
        found: SessionId,
    },
}

impl LibraryError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "SESSION_NOT_FOUND",
            Self::Gone { .. } => "SESSION_GONE",
            Self::Renamed { .. } => "SESSION_RENAMED",
        }
    }
}

/// A moment as people say it, to the minute, in universal time.
fn day(at: Millis) -> String {
    jiff::Timestamp::from_millisecond(at.0).map_or_else(
        |_| "long ago".to_owned(),
        |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    )
}

/// Something a person may want to know that stopped nothing.
#[derive(Clone, Debug, Error)]
pub enum Notice {
    /// The cache can't be used in this run.
    #[error("the session cache {} is not used this time: {reason}", path.display())]
    CacheSetAside {
        /// The cache.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The cache was made anew.
    #[error("the session cache {} was made anew: {reason}", path.display())]
    CacheRebuilt {
        /// The cache.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Another program holds the cache for longer than one waits. Memory
    /// stands in for it.
    #[error(
        "another program holds the session cache {}: what is found is kept in memory, and \
         written as soon as it is free", path.display()
    )]
    CacheHeld {
        /// The cache.
        path: PathBuf,
    },
    /// The cache that another program held is used again.
    #[error(
        "the session cache {} is free again: what was found meanwhile is written", path.display()
    )]
    CacheFree {
        /// The cache.
        path: PathBuf,
    },
    /// Something could not be written to the cache; the logs will be read
    /// again next time.
    #[error("the session cache could not be updated, so the next start is slower: {cause}")]
    CacheNotWritten {
        /// Why.
        cause: Cause,
    },
    /// A file or folder of a tool that can't be looked at.
    #[error("a place of {tool} can't be looked at, {}: {cause}", path.display())]
    Obstacle {
        /// The tool.
        tool: Tool,
        /// Where.
        path: PathBuf,
        /// Why.
        cause: Cause,
    },
    /// The sessions of a tool can't be listed; those known before stay.
    #[error("the sessions of {tool} can't be listed: {cause}")]
    NotListed {
        /// The tool.
        tool: Tool,
        /// Why.
        cause: Cause,
    },
    /// More than are told one by one.
    #[error("there are {} more like these ({of})", thousands(*.count as u64))]
    More {
        /// The code of what there are more of.
        of: &'static str,
        /// How many.
        count: usize,
    },
    /// A log that can't be read. Its session is listed by its id.
    #[error("the log {file:?} can't be read: {cause}")]
    Unreadable {
        /// The log's file name.
        file: String,
        /// Why.
        cause: Cause,
    },
}

impl Notice {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::CacheSetAside { .. } => "CACHE_SET_ASIDE",
            Self::CacheRebuilt { .. } => "CACHE_REBUILT",
            Self::CacheHeld { .. } => "CACHE_HELD",
            Self::CacheFree { .. } => "CACHE_FREE",
            Self::CacheNotWritten { .. } => "CACHE_NOT_WRITTEN",
            Self::Obstacle { .. } => "SOURCE_OBSTACLE",
            Self::NotListed { .. } => "SOURCE_NOT_LISTED",
            Self::Unreadable { .. } => "SESSION_UNREADABLE",
            Self::More { of, .. } => of,
        }
    }

    /// How many things it tells of.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::More { count, .. } => *count,
            _ => 1,
        }
    }

    /// Whether it tells of something that stays so, and is told again the next
    /// time; else it tells what happened just now.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        !matches!(
            self,
            Self::CacheRebuilt { .. }
                | Self::CacheHeld { .. }
                | Self::CacheFree { .. }
                | Self::CacheNotWritten { .. }
        )
    }
}

/// Notices of which those of one kind are told up to a number; of the others is
/// told how many they are.
pub(super) fn bounded(notices: Vec<Notice>) -> Vec<Notice> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut told = Vec::with_capacity(notices.len().min(MOST_OF_A_KIND));
    for notice in notices {
        let count = counts.entry(notice.code()).or_default();
        *count += notice.count();
        if *count <= MOST_OF_A_KIND {
            told.push(notice);
        }
    }
    let more = counts.into_iter().filter_map(|(of, count)| {
        let count = count.checked_sub(MOST_OF_A_KIND).filter(|more| *more > 0)?;
        Some(Notice::More { of, count })
    });
    told.extend(more);
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn obstacle() -> Notice {
        Notice::Obstacle {
            tool: Tool::Codex,
            path: PathBuf::from("/x"),
            cause: std::sync::Arc::new(std::io::Error::other("no")),
        }
    }

    #[test]
    fn very_many_notices_of_a_kind_are_counted_and_no_other_one_is_lost() {
        let mut many: Vec<Notice> = (0..100_000).map(|_| obstacle()).collect();
        many.push(Notice::CacheRebuilt {
            path: PathBuf::from("/y"),
            reason: "it was old".to_owned(),
        });
        let told = bounded(many);
        assert_eq!(told.len(), MOST_OF_A_KIND + 2);
        assert_eq!(told.iter().map(Notice::count).sum::<usize>(), 100_001);
        let last = told.last().unwrap().to_string();
        assert_eq!(last, "there are 99,900 more like these (SOURCE_OBSTACLE)");
        assert_eq!(bounded(told).len(), MOST_OF_A_KIND + 2, "once more");
    }
}
