//! The folder around a rollout file: which file holds the beginning of a
//! session, and what the tool calls the session.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};
use serde::Deserialize;

use super::super::{SourceError, records};

/// How deep the folders of sessions go: year, month, day.
const DEPTH: usize = 3;
/// How far above a file its folder of sessions may be.
const ABOVE: usize = 5;
/// The largest database that is looked at, in bytes.
const MAX_DATABASE_BYTES: u64 = 512 * 1024 * 1024;
const FOLDERS: [&str; 2] = ["sessions", "archived_sessions"];

/// The folder that the tool keeps everything in.
pub(super) struct Home(PathBuf);

impl Home {
    /// The home that a rollout file lies in, if it lies in one.
    pub(super) fn around(file: &Path) -> Option<Self> {
        let folder = file.ancestors().skip(1).take(ABOVE).find(|folder| {
            let name = folder.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| FOLDERS.contains(&name))
        })?;
        Some(Self(folder.parent()?.to_owned()))
    }

    /// What the tool calls a session, as its indexes say it.
    pub(super) fn names(&self, id: &str) -> Names {
        let mut names = self.database(id);
        if let Some(name) = index_name(&self.0.join("session_index.jsonl"), id) {
            names.title = Some(name);
        }
        names
    }

    fn database(&self, id: &str) -> Names {
        let moved = moved_database(&self.0, |name| std::env::var_os(name));
        let folder = moved.as_deref().unwrap_or(&self.0);
        let Some(path) = newest_database(folder) else {
            return Names::default();
        };
        read_database(&path, id).unwrap_or_else(|problem| Names {
            problem: Some(format!("can't read {}: {problem}", path.display())),
            ..Names::default()
        })
    }
}

/// What the tool's indexes say of a session.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// The name that a person gave it.
    pub(super) title: Option<String>,
    /// The name of the file that it goes on in.
    pub(super) file: Option<String>,
    /// Why an index could not be read.
    pub(super) problem: Option<String>,
}

/// The ids in a rollout file's name: the session's, and that of a segment
/// which a revert began.
pub(super) fn ids(path: &Path) -> Option<(&str, Option<&str>)> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let name = name.strip_suffix(".jsonl").unwrap_or(name);
    let rest = name.strip_prefix("rollout-")?;
    let (rest, segment) = match rest.rsplit_once('_') {
        Some((rest, segment)) => (rest, Some(segment)),
        None => (rest, None),
    };
    let at = rest.len().checked_sub(UUID_LEN)?;
    let id = rest.get(at..).filter(|id| is_uuid(id))?;
    Some((id, segment.filter(|segment| !segment.is_empty())))
}

const UUID_LEN: usize = 36;

fn is_uuid(text: &str) -> bool {
    text.len() == UUID_LEN && uuid::Uuid::try_parse(text).is_ok()
}

/// The plain file beside a compressed one: it counts in its place.
pub(super) fn plain_twin(path: &Path) -> Option<PathBuf> {
    let plain = path.with_extension("");
    let is_compressed = path.extension().is_some_and(|end| end == "zst");
    (is_compressed && plain.is_file()).then_some(plain)
}

/// The rollout files around one, by the ids in their names.
pub(super) struct Rollouts {
    beside: Named,
    home: Option<Home>,
    /// All of the home, once one was not found beside the file.
    all: Option<Named>,
}

/// Files by the last id in their names.
type Named = HashMap<String, PathBuf>;

impl Rollouts {
    pub(super) fn around(file: &Path) -> Self {
        let mut beside = Named::new();
        if let Some(folder) = file.parent() {
            collect(folder, 0, &mut beside);
        }
        Self {
            beside,
            home: Home::around(file),
            all: None,
        }
    }

    /// The file that an id names and that is not `but`. An id goes into no
    /// path: files are found by their names.
    pub(super) fn find(&mut self, id: &str, but: &Path) -> Option<PathBuf> {
        if let Some(path) = self.beside.get(id).filter(|path| *path != but) {
            return Some(path.clone());
        }
        let home = self.home.as_ref()?;
        let all = self.all.get_or_insert_with(|| {
            let mut all = Named::new();
            for folder in FOLDERS {
                collect(&home.0.join(folder), DEPTH, &mut all);
            }
            all
        });
        all.get(id).filter(|path| *path != but).cloned()
    }
}

/// Links are not followed. Of a plain and a compressed file it is the plain one.
fn collect(folder: &Path, depth: usize, into: &mut Named) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let path = entry.path();
        if kind.is_dir() && depth > 0 {
            collect(&path, depth - 1, into);
        } else if kind.is_file()
            && let Some((id, segment)) = ids(&path)
        {
            let id = segment.unwrap_or(id).to_owned();
            let is_plain = path.extension().is_some_and(|end| end == "jsonl");
            match into.entry(id) {
                Entry::Occupied(mut found) if is_plain => {
                    found.insert(path);
                }
                Entry::Occupied(_) => {}
                Entry::Vacant(vacant) => {
                    vacant.insert(path);
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct IndexLine {
    id: String,
    thread_name: Option<String>,
}

/// The last name that the index of names has for a session.
fn index_name(path: &Path, id: &str) -> Option<String> {
    let mut name = None;
    let read = records::each(
        path,
        |line| memchr::memmem::find(line, id.as_bytes()).is_some(),
        |line: IndexLine| {
            if line.id == id {
                name = line.thread_name;
            }
        },
    );
    read.ok()?;
    name.filter(|name: &String| !name.trim().is_empty())
}

/// Where the database is instead, for the home that the environment speaks of.
fn moved_database(
    home: &Path,
    variable: impl Fn(&str) -> Option<std::ffi::OsString>,
) -> Option<PathBuf> {
    let moved = variable("CODEX_SQLITE_HOME").filter(|path| !path.is_empty())?;
    let real = match variable("CODEX_HOME").filter(|path| !path.is_empty()) {
        Some(home) => PathBuf::from(home),
        None => directories::BaseDirs::new()?.home_dir().join(".codex"),
    };
    let is_real = real.canonicalize().ok()? == home.canonicalize().ok()?;
    is_real.then(|| PathBuf::from(moved))
}

fn newest_database(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let versions = entries.filter_map(|entry| {
        let name = entry.file_name();
        let version = name.to_str()?.strip_prefix("state_")?;
        let version: u32 = version.strip_suffix(".sqlite")?.parse().ok()?;
        Some((version, entry.path()))
    });
    versions.max().map(|(_, path)| path)
}

fn read_database(path: &Path, id: &str) -> Result<Names, DatabaseProblem> {
    let (connection, _copy) = open_unchanged(path)?;
    // Columns come and go with versions, so they are taken by name from all.
    let mut statement = connection.prepare("SELECT * FROM threads WHERE id = ?1")?;
    let names = statement.query_row([id], |row| {
        // Before there were names, a title that is not the first prompt was one.
        let title = if row.as_ref().column_index("name").is_ok() {
            text(row, "name")
        } else {
            let first = text(row, "first_user_message");
            text(row, "title")
                .filter(|title| first.is_some_and(|first| first.trim() != title.trim()))
        };
        let file = text(row, "rollout_path");
        Ok(Names {
            title,
            file: file.and_then(|path| {
                let name = path.rsplit(['/', '\\']).next();
                name.map(str::to_owned)
            }),
            problem: None,
        })
    });
    Ok(names.optional()?.unwrap_or_default())
}

/// A column's text, when there is such a column and it says something.
fn text(row: &Row<'_>, column: &str) -> Option<String> {
    let text: Option<String> = row.get(column).ok()?;
    text.filter(|text| !text.trim().is_empty())
}

#[derive(Debug, thiserror::Error)]
enum DatabaseProblem {
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Source(#[from] SourceError),
    #[error("it is larger than {MAX_DATABASE_BYTES} bytes")]
    TooLarge,
}

/// Opens a database so that nothing beside it changes. SQLite would make its
/// own files for one that is being written, so of such a one a copy is opened,
/// with its log; any other is opened as one that can't change.
fn open_unchanged(path: &Path) -> Result<(Connection, Option<tempfile::TempDir>), DatabaseProblem> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let beside = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let logs = ["-wal", "-journal"].map(|end| (end, beside(end)));
    if logs.iter().all(|(_, log)| length(log) == 0) {
        if !std::fs::metadata(path)?.is_file() {
            return Err(std::io::Error::other("it is no regular file").into());
        }
        let connection = Connection::open_with_flags(immutable(path), flags)?;
        return Ok((connection, None));
    }
    if length(path) > MAX_DATABASE_BYTES {
        return Err(DatabaseProblem::TooLarge);
    }
    let copy = tempfile::tempdir()?;
    let database = copy.path().join("copy");
    records::observed(path, || {
        copy_file(path, &database)?;
        for (end, log) in &logs {
            if length(log) > 0 {
                copy_file(log, &copy.path().join(format!("copy{end}")))?;
            }
        }
        Ok(())
    })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok((Connection::open_with_flags(&database, flags)?, Some(copy)))
}

fn copy_file(from: &Path, to: &Path) -> Result<(), SourceError> {
    let failed = |cause| SourceError::Unreadable {
        path: from.to_owned(),
        cause,
    };
    // `records::open` waits for no pipe.
    let mut from_file = records::open(from)?;
    let mut to_file = std::fs::File::create(to).map_err(failed)?;
    std::io::copy(&mut from_file, &mut to_file).map_err(failed)?;
    Ok(())
}

/// A path as a URI that tells SQLite to touch nothing.
fn immutable(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(char::from(*byte));
            }
            byte => {
                let _ = std::fmt::Write::write_fmt(&mut uri, format_args!("%{byte:02X}"));
            }
        }
    }
    uri.push_str("?immutable=1");
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_are_told_by_the_name() {
        let id = "01a23366-407e-7953-bf07-7558970eea43";
        let name = format!("rollout-2026-12-01T20-57-48-{id}");
        let path = |end: &str| PathBuf::from(format!("/x/{name}{end}"));
        assert_eq!(ids(&path(".jsonl")), Some((id, None)));
        assert_eq!(ids(&path(".jsonl.zst")), Some((id, None)));
        assert_eq!(ids(&path("_segment.jsonl")), Some((id, Some("segment"))));
        assert_eq!(ids(Path::new("rollout-é.jsonl")), None);
        assert_eq!(ids(Path::new("notes.jsonl")), None);
    }

    #[test]
    fn a_moved_database_is_that_of_the_home_that_the_environment_speaks_of() {
        let real = tempfile::tempdir().unwrap();
        let copied = tempfile::tempdir().unwrap();
        let variable = |name: &str| match name {
            "CODEX_HOME" => Some(real.path().as_os_str().to_owned()),
            "CODEX_SQLITE_HOME" => Some("/moved".into()),
            _ => None,
        };
        let moved = Some(PathBuf::from("/moved"));
        assert_eq!(moved_database(real.path(), variable), moved);
        assert_eq!(moved_database(copied.path(), variable), None);
        assert_eq!(moved_database(real.path(), |_| None), None);
    }

    #[test]
    fn the_database_of_the_newest_schema_counts() {
        let home = tempfile::tempdir().unwrap();
        for name in [
            "state_5.sqlite",
            "state_10.sqlite",
            "state_10.sqlite-wal",
            "state_x.sqlite",
        ] {
            std::fs::write(home.path().join(name), "").unwrap();
        }
        let newest = home.path().join("state_10.sqlite");
        assert_eq!(newest_database(home.path()), Some(newest));
    }

    #[test]
    fn a_path_in_a_uri_keeps_its_odd_characters() {
        let uri = immutable(Path::new("/a b/?#%.sqlite"));
        assert_eq!(uri, "file:/a%20b/%3F%23%25.sqlite?immutable=1");
    }
}
