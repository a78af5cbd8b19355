//! What can go wrong with another tool's files, with stable codes.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::tool::Tool;

/// Why a session of another tool can't be read. Nothing of it was changed.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The file or database can't be read.
    #[error("can't read {}: {cause}", path.display())]
    Unreadable {
        /// What was read.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The file is of no tool that ibid knows.
    #[error(
        "{} is no session of dsh, Claude Code, Codex, Gemini CLI, opencode or ibid: {found}",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// What it looks like instead.
        found: String,
    },
    /// The file has dialogue records, and no message was found in them: the
    /// tool's format has changed.
    #[error(
        "{} holds {records} dialogue records of {tool} {version}, and none of them can be read; \
         this version of the format is not known yet",
        path.display()
    )]
    NoDialogue {
        /// The file.
        path: PathBuf,
        /// The tool.
        tool: Tool,
        /// The tool's version, as the file tells it.
        version: String,
        /// How many records there are.
        records: usize,
    },
    /// The file holds no such session, or no session at all.
    #[error("{} holds no session{}", path.display(), wanted.as_ref().map_or_else(String::new, |id| format!(" {id:?}")))]
    NoSession {
        /// The file.
        path: PathBuf,
        /// The session asked for.
        wanted: Option<String>,
    },
    /// Something that was made to fill memory, such as a bomb of a compressed
    /// file.
    #[error("{} is not read on: {problem}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Which bound it broke.
        problem: String,
    },
}

impl SourceError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "SOURCE_UNREADABLE",
            Self::UnknownFormat { .. } => "SOURCE_UNKNOWN_FORMAT",
            Self::NoDialogue { .. } => "SOURCE_NO_DIALOGUE",
            Self::NoSession { .. } => "SOURCE_NO_SESSION",
            Self::TooLarge { .. } => "SOURCE_TOO_LARGE",
        }
    }
}
