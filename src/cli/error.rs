//! The one error of the command line: a code, a message, an exit code.

use std::io;

use super::exit;
use crate::chat::Failure;
use crate::config::ConfigError;
use crate::library::LibraryError;
use crate::model::ModelError;
use crate::reference::{Cause, ReferenceError};
use crate::source::SourceError;
use crate::store::StoreError;

/// Why a command failed.
#[derive(Debug)]
pub enum CliError {
    /// It failed.
    Failed {
        /// The stable code.
        code: String,
        /// What happened, to which thing, what to do now.
        message: String,
        /// The exit code.
        exit: u8,
    },
    /// Nobody reads stdout any more: there is nothing left to do, or to say.
    Closed,
}

impl CliError {
    /// An error with the exit code that the table has for its code.
    pub(super) fn new(code: &str, message: impl std::fmt::Display) -> Self {
        Self::Failed {
            code: code.to_owned(),
            message: message.to_string(),
            exit: exit::of(code),
        }
    }

    /// Somebody called it off by this signal.
    pub(super) fn cancelled(signal: i32, message: impl std::fmt::Display) -> Self {
        Self::Failed {
            code: "CANCELLED".to_owned(),
            message: message.to_string(),
            exit: exit::of_signal(signal),
        }
    }

    /// Writing to stdout failed.
    #[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
    pub(super) fn stdout(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Closed;
        }
        let message = format!("can't write to stdout: {error}; the output is not whole");
        Self::new("STDOUT", message)
    }

    /// A session can't be read.
    pub(super) fn of_reading(cause: &Cause) -> Self {
        let code = [
            cause.downcast_ref::<LibraryError>().map(LibraryError::code),
            cause.downcast_ref::<StoreError>().map(StoreError::code),
            cause.downcast_ref::<SourceError>().map(SourceError::code),
        ];
        let code = code.into_iter().flatten().next();
        Self::new(code.unwrap_or("SESSION_UNREADABLE"), cause)
    }

    pub(super) fn usage(message: impl std::fmt::Display) -> Self {
        Self::new("USAGE", message)
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        Self::new(&failure.code, failure.message)
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::new(error.code(), error)
    }
}

impl From<LibraryError> for CliError {
    fn from(error: LibraryError) -> Self {
        Self::new(error.code(), error)
    }
}

impl From<SourceError> for CliError {
    fn from(error: SourceError) -> Self {
        Self::new(error.code(), error)
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::new(error.code(), error)
    }
}

impl From<ModelError> for CliError {
    fn from(error: ModelError) -> Self {
        Self::new(error.code(), error)
    }
}

impl From<ReferenceError> for CliError {
    fn from(error: ReferenceError) -> Self {
        Self::new(error.code().unwrap_or("MODEL_LOOKUP_FAILED"), error)
    }
}

/// Listing failed behind the library.
impl From<Cause> for CliError {
    fn from(cause: Cause) -> Self {
        match cause.downcast_ref::<StoreError>() {
            Some(error) => Self::new(error.code(), error),
            None => Self::new("SESSIONS_NOT_LISTED", cause),
        }
    }
}
