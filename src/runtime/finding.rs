//! Finding sessions and looking at them.

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::rows::{home_dir, short_path, tell_apart};
use super::{Done, Runtime};
use crate::library::index::{Hidden, Index};
use crate::library::matcher::{self, Hits};
use crate::library::query::{Parsed, Problem};
use crate::reference::ports::SurfaceReader;
use crate::session::{Millis, SessionId};
use crate::threads::lock;
use crate::tool::Tool;

/// How many rows a list gets.
const ROWS: usize = 1_000;

/// A question for sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// What was typed.
    pub text: String,
    /// The session that is written in, where it is no answer.
    pub target: Option<SessionId>,
    /// The directory whose sessions come first.
    pub cwd: Option<String>,
}

/// The answer to a [`Query`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The best rows, best first.
    pub rows: Vec<FoundRow>,
    /// How many sessions match.
    pub matched: usize,
    /// How many there are.
    pub total: usize,
    /// How many more there are that lists leave out.
    pub hidden: Hidden,
    /// What the query says that no filter can follow, in words.
    pub hint: Option<String>,
    /// How many logs of how many were read, while the library is being
    /// brought up to date.
    pub indexing: Option<(usize, usize)>,
}

/// A session as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRow {
    /// The session.
    pub id: SessionId,
    /// What a mention of it says.
    pub label: String,
    /// The label as one clean line.
    pub title: String,
    /// The tool that it belongs to.
    pub tool: Tool,
    /// Whether it was forked from another session.
    pub is_fork: bool,
    /// Where it was begun, shortened, and what tells it from a session that
    /// looks the same.
    pub place: String,
    /// When something last happened in it.
    pub when: Millis,
    /// Which grapheme clusters of the title match, counted from 0.
    pub matched: Vec<u32>,
}

impl Runtime {
    pub(super) fn find(&mut self, query: Query) {
        self.finding.cancel();
        self.finding = self.all.child_token();
        let cancel = self.finding.clone();
        let index = self.services.library.index();
        let learnt = Arc::clone(&self.learnt);
        let is_echo = self.freshness.just_changed() && self.asked.as_ref() == Some(&query);
        if query.text.is_empty() && !is_echo {
            // A list was opened.
            self.freshen_library();
        }
        self.asked = Some(query.clone());
        let standing = self.freshness.standing();
        let done = self.done.clone();
        tokio::task::spawn_blocking(move || {
            if let Some(failed) = standing.failed {
                let _ = done.blocking_send(Done::Found(query, Err(failed)));
                return;
            }
            let previous = lock(&learnt).clone();
            let typed = Parsed::new(&query.text, &TimeZone::system());
            let asked = matcher::Query {
                text: typed.rest.clone(),
                filter: typed.filter.clone(),
                now: Millis::now(),
                target_cwd: query.cwd.clone(),
                exclude: query.target.clone(),
                limit: ROWS,
            };
            let hits = matcher::search(&index, &asked, previous.as_ref(), &cancel);
            let Some(hits) = hits else {
                return;
            };
            *lock(&learnt) = Some(hits.state.clone());
            let found = Found {
                rows: rows(&index, &hits, &typed.rest),
                matched: hits.matched,
                total: hits.total,
                hidden: index.hidden(),
                hint: hint(&typed.problems),
                indexing: standing.indexing,
            };
            let _ = done.blocking_send(Done::Found(query, Ok(found)));
        });
    }

    /// Reads a session to look at it. Only the latest one counts: a read that
    /// nobody waits for any more goes on to its end, because nothing can stop
    /// it, and holds up the next, so that reads never pile up.
    pub(super) fn look(&mut self, id: SessionId) {
        self.looking.cancel();
        self.looking = self.all.child_token();
        let cancel = self.looking.clone();
        let turns = Arc::clone(&self.look_turns);
        let library = self.services.library.clone();
        let done = self.done.clone();
        tokio::spawn(async move {
            let turn = cancel.run_until_cancelled(turns.lock()).await;
            let Some(turn) = turn.filter(|_| !cancel.is_cancelled()) else {
                return;
            };
            let read = library.read_surface(&id).await;
            drop(turn);
            if cancel.is_cancelled() {
                return;
            }
            let looked = read.map(Arc::new).map_err(|cause| cause.to_string());
            let _ = done.send(Done::Looked(id, looked)).await;
        });
    }
}

/// What of a query filters nothing, in one line.
pub(super) fn hint(problems: &[Problem]) -> Option<String> {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    (!problems.is_empty()).then(|| problems.join(" · "))
}

fn rows(index: &Index, hits: &Hits, query: &str) -> Vec<FoundRow> {
    let home = home_dir();
    let mut rows: Vec<FoundRow> = hits
        .rows
        .iter()
        .filter_map(|hit| {
            let entry = index.get(hit.row)?;
            Some(FoundRow {
                id: entry.session_id(),
                // What is picked is what is seen: no title brings a control
                // character into a message.
                label: entry.display.to_owned(),
                title: entry.display.to_owned(),
                tool: entry.tool,
                // An agent's session has a parent too, but continues nothing.
                is_fork: entry.parent.is_some() && !entry.is_subagent,
                place: entry
                    .cwd
                    .map(|cwd| short_path(cwd, home.as_deref()))
                    .unwrap_or_default(),
                when: entry.updated_at,
                matched: matcher::highlight(index, hit.row, query),
            })
        })
        .collect();
    tell_apart(&mut rows);
    rows
}
