//! What the library asks of stored sessions, so that absent, failing and
//! hanging stores can stand in for the real ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Notice;
use crate::reference::Cause;
use crate::reference::projection::{self, Capture, Damage, Said};
use crate::session::{Header, Millis, Role, Session, SessionId, Title, title};
pub use crate::source::{Kind, Round};
pub use crate::stamp::Stamp;
use crate::tool::Tool;

/// The sessions that one tool stored. Every call may block.
pub trait LogFiles: Send + Sync {
    /// The tool.
    fn tool(&self) -> Tool {
        Tool::Ibid
    }

    /// The file that holds this session, as far as names tell, or else may
    /// hold it; `None` when there is none. No file is read whole for it.
    fn file_name(&self, id: &SessionId) -> Option<String>;

    /// Every file there is, in any order, without opening one.
    ///
    /// # Errors
    /// When nothing can be listed.
    fn scan(&self, cancel: &CancellationToken) -> Result<Scanned, Cause>;

    /// What a file of this name is now; `None` when there is none that this
    /// tool would have written.
    fn find(&self, file: &str) -> Option<LogFile>;

    /// The folders and files that the sessions lie in, whether or not they are
    /// there.
    fn places(&self) -> Vec<Place> {
        Vec::new()
    }

    /// Whether a path lies where this tool keeps its sessions.
    fn holds(&self, path: &Path) -> bool {
        self.places()
            .iter()
            .any(|place| path.starts_with(&place.path))
    }

    /// The file that a path is, or is a part of, as it is now.
    fn at(&self, path: &Path) -> Option<LogFile> {
        self.find(path.to_str()?)
    }

    /// What a list shows of a file; `None` when it is gone. Looks at as little
    /// of it as it can. Where its state was just `seen`, it need not be asked
    /// for again: what is written since makes the next listing find another.
    /// What others of the `round` need as well is read once.
    ///
    /// # Errors
    /// When the file is there and can't be read.
    fn look(
        &self,
        file: &str,
        seen: Option<Stamp>,
        round: &Round,
    ) -> Result<Option<Looked>, Cause> {
        let _ = (seen, round);
        let log = self.capture(file, None)?;
        Ok(log.map(|log| Looked {
            stamp: log.stamp,
            found: Found::Sessions(vec![Facts::from(log)]),
        }))
    }

    /// Reads the header of a session, and nothing else where it stands apart.
    ///
    /// # Errors
    /// When the file can't be opened, or does not begin with a header.
    fn header(&self, file: &str) -> Result<Header, Cause> {
        let gone = || Arc::new(std::io::Error::from(std::io::ErrorKind::NotFound)) as Cause;
        let log = self.capture(file, None)?.ok_or_else(gone)?;
        Ok(log.capture.header)
    }

    /// Reads a whole session as one observation: this one, where the file
    /// holds several. `None` when there is no such file.
    ///
    /// # Errors
    /// When the file is there and can't be read.
    fn capture(&self, file: &str, id: Option<&SessionId>) -> Result<Option<CapturedLog>, Cause>;

    /// Reads what was said in several sessions of one file, in the order of these
    /// ids: all of it where the tool's logs tell, and else what can be cited. What
    /// others of the `round` need as well is read once.
    fn said(
        &self,
        file: &str,
        ids: &[SessionId],
        round: &Round,
    ) -> Vec<Result<Option<Vec<Said>>, Cause>> {
        let _ = round;
        let read = ids.iter().map(|id| self.capture(file, Some(id)));
        read.map(|read| Ok(read?.map(|log| log.capture.said())))
            .collect()
    }
}

/// Where sessions lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// A folder or a file, which need not be there.
    pub path: PathBuf,
    /// Whether sessions lie in the folders below it as well.
    pub is_tree: bool,
}

/// What listing found.
#[derive(Debug, Default)]
pub struct Scanned {
    /// The files.
    pub logs: Vec<LogFile>,
    /// What could not be looked at.
    pub notices: Vec<Notice>,
}

/// A file with sessions, as its folder shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// The tool that wrote it.
    pub tool: Tool,
    /// Its name, unique for the tool.
    pub file: String,
    /// The id that the name stands for, where it tells one.
    pub id: Option<SessionId>,
    /// Which state of the file was seen.
    pub stamp: Stamp,
}

/// What a look into a file found.
#[derive(Clone, Debug, PartialEq)]
pub struct Looked {
    /// The state of the file, taken before the first byte was read.
    pub stamp: Stamp,
    /// What is in it.
    pub found: Found,
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// Sessions.
    Sessions(Vec<Facts>),
    /// Names that a tool keeps apart from its sessions.
    Names(Vec<(SessionId, Title)>),
    /// Nothing that can be listed, and why. It is looked at again when it
    /// changes.
    Nothing(String),
}

/// A session that was read.
#[derive(Clone, Debug)]
pub struct CapturedLog {
    /// The state of the file, taken before the first byte was read.
    pub stamp: Stamp,
    /// The session.
    pub capture: Capture,
    /// The latest title that it sets.
    pub title: Option<Title>,
}

/// What the library keeps of a stored session.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Its header.
    pub header: Header,
    /// Its latest title.
    pub title: Option<Title>,
    /// When something last happened in it.
    pub updated_at: Millis,
    /// How many of its messages can be cited, where that is known.
    pub messages: Option<u32>,
    /// What it is to a person who looks for a session.
    pub kind: Kind,
    /// What could not be read of it.
    pub notices: Vec<String>,
}

impl From<CapturedLog> for Facts {
    fn from(log: CapturedLog) -> Self {
        let title = log.title.or_else(|| first_words(&log.capture));
        Self {
            title,
            updated_at: log.stamp.written_at(),
            messages: Some(count(log.capture.conversation.len())),
            kind: Kind::Session,
            notices: log.capture.damage.iter().map(ToString::to_string).collect(),
            header: log.capture.header,
        }
    }
}

impl Facts {
    /// The facts of a session that is in memory, was last written then, and
    /// whose log is damaged as it was found.
    #[must_use]
    pub fn of(session: &Session, damage: Option<&Damage>, updated_at: Millis) -> Self {
        let title = session.title().cloned().or_else(|| {
            let text = session.fallback_title()?;
            let pinned = false;
            Some(Title { text, pinned })
        });
        Self {
            header: session.header().clone(),
            title,
            updated_at,
            messages: Some(count(projection::count(session))),
            kind: Kind::Session,
            notices: damage.iter().map(ToString::to_string).collect(),
        }
    }
}

/// More messages than a session can have are as many as can be told.
fn count(messages: usize) -> u32 {
    u32::try_from(messages).unwrap_or(u32::MAX - 1)
}

/// The title of a log that never set one. Behind a checkpoint the first words
/// are gone, and later ones would mislead.
fn first_words(capture: &Capture) -> Option<Title> {
    if capture.conversation.iter().any(|item| item.checkpoint) {
        return None;
    }
    let text = capture
        .conversation
        .iter()
        .filter(|item| item.role == Role::User)
        .map(|item| title::fallback(&item.text))
        .find(|title| !title.is_empty())?;
    Some(Title {
        text,
        pinned: false,
    })
}
