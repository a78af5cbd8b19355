//! What a list shows of a file of Claude Code.
//!
//! A file tells its id, its directory, when it began and the first prompt in
//! its first records; titles and the last moment stand in its last ones.

use std::path::Path;

use memchr::memmem;
use serde::Deserialize;

use super::Scan;
use super::finding;
use super::id::Id;
use super::marks;
use super::record::{self, Record};
use crate::session::Millis;
use crate::source::glance::{CUT, Glance, PROMPT_BYTES};
use crate::source::loose::Word;
use crate::source::{Kind, Listed, Look, SourceError, SourceNotice, records, torn};

/// What stands before the id of a record.
const UUID: &[u8] = b"\"uuid\":\"";

/// What a list shows of a file.
pub(super) fn look(path: &Path) -> Result<Look, SourceError> {
    let mut glance = Glance::of(path)?;
    let mut looking = Looking {
        is_agents: finding::owner(path).is_some(),
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
    let mut rest: Vec<&[u8]> = glance.lines(at).collect();
    let begin = rest.len();
    rest.extend(glance.tail_lines());
    if !looking.knows_enough() && !glance.is_whole() {
        looking.read_torn(glance.head().get(at..).unwrap_or_default());
    }
    looking.read_marked(&rest, begin);
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
            // What only links others tells nothing more of the session.
            let is_link = || {
                let marked = marks::marked(line).filter(|_| self.knows_start());
                marked.is_some_and(|marked| marked.kind == marks::Kind::Attachment)
            };
            if !line.is_empty() && record::wanted(line) && !is_link() {
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
    /// what the session was forked from, and the last one of all.
    /// The first `begin` of them are of the beginning, where a fork's copies
    /// of records stand.
    fn read_marked(&mut self, lines: &[&[u8]], begin: usize) {
        let marks = Marks::default();
        let start = self.scan.created_at;
        for (at, line) in lines.iter().enumerate() {
            let scan = &self.scan;
            let is_wanted = at + 1 == lines.len() || !self.knows_start();
            let is_marked = marks.title(line) || (at < begin && marks.fork(line, scan));
            if is_marked || (is_wanted && record::wanted(line)) {
                self.take_line(line);
            }
        }
        if self.is_cut {
            // Later records don't tell when it began.
            self.scan.created_at = start;
        }
    }

    fn finish(self, path: &Path, glance: &Glance, rest: &[&[u8]]) -> Listed {
        let scan = &self.scan;
        let about = scan.about(path);
        let mut known = scan.uuids();
        if !scan.summaries.is_empty() {
            known.extend(
                [glance.head(), glance.tail()]
                    .into_iter()
                    .flat_map(uuids)
                    .map(Id::of),
            );
        }
        let prompt = self
            .prompt
            .or(self.side_prompt.filter(|_| about.is_subagent));
        let title = Listed::title(scan.title(|leaf| known.contains(leaf)), prompt.as_deref());
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
struct Marks {
    titles: [memmem::Finder<'static>; 3],
    fork: memmem::Finder<'static>,
    request: memmem::Finder<'static>,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            titles: ["-title\"", "\"agent-name\"", "\"summary\""].map(memmem::Finder::new),
            fork: memmem::Finder::new("\"forkedFrom\":{"),
            request: memmem::Finder::new("\"requestSessionId\":\""),
        }
    }
}

/// The ids of the records in these bytes.
fn uuids(bytes: &[u8]) -> impl Iterator<Item = &str> {
    let at = memmem::find_iter(bytes, UUID).map(|at| at + UUID.len());
    at.filter_map(|at| {
        let rest = bytes.get(at..)?;
        let uuid = rest.get(..memchr::memchr(b'"', rest)?)?;
        std::str::from_utf8(uuid).ok()
    })
}

impl Marks {
    /// Whether a line may be a title. Those of the conversation, which are
    /// most bytes of a file, tell at once that they are none.
    fn title(&self, line: &[u8]) -> bool {
        !line.starts_with(b"{\"parentUuid\":")
            && self.titles.iter().any(|mark| mark.find(line).is_some())
    }

    fn fork(&self, line: &[u8], scan: &Scan) -> bool {
        (scan.fork_of.is_none() && self.fork.find(line).is_some())
            || (scan.request_of.is_none() && self.request.find(line).is_some())
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
