//! Which files of Gemini CLI there are, told by their names.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use super::{listing, place};
use crate::source::{Environment, FoundFile, Kind, Look, Walk, walk};

/// The folder of projects.
pub(super) fn places(environment: &Environment) -> Vec<PathBuf> {
    let home = environment.path("GEMINI_CLI_HOME");
    let home = home.or_else(|| environment.home().map(Path::to_owned));
    home.map(|home| home.join(".gemini").join("tmp"))
        .into_iter()
        .collect()
}

/// Finds the files of sessions and of their subagents.
pub(super) fn scan(place: &Path, walk: &mut Walk) {
    let projects = walk.folders_in(place);
    walk.each(&projects, |walk, project| {
        walk.folder(project, |walk, entry, kind| {
            if kind.is_dir() && entry.file_name() == "chats" {
                chats(walk, &entry.path());
            }
        });
    });
}

fn chats(walk: &mut Walk, folder: &Path) {
    walk.folder(folder, |walk, entry, kind| {
        if kind.is_dir() {
            walk.folder(&entry.path(), |walk, entry, kind| {
                if !kind.is_dir() && is_its(&entry.path()) {
                    walk.entry(entry, None);
                }
            });
        } else if is_its(&entry.path()) {
            walk.entry(entry, None);
        }
    });
}

/// What one file of a place is now, if it lies where a scan looks.
pub(super) fn find(place: &Path, path: &Path) -> Option<FoundFile> {
    let folders = walk::folders(place, path)?;
    let mut walk = Walk::default();
    if let [_, "chats"] | [_, "chats", _] = folders.as_slice()
        && is_its(path)
    {
        walk.file(path.to_owned(), None);
    }
    walk.files.pop()
}

/// Whether a name is one that the tool gives. It has a part of the id at most,
/// or the id as far as it can be a name.
fn is_its(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    extension == "jsonl" || (extension == "json" && name.starts_with("session-"))
}

/// The file that by its name may hold a session. Where several may, they are
/// looked into, the one written last first: a session's old form and its stubs
/// stay beside it.
pub(super) fn locate(place: &Path, native_id: &str) -> Option<PathBuf> {
    let mut walk = Walk::default();
    scan(place, &mut walk);
    let mut files = walk.files;
    files.retain(|file| place::may_hold(&file.path, native_id));
    files.sort_by_key(|file| Reverse(file.stamp.mtime_ns));
    if let [only] = files.as_slice() {
        return Some(only.path.clone());
    }
    let kind_in = |path: &Path| match listing::look(path) {
        Ok(Look::Sessions(listed)) => {
            let listed = listed.into_iter().next()?;
            (listed.native_id == native_id).then_some(listed.kind)
        }
        _ => None,
    };
    let mut stub = None;
    for file in files {
        match kind_in(&file.path) {
            Some(Kind::Stub) if stub.is_none() => stub = Some(file.path),
            Some(Kind::Stub) | None => {}
            Some(_) => return Some(file.path),
        }
    }
    stub
}
