//! opencode: a database, or one JSON document for each session, message and
//! part of a message.
//!
//! Owns both layouts and what of them is current. Of a database the session
//! used last is read.

mod current;
mod database;
mod files;
mod listing;

use std::path::{Path, PathBuf};

use serde::Deserialize;

use self::current::{Kind, Message, Summary};
use super::build::{About, Builder, Sink};
use super::{
    Adapter, Environment, Foreign, ForeignCapture, ForeignSession, FoundFile, Head, Look, Round,
    SourceError, Walk, adapter, records,
};
use crate::session::TitleSource;
use crate::tool::Tool;

const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

/// opencode.
pub(super) struct Opencode;

impl Adapter for Opencode {
    fn tool(&self) -> Tool {
        Tool::Opencode
    }

    fn places(&self, environment: &Environment) -> Vec<PathBuf> {
        listing::places(environment)
    }

    /// The old layout is not written any more; other folders are none of ours.
    fn is_tree(&self, _: &Path) -> bool {
        false
    }

    fn scan(&self, place: &Path, walk: &mut Walk) {
        listing::scan(place, walk);
    }

    fn find(&self, place: &Path, path: &Path) -> Option<FoundFile> {
        listing::find(place, path)
    }

    fn look(&self, path: &Path, _: &Round) -> Result<Look, SourceError> {
        listing::look(path).map(Look::Sessions)
    }

    fn locate(&self, place: &Path, native_id: &str) -> Option<PathBuf> {
        listing::locate(place, native_id)
    }

    fn recognises(&self, head: &Head) -> bool {
        recognises(head)
    }

    fn read(&self, path: &Path, native_id: Option<&str>) -> Result<ForeignSession, SourceError> {
        read(path, native_id)
    }

    fn capture(&self, path: &Path, native_id: Option<&str>) -> Result<ForeignCapture, SourceError> {
        read(path, native_id)
    }

    fn capture_many(
        &self,
        path: &Path,
        native_ids: &[&str],
        round: &Round,
    ) -> Vec<Result<ForeignCapture, SourceError>> {
        let one_by_one =
            || adapter::one_by_one(path, native_ids, |id| self.capture(path, Some(id)));
        if !is_database_file(path).unwrap_or(false) {
            return one_by_one();
        }
        match database::read_many(path, native_ids, &round.databases) {
            Ok(stored) => {
                let built = stored.into_iter().map(|stored| build(path, stored?));
                built.collect()
            }
            // Each says for itself what went wrong.
            Err(_) => one_by_one(),
        }
    }
}

fn read<S: Sink>(path: &Path, native_id: Option<&str>) -> Result<Foreign<S>, SourceError> {
    if is_database_file(path)? {
        build(path, database::read(path, native_id)?)
    } else {
        build(path, files::read(path)?)?.wanted(path, native_id)
    }
}

fn recognises(head: &Head) -> bool {
    // What is in a database can all be in its write-ahead log: it has to be
    // opened to know.
    is_database(&head.bytes) || files::is_session(&head.bytes)
}

fn is_database(bytes: &[u8]) -> bool {
    bytes.starts_with(SQLITE_MAGIC)
}

fn is_database_file(path: &Path) -> Result<bool, SourceError> {
    let mut magic = [0; SQLITE_MAGIC.len()];
    // A shorter file is none.
    let read = std::io::Read::read_exact(&mut records::open(path)?, &mut magic);
    Ok(read.is_ok() && is_database(&magic))
}

/// A session as either layout has it.
#[derive(Default)]
struct Stored {
    id: String,
    directory: Option<String>,
    /// `None` when it is only a placeholder.
    title: Option<String>,
    version: Option<String>,
    parent: Option<String>,
    created: i64,
    updated: Option<i64>,
    revert: Option<Revert>,
    messages: Vec<Message>,
    /// How many records of messages there are, those included that can't be
    /// read.
    records: usize,
    skipped: usize,
    note: Option<String>,
}

/// From where on a session was taken back.
#[derive(Clone, Debug, Deserialize)]
struct Revert {
    #[serde(rename = "messageID")]
    message: String,
    /// Set when the message's first parts stay.
    #[serde(rename = "partID")]
    part: Option<String>,
}

fn build<S: Sink>(path: &Path, stored: Stored) -> Result<Foreign<S>, SourceError> {
    let parts = stored.messages.iter().flat_map(|message| &message.parts);
    let known = parts.filter(|part| part.kind != Kind::Unknown).count();
    if stored.records > 0 && known == 0 {
        return Err(SourceError::NoDialogue {
            path: path.to_owned(),
            tool: Tool::Opencode,
            version: stored
                .version
                .unwrap_or_else(|| "without a version".to_owned()),
            records: stored.records,
        });
    }
    let mut builder = Builder::new(
        Tool::Opencode,
        About {
            native_id: stored.id,
            created_at: stored.created,
            cwd: stored.directory,
            is_subagent: stored.parent.is_some(),
            parent: stored.parent,
        },
    );
    builder.skip(stored.skipped);
    for part in stored.messages.iter().flat_map(|message| &message.parts) {
        builder.skip(usize::from(part.kind == Kind::Unknown));
    }
    for message in current::current(stored.messages, stored.revert.as_ref()) {
        add(&mut builder, &message);
    }
    if let Some(title) = stored.title {
        builder.title(stored.created, &title, TitleSource::Fallback);
    }
    if let Some(note) = stored.note {
        builder.note(note);
    }
    Ok(builder.finish())
}

fn add<S: Sink>(builder: &mut Builder<S>, message: &Message) {
    let time = message.created;
    if message.is_user {
        builder.person(time, message.text());
        for part in &message.parts {
            if let Kind::Injected(text) = &part.kind {
                builder.injected(time, "opencode", text);
            }
        }
        return;
    }
    if message.summary == Summary::Finished {
        builder.checkpoint_in_place(time, &message.id, message.text());
        return;
    }
    builder.model(time, &message.model, message.text());
    for part in &message.parts {
        if let Kind::Tool { call, output } = &part.kind
            && !output.is_empty()
        {
            builder.tool_result(time, call, output);
        }
    }
}

/// What a person said first, of the first messages of a session.
fn first_prompt(messages: Vec<Message>, revert: Option<&Revert>) -> Option<String> {
    let messages = current::current(messages, revert);
    let mut said = messages.iter().filter(|message| message.is_user);
    said.find_map(|message| Some(message.text()).filter(|text| !text.trim().is_empty()))
}

/// A title that says something.
fn named(title: Option<String>) -> Option<String> {
    title.filter(|title| !title.trim().is_empty() && !is_placeholder(title))
}

/// Whether a title is the one that a session without a title gets: words and
/// a time stamp.
fn is_placeholder(title: &str) -> bool {
    ["New session - ", "Child session - "]
        .iter()
        .filter_map(|words| title.strip_prefix(words))
        .any(|time| time.ends_with('Z') && time.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
