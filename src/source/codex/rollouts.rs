//! Which file holds the beginning of a session that lies in several.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use super::home::{self, DEPTH, FOLDERS, Home};
use crate::threads::lock;

/// Files by the last id in their names.
type Named = HashMap<String, PathBuf>;

/// The rollout files of each folder that was asked for, listed once: with very
/// many sessions that build on others, listing them for each takes longer than
/// all else.
#[derive(Default)]
pub(in crate::source) struct Listings {
    folders: Listed,
    homes: Listed,
}

impl Listings {
    /// The file around `leaf` that an id names and that is not `but`: one beside
    /// it, or else one of its home. An id goes into no path: files are found by
    /// their names.
    pub(super) fn find(&self, leaf: &Path, id: &str, but: &Path) -> Option<PathBuf> {
        let beside = leaf.parent().and_then(|folder| {
            let list = |named: &mut Named| collect(folder, 0, named);
            self.folders.find(folder, list, id, but)
        });
        beside.or_else(|| {
            let Home(home) = Home::around(leaf)?;
            let list = |named: &mut Named| {
                for folder in FOLDERS {
                    collect(&home.join(folder), DEPTH, named);
                }
            };
            self.homes.find(&home, list, id, but)
        })
    }
}

/// What was listed, by the folder. Who comes while one lists waits for it.
#[derive(Default)]
struct Listed(Mutex<HashMap<PathBuf, Arc<OnceLock<Named>>>>);

impl Listed {
    fn find(
        &self,
        folder: &Path,
        list: impl Fn(&mut Named),
        id: &str,
        but: &Path,
    ) -> Option<PathBuf> {
        let known = || {
            let listed = Arc::clone(lock(&self.0).entry(folder.to_owned()).or_default());
            let named = listed.get_or_init(|| {
                let mut named = Named::new();
                list(&mut named);
                named
            });
            named.get(id).filter(|path| *path != but).cloned()
        };
        let found = known()?;
        if found.symlink_metadata().is_ok() {
            return Some(found);
        }
        // It was moved since, as a session is that is put away.
        lock(&self.0).remove(folder);
        known()
    }
}

/// Links are not followed. Of a plain and a compressed file it is the plain one.
fn collect(folder: &Path, depth: usize, into: &mut Named) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let path = entry.path();
        if kind.is_dir() && depth > 0 {
            collect(&path, depth - 1, into);
        } else if kind.is_file()
            && let Some((id, segment)) = home::ids(&path)
        {
            let id = segment.unwrap_or(id).to_owned();
            let is_plain = path.extension().is_some_and(|end| end == "jsonl");
            match into.entry(id) {
                Entry::Occupied(mut found) if is_plain => {
                    found.insert(path);
                }
                Entry::Occupied(_) => {}
                Entry::Vacant(vacant) => {
                    vacant.insert(path);
                }
            }
        }
    }
}
