//! Where everything of ibid's is kept.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use super::{StoreError, file_name, files};
use crate::session::SessionId;

/// The environment variable that names another home.
pub const HOME_VARIABLE: &str = "IBID_HOME";

/// The folder that holds sessions, spill files and the cache.
///
/// Finding it touches no disk; [`Home::create`] makes the folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// `IBID_HOME`, else the platform's folder for a program's data. An empty
    /// variable counts as none, and a relative one starts at the current
    /// directory.
    ///
    /// # Errors
    /// `STORE_NO_HOME` when the platform names no such folder;
    /// `STORE_NOT_A_DIRECTORY` when it is a file, or in one.
    pub fn locate() -> Result<Self, StoreError> {
        Self::from_variable(env::var_os(HOME_VARIABLE))
    }

    fn from_variable(value: Option<OsString>) -> Result<Self, StoreError> {
        let home = match value.filter(|value| !value.is_empty()) {
            Some(value) => {
                let path = PathBuf::from(value);
                let root = std::path::absolute(&path)
                    .map_err(|cause| StoreError::io("find", &path, cause))?;
                Self { root }
            }
            None => Self {
                root: ProjectDirs::from("", "", "ibid")
                    .ok_or(StoreError::NoHome)?
                    .data_dir()
                    .to_owned(),
            },
        };
        // Only the nearest that is there can be in the way.
        if let Some(path) = home.root.ancestors().find(|path| path.exists())
            && !path.is_dir()
        {
            let path = path.to_owned();
            return Err(StoreError::NotADirectory { path });
        }
        Ok(home)
    }

    /// A home at the given place.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { root: path.into() }
    }

    /// Makes the folders that are not there, for their owner alone (0700).
    ///
    /// # Errors
    /// `STORE_NOT_A_DIRECTORY`, `STORE_DENIED`, `STORE_FULL` or `STORE_IO`,
    /// naming the folder.
    pub fn create(&self) -> Result<(), StoreError> {
        files::make_dir(&self.root)?;
        files::make_dir(&self.sessions_dir())?;
        files::make_dir(&self.locks_dir())?;
        files::make_dir(&self.spill_dir())
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the logs are, one a session.
    #[must_use]
    pub fn sessions_dir(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// Where the lock files are. They are empty. Those of sessions stay when
    /// the session is closed; that of a draft goes when no draft is left.
    #[must_use]
    pub fn locks_dir(&self) -> PathBuf {
        self.root.join("locks")
    }

    /// Where the full texts of shortened citations are.
    #[must_use]
    pub fn spill_dir(&self) -> PathBuf {
        self.root.join("spill")
    }

    /// Where drafts are, one a session that is being written in.
    #[must_use]
    pub fn drafts_dir(&self) -> PathBuf {
        self.root.join("drafts")
    }

    /// The projection cache. It may be deleted at any time.
    #[must_use]
    pub fn cache_file(&self) -> PathBuf {
        self.root.join("cache.sqlite3")
    }

    /// What servers told of their models, whether it is there or not.
    #[must_use]
    pub fn models_file(&self) -> PathBuf {
        self.root.join("models.json")
    }

    /// The log of a session, whether it is there or not.
    #[must_use]
    pub fn session_file(&self, id: &SessionId) -> PathBuf {
        let name = file_name::encode(id) + file_name::LOG_SUFFIX;
        self.sessions_dir().join(name)
    }

    /// The lock file of a session, whether it is there or not.
    #[must_use]
    pub fn lock_file(&self, id: &SessionId) -> PathBuf {
        self.locks_dir().join(file_name::encode(id) + ".lock")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn code(result: Result<impl Sized, StoreError>) -> &'static str {
        result.map(|_| ()).unwrap_err().code()
    }

    #[test]
    fn the_variable_names_the_home_and_may_be_relative() {
        let home = Home::from_variable(Some("some/where".into())).unwrap();
        assert!(home.root().is_absolute());
        assert!(home.root().ends_with("some/where"));
    }

    #[test]
    fn an_empty_variable_counts_as_none() {
        assert_eq!(
            Home::from_variable(Some(OsString::new())).unwrap(),
            Home::from_variable(None).unwrap()
        );
    }

    #[test]
    fn a_home_that_is_a_file_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Home::from_variable(Some(file.path().into())).unwrap_err();
        assert_eq!(error.code(), "STORE_NOT_A_DIRECTORY");
        assert!(error.to_string().contains(&format!("{:?}", file.path())));
        assert_eq!(
            code(Home::at(file.path()).create()),
            "STORE_NOT_A_DIRECTORY"
        );
        let inside = file.path().join("home");
        let refused = Home::from_variable(Some(inside.clone().into()));
        assert_eq!(code(refused), "STORE_NOT_A_DIRECTORY");
        let error = Home::at(inside).create().unwrap_err();
        assert!(error.to_string().contains(&format!("{:?}", file.path())));
    }

    #[test]
    fn locating_touches_no_disk_and_creating_makes_it_all() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::from_variable(Some(dir.path().join("a/b").into())).unwrap();
        assert!(!home.root().exists());
        home.create().unwrap();
        home.create().unwrap();
        for folder in [home.sessions_dir(), home.locks_dir(), home.spill_dir()] {
            assert!(folder.is_dir());
        }
    }

    #[cfg(unix)]
    #[test]
    fn folders_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().join("home"));
        home.create().unwrap();
        for folder in [
            home.root().to_owned(),
            home.sessions_dir(),
            home.locks_dir(),
            home.spill_dir(),
        ] {
            let mode = folder.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{folder:?}");
        }
    }
}
