//! Where dsh keeps its sessions, and what a list shows of them.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::marks::{self, Mark};
use super::rows::{Row, Said};
use super::{Log, about, cached_title, note_of, rank, seq_after, source};
use crate::session::{Millis, Title, TitleSource, title};
use crate::source::glance::{CUT, Glance, PROMPT_BYTES};
use crate::source::{
    Environment, FoundFile, Kind, Listed, SourceError, SourceNotice, Walk, records, torn, walk,
};
use crate::stamp::Stamp;

/// What a row that sets a title begins with.
const TITLE: &[u8] = br#"{"type":"session/title""#;
/// How many folders deep a log lies: a project's, a session's.
const FOLDERS: usize = 2;
/// What escapes a character of an id in the name of its folder.
const ESCAPE: char = '~';

pub(super) fn places(environment: &Environment) -> Vec<PathBuf> {
    let usual = || Some(environment.home()?.join(".dsh"));
    let home = environment.path("DSH_HOME").or_else(usual);
    home.map(|home| home.join("sessions")).into_iter().collect()
}

pub(super) fn scan(place: &Path, walk: &mut Walk) {
    let projects = walk.folders_in(place);
    walk.each(&projects, |walk, project| {
        walk.folder(project, |walk, session, kind| {
            if kind.is_dir() {
                newest(&session.path(), walk);
            }
        });
    });
}

/// Adds the file of a session's folder that counts.
fn newest(folder: &Path, walk: &mut Walk) {
    let mut newest: Option<(_, PathBuf, Stamp)> = None;
    walk.entries(folder, |walk, entry, kind| {
        let name = entry.file_name();
        let Some(rank) = name.to_str().and_then(rank) else {
            return;
        };
        if !kind.is_file() {
            return walk.file(entry.path(), None);
        }
        let is_newer = newest.as_ref().is_none_or(|(last, ..)| rank > *last);
        if is_newer && let Ok(file) = entry.metadata() {
            // One that is empty is still to be written.
            if file.is_file() && file.len() > 0 {
                newest = Some((rank, entry.path(), Stamp::of(&file)));
            }
        }
    });
    if let Some((_, path, stamp)) = newest {
        let id = folder.file_name().and_then(|name| name.to_str());
        let id = id.filter(|name| !name.contains(ESCAPE));
        walk.found(path, stamp, id.map(str::to_owned));
    }
}

pub(super) fn find(place: &Path, path: &Path) -> Option<FoundFile> {
    let mut walk = Walk::default();
    if walk::folders(place, path)?.len() == FOLDERS {
        newest(path.parent()?, &mut walk);
    }
    walk.files.into_iter().find(|found| found.path == path)
}

pub(super) fn locate(place: &Path, native_id: &str) -> Option<PathBuf> {
    if !records::is_plain_name(native_id) || native_id.contains(ESCAPE) {
        return None;
    }
    let mut walk = Walk::default();
    for project in walk.folders_in(place) {
        let session = project.join(native_id);
        if session.symlink_metadata().is_ok_and(|it| it.is_dir()) {
            newest(&session, &mut walk);
        }
    }
    walk.files.pop().map(|found| found.path)
}

/// How far a log was read.
struct Beginning {
    glance: Glance,
    log: Log,
    /// The seq of the next row, if it does not say it.
    next: u64,
    /// How many of its first bytes.
    read: usize,
    /// Whether a row is too long to be read whole.
    is_cut: bool,
}

impl Beginning {
    /// Reads a log until its header and a person's first words are known.
    fn of(path: &Path) -> Result<Self, SourceError> {
        let mut beginning = Self {
            glance: Glance::of(path)?,
            log: Log::new(),
            next: 0,
            read: 0,
            is_cut: false,
        };
        loop {
            while let Some((line, next)) = beginning.glance.line(beginning.read) {
                let row = parsed(records::trimmed(line), &mut beginning.log.skipped);
                beginning.read = next;
                if beginning.take(row) {
                    return Ok(beginning);
                }
            }
            let is_far =
                beginning.log.header.is_some() && beginning.glance.head().len() >= PROMPT_BYTES;
            if is_far || !beginning.glance.grow()? {
                beginning.cut();
                return Ok(beginning);
            }
        }
    }

    /// Takes what there is of a row that is too long to be read whole.
    fn cut(&mut self) {
        let line = self.glance.head().get(self.read..).unwrap_or_default();
        if marks::mark(line) == Mark::Wanted
            && let Ok(begun) = torn::read(line)
        {
            self.is_cut = true;
            self.take(Line::Row(Box::new(begun)));
        }
    }

    /// Takes a line; says whether no more are needed.
    fn take(&mut self, line: Line) -> bool {
        let place = self.next;
        match line {
            Line::None => return false,
            Line::Noise => self.next = place.saturating_add(1),
            Line::Row(row) => {
                self.next = seq_after(&row, place);
                self.log.take(*row, place);
            }
        }
        self.log.header.is_some() && self.prompt().is_some()
    }

    /// Whether all of the log was read.
    fn is_all(&self) -> bool {
        self.glance.is_whole() && self.read >= self.glance.head().len()
    }

    /// What a person said first.
    fn prompt(&self) -> Option<&str> {
        let mut said = self.log.surface.values();
        said.find_map(|(_, said)| match said {
            Said::Person(text) => Some(&**text).filter(|text| !title::fallback(text).is_empty()),
            _ => None,
        })
    }

    /// Whether nobody says anything in it.
    fn is_silent(&self) -> bool {
        let mut said = self.log.surface.values();
        said.all(|(_, said)| match said {
            Said::Person(text) | Said::Model { text, .. } | Said::Checkpoint { text, .. } => {
                text.is_empty()
            }
            Said::Hidden | Said::Injected { .. } | Said::Tool { .. } => true,
        })
    }

    /// The log's last lines, or all that were not read yet.
    fn rest(&self) -> impl Iterator<Item = &[u8]> {
        self.glance.lines(self.read).chain(self.glance.tail_lines())
    }
}

/// What a line holds.
enum Line {
    /// No event.
    None,
    /// One event that says nothing of the conversation.
    Noise,
    Row(Box<Row>),
}

fn parsed(line: &[u8], skipped: &mut usize) -> Line {
    if line.is_empty() {
        return Line::None;
    }
    if marks::mark(line) == Mark::Noise {
        return Line::Noise;
    }
    let (row, lost) = records::record(line);
    *skipped += lost;
    row.map_or(Line::Noise, |row| Line::Row(Box::new(row)))
}

pub(super) fn look(path: &Path) -> Result<Listed, SourceError> {
    let mut log = Beginning::of(path)?;
    log.glance.end()?;
    let header = log.log.header.as_ref();
    let about = about(path, header, log.log.first_time.unwrap_or(0));
    let mut notices = Vec::new();
    if log.log.skipped > 0 {
        let records = log.log.skipped;
        notices.push(SourceNotice::Skipped { records });
    }
    if log.is_cut {
        notices.push(SourceNotice::Note(CUT.to_owned()));
    }
    notices.extend(note_of(header).map(SourceNotice::Note));
    let is_stub = log.is_all() && log.is_silent() && log.log.known == log.log.dialogue;
    Ok(Listed {
        title: title_of(path, &log),
        created_at: Millis(about.created_at),
        updated_at: last_time(&log).map(Millis),
        native_id: about.native_id,
        cwd: about.cwd,
        parent: about.parent,
        kind: match (is_stub, about.is_subagent) {
            (true, _) => Kind::Stub,
            (false, true) => Kind::Subagent,
            (false, false) => Kind::Session,
        },
        messages: None,
        notices,
    })
}

/// The last title that was set, as far as that can be known, or else the first
/// words of the first prompt.
fn title_of(path: &Path, log: &Beginning) -> Option<Title> {
    let set = |line: &[u8]| {
        line.starts_with(TITLE).then_some(())?;
        let row: Row = serde_json::from_slice(line).ok()?;
        let (text, by_person) = row.title()?;
        Some((text.to_owned(), source(by_person)))
    };
    let late = log.rest().filter_map(set).last();
    let cached = || {
        let title = cached_title(path, log.log.header.as_ref()?)?;
        Some((title, TitleSource::Fallback))
    };
    let early = || {
        let (_, text, source) = log.log.title.as_ref()?;
        Some((text.clone(), *source))
    };
    // Where not all was looked at, the cache may know a later title.
    let set = if log.glance.is_whole() {
        late.or_else(early).or_else(cached)
    } else {
        late.or_else(cached).or_else(early)
    };
    let set = set.as_ref().map(|(text, source)| (text.as_str(), *source));
    Listed::title(set, log.prompt())
}

/// When the last event was, if the end of the log was looked at.
fn last_time(log: &Beginning) -> Option<i64> {
    #[derive(Deserialize)]
    struct Timed {
        time: i64,
    }
    let end = if log.glance.is_whole() {
        log.glance.head()
    } else {
        log.glance.tail()
    };
    let mut lines = end.rsplit(|b| *b == b'\n').map(records::trimmed);
    lines.find_map(|line| Some(serde_json::from_slice::<Timed>(line).ok()?.time))
}

#[cfg(test)]
mod tests;
