//! `ibid search`: which sessions something was said in.

use std::io::IsTerminal;
use std::ops::Range;

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{CliError, Output, output};
use crate::figures::{counted, thousands};
use crate::library::query::{Key, Parsed};
use crate::library::texts::{Depth, Terms, TextsError, search_events};
use crate::library::{Library, Search, TextsStanding};
use crate::session::{Millis, Role, SessionId};

const EXAMPLES: &str = "\
Examples:
  ibid search login_test
  ibid search '\"connection reset\" proxy -nginx' --tool codex --since 30d
  ibid search 'tool:claude cwd:api 登录' --json
  ibid search flaky --session claude:ID

All words must be in one message; \"quoted words\" stand together, and -word must not be
there. Three letters or more are found anywhere, also inside a word. A word with a
capital in it is found in just that case.";

/// How many sessions that could not be read are named for programs.
const FIRST_UNREAD: usize = 5;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// What was said
    #[arg(allow_hyphen_values = true)]
    query: String,
    /// Sessions of this tool alone, or of these, with commas between; may be
    /// given more than once
    #[arg(long, value_name = "TOOL")]
    tool: Vec<String>,
    /// Sessions whose directory has this in it; `.` is the current one
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// Sessions in which something happened since: 12h, 7d, 2w, 2026-11-01
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// How many sessions to list at the most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Search in this session alone, and list every message that matches
    #[arg(
        long,
        value_name = "ID",
        allow_hyphen_values = true,
        conflicts_with_all = ["tool", "cwd", "since"]
    )]
    session: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut Output) -> Result<(), CliError> {
    let (home, config) = super::home()?;
    if let Some(id) = &args.session {
        require_words(&args.query, &args.query)?;
        let library = super::open_library(&home, &config, super::cache_of(&home));
        return within(&super::session_id(id), args, &library, out);
    }
    let zone = TimeZone::system();
    require_words(&Parsed::new(&args.query, &zone).rest, &args.query)?;
    let flags = flags(args, &zone)?;
    let cache = super::made_cache_of(&home, out);
    let library = super::refreshed(super::open_library(&home, &config, cache), out)?;
    let mut read = read_texts(&library);
    if read.is_ok() && standing(&library)?.pending() > 0 {
        // Another process wrote meanwhile, and kept this one from it.
        let never = CancellationToken::new();
        super::warn_of(&library.refresh(&never, &mut |_| {})?.notices, out);
        read = read_texts(&library);
    }
    let stopped = match read {
        Ok(()) => None,
        // What was read can be searched all the same.
        Err(error @ TextsError::NoRoom { .. }) => Some(error),
        Err(error) => return Err(failed(error)),
    };
    let search = Search {
        text: &args.query,
        exclude: None,
        now: Millis::now(),
        zone: &zone,
        limit: args.limit,
        depth: Depth::All,
        filter: &flags.filter,
    };
    let never = CancellationToken::new();
    let found = library
        .search(&search, &never)
        .map_err(failed)?
        .unwrap_or_default();
    // Others may read, too, and a session may have changed since.
    let texts = standing(&library)?;
    for problem in &found.problems {
        out.warn(problem);
    }
    let index = library.index();
    let rows = found.hits.rows.iter().filter_map(|hit| {
        let entry = index.get(index.find(&hit.id)?)?;
        Some((hit, entry))
    });
    if out.is_json() {
        let rows: Vec<Value> = rows
            .map(|(hit, entry)| {
                json!({
                    "sessionId": hit.id,
                    "title": entry.is_titled.then_some(entry.label),
                    "tool": entry.tool.name(),
                    "cwd": entry.cwd,
                    "when": hit.when,
                    "message": hit.message,
                    "role": role(hit.role),
                    "matches": hit.matches,
                    "snippet": hit.snippet,
                    "marks": marks(&hit.marks),
                })
            })
            .collect();
        return out.json(&json!({
            "results": rows,
            "sessions": found.hits.sessions,
            "cut": found.hits.is_cut,
            "complete": texts.is_complete() && !found.hits.is_cut,
            "indexed": texts.indexed,
            "of": texts.of,
            "unread": unread(&texts),
            "problems": found.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }));
    }
    for (hit, entry) in rows {
        let when = super::moment(hit.when, &zone);
        let id = super::shown_id(hit.id.as_str());
        out.row(&[&id, &when, entry.display, &hit.snippet])?;
    }
    if found.hits.is_cut {
        out.warn("there are more matches than were looked at; another word finds the rest");
    }
    warn_of_missing(&texts, stopped.as_ref(), out);
    Ok(())
}

/// The filters that are given beside the query.
fn flags(args: &Args, zone: &TimeZone) -> Result<Parsed, CliError> {
    let tools = (!args.tool.is_empty()).then(|| args.tool.join(","));
    // A name alone is a part of a path, whatever is called so here.
    let is_path = |dir: &&str| [".", ".."].contains(&dir.split('/').next().unwrap_or_default());
    let cwd = args.cwd.as_deref();
    let whole = cwd.filter(is_path).map(super::whole_dir);
    let given = [
        (Key::Tool, tools.as_deref()),
        (Key::Cwd, whole.as_deref().or(cwd)),
        (Key::Since, args.since.as_deref()),
    ];
    let mut flags = Parsed::default();
    for (key, value) in given {
        if let Some(value) = value {
            flags = flags.with(key, value, zone);
        }
    }
    match flags.problems.first() {
        Some(problem) => Err(CliError::usage(problem)),
        None => Ok(flags),
    }
}

/// Refuses a query without anything to look for.
fn require_words(text: &str, query: &str) -> Result<(), CliError> {
    if Terms::parse(text).is_empty() {
        return Err(CliError::usage(format!(
            "there is nothing to search for in {query:?}: it takes a word or a \"quoted phrase\"; \
             filters and -words only narrow what those find"
        )));
    }
    Ok(())
}

/// What an answer may lack because it was not read, and what `stopped` that.
pub(super) fn warn_of_missing(texts: &TextsStanding, stopped: Option<&TextsError>, out: &Output) {
    if texts.pending() > 0 {
        let [pending, of] = [texts.pending(), texts.of].map(|n| thousands(n as u64));
        let missing = format!(
            "{pending} of {of} sessions are not read yet, and what was said there is not found"
        );
        match stopped {
            Some(error) => out.warn_with(error.code(), format!("{missing}: {error}")),
            None => out.warn(format!("{missing}: search again in a moment")),
        }
    }
    if let Some((id, problem)) = texts.unread.first() {
        let sessions = counted(texts.unread.len(), "session");
        out.warn(format!(
            "{sessions} could not be read for search, the first is {}: {problem}; `ibid doctor` \
             tells all",
            super::shown_id(id.as_str())
        ));
    }
}

/// The sessions that could not be read, for programs: how many, and the first.
pub(super) fn unread(texts: &TextsStanding) -> Value {
    let first = texts.unread.iter().take(FIRST_UNREAD);
    let first = first.map(|(id, problem)| json!({"sessionId": id, "problem": problem}));
    json!({"count": texts.unread.len(), "first": first.collect::<Vec<_>>()})
}

/// Reads what changed. The first time it is all there is, and takes a while:
/// a person who waits is told how far it is.
pub(super) fn read_texts(library: &Library) -> Result<(), TextsError> {
    let is_watched = std::io::stderr().is_terminal();
    let mut told = None;
    let never = CancellationToken::new();
    library.index_texts(&never, &mut |progress| {
        let part = progress.done * 10 / progress.total.max(1);
        if is_watched && told.replace(part) != Some(part) {
            let [done, total] = [progress.done, progress.total].map(|n| thousands(n as u64));
            output::tell(format!("reading {done} of {total} sessions"));
        }
    })
}

pub(super) fn failed(error: TextsError) -> CliError {
    CliError::new(error.code(), error)
}

/// How much can be searched.
pub(super) fn standing(library: &Library) -> Result<TextsStanding, CliError> {
    library.texts_standing().map_err(failed)
}

fn within(
    id: &SessionId,
    args: &Args,
    library: &Library,
    out: &mut Output,
) -> Result<(), CliError> {
    let said = library
        .said(id)
        .map_err(|cause| CliError::of_reading(&cause))?;
    let hits = search_events(&said, &Terms::parse(&args.query));
    let hits = hits.iter().take(args.limit);
    if out.is_json() {
        let rows: Vec<Value> = hits
            .map(|hit| {
                json!({
                    "message": hit.message,
                    "role": role(hit.role),
                    "snippet": hit.snippet,
                    "marks": marks(&hit.marks),
                })
            })
            .collect();
        return out.json(&json!({"sessionId": id, "results": rows}));
    }
    for hit in hits {
        let place = hit.message.map_or("-".to_owned(), |at| at.to_string());
        out.row(&[&place, role(hit.role), &hit.snippet])?;
    }
    Ok(())
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Tool => "tool",
    }
}

/// What matches, as pairs of bytes of the snippet.
fn marks(marks: &[Range<usize>]) -> Vec<[usize; 2]> {
    marks.iter().map(|mark| [mark.start, mark.end]).collect()
}
