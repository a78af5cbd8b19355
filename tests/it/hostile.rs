//! Homes of other tools as chance and malice leave them: what is read must be
//! survived, what is passed over must be said, and the rest must be listed.

mod changing;
mod contents;
mod databases;
#[cfg(unix)]
mod folders;
mod untouched;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use ibid::library::{Library, Refreshed, StoredLogs, ToolLogs};
use ibid::source::Environment;
use ibid::store::Home;
use ibid::tool::Tool;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// How long a command may take: long enough for a busy machine, and no test
/// waits for ever.
const PATIENCE: Duration = Duration::from_mins(2);

/// What lists show of the fixtures of every tool.
const SESSIONS: [&str; 12] = [
    "claude:0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f",
    "claude:720ba929-4265-47f7-8de8-2fd1083a871e",
    "codex:01a23350-a48b-72e2-8611-b88f257eb84a",
    "codex:01a23352-7ec7-7531-97d3-6f7691f2c349",
    "codex:01a23353-3ed8-7e60-893c-011cbf6ef5a1",
    "codex:01a23366-407e-7953-bf07-7558970eea43",
    "codex:01a23366-45b3-7b41-a9dd-77204871a87e",
    "dsh:session-197a4bc1-3a1b-4d11-a985-62047a636ed3",
    "dsh:session-66b4fa9be9124a3bb17ef52f150cc8a0",
    "dsh:session-cc62d510906a4093864752b115c6d242",
    "opencode:ses_dccac60b8ffe53P8KATb5BGuFi",
    "opencode:ses_dcc9f00f7ffeIMJkelrTYu1smA",
];

/// A person who uses every tool, and ibid.
struct Person {
    dir: TempDir,
    variables: Vec<(&'static str, PathBuf)>,
    /// What comes before the command that is run.
    wrapper: Vec<&'static str>,
}

/// How a command ended.
struct Told {
    out: String,
    err: String,
}

impl Person {
    /// One whose home holds a copy of the fixtures of every tool.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let person = Self {
            dir,
            variables: Vec::new(),
            wrapper: Vec::new(),
        };
        fs::create_dir(person.ibid()).unwrap();
        fs::create_dir(person.home()).unwrap();
        for (from, to) in [
            ("claude-code/fork", ".claude/projects/-home-u-ccproj"),
            ("claude-code/subagent", ".claude/projects/-home-u-ccproj"),
            ("codex/v0.120", ".codex"),
            ("codex/v0.171", ".codex"),
            ("codex/v0.171-fork", ".codex"),
            ("dsh/v0-real", ".dsh"),
            ("dsh/v4-real", ".dsh"),
            ("gemini/v0.22", ".gemini"),
            ("gemini/v0.61", ".gemini"),
            ("opencode/v1.0.152-real", ".local/share/opencode"),
        ] {
            copy(&fixtures().join(from), &person.path(to));
        }
        person.database(".local/share/opencode/opencode.db");
        person
    }

    fn ibid(&self) -> PathBuf {
        self.dir.path().join("ibid")
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("person")
    }

    /// A path in the person's home.
    fn path(&self, name: &str) -> PathBuf {
        self.home().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Makes the database of opencode's fixture.
    fn database(&self, name: &str) -> rusqlite::Connection {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let database = rusqlite::Connection::open(path).unwrap();
        let sql = fixtures().join("opencode/v1.18-real/opencode.sql");
        let sql = fs::read_to_string(sql).unwrap();
        database.execute_batch(&sql).unwrap();
        database
    }

    fn command(&self, args: &[&str]) -> Command {
        let program = assert_cmd::cargo::cargo_bin("ibid");
        let mut words = self.wrapper.iter().map(PathBuf::from).collect::<Vec<_>>();
        words.push(program);
        let mut words = words.into_iter();
        let mut command = Command::new(words.next().unwrap());
        command.args(words).args(args);
        for name in ibid::source::VARIABLES {
            command.env_remove(name);
        }
        command
            .env("IBID_HOME", self.ibid())
            .env("HOME", self.home())
            .envs(self.variables.iter().map(|(name, path)| (name, path)))
            .current_dir(self.dir.path())
            .timeout(PATIENCE);
        command
    }

    /// What a command says; it must succeed.
    #[track_caller]
    fn run(&self, args: &[&str]) -> Told {
        let output = self.command(args).output().unwrap();
        let told = Told {
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(
            output.status.success(),
            "{args:?} ended with {}: {}",
            output.status,
            told.err
        );
        let is_raw = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!told.out.contains(is_raw), "{args:?}: {:?}", told.out);
        assert!(!told.err.contains(is_raw), "{args:?}: {:?}", told.err);
        told
    }

    /// The ids that the command line lists.
    #[track_caller]
    fn listed(&self) -> BTreeSet<String> {
        let told = self.run(&["sessions", "list", "--json"]);
        let rows: Vec<Value> = serde_json::from_str(&told.out).unwrap();
        let id = |row: &Value| row["sessionId"].as_str().unwrap().to_owned();
        rows.iter().map(id).collect()
    }

    /// The library that the screen has, brought up to date as it does it.
    fn library(&self) -> (Library, Refreshed) {
        let variables = self.variables.iter();
        let variables = variables.map(|(name, path)| (*name, path.clone().into_os_string()));
        let environment = Environment::new(Some(self.home()), variables);
        let own = StoredLogs::new(Home::at(self.ibid()));
        let others = ToolLogs::of(&Tool::OTHERS, &environment);
        let cache = Some(self.dir.path().join("screen.sqlite3"));
        let library = Library::over(std::sync::Arc::new(own), others, false, cache);
        library.recall(&mut || {});
        let never = CancellationToken::new();
        let mut refreshed = library.refresh(&never, &mut |_| {}).unwrap();
        let verified = library.verify(&never, &mut |_| {}).unwrap();
        refreshed.notices.extend(verified.notices);
        library.index_texts(&never, &mut |_| {}).unwrap();
        (library, refreshed)
    }

    /// Runs everything that lists over the home. All sessions must be there
    /// that were before. Gives what `ibid doctor` says.
    #[track_caller]
    fn survives(&self) -> String {
        self.survives_with(&SESSIONS)
    }

    /// The same, where only these sessions are left.
    #[track_caller]
    fn survives_with(&self, sessions: &[&str]) -> String {
        let sources = self.run(&["sources", "--json"]);
        let sources: Vec<Value> = serde_json::from_str(&sources.out).unwrap();
        assert_eq!(sources.len(), Tool::ALL.len());
        self.run(&["sources"]);
        let listed = self.listed();
        let (library, _) = self.library();
        let index = library.index();
        for session in sessions {
            assert!(listed.contains(*session), "{session} is not in {listed:?}");
            assert!(index.find(&(*session).into()).is_some(), "{session}");
        }
        self.run(&["search", "the", "--json"]);
        self.run(&["doctor", "--json"]);
        self.run(&["doctor"]).out
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Copies a folder with all that is in it into another.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// A session of Claude Code with one message.
fn claude(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","isSidechain":false,"timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w","version":"2.1.0","message":{{"role":"user","content":{text}}}}}
"#
    )
}

#[test]
fn a_home_of_every_tool_is_listed_without_a_notice() {
    let person = Person::new();
    let listed = person.listed();
    let hidden = listed.iter().filter(|id| !SESSIONS.contains(&&***id));
    let gemini = hidden.filter(|id| !id.starts_with("gemini:"));
    assert_eq!(gemini.count(), 0, "{listed:?}");
    let doctor = person.survives();
    assert!(
        doctor.ends_with("everything that was found can be read\n"),
        "{doctor}"
    );
}
