//! Discovery over very many sessions: start-up, keys, memory.
//!
//! `cargo bench --bench discovery [-- SESSIONS]` makes up that many sessions
//! (100,000 unless told otherwise) and prints how long it takes to load them
//! from the cache, how long from a key to new rows while queries are typed,
//! the same for the bare matcher over the same strings with the same threads,
//! and the memory a session takes beside its strings.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_precision_loss,
    reason = "a benchmark"
)]

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ibid::library::index::Index;
use ibid::library::matcher::{Query, SearchState, search};
use ibid::library::{CapturedLog, Library, LogFile, LogFiles, Scanned, Stamp};
use ibid::reference::Cause;
use ibid::reference::projection::Capture;
use ibid::session::{Header, Millis, SessionId, Title};
use ibid::tool::Tool;
use nucleo::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo::{Config, Matcher, Utf32Str, Utf32String};
use rayon::prelude::*;
use tokio_util::sync::CancellationToken;

const QUERIES: [&str; 6] = [
    "flaky login",
    "mgrtn pool",
    "Retry budget",
    "登录",
    "work/api cache",
    "zzqx",
];
const LIMIT: usize = 100;
const ROUNDS: usize = 25;

const VERBS: [&str; 16] = [
    "Fix", "Debug", "Rewrite", "Explain", "Review", "Speed up", "Migrate", "Test", "Remove",
    "Document", "Plan", "Split", "Port", "Profile", "Trace", "Rename",
];
const THINGS: [&str; 24] = [
    "flaky login test",
    "connection pool",
    "retry budget",
    "release script",
    "cache eviction",
    "migration to Postgres",
    "search index",
    "config loader",
    "CSV export",
    "payment webhook",
    "rate limiter",
    "session store",
    "date parser",
    "image upload",
    "Docker build",
    "CI on arm64",
    "memory leak",
    "auth middleware",
    "feature flags",
    "background jobs",
    "error messages",
    "terminal resize",
    "Unicode width",
    "invoice totals",
];
const TAILS: [&str; 12] = [
    "",
    "in staging",
    "after the upgrade",
    "again",
    "for the demo",
    "on Windows",
    "part two",
    "under load",
    "before Friday",
    "with fewer queries",
    "without downtime",
    "(draft)",
];
const CJK: [&str; 6] = [
    "修复登录页面的测试",
    "数据库连接池",
    "検索インデックスの更新",
    "로그인 오류 분석",
    "支付回调重试",
    "終端の幅 👩‍💻",
];

/// Sessions that are made up as they are asked for.
struct MadeUp {
    count: u64,
}

/// A fixed scramble of a number, so that every run sees the same sessions.
fn scramble(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn pick<'a>(words: &[&'a str], random: u64) -> &'a str {
    words[usize::try_from(random % words.len() as u64).unwrap()]
}

fn title(at: u64) -> String {
    let r = scramble(at);
    if r.is_multiple_of(20) {
        return format!("{} {}", pick(&CJK, r >> 8), r >> 52);
    }
    let (verb, thing) = (pick(&VERBS, r >> 8), pick(&THINGS, r >> 16));
    format!("{verb} the {thing} {}", pick(&TAILS, r >> 24))
        .trim()
        .to_owned()
}

fn cwd(at: u64) -> String {
    let r = scramble(at ^ 0xabcd) % 300;
    format!(
        "/home/sam/work/{}-{r}",
        pick(&["api", "web", "infra", "docs"], r)
    )
}

impl MadeUp {
    fn id(at: u64) -> String {
        let r = scramble(at ^ 0x1d);
        format!(
            "0197{:08x}-7{:03x}-8{:03x}-{:012x}",
            at,
            r & 0xfff,
            (r >> 12) & 0xfff,
            r >> 16
        )
    }

    fn log_file(at: u64) -> LogFile {
        LogFile {
            tool: Tool::Ibid,
            file: format!("{}.jsonl", Self::id(at)),
            id: Some(Self::id(at).into()),
            stamp: Self::stamp(at),
        }
    }

    fn stamp(at: u64) -> Stamp {
        Stamp {
            size: 1000 + at,
            mtime_ns: i64::try_from(at).unwrap() * 1_000_000_000,
            inode: at,
        }
    }
}

impl LogFiles for MadeUp {
    fn file_name(&self, id: &SessionId) -> Option<String> {
        Some(format!("{id}.jsonl"))
    }

    fn scan(&self, _: &CancellationToken) -> Result<Scanned, Cause> {
        Ok(Scanned {
            logs: (0..self.count).map(Self::log_file).collect(),
            notices: Vec::new(),
        })
    }

    fn find(&self, file: &str) -> Option<LogFile> {
        Some(Self::log_file(u64::from_str_radix(&file[4..12], 16).ok()?))
    }

    fn header(&self, file: &str) -> Result<Header, Cause> {
        let at = u64::from_str_radix(&file[4..12], 16).unwrap();
        let created_at = Millis(i64::try_from(at).unwrap() * 1000);
        Ok(Header::new(Self::id(at), created_at, Some(cwd(at))))
    }

    fn capture(&self, file: &str, _: Option<&SessionId>) -> Result<Option<CapturedLog>, Cause> {
        let at = u64::from_str_radix(&file[4..12], 16).unwrap();
        Ok(Some(CapturedLog {
            stamp: Self::stamp(at),
            capture: Capture {
                header: self.header(file)?,
                captured_through: None,
                damage: None,
                conversation: Vec::new(),
            },
            title: Some(Title {
                text: title(at),
                pinned: false,
            }),
        }))
    }
}

fn main() {
    let count = std::env::args()
        .find_map(|arg| arg.parse::<u64>().ok())
        .unwrap_or(100_000);
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache.sqlite3");
    let files: Arc<dyn LogFiles> = Arc::new(MadeUp { count });
    let library = Library::open(Arc::clone(&files), Some(cache.clone()));
    let started = Instant::now();
    let refreshed = library
        .refresh(&CancellationToken::new(), &mut |_| {})
        .unwrap();
    assert!(refreshed.notices.is_empty(), "{:?}", refreshed.notices);
    println!("{count} sessions, {} threads", rayon::current_num_threads());
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
    let load = best(5, || {
        let library = Library::open(Arc::clone(&files), Some(cache.clone()));
        library.load().unwrap();
        assert_eq!(library.index().len() as u64, count);
    });
    let listing = best(5, || drop(files.scan(&CancellationToken::new()).unwrap()));
    println!(
        "  load (less a scan) {:8.1} ms",
        ms(load.saturating_sub(listing))
    );

    let index = library.index();
    let footprint = index.footprint();
    println!(
        "  memory a session   {:8.1} bytes beside {:.1} bytes of strings",
        footprint.beside as f64 / count as f64,
        footprint.strings as f64 / count as f64
    );
    keys(&index);
    fzf(&index);
}

/// Types every query into both, in turns, and compares key by key.
fn keys(index: &Arc<Index>) {
    let bare = Bare::new(index);
    let prefixes: Vec<Vec<&str>> = QUERIES
        .iter()
        .map(|query| {
            let ends = query.char_indices().map(|(at, c)| at + c.len_utf8());
            ends.map(|end| &query[..end]).collect()
        })
        .collect();
    let keys: usize = prefixes.iter().map(Vec::len).sum();
    let mut ours = vec![Duration::MAX; keys];
    let mut theirs = vec![Duration::MAX; keys];
    let mut borrowed = vec![Duration::MAX; keys];
    for _ in 0..ROUNDS {
        let mut at = 0;
        for typed in &prefixes {
            let mut state: Option<SearchState> = None;
            for text in typed {
                let started = Instant::now();
                state = Some(key(index, text, state.as_ref()));
                ours[at] = ours[at].min(started.elapsed());
                let started = Instant::now();
                std::hint::black_box(bare.search(text));
                theirs[at] = theirs[at].min(started.elapsed());
                let started = Instant::now();
                std::hint::black_box(bare.search_borrowed(text));
                borrowed[at] = borrowed[at].min(started.elapsed());
                at += 1;
            }
        }
    }
    println!("  key to new rows    {}", percentiles(&ours));
    println!(
        "  bare matcher       {}  (strings decoded beforehand)",
        percentiles(&theirs)
    );
    println!(
        "  bare matcher       {}  (strings as they are)",
        percentiles(&borrowed)
    );
    let texts = prefixes.iter().flatten();
    let ratio = |(ours, theirs): (&Duration, &Duration)| ours.as_secs_f64() / theirs.as_secs_f64();
    let worst = texts
        .zip(ours.iter().zip(&theirs))
        .max_by(|a, b| ratio(a.1).total_cmp(&ratio(b.1)))
        .unwrap();
    let sum = |times: &[Duration]| times.iter().sum::<Duration>().as_secs_f64();
    println!(
        "  ratio              {:8.2} over all keys (at most 1.5)",
        sum(&ours) / sum(&theirs)
    );
    println!(
        "  worst key          {:8.2}: {:?}, {:.2} ms to {:.2} ms",
        ratio(worst.1),
        worst.0,
        ms(*worst.1.0),
        ms(*worst.1.1)
    );
}

fn key(index: &Arc<Index>, text: &str, state: Option<&SearchState>) -> SearchState {
    let query = Query {
        text: text.to_owned(),
        target_cwd: Some(cwd(0)),
        exclude: Some(MadeUp::id(0).into()),
        limit: LIMIT,
    };
    let hits = search(index, &query, state, &CancellationToken::new()).unwrap();
    std::hint::black_box(&hits.rows);
    hits.state
}

/// The matcher alone: score every string, keep the best.
struct Bare {
    decoded: Vec<Utf32String>,
    strings: Vec<String>,
}

impl Bare {
    fn new(index: &Index) -> Self {
        let strings: Vec<String> = index
            .iter()
            .map(|entry| format!("{} {}", entry.display, entry.cwd.unwrap_or_default()))
            .collect();
        Self {
            decoded: strings.iter().map(|s| Utf32String::from(&**s)).collect(),
            strings,
        }
    }

    fn search(&self, query: &str) -> Vec<(u32, usize)> {
        Self::best(query, &self.decoded, |text, pattern, _, matcher| {
            pattern.score(text.slice(..), matcher)
        })
    }

    fn search_borrowed(&self, query: &str) -> Vec<(u32, usize)> {
        Self::best(query, &self.strings, |text, pattern, buffer, matcher| {
            pattern.score(Utf32Str::new(text, buffer), matcher)
        })
    }

    fn best<T: Sync>(
        query: &str,
        strings: &[T],
        score: impl Fn(&T, &Pattern, &mut Vec<char>, &mut Matcher) -> Option<u32> + Sync,
    ) -> Vec<(u32, usize)> {
        let pattern = Pattern::new(
            query,
            CaseMatching::Smart,
            Normalization::Smart,
            AtomKind::Fuzzy,
        );
        let chunk = strings
            .len()
            .div_ceil(rayon::current_num_threads() * 4)
            .max(1);
        let mut all: Vec<(u32, usize)> = strings
            .par_chunks(chunk)
            .enumerate()
            .flat_map_iter(|(part, strings)| {
                let mut matcher = Matcher::new(Config::DEFAULT);
                let mut buffer = Vec::new();
                let mut found = Vec::new();
                for (at, text) in strings.iter().enumerate() {
                    if let Some(score) = score(text, &pattern, &mut buffer, &mut matcher) {
                        found.push((u32::MAX - score, part * chunk + at));
                    }
                }
                found
            })
            .collect();
        if LIMIT < all.len() {
            all.select_nth_unstable(LIMIT);
            all.truncate(LIMIT);
        }
        all.sort_unstable();
        all
    }
}

/// What `fzf --filter` takes for each whole query, its start included.
fn fzf(index: &Index) {
    let mut lines = String::new();
    for entry in index.iter() {
        lines.push_str(entry.display);
        lines.push(' ');
        lines.push_str(entry.cwd.unwrap_or_default());
        lines.push('\n');
    }
    for query in QUERIES {
        let started = Instant::now();
        let child = Command::new("fzf")
            .args(["--filter", query])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn();
        let Ok(mut child) = child else {
            println!("  fzf                is not installed, so it is not compared");
            return;
        };
        child
            .stdin
            .take()
            .unwrap()
            .write_all(lines.as_bytes())
            .unwrap();
        child.wait().unwrap();
        println!(
            "  fzf --filter       {:8.1} ms  {query}",
            ms(started.elapsed())
        );
    }
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

fn percentiles(times: &[Duration]) -> String {
    let mut times = times.to_vec();
    times.sort_unstable();
    let at = |percent: usize| ms(times[(times.len() - 1) * percent / 100]);
    format!("{:8.2} ms p50, {:.2} ms p99", at(50), at(99))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
