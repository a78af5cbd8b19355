//! Drafts: what was being written when the program ended.
//!
//! A draft belongs to a session, which need not be stored yet. The program
//! that writes it holds its lock, so that two programs never share one, and a
//! draft whose program is gone can be found again. With no draft to keep, the
//! lock file goes too.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Home, StoreError, file_name, files};
use crate::session::SessionId;

const SUFFIX: &str = ".json";
/// Of a draft that is being saved.
const HALF_SUFFIX: &str = ".new";

/// The draft of one session, held by this program until it is dropped.
#[derive(Debug)]
pub struct DraftFile {
    id: SessionId,
    cwd: Option<String>,
    home: Home,
    _lock: files::Lock,
}

/// A draft as it is kept.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept<T> {
    session_id: SessionId,
    cwd: Option<String>,
    draft: T,
}

impl DraftFile {
    /// Holds the draft of a session begun in `cwd`.
    ///
    /// # Errors
    /// `SESSION_OPEN_ELSEWHERE` when another program holds it, or a failure of
    /// the disk.
    pub fn hold(home: &Home, id: SessionId, cwd: Option<String>) -> Result<Self, StoreError> {
        home.create()?;
        files::make_dir(&home.drafts_dir())?;
        let path = lock_path(home, &id);
        let lock = files::lock(&path)
            .map_err(|cause| StoreError::io("lock", &path, cause))?
            .ok_or_else(|| StoreError::OpenElsewhere { id: id.clone() })?;
        let held = Self {
            id,
            cwd,
            home: home.clone(),
            _lock: lock,
        };
        // Of a save that was killed; the next one would write over it.
        let _ = fs::remove_file(held.path(HALF_SUFFIX));
        Ok(held)
    }

    /// Holds the newest draft in `cwd` that nobody holds and whose session holds
    /// nothing yet: what a program left behind when it ended. A log without any
    /// event, begun just before that, is removed, and so is what a save that was
    /// killed left of any draft. Drafts that can't be read are passed over and
    /// stay where they are.
    #[must_use]
    pub fn adopt<T: DeserializeOwned>(home: &Home, cwd: Option<&str>) -> Option<(Self, T)> {
        remove_half_saved(home);
        let mut left: Vec<(std::time::SystemTime, PathBuf)> = fs::read_dir(home.drafts_dir())
            .ok()?
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let modified = entry.metadata().ok()?.modified().ok()?;
                Some((modified, entry.path()))
            })
            .filter(|(_, path)| path.to_string_lossy().ends_with(SUFFIX))
            .collect();
        left.sort_by(|a, b| b.cmp(a));
        left.into_iter().find_map(|(_, path)| {
            let kept: Kept<T> = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
            if kept.cwd.as_deref() != cwd {
                return None;
            }
            let file = Self::hold(home, kept.session_id, kept.cwd).ok()?;
            let free = super::writer::remove_empty(home, &file.id).ok()?;
            free.then_some((file, kept.draft))
        })
    }

    /// The session that the draft belongs to.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.id
    }

    /// The draft as it was last saved; `None` when there is none that can be
    /// read.
    #[must_use]
    pub fn load<T: DeserializeOwned>(&self) -> Option<T> {
        let kept: Kept<T> = serde_json::from_slice(&fs::read(self.path(SUFFIX)).ok()?).ok()?;
        (kept.session_id == self.id).then_some(kept.draft)
    }

    /// Saves the draft in place of the one before: whichever of the two a
    /// crash leaves is whole.
    ///
    /// # Errors
    /// A failure of the disk; the draft saved before stays.
    pub fn save<T: Serialize>(&self, draft: &T) -> Result<(), StoreError> {
        let path = self.path(SUFFIX);
        let half = self.path(HALF_SUFFIX);
        let write = || -> io::Result<()> {
            // The folder may have been removed since it was made.
            files::make_dir(&self.home.drafts_dir()).map_err(io::Error::other)?;
            let kept = serde_json::to_vec(&Kept {
                session_id: self.id.clone(),
                cwd: self.cwd.clone(),
                draft,
            })?;
            let mut options = files::private();
            let mut file = options
                .write(true)
                .create(true)
                .truncate(true)
                .open(&half)?;
            file.write_all(&kept)?;
            file.sync_all()?;
            fs::rename(&half, &path)?;
            files::sync_dir(&self.home.drafts_dir())
        };
        write().map_err(|cause| {
            // Nobody reads it, should it stay.
            let _ = fs::remove_file(&half);
            StoreError::io("write", &path, cause)
        })
    }

    /// Removes the draft: there is nothing left to keep.
    ///
    /// # Errors
    /// A failure of the disk.
    pub fn clear(&self) -> Result<(), StoreError> {
        let path = self.path(SUFFIX);
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io("remove", &path, cause))
            }
            _ => Ok(()),
        }
    }

    fn path(&self, suffix: &str) -> PathBuf {
        let name = file_name::encode(&self.id) + suffix;
        self.home.drafts_dir().join(name)
    }
}

impl Drop for DraftFile {
    /// Every program begins a draft, so the locks of those that came to
    /// nothing would pile up. It is removed before it is let go: whoever has
    /// opened it already finds that it is gone, and makes another.
    fn drop(&mut self) {
        if cfg!(unix) && !self.path(SUFFIX).exists() {
            // What stays is empty, and locked anew by whoever needs it.
            let _ = fs::remove_file(lock_path(&self.home, &self.id));
        }
    }
}

/// Removes what saves that were killed left of drafts that nobody holds.
fn remove_half_saved(home: &Home) {
    let entries = fs::read_dir(home.drafts_dir()).into_iter().flatten();
    for name in entries.flatten().map(|entry| entry.file_name()) {
        let name = name.to_string_lossy();
        let half = name.strip_suffix(HALF_SUFFIX);
        if let Some(id) = half.and_then(file_name::decode) {
            // Holding it removes it; one that is held is being written.
            drop(DraftFile::hold(home, id, None));
        }
    }
}

fn lock_path(home: &Home, id: &SessionId) -> PathBuf {
    home.locks_dir().join(file_name::encode(id) + ".draft.lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        (dir, home)
    }

    fn hold(home: &Home, id: &str) -> DraftFile {
        DraftFile::hold(home, id.into(), Some("/here".to_owned())).unwrap()
    }

    #[test]
    fn a_saved_draft_is_there_again() {
        let (_dir, home) = home();
        let file = hold(&home, "../x");
        assert_eq!(file.load::<String>(), None);
        file.save(&"half a thought").unwrap();
        file.save(&"a thought").unwrap();
        assert_eq!(file.load::<String>().as_deref(), Some("a thought"));
        file.clear().unwrap();
        file.clear().unwrap();
        assert_eq!(file.load::<String>(), None);
    }

    #[test]
    fn a_draft_is_held_by_one_program_at_a_time() {
        let (_dir, home) = home();
        let held = hold(&home, "a");
        let refused = DraftFile::hold(&home, "a".into(), None).unwrap_err();
        assert_eq!(refused.code(), "SESSION_OPEN_ELSEWHERE");
        drop(held);
        hold(&home, "a");
    }

    #[test]
    fn the_lock_of_a_draft_that_came_to_nothing_goes() {
        let (_dir, home) = home();
        let locks = || fs::read_dir(home.locks_dir()).unwrap().count();
        let file = hold(&home, "a");
        file.save(&"half a thought").unwrap();
        drop(file);
        assert_eq!(locks(), 1, "a draft is there");
        let file = hold(&home, "a");
        file.clear().unwrap();
        drop(file);
        assert_eq!(locks(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn one_program_holds_a_draft_while_others_come_and_go() {
        let (_dir, home) = home();
        let holders = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Ok(file) = DraftFile::hold(&home, "a".into(), None) else {
                            continue;
                        };
                        let before = holders.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        assert_eq!(before, 0);
                        holders.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(file);
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(home.locks_dir()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_save_left_goes_unless_it_is_held() {
        let (_dir, home) = home();
        let files = || {
            let entries = fs::read_dir(home.drafts_dir()).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        };
        let held = hold(&home, "held");
        for id in ["held", "left", "kept"] {
            fs::write(home.drafts_dir().join(format!("{id}.new")), "{").unwrap();
        }
        hold(&home, "kept").save(&"a thought").unwrap();
        let draft = DraftFile::adopt::<String>(&home, Some("/there"));
        assert!(draft.is_none());
        assert_eq!(files(), ["held.new", "kept.json"]);
        held.save(&"more").unwrap();
        assert_eq!(files(), ["held.json", "kept.json"]);
    }

    #[test]
    fn the_draft_of_a_program_that_is_gone_is_adopted_in_its_directory() {
        let (_dir, home) = home();
        hold(&home, "gone").save(&"left behind").unwrap();
        let elsewhere = DraftFile::adopt::<String>(&home, Some("/there"));
        assert!(elsewhere.is_none());
        let (file, draft) = DraftFile::adopt::<String>(&home, Some("/here")).unwrap();
        assert_eq!(
            (file.session_id().as_str(), &*draft),
            ("gone", "left behind")
        );
        assert!(DraftFile::adopt::<String>(&home, Some("/here")).is_none());
    }

    #[test]
    fn the_draft_of_a_stored_session_is_not_adopted_by_another() {
        let (_dir, home) = home();
        let file = hold(&home, "stored");
        file.save(&"for the stored one").unwrap();
        drop(file);
        let header = crate::session::Header::new("stored", crate::session::Millis(1), None);
        let message = crate::session::Message::person("sent");
        let event = crate::session::Payload::user(message);
        let event = crate::session::NewEvent::plain(crate::session::Millis(1), event);
        drop(crate::store::SessionWriter::create(&home, header, vec![event]).unwrap());
        assert!(DraftFile::adopt::<String>(&home, Some("/here")).is_none());
    }
}
