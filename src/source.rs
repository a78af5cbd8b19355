//! Sessions of other tools, read-only.
//!
//! One file a tool turns what that tool wrote into our own session events, so
//! that one projection serves all. Owns the formats and how to tell them
//! apart; listing many sessions and keeping them at hand is `library`'s.
//!
//! Nothing here writes, locks or touches what it reads. A file that changes
//! while it is read is read once more.

mod adapter;
mod brief;
mod build;
mod claude_code;
mod codex;
mod database;
pub mod detect;
mod dsh;
mod error;
mod frames;
mod gemini;
mod glance;
mod loose;
mod moment;
mod opencode;
mod pass;
mod records;
mod round;
#[cfg(test)]
mod testing;
mod torn;
mod walk;

use std::fmt;

pub use adapter::{Adapter, Environment, Kind, Listed, Look, Named, VARIABLES};
pub use detect::Head;
pub use error::SourceError;
pub use round::Round;
pub(crate) use walk::follows_a_link;
pub use walk::{FoundFile, Obstacle, Walk};

use crate::reference::projection::Capture;
use crate::session::{Session, Title};
use crate::tool::Tool;

/// The adapter of each tool.
static ADAPTERS: [&dyn Adapter; 5] = [
    &dsh::Dsh,
    &codex::Codex,
    &opencode::Opencode,
    &gemini::Gemini,
    &claude_code::ClaudeCode,
];

/// The adapter of each tool whose sessions can be read.
pub fn adapters() -> impl Iterator<Item = &'static dyn Adapter> {
    ADAPTERS.into_iter()
}

/// A session of another tool as it would go on there now.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreign<S> {
    /// The tool.
    pub tool: Tool,
    /// The current conversation; its id is [`Tool::session_id`].
    pub session: S,
    /// Whether another session's agent made it.
    pub is_subagent: bool,
    /// What could not be read, and what the reader should know.
    pub notices: Vec<SourceNotice>,
}

/// One with all its events, as our own; its title is a title event.
pub type ForeignSession = Foreign<Session>;

/// What of one can be cited.
pub type ForeignCapture = Foreign<Cited>;

/// What citing needs of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Cited {
    /// What [`capture`](crate::reference::projection::capture) takes of the
    /// whole session.
    pub capture: Capture,
    /// What its tool calls it.
    pub title: Option<Title>,
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
