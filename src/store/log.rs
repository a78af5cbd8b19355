//! Reading a log: the whole session, what of it can be cited, or its header.
//!
//! Reading is lenient and never writes. What can't be read is reported with
//! its line and byte and left out, and what follows is read as far as the
//! rules of the log hold without it.

mod brief;
mod fold;
mod header;
mod notice;
mod scan;
mod skim;
mod whole;

use std::io::BufReader;
use std::path::Path;

use super::{StoreError, files};
use crate::reference::projection::{Capture, Said};
use crate::session::{Header, Session, Title};
use brief::Brief;
use fold::Fold;
pub(super) use header::encode as encode_header;
pub use header::{MAX_HEADER_BYTES, read_header};
pub use notice::{LogNotice, MAX_NOTICES, Problem, damage};

/// A log, read whole.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// All that could be read.
    pub session: Session,
    /// What could not be read, from the top down.
    pub notices: Vec<LogNotice>,
    /// Where a writer goes on, in bytes from the start: behind the last whole
    /// line, so that a torn one is cut off.
    pub valid_len: u64,
}

/// What citing needs of a log.
#[derive(Clone, Debug)]
pub struct CapturedLog {
    /// The citable conversation, with what is damaged in short.
    pub capture: Capture,
    /// The latest title.
    pub title: Option<Title>,
    /// What could not be read, from the top down.
    pub notices: Vec<LogNotice>,
}

/// Reads a session whole.
///
/// # Errors
/// `SESSION_FOREIGN_FILE`, `SESSION_UNFINISHED`, `SESSION_FORMAT_TOO_NEW`, or
/// a failure of the disk. Damage behind the header is a notice.
pub fn read_session(path: &Path) -> Result<Recovered, StoreError> {
    let read = read(path, |header| Session::new(header.clone()))?;
    Ok(Recovered {
        session: read.fold,
        notices: read.notices,
        valid_len: read.valid_len,
    })
}

/// Reads what can be cited of a session: the same conversation and title as of
/// [`read_session`], in one pass that keeps no log-only event.
///
/// The inside of a log-only line is looked at only where the outcome can
/// depend on it, so damage there may go without a notice.
///
/// # Errors
/// As [`read_session`].
pub fn read_capture(path: &Path) -> Result<CapturedLog, StoreError> {
    let read = read(path, |_| Brief::default())?;
    let (captured_through, conversation, title) = read.fold.into_parts();
    Ok(CapturedLog {
        capture: Capture {
            header: read.header,
            captured_through,
            conversation,
            damage: damage(&read.notices),
        },
        title,
        notices: read.notices,
    })
}

/// Reads all that a person or a model said in a session, whether or not it can
/// still be cited, in the order of the log. Answers that did not come to their end
/// are no part of it.
///
/// # Errors
/// As [`read_session`].
pub fn read_said(path: &Path) -> Result<Vec<Said>, StoreError> {
    let read = read(path, |_| Brief::keeping_all())?;
    Ok(read.fold.into_said())
}

struct Read<F> {
    header: Header,
    fold: F,
    notices: Vec<LogNotice>,
    valid_len: u64,
}

fn read<F: Fold>(path: &Path, start: impl FnOnce(&Header) -> F) -> Result<Read<F>, StoreError> {
    let file = files::open_regular(path)?;
    let failed = |cause| StoreError::io("read", path, cause);
    // What is added meanwhile is no part of this observation.
    let size = file.metadata().map_err(failed)?.len();
    let mut lines = BufReader::new(std::io::Read::take(file, size));
    let (header, header_len) = header::read(path, &mut lines)?;
    let file = lines.into_inner().into_inner();
    let scanned = scan::scan(&file, header_len, size, start(&header)).map_err(failed)?;
    Ok(Read {
        header,
        fold: scanned.fold,
        notices: scanned.notices,
        valid_len: scanned.valid_len,
    })
}

#[cfg(test)]
mod tests;
