//! The layout of JSON documents: `session/<project>/<session>.json`,
//! `message/<session>/*.json`, and `part/<message>/*.json` or, in old ones,
//! `part/*.json`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::current::{Message, MessageData, Part, PartData, Time};
use super::{Revert, SourceError, Stored};
use crate::source::records;

#[derive(Deserialize)]
struct SessionData {
    id: Option<String>,
    directory: Option<String>,
    title: Option<String>,
    version: Option<String>,
    #[serde(rename = "projectID")]
    project: Option<String>,
    #[serde(rename = "parentID")]
    parent: Option<String>,
    time: Option<Time>,
    /// Read apart, so that a new form of it loses nothing else.
    revert: Option<Value>,
}

#[derive(Deserialize)]
struct Project {
    worktree: Option<String>,
}

/// Whether a document is a session's: it can be cut off at its end.
pub(super) fn is_session(bytes: &[u8]) -> bool {
    let bytes = records::trimmed(bytes);
    match serde_json::from_slice::<Value>(bytes) {
        Ok(document) => {
            let has = |key: &str| document.get(key).is_some_and(Value::is_string);
            has("id") && has("projectID") && document.pointer("/time/created").is_some()
        }
        Err(e) => {
            let has = |mark: &[u8]| memchr::memmem::find(bytes, mark).is_some();
            e.is_eof()
                && bytes.starts_with(b"{")
                && has(br#""projectID""#)
                && has(br#""directory""#)
        }
    }
}

pub(super) fn read(path: &Path) -> Result<Stored, SourceError> {
    let session: SessionData = records::document(path).ok_or_else(|| SourceError::NoSession {
        path: path.to_owned(),
        wanted: None,
    })?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let id = session.id.unwrap_or_else(|| stem.into_owned());
    let mut stored = Stored {
        created: session.time.and_then(|time| time.created).unwrap_or(0),
        directory: session.directory,
        title: session.title,
        version: session.version,
        parent: session.parent,
        revert: session
            .revert
            .and_then(|revert| Revert::deserialize(revert).ok()),
        ..Stored::default()
    };
    if let Some(storage) = path.ancestors().nth(3) {
        if stored.directory.is_none() {
            stored.directory = worktree(storage, session.project.as_deref());
        }
        if records::is_plain_name(&id) {
            messages(storage, &id, &mut stored);
        }
    }
    stored.id = id;
    Ok(stored)
}

fn worktree(storage: &Path, project: Option<&str>) -> Option<String> {
    let name = project.filter(|name| records::is_plain_name(name))?;
    let file = storage.join("project").join(format!("{name}.json"));
    records::document::<Project>(&file)?.worktree
}

fn messages(storage: &Path, session: &str, stored: &mut Stored) {
    let parts = storage.join("part");
    let mut without_folder = HashMap::new();
    for file in documents(&storage.join("message").join(session)) {
        stored.records += 1;
        let Some(mut message) = message(&file) else {
            stored.skipped += 1;
            continue;
        };
        let folder = parts.join(&message.id);
        if records::is_plain_name(&message.id) && folder.is_dir() {
            for file in documents(&folder) {
                match records::document(&file) {
                    Some(data) => message.parts.push(part(data, &file)),
                    None => stored.skipped += 1,
                }
            }
        } else {
            without_folder.insert(message.id.clone(), stored.messages.len());
        }
        stored.messages.push(message);
    }
    if without_folder.is_empty() {
        return;
    }
    // Parts of every session lie here, so what can't be read says nothing
    // about this one.
    for file in documents(&parts) {
        let data: Option<PartData> = records::document(&file);
        let Some(data) = data else { continue };
        let at = data.message.as_ref().and_then(|id| without_folder.get(id));
        if let Some(message) = at.and_then(|at| stored.messages.get_mut(*at)) {
            message.parts.push(part(data, &file));
        }
    }
}

fn message(file: &Path) -> Option<Message> {
    let mut data: MessageData = records::document(file)?;
    let id = data.id.take().or_else(|| stem(file))?;
    data.message(id, 0)
}

fn part(mut data: PartData, file: &Path) -> Part {
    let id = data.id.take().or_else(|| stem(file));
    data.part(id.unwrap_or_default())
}

fn stem(file: &Path) -> Option<String> {
    Some(file.file_stem()?.to_str()?.to_owned())
}

/// The JSON documents of a folder, by name; none when it can't be read.
fn documents(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut documents: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    documents.sort();
    documents
}
