//! Codex: rollout files of records, a thread each, in all their forms so far.
//!
//! The model's history is what counts; the display log beside it only where
//! the history is missing. What a compaction replaced, a rollback dropped, or
//! a revert left in another file is not read as said.

mod beginning;
mod history;
mod home;
mod injected;
mod lines;
mod listing;
mod reading;
mod record;
mod rollouts;
mod skim;
#[cfg(test)]
mod tests;
mod words;

use std::path::{Path, PathBuf};

use serde_json::Value;

use self::history::Said;
use self::home::Home;
use self::reading::Reading;
use self::record::Payload;
pub(super) use self::rollouts::Listings;
use super::adapter;
use super::brief::Brief;
use super::build::{About, Builder, Sink};
use super::{
    Adapter, Environment, Foreign, ForeignCapture, ForeignSession, FoundFile, Head, Look, Round,
    SourceError, Walk,
};
use crate::session::TitleSource;
use crate::tool::Tool;

/// What stands for software that wrote into a person's message.
const INJECTED_BY: &str = "codex";

/// Codex CLI.
pub(super) struct Codex;

impl Adapter for Codex {
    fn tool(&self) -> Tool {
        Tool::Codex
    }

    fn places(&self, environment: &Environment) -> Vec<PathBuf> {
        listing::places(environment)
    }

    fn is_tree(&self, place: &Path) -> bool {
        listing::is_tree(place)
    }

    fn scan(&self, place: &Path, walk: &mut Walk) {
        listing::scan(place, walk);
    }

    fn find(&self, place: &Path, path: &Path) -> Option<FoundFile> {
        listing::find(place, path)
    }

    fn look(&self, path: &Path, round: &Round) -> Result<Look, SourceError> {
        listing::look(path, &round.listings)
    }

    fn locate(&self, place: &Path, native_id: &str) -> Option<PathBuf> {
        listing::locate(place, native_id)
    }

    fn recognises(&self, head: &Head) -> bool {
        recognises(head)
    }

    fn read(&self, path: &Path, native_id: Option<&str>) -> Result<ForeignSession, SourceError> {
        read(path, &Round::default())?.wanted(path, native_id)
    }

    fn capture(&self, path: &Path, native_id: Option<&str>) -> Result<ForeignCapture, SourceError> {
        read(path, &Round::default())?.wanted(path, native_id)
    }

    fn capture_many(
        &self,
        path: &Path,
        native_ids: &[&str],
        round: &Round,
    ) -> Vec<Result<ForeignCapture, SourceError>> {
        adapter::one_by_one(path, native_ids, |id| {
            read(path, round)?.wanted(path, Some(id))
        })
    }
}

/// Whether a file begins like a rollout file.
fn recognises(head: &Head) -> bool {
    let is_line = |record: &Brief| {
        let kind = record.text("type").unwrap_or_default();
        record.is_object("payload")
            && [
                "session_meta",
                "response_item",
                "event_msg",
                "turn_context",
                "compacted",
            ]
            .contains(&kind)
    };
    let is_bare = |record: &Brief| {
        let kind = record.text("type");
        let other = ["message", "sessionId", "uuid", "data", "seq", "parts"];
        let plain = !other.iter().any(|key| record.has(key));
        let message = kind.is_none_or(|kind| kind == "message")
            && record.text("role").is_some()
            && record.has("content");
        plain && (message || record.has("record_type"))
    };
    head.records
        .iter()
        .any(|record| is_line(record) || is_bare(record))
}

/// Reads the session in a rollout file.
fn read<S: Sink>(path: &Path, round: &Round) -> Result<Foreign<S>, SourceError> {
    let plain = home::plain_twin(path);
    let leaf = plain.as_deref().unwrap_or(path);
    let mut reading = Reading::of(leaf, &round.listings)?;
    if plain.is_some() {
        let note = "the plain file beside this compressed one is read in its place";
        reading.notes.push(note.to_owned());
    }
    finish(leaf, reading, round)
}

fn finish<S: Sink>(
    leaf: &Path,
    mut reading: Reading,
    round: &Round,
) -> Result<Foreign<S>, SourceError> {
    let meta = reading.meta.take().unwrap_or_default();
    if reading.dialogue > 0 && reading.unread == reading.dialogue {
        return Err(SourceError::NoDialogue {
            path: leaf.to_owned(),
            tool: Tool::Codex,
            version: meta
                .cli_version
                .unwrap_or_else(|| "(no version)".to_owned()),
            records: reading.dialogue,
        });
    }
    let about = about(leaf, &meta, &reading);
    let (native_id, created_at) = (about.native_id.clone(), about.created_at);
    let mut builder = Builder::new(Tool::Codex, about);
    for (n, item) in reading.history.items().iter().enumerate() {
        match item.said {
            Said::Person => builder.person(item.time, item.text.clone()),
            Said::Model => builder.model(item.time, &item.model, item.text.clone()),
            Said::Injected => builder.injected(item.time, INJECTED_BY, item.text.clone()),
            Said::Summary => {
                builder.checkpoint_in_place(item.time, &n.to_string(), item.text.clone());
            }
        }
    }
    builder.skip(reading.skipped + reading.unread);
    for note in reading.notes {
        builder.note(note);
    }
    if reading.sealed {
        builder.note("what was compacted away is summed up in a form that only its maker can read");
    }

    let names = Home::around(leaf).map(|home| home.names(&native_id, &round.databases));
    let names = names.unwrap_or_default();
    let renamed = reading.renamed.into_iter().rev();
    let renamed = || {
        renamed
            .filter(|(id, _)| *id == native_id)
            .map(|(_, name)| name)
            .next()
    };
    if let Some(title) = names.title.or_else(renamed) {
        builder.title(created_at, &title, TitleSource::Person);
    }
    if let Some(problem) = names.problem {
        builder.note(problem);
    }
    let live = names.file.as_deref().map(Path::new).and_then(home::ids);
    if let Some((id, segment)) = live
        && id == native_id
        && home::ids(leaf) != live
    {
        let rollout = reading::printable(segment.unwrap_or(id));
        builder.note(format!(
            "a revert moved this session on to the rollout {rollout}"
        ));
    }
    Ok(builder.finish())
}

/// What a session's metadata say of it, or else what its records and the name
/// of its file do.
fn about(leaf: &Path, meta: &Payload, reading: &Reading) -> About {
    let written_id = meta.id.as_ref().and_then(Value::as_str).map(str::to_owned);
    let named_id = home::ids(leaf).map(|(id, _)| id.to_owned());
    let native_id = if reading.meta_line == 1 {
        written_id.or(named_id)
    } else {
        named_id.or(written_id)
    };
    let stem = || {
        let stem = leaf.file_stem()?;
        Some(stem.to_string_lossy().into_owned())
    };
    let native_id = native_id
        .or_else(|| reading.bare_id.clone())
        .or_else(stem)
        .unwrap_or_default();

    let begun = meta.timestamp.as_ref().and_then(reading::millis);
    let source = meta.source.as_ref();
    let spawned_by = source.and_then(|source| source.get("subagent"));
    let is_subagent = spawned_by.is_some()
        || meta.thread_source.as_ref().and_then(Value::as_str) == Some("subagent");
    let spawning_id = || {
        let id = spawned_by?.pointer("/thread_spawn/parent_thread_id")?;
        id.as_str().map(str::to_owned)
    };
    let parent = meta.forked_from_id.clone();
    let parent = parent
        .or_else(|| meta.parent_thread_id.clone())
        .or_else(spawning_id);
    About {
        parent: parent.filter(|parent| *parent != native_id),
        native_id,
        created_at: begun.or(reading.first_time).unwrap_or_default(),
        cwd: meta.cwd.clone().or_else(|| reading.environment.clone()),
        is_subagent,
    }
}
