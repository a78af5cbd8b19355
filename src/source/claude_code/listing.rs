//! Which files of Claude Code there are, and what a list shows of one.
//!
//! A file tells its id, its directory, when it began and the first prompt in
//! its first records; titles and the last moment stand in its last ones.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde::Deserialize;

use super::Scan;
use super::record::{self, Record};
use crate::session::Millis;
use crate::source::glance::{CUT, Glance, PROMPT_BYTES};
use crate::source::loose::Word;
use crate::source::{
    Environment, Kind, Listed, Look, SourceError, SourceNotice, Walk, records, torn,
};

/// How deep folders of subagents are walked.
const AGENT_FOLDERS: usize = super::AGENT_FOLDERS;
/// What the name of a subagent's file begins with.
const AGENT: &str = "agent-";

/// The folders of projects.
pub(super) fn places(environment: &Environment) -> Vec<PathBuf> {
    let config = match (environment.path("CLAUDE_CONFIG_DIR"), environment.home()) {
        (Some(config), _) => vec![config],
        (None, Some(home)) => vec![home.join(".claude"), home.join(".config/claude")],
        (None, None) => Vec::new(),
    };
    config
        .iter()
        .map(|folder| folder.join("projects"))
        .collect()
}

/// Finds the files of sessions and of their subagents.
pub(super) fn scan(place: &Path, walk: &mut Walk) {
    walk.folder(place, |walk, project, kind| {
        if kind.is_dir() {
            walk.folder(&project.path(), |walk, entry, kind| {
                if kind.is_file() {
                    file(walk, entry, |stem| is_uuid(stem) || stem.starts_with(AGENT));
                } else if entry.file_name().to_str().is_some_and(is_uuid) {
                    walk.folder(&entry.path(), |walk, entry, kind| {
                        if kind.is_dir() && entry.file_name() == "subagents" {
                            agents(walk, &entry.path(), AGENT_FOLDERS);
                        }
                    });
                }
            });
        }
    });
}

/// Finds the subagents' files of one session.
fn agents(walk: &mut Walk, folder: &Path, depth: usize) {
    walk.folder(folder, |walk, entry, kind| {
        if kind.is_file() {
            file(walk, entry, |stem| stem.starts_with(AGENT));
        } else if depth > 1 {
            agents(walk, &entry.path(), depth - 1);
        }
    });
}

/// Adds a file whose name is one that the tool gives; the name is its id.
fn file(walk: &mut Walk, entry: &DirEntry, is_session: impl Fn(&str) -> bool) {
    let path = entry.path();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if path.extension().is_some_and(|ext| ext == "jsonl") && is_session(&stem) {
        let id = stem.into_owned();
        walk.file(path, Some(id));
    }
}

/// Whether a name is a session's: an id in its usual form.
fn is_uuid(name: &str) -> bool {
    const LENGTH: usize = 36;
    name.len() == LENGTH && uuid::Uuid::try_parse(name).is_ok()
}

/// The file of this name, the one written last where there are several.
pub(super) fn locate(place: &Path, native_id: &str) -> Option<PathBuf> {
    let mut walk = Walk::default();
    scan(place, &mut walk);
    let of_it = |id: &Option<String>| id.as_deref() == Some(native_id);
    let found = walk.files.into_iter().filter(|file| of_it(&file.native_id));
    found
        .max_by_key(|file| file.stamp.mtime_ns)
        .map(|file| file.path)
}

/// What a list shows of a file.
pub(super) fn look(path: &Path) -> Result<Look, SourceError> {
    let mut glance = Glance::of(path)?;
    let mut looking = Looking {
        is_agents: super::owner(path).is_some(),
        ..Looking::default()
    };
    let mut at = 0;
    loop {
        at = looking.read(&glance, at);
        let is_done = looking.knows_enough()
            || (looking.knows_start() && glance.head().len() >= PROMPT_BYTES);
        if is_done || !glance.grow()? {
            break;
        }
    }
    glance.end()?;
    if !looking.knows_enough() && glance.is_whole() {
        at = looking.read(&glance, at);
    }
    let rest: Vec<&[u8]> = glance.lines(at).chain(glance.tail_lines()).collect();
    if !looking.knows_enough() && !glance.is_whole() {
        looking.read_torn(glance.head().get(at..).unwrap_or_default());
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    looking.read_marked(&rest, &stem);
    Ok(Look::Sessions(vec![looking.finish(path, &glance, &rest)]))
}

/// What a look has found so far.
#[derive(Default)]
struct Looking {
    scan: Scan,
    /// Whether the file lies where subagents' do.
    is_agents: bool,
    /// The first prompt of the conversation.
    prompt: Option<String>,
    /// The first one of an agent beside it.
    side_prompt: Option<String>,
    has_message: bool,
    skipped: usize,
    is_cut: bool,
}

impl Looking {
    /// Reads lines of the beginning until all is known that it tells, or it
    /// ends. Gives where it stopped.
    fn read(&mut self, glance: &Glance, mut at: usize) -> usize {
        while !self.knows_enough()
            && let Some((line, next)) = glance.line(at)
        {
            let line = records::trimmed(line);
            if !line.is_empty() && record::wanted(line) {
                self.take_line(line);
            }
            at = next;
        }
        at
    }

    fn knows_enough(&self) -> bool {
        let scan = &self.scan;
        let is_agents = self.is_agents || (!scan.has_main && scan.agent_id.is_some());
        self.knows_start() && (self.prompt.is_some() || (is_agents && self.side_prompt.is_some()))
    }

    /// Whether all is known that every record tells.
    fn knows_start(&self) -> bool {
        let scan = &self.scan;
        scan.cwd.is_some() && scan.created_at != 0 && !scan.session_ids.is_empty()
    }

    fn take_line(&mut self, line: &[u8]) {
        let (record, skipped) = records::record(line);
        self.skipped += skipped;
        if let Some(record) = record {
            self.take(record);
        }
    }

    fn take(&mut self, record: Record) {
        let before = self.scan.said.len();
        self.scan.take(record);
        let (Some(said), Some(node)) = (self.scan.said.get(before), self.scan.nodes.get(before))
        else {
            return;
        };
        self.has_message |= said.is_message();
        let known = if node.is_sidechain {
            &mut self.side_prompt
        } else {
            &mut self.prompt
        };
        if known.is_none() {
            *known = said.prompt().map(str::to_owned);
        }
    }

    /// Takes what is there of a record that is too long to be read.
    fn read_torn(&mut self, begun: &[u8]) {
        self.is_cut = !self.knows_start();
        if let Ok(record) = torn::read(begun) {
            self.take(record);
        }
    }

    /// Reads those of the other lines that can tell something new: titles,
    /// what the session was forked from, its own id, and the last one of all.
    fn read_marked(&mut self, lines: &[&[u8]], stem: &str) {
        let own_id = format!("\"sessionId\":\"{stem}\"");
        let marks = Marks {
            title: memmem::Finder::new("-title\""),
            name: memmem::Finder::new("\"agent-name\""),
            summary: memmem::Finder::new("\"summary\""),
            fork: memmem::Finder::new("\"forkedFrom\":{"),
            request: memmem::Finder::new("\"requestSessionId\":\""),
            own_id: memmem::Finder::new(&own_id),
        };
        let began = self.scan.created_at;
        for (at, line) in lines.iter().enumerate() {
            let is_wanted = at + 1 == lines.len() || !self.knows_start();
            if (is_wanted && record::wanted(line)) || marks.are_in(line, &self.scan, stem) {
                self.take_line(line);
            }
        }
        if self.is_cut {
            // Later records don't tell when it began.
            self.scan.created_at = began;
        }
    }

    fn finish(self, path: &Path, glance: &Glance, rest: &[&[u8]]) -> Listed {
        let scan = &self.scan;
        let about = scan.about(path);
        let has_node = |uuid: &str| {
            let mark = format!("\"uuid\":\"{uuid}\"");
            let is_in = |bytes| memmem::find(bytes, mark.as_bytes()).is_some();
            scan.has_node(uuid) || is_in(glance.head()) || is_in(glance.tail())
        };
        let prompt = self
            .prompt
            .or(self.side_prompt.filter(|_| about.is_subagent));
        let title = Listed::title(scan.title(has_node), prompt.as_deref());
        let is_known = glance.is_whole() && self.skipped + scan.skipped == 0;
        let is_empty = is_known && !self.has_message;
        let told = rest.iter().rev().find_map(|line| moment(line));
        let so_far = Some(scan.last_time).filter(|time| glance.is_whole() && *time != 0);
        let mut notices = Vec::new();
        if self.skipped + scan.skipped > 0 {
            notices.push(SourceNotice::Skipped {
                records: self.skipped + scan.skipped,
            });
        }
        if self.is_cut {
            notices.push(SourceNotice::Note(CUT.to_owned()));
        }
        Listed {
            native_id: about.native_id,
            cwd: about.cwd,
            title,
            created_at: Millis(about.created_at),
            updated_at: told.or(so_far).map(Millis),
            parent: about.parent,
            kind: match is_empty {
                _ if about.is_subagent => Kind::Subagent,
                true => Kind::Stub,
                false => Kind::Session,
            },
            messages: is_empty.then_some(0),
            notices,
        }
    }
}

/// What stands in lines that are read wherever they are.
struct Marks<'a> {
    title: memmem::Finder<'a>,
    name: memmem::Finder<'a>,
    summary: memmem::Finder<'a>,
    fork: memmem::Finder<'a>,
    request: memmem::Finder<'a>,
    own_id: memmem::Finder<'a>,
}

impl Marks<'_> {
    fn are_in(&self, line: &[u8], scan: &Scan, stem: &str) -> bool {
        let is_in = |mark: &memmem::Finder<'_>| mark.find(line).is_some();
        is_in(&self.title)
            || is_in(&self.name)
            || (is_in(&self.summary) && memmem::find(line, b"\"leafUuid\"").is_some())
            || (scan.fork_of.is_none() && is_in(&self.fork))
            || (scan.request_of.is_none() && is_in(&self.request))
            || (!scan.session_ids.iter().any(|id| &**id == stem) && is_in(&self.own_id))
    }
}

/// When a line of the conversation was written.
fn moment(line: &[u8]) -> Option<i64> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Told {
        uuid: Word,
        timestamp: Word,
    }
    let told: Told = serde_json::from_slice(line).ok()?;
    let time = told.timestamp.millis();
    (told.uuid.get().is_some() && time > 0).then_some(time)
}
