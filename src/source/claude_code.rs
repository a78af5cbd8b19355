//! Sessions of Claude Code: `projects/<folder>/<uuid>.jsonl`, and those of its
//! subagents beside them.
//!
//! One pass over the file gathers the tree of records and what was said in
//! each; then the way through the tree is emitted in its order.

mod chain;
mod finding;
mod listing;
mod record;
mod said;
mod skim;
#[cfg(test)]
#[expect(clippy::string_slice, reason = "texts of one byte a character are cut")]
mod tests;
mod words;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use self::chain::{Messages, Node, Preserved};
use self::record::{CompactMetadata, Link, Record};
use self::said::Said;
use super::build::{About, Builder};
use super::loose::Word;
use super::pass::{self, Form, Skim};
use super::{
    Adapter, Environment, ForeignSession, FoundFile, Head, Look, SourceError, Walk, records,
};
use crate::session::TitleSource;
use crate::text::TextBlock;
use crate::tool::Tool;

/// Types that no other tool's records have.
const OWN_TYPES: &[&str] = &[
    "agent-name",
    "ai-title",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "queue-operation",
];

/// Claude Code.
pub(super) struct ClaudeCode;

impl Adapter for ClaudeCode {
    fn tool(&self) -> Tool {
        Tool::ClaudeCode
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

    fn look(&self, path: &Path) -> Result<Look, SourceError> {
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
}

fn recognises(head: &Head) -> bool {
    head.records.iter().any(is_own)
        || (memchr::memmem::find(&head.bytes, b"\"parentUuid\":").is_some()
            && memchr::memmem::find(&head.bytes, b"\"isSidechain\":").is_some())
}

fn is_own(record: &Value) -> bool {
    let has = |key: &str| record.get(key).is_some();
    match record.get("type").and_then(Value::as_str) {
        Some("user" | "assistant" | "system" | "attachment" | "progress") => {
            has("uuid") && (has("sessionId") || has("parentUuid"))
        }
        Some("summary") => has("leafUuid"),
        Some(kind) => OWN_TYPES.contains(&kind) || (record::is_noise(kind) && has("sessionId")),
        None => false,
    }
}

fn read(path: &Path) -> Result<ForeignSession, SourceError> {
    let form = Records::default();
    let mut scan = Scan::default();
    let mut torn = 0;
    let skipped = pass::pass(path, u64::MAX, &form, |_, line| {
        match line {
            Line::Link(link) => scan.link(link),
            Line::Attachment(link, _) if scan.knows_the_start() => scan.link(link),
            Line::Attachment(_, (record, lost)) => {
                torn += lost;
                if let Some(record) = record {
                    scan.take(*record);
                }
            }
            Line::Record(record) => scan.take(*record),
        }
        if scan.knows_the_start() {
            form.start_is_known.store(true, Ordering::Relaxed);
        }
    })?;
    let skipped = skipped + torn;
    let mut builder = Builder::new(Tool::ClaudeCode, scan.about(path));
    builder.skip(skipped + scan.skipped);
    let marker = scan.marker.as_deref();
    let current = chain::current(&scan.nodes, marker, skipped > 0);
    said::emit(&mut builder, &current, &scan.said);
    if scan.unreadable > 0 && builder.messages() == 0 {
        return Err(SourceError::NoDialogue {
            path: path.to_owned(),
            tool: Tool::ClaudeCode,
            version: scan
                .version
                .unwrap_or_else(|| "of no known version".to_owned()),
            records: scan.unreadable,
        });
    }
    let known = scan.uuids();
    if let Some((title, source)) = scan.title(|leaf| known.contains(leaf)) {
        builder.title(scan.last_time, title, source);
    }
    Ok(builder.finish())
}

/// What a line says.
enum Line {
    /// It only links others. It is told once the start is known.
    Link(Link),
    /// The same, with the whole record, or what is glued to a damaged one, and
    /// how many could not be read.
    Attachment(Link, (Option<Box<Record>>, usize)),
    Record(Box<Record>),
}

/// The form of the lines.
#[derive(Default)]
struct Records {
    /// Whether all is known that the first records tell of the session. An
    /// attachment that is looked at before is read whole, and what counts of it
    /// is decided in the order of the file.
    start_is_known: AtomicBool,
}

impl Form for Records {
    type Said = Line;
    type Record = Record;

    fn skim(&self, line: &[u8], texts: Option<&mut TextBlock>) -> Skim<Line> {
        if !record::wanted(line) {
            return Skim::Nothing;
        }
        let start_is_known = self.start_is_known.load(Ordering::Relaxed);
        if let Some(link) = record::link(line) {
            return Skim::Said(if start_is_known {
                Line::Link(link)
            } else {
                let (record, lost) = records::record(line);
                Line::Attachment(link, (record.map(Box::new), lost))
            });
        }
        let record = texts.and_then(|texts| skim::record(line, texts, start_is_known));
        record.map_or(Skim::Unclear, |record| {
            Skim::Said(Line::Record(Box::new(record)))
        })
    }

    fn whole(&self, _line: &[u8], record: Record) -> Line {
        Line::Record(Box::new(record))
    }
}

/// What one pass over the file gathers.
#[derive(Default)]
struct Scan {
    nodes: Vec<Node>,
    /// What was said in each node.
    said: Vec<Said>,
    marker: Option<Box<str>>,
    session_ids: Vec<Box<str>>,
    agent_id: Option<Box<str>>,
    has_main: bool,
    fork_of: Option<Box<str>>,
    request_of: Option<Box<str>>,
    cwd: Option<Box<str>>,
    created_at: i64,
    last_time: i64,
    version: Option<String>,
    custom_title: Option<Box<str>>,
    agent_name: Option<Box<str>>,
    ai_title: Option<Box<str>>,
    /// Summaries and the leaves that they are of.
    summaries: Vec<(Box<str>, Option<Box<str>>)>,
    /// Records of the dialogue that hold nothing known.
    unreadable: usize,
    skipped: usize,
}

/// How many different session ids of one file are remembered. More are a sign
/// that the file is no session.
const MAX_SESSION_IDS: usize = 16;

impl Scan {
    fn take(&mut self, record: Record) {
        match record.kind.get() {
            Some("user" | "assistant") => {
                let said = Said::of(&record);
                if said.is_none() {
                    self.unreadable += 1;
                    self.skipped += 1;
                }
                self.node(record, said.unwrap_or_default());
            }
            Some("attachment") => {
                let said = Said::queued(&record);
                self.node(record, said);
            }
            Some("system" | "progress") => self.node(record, Said::default()),
            Some("last-prompt") => self.marker = record.leaf_uuid.0.or(self.marker.take()),
            Some("custom-title") => self.custom_title = titled(record.custom_title),
            Some("agent-name") => self.agent_name = titled(record.agent_name),
            Some("ai-title") => self.ai_title = titled(record.ai_title),
            Some("summary") => {
                if let Some(title) = titled(record.summary) {
                    self.summaries.push((title, record.leaf_uuid.0));
                }
            }
            Some(kind) if record::is_noise(kind) => {}
            _ => self.skipped += 1,
        }
    }

    /// Whether all is known that the first records tell of the session.
    fn knows_the_start(&self) -> bool {
        self.cwd.is_some() && self.version.is_some() && self.created_at != 0
    }

    fn link(&mut self, link: Link) {
        if link.time > 0 {
            self.last_time = link.time;
        }
        self.has_main |= !link.is_sidechain;
        self.nodes.push(Node {
            uuid: Some(link.uuid),
            parent: link.parent,
            is_sidechain: link.is_sidechain,
            ..Node::default()
        });
        self.said.push(Said::default());
    }

    fn node(&mut self, record: Record, said: Said) {
        let time = record.timestamp.millis();
        if time > 0 {
            self.last_time = time;
            if self.created_at == 0 {
                self.created_at = time;
            }
        }
        if let Some(version) = record.version.get().filter(|_| self.version.is_none()) {
            self.version = Some(version.to_owned());
        }
        self.has_main |= !record.is_sidechain.0;
        first(&mut self.agent_id, record.agent_id);
        first(&mut self.cwd, record.cwd);
        first(&mut self.fork_of, record.forked_from.0.session_id);
        first(&mut self.request_of, record.request_session_id);
        if let Some(id) = record.session_id.0
            && self.session_ids.len() < MAX_SESSION_IDS
            && !self.session_ids.contains(&id)
        {
            self.session_ids.push(id);
        }
        let is_boundary = record.subtype.is("compact_boundary");
        let is_model = record.kind.is("assistant");
        let preserved = is_boundary.then(|| preserved(&record.uuid, record.compact_metadata.0));
        self.nodes.push(Node {
            uuid: record.uuid.0,
            parent: record.parent_uuid.0,
            logical_parent: record.logical_parent_uuid.0.filter(|_| is_boundary),
            message_id: record.message.0.id.0.filter(|_| is_model),
            is_sidechain: record.is_sidechain.0,
            is_progress: record.kind.is("progress"),
            is_summary: record.is_compact_summary.0,
            boundary: preserved,
        });
        self.said.push(said);
    }

    /// A subagent's file is named by its agent and tells its parent's id.
    fn about(&self, path: &Path) -> About {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy());
        let stem = stem.as_deref().unwrap_or_default();
        let owner = finding::owner(path);
        let is_subagent = owner.is_some()
            || (!self.nodes.is_empty() && !self.has_main && self.agent_id.is_some());
        let told = self.session_ids.first().map(|id| &**id);
        let is_told = self.session_ids.iter().any(|id| **id == *stem);
        let by_name = Some(stem).filter(|stem| is_told || finding::is_uuid(stem));
        let native_id = match &self.agent_id {
            Some(agent) if is_subagent => format!("agent-{agent}"),
            None if is_subagent => stem.to_owned(),
            _ => by_name.or(told).unwrap_or(stem).to_owned(),
        };
        let parent = if is_subagent {
            owner.or(told).map(str::to_owned)
        } else {
            // A copy's first records are of the session that it was made of.
            let copied = self.fork_of.as_deref().or(self.request_of.as_deref());
            copied.or(told).map(str::to_owned)
        };
        About {
            parent: parent.filter(|parent| *parent != native_id),
            native_id,
            created_at: self.created_at,
            cwd: self.cwd.as_deref().map(str::to_owned),
            is_subagent,
        }
    }

    /// The records' own ids, where a summary may ask for them.
    fn uuids(&self) -> HashSet<&str> {
        let nodes = self.nodes.iter().filter(|_| !self.summaries.is_empty());
        nodes.filter_map(|node| node.uuid.as_deref()).collect()
    }

    /// The title that the tool shows. A summary counts only when its leaf is a
    /// record of this file: old versions left those of other sessions in a new
    /// file.
    fn title(&self, is_own: impl Fn(&str) -> bool) -> Option<(&str, TitleSource)> {
        if let Some(title) = self.custom_title.as_deref().or(self.agent_name.as_deref()) {
            return Some((title, TitleSource::Person));
        }
        let own = |leaf: &Option<Box<str>>| leaf.as_deref().is_some_and(&is_own);
        let summary = self.summaries.iter().rev().find(|(_, leaf)| own(leaf));
        let title = self
            .ai_title
            .as_deref()
            .or(summary.map(|(title, _)| &**title));
        title.map(|title| (title, TitleSource::Fallback))
    }
}

fn first(known: &mut Option<Box<str>>, told: Word) {
    if known.is_none() {
        *known = told.0.filter(|told| !told.is_empty());
    }
}

fn titled(title: Word) -> Option<Box<str>> {
    title.0.filter(|title| !title.trim().is_empty())
}

fn preserved(own: &Word, metadata: CompactMetadata) -> Preserved {
    let listed = metadata.preserved_messages.0;
    let segment = metadata.preserved_segment.0;
    let anchors = [&listed.anchor, &segment.anchor];
    let anchor = anchors.into_iter().find(|anchor| anchor.get().is_some());
    let uuids = listed.uuids.0;
    Preserved {
        is_before: anchor.is_some_and(|anchor| anchor == own),
        messages: match (segment.head.0, segment.tail.0) {
            (Some(head), Some(tail)) if uuids.is_empty() => Messages::Segment { head, tail },
            _ => Messages::Listed(uuids.into_iter().filter_map(|uuid| uuid.0).collect()),
        },
    }
}
