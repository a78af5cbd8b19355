//! What each tool's adapter does: where its sessions are, which files there
//! are, what a list shows of them, and reading one of them whole.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::detect::Head;
use super::round::Round;
use super::walk::{FoundFile, Walk};
use super::{Foreign, ForeignCapture, ForeignSession, SourceError, SourceNotice, records};
use crate::session::{Millis, Title, TitleSource, title};
use crate::tool::Tool;

/// One tool's way of keeping sessions. Every call may block, and none changes
/// anything.
pub trait Adapter: Send + Sync {
    /// The tool.
    fn tool(&self) -> Tool;

    /// The folders and databases in which this tool keeps its sessions, on
    /// every platform and by its environment variables, whether or not they
    /// are there. Touches no disk.
    fn places(&self, environment: &Environment) -> Vec<PathBuf>;

    /// Whether sessions of a place lie in the folders below it as well.
    fn is_tree(&self, place: &Path) -> bool {
        let _ = place;
        true
    }

    /// Finds the files of one place by their names and states; opens none.
    fn scan(&self, place: &Path, walk: &mut Walk);

    /// What one file of a place is now; `None` when [`scan`](Self::scan) would
    /// not find it.
    fn find(&self, place: &Path, path: &Path) -> Option<FoundFile> {
        let _ = place;
        let mut walk = Walk::default();
        walk.file(path.to_owned(), None);
        walk.files.pop()
    }

    /// Takes a bounded look into a file that [`scan`](Self::scan) found:
    /// enough to list its sessions, and never all of a big one. What others of
    /// the `round` need as well is read once.
    ///
    /// # Errors
    /// When the file can't be read, or is not what its name says.
    fn look(&self, path: &Path, round: &Round) -> Result<Look, SourceError>;

    /// The file of a place that by its name holds this session, if names tell
    /// that; else the file that may hold it. Opens no session.
    fn locate(&self, place: &Path, native_id: &str) -> Option<PathBuf>;

    /// Whether a file that begins like this is this tool's.
    fn recognises(&self, head: &Head) -> bool;

    /// Reads a session whole: the one of this native id, or, without one, the
    /// file's own; of a file that holds several it is the one used last.
    ///
    /// # Errors
    /// When the file can't be read, or holds no such session.
    fn read(&self, path: &Path, native_id: Option<&str>) -> Result<ForeignSession, SourceError>;

    /// Reads what of a session can be cited: just what
    /// [`capture`](crate::reference::projection::capture) takes of the whole
    /// one, without building the rest.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    fn capture(&self, path: &Path, native_id: Option<&str>) -> Result<ForeignCapture, SourceError>;

    /// Captures several sessions of one file, in the order of these ids. What
    /// others of the `round` need as well is read once.
    fn capture_many(
        &self,
        path: &Path,
        native_ids: &[&str],
        round: &Round,
    ) -> Vec<Result<ForeignCapture, SourceError>> {
        let _ = round;
        one_by_one(path, native_ids, |id| self.capture(path, Some(id)))
    }
}

/// Reads several sessions of one file, each as one observation.
pub(super) fn one_by_one<S>(
    path: &Path,
    native_ids: &[&str],
    read: impl Fn(&str) -> Result<Foreign<S>, SourceError>,
) -> Vec<Result<Foreign<S>, SourceError>> {
    let ids = native_ids.iter();
    ids.map(|id| records::observed(path, || read(id))).collect()
}

/// What a bounded look into a file found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// Sessions: one for most files, many for a database.
    Sessions(Vec<Listed>),
    /// Names that the tool keeps apart from its sessions.
    Names(Vec<Named>),
}

/// What a list shows of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The tool's own id.
    pub native_id: String,
    /// The directory it was begun in.
    pub cwd: Option<String>,
    /// What the tool calls it, or else the first words of the first prompt.
    pub title: Option<Title>,
    /// When it began.
    pub created_at: Millis,
    /// When something last happened in it; `None`: when its file was written.
    pub updated_at: Option<Millis>,
    /// The tool's own id of the session it was forked from, or whose agent
    /// made it.
    pub parent: Option<String>,
    /// What it is to a person who looks for a session.
    pub kind: Kind,
    /// How many messages can be cited, where that is known without reading
    /// all of it.
    pub messages: Option<u32>,
    /// What could not be read, and what the reader should know.
    pub notices: Vec<SourceNotice>,
}

impl Listed {
    /// The title to list a session by: what its tool calls it, or else the
    /// first words of its first prompt.
    pub(super) fn title(given: Option<(&str, TitleSource)>, prompt: Option<&str>) -> Option<Title> {
        let given = given.map(|(text, source)| Title::new(text, source));
        let fallback = || Title {
            text: title::fallback(prompt.unwrap_or_default()),
            pinned: false,
        };
        let has_text = |title: &Title| !title.text.is_empty();
        given
            .filter(has_text)
            .or_else(|| Some(fallback()).filter(has_text))
    }
}

/// What a session is to a person who looks for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A conversation of theirs.
    #[default]
    Session,
    /// One that another session's agent made.
    Subagent,
    /// A file without a message.
    Stub,
}

/// A name that the tool keeps apart from its sessions. It goes before what the
/// session itself says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The tool's own id of the session.
    pub native_id: String,
    /// The name.
    pub title: Title,
}

/// The environment variables that say where tools keep their sessions.
pub const VARIABLES: [&str; 8] = [
    "APPDATA",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "CODEX_SQLITE_HOME",
    "DSH_HOME",
    "GEMINI_CLI_HOME",
    "OPENCODE_DB",
    "XDG_DATA_HOME",
];

/// What of the surroundings decides where tools keep their sessions.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    home: Option<PathBuf>,
    variables: HashMap<String, OsString>,
}

impl Environment {
    /// An environment with this home folder and these variables.
    #[must_use]
    pub fn new<'a>(
        home: Option<PathBuf>,
        variables: impl IntoIterator<Item = (&'a str, OsString)>,
    ) -> Self {
        let variables = variables.into_iter();
        Self {
            home,
            variables: variables.map(|(k, v)| (k.to_owned(), v)).collect(),
        }
    }

    /// That of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        let set = |name| Some((name, std::env::var_os(name)?));
        Self::new(home, VARIABLES.into_iter().filter_map(set))
    }

    /// The person's home folder.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The path in this variable, which begins at the current directory unless it
    /// is absolute; `None` when it is unset or empty.
    #[must_use]
    pub fn path(&self, variable: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.value(variable)?);
        // What is found is remembered, for programs that run elsewhere.
        Some(std::path::absolute(&path).unwrap_or(path))
    }

    /// What this variable says; `None` when it is unset or empty.
    #[must_use]
    pub fn value(&self, variable: &str) -> Option<&OsStr> {
        let value = self.variables.get(variable)?;
        Some(value.as_os_str()).filter(|value| !value.is_empty())
    }
}
