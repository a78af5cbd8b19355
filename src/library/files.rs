//! What the library asks of stored logs, so that absent, failing and hanging
//! stores can stand in for the real one.

use crate::reference::Cause;
use crate::reference::projection::{self, Capture};
use crate::session::{Header, Millis, Role, Session, SessionId, Title, title};
pub use crate::stamp::Stamp;

/// The logs of stored sessions. Every call may block.
pub trait LogFiles: Send + Sync {
    /// The name of the file that holds this session, if it is stored at all.
    fn file_name(&self, id: &SessionId) -> String;

    /// Every log there is, in any order, without opening one.
    ///
    /// # Errors
    /// When the folder can't be listed.
    fn scan(&self) -> Result<Vec<LogFile>, Cause>;

    /// Reads the header of a log and nothing else.
    ///
    /// # Errors
    /// When the log can't be opened, or does not begin with a header.
    fn header(&self, file: &str) -> Result<Header, Cause>;

    /// Reads a whole log as one observation; `None` when there is none of
    /// that name.
    ///
    /// # Errors
    /// When the log is there and can't be read.
    fn capture(&self, file: &str) -> Result<Option<CapturedLog>, Cause>;
}

/// A log as its folder shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// The file's name, which is the session's id in encoded form.
    pub file: String,
    /// The id that the name stands for; `None` when the id is too long to be
    /// told from the name.
    pub id: Option<SessionId>,
    /// Which state of the file was seen.
    pub stamp: Stamp,
}

/// A log that was read.
#[derive(Clone, Debug)]
pub struct CapturedLog {
    /// The state of the file, taken before the first byte was read.
    pub stamp: Stamp,
    /// The session.
    pub capture: Capture,
    /// The latest title that the log sets.
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
    /// How many of its messages can be cited.
    pub messages: u32,
}

impl From<CapturedLog> for Facts {
    fn from(log: CapturedLog) -> Self {
        let title = log.title.or_else(|| first_words(&log.capture));
        Self {
            title,
            updated_at: log.stamp.written_at(),
            messages: u32::try_from(log.capture.conversation.len()).unwrap_or(u32::MAX),
            header: log.capture.header,
        }
    }
}

impl Facts {
    /// The facts of a session that is in memory and was last written then.
    #[must_use]
    pub fn of(session: &Session, updated_at: Millis) -> Self {
        let title = session.title().cloned().or_else(|| {
            let text = session.fallback_title()?;
            let pinned = false;
            Some(Title { text, pinned })
        });
        Self {
            header: session.header().clone(),
            title,
            updated_at,
            messages: u32::try_from(projection::count(session)).unwrap_or(u32::MAX),
        }
    }
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
