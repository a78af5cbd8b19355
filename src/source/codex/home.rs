//! The folder around a rollout file, and what the tool calls the session in it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rusqlite::{OptionalExtension, Row};
use serde::Deserialize;

use super::super::database::{Databases, ask, optional};
use super::super::{SourceError, Walk, records};

/// How deep the folders of sessions go: year, month, day.
pub(super) const DEPTH: usize = 3;
/// How far above a file its folder of sessions may be.
const ABOVE: usize = 5;
/// Where sessions are, and where those are that were put away.
pub(super) const SESSIONS: &str = "sessions";
pub(super) const ARCHIVED: &str = "archived_sessions";
pub(super) const FOLDERS: [&str; 2] = [SESSIONS, ARCHIVED];
/// The index of names.
pub(super) const INDEX: &str = "session_index.jsonl";

/// The folder that the tool keeps everything in.
pub(super) struct Home(pub(super) PathBuf);

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
    pub(super) fn names(&self, id: &str, databases: &Databases) -> Names {
        let mut names = self.database(id, databases);
        if let Some(name) = index_name(&self.0.join(INDEX), id) {
            names.title = Some(name);
        }
        names
    }

    fn database(&self, id: &str, databases: &Databases) -> Names {
        let moved = moved_database(&self.0, |name| std::env::var_os(name));
        let folder = moved.as_deref().unwrap_or(&self.0);
        let Some(path) = newest_database(folder, &mut Walk::default()) else {
            return Names::default();
        };
        read_database(&path, id, databases).unwrap_or_else(|problem| Names {
            problem: Some(problem.to_string()),
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
    let holds = |file: std::fs::Metadata| file.is_file() && file.len() > 0;
    let is_there = || plain.symlink_metadata().is_ok_and(holds);
    (is_compressed && is_there()).then_some(plain)
}

#[derive(Deserialize)]
struct IndexLine {
    id: String,
    thread_name: Option<String>,
}

/// The last name that the index of names has for a session.
fn index_name(path: &Path, id: &str) -> Option<String> {
    index_names(path, |line| {
        memchr::memmem::find(line, id.as_bytes()).is_some()
    })
    .ok()?
    .remove(id)
}

/// The last name that the index has for each session.
pub(super) fn index_names(
    path: &Path,
    wanted: impl FnMut(&[u8]) -> bool,
) -> Result<HashMap<String, String>, SourceError> {
    let mut names = HashMap::new();
    records::each(path, wanted, |line: IndexLine| {
        let name = line.thread_name.unwrap_or_default();
        if name.trim().is_empty() {
            names.remove(&line.id);
        } else {
            names.insert(line.id, name);
        }
    })?;
    Ok(names)
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

/// The database of the newest schema in a folder. What has the name of one and
/// is no file is passed over, which the walk tells.
pub(super) fn newest_database(folder: &Path, walk: &mut Walk) -> Option<PathBuf> {
    let mut newest = None;
    walk.entries(folder, |walk, entry, kind| {
        let name = entry.file_name();
        match name.to_str().and_then(database_version) {
            Some(version) if kind.is_file() => {
                newest = newest.take().max(Some((version, entry.path())));
            }
            Some(_) => walk.file(entry.path(), None),
            None => {}
        }
    });
    newest.map(|(_, path)| path)
}

/// Which schema a file name says that its database has.
pub(super) fn database_version(name: &str) -> Option<u32> {
    let version = name.strip_prefix("state_")?.strip_suffix(".sqlite")?;
    version.parse().ok()
}

// Columns come and go with versions, so they are taken by name from all.

fn read_database(path: &Path, id: &str, databases: &Databases) -> Result<Names, SourceError> {
    let names = databases.ask(path, |connection| {
        let query = "SELECT * FROM threads WHERE id = ?1";
        let names = connection.query_row(query, [id], |row| {
            let file = text(row, "rollout_path");
            Ok(Names {
                title: name(row),
                file: file.and_then(|path| {
                    let name = path.rsplit(['/', '\\']).next();
                    name.map(str::to_owned)
                }),
                problem: None,
            })
        });
        names.optional()
    })?;
    Ok(names.unwrap_or_default())
}

/// The names that a database has.
pub(super) fn database_names(path: &Path) -> Result<HashMap<String, String>, SourceError> {
    ask(path, |connection| {
        let mut names = HashMap::new();
        // Without this column it is of another form, and not of no names.
        connection.prepare("SELECT id FROM threads")?;
        let mut rows = connection.prepare("SELECT * FROM threads")?;
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            if let (Some(id), Some(name)) = (text(row, "id"), name(row)) {
                names.insert(id, name);
            }
        }
        Ok(names)
    })
}

/// The name that a person gave.
fn name(row: &Row<'_>) -> Option<String> {
    if row.as_ref().column_index("name").is_ok() {
        return text(row, "name");
    }
    // Before there were names, a title that is not the first prompt was one.
    let first = text(row, "first_user_message")?;
    text(row, "title").filter(|title| first.trim() != title.trim())
}

/// A column's text, when there is such a column and it says something.
fn text(row: &Row<'_>, column: &str) -> Option<String> {
    optional(row, column).filter(|text: &String| !text.trim().is_empty())
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
        std::fs::create_dir(home.path().join("state_11.sqlite")).unwrap();
        let newest = home.path().join("state_10.sqlite");
        let mut walk = Walk::default();
        assert_eq!(newest_database(home.path(), &mut walk), Some(newest));
        assert_eq!(walk.obstacles.len(), 1);
    }
}
