//! Where opencode keeps its sessions, and what a list shows of them.

use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::{Stored, files, is_database_file};
use crate::session::{Millis, TitleSource};
use crate::source::database;
use crate::source::{
    Environment, FoundFile, Kind, Listed, SourceError, SourceNotice, Walk, records, walk,
};

/// The folder of the tool, or the database that the environment names.
pub(super) fn places(environment: &Environment) -> Vec<PathBuf> {
    let share = || Some(environment.home()?.join(".local/share"));
    let data = environment.path("XDG_DATA_HOME").or_else(share);
    let folder = data.map(|data| data.join("opencode"));
    let place = match environment.value("OPENCODE_DB") {
        None => folder,
        Some(named) if named == ":memory:" => None,
        // An absolute path stays what it is.
        Some(named) => Some(folder.unwrap_or_default().join(named)),
    };
    place.into_iter().collect()
}

pub(super) fn scan(place: &Path, walk: &mut Walk) {
    if place.is_file() {
        database::found(place.to_owned(), walk);
        return;
    }
    walk.entries(place, |walk, entry, kind| {
        let name = entry.file_name();
        if name.to_str().is_some_and(is_database_name) {
            if kind.is_file() {
                database::found(entry.path(), walk);
            } else {
                walk.file(entry.path(), None);
            }
        } else if kind.is_dir() && name == "storage" {
            documents(&entry.path().join("session"), walk);
        }
    });
}

fn is_database_name(name: &str) -> bool {
    let name = name.strip_prefix("opencode");
    let channel = name.and_then(|name| name.strip_suffix(".db"));
    channel.is_some_and(|channel| channel.is_empty() || channel.starts_with('-'))
}

/// Adds the documents of sessions, which lie in a folder for each project.
fn documents(folder: &Path, walk: &mut Walk) {
    let projects = walk.folders_in(folder);
    walk.each(&projects, |walk, project| {
        walk.folder(project, |walk, entry, kind| {
            let path = entry.path();
            if !kind.is_dir() && is_document(&path) {
                document(path, walk);
            }
        });
    });
}

fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json")
}

fn document(path: PathBuf, walk: &mut Walk) {
    let id = path.file_stem().and_then(|stem| stem.to_str());
    let id = id.map(str::to_owned);
    walk.file(path, id);
}

pub(super) fn find(place: &Path, path: &Path) -> Option<FoundFile> {
    let mut walk = Walk::default();
    if path == place {
        database::found(path.to_owned(), &mut walk);
        return walk.files.pop();
    }
    let name = path.file_name()?.to_str()?;
    match walk::folders(place, path)?.as_slice() {
        [] if is_database_name(name) => database::found(path.to_owned(), &mut walk),
        ["storage", "session", _] if is_document(path) => document(path.to_owned(), &mut walk),
        _ => {}
    }
    walk.files.pop()
}

pub(super) fn locate(place: &Path, native_id: &str) -> Option<PathBuf> {
    if !records::is_plain_name(native_id) {
        return None;
    }
    let mut walk = Walk::new(CancellationToken::new());
    scan(place, &mut walk);
    let named = walk
        .files
        .iter()
        .find(|file| file.native_id.as_deref() == Some(native_id));
    let holds = |path: &Path| super::database::holds(path, native_id).unwrap_or(false);
    let mut databases = walk.files.iter().filter(|file| file.native_id.is_none());
    // What was moved into the database goes on there.
    let found = databases.find(|file| holds(&file.path)).or(named)?;
    Some(found.path.clone())
}

pub(super) fn look(path: &Path) -> Result<Vec<Listed>, SourceError> {
    if is_database_file(path)? {
        let entries = super::database::list(path)?.into_iter();
        let listed = entries.map(|entry| {
            listed(
                entry.stored,
                entry.has_messages,
                entry.first_prompt.as_deref(),
            )
        });
        return Ok(listed.collect());
    }
    let (stored, is_all) = files::glance(path)?;
    let has_messages = files::has_messages(path, &stored.id);
    let prompt = if has_messages && stored.title.is_none() {
        files::first_said(path, &stored)
    } else {
        None
    };
    let mut listed = listed(stored, has_messages, prompt.as_deref());
    if !is_all {
        let note = "its document is damaged, or too long to be read whole for the list";
        listed.notices.push(SourceNotice::Note(note.to_owned()));
    }
    Ok(vec![listed])
}

fn listed(stored: Stored, has_messages: bool, first_prompt: Option<&str>) -> Listed {
    let kind = match (&stored.parent, has_messages) {
        (_, false) => Kind::Stub,
        (Some(_), true) => Kind::Subagent,
        (None, true) => Kind::Session,
    };
    let named = stored.title.as_deref();
    let named = named.map(|named| (named, TitleSource::Fallback));
    Listed {
        title: Listed::title(named, first_prompt),
        native_id: stored.id,
        cwd: stored.directory,
        created_at: Millis(stored.created),
        updated_at: stored.updated.map(Millis),
        parent: stored.parent,
        kind,
        messages: None,
        notices: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
