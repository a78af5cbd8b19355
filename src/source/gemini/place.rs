//! What the folders around a Gemini CLI file tell of it: the directory it was
//! begun in, and the twin of a stub. Nothing is opened but files of known
//! names in these folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::source::glance::Glance;
use crate::source::loose::{Object, Word};

/// How many files may be looked at for a stub's twin.
const MAX_TWINS: usize = 64;
/// How much of a session's id its file's name holds, in code points.
const SHORT_ID: usize = 8;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Projects {
    projects: Object<BTreeMap<String, Word>>,
}

/// The folder `chats` that a file lies in, or a subagent's lies below.
fn chats(file: &Path) -> Option<&Path> {
    file.ancestors()
        .skip(1)
        .take(2)
        .find(|folder| folder.ends_with("chats"))
}

/// The id of the session whose agent wrote a file: the folder between it and
/// `chats`.
pub(super) fn parent_id(file: &Path) -> Option<String> {
    let folder = file.parent()?;
    let is_below = folder.parent()?.ends_with("chats") && !folder.ends_with("chats");
    is_below.then(|| {
        folder
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
    })?
}

/// The directory that a session was begun in, as far as it is told.
pub(super) fn cwd(file: &Path, project_hash: Option<&str>) -> Option<String> {
    let project = chats(file)?.parent()?;
    if let Some(root) = small(&project.join(".project_root")) {
        let root = root.trim_end_matches(['\n', '\r']);
        if !root.is_empty() {
            return Some(root.to_owned());
        }
    }
    let name = project.file_name()?.to_str()?;
    let index = small(&project.parent()?.parent()?.join("projects.json"))?;
    let projects: Projects = serde_json::from_str(&index).ok()?;
    let projects = projects.projects.0;
    let by_name = projects.iter().find(|(_, slug)| slug.is(name));
    by_name
        .or_else(|| {
            let hash = project_hash.unwrap_or(name);
            projects.iter().find(|(path, _)| is_hash_of(hash, path))
        })
        .map(|(path, _)| path.clone())
}

fn is_hash_of(hash: &str, path: &str) -> bool {
    hash.len() == 64 && format!("{:x}", Sha256::digest(path.as_bytes())) == hash
}

/// A small file's text; nothing of it when it is larger or can't be read.
fn small(path: &Path) -> Option<String> {
    let mut glance = Glance::of(path).ok()?;
    while glance.grow().ok()? {}
    let text = std::str::from_utf8(glance.head()).ok()?;
    glance.is_whole().then(|| text.to_owned())
}

/// Whether a file by its name can be that of a session: it ends in the first
/// part of its id, or it is the id as far as that can be a name.
pub(super) fn may_hold(file: &Path, session_id: &str) -> bool {
    let as_name = |c: char| match c {
        _ if c.is_ascii_alphanumeric() || c == '-' || c == '_' => c,
        _ => '_',
    };
    let name: String = session_id.chars().map(as_name).collect();
    let short = name.get(..SHORT_ID).unwrap_or(&name);
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    stem.is_some_and(|stem| {
        let begin = stem.strip_suffix(short);
        stem == name
            || (stem.starts_with("session-") && begin.is_some_and(|begin| begin.ends_with('-')))
    })
}

/// Files beside this one that by their names are of the same session, the
/// newest first.
pub(super) fn twins(file: &Path, session_id: &str) -> Vec<PathBuf> {
    let short: String = session_id.chars().take(SHORT_ID).collect();
    let Some(entries) = file
        .parent()
        .and_then(|folder| std::fs::read_dir(folder).ok())
    else {
        return Vec::new();
    };
    if short.chars().count() < SHORT_ID {
        return Vec::new();
    }
    let is_twin = |path: &PathBuf| {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let is_json = path
            .extension()
            .is_some_and(|ext| ext == "json" || ext == "jsonl");
        is_json && path != file && stem.is_some_and(|stem| stem.ends_with(&short))
    };
    let mut twins: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(is_twin)
        .collect();
    twins.sort_unstable_by(|a, b| b.cmp(a));
    twins.truncate(MAX_TWINS);
    twins
}
