//! Why the full text can't be searched or written.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::ErrorCode;
use thiserror::Error;

use crate::reference::Cause;

/// In bytes.
const MB: u64 = 1_000_000;

/// Why the full text index can't be used. Nothing else depends on it.
#[derive(Clone, Debug, Error)]
pub enum TextsError {
    /// Another process holds the database for longer than one waits.
    #[error("the search index {place} is in use by another program; try again in a moment")]
    Locked {
        /// The database.
        place: Place,
    },
    /// It is no database, or a broken one.
    #[error("the search index {place} is damaged ({cause}); `ibid reindex` makes it anew")]
    Damaged {
        /// The database.
        place: Place,
        /// What was found.
        cause: Cause,
    },
    /// A newer program made its tables.
    #[error(
        "the search index {place} belongs to a newer version of ibid (its tables are of \
         version {found}, this one knows {known}); search with that one, or let `ibid reindex` \
         make it anew for this one"
    )]
    Newer {
        /// The database.
        place: Place,
        /// The version found.
        found: i64,
        /// The version that this program makes.
        known: i64,
    },
    /// Filling it on would take the room that drafts and messages need.
    #[error(
        "the search index {place} is not filled on: its disk has {} MB free, and {} MB are \
         left for what you write; make room, and it goes on",
        free / MB,
        reserve.div_ceil(MB)
    )]
    NoRoom {
        /// The database.
        place: Place,
        /// How much room there is, in bytes.
        free: u64,
        /// How much room is left alone, in bytes.
        reserve: u64,
    },
    /// It can't be opened, read or written.
    #[error(
        "the search index {place} can't be used: {cause}; see to the rights of that file and \
         to room on its disk"
    )]
    Unusable {
        /// The database.
        place: Place,
        /// Why.
        cause: Cause,
    },
}

impl TextsError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Locked { .. } => "SEARCH_LOCKED",
            Self::Damaged { .. } => "SEARCH_DAMAGED",
            Self::Newer { .. } => "SEARCH_NEWER",
            Self::NoRoom { .. } => "SEARCH_NO_ROOM",
            Self::Unusable { .. } => "SEARCH_UNUSABLE",
        }
    }

    pub(super) fn new(place: &Place, error: rusqlite::Error) -> Self {
        let place = place.clone();
        let code = match &error {
            // All questions are this program's own: the tables are not as they
            // were made.
            rusqlite::Error::SqlInputError { .. } => Some(ErrorCode::DatabaseCorrupt),
            error => error.sqlite_error_code(),
        };
        match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { place },
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::Unknown) => {
                Self::Damaged {
                    place,
                    cause: Arc::new(error),
                }
            }
            _ => Self::Unusable {
                place,
                cause: Arc::new(error),
            },
        }
    }
}

/// Where an index is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(pub(super) Option<PathBuf>);

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(path) => path.display().fmt(f),
            None => f.write_str("in memory"),
        }
    }
}
