//! Where dsh keeps its sessions, and what a list shows of them.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::rows::{self, Mark, Row, Said};
use super::{Log, about, cached_title, note_of, rank, seq_after};
use crate::session::{Millis, Title, TitleSource, title};
use crate::source::glance::Glance;
use crate::source::{
    Environment, FoundFile, Kind, Listed, SourceError, SourceNotice, Walk, records,
};

/// What a row that sets a title begins with.
const TITLE: &[u8] = br#"{"type":"session/title""#;
/// What escapes a character of an id in the name of its folder.
const ESCAPE: char = '~';

pub(super) fn places(environment: &Environment) -> Vec<PathBuf> {
    let usual = || Some(environment.home()?.join(".dsh"));
    let home = environment.path("DSH_HOME").or_else(usual);
    home.map(|home| home.join("sessions")).into_iter().collect()
}

pub(super) fn scan(place: &Path, walk: &mut Walk) {
    walk.folder(place, |walk, project, kind| {
        if kind.is_dir() {
            walk.folder(&project.path(), |walk, session, kind| {
                if kind.is_dir() {
                    newest(&session.path(), walk);
                }
            });
        }
    });
}

/// Adds the file of a session's folder that counts.
fn newest(folder: &Path, walk: &mut Walk) {
    let mut newest = None;
    walk.folder(folder, |_, entry, kind| {
        let name = entry.file_name();
        let Some(rank) = name.to_str().and_then(rank).filter(|_| kind.is_file()) else {
            return;
        };
        // One that is empty is still to be written.
        if entry.metadata().is_ok_and(|file| file.len() > 0) {
            newest = newest.take().max(Some((rank, entry.path())));
        }
    });
    if let Some((_, path)) = newest {
        let id = folder.file_name().and_then(|name| name.to_str());
        let id = id.filter(|name| !name.contains(ESCAPE));
        walk.file(path, id.map(str::to_owned));
    }
}

pub(super) fn find(path: &Path) -> Option<FoundFile> {
    let mut walk = Walk::default();
    newest(path.parent()?, &mut walk);
    walk.files.into_iter().find(|found| found.path == path)
}

pub(super) fn locate(place: &Path, native_id: &str) -> Option<PathBuf> {
    if !records::is_plain_name(native_id) || native_id.contains(ESCAPE) {
        return None;
    }
    let mut walk = Walk::default();
    walk.folder(place, |walk, project, kind| {
        if kind.is_dir() {
            newest(&project.path().join(native_id), walk);
        }
    });
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
}

impl Beginning {
    /// Reads a log until its header and a person's first words are known.
    fn of(path: &Path) -> Result<Self, SourceError> {
        let mut beginning = Self {
            glance: Glance::of(path)?,
            log: Log::new(),
            next: 0,
            read: 0,
        };
        loop {
            while let Some((line, next)) = beginning.glance.line(beginning.read) {
                let row = parsed(records::trimmed(line), &mut beginning.log.skipped);
                beginning.read = next;
                if beginning.take(row) {
                    return Ok(beginning);
                }
            }
            if !beginning.glance.grow()? {
                return Ok(beginning);
            }
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

    /// The first words of what a person said first.
    fn prompt(&self) -> Option<String> {
        let mut said = self.log.surface.values();
        said.find_map(|(_, said)| match said {
            Said::Person(text) => Some(title::fallback(text)).filter(|text| !text.is_empty()),
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

    /// The log's last lines, or all that were not read yet, the last first.
    fn rest(&self) -> impl Iterator<Item = &[u8]> {
        let unread = self.glance.head().get(self.read..).unwrap_or_default();
        backwards(self.glance.tail()).chain(backwards(unread))
    }
}

fn backwards(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines.rsplit(|b| *b == b'\n').map(records::trimmed)
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
    if rows::mark(line) == Mark::Noise {
        return Line::Noise;
    }
    let row = serde_json::from_slice(line);
    *skipped += usize::from(row.is_err());
    let row = row.ok().or_else(|| records::glued(line));
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
    let late = log.rest().find_map(|line| {
        line.starts_with(TITLE).then_some(())?;
        let row: Row = serde_json::from_slice(line).ok()?;
        let (text, pinned) = row.title()?;
        Some((text.to_owned(), pinned))
    });
    let cached = || {
        let title = cached_title(path, log.log.header.as_ref()?)?;
        Some((title, false))
    };
    let early = || {
        let (_, text, source) = log.log.title.as_ref()?;
        Some((text.clone(), *source == TitleSource::Person))
    };
    // Where not all was looked at, the cache may know a later title.
    let set = if log.glance.is_whole() {
        late.or_else(early).or_else(cached)
    } else {
        late.or_else(cached).or_else(early)
    };
    let set = set.map(|(text, pinned)| Title {
        text: title::normalise(&text, title::MAX_TITLE_BYTES),
        pinned,
    });
    let first = || {
        let text = log.prompt()?;
        Some(Title {
            text,
            pinned: false,
        })
    };
    set.or_else(first)
}

/// When the last event was, if the end of the log was looked at.
fn last_time(log: &Beginning) -> Option<i64> {
    #[derive(Deserialize)]
    struct Timed {
        time: i64,
    }
    let read = log.glance.head().get(..log.read).unwrap_or_default();
    let is_seen = log.glance.is_whole() || !log.glance.tail().is_empty();
    let mut lines = log.rest().chain(backwards(read)).filter(|_| is_seen);
    lines.find_map(|line| Some(serde_json::from_slice::<Timed>(line).ok()?.time))
}

#[cfg(test)]
mod tests;
