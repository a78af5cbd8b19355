//! Finding the sessions of other tools on a disk full of them.
//!
//! `cargo bench --bench scan [-- --sessions N --bytes N --seed N]` makes up a
//! home of other tools' sessions, 10,000 in 5 GB unless told otherwise, and
//! prints how long it takes to list them without a cache, beside parsing every
//! line with `serde_json` on as many threads (at least ten times as long), and
//! with a cache that is up to date, beside one walk that only asks for the
//! state of each file (at most twice as long). The files are in the system's
//! cache all along, which is the harder case: a disk makes reading less look
//! better still.
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
use rayon::prelude::*;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

fn main() {
    let plan = home::Plan::of_args(std::env::args());
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let (making, made) = time(|| home::make(&home, &plan).unwrap());
    println!(
        "{} sessions, {} of them forks, beside {} subagents' and {} stubs, in {} MB, made in {:.1} s",
        made.sessions,
        made.forks,
        made.subagents,
        made.stubs,
        made.bytes / 1_000_000,
        making.as_secs_f64()
    );
    println!("{} threads", rayon::current_num_threads());
    // Once for the system's cache.
    let files = walk(&home);
    let (parsing, lines) = best(1, || files.par_iter().map(parse).sum::<usize>());
    println!("  parse every line   {:9.1} ms, {lines} lines", ms(parsing));
    let (walking, found) = best(5, || walk(&home).len());
    println!("  walk and stat      {:9.1} ms, {found} files", ms(walking));

    let cache = folder.path().join("cache.sqlite3");
    let (cold, listed) = best(3, || {
        let _ = fs::remove_file(&cache);
        refresh(&home, &cache)
    });
    println!("  without a cache    {:9.1} ms, {listed} listed", ms(cold));
    let (warm, listed) = best(5, || refresh(&home, &cache));
    println!("  cache up to date   {:9.1} ms, {listed} listed", ms(warm));
    println!(
        "  parsing takes {:.1} times as long as no cache (at least 10)",
        ratio(parsing, cold)
    );
    println!(
        "  a cache takes {:.2} times as long as the walk (at most 2)",
        ratio(warm, walking)
    );
}

/// Every file below a folder, with its state.
fn walk(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            files.extend(walk(&entry.path()));
        } else {
            files.push((entry.path(), entry.metadata().unwrap().len()));
        }
    }
    files
}

/// Parses every line, document or part of a file, and says how many.
fn parse((path, _): &(PathBuf, u64)) -> usize {
    let file = || BufReader::with_capacity(1 << 16, File::open(path).unwrap());
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl") => parse_lines(file()),
        Some("zstd") => {
            // The decoder stops at the end of a frame.
            let mut bytes = Vec::new();
            file().read_to_end(&mut bytes).unwrap();
            let mut rest = &*bytes;
            let mut text = Vec::new();
            while !rest.is_empty() {
                let mut decoder = ruzstd::decoding::StreamingDecoder::new(&mut rest).unwrap();
                decoder.read_to_end(&mut text).unwrap();
            }
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

/// Opens a library over all that is in the home, brings it up to date, and
/// says how many sessions it lists.
fn refresh(home: &Path, cache: &Path) -> usize {
    let environment = Environment::new(Some(home.to_owned()), []);
    let own = Arc::new(StoredLogs::new(Home::at(home.join("ibid"))));
    let others = adapters()
        .map(|adapter| Arc::new(ToolLogs::new(adapter, &environment)) as Arc<dyn LogFiles>)
        .collect();
    let library = Library::over(own, others, false, Some(cache.to_owned()));
    let refreshed = library
        .refresh(&CancellationToken::new(), &mut |_| {})
        .unwrap();
    assert!(refreshed.notices.is_empty(), "{:?}", refreshed.notices);
    library.index().len()
}

fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let made = work();
    (started.elapsed(), made)
}

fn best<T>(rounds: usize, mut work: impl FnMut() -> T) -> (Duration, T) {
    let times = (0..rounds).map(|_| time(&mut work));
    times.min_by_key(|(time, _)| *time).unwrap()
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
