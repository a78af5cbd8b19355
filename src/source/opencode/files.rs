//! The layout of JSON documents: `session/<project>/<session>.json`,
//! `message/<session>/*.json`, and `part/<message>/*.json` or, in old ones,
//! `part/*.json`. The oldest has `session/{info,message,part}` with a folder for
//! each session around a message's parts.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::current::{Message, MessageData, Part, PartData, Time};
use super::{Revert, SourceError, Stored, first_prompt};
use crate::source::glance::Glance;
use crate::source::{records, torn};

/// How many messages of an untitled session are looked at for its first
/// prompt.
const FIRST_MESSAGES: usize = 16;
/// The largest document that is read for a list, in bytes.
const MAX_LISTED_BYTES: u64 = 1024 * 1024;

/// Where sessions lay in the oldest layout.
const OLDEST: &str = "session/info";

#[derive(Default, Deserialize)]
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
            let is_oldest = || {
                let id = document.get("id").and_then(Value::as_str);
                id.is_some_and(|id| id.starts_with("ses_")) && has("version") && has("title")
            };
            let is_known = (has("id") && has("projectID")) || is_oldest();
            is_known && document.pointer("/time/created").is_some()
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

/// The session of a document, with its messages.
pub(super) fn read(path: &Path) -> Result<Stored, SourceError> {
    let data: SessionData = records::document(path).ok_or_else(|| SourceError::NoSession {
        path: path.to_owned(),
        wanted: None,
    })?;
    let mut stored = session(path, data);
    if let Some(storage) = storage(path) {
        let id = stored.id.clone();
        messages(storage, &id, &mut stored);
    }
    Ok(stored)
}

/// What a document says of its session without a look at its messages, and
/// whether all of it could be read.
pub(super) fn glance(path: &Path) -> Result<(Stored, bool), SourceError> {
    let mut glance = Glance::of(path)?;
    while glance.grow()? {}
    let whole = serde_json::from_slice(records::trimmed(glance.head()));
    let is_all = whole.is_ok();
    let data = whole.or_else(|_| torn::read(glance.head()));
    let data: SessionData = data.unwrap_or_default();
    Ok((session(path, data), is_all))
}

fn session(path: &Path, data: SessionData) -> Stored {
    let time = data.time.unwrap_or_default();
    let revert = data.revert;
    let worktree = || worktree(storage(path)?, data.project.as_deref());
    Stored {
        id: data.id.or_else(|| stem(path)).unwrap_or_default(),
        directory: data.directory.or_else(worktree),
        created: time.created.unwrap_or(0),
        updated: time.updated,
        title: super::named(data.title),
        version: data.version,
        parent: data.parent,
        revert: revert.and_then(|revert| Revert::deserialize(revert).ok()),
        ..Stored::default()
    }
}

/// The folder that messages and parts lie in. At first they lay beside the
/// sessions' own.
fn storage(session: &Path) -> Option<&Path> {
    let is_oldest = session.parent()?.ends_with(OLDEST);
    session.ancestors().nth(if is_oldest { 2 } else { 3 })
}

/// The folder of a message's parts. At first there was one for each session
/// around it.
fn parts_of(storage: &Path, session: &str, message: &str) -> PathBuf {
    let parts = storage.join("part");
    if storage.ends_with("session") && storage.join("info").is_dir() {
        parts.join(session).join(message)
    } else {
        parts.join(message)
    }
}

fn worktree(storage: &Path, project: Option<&str>) -> Option<String> {
    let name = project.filter(|name| records::is_plain_name(name))?;
    let file = storage.join("project").join(format!("{name}.json"));
    records::document::<Project>(&file)?.worktree
}

fn messages(storage: &Path, session: &str, stored: &mut Stored) {
    let mut without_folder = HashMap::new();
    let mut seen = HashSet::new();
    for file in message_files(storage, session) {
        stored.records += 1;
        let data = document(&file, records::MAX_RECORD_BYTES as u64);
        let Some(mut message) = data.and_then(|data| message(data, &file)) else {
            stored.skipped += 1;
            continue;
        };
        // Parts belong to one message, whatever a copy of its document says.
        if !seen.insert(message.id.clone()) {
            stored.skipped += 1;
            continue;
        }
        let folder = parts_of(storage, session, &message.id);
        if records::is_plain_name(&message.id) && folder.is_dir() {
            for file in documents(&folder) {
                match document(&file, records::MAX_RECORD_BYTES as u64) {
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
    for file in documents(&storage.join("part")) {
        let data: Option<PartData> = document(&file, records::MAX_RECORD_BYTES as u64);
        let Some(data) = data else { continue };
        let at = data.message.as_ref().and_then(|id| without_folder.get(id));
        if let Some(message) = at.and_then(|at| stored.messages.get_mut(*at)) {
            message.parts.push(part(data, &file));
        }
    }
}

/// Whether a session has messages, told by names alone.
pub(super) fn has_messages(path: &Path, session: &str) -> bool {
    storage(path).is_some_and(|storage| !message_files(storage, session).is_empty())
}

/// What a person said first. As many of the first messages are read as it
/// takes.
pub(super) fn first_said(path: &Path, stored: &Stored) -> Option<String> {
    let storage = storage(path)?;
    let mut messages = Vec::new();
    let files = message_files(storage, &stored.id).into_iter();
    for file in files.take(FIRST_MESSAGES) {
        let Some(data) = document(&file, MAX_LISTED_BYTES) else {
            continue;
        };
        let Some(mut message) = message(data, &file) else {
            continue;
        };
        if message.is_user && records::is_plain_name(&message.id) {
            for file in documents(&parts_of(storage, &stored.id, &message.id)) {
                let data = document(&file, MAX_LISTED_BYTES);
                message.parts.extend(data.map(|data| part(data, &file)));
            }
        }
        let is_it = message.is_user && !message.text().trim().is_empty();
        messages.push(message);
        if is_it {
            break;
        }
    }
    first_prompt(messages, stored.revert.as_ref())
}

fn message_files(storage: &Path, session: &str) -> Vec<PathBuf> {
    if records::is_plain_name(session) {
        documents(&storage.join("message").join(session))
    } else {
        Vec::new()
    }
}

fn message(mut data: MessageData, file: &Path) -> Option<Message> {
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

/// A document, unless it is a link: those are not followed.
fn document<T: DeserializeOwned>(file: &Path, most: u64) -> Option<T> {
    let is_link = file.symlink_metadata().ok()?.is_symlink();
    (!is_link).then(|| records::document_within(file, most))?
}

/// The JSON documents of a folder, by name; none when it can't be read, or is a
/// link.
fn documents(folder: &Path) -> Vec<PathBuf> {
    if !folder.symlink_metadata().is_ok_and(|it| it.is_dir()) {
        return Vec::new();
    }
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
