//! What is reported of a damaged log.

use thiserror::Error;

use crate::reference::projection::Damage;
use crate::session::{Seq, SurfaceError, title};

/// How many problems of one log are told one by one.
pub const MAX_NOTICES: usize = 1_000;

/// The longest explanation of a parser that is passed on, in bytes.
const MAX_DETAIL_BYTES: usize = 200;

/// A line that could not be read as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line} (byte {offset}): {problem}")]
pub struct LogNotice {
    /// The line, counted from 1; the header is the first.
    pub line: u64,
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// How long it is, its line feed included, in bytes.
    pub bytes: u64,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What a person who cites a log is told of its notices; `None` when there are
/// none.
#[must_use]
pub fn damage(notices: &[LogNotice]) -> Option<Damage> {
    let count = |notice: &LogNotice| match notice.problem {
        Problem::More(more) => more,
        _ => 1,
    };
    notices.first().map(|first| Damage {
        problems: notices.iter().map(count).sum(),
        first: first.to_string(),
    })
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Problem {
    /// The last line is not there to its end: writing it was interrupted.
    #[error("the last line is torn, and left out; everything before it is there")]
    TornTail,
    /// The last events were written together, and not all of them are there.
    #[error("the last events are not all there, and left out; everything before them is there")]
    TornBatch,
    /// No JSON.
    #[error("damaged, and left out: {0}")]
    NotJson(String),
    /// JSON, and no event.
    #[error("not an event, and left out: {0}")]
    NotAnEvent(String),
    /// The events before this one are missing.
    #[error("events {expected} to {} are missing before it", .found.0.saturating_sub(1))]
    Gap {
        /// The seq that belongs here.
        expected: Seq,
        /// The seq that stands here.
        found: Seq,
    },
    /// The seq does not fit those around it.
    #[error("event {found} stands where event {expected} belongs, and is left out")]
    Misplaced {
        /// The seq that belongs here.
        expected: Seq,
        /// The seq that stands here.
        found: Seq,
    },
    /// The event breaks a rule of the log, perhaps for want of a lost one.
    #[error("left out: {0}")]
    Rule(SurfaceError),
    /// The problems behind the first [`MAX_NOTICES`].
    #[error("and {0} more problems from here on")]
    More(usize),
}

impl Problem {
    /// Why a line is no event. What a parser says can quote the line, so it is
    /// cleaned.
    pub(super) fn of_line(line: &[u8], error: &serde_json::Error) -> Self {
        let detail = title::normalise(&error.to_string(), MAX_DETAIL_BYTES);
        // Asked of the line's form alone: a value out of range is no damage.
        match serde_json::from_slice::<serde::de::IgnoredAny>(line) {
            Ok(_) => Self::NotAnEvent(detail),
            Err(_) => Self::NotJson(detail),
        }
    }
}

/// The notices of one log, up to [`MAX_NOTICES`].
#[derive(Default)]
pub(super) struct Notices {
    first: Vec<LogNotice>,
    more: Option<LogNotice>,
}

/// Where a line stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

impl Notices {
    pub(super) fn add(&mut self, place: Place, problem: Problem) {
        let notice = LogNotice {
            line: place.line,
            offset: place.offset,
            bytes: place.bytes,
            problem,
        };
        if self.first.len() < MAX_NOTICES {
            self.first.push(notice);
            return;
        }
        let more = self.more.get_or_insert(LogNotice {
            problem: Problem::More(0),
            ..notice
        });
        if let Problem::More(count) = &mut more.problem {
            *count += 1;
        }
    }

    /// From the top down. A gap is known only one event later, so they can
    /// come out of order.
    pub(super) fn finish(self) -> Vec<LogNotice> {
        let mut notices = self.first;
        notices.sort_by_key(|notice| notice.offset);
        notices.extend(self.more);
        notices
    }
}
