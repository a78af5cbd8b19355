//! The first frame over very many sessions, beside `fzf` with the same list.
//!
//! `cargo bench --bench first_frame [-- SESSIONS]` stores that many sessions
//! (100,000 unless told otherwise), lets the library fill its cache once, and
//! then starts `ibid` and `fzf` in turns, each in a pseudo-terminal. It prints
//! how long each takes, from its start, to its first frame, to the first rows
//! (after an `@` typed on the first frame), and to the count of all of them:
//! the best of several rounds, and the ratios.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::string_slice,
    dead_code,
    reason = "a benchmark that shares the harness of the tests"
)]

#[path = "../tests/it/terminal/home.rs"]
mod home;
#[path = "../tests/it/terminal/pty.rs"]
mod pty;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use home::Place;
use ibid::library::{Library, StoredLogs};
use ibid::session::SessionId;
use ibid::store::Home;
use pty::{CommandBuilder, Screen, Terminal, rows, shows};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 7;
const SIZE: (u16, u16) = (120, 40);

/// How long after its start a program had drawn what.
#[derive(Clone, Copy)]
struct Times {
    frame: Duration,
    rows: Duration,
    all: Duration,
}

impl Times {
    const WORST: Self = Self {
        frame: Duration::MAX,
        rows: Duration::MAX,
        all: Duration::MAX,
    };

    fn best(self, other: Self) -> Self {
        Self {
            frame: self.frame.min(other.frame),
            rows: self.rows.min(other.rows),
            all: self.all.min(other.all),
        }
    }
}

fn main() {
    let count = std::env::args()
        .find_map(|arg| arg.parse::<usize>().ok())
        .unwrap_or(100_000);
    let place = Place::new();
    let list = place.cwd().join("list");
    let started = Instant::now();
    fs::write(&list, store(&place, count)).unwrap();
    println!("{count} sessions stored in {}", ms(started.elapsed()));
    let started = Instant::now();
    fill_cache(&place.home());
    println!("  cache filled once in      {}", ms(started.elapsed()));

    let has_fzf = std::process::Command::new("fzf")
        .arg("--version")
        .output()
        .is_ok();
    let (mut ours, mut theirs) = (Times::WORST, Times::WORST);
    for _ in 0..ROUNDS {
        ours = ours.best(start_ibid(&place, count));
        if has_fzf {
            theirs = theirs.best(start_fzf(&list, count));
        }
    }
    println!("                            frame     rows      all of them");
    print("ibid", ours);
    if !has_fzf {
        println!("  fzf is not installed, so it is not compared");
        return;
    }
    print("fzf", theirs);
    let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
    println!(
        "  ratio                     {:<9.2} {:<9.2} {:.2}  (at most 1)",
        ratio(ours.frame, theirs.frame),
        ratio(ours.rows, theirs.rows),
        ratio(ours.all, theirs.all),
    );
}

/// Stores the sessions, each with a title; gives the list of them.
fn store(place: &Place, count: usize) -> String {
    let home = Home::at(place.home());
    let mut list = String::new();
    for at in 0..count {
        let id = format!("0197{at:08x}-7000-8000-000000000000");
        let title = format!("Look into the {} of part {at}", WORDS[at % WORDS.len()]);
        let cwd = format!("/home/sam/work/project-{}", at % 300);
        let log = format!(
            "{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\",\"createdAt\":{at},\"cwd\":\"{cwd}\"}}\n\
             {{\"seq\":0,\"time\":{at},\"type\":\"session/title\",\"data\":{{\"title\":\"{title}\",\"messageSeqs\":[],\"source\":{{\"kind\":\"fallback\"}}}}}}\n"
        );
        fs::write(home.session_file(&SessionId::from(id)), log).unwrap();
        writeln!(list, "{title} {cwd}").unwrap();
    }
    list
}

const WORDS: [&str; 7] = [
    "flaky login test",
    "connection pool",
    "retry budget",
    "release script",
    "cache eviction",
    "search index",
    "terminal resize",
];

fn fill_cache(home: &Path) {
    let home = Home::at(home);
    let cache = home.cache_file();
    let library = Library::open(Arc::new(StoredLogs::new(home)), Some(cache));
    let refreshed = library
        .refresh(&CancellationToken::new(), &mut |_| {})
        .unwrap();
    assert!(refreshed.notices.is_empty(), "{:?}", refreshed.notices);
}

fn start_ibid(place: &Place, count: usize) -> Times {
    let total = grouped(count);
    let started = Instant::now();
    let mut terminal = Terminal::start(pty::ibid(&place.home(), &place.cwd(), &[]), SIZE);
    terminal.wait_text("help");
    let frame = started.elapsed();
    terminal.keys("@");
    terminal.wait("rows", |screen| {
        has_rows(screen) && rows(screen).iter().any(|row| row.starts_with('▌'))
    });
    let rows = started.elapsed();
    terminal.wait_text(&format!("{total}/{total}"));
    let all = started.elapsed();
    terminal.keys("\x03\x04");
    terminal.end();
    Times { frame, rows, all }
}

fn start_fzf(list: &Path, count: usize) -> Times {
    let mut command = CommandBuilder::new("sh");
    command.args(["-c", "exec fzf <\"$0\""]);
    command.arg(list);
    let cwd = list.parent().unwrap();
    pty::set_up(&mut command, cwd, cwd);
    command.env_remove("FZF_DEFAULT_OPTS");
    let started = Instant::now();
    let mut terminal = Terminal::start(command, SIZE);
    terminal.wait_text(">");
    let frame = started.elapsed();
    terminal.wait("rows", has_rows);
    let rows = started.elapsed();
    terminal.wait("all of them", |screen| {
        shows(screen, &format!("{count}/{count}"))
    });
    let all = started.elapsed();
    terminal.keys("\x03");
    terminal.end();
    Times { frame, rows, all }
}

fn has_rows(screen: &Screen) -> bool {
    rows(screen).iter().any(|row| row.contains("Look into the"))
}

fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn print(name: &str, times: Times) {
    println!(
        "  {name:<25} {:<9} {:<9} {}",
        ms(times.frame),
        ms(times.rows),
        ms(times.all)
    );
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
