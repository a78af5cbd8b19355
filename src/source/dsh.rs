//! DeepSeek Harness: logs of one event a line, plain or as zstd frames, of the
//! format versions 0 to 4.
//!
//! Owns the format, its generations and its title cache. Our own logs have the
//! same header; they are not recognised here.

mod fold;
mod lines;
mod listing;
mod marks;
mod rows;
mod skim;

use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use self::fold::Fold;
use self::lines::{Line, Rows};
use self::rows::{Message, Op, Row, Said};
use super::build::{About, Builder, Sink};
use super::pass;
use super::{
    Adapter, Environment, Foreign, ForeignCapture, ForeignSession, FoundFile, Head, Look, Round,
    SourceError, Walk, records,
};
use crate::session::TitleSource;
use crate::tool::Tool;

/// The newest version of the format that is known.
const NEWEST_VERSION: u64 = 4;
/// The longest header line that is looked at, in bytes.
const MAX_HEADER_BYTES: u64 = 1 << 20;
/// The largest entry of the title cache that is read, in bytes.
const MAX_CACHED_BYTES: u64 = 4 << 20;

/// Row types that our own logs never have.
const OWN_TYPES: [&str; 5] = [
    "agent/inbox/spliced",
    "session-log-deepseek/delivery-accepted",
    "text-chunks",
    "reasoning-chunks",
    "tool-call-chunks",
];

/// DeepSeek Harness.
pub(super) struct Dsh;

impl Adapter for Dsh {
    fn tool(&self) -> Tool {
        Tool::Dsh
    }

    fn places(&self, environment: &Environment) -> Vec<PathBuf> {
        listing::places(environment)
    }

    fn scan(&self, place: &Path, walk: &mut Walk) {
        listing::scan(place, walk);
    }

    fn find(&self, place: &Path, path: &Path) -> Option<FoundFile> {
        listing::find(place, path)
    }

    fn look(&self, path: &Path, _: &Round) -> Result<Look, SourceError> {
        let listed = listing::look(path)?;
        Ok(Look::Sessions(vec![listed]))
    }

    fn locate(&self, place: &Path, native_id: &str) -> Option<PathBuf> {
        listing::locate(place, native_id)
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
    let kinds = head.records.iter().filter_map(|record| record.text("type"));
    let own_row = kinds.into_iter().any(|kind| OWN_TYPES.contains(&kind));
    let Some(header) = head.records.first() else {
        return false;
    };
    if header.text("type") != Some("session") {
        // The header is damaged.
        return own_row;
    }
    if header.text("id").is_none() || !header.is_number("createdAt") {
        return false;
    }
    let own_key = ["delegationDepth", "seedLength", "origin"]
        .iter()
        .any(|key| header.has(key));
    // Our own logs are of version 1 or below, and their rows have a seq.
    let mut rows = head.records.iter().skip(1).peekable();
    let without_seqs = rows.peek().is_some() && rows.all(|row| !row.has("seq"));
    own_key
        || own_row
        || header
            .number("version")
            .is_some_and(|version| (2..=NEWEST_VERSION).contains(&version))
        || without_seqs
}

fn read<S: Sink>(path: &Path) -> Result<Foreign<S>, SourceError> {
    let Some(newest) = newest_generation(path) else {
        return read_one(path, None);
    };
    let asked = first_row(path).and_then(|header| header.id);
    let found = first_row(&newest).and_then(|header| header.id);
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let (newest_name, name) = (name(&newest), name(path));
    if found.is_some() && (asked.is_none() || asked == found) {
        let note = format!(
            "{newest_name}, beside {name}, is the newer generation of this session and was read instead"
        );
        records::observed(&newest, || read_one(&newest, Some(&note)))
    } else {
        let note = format!("{newest_name}, beside {name}, is not of this session and was not read");
        read_one(path, Some(&note))
    }
}

/// Which generation a file name stands for.
fn generation(name: &str) -> Option<u64> {
    let name = name.strip_prefix("session.")?;
    let name = name.strip_suffix(".zstd").unwrap_or(name);
    let name = name.strip_suffix("jsonl")?;
    if name.is_empty() {
        return Some(0);
    }
    name.strip_prefix('v')?.strip_suffix('.')?.parse().ok()
}

/// Which of the files of one folder counts: the highest generation, and of two
/// of one generation the plain one.
fn rank(name: &str) -> Option<(u64, bool)> {
    let is_plain = name.strip_suffix(".zstd").is_none();
    Some((generation(name)?, is_plain))
}

/// The file of a newer generation in the same folder, if there is one.
fn newest_generation(path: &Path) -> Option<PathBuf> {
    let asked = generation(path.file_name()?.to_str()?)?;
    let mut names = BTreeMap::new();
    for entry in std::fs::read_dir(path.parent()?).ok()?.flatten() {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        // A link beside it may lead anywhere.
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if let Some(rank) = rank(&name).filter(|(found, _)| is_file && *found > asked) {
            names.insert(rank, entry.path());
        }
    }
    names.into_values().next_back()
}

fn first_row(path: &Path) -> Option<Row> {
    let mut line = Vec::new();
    let mut file = records::open(path).ok()?.take(MAX_HEADER_BYTES);
    file.read_until(b'\n', &mut line).ok()?;
    let row: Row = serde_json::from_slice(records::trimmed(&line)).ok()?;
    (row.kind == "session").then_some(row)
}

/// What one pass over a log finds.
struct Log {
    header: Option<Row>,
    /// What stands on the surface, with its time.
    surface: Fold<(i64, Said)>,
    title: Option<(i64, String, TitleSource)>,
    first_time: Option<i64>,
    /// How many messages of a person's or the model's side there are.
    dialogue: usize,
    /// How many of them have a content of a known form.
    known: usize,
    skipped: usize,
    /// Whether a range of seqs was named.
    has_ranges: bool,
}

impl Log {
    fn new() -> Self {
        Self {
            header: None,
            surface: Fold::new(),
            title: None,
            first_time: None,
            dialogue: 0,
            known: 0,
            skipped: 0,
            has_ranges: false,
        }
    }

    fn read(path: &Path, keeps_results: bool) -> Result<Self, SourceError> {
        let rows = Rows::new(keeps_results);
        let log = Self::read_as(path, &rows)?;
        if !log.has_ranges || !rows.has_uncounted() {
            return Ok(log);
        }
        Self::read_as(path, &rows.counted())
    }

    fn read_as(path: &Path, rows: &Rows) -> Result<Self, SourceError> {
        let mut log = Self::new();
        // The seq of the next row, for logs whose rows don't say it, and the
        // line that it was told by.
        let (mut next, mut at) = (0_u64, 0);
        let skipped = pass::pass(path, u64::MAX, rows, |line, said| {
            // Each line before it is one row.
            let place = next.saturating_add(line.saturating_sub(at));
            at = line + 1;
            let seq_behind =
                |seq: Option<u64>, members| seq.unwrap_or(place).saturating_add(members);
            match said {
                Line::Message(message) => {
                    next = seq_behind(message.seq, 1);
                    log.message(message, place);
                }
                Line::Packed(members) => next = seq_behind(None, members),
                Line::Row(row) => {
                    next = seq_after(&row, place);
                    log.take(*row, place);
                }
            }
        })?;
        log.skipped += skipped;
        Ok(log)
    }

    /// When a row was written that may not say it.
    fn time(&self, told: Option<i64>) -> i64 {
        let header = || self.header.as_ref()?.created_at;
        told.or_else(header).unwrap_or(0)
    }

    fn take(&mut self, row: Row, place: u64) {
        match row.kind.as_str() {
            "session" if self.header.is_none() => self.header = Some(row),
            "session/title" => match row.title() {
                Some((title, by_person)) => {
                    self.title = Some((self.time(row.time), title.to_owned(), source(by_person)));
                }
                None => self.skipped += 1,
            },
            "user/message" | "assistant/message" | "tool/result" | "system/message"
            | "developer/message" => self.message(row.message(), place),
            "text-chunks" | "reasoning-chunks" | "tool-call-chunks" => {}
            _ if row.is_noise() => {}
            _ => self.skipped += 1,
        }
    }

    fn message(&mut self, message: Message, place: u64) {
        let seq = message.seq.unwrap_or(place);
        let time = self.time(message.time);
        self.first_time.get_or_insert(time);
        self.dialogue += usize::from(message.is_dialogue);
        let said = message.said;
        if said.is_none() {
            self.skipped += 1;
        } else if message.is_dialogue {
            self.known += 1;
        }
        // What can't be read takes part in the order all the same.
        let said = said.unwrap_or_default();
        match message.op {
            Op::Append => self.surface.append(seq, (time, said)),
            Op::Replace(start, end) => {
                self.has_ranges = true;
                let range = (start, end);
                if !self
                    .surface
                    .replace(seq, range, &message.sources, (time, said))
                {
                    // What it stands for is damaged.
                    self.skipped += 1;
                }
            }
            Op::Unknown => self.skipped += 1,
        }
    }
}

/// Who set a title.
fn source(by_person: bool) -> TitleSource {
    if by_person {
        TitleSource::Person
    } else {
        TitleSource::Fallback
    }
}

/// The seq of what follows a row, if that does not say its own.
fn seq_after(row: &Row, place: u64) -> u64 {
    if row.kind == "session" {
        return place;
    }
    let seq = row.seq.or(row.seq0).unwrap_or(place);
    seq.saturating_add(row.members())
}

/// What a header, or its absence, means for what was read.
fn note_of(header: Option<&Row>) -> Option<String> {
    let Some(header) = header else {
        let note = "its header can't be read: where and when it began is not known";
        return Some(note.to_owned());
    };
    let version = header.version.filter(|version| *version > NEWEST_VERSION)?;
    Some(format!(
        "its format has version {version}, and the newest known is {NEWEST_VERSION}: it was read \
         as that"
    ))
}

fn read_one<S: Sink>(path: &Path, note: Option<&str>) -> Result<Foreign<S>, SourceError> {
    let log = Log::read(path, S::KEEPS_RESULTS)?;
    let first_time = log.first_time.unwrap_or(0);
    let about = about(path, log.header.as_ref(), first_time);
    let title = log.title.or_else(|| {
        let title = cached_title(path, log.header.as_ref()?)?;
        Some((about.created_at, title, TitleSource::Fallback))
    });
    let mut builder = Builder::new(Tool::Dsh, about);
    builder.skip(log.skipped);
    for (time, said) in log.surface.into_values() {
        match said {
            Said::Hidden => {}
            Said::Person(text) => builder.person(time, text),
            Said::Injected { by, text } => builder.injected(time, &by, text),
            Said::Checkpoint { id, text } => builder.checkpoint_in_place(time, &id, text),
            Said::Model { model, text } => builder.model(time, &model, text),
            Said::Tool { call, text } => builder.tool_result(time, &call, text),
        }
    }
    let version = log.header.as_ref().and_then(|header| header.version);
    if log.dialogue > 0 && log.known == 0 {
        let version = version.map_or("without a version".to_owned(), |v| format!("format {v}"));
        return Err(SourceError::NoDialogue {
            path: path.to_owned(),
            tool: Tool::Dsh,
            version,
            records: log.dialogue,
        });
    }
    if let Some((time, title, source)) = title {
        builder.title(time, &title, source);
    }
    if let Some(note) = note_of(log.header.as_ref()) {
        builder.note(note);
    }
    if let Some(note) = note {
        builder.note(note);
    }
    Ok(builder.finish())
}

fn about(path: &Path, header: Option<&Row>, first_time: i64) -> About {
    let folder = || {
        let folder = path.parent().and_then(Path::file_name);
        folder.unwrap_or_default().to_string_lossy().into_owned()
    };
    let Some(header) = header else {
        return About {
            native_id: folder(),
            created_at: first_time,
            ..About::default()
        };
    };
    About {
        native_id: header.id.clone().unwrap_or_else(folder),
        created_at: header.created_at.unwrap_or(first_time),
        cwd: header.cwd.clone(),
        parent: header.parent_session.clone(),
        is_subagent: header.origin.as_deref() == Some("subagent")
            || header.delegation_depth.is_some_and(|depth| depth > 0),
    }
}

/// An entry of the title cache.
#[derive(Deserialize)]
struct Cached {
    record: CachedRecord,
}

#[derive(Deserialize)]
struct CachedRecord {
    identity: Identity,
    rows: CachedRows,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Identity {
    created_at: Option<i64>,
    cwd: Option<String>,
    is_seeded: Option<bool>,
}

#[derive(Deserialize)]
struct CachedRows {
    title: CachedTitle,
}

#[derive(Deserialize)]
struct CachedTitle {
    val: Option<String>,
}

/// The title that the cache beside the folder of sessions has, if its entry is
/// of this very session.
fn cached_title(path: &Path, header: &Row) -> Option<String> {
    let id = header.id.as_deref()?;
    let session = path.parent()?;
    let folder = session.file_name()?.to_str()?;
    let name = if records::is_plain_name(id) {
        id
    } else {
        folder
    };
    // `<home>/sessions/<slug>/<id>/`, or a copy of what lies in `sessions`.
    let cached: Cached = session.ancestors().skip(2).take(2).find_map(|home| {
        let cache = home.join("storages/session_projcache/sessions");
        records::document_within(&cache.join(format!("{name}.json")), MAX_CACHED_BYTES)
    })?;
    let identity = cached.record.identity;
    let is_seeded = |seeded: Option<bool>| seeded.unwrap_or(false);
    let is_same = identity.created_at == header.created_at
        && identity.cwd == header.cwd
        && is_seeded(identity.is_seeded) == is_seeded(header.is_seeded);
    cached.record.rows.title.val.filter(|_| is_same)
}

#[cfg(test)]
mod tests;
