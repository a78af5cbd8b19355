//! Which files of Claude Code there are, told by their names.

use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use crate::source::{Environment, FoundFile, Walk, walk};

/// How far above a subagent's file the folder of its session's subagents is
/// looked for: those of workflows lie in folders of their own.
const AGENT_FOLDERS: usize = 4;

/// The id of the session whose subagent a file is by the folders it lies in.
pub(super) fn owner(path: &Path) -> Option<&str> {
    let mut folders = path.ancestors().skip(1).take(AGENT_FOLDERS);
    let agents = folders.find(|folder| folder.ends_with("subagents"))?;
    agents.parent()?.file_name()?.to_str()
}

/// The folders of projects.
pub(super) fn places(environment: &Environment) -> Vec<PathBuf> {
    let config = match (environment.path("CLAUDE_CONFIG_DIR"), environment.home()) {
        (Some(config), _) => vec![config],
        (None, Some(home)) => vec![home.join(".claude"), home.join(".config/claude")],
        (None, None) => Vec::new(),
    };
    config
        .iter()
        .map(|folder| folder.join("projects"))
        .collect()
}

/// Finds the files of sessions and of their subagents.
pub(super) fn scan(place: &Path, walk: &mut Walk) {
    let projects = walk.folders_in(place);
    walk.each(&projects, |walk, project| {
        walk.folder(project, |walk, entry, kind| {
            if !kind.is_dir() {
                entry_of(walk, entry, is_session);
            } else if entry.file_name().to_str().is_some_and(is_uuid) {
                walk.folder(&entry.path(), |walk, entry, kind| {
                    if kind.is_dir() && entry.file_name() == "subagents" {
                        agents(walk, &entry.path(), AGENT_FOLDERS);
                    }
                });
            }
        });
    });
}

/// Finds the subagents' files of one session.
fn agents(walk: &mut Walk, folder: &Path, depth: usize) {
    walk.folder(folder, |walk, entry, kind| {
        if !kind.is_dir() {
            entry_of(walk, entry, is_agent);
        } else if depth > 1 {
            agents(walk, &entry.path(), depth - 1);
        }
    });
}

/// What one file of a place is now, if it lies where a scan looks.
pub(super) fn find(place: &Path, path: &Path) -> Option<FoundFile> {
    let folders = walk::folders(place, path)?;
    let mut walk = Walk::default();
    match folders.as_slice() {
        [_] => file(&mut walk, path.to_owned(), is_session),
        [_, session, "subagents", below @ ..]
            if is_uuid(session) && below.len() < AGENT_FOLDERS =>
        {
            file(&mut walk, path.to_owned(), is_agent);
        }
        _ => {}
    }
    walk.files.pop()
}

/// Adds a file whose name is one that the tool gives.
fn file(walk: &mut Walk, path: PathBuf, is_its: fn(&str) -> bool) {
    if let Some(id) = native_id(path.file_name().unwrap_or_default(), is_its) {
        walk.file(path, Some(id));
    }
}

/// [`file`] of an entry of a folder.
fn entry_of(walk: &mut Walk, entry: &DirEntry, is_its: fn(&str) -> bool) {
    if let Some(id) = native_id(&entry.file_name(), is_its) {
        walk.entry(entry, Some(id));
    }
}

/// The id that a name is, if it is one that the tool gives.
fn native_id(name: &OsStr, is_its: fn(&str) -> bool) -> Option<String> {
    let name = name.to_string_lossy();
    let stem = name.strip_suffix(".jsonl")?;
    is_its(stem).then(|| stem.to_owned())
}

/// Whether a name is one of a file in a project's folder. Old versions kept
/// subagents there.
fn is_session(stem: &str) -> bool {
    is_uuid(stem) || is_agent(stem)
}

fn is_agent(stem: &str) -> bool {
    stem.starts_with("agent-")
}

/// Whether a name is an id of a session in its usual form: the tool goes by
/// such a name, whatever the records say.
pub(super) fn is_uuid(name: &str) -> bool {
    const LENGTH: usize = 36;
    name.len() == LENGTH && uuid::Uuid::try_parse(name).is_ok()
}

/// The file of this name, the one written last where there are several.
pub(super) fn locate(place: &Path, native_id: &str) -> Option<PathBuf> {
    let mut walk = Walk::default();
    scan(place, &mut walk);
    let of_it = |id: &Option<String>| id.as_deref() == Some(native_id);
    let found = walk.files.into_iter().filter(|file| of_it(&file.native_id));
    found
        .max_by_key(|file| file.stamp.mtime_ns)
        .map(|file| file.path)
}
