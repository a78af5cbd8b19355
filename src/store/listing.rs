//! Which session files there are, without opening any.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::{Home, StoreError, file_name};
use crate::session::SessionId;
use crate::stamp::Stamp;
use crate::threads::in_background;

/// A session file as its folder knows it: enough to tell whether it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    /// The log.
    pub path: PathBuf,
    /// The id its name stands for; `None` for long ids, which only the header
    /// tells.
    pub id: Option<SessionId>,
    /// Which state of it was seen.
    pub stamp: Stamp,
}

/// The session files of a home, in no order.
///
/// Foreign files, folders, links and empty files are passed over, and so is
/// what disappears meanwhile. A home that is not there has none. A file with
/// half a header is listed, and reading its header is `SESSION_UNFINISHED`.
///
/// # Errors
/// When the folder can't be read.
pub fn list_files(home: &Home) -> Result<Vec<SessionFile>, StoreError> {
    let dir = home.sessions_dir();
    let failed = |cause| StoreError::io("list", &dir, cause);
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(failed(cause)),
    };
    let entries = entries.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    Ok(in_background(|| {
        entries
            .par_iter()
            // By the entry, which is cheaper than by the path: the folder is open.
            .filter_map(|entry| file(entry.path(), || entry.metadata()))
            .collect()
    }))
}

/// The session file at a path as its folder knows it now; `None` when there
/// is none there.
#[must_use]
pub fn session_file(path: &Path) -> Option<SessionFile> {
    file(path.to_owned(), || path.symlink_metadata())
}

fn file(path: PathBuf, metadata: impl FnOnce() -> io::Result<fs::Metadata>) -> Option<SessionFile> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(file_name::LOG_SUFFIX)?;
    let id = file_name::decode(stem);
    if id.is_none() && !file_name::is_encoded(stem) {
        return None;
    }
    let metadata = metadata().ok()?;
    if !metadata.is_file() || metadata.len() == 0 {
        return None;
    }
    Some(SessionFile {
        path,
        id,
        stamp: Stamp::of(&metadata),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_home_that_is_not_there_has_no_sessions() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(list_files(&Home::at(dir.path().join("no"))).unwrap(), []);
    }

    #[test]
    fn only_our_own_files_are_listed() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        home.create().unwrap();
        let sessions = home.sessions_dir();
        let long = SessionId::from("x".repeat(300));
        fs::write(home.session_file(&"../é".into()), "{}\n").unwrap();
        fs::write(home.session_file(&long), "{}\n").unwrap();
        fs::write(sessions.join("empty.jsonl"), "").unwrap();
        fs::write(sessions.join("Foreign.jsonl"), "{}\n").unwrap();
        fs::write(sessions.join("notes.txt"), "{}\n").unwrap();
        fs::create_dir(sessions.join("folder.jsonl")).unwrap();
        let mut files = list_files(&home).unwrap();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let ids: Vec<_> = files.iter().map(|f| f.id.clone()).collect();
        assert_eq!(ids, [Some("../é".into()), None]);
        assert_eq!(files.last().unwrap().path, home.session_file(&long));
        assert!(
            files
                .iter()
                .all(|f| f.stamp.size == 3 && f.stamp.mtime_ns > 0)
        );
    }
}
