//! Which session is meant: by its id, a mention, or a query. Never by a guess.

use std::fmt::Write as _;
use std::sync::Arc;

use jiff::tz::TimeZone;
use tokio_util::sync::CancellationToken;

use crate::cli::{CliError, Output, exit, warn_of};
use crate::library::Library;
use crate::library::index::{Entry, Index};
use crate::library::matcher::{self, Hit};
use crate::library::query::Parsed;
use crate::reference::Reference;
use crate::reference::mention::{self, Piece};
use crate::session::{Millis, SessionId};
use crate::store::Home;
use crate::tool::Tool;

/// How many sessions a query is compared with.
const COMPARED: usize = 64;
/// How many an error lists.
const LISTED: usize = 8;

/// The sessions that are meant, in order.
pub(super) fn find_all(
    wanted: &[String],
    target: Option<&SessionId>,
    home: &Home,
    library: &Library,
    out: &Output,
) -> Result<Vec<Reference>, CliError> {
    let never = CancellationToken::new();
    warn_of(&library.refresh(&never, &mut |_| {})?.notices, out);
    wanted
        .iter()
        .map(|wanted| match named(wanted, home, &library.index())? {
            Some(reference) => Ok(reference),
            None => search(wanted, target, library, out),
        })
        .collect()
}

/// The session that an id or a mention names; `None` for what is neither.
fn named(wanted: &str, home: &Home, index: &Index) -> Result<Option<Reference>, CliError> {
    if let [Piece::Mention(reference)] = mention::pieces(wanted)?.as_slice() {
        return Ok(Some(reference.clone()));
    }
    let id = crate::cli::session_id(wanted);
    if let Some(entry) = index.find(&id).and_then(|row| index.get(row)) {
        return Ok(Some(entry.reference()));
    }
    // Sessions that no list shows can be cited too.
    let is_foreign = Tool::foreign(&id).is_some() && !wanted.contains(char::is_whitespace);
    if is_foreign || home.session_file(&id).is_file() {
        return Ok(Some(Reference::new(id, None)));
    }
    Ok(None)
}

/// The session that a query means. Each row that counts is compared with its
/// log; one that was wrong may belong elsewhere, and the search is made again.
fn search(
    wanted: &str,
    target: Option<&SessionId>,
    library: &Library,
    out: &Output,
) -> Result<Reference, CliError> {
    let parsed = Parsed::new(wanted, &TimeZone::system());
    if let Some(problem) = parsed.problems.first() {
        return Err(CliError::usage(format!("--cite {wanted:?}: {problem}")));
    }
    if wanted.trim().is_empty() {
        return Err(CliError::usage("--cite names no session"));
    }
    let words = parsed.rest.trim().to_owned();
    let query = matcher::Query {
        text: words.clone(),
        filter: parsed.filter,
        now: Millis::now(),
        exclude: target.cloned(),
        limit: COMPARED,
        ..matcher::Query::default()
    };
    let never = CancellationToken::new();
    let mut before = None;
    loop {
        let index = library.index();
        let hits = matcher::search(&index, &query, None, &never);
        let (rows, matched) = hits.map_or_else(Default::default, |hits| (hits.rows, hits.matched));
        let found: Vec<(Hit, Entry<'_>)> = rows
            .into_iter()
            .filter_map(|hit| Some((hit, index.get(hit.row)?)))
            .collect();
        let ids: Vec<SessionId> = found.iter().map(|(_, entry)| entry.session_id()).collect();
        if before.as_ref() != Some(&ids) {
            warn_of(&library.verify_only(&ids)?.notices, out);
            before = Some(ids);
            if !Arc::ptr_eq(&index, &library.index()) {
                continue;
            }
        }
        return match pick(&found, &words) {
            Some(entry) => Ok(entry.reference()),
            None => Err(unclear(wanted, &found, matched)),
        };
    }
}

/// The one session that is meant, if that is clear: it has the words for its
/// title, or it alone has each of them as written, or it fits by far better than the next one that has.
fn pick<'f, 'i>(found: &'f [(Hit, Entry<'i>)], words: &str) -> Option<&'f Entry<'i>> {
    let words = words.to_lowercase();
    let named = |entry: &Entry<'_>| entry.display.to_lowercase() == words;
    let mut titled = found.iter().filter(|(_, entry)| named(entry));
    if let (Some((_, only)), None) = (titled.next(), titled.next()) {
        return Some(only);
    }
    let mut having = found.iter().filter(|(_, entry)| has_all(entry, &words));
    let (best, first) = having.next()?;
    match having.next() {
        None => Some(first),
        // By a quarter at least.
        Some((next, _)) => {
            let is_clear =
                !words.is_empty() && u64::from(best.score) * 4 >= u64::from(next.score) * 5;
            is_clear.then_some(first)
        }
    }
}

/// Whether each of the words stands in a session's title, directory or id as it
/// is written, and not only letter by letter.
fn has_all(entry: &Entry<'_>, words: &str) -> bool {
    let title = entry.display.to_lowercase();
    let cwd = entry.cwd.unwrap_or_default().to_lowercase();
    words.split_whitespace().all(|word| {
        title.contains(word) || cwd.contains(word) || entry.id.to_lowercase().contains(word)
    })
}

fn unclear(wanted: &str, found: &[(Hit, Entry<'_>)], matched: usize) -> CliError {
    if found.is_empty() {
        return CliError::new(
            exit::CITE_NOT_FOUND,
            format!("no session fits {wanted:?}; `ibid candidates` lists those there are"),
        );
    }
    let mut message = format!("which session {wanted:?} means is not clear; cite one by its id:");
    for (_, entry) in found.iter().take(LISTED) {
        let Entry {
            id, tool, display, ..
        } = entry;
        // Writing to a String can't fail.
        let _ = write!(message, "\n  {id}  {tool}  {display}");
    }
    let more = matched.saturating_sub(LISTED);
    if more > 0 {
        let _ = write!(message, "\n  and {more} more");
    }
    CliError::new(exit::CITE_AMBIGUOUS, message)
}
