//! Sessions of other tools, read-only.
//!
//! One file a tool turns what that tool wrote into our own session events, so
//! that one projection serves all. Owns the formats and how to tell them
//! apart; listing many sessions and keeping them at hand is `library`'s.
//!
//! Nothing here writes, locks or touches what it reads. A file that changes
//! while it is read is read once more.

mod build;
mod claude_code;
mod codex;
pub mod detect;
mod dsh;
mod error;
mod gemini;
mod loose;
mod opencode;
mod records;

use std::fmt;

use crate::session::{Session, SessionId};
pub use error::SourceError;

/// A program whose sessions ibid can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    /// DeepSeek Harness.
    Dsh,
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
}

impl Tool {
    /// The short name, as lists show it and ids begin with it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dsh => "dsh",
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// The id that ibid knows a session of this tool by: unique across tools.
    #[must_use]
    pub fn session_id(self, native: &str) -> SessionId {
        SessionId::from(format!("{}:{native}", self.name()))
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A session of another tool as it would go on there now.
#[derive(Clone, Debug)]
pub struct ForeignSession {
    /// The tool.
    pub tool: Tool,
    /// The current conversation as our own events; its id is
    /// [`Tool::session_id`], its title a title event.
    pub session: Session,
    /// Whether another session's agent made it.
    pub is_subagent: bool,
    /// What could not be read, and what the reader should know.
    pub notices: Vec<SourceNotice>,
}

/// Something about a session that the person should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceNotice {
    /// Records that are damaged, torn, or of no known form.
    Skipped {
        /// How many.
        records: usize,
    },
    /// Something else, in words.
    Note(String),
}

impl fmt::Display for SourceNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skipped { records: 1 } => f.write_str("1 record skipped"),
            Self::Skipped { records } => write!(f, "{records} records skipped"),
            Self::Note(note) => f.write_str(note),
        }
    }
}
