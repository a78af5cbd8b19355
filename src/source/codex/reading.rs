//! Reads the records of a session, from all the files it is spread over.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::super::pass;
use super::super::{SourceError, moment, records};
use super::history::{History, Item, Said};
use super::home;
use super::lines::{Line, Lines};
use super::record::{self, Content, HistoryBase, Kind, Payload, Record};
use super::rollouts::Listings;
use super::words::{Message, Role, Words};
use crate::text::Text;

/// How many files one session may be spread over.
const MAX_FILES: usize = 256;
/// How far into a file its metadata may be, in bytes.
const META_BYTES: u64 = 4 * 1024 * 1024;

/// How many messages of each role there were, whatever became of them.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Counts {
    pub(super) persons: usize,
    pub(super) models: usize,
}

impl Counts {
    pub(super) fn count(&mut self, role: Role) {
        match role {
            Role::User => self.persons += 1,
            Role::Assistant => self.models += 1,
        }
    }
}

/// Whose messages are read from the display log in place of the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Display {
    pub(super) persons: bool,
    pub(super) models: bool,
}

impl Display {
    /// Whether any are.
    pub(super) fn is_read(self) -> bool {
        self.persons || self.models
    }

    fn reads(self, role: Role) -> bool {
        match role {
            Role::User => self.persons,
            Role::Assistant => self.models,
        }
    }
}

/// A session while it is read.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) display: Display,
    pub(super) history: History,
    /// The metadata of the file that was asked for.
    pub(super) meta: Option<Payload>,
    /// The line that holds them, from 1.
    pub(super) meta_line: usize,
    pub(super) first_time: Option<i64>,
    time: i64,
    /// The id that the oldest versions wrote at the top.
    pub(super) bare_id: Option<String>,
    /// The directory that the environment tells.
    pub(super) environment: Option<String>,
    /// The names that the session's own records give, and to which id.
    pub(super) renamed: Vec<(String, String)>,
    model: Arc<str>,
    pub(super) read: Counts,
    pub(super) shown: Counts,
    /// Messages of a person or the model, and how many of them told nothing.
    pub(super) dialogue: usize,
    pub(super) unread: usize,
    pub(super) skipped: usize,
    /// Whether the last compaction left a summary that only the tool's maker
    /// can read.
    pub(super) sealed: bool,
    pub(super) notes: Vec<String>,
}

/// One of the files that a session is spread over, and how much of it.
struct Part {
    path: PathBuf,
    bytes: u64,
}

impl Reading {
    /// Reads the session that ends in `leaf`.
    ///
    /// # Errors
    /// When `leaf` can't be read.
    pub(super) fn of(leaf: &Path, listings: &Listings) -> Result<Self, SourceError> {
        let mut reading = Self::default();
        reading.files(leaf, listings)?;
        let Some(display) = reading.only_shown() else {
            return Ok(reading);
        };
        let mut reading = Self::of_display(display);
        reading.files(leaf, listings)?;
        Ok(reading)
    }

    /// Reads the display log for the messages of some.
    pub(super) fn of_display(display: Display) -> Self {
        Self {
            display,
            ..Self::default()
        }
    }

    /// Whose messages must be read from the display log, where the history has
    /// none of a role and that log has: all that it shows, so that they stay in
    /// order.
    pub(super) fn only_shown(&self) -> Option<Display> {
        let (read, shown) = (self.read, self.shown);
        let lacks = |read: usize, shown: usize| read == 0 && shown > 0;
        let is_lacking = lacks(read.persons, shown.persons) || lacks(read.models, shown.models);
        is_lacking.then_some(Display {
            persons: shown.persons > 0,
            models: shown.models > 0,
        })
    }

    fn files(&mut self, leaf: &Path, listings: &Listings) -> Result<(), SourceError> {
        let mut parts = vec![Part {
            path: leaf.to_owned(),
            bytes: u64::MAX,
        }];
        let mut seen = HashSet::from([leaf.to_owned()]);
        while let Some(last) = parts.last()
            && let Some(base) = self.base(&last.path)
        {
            let Some(path) = listings.find(leaf, &base.thread_id, &last.path) else {
                self.notes.push(lost_beginning(&base.thread_id));
                break;
            };
            if parts.len() == MAX_FILES || !seen.insert(path.clone()) {
                let id = printable(&base.thread_id);
                self.notes.push(format!(
                    "the beginning is in the rollout {id}, which builds on this one"
                ));
                break;
            }
            parts.push(Part {
                path,
                bytes: base.end_byte_offset,
            });
        }
        while parts.len() > 1
            && let Some(part) = parts.pop()
        {
            if let Err(problem) = self.part(&part, None) {
                self.notes.push(problem.to_string());
            }
        }
        for part in &parts {
            self.part(part, home::ids(leaf).map(|(id, _)| id).or(Some("")))?;
        }
        Ok(())
    }

    /// What a file builds on.
    fn base(&mut self, path: &Path) -> Option<HistoryBase> {
        let is_meta =
            |line: &[u8]| record::types(line).is_none_or(|(outer, _)| outer == "session_meta");
        let read = records::find_within(path, META_BYTES, is_meta, |record: Record| {
            let is_meta = record.kind.as_deref() == Some("session_meta");
            is_meta.then(|| record.payload.and_then(|payload| payload.history_base))
        });
        // What can't be read is said when the file is read as a whole.
        let base = read.ok()??;
        let base = serde_json::from_value(base?);
        if base.is_err() {
            self.notes
                .push("where the beginning is can't be told from the metadata".to_owned());
        }
        base.ok()
    }

    /// Reads one file; `leaf` is the id in its name when it is the file that
    /// was asked for.
    fn part(&mut self, part: &Part, leaf: Option<&str>) -> Result<(), SourceError> {
        let form = Lines {
            display: self.display.is_read(),
            is_leaf: leaf.is_some(),
        };
        let mut unknown = 0;
        let skipped = pass::pass(&part.path, part.bytes, &form, |line, said| {
            let number = usize::try_from(line + 1).unwrap_or(usize::MAX);
            let leaf = leaf.map(|id| (id, number));
            match said {
                Line::Shown(role) => self.shown.count(role),
                Line::Unknown => unknown += 1,
                Line::Asked => self.history.begin_turn(),
                Line::Message(message) => {
                    self.at(message.time, leaf.is_some());
                    self.said(message);
                }
                Line::Started(time) => {
                    self.at(time, leaf.is_some());
                    self.history.start_turn();
                }
                Line::Model(time, model) => {
                    self.at(time, leaf.is_some());
                    if *self.model != *model {
                        self.model = model.into();
                    }
                }
                // The inside of a torn record is none, though it may look like
                // an old one.
                Line::Record(record, true) if record.payload.is_none() => {}
                Line::Record(record, _) => self.record(*record, leaf),
            }
        })?;
        self.skipped += skipped + unknown;
        if std::fs::metadata(&part.path).is_ok_and(|file| file.len() < part.bytes)
            && leaf.is_none()
            && part.path.extension().is_some_and(|end| end == "jsonl")
        {
            self.notes
                .push("the file that holds the beginning has become shorter".to_owned());
        }
        Ok(())
    }

    /// Notes when a record was written.
    fn at(&mut self, time: Option<i64>, is_of_leaf: bool) {
        if let Some(time) = time {
            self.time = time;
            if is_of_leaf {
                self.first_time.get_or_insert(time);
            }
        }
    }

    /// Takes a message of the history.
    fn said(&mut self, message: Message<Words>) {
        let is_shown = message
            .words
            .role()
            .is_some_and(|role| self.display.reads(role));
        if !is_shown && !message.is_output {
            self.message(message.words);
        }
    }

    /// Takes a record; `leaf` is the id in the name of the file that was asked
    /// for, and the number of its line there.
    pub(super) fn record(&mut self, mut record: Record, leaf: Option<(&str, usize)>) {
        self.at(record.timestamp.as_ref().and_then(millis), leaf.is_some());
        let outer = record.kind.clone().unwrap_or_default();
        let Some(payload) = record.payload.take() else {
            let is_message = ["", "message"].contains(&outer.as_str());
            match (record.role, record.id) {
                (Some(role), _) if is_message => {
                    if let Some(role) = Role::of(&role) {
                        self.message(Words::of(role, &record.content, None, None));
                    }
                }
                (_, Some(Value::String(id))) if outer.is_empty() => {
                    self.bare_id.get_or_insert(id);
                }
                _ if record.old_note.is_some() || record::is_known_item(&outer) => {}
                _ => self.skipped += 1,
            }
            return;
        };
        let inner = payload.kind.as_deref().unwrap_or_default();
        match (outer.as_str(), record::kind(&outer, inner)) {
            (_, Kind::Unknown) => self.skipped += 1,
            (_, Kind::Noise) => {}
            (_, Kind::Asked) => self.history.begin_turn(),
            (_, Kind::Display) => self.display(&payload),
            ("session_meta", _) => {
                if let Some((id, line)) = leaf {
                    self.meta(payload, id, line);
                }
            }
            ("turn_context", _) => {
                if let Some(Value::String(model)) = payload.model {
                    self.model = model.into();
                }
            }
            ("compacted", _) => self.compacted(&payload),
            ("response_item", _) => {
                record.payload = Some(payload);
                if let Some(message) = record.message() {
                    self.said(message.said());
                }
            }
            _ => self.event(payload),
        }
    }

    /// The first metadata are the file's own. Where the first line is lost,
    /// those of the id in its name are.
    fn meta(&mut self, payload: Payload, id: &str, line: usize) {
        let is_own = |meta: &Payload| meta.id.as_ref().and_then(Value::as_str) == Some(id);
        let is_better = match &self.meta {
            None => true,
            Some(meta) => self.meta_line > 1 && !is_own(meta) && is_own(&payload),
        };
        if is_better {
            self.meta_line = line;
            self.meta = Some(payload);
        }
    }

    fn event(&mut self, payload: Payload) {
        match payload.kind.as_deref() {
            Some("thread_rolled_back") => {
                self.history
                    .roll_back(payload.num_turns.unwrap_or_default());
            }
            Some("thread_name_updated") => {
                if let (Some(Value::String(id)), Some(Value::String(name))) =
                    (payload.thread_id, payload.thread_name)
                {
                    self.renamed.push((id, name));
                }
            }
            _ => self.history.start_turn(),
        }
    }

    fn display(&mut self, payload: &Payload) {
        let text = || match &payload.message {
            Some(Value::String(text)) => Content::Text(text.into()),
            _ => Content::Missing,
        };
        let shown = match (payload.kind.as_deref(), &payload.item) {
            (Some("user_message"), _) => Some((Role::User, &text())),
            (Some("agent_message"), _) => Some((Role::Assistant, &text())),
            (_, Some(item)) => match item.kind.as_deref() {
                Some("UserMessage") => Some((Role::User, &item.content)),
                Some("AgentMessage") => Some((Role::Assistant, &item.content)),
                _ => None,
            },
            _ => None,
        };
        let Some((role, content)) = shown else {
            return;
        };
        if self.display.reads(role) {
            self.message(Words::of(role, content, None, None));
        } else {
            self.shown.count(role);
        }
    }

    fn message(&mut self, words: Words) {
        if words.begins_turn() {
            self.history.begin_turn();
        }
        for item in self.items(words) {
            self.history.push(item);
        }
    }

    fn compacted(&mut self, payload: &Payload) {
        let summary = match &payload.message {
            Some(Value::String(summary)) => summary.as_str(),
            _ => "",
        };
        self.sealed = false;
        let Some(replacement) = &payload.replacement_history else {
            let summary = (!summary.is_empty()).then(|| self.item(Said::Summary, summary));
            self.history.sum_up(summary);
            return;
        };
        let mut items = Vec::new();
        for item in replacement {
            match item.kind.as_deref() {
                Some("message") | None => {
                    let Some(role) = item.role.as_deref().and_then(Role::of) else {
                        continue;
                    };
                    let passed = item.passed.as_ref();
                    let kinds = passed.and_then(|it| it.content_item_kinds.as_deref());
                    let words = Words::of(role, &item.content, kinds, Some(summary));
                    items.extend(self.items(words));
                }
                Some(kind) => self.sealed |= kind.starts_with("compaction"),
            }
        }
        self.sealed &= items.iter().all(|item| item.said != Said::Summary);
        self.history.replace(items);
    }

    /// What a message adds to the conversation, in order.
    fn items(&mut self, words: Words) -> impl Iterator<Item = Item> + use<> {
        self.dialogue += 1;
        let (first, second) = match words {
            Words::Nothing => (None, None),
            Words::Unread => {
                self.unread += 1;
                (None, None)
            }
            Words::Model(text) => {
                self.read.models += 1;
                (Some((Said::Model, text)), None)
            }
            Words::Summary(text) => (Some((Said::Summary, text)), None),
            Words::User {
                injected,
                person,
                directory,
                ..
            } => {
                self.environment = self.environment.take().or(directory);
                self.read.persons += usize::from(person.is_some());
                (
                    injected.map(|text| (Said::Injected, text)),
                    person.map(|text| (Said::Person, text)),
                )
            }
        };
        let items = [first, second].map(|said| said.map(|(said, text)| self.item(said, text)));
        items.into_iter().flatten()
    }

    fn item(&self, said: Said, text: impl Into<Text>) -> Item {
        Item {
            said,
            time: self.time,
            model: Arc::clone(&self.model),
            text: text.into(),
        }
    }
}

/// A time in Unix milliseconds, from text or a number of seconds or
/// milliseconds.
pub(super) fn millis(time: &Value) -> Option<i64> {
    match time {
        Value::String(text) => moment::millis(text),
        Value::Number(number) => {
            let number = number.as_i64()?;
            let in_seconds = number < 100_000_000_000;
            number.checked_mul(if in_seconds { 1000 } else { 1 })
        }
        _ => None,
    }
}

/// What is said of a beginning that no file has.
pub(super) fn lost_beginning(id: &str) -> String {
    let id = printable(id);
    format!("the beginning is in the rollout {id}, which is not there")
}

/// A short text that a screen can show.
pub(super) fn printable(text: &str) -> String {
    crate::session::title::normalise(text, crate::session::title::MAX_TITLE_BYTES)
}
