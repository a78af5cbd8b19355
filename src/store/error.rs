//! What can go wrong on disk, with stable codes.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::session::{FORMAT_VERSION, SessionId, SurfaceError};

/// Why the store could not do what it was asked. What was stored before still
/// is.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The platform has no place for a program's data.
    #[error(
        "no folder for sessions: this system names no home directory; set IBID_HOME to a folder"
    )]
    NoHome,
    /// A file stands where a folder belongs.
    #[error("{path:?} is a file, and a folder belongs there; move it, or set IBID_HOME elsewhere")]
    NotADirectory {
        /// The file.
        path: PathBuf,
    },
    /// No permission, or a read-only disk.
    #[error(
        "can't {action} {path:?}: {cause}; check its permissions, or set IBID_HOME to a folder that can be written"
    )]
    Denied {
        /// What was tried, such as `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The disk or a quota is full.
    #[error(
        "no room to write {path:?}: {cause}; nothing of it was kept; free some space and try again"
    )]
    Full {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// Any other failure of the disk.
    #[error("can't {action} {path:?}: {cause}")]
    Io {
        /// What was tried, such as `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// No session of that id.
    #[error("there is no session {id:?} (no {path:?}); `ibid sessions list` shows those there are")]
    UnknownSession {
        /// The id asked for.
        id: SessionId,
        /// Where it would be.
        path: PathBuf,
    },
    /// A session of that id is there already.
    #[error("session {id:?} is there already ({path:?}); open it, or choose another id")]
    SessionExists {
        /// The id.
        id: SessionId,
        /// Its log.
        path: PathBuf,
    },
    /// Another writer has the session.
    #[error(
        "session {id:?} is open elsewhere; close it there to continue it here, it can be read meanwhile"
    )]
    OpenElsewhere {
        /// The session.
        id: SessionId,
    },
    /// The file is no log of ours.
    #[error(
        "{path:?} is no ibid session: {found}; its first line should be {{\"type\":\"session\",\"version\":{FORMAT_VERSION},\"id\":…,\"createdAt\":…}}"
    )]
    NotASession {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        found: String,
    },
    /// The creation of the session was stopped half-way: nothing is in it.
    #[error("{path:?} holds nothing: the program was stopped while it began this session")]
    Unfinished {
        /// The file.
        path: PathBuf,
    },
    /// The log is of a newer program.
    #[error(
        "{path:?} has format version {version}, and this ibid reads up to {FORMAT_VERSION}; update ibid to open it"
    )]
    FormatTooNew {
        /// The file.
        path: PathBuf,
        /// The version in its header.
        version: u64,
    },
    /// The header names another session than the file's name does.
    #[error(
        "{path:?} holds session {found:?}, not {expected:?}; give the file its own session's name back"
    )]
    WrongId {
        /// The file.
        path: PathBuf,
        /// The id asked for.
        expected: SessionId,
        /// The id in its header.
        found: SessionId,
    },
    /// Something else wrote to, cut or removed the log of an open session.
    #[error("{path:?} was changed or removed by another program; open the session again")]
    ChangedOutside {
        /// The log.
        path: PathBuf,
    },
    /// The event breaks a rule of the log.
    #[error("the event was not stored: {0}")]
    Refused(#[from] SurfaceError),
    /// The event or header can't be written so that it reads back as it is.
    #[error("not stored, because it would not read back as it is: {problem}")]
    NotStorable {
        /// What is wrong with it.
        problem: String,
    },
    /// No spill file of that name.
    #[error("there is no saved text {locator:?}; copy the locator whole, as in spill:0123…")]
    UnknownSpill {
        /// What was asked for.
        locator: String,
    },
}

impl StoreError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoHome => "STORE_NO_HOME",
            Self::NotADirectory { .. } => "STORE_NOT_A_DIRECTORY",
            Self::Denied { .. } => "STORE_DENIED",
            Self::Full { .. } => "STORE_FULL",
            Self::Io { .. } => "STORE_IO",
            Self::UnknownSession { .. } => "SESSION_NOT_FOUND",
            Self::SessionExists { .. } => "SESSION_EXISTS",
            Self::OpenElsewhere { .. } => "SESSION_OPEN_ELSEWHERE",
            Self::NotASession { .. } => "SESSION_FOREIGN_FILE",
            Self::Unfinished { .. } => "SESSION_UNFINISHED",
            Self::FormatTooNew { .. } => "SESSION_FORMAT_TOO_NEW",
            Self::WrongId { .. } => "SESSION_WRONG_ID",
            Self::ChangedOutside { .. } => "SESSION_CHANGED_OUTSIDE",
            Self::Refused(_) => "SESSION_EVENT_REFUSED",
            Self::NotStorable { .. } => "SESSION_NOT_STORABLE",
            Self::UnknownSpill { .. } => "SPILL_NOT_FOUND",
        }
    }

    /// Sorts a failure of the disk by what a person can do about it.
    pub(super) fn io(action: &'static str, path: &Path, cause: io::Error) -> Self {
        use io::ErrorKind as Kind;
        let path = path.to_owned();
        match cause.kind() {
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Self::Denied {
                action,
                path,
                cause,
            },
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => {
                Self::Full { path, cause }
            }
            _ => Self::Io {
                action,
                path,
                cause,
            },
        }
    }
}
