//! Nothing of another tool is ever changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ibid::library::{LogFiles, ToolLogs};
use ibid::source::{Environment, Round, adapters, detect};
use ibid::tool::Tool;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::Person;

/// What must not change of a file or folder.
#[derive(Debug, PartialEq, Eq)]
struct State {
    /// Of a file.
    digest: Option<String>,
    /// Who may do what, when it was written and changed, and which it is.
    /// Not when it was read.
    facts: Vec<i64>,
}

/// Everything below a folder, itself included.
fn state(folder: &Path) -> BTreeMap<PathBuf, State> {
    let mut all = BTreeMap::from([(folder.to_owned(), one(folder))]);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(state(&path));
        } else {
            all.insert(path.clone(), one(&path));
        }
    }
    all
}

fn one(path: &Path) -> State {
    let metadata = path.symlink_metadata().unwrap();
    let digest = metadata
        .is_file()
        .then(|| format!("{:x}", Sha256::digest(fs::read(path).unwrap())));
    State {
        digest,
        facts: facts(&metadata),
    }
}

#[cfg(unix)]
fn facts(of: &fs::Metadata) -> Vec<i64> {
    use std::os::unix::fs::MetadataExt;
    let whose = [of.mode(), of.uid(), of.gid()].map(i64::from);
    let inode = [of.ino(), of.nlink(), of.size()].map(|n| i64::try_from(n).unwrap());
    let times = [of.mtime(), of.mtime_nsec(), of.ctime(), of.ctime_nsec()];
    [&whose[..], &inode, &times].concat()
}

#[cfg(not(unix))]
fn facts(of: &fs::Metadata) -> Vec<i64> {
    let since = of.modified().unwrap().duration_since(std::time::UNIX_EPOCH);
    let written = i64::try_from(since.unwrap().as_millis()).unwrap();
    vec![written, i64::from(of.permissions().readonly())]
}

/// Everything that the library does with a home.
fn use_the_library(person: &Person) {
    let environment = Environment::new(Some(person.home()), []);
    for adapter in adapters() {
        let logs = ToolLogs::new(adapter, &environment);
        for log in logs.scan(&CancellationToken::new()).unwrap().logs {
            let path = Path::new(&log.file);
            let _ = logs.find(&log.file);
            let _ = logs.look(&log.file, Some(log.stamp), &Round::default());
            let _ = logs.header(&log.file);
            let _ = logs.capture(&log.file, log.id.as_ref());
            let _ = detect::read_file(path);
            if let Some(id) = &log.id {
                let _ = logs.file_name(id);
                let _ = logs.said(&log.file, std::slice::from_ref(id), &Round::default());
            }
        }
    }
    let (library, _) = person.library();
    let files: Vec<PathBuf> = state(&person.home()).into_keys().collect();
    let never = CancellationToken::new();
    let paths = files.iter().map(PathBuf::as_path);
    library.touch(paths, &never).unwrap();
    library.start_over().unwrap();
    library.refresh(&never, &mut |_| {}).unwrap();
    for tool in Tool::ALL {
        let _ = library.standing(tool);
    }
}

/// Every command that reads.
fn use_the_commands(person: &Person) {
    let listed = person.listed();
    for args in [
        &["sources"][..],
        &["doctor"],
        &["reindex"],
        &["sessions", "list"],
        &["candidates"],
        &["search", "the"],
        &["search", "\"the\" -not a", "--json"],
    ] {
        person.run(args);
    }
    for id in &listed {
        person.run(&["sessions", "show", id, "--json"]);
        person.run(&["prepare", "--session", id, "--max-reference-bytes", "600"]);
        person.run(&["search", "--session", id, "the"]);
    }
    for path in state(&person.home())
        .into_keys()
        .filter(|path| path.is_file())
    {
        // Not every file is a session.
        let mut command = person.command(&["prepare", "--file"]);
        command.arg(path).output().unwrap();
    }
}

#[test]
fn reading_changes_nothing_of_another_tool() {
    let person = Person::new();
    let codex = rusqlite::Connection::open(person.path(".codex/state_5.sqlite")).unwrap();
    codex
        .execute_batch(
            "CREATE TABLE threads (id TEXT, rollout_path TEXT, name TEXT);
             INSERT INTO threads VALUES ('01a23352-7ec7-7531-97d3-6f7691f2c349', 'x', 'Named');",
        )
        .unwrap();
    drop(codex);
    // Another program has it open, and what it wrote is in the log alone.
    let database = rusqlite::Connection::open(person.path(".local/share/opencode/opencode.db"));
    let database = database.unwrap();
    database.pragma_update(None, "journal_mode", "WAL").unwrap();
    database
        .execute("UPDATE session SET title = 'From the log'", [])
        .unwrap();
    let before = state(&person.home());
    assert!(before.keys().any(|path| path.ends_with("opencode.db-wal")));
    use_the_library(&person);
    assert_same(&before, &state(&person.home()), "the library");
    use_the_commands(&person);
    assert_same(&before, &state(&person.home()), "the commands");
    drop(database);
}

fn assert_same(before: &BTreeMap<PathBuf, State>, after: &BTreeMap<PathBuf, State>, by: &str) {
    for (path, state) in before {
        assert_eq!(Some(state), after.get(path), "{} by {by}", path.display());
    }
    let new: Vec<&PathBuf> = after
        .keys()
        .filter(|path| !before.contains_key(*path))
        .collect();
    assert!(new.is_empty(), "{new:?} by {by}");
}
