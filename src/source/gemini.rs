//! Sessions of Gemini CLI: `tmp/<project>/chats/session-*`, one JSON document
//! in old versions, JSON lines that change what came before in newer ones.

mod finding;
mod listing;
mod place;
mod record;
#[cfg(test)]
#[expect(clippy::string_slice, reason = "texts of one byte a character are cut")]
mod tests;
mod words;

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use self::record::{Message, Record};
use super::build::{About, Builder, Sink};
use super::loose::{List, Object, Word};
use super::{
    Adapter, Environment, Foreign, ForeignCapture, ForeignSession, FoundFile, Head, Look, Round,
    SourceError, Walk, records,
};
use crate::session::TitleSource;
use crate::tool::Tool;

/// Gemini CLI.
pub(super) struct Gemini;

impl Adapter for Gemini {
    fn tool(&self) -> Tool {
        Tool::Gemini
    }

    fn places(&self, environment: &Environment) -> Vec<PathBuf> {
        finding::places(environment)
    }

    fn scan(&self, place: &Path, walk: &mut Walk) {
        finding::scan(place, walk);
    }

    fn find(&self, place: &Path, path: &Path) -> Option<FoundFile> {
        finding::find(place, path)
    }

    fn look(&self, path: &Path, _: &Round) -> Result<Look, SourceError> {
        listing::look(path)
    }

    fn locate(&self, place: &Path, native_id: &str) -> Option<PathBuf> {
        finding::locate(place, native_id)
    }

    fn recognises(&self, head: &Head) -> bool {
        recognises(head)
    }

    fn read(&self, path: &Path, native_id: Option<&str>) -> Result<ForeignSession, SourceError> {
        read(path)?.wanted(path, native_id)
    }

    fn capture(&self, path: &Path, native_id: Option<&str>) -> Result<ForeignCapture, SourceError> {
        read(path)?.wanted(path, native_id)
    }
}

fn recognises(head: &Head) -> bool {
    let has = |mark: &[u8]| memchr::memmem::find(&head.bytes, mark).is_some();
    head.records.iter().any(|record| {
        let has = |key: &str| record.has(key);
        (has("sessionId") && has("projectHash"))
            || has("$rewindTo")
            || record.is_object("$set")
            || (has("id") && record.text("type") == Some("gemini"))
    }) || (has(b"\"sessionId\":") && has(b"\"projectHash\":"))
}

fn read<S: Sink>(path: &Path) -> Result<Foreign<S>, SourceError> {
    let chat = Chat::read(path)?;
    if chat.has_content() {
        return chat.finish(path, None);
    }
    // A resume leaves a file with nothing in it but what the tool itself says.
    let id = chat.session_id.get().unwrap_or_default();
    for twin in place::twins(path, id) {
        let Ok(other) = Chat::read(&twin) else {
            continue;
        };
        if other.session_id.get() == Some(id) && other.has_content() {
            let name = twin.file_name().unwrap_or_default().to_string_lossy();
            let note = format!("this file is a stub; its session is read from {name}");
            return other.finish(&twin, Some(note));
        }
    }
    chat.finish(path, None)
}

/// How often a damaged document is read on behind the damage.
const SALVAGE_TRIES: usize = 64;

/// A session under construction.
#[derive(Default)]
struct Chat {
    session_id: Word,
    project_hash: Word,
    start_time: Word,
    last_updated: Word,
    summary: Word,
    is_subagent: bool,
    messages: Vec<Message>,
    /// Where each id stands.
    at: HashMap<Box<str>, usize>,
    skipped: usize,
}

impl Chat {
    fn read(path: &Path) -> Result<Self, SourceError> {
        let mut chat = Self::default();
        if begins_a_document(path)? {
            chat.read_document(path)?;
        } else {
            chat.skipped += records::each(path, |_| true, |record| chat.take(record))?;
            if chat.skipped > 0 && chat.messages.is_empty() {
                // A document of one line that is torn.
                let skipped = std::mem::take(&mut chat).skipped;
                chat.read_document(path)?;
                chat.skipped = chat.skipped.max(skipped);
            }
        }
        Ok(chat)
    }

    /// Reads a file that is one value over many lines.
    fn read_document(&mut self, path: &Path) -> Result<(), SourceError> {
        let unreadable = |cause| SourceError::Unreadable {
            path: path.to_owned(),
            cause,
        };
        let limit = records::MAX_RECORD_BYTES as u64;
        let mut bytes = Vec::new();
        let file = records::open(path)?;
        file.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        if bytes.len() as u64 > limit {
            return Err(SourceError::TooLarge {
                path: path.to_owned(),
                problem: format!("it is one record of more than {limit} bytes"),
            });
        }
        self.take_document(&bytes);
        Ok(())
    }

    fn take_document(&mut self, bytes: &[u8]) {
        if let Ok(record) = serde_json::from_slice(records::trimmed(bytes)) {
            self.take(record);
        } else {
            self.skipped += 1;
            self.salvage(bytes);
        }
    }

    /// Takes what is whole of a document that is torn: its members up to the
    /// messages, and each message that can be read.
    fn salvage(&mut self, bytes: &[u8]) {
        let Some(list) = memchr::memmem::find(bytes, b"\"messages\"") else {
            return;
        };
        let before = bytes.get(..list).unwrap_or_default().trim_ascii_end();
        let mut head = before.strip_suffix(b",").unwrap_or(before).to_vec();
        head.push(b'}');
        if let Ok(record) = serde_json::from_slice::<Record>(records::trimmed(&head)) {
            self.about(&record);
        }
        let Some(open) = bytes
            .get(list..)
            .and_then(|rest| memchr::memchr(b'[', rest))
        else {
            return;
        };
        let mut rest = bytes.get(list + open + 1..).unwrap_or_default();
        let mut tries = SALVAGE_TRIES;
        while tries > 0 {
            rest = rest.trim_ascii_start();
            rest = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start();
            let mut values =
                serde_json::Deserializer::from_slice(rest).into_iter::<Object<Message>>();
            if let Some(Ok(Object(message))) = values.next() {
                let read = values.byte_offset();
                rest = rest.get(read..).unwrap_or_default();
                // What is no message is a part of one that is damaged.
                if message.kind.get().is_some() {
                    self.put(message);
                }
            } else {
                tries -= 1;
                let next = memchr::memchr(b'{', rest.get(1..).unwrap_or_default());
                let Some(next) = next else { return };
                rest = rest.get(next + 1..).unwrap_or_default();
            }
        }
    }

    fn take(&mut self, mut record: Record) {
        let mut is_known = self.about(&record);
        if let Some(Word(Some(id))) = record.rewind_to.take() {
            self.rewind(&id);
            is_known = true;
        }
        if let Some(set) = record.set.take() {
            let mut set = set.0;
            self.about(&set);
            if let Some(messages) = set.messages.take() {
                self.replace(messages);
            }
            is_known = true;
        }
        if let Some(messages) = record.messages.take() {
            self.replace(messages);
            is_known = true;
        }
        match record.into_message() {
            Some(message) => self.put(message),
            None if is_known => {}
            None => self.skipped += 1,
        }
    }

    /// Takes what a record tells of the session; whether it tells anything.
    fn about(&mut self, record: &Record) -> bool {
        let mut told = false;
        let mut word = |known: &mut Word, later: &Word, is_first_kept: bool| {
            told |= later.get().is_some();
            if later.get().is_some_and(|word| !word.is_empty())
                && !(is_first_kept && known.get().is_some())
            {
                *known = later.clone();
            }
        };
        word(&mut self.session_id, &record.session_id, false);
        word(&mut self.project_hash, &record.project_hash, false);
        word(&mut self.start_time, &record.start_time, true);
        word(&mut self.last_updated, &record.last_updated, false);
        word(&mut self.summary, &record.summary, false);
        self.is_subagent |= record.session_kind.is("subagent");
        told
    }

    /// Puts a message at the end, or where its id stands already.
    fn put(&mut self, message: Message) {
        let Some(id) = message.id.get() else {
            self.messages.push(message);
            return;
        };
        if let Some(known) = self.at.get(id).and_then(|at| self.messages.get_mut(*at)) {
            known.update(message);
        } else {
            self.at.insert(id.into(), self.messages.len());
            self.messages.push(message);
        }
    }

    fn replace(&mut self, messages: List<Object<Message>>) {
        self.messages.clear();
        self.at.clear();
        for message in messages.0 {
            self.put(message.0);
        }
    }

    /// Drops a message and all after it; all when it is not there.
    fn rewind(&mut self, id: &str) {
        let at = self.at.get(id).copied().unwrap_or(0);
        for dropped in self.messages.drain(at..) {
            if let Some(id) = dropped.id.get() {
                self.at.remove(id);
            }
        }
    }

    /// Whether a person or the model says anything.
    fn has_content(&self) -> bool {
        words::turns(&self.messages).any(|turn| words::is_said(&turn))
    }

    /// What a person typed first.
    fn prompt(&self) -> Option<String> {
        words::turns(&self.messages).find_map(|turn| words::prompt(&turn))
    }

    /// What the file and its place tell of the session.
    fn identity(&self, path: &Path) -> About {
        let parent = place::parent_id(path);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let told = self
            .session_id
            .get()
            .filter(|id| parent.as_deref() != Some(*id));
        About {
            native_id: told.unwrap_or(&stem).to_owned(),
            created_at: self.start_time.millis(),
            cwd: place::cwd(path, self.project_hash.get()),
            is_subagent: self.is_subagent || parent.is_some(),
            parent,
        }
    }

    /// The title that the tool shows.
    fn title(&self) -> Option<(&str, TitleSource)> {
        let summary = self.summary.get().filter(|text| !text.trim().is_empty());
        summary.map(|text| (text, TitleSource::Fallback))
    }

    fn finish<S: Sink>(self, path: &Path, note: Option<String>) -> Result<Foreign<S>, SourceError> {
        let mut builder = Builder::new(Tool::Gemini, self.identity(path));
        let mut strange = 0;
        for turn in words::turns(&self.messages) {
            strange += usize::from(!words::emit(&mut builder, &turn));
        }
        if strange > 0 && builder.messages() == 0 {
            return Err(SourceError::NoDialogue {
                path: path.to_owned(),
                tool: Tool::Gemini,
                version: "of a version that the file does not tell".to_owned(),
                records: strange,
            });
        }
        builder.skip(self.skipped + strange);
        if let Some(note) = note {
            builder.note(note);
        }
        if let Some((title, source)) = self.title() {
            builder.title(self.last_updated.millis(), title, source);
        }
        Ok(builder.finish())
    }
}

/// Whether a file is one value over many lines.
fn begins_a_document(path: &Path) -> Result<bool, SourceError> {
    let mut start = Vec::new();
    records::open(path)?
        .take(4096)
        .read_to_end(&mut start)
        .map_err(|cause| SourceError::Unreadable {
            path: path.to_owned(),
            cause,
        })?;
    Ok(is_document(&start))
}

/// Whether this begins one value over many lines: no record of its own line
/// begins like one.
fn is_document(start: &[u8]) -> bool {
    let start = records::trimmed(start);
    let after = start.strip_prefix(b"{").unwrap_or_default();
    let mut blank = after.iter().take_while(|b| b.is_ascii_whitespace());
    blank.any(|b| *b == b'\n')
}
