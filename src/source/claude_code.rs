//! Sessions of Claude Code: `projects/<folder>/<uuid>.jsonl`, and those of its
//! subagents beside them.
//!
//! One pass over the file gathers the tree of records and what was said in
//! each; then the way through the tree is emitted in its order.

mod chain;
mod finding;
mod id;
mod lines;
mod listing;
mod marks;
mod record;
mod said;
mod skim;
#[cfg(test)]
#[expect(clippy::string_slice, reason = "texts of one byte a character are cut")]
mod tests;
mod told;
mod words;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use self::chain::{Current, Node};
use self::id::Id;
use self::lines::{Beside, Line, Lines};
use self::marks::Marked;
use self::record::Record;
use self::said::{Said, Seen};
use self::told::Told;
use super::brief::Brief;
use super::build::{About, Builder, Sink};
use super::loose::Word;
use super::pass;
use super::{
    Adapter, Environment, Foreign, ForeignCapture, ForeignSession, FoundFile, Head, Look, Round,
    SourceError, Walk,
};
use crate::session::TitleSource;
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
    head.records.iter().any(is_own)
        || (memchr::memmem::find(&head.bytes, b"\"parentUuid\":").is_some()
            && memchr::memmem::find(&head.bytes, b"\"isSidechain\":").is_some())
}

fn is_own(record: &Brief) -> bool {
    let has = |key: &str| record.has(key);
    match record.text("type") {
        Some("user" | "assistant") if has("sessionId") && record.is_object("message") => true,
        Some("user" | "assistant" | "system" | "attachment" | "progress") => {
            has("uuid") && (has("sessionId") || has("parentUuid"))
        }
        Some("summary") => has("leafUuid"),
        Some(kind) => OWN_TYPES.contains(&kind) || (record::is_noise(kind) && has("sessionId")),
        None => false,
    }
}

fn read<S: Sink>(path: &Path) -> Result<Foreign<S>, SourceError> {
    let form = Lines::new(S::KEEPS_RESULTS);
    let mut scan = Scan::default();
    let mut torn = 0;
    let skipped = pass::pass(path, u64::MAX, &form, |_, line| {
        match line {
            Line::Told(told) => scan.dialogue(told),
            Line::Marked(marked, beside) => torn += scan.marked(marked, beside),
            Line::Record(record) => scan.take(*record),
        }
        if scan.knows_the_start() {
            form.know_the_start();
        }
    })?;
    let skipped = skipped + torn;
    let mut builder = Builder::new(Tool::ClaudeCode, scan.about(path));
    builder.skip(skipped + scan.skipped);
    let mut current = chain::current(&scan.nodes, scan.marker.as_ref(), skipped > 0);
    scan.snip(&mut current);
    said::emit(&mut builder, &current, &scan.nodes, &scan.said);
    if scan.unreadable > 0 && builder.messages() == 0 {
        return Err(SourceError::NoDialogue {
            path: path.to_owned(),
            tool: Tool::ClaudeCode,
            version: scan
                .version
                .map_or_else(|| "of no known version".to_owned(), String::from),
            records: scan.unreadable,
        });
    }
    let known = scan.uuids();
    if let Some((title, source)) = scan.title(|leaf| known.contains(leaf)) {
        builder.title(scan.last_time, title, source);
    }
    Ok(builder.finish())
}

/// What one pass over the file gathers.
#[derive(Default)]
struct Scan {
    nodes: Vec<Node>,
    /// What was said in each node.
    said: Vec<Said>,
    /// Records that take others out of the conversation, by their places, and
    /// which.
    snips: Vec<(usize, HashSet<Id>)>,
    marker: Option<Id>,
    session_ids: Vec<Id>,
    agent_id: Option<Box<str>>,
    has_main: bool,
    fork_of: Option<Box<str>>,
    request_of: Option<Box<str>>,
    cwd: Option<Box<str>>,
    created_at: i64,
    last_time: i64,
    version: Option<Box<str>>,
    custom_title: Option<Box<str>>,
    agent_name: Option<Box<str>>,
    ai_title: Option<Box<str>>,
    /// Summaries and the leaves that they are of.
    summaries: Vec<(Box<str>, Option<Id>)>,
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
                let seen = Seen::of(&record);
                self.dialogue(Told::of(record, seen).said());
            }
            Some("attachment") => {
                let said = Said::queued(&record);
                self.node(Told::of(record, said));
            }
            Some("system" | "progress") => {
                let removed = &record.snip_metadata.0.removed_uuids.0;
                if record.subtype.is("snip_boundary") && !removed.is_empty() {
                    let removed = removed.iter().filter_map(told::id).collect();
                    self.snips.push((self.nodes.len(), removed));
                }
                self.node(Told::of(record, Said::default()));
            }
            Some("last-prompt") => self.marker = told::id(&record.leaf_uuid).or(self.marker.take()),
            Some("custom-title") => self.custom_title = titled(record.custom_title),
            Some("agent-name") => self.agent_name = titled(record.agent_name),
            Some("ai-title") => self.ai_title = titled(record.ai_title),
            Some("summary") => {
                if let Some(title) = titled(record.summary) {
                    self.summaries.push((title, told::id(&record.leaf_uuid)));
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

    /// Takes a record that is known by its marks: all of it, where it may tell
    /// the start. Gives how many could not be read.
    fn marked(&mut self, marked: Marked, beside: Option<Box<Beside<Option<Said>>>>) -> usize {
        let (words, early) = match beside {
            Some(beside) => (beside.words, beside.early),
            None => (None, None),
        };
        if let Some(early) = early.filter(|_| !self.knows_the_start()) {
            if let Some(record) = early.record {
                self.take(record);
            }
            return early.lost;
        }
        if let Some(words) = words {
            self.dialogue(Told::by_marks(marked, words));
        } else {
            let said = Said::bare(marked.time, marked.kind);
            self.node(Told::by_marks(marked, said));
        }
        0
    }

    /// Takes a record of a user or the model.
    fn dialogue(&mut self, told: Told<Option<Said>>) {
        if told.words.is_none() {
            self.unreadable += 1;
            self.skipped += 1;
        }
        self.node(told.saying(|_, said| said.unwrap_or_default()));
    }

    fn node(&mut self, told: Told<Said>) {
        if told.time > 0 {
            self.last_time = told.time;
            if self.created_at == 0 {
                self.created_at = told.time;
            }
        }
        if let Some(start) = told.start {
            self.version = self.version.take().or(start.version);
            first(&mut self.agent_id, start.agent_id);
            first(&mut self.cwd, start.cwd);
            first(&mut self.fork_of, start.fork_of);
            first(&mut self.request_of, start.request_of);
        }
        self.has_main |= !told.node.is_sidechain;
        if let Some(id) = told.session_id
            && self.session_ids.len() < MAX_SESSION_IDS
            && !self.session_ids.contains(&id)
        {
            self.session_ids.push(id);
        }
        self.nodes.push(told.node);
        self.said.push(told.words);
    }

    /// Takes out what snips on the way removed.
    fn snip(&self, current: &mut Current) {
        let on_way: HashSet<usize> = match self.snips[..] {
            [] => return,
            _ => current.order.iter().copied().collect(),
        };
        let snips = self.snips.iter().filter(|(at, _)| on_way.contains(at));
        let removed: HashSet<&Id> = snips.flat_map(|(_, removed)| removed).collect();
        let uuid = |at: &usize| self.nodes.get(*at)?.uuid.as_ref();
        let is_left = |at: &usize| uuid(at).is_none_or(|uuid| !removed.contains(uuid));
        current.order.retain(is_left);
    }

    /// A subagent's file is named by its agent and tells its parent's id.
    fn about(&self, path: &Path) -> About {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy());
        let stem = stem.as_deref().unwrap_or_default();
        let owner = finding::owner(path);
        let is_subagent = owner.is_some()
            || (!self.nodes.is_empty() && !self.has_main && self.agent_id.is_some());
        let told = self.session_ids.first().map(Id::to_string);
        let told = told.as_deref();
        let is_told = self.session_ids.contains(&Id::of(stem));
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
    fn uuids(&self) -> HashSet<Id> {
        let nodes = self.nodes.iter().filter(|_| !self.summaries.is_empty());
        nodes.filter_map(|node| node.uuid.clone()).collect()
    }

    /// The title that the tool shows. A summary counts only when its leaf is a
    /// record of this file: old versions left those of other sessions in a new
    /// file.
    fn title(&self, is_own: impl Fn(&Id) -> bool) -> Option<(&str, TitleSource)> {
        if let Some(title) = self.custom_title.as_deref().or(self.agent_name.as_deref()) {
            return Some((title, TitleSource::Person));
        }
        let own = |leaf: &Option<Id>| leaf.as_ref().is_some_and(&is_own);
        let summary = self.summaries.iter().rev().find(|(_, leaf)| own(leaf));
        let title = self
            .ai_title
            .as_deref()
            .or(summary.map(|(title, _)| &**title));
        title.map(|title| (title, TitleSource::Fallback))
    }
}

fn first(known: &mut Option<Box<str>>, told: Option<Box<str>>) {
    if known.is_none() {
        *known = told.filter(|told| !told.is_empty());
    }
}

fn titled(title: Word) -> Option<Box<str>> {
    title.0.filter(|title| !title.trim().is_empty())
}
