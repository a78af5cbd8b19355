//! The command line, through the real binary: what it prints where, and how it
//! ends.

mod ask;
mod candidates;
mod config;
mod failures;
mod mentions;
mod models;
mod prepare;
mod proxies;
mod search;
mod sessions;
mod spill;
mod streams;
mod terminal;

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use ibid::session::{Header, Session};
use ibid::store::Home;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::keys;

/// A place for one test: a home, and files beside it.
struct Place {
    dir: TempDir,
}

/// How a run ended.
struct Ended {
    code: Option<i32>,
    out: Vec<u8>,
    err: String,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { dir }
    }

    fn home(&self) -> Home {
        Home::at(self.path("home"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A log file beside the home.
    fn log(&self, name: &str, session: &Session) -> String {
        self.write(name, log_of(session))
    }

    /// A session in the home.
    fn store(&self, session: &Session) {
        let home = self.home();
        home.create().unwrap();
        std::fs::write(home.session_file(session.id()), log_of(session)).unwrap();
    }

    fn command(&self) -> Command {
        Command::from_std(self.process())
    }

    /// The same, to be started and left to itself.
    fn process(&self) -> std::process::Command {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("ibid"));
        command
            .env("IBID_HOME", self.path("home"))
            // No tool keeps anything there.
            .env("HOME", self.path("person"))
            .current_dir(self.dir.path());
        for name in ibid::source::VARIABLES {
            command.env_remove(name);
        }
        for name in keys::variables() {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Ended {
        self.run_with(args, "")
    }

    fn run_with(&self, args: &[&str], stdin: impl Into<Vec<u8>>) -> Ended {
        let output = self.command().args(args).write_stdin(stdin).output();
        let output = output.unwrap();
        Ended {
            code: output.status.code(),
            out: output.stdout,
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The result of a command that succeeds with nothing on stderr.
    #[track_caller]
    fn text(&self, args: &[&str]) -> String {
        self.run(args).text()
    }

    /// The same, of a command whose result is one line of JSON.
    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        self.run(args).json()
    }

    /// The code and message of a command that fails with `--json`.
    #[track_caller]
    fn refused(&self, args: &[&str]) -> (String, String) {
        self.run(args).refused()
    }
}

impl Ended {
    #[track_caller]
    fn text(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""));
        String::from_utf8(self.out).unwrap()
    }

    #[track_caller]
    fn json(self) -> Value {
        let text = self.text();
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    /// One line `{"error":{"code","message"}}` on stderr, nothing on stdout,
    /// and an exit code that is not zero.
    #[track_caller]
    fn refused(self) -> (String, String) {
        assert!(matches!(self.code, Some(1..=10)), "{:?}", self.code);
        assert_eq!(self.out, b"");
        assert_eq!(self.err.matches('\n').count(), 1, "{}", self.err);
        let error: Value = serde_json::from_str(&self.err).unwrap();
        let field = |name: &str| error["error"][name].as_str().unwrap().to_owned();
        let (code, message) = (field("code"), field("message"));
        assert_eq!(error, json!({"error": {"code": code, "message": message}}));
        (code, message)
    }
}

fn header_line(header: &Header) -> String {
    let mut line = json!({"type": "session"});
    let fields = serde_json::to_value(header).unwrap();
    let fields = fields.as_object().unwrap().clone();
    line.as_object_mut().unwrap().extend(fields);
    line.to_string() + "\n"
}

fn log_of(session: &Session) -> String {
    let mut log = header_line(session.header());
    for event in session.events() {
        log += &serde_json::to_string(event).unwrap();
        log.push('\n');
    }
    log
}

fn rows(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let text = std::fs::read_to_string(path.join(name)).unwrap();
    let rows = text.lines().filter(|line| !line.is_empty());
    rows.map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// About `count` rows of a vector file, spread over the whole of it.
fn sample(name: &str, count: usize) -> Vec<Value> {
    let rows = rows(name);
    let step = rows.len().div_ceil(count);
    rows.into_iter().step_by(step).collect()
}

#[test]
fn help_shows_how_to_use_it() {
    let place = Place::new();
    let help = place.text(&["--help"]);
    for example in ["ibid demo", "ibid candidates flaky --json", "ibid prepare"] {
        assert!(help.contains(example), "{help}");
    }
    assert!(place.text(&["prepare", "--help"]).contains("Examples:"));
    assert_eq!(
        place.text(&["--version"]),
        concat!("ibid ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn reading_makes_no_home() {
    let place = Place::new();
    assert_eq!(place.json(&["sessions", "list", "--json"]), json!([]));
    assert_eq!(place.text(&["candidates"]), "");
    assert!(!place.path("home").exists());
}

#[test]
fn what_reads_all_sessions_makes_a_home_and_keeps_what_it_read() {
    for command in [&["search", "login", "--json"][..], &["reindex", "--json"]] {
        let place = Place::new();
        place.json(command);
        assert!(place.path("home/cache.sqlite3").exists(), "{command:?}");
    }
}
