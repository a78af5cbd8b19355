//! Finds files by their names and states, and opens none.

use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Component, Path, PathBuf};

use tokio_util::sync::CancellationToken;

use crate::stamp::Stamp;

/// A file that may hold sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// Where it is. Always UTF-8.
    pub path: PathBuf,
    /// Which state of it was seen.
    pub stamp: Stamp,
    /// The tool's own id of its session, where the name tells it.
    pub native_id: Option<String>,
}

/// A file or folder that can't be looked at.
#[derive(Debug)]
pub struct Obstacle {
    /// Where it is.
    pub path: PathBuf,
    /// Why.
    pub cause: io::Error,
}

/// What a walk has found so far.
#[derive(Debug, Default)]
pub struct Walk {
    /// The files, in no order.
    pub files: Vec<FoundFile>,
    /// What was passed over for a reason.
    pub obstacles: Vec<Obstacle>,
    cancel: CancellationToken,
}

/// The names of the folders between a place and a file in it; `None` when it
/// does not lie in it, or a name is not UTF-8.
pub(super) fn folders<'a>(place: &Path, file: &'a Path) -> Option<Vec<&'a str>> {
    let folders = file.strip_prefix(place).ok()?.parent()?.components();
    let name = |folder| match folder {
        Component::Normal(name) => name.to_str(),
        _ => None,
    };
    folders.map(name).collect()
}

impl Walk {
    /// A walk that ends early when it is cancelled.
    #[must_use]
    pub fn new(cancel: CancellationToken) -> Self {
        Self {
            cancel,
            ..Self::default()
        }
    }

    /// Whether nobody waits for the rest.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Adds a file if it is a regular one that is not empty.
    pub(super) fn file(&mut self, path: PathBuf, native_id: Option<String>) {
        let metadata = fs::symlink_metadata(&path);
        self.regular(path, metadata, native_id);
    }

    /// [`file`](Self::file) of an entry of a folder, whose state is told
    /// without looking its path up again.
    pub(super) fn entry(&mut self, entry: &DirEntry, native_id: Option<String>) {
        self.regular(entry.path(), entry.metadata(), native_id);
    }

    fn regular(
        &mut self,
        path: PathBuf,
        metadata: io::Result<fs::Metadata>,
        native_id: Option<String>,
    ) {
        match metadata {
            Ok(metadata) if metadata.is_file() && metadata.len() > 0 => {
                let stamp = Stamp::of(&metadata);
                self.found(path, stamp, native_id);
            }
            Ok(_) => {}
            Err(cause) => self.obstacle(path, cause),
        }
    }

    /// Adds a file in a state that is made of several.
    pub(super) fn found(&mut self, path: PathBuf, stamp: Stamp, native_id: Option<String>) {
        if path.to_str().is_none() {
            return self.nameless(path);
        }
        self.files.push(FoundFile {
            path,
            stamp,
            native_id,
        });
    }

    /// Calls `visit` with each entry of a folder that is a folder or a regular
    /// file: links are not followed, and pipes and devices are nothing to
    /// read. A folder that is not there has none, and one in it whose name is
    /// not UTF-8 is not visited.
    pub(super) fn folder(
        &mut self,
        folder: &Path,
        mut visit: impl FnMut(&mut Self, &DirEntry, FileType),
    ) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(cause) => return self.obstacle(folder.to_owned(), cause),
        };
        for entry in entries {
            if self.is_cancelled() {
                return;
            }
            match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
                Ok((kind, entry)) if kind.is_dir() && entry.file_name().to_str().is_none() => {
                    self.nameless(entry.path());
                }
                Ok((kind, entry)) if kind.is_dir() || kind.is_file() => visit(self, &entry, kind),
                Ok(_) => {}
                Err(cause) => self.obstacle(folder.to_owned(), cause),
            }
        }
    }

    fn nameless(&mut self, path: PathBuf) {
        let cause = io::Error::other("its name is not UTF-8");
        self.obstacles.push(Obstacle { path, cause });
    }

    /// What vanished meanwhile, or never was, stands in nobody's way.
    fn obstacle(&mut self, path: PathBuf, cause: io::Error) {
        let is_gone = matches!(
            cause.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        );
        if !is_gone {
            self.obstacles.push(Obstacle { path, cause });
        }
    }
}
