//! Where Codex keeps its sessions, and what a list shows of them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use memchr::memmem;
use tokio_util::sync::CancellationToken;

use super::beginning::Beginning;
use super::history::Said;
use super::home;
use super::reading;
use super::record::{HistoryBase, Record};
use super::rollouts::Listings;
use crate::session::{Millis, TitleSource};
use crate::source::database;
use crate::source::glance::CUT;
use crate::source::{
    Environment, FoundFile, Kind, Listed, Look, Named, SourceError, SourceNotice, Walk, records,
    walk,
};

/// How many files are looked at for the beginning of one session.
const MAX_FILES: usize = 16;
/// What a line begins with that tells its time.
const TIME: &[u8] = b"{\"timestamp\":\"";
/// The type of a record that renames a session.
const RENAMED: &[u8] = b"\"thread_name_updated\"";

/// The folders of sessions, the index of names, and the folder of databases.
pub(super) fn places(environment: &Environment) -> Vec<PathBuf> {
    let usual = || Some(environment.home()?.join(".codex"));
    let home = environment.path("CODEX_HOME").or_else(usual);
    let databases = environment
        .path("CODEX_SQLITE_HOME")
        .or_else(|| home.clone());
    let inside = [home::SESSIONS, home::ARCHIVED, home::INDEX];
    let inside = home
        .iter()
        .flat_map(|home| inside.map(|name| home.join(name)));
    inside.chain(databases).collect()
}

/// What is kept in a place.
enum PlaceKind {
    /// Rollout files, in folders so many deep.
    Rollouts {
        depth: usize,
    },
    Index,
    Databases,
}

fn place_kind(place: &Path) -> PlaceKind {
    match place.file_name().and_then(|name| name.to_str()) {
        Some(home::SESSIONS) => PlaceKind::Rollouts { depth: home::DEPTH },
        Some(home::ARCHIVED) => PlaceKind::Rollouts { depth: 0 },
        Some(home::INDEX) => PlaceKind::Index,
        _ => PlaceKind::Databases,
    }
}

/// The folder of the databases holds much else.
pub(super) fn is_tree(place: &Path) -> bool {
    let name = place.file_name().and_then(|name| name.to_str());
    name == Some(home::SESSIONS)
}

pub(super) fn scan(place: &Path, walk: &mut Walk) {
    match place_kind(place) {
        PlaceKind::Rollouts { depth } => rollouts(place, depth, walk),
        PlaceKind::Index => walk.file(place.to_owned(), None),
        PlaceKind::Databases => {
            // In the state that it has together with its log.
            if let Some(path) = home::newest_database(place, walk) {
                database::found(path, walk);
            }
        }
    }
}

/// Adds the rollout files of a folder and of the folders in it.
fn rollouts(folder: &Path, depth: usize, walk: &mut Walk) {
    let mut below = Vec::new();
    walk.folder(folder, |walk, entry, kind| {
        let path = entry.path();
        if !kind.is_dir() {
            if is_rollout_file(&path) {
                walk.entry(entry, rollout_id(&path));
            }
        } else if depth > 0 {
            below.push(path);
        }
    });
    walk.each(&below, |walk, folder| rollouts(folder, depth - 1, walk));
}

/// Adds a file if it is a rollout file, and no compressed twin of a plain one.
fn rollout(path: PathBuf, walk: &mut Walk) {
    if is_rollout_file(&path) {
        let id = rollout_id(&path);
        walk.file(path, id);
    }
}

fn is_rollout_file(path: &Path) -> bool {
    is_rollout(path) && home::plain_twin(path).is_none()
}

fn rollout_id(path: &Path) -> Option<String> {
    home::ids(path).map(|(id, _)| id.to_owned())
}

fn is_rollout(path: &Path) -> bool {
    // One whose name is not UTF-8 is told of.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = name.strip_suffix(".zst").unwrap_or(&name);
    let stem = plain.strip_suffix(".jsonl");
    stem.is_some_and(|stem| stem.starts_with("rollout-"))
}

pub(super) fn find(place: &Path, path: &Path) -> Option<FoundFile> {
    let mut walk = Walk::default();
    match place_kind(place) {
        PlaceKind::Rollouts { depth } => {
            if walk::folders(place, path)?.len() <= depth {
                rollout(path.to_owned(), &mut walk);
            }
        }
        PlaceKind::Index | PlaceKind::Databases => scan(place, &mut walk),
    }
    walk.files.into_iter().find(|found| found.path == path)
}

/// The file of a session that was written last: a revert goes on in another
/// one.
pub(super) fn locate(place: &Path, native_id: &str) -> Option<PathBuf> {
    let mut walk = Walk::new(CancellationToken::new());
    scan(place, &mut walk);
    let its = |file: &FoundFile| file.native_id.as_deref() == Some(native_id);
    let files = walk.files.into_iter().filter(its);
    let last = files.max_by_key(|file| file.stamp.mtime_ns)?;
    Some(last.path)
}

fn is_database(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(home::database_version).is_some()
}

pub(super) fn look(path: &Path, listings: &Listings) -> Result<Look, SourceError> {
    let names = if path.ends_with(home::INDEX) {
        home::index_names(path, |_| true)?
    } else if is_database(path) {
        home::database_names(path)?
    } else {
        return Ok(Look::Sessions(vec![session(path, listings)?]));
    };
    let pinned = names.into_iter().filter_map(|(native_id, name)| {
        let title = Listed::title(Some((&name, TitleSource::Person)), None)?;
        Some(Named { native_id, title })
    });
    Ok(Look::Names(pinned.collect()))
}

fn session(path: &Path, listings: &Listings) -> Result<Listed, SourceError> {
    let mut own = Beginning::of(path, u64::MAX)?;
    own.glance.end()?;
    // A file of NULs alone is one that a crash left.
    let has_records = own.reading.skipped > 0 || !own.is_all();
    let is_known = own.is_cut || last_time(&own).is_some() || !own.reading.is_of_nothing();
    if has_records && !is_known {
        return Err(SourceError::UnknownFormat {
            path: path.to_owned(),
            found: "none of its records is of a known form".to_owned(),
        });
    }
    let mut notices = Vec::new();
    let base = own.base();
    let inherited = base.and_then(|base| first_prompt(path, base, listings, &mut notices));
    let meta = own.reading.meta.take();
    if own.is_cut || (meta.is_none() && !own.is_all()) {
        notices.push(SourceNotice::Note(CUT.to_owned()));
    }
    if own.reading.skipped + own.reading.unread > 0 {
        let records = own.reading.skipped + own.reading.unread;
        notices.insert(0, SourceNotice::Skipped { records });
    }
    let is_spread = meta
        .as_ref()
        .is_some_and(|meta| meta.history_base.is_some());
    let about = super::about(path, &meta.unwrap_or_default(), &own.reading);
    let mut items = own.reading.history.items().iter();
    let is_stub = own.is_all()
        && !is_spread
        && own.reading.unread == 0
        && items.all(|item| item.said == Said::Injected);
    let name = renamed(&own, &about.native_id);
    let name = name.as_deref().map(|name| (name, TitleSource::Person));
    Ok(Listed {
        title: Listed::title(name, inherited.as_deref().or_else(|| own.prompt())),
        created_at: Millis(match about.created_at {
            0 => begun(&about.native_id).unwrap_or(0),
            begun => begun,
        }),
        updated_at: last_time(&own).map(Millis),
        cwd: about.cwd,
        parent: about.parent,
        kind: match (is_stub, about.is_subagent) {
            (true, _) => Kind::Stub,
            (false, true) => Kind::Subagent,
            (false, false) => Kind::Session,
        },
        native_id: about.native_id,
        messages: None,
        notices,
    })
}

/// What a person said first in the files that a session builds on.
fn first_prompt(
    leaf: &Path,
    mut base: HistoryBase,
    listings: &Listings,
    notices: &mut Vec<SourceNotice>,
) -> Option<String> {
    let mut seen = HashSet::from([leaf.to_owned()]);
    let mut last = leaf.to_owned();
    let mut prompt = None;
    while seen.len() < MAX_FILES {
        let Some(path) = listings.find(leaf, &base.thread_id, &last) else {
            let note = reading::lost_beginning(&base.thread_id);
            notices.push(SourceNotice::Note(note));
            break;
        };
        // What can't be read is said when the session is read.
        let Ok(beginning) = Beginning::of(&path, base.end_byte_offset) else {
            break;
        };
        prompt = beginning.prompt().map(str::to_owned).or(prompt);
        let Some(next) = beginning.base().filter(|_| seen.insert(path.clone())) else {
            break;
        };
        (base, last) = (next, path);
    }
    prompt
}

/// The last name that the records give to the session, as far as they were
/// looked at.
fn renamed(own: &Beginning, native_id: &str) -> Option<String> {
    let renamed = memmem::Finder::new(RENAMED);
    let name = |line: &[u8]| {
        renamed.find(line)?;
        let record: Record = serde_json::from_slice(line).ok()?;
        let payload = record.payload?;
        let is_its = payload.thread_id.as_ref()?.as_str() == Some(native_id);
        Some(payload.thread_name?.as_str()?.to_owned()).filter(|_| is_its)
    };
    let early = || {
        let mut names = own.reading.renamed.iter().rev();
        let found = names.find(|(id, _)| id == native_id);
        found.map(|(_, name)| name.clone())
    };
    own.rest().filter_map(name).last().or_else(early)
}

/// When the last record was written, if the end of the file was looked at.
fn last_time(own: &Beginning) -> Option<i64> {
    let end = if own.glance.is_whole() {
        own.glance.head()
    } else {
        own.glance.tail()
    };
    let mut lines = end.rsplit(|b| *b == b'\n').map(records::trimmed);
    lines.find_map(|line| {
        let time = line.strip_prefix(TIME)?;
        let time = time.get(..memchr::memchr(b'"', time)?)?;
        let time: jiff::Timestamp = std::str::from_utf8(time).ok()?.parse().ok()?;
        Some(time.as_millisecond())
    })
}

/// When a session began, as its id tells it.
fn begun(native_id: &str) -> Option<i64> {
    let id = uuid::Uuid::try_parse(native_id).ok()?;
    let (seconds, nanos) = id.get_timestamp()?.to_unix();
    let millis = seconds
        .checked_mul(1000)?
        .checked_add(u64::from(nanos / 1_000_000))?;
    i64::try_from(millis).ok()
}

#[cfg(test)]
mod tests;
