//! The matchers that are compared, each as quick as it can be called.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use ibid::library::index::Index;
use ibid::library::matcher::{Query, SearchState, search};
use nucleo::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo::{Config, Matcher, Utf32String};
use rayon::prelude::*;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::LIMIT;
use super::made_up::{MadeUp, cwd};

/// Something that finds the best [`LIMIT`] lines.
pub trait Match {
    fn name(&self) -> &'static str;

    /// How often it is worth timing.
    fn rounds(&self) -> usize {
        usize::MAX
    }

    /// A list is opened: nothing was typed yet.
    fn open(&mut self) {}

    /// This is what has been typed.
    fn key(&mut self, text: &str);
}

pub struct Ibid {
    index: Arc<Index>,
    state: Option<SearchState>,
}

impl Ibid {
    pub fn new(index: &Arc<Index>) -> Self {
        Self {
            index: Arc::clone(index),
            state: None,
        }
    }
}

impl Match for Ibid {
    fn name(&self) -> &'static str {
        "ibid"
    }

    fn open(&mut self) {
        self.state = None;
    }

    fn key(&mut self, text: &str) {
        let query = Query {
            text: text.to_owned(),
            target_cwd: Some(cwd(0)),
            exclude: Some(MadeUp::id(0).into()),
            limit: LIMIT,
            ..Query::default()
        };
        let never = CancellationToken::new();
        let hits = search(&self.index, &query, self.state.as_ref(), &never).unwrap();
        black_box(&hits.rows);
        self.state = Some(hits.state);
    }
}

/// nucleo's matcher alone: score every line, keep the best. The lines are
/// decoded beforehand.
pub struct Bare {
    lines: Vec<Utf32String>,
}

impl Bare {
    pub fn new(lines: &[String]) -> Self {
        Self {
            lines: lines
                .iter()
                .map(|line| Utf32String::from(&**line))
                .collect(),
        }
    }
}

impl Match for Bare {
    fn name(&self) -> &'static str {
        "bare nucleo"
    }

    fn key(&mut self, text: &str) {
        let pattern = Pattern::new(
            text,
            CaseMatching::Smart,
            Normalization::Smart,
            AtomKind::Fuzzy,
        );
        let spans = rayon::current_num_threads() * 4;
        let span = self.lines.len().div_ceil(spans).max(1);
        let all: Vec<(u32, usize)> = self
            .lines
            .par_chunks(span)
            .enumerate()
            .flat_map_iter(|(part, lines)| {
                let mut matcher = Matcher::new(Config::DEFAULT);
                let mut found = Vec::new();
                for (at, line) in lines.iter().enumerate() {
                    if let Some(score) = pattern.score(line.slice(..), &mut matcher) {
                        found.push((u32::MAX - score, part * span + at));
                    }
                }
                found
            })
            .collect();
        black_box(top(all));
    }
}

/// frizbee, without typos as the others are, and without its sort of all
/// matches, which takes longer than the choice of the best.
pub struct Frizbee {
    lines: Vec<String>,
}

impl Frizbee {
    pub fn new(lines: &[String]) -> Self {
        Self {
            lines: lines.to_vec(),
        }
    }
}

impl Match for Frizbee {
    fn name(&self) -> &'static str {
        "frizbee"
    }

    fn key(&mut self, text: &str) {
        let config = frizbee::Config::default().sort(frizbee::SortStrategy::IndexAsc);
        let threads = rayon::current_num_threads();
        let all =
            frizbee::Matcher::from_query(text, &config).match_list_parallel(&self.lines, threads);
        black_box(top(all));
    }
}

/// `fzf --filter` with the lines in a file, its start and its output included.
pub struct Fzf {
    lines: PathBuf,
    _folder: TempDir,
}

impl Fzf {
    /// `None` when it is not installed.
    pub fn new(lines: &[String]) -> Option<Self> {
        Command::new("fzf").arg("--version").output().ok()?;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let mut file = BufWriter::new(File::create(&path).unwrap());
        for line in lines {
            writeln!(file, "{line}").unwrap();
        }
        file.flush().unwrap();
        Some(Self {
            lines: path,
            _folder: folder,
        })
    }
}

impl Match for Fzf {
    fn name(&self) -> &'static str {
        "fzf --filter"
    }

    fn rounds(&self) -> usize {
        2
    }

    fn key(&mut self, text: &str) {
        // It says by its status whether anything matched.
        Command::new("fzf")
            .args(["--filter", text])
            .env_remove("FZF_DEFAULT_OPTS")
            .stdin(File::open(&self.lines).unwrap())
            .stdout(Stdio::null())
            .status()
            .unwrap();
    }
}

/// The best of all, in order.
fn top<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    if LIMIT < all.len() {
        all.select_nth_unstable(LIMIT);
        all.truncate(LIMIT);
    }
    all.sort_unstable();
    all
}
