//! Finds files by their names and states, and opens none.

use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Component, Path, PathBuf};

use rayon::prelude::*;
use tokio_util::sync::CancellationToken;

use crate::stamp::Stamp;

/// Why something is passed over.
const LINK: &str = "it is a link, and links are not followed";
const NAMELESS: &str = "its name is not UTF-8";

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

/// Whether a path leads out of its place: over a link, be it a folder on the way
/// or its last name. A place may be a link itself, because a person or the tool
/// made it one.
pub(crate) fn follows_a_link(place: &Path, path: &Path) -> bool {
    let below = path.ancestors().take_while(|above| *above != place);
    below
        .filter_map(|above| fs::symlink_metadata(above).ok())
        .any(|metadata| metadata.is_symlink())
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

    /// Adds a file if it is a regular one that is not empty. Links are not
    /// followed, and pipes and devices are nothing to read.
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
            Ok(metadata) if metadata.is_file() => {
                if metadata.len() > 0 {
                    let stamp = Stamp::of(&metadata);
                    self.found(path, stamp, native_id);
                }
            }
            Ok(metadata) if metadata.is_symlink() => self.pass_over(path, LINK),
            Ok(_) => self.pass_over(path, "it is no regular file"),
            Err(cause) => self.obstacle(path, cause),
        }
    }

    /// Adds a file in a state that is made of several.
    pub(super) fn found(&mut self, path: PathBuf, stamp: Stamp, native_id: Option<String>) {
        if path.to_str().is_none() {
            return self.pass_over(path, NAMELESS);
        }
        self.files.push(FoundFile {
            path,
            stamp,
            native_id,
        });
    }

    /// Calls `visit` with each entry of a folder. A folder that is not there has
    /// none. Folders in it whose names are not UTF-8 and links to folders are
    /// passed over. What is neither a folder nor a regular file is for
    /// [`file`](Self::file) to judge, if its name is that of a session's.
    pub(super) fn folder(
        &mut self,
        folder: &Path,
        mut visit: impl FnMut(&mut Self, &DirEntry, FileType),
    ) {
        self.entries(folder, |walk, entry, kind| {
            let leads_to_a_folder = || fs::metadata(entry.path()).is_ok_and(|file| file.is_dir());
            if kind.is_dir() && entry.file_name().to_str().is_none() {
                walk.pass_over(entry.path(), NAMELESS);
            } else if kind.is_symlink() && leads_to_a_folder() {
                walk.pass_over(entry.path(), LINK);
            } else {
                visit(walk, entry, kind);
            }
        });
    }

    /// Calls `visit` with each entry of a folder in which other things lie too.
    pub(super) fn entries(
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
                Ok((kind, entry)) => visit(self, &entry, kind),
                Err(cause) => self.obstacle(folder.to_owned(), cause),
            }
        }
    }

    /// The folders in a folder.
    pub(super) fn folders_in(&mut self, folder: &Path) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        self.folder(folder, |_, entry, kind| {
            if kind.is_dir() {
                folders.push(entry.path());
            }
        });
        folders
    }

    /// Looks through each of these folders: side by side, if this thread is
    /// one of several that share their work.
    pub(super) fn each(&mut self, folders: &[PathBuf], visit: impl Fn(&mut Self, &Path) + Sync) {
        if rayon::current_thread_index().is_none() {
            return folders.iter().for_each(|folder| visit(self, folder));
        }
        let folders = folders.par_iter().map(|folder| {
            let mut walk = Self::new(self.cancel.clone());
            visit(&mut walk, folder);
            walk
        });
        let walks: Vec<Self> = folders.collect();
        for walk in walks {
            self.files.extend(walk.files);
            self.obstacles.extend(walk.obstacles);
        }
    }

    fn pass_over(&mut self, path: PathBuf, why: &'static str) {
        let cause = io::Error::other(why);
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_over_a_link_leads_out_of_its_place_and_the_place_may_be_one() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        fs::create_dir_all(real.join("a/b")).unwrap();
        fs::write(real.join("a/b/file"), "x").unwrap();
        let place = dir.path().join("place");
        symlink(&real, &place).unwrap();
        symlink(real.join("a"), real.join("folder")).unwrap();
        symlink(real.join("a/b/file"), real.join("a/file")).unwrap();
        assert!(!follows_a_link(&place, &place));
        assert!(!follows_a_link(&place, &place.join("a/b/file")));
        assert!(!follows_a_link(&place, &place.join("a/none")));
        assert!(follows_a_link(&place, &place.join("folder/b/file")));
        assert!(follows_a_link(&place, &place.join("a/file")));
    }
}
