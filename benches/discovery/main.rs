//! Discovery over very many sessions: start-up, memory, and keys beside
//! other matchers.
//!
//! `cargo bench --bench discovery [-- SESSIONS ...]` makes up that many
//! sessions, 100,000 and then 1,000,000 unless told otherwise, and prints how
//! long it takes to load them from the cache, the memory a session takes
//! beside its strings, and how long it takes from a key to new rows. The same
//! keys go to the bare matcher, to `frizbee` and to `fzf --filter`, over the
//! same strings with the same number of threads, in turns.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_precision_loss,
    reason = "a benchmark"
)]

mod made_up;
mod matchers;

use std::sync::Arc;
use std::time::{Duration, Instant};

use ibid::library::index::Index;
use ibid::library::{Library, LogFiles};
use tokio_util::sync::CancellationToken;

use self::made_up::MadeUp;
use self::matchers::{Bare, Frizbee, Fzf, Ibid, Match};

/// How many rows every matcher gives.
const LIMIT: usize = 100;

/// Queries that are typed key by key.
const TYPED: [&str; 7] = [
    "flaky login",
    "mgrtn pool",
    "Retry budget",
    "登录",
    "work/api cache",
    "e",
    "zzqx",
];
/// A query, and how far it is taken back before its end is typed again.
const CORRECTED: [(&str, usize); 3] = [
    ("session stroe", 2),
    ("review the cahce", 4),
    ("docker build", 12),
];
/// Queries that are there at once.
const PASTED: [&str; 4] = [
    "flaky login test",
    "Explain the CSV export with fewer queries",
    "the",
    "nothing is called like this",
];

/// What stands in the search line after each key, in one go of typing.
type Texts = Vec<String>;

fn main() {
    let mut sizes: Vec<u64> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    if sizes.is_empty() {
        sizes = vec![100_000, 1_000_000];
    }
    for count in sizes {
        println!("{count} sessions, {} threads", rayon::current_num_threads());
        let library = load(count);
        let index = library.index();
        let footprint = index.footprint();
        println!(
            "  memory a session   {:8.1} bytes (at most 200) beside {:.1} bytes of strings",
            footprint.beside as f64 / count as f64,
            footprint.strings as f64 / count as f64
        );
        keys(&index);
    }
}

/// Fills a cache and loads it, and says how long that takes.
fn load(count: u64) -> Library {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache.sqlite3");
    let files: Arc<dyn LogFiles> = Arc::new(MadeUp { count });
    let library = Library::open(Arc::clone(&files), Some(cache.clone()));
    let started = Instant::now();
    let refreshed = library
        .refresh(&CancellationToken::new(), &mut |_| {})
        .unwrap();
    assert!(refreshed.notices.is_empty(), "{:?}", refreshed.notices);
    println!("  fill the cache     {:8.1} ms", ms(started.elapsed()));

    let (mut first_rows, mut all_rows) = (Duration::MAX, Duration::MAX);
    for _ in 0..5 {
        let library = Library::open(Arc::clone(&files), Some(cache.clone()));
        let started = Instant::now();
        let mut first = None;
        library.recall(&mut || {
            first.get_or_insert_with(|| started.elapsed());
        });
        all_rows = all_rows.min(started.elapsed());
        first_rows = first_rows.min(first.unwrap());
        assert_eq!(library.index().len() as u64, count);
    }
    println!("  first rows         {:8.1} ms", ms(first_rows));
    println!("  all from the cache {:8.1} ms", ms(all_rows));
    let load = best(3, || {
        let library = Library::open(Arc::clone(&files), Some(cache.clone()));
        library.load().unwrap();
        assert_eq!(library.index().len() as u64, count);
    });
    let listing = best(3, || drop(files.scan(&CancellationToken::new()).unwrap()));
    println!(
        "  load (less a scan) {:8.1} ms",
        ms(load.saturating_sub(listing))
    );
    library.load().unwrap();
    library
}

fn prefixes(text: &str) -> impl DoubleEndedIterator<Item = String> {
    let ends: Vec<usize> = text
        .char_indices()
        .map(|(at, c)| at + c.len_utf8())
        .collect();
    ends.into_iter().map(|end| text[..end].to_owned())
}

fn texts() -> Vec<Texts> {
    let typed = TYPED.iter().map(|query| prefixes(query).collect());
    let corrected = CORRECTED.iter().map(|(query, back)| {
        let all: Texts = prefixes(query).collect();
        let back = all.len() - back;
        let kept = back.max(1) - 1;
        let backspaces = all[kept..all.len() - 1].iter().rev().cloned();
        let again = all[kept + 1..].iter().cloned();
        let backspaces: Texts = backspaces.collect();
        all.iter().cloned().chain(backspaces).chain(again).collect()
    });
    let pasted = PASTED.iter().map(|query| vec![(*query).to_owned()]);
    typed.chain(corrected).chain(pasted).collect()
}

/// Gives every key to every matcher, in turns, and compares key by key.
fn keys(index: &Arc<Index>) {
    let lines: Vec<String> = index
        .iter()
        .map(|entry| format!("{} {}", entry.display, entry.cwd.unwrap_or_default()))
        .collect();
    let mut matchers: Vec<Box<dyn Match>> = vec![
        Box::new(Ibid::new(index)),
        Box::new(Bare::new(&lines)),
        Box::new(Frizbee::new(&lines)),
    ];
    match Fzf::new(&lines) {
        Some(fzf) => matchers.push(Box::new(fzf)),
        None => println!("  fzf is not installed, so its row is left out"),
    }
    let all = texts();
    let times: Vec<Vec<Duration>> = time(&mut matchers, &all, index.len());
    println!(
        "  {} keys to new rows     p50        p99   |  ibid to it: all keys    p50    p99  worst key",
        times[0].len()
    );
    let flat: Vec<&String> = all.iter().flatten().collect();
    for (matcher, theirs) in matchers.iter().zip(&times) {
        let ours = &times[0];
        let worst = (0..ours.len())
            .max_by(|a, b| ratio(ours[*a], theirs[*a]).total_cmp(&ratio(ours[*b], theirs[*b])))
            .unwrap();
        println!(
            "  {:14} {:10.2} ms {:7.2} ms  |  {:20.2} {:6.2} {:6.2} {:6.2} {:?} ({:.2} ms to {:.2} ms)",
            matcher.name(),
            ms(percentile(theirs, 50)),
            ms(percentile(theirs, 99)),
            ratio(ours.iter().sum(), theirs.iter().sum()),
            ratio(percentile(ours, 50), percentile(theirs, 50)),
            ratio(percentile(ours, 99), percentile(theirs, 99)),
            ratio(ours[worst], theirs[worst]),
            flat[worst],
            ms(ours[worst]),
            ms(theirs[worst]),
        );
    }
    if std::env::var_os("KEYS").is_some() {
        for (at, text) in flat.iter().enumerate() {
            let row: Vec<String> = times.iter().map(|t| format!("{:9.2}", ms(t[at]))).collect();
            println!("    {}  {text}", row.join(" "));
        }
    }
}

/// The best time of each key for each matcher.
fn time(matchers: &mut [Box<dyn Match>], all: &[Texts], sessions: usize) -> Vec<Vec<Duration>> {
    let keys: usize = all.iter().map(Vec::len).sum();
    let mut times = vec![vec![Duration::MAX; keys]; matchers.len()];
    // Some seconds a matcher, whatever the size.
    let rounds = (2_000_000 / sessions.max(1)).clamp(4, 20);
    for round in 0..rounds {
        let mut at = 0;
        for texts in all {
            for matcher in &mut *matchers {
                matcher.open();
            }
            for text in texts {
                for (matcher, times) in matchers.iter_mut().zip(&mut times) {
                    if round < matcher.rounds() {
                        let started = Instant::now();
                        matcher.key(text);
                        times[at] = times[at].min(started.elapsed());
                    }
                }
                at += 1;
            }
        }
    }
    times
}

fn best(rounds: usize, mut work: impl FnMut()) -> Duration {
    (0..rounds)
        .map(|_| {
            let started = Instant::now();
            work();
            started.elapsed()
        })
        .min()
        .unwrap()
}

fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[(times.len() - 1) * percent / 100]
}

fn ratio(ours: Duration, theirs: Duration) -> f64 {
    ours.as_secs_f64() / theirs.as_secs_f64()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
