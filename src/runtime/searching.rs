//! Finding sessions by what was said in them.

use std::ops::Range;
use std::sync::Arc;

use jiff::tz::TimeZone;
use tokio_util::sync::CancellationToken;

use super::finding::hint;
use super::rows::{home_dir, short_path, tell_apart};
use super::{Done, Runtime};
use crate::library::index::Index;
use crate::library::query::Filter;
use crate::library::texts::{Depth, TextHit, TextsError};
use crate::library::{Library, Search, Searched};
use crate::session::{Millis, Role, SessionId};
use crate::tool::Tool;

/// How many rows a list gets.
const ROWS: usize = 200;

/// A question for what was said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextQuery {
    /// What was typed.
    pub text: String,
    /// The session that is written in, where it is no answer.
    pub target: Option<SessionId>,
}

/// The answer to a [`TextQuery`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextFound {
    /// The best rows, best first, one for each session.
    pub rows: Vec<TextRow>,
    /// How many sessions were found.
    pub matched: usize,
    /// Whether there may be more than these.
    pub is_cut: bool,
    /// How many sessions of how many were read, while some may be missing.
    pub indexing: Option<(usize, usize)>,
    /// How many sessions are not searched, because reading them ended early.
    pub unread: usize,
    /// What the query says that can't be followed, in words.
    pub hint: Option<String>,
}

/// A session that was found, and the message in it that matches best.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRow {
    /// The session it is of.
    pub id: SessionId,
    /// What a mention of the session says.
    pub label: String,
    /// The label as one clean line.
    pub title: String,
    /// The tool that the session belongs to.
    pub tool: Tool,
    /// Where the session was begun, shortened, and what tells it from one that
    /// looks the same.
    pub place: String,
    /// The place of the message in what can be cited of the session, counted from
    /// 0; `None` where it can't be any more.
    pub message: Option<u32>,
    /// How many messages of the session match.
    pub matches: u32,
    /// When the message was said.
    pub when: Millis,
    /// Who said it.
    pub role: Role,
    /// A part of the message, as one line.
    pub snippet: String,
    /// What matched, in bytes of the snippet.
    pub marks: Vec<Range<usize>>,
}

impl Runtime {
    /// Searches twice where the first answer, which takes a moment, may not be
    /// all there is.
    pub(super) fn search(&mut self, query: TextQuery) {
        self.searching.cancel();
        self.searching = self.all.child_token();
        let cancel = self.searching.clone();
        let library = self.services.library.clone();
        let freshness = Arc::clone(&self.freshness);
        let done = self.done.clone();
        let keeper = self.keeper();
        let tasks = self.tasks.clone();
        tokio::task::spawn_blocking(move || {
            if library.has_lost_texts() {
                keeper.fill_again(&tasks);
            }
            for depth in [Depth::First, Depth::All] {
                let standing = freshness.standing();
                let (indexing, unread) = (standing.texts(), standing.unread);
                let found = match search(&library, &query, depth, &cancel) {
                    Ok(None) => return,
                    Ok(Some(found)) => Ok(TextFound {
                        indexing,
                        unread,
                        ..found
                    }),
                    Err(error) => Err(error.to_string()),
                };
                let goes_on = found.as_ref().is_ok_and(|found| found.is_cut);
                let taken = done.blocking_send(Done::Searched(query.clone(), found));
                if !goes_on || taken.is_err() {
                    return;
                }
            }
        });
    }
}

/// `None` when cancelled.
fn search(
    library: &Library,
    query: &TextQuery,
    depth: Depth,
    cancel: &CancellationToken,
) -> Result<Option<TextFound>, TextsError> {
    let search = Search {
        text: &query.text,
        exclude: query.target.as_ref(),
        now: Millis::now(),
        zone: &TimeZone::system(),
        limit: ROWS,
        depth,
        filter: &Filter::default(),
    };
    let searched = library.search(&search, cancel)?;
    let index = library.index();
    Ok(searched.map(|Searched { hits, problems }| TextFound {
        rows: rows(&index, hits.rows),
        matched: hits.sessions,
        is_cut: hits.is_cut,
        indexing: None,
        unread: 0,
        hint: hint(&problems),
    }))
}

/// The rows of those hits whose sessions are still listed.
fn rows(index: &Index, hits: Vec<TextHit>) -> Vec<TextRow> {
    let home = home_dir();
    let row = |hit: TextHit| {
        let entry = index.get(index.find(&hit.id)?)?;
        Some(TextRow {
            id: hit.id,
            label: entry.display.to_owned(),
            title: entry.display.to_owned(),
            tool: entry.tool,
            place: entry
                .cwd
                .map(|cwd| short_path(cwd, home.as_deref()))
                .unwrap_or_default(),
            message: hit.message,
            matches: hit.matches,
            when: hit.when,
            role: hit.role,
            snippet: hit.snippet,
            marks: hit.marks,
        })
    };
    let mut rows: Vec<TextRow> = hits.into_iter().filter_map(row).collect();
    tell_apart(&mut rows);
    rows
}
