//! Finding the sessions of other tools on a disk full of them.
//!
//! `cargo bench --bench scan [-- --sessions N --bytes N --seed N --rounds N]`
//! makes up a home of other tools' sessions, 10,000 in 5 GB unless told
//! otherwise, and prints how long four things take:
//!
//! - `parse`: every line of every file is parsed with `serde_json`.
//! - `cold`: a library without a cache, from nothing to the complete list.
//!   Parsing has to take at least ten times as long.
//! - `walk`: every folder is listed and every file asked for its state.
//! - `warm`: what each start of the program does until the list is complete:
//!   a new library recalls what its cache remembers, then refreshes. Nothing
//!   changed since. It may take at most twice as long as the walk.
//!
//! The library reads with two threads of its own while the thread that asks
//! writes. `parse` and `walk` get as many. The four take turns, and the best
//! of all rounds counts for each, so that what else the machine does falls on
//! all of them alike. Beside each time stands that of all processors, which
//! depends on it less. The files are in the system's cache all along, which
//! is the harder case: a disk makes reading less look better still.
//!
//! `--home DIR` makes the home there, or takes the one that is there, and
//! keeps it. `--only NAME` leaves the other three out.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::many_single_char_names,
    reason = "a benchmark"
)]

#[path = "../support/home/mod.rs"]
mod home;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ibid::library::{Library, LogFiles, StoredLogs, ToolLogs};
use ibid::source::{Environment, adapters};
use ibid::store::Home;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use rusqlite::{Connection, OpenFlags};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// As many as the library uses: see `src/threads.rs`, and the one that asks.
const THREADS: usize = 3;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let after = |name: &str| Some(args[args.iter().position(|arg| arg == name)? + 1].as_str());
    let rounds: u32 = after("--rounds").map_or(5, |rounds| rounds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let home = after("--home").map_or_else(|| folder.path().join("home"), PathBuf::from);
    if !home.exists() {
        make(&home, &home::Plan::of_args(args.iter().cloned()));
    }
    let pool = ThreadPoolBuilder::new().num_threads(THREADS).build();
    let pool = pool.unwrap();
    // Once for the system's cache.
    let files = pool.install(|| walk(&home));
    let bytes: u64 = files.iter().map(|(_, bytes)| bytes).sum();
    println!(
        "{} files, {} MB; {THREADS} threads on {} processors; best of {rounds}",
        files.len(),
        bytes / 1_000_000,
        std::thread::available_parallelism().unwrap()
    );
    let cache = folder.path().join("cache.sqlite3");
    refresh(&home, &cache);
    let cold = folder.path().join("cold.sqlite3");
    let mut measures = [
        Measure::new("parse", "lines", || {
            pool.install(|| files.par_iter().map(parse).sum())
        }),
        Measure::new("cold", "listed", || {
            let _ = fs::remove_file(&cold);
            refresh(&home, &cold)
        }),
        Measure::new("walk", "files", || pool.install(|| walk(&home).len())),
        Measure::new("warm", "listed", || start(&home, &cache)),
    ];
    let only = after("--only");
    for _ in 0..rounds {
        let wanted = |name| only.is_none_or(|only| only == name);
        for measure in measures.iter_mut().filter(|one| wanted(one.name)) {
            measure.round();
        }
    }
    for measure in &measures {
        measure.print();
    }
    let [parse, cold, walk, warm] = measures.each_ref().map(|measure| measure.best);
    if let (Some(parse), Some(cold)) = (parse, cold) {
        let [time, busy] = parse.over(cold);
        println!("parse takes {time:.1} times as long as cold (at least 10); busy {busy:.1}");
    }
    if let (Some(walk), Some(warm)) = (walk, warm) {
        let [time, busy] = warm.over(walk);
        println!("warm takes {time:.2} times as long as walk (at most 2); busy {busy:.2}");
    }
}

fn make(home: &Path, plan: &home::Plan) {
    let started = Instant::now();
    let made = home::make(home, plan).unwrap();
    println!(
        "{} sessions, {} of them forks, beside {} subagents' and {} stubs, in {} MB, made in {:.1} s",
        made.sessions,
        made.forks,
        made.subagents,
        made.stubs,
        made.bytes / 1_000_000,
        started.elapsed().as_secs_f64()
    );
}

/// What is measured, and how it went.
struct Measure<'a> {
    name: &'static str,
    /// What it counts.
    unit: &'static str,
    work: Box<dyn FnMut() -> usize + 'a>,
    count: usize,
    best: Option<Spent>,
}

/// How long something took.
#[derive(Clone, Copy)]
struct Spent {
    time: Duration,
    /// That of all processors together.
    busy: Duration,
}

impl<'a> Measure<'a> {
    fn new(name: &'static str, unit: &'static str, work: impl FnMut() -> usize + 'a) -> Self {
        Self {
            name,
            unit,
            work: Box::new(work),
            count: 0,
            best: None,
        }
    }

    fn round(&mut self) {
        let (started, before) = (Instant::now(), busy());
        self.count = (self.work)();
        let spent = Spent {
            time: started.elapsed(),
            busy: busy().saturating_sub(before),
        };
        let best = self.best.unwrap_or(spent);
        self.best = Some(Spent {
            time: spent.time.min(best.time),
            busy: spent.busy.min(best.busy),
        });
    }

    fn print(&self) {
        let Some(best) = self.best else { return };
        println!(
            "  {:<6} {:9.1} ms, busy {:9.1} ms, {} {}",
            self.name,
            best.time.as_secs_f64() * 1000.0,
            best.busy.as_secs_f64() * 1000.0,
            self.count,
            self.unit
        );
    }
}

impl Spent {
    fn over(self, other: Self) -> [f64; 2] {
        let pairs = [(self.time, other.time), (self.busy, other.busy)];
        pairs.map(|(a, b)| a.as_secs_f64() / b.as_secs_f64())
    }
}

/// The processor time of all threads.
fn busy() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap(),
    )
}

/// Every file below a folder, with its length.
fn walk(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut files = Vec::new();
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            folders.push(entry.path());
        } else {
            files.push((entry.path(), entry.metadata().unwrap().len()));
        }
    }
    let below = folders.par_iter().map(|folder| walk(folder));
    files.extend(below.flatten_iter().collect::<Vec<_>>());
    files
}

/// Parses every line, document or part of a file, and says how many.
fn parse((path, _): &(PathBuf, u64)) -> usize {
    let file = || BufReader::with_capacity(1 << 16, File::open(path).unwrap());
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl") => parse_lines(file()),
        Some("zstd") => {
            let mut text = Vec::new();
            zrip::FrameDecoder::new(file())
                .read_to_end(&mut text)
                .unwrap();
            parse_lines(&*text)
        }
        Some("json") => serde_json::from_reader::<_, Value>(file()).map_or(0, |_| 1),
        Some("db") => {
            let database =
                Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
            let mut parts = database.prepare("SELECT data FROM part").unwrap();
            let parts = parts.query_map([], |row| row.get::<_, String>(0)).unwrap();
            parts
                .filter(|part| serde_json::from_str::<Value>(part.as_ref().unwrap()).is_ok())
                .count()
        }
        _ => 0,
    }
}

fn parse_lines(mut lines: impl BufRead) -> usize {
    let mut line = Vec::new();
    let mut count = 0;
    while lines.read_until(b'\n', &mut line).unwrap() > 0 {
        std::hint::black_box(serde_json::from_slice::<Value>(&line).unwrap());
        line.clear();
        count += 1;
    }
    count
}

/// A library over all that is in the home.
fn library(home: &Path, cache: &Path) -> Library {
    let environment = Environment::new(Some(home.to_owned()), []);
    let own = Arc::new(StoredLogs::new(Home::at(home.join("ibid"))));
    let others = adapters()
        .map(|adapter| Arc::new(ToolLogs::new(adapter, &environment)) as Arc<dyn LogFiles>)
        .collect();
    Library::over(own, others, false, Some(cache.to_owned()))
}

/// Brings a new library up to date, and says how many sessions it lists.
fn refresh(home: &Path, cache: &Path) -> usize {
    bring_up_to_date(&library(home, cache))
}

/// Does what a start of the program does.
fn start(home: &Path, cache: &Path) -> usize {
    let library = library(home, cache);
    library.recall(&mut || {});
    bring_up_to_date(&library)
}

fn bring_up_to_date(library: &Library) -> usize {
    let refreshed = library
        .refresh(&CancellationToken::new(), &mut |_| {})
        .unwrap();
    assert!(refreshed.notices.is_empty(), "{:?}", refreshed.notices);
    library.index().len()
}
