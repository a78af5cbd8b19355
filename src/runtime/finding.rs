//! Finding sessions and looking at them.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Done, Runtime};
use crate::library::index::Index;
use crate::library::matcher::{self, Hits};
use crate::reference::ports::SurfaceReader;
use crate::session::{Millis, SessionId};
use crate::threads::lock;

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
    pub tool: &'static str,
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
            let asked = matcher::Query {
                text: query.text.clone(),
                target_cwd: query.cwd.clone(),
                exclude: query.target.clone(),
                limit: ROWS,
                ..matcher::Query::default()
            };
            let hits = matcher::search(&index, &asked, previous.as_ref(), &cancel);
            let Some(hits) = hits else {
                return;
            };
            *lock(&learnt) = Some(hits.state.clone());
            let found = Found {
                rows: rows(&index, &hits, &query.text),
                matched: hits.matched,
                total: hits.total,
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
                tool: entry.tool.name(),
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

/// Rows that look the same get the end of their ids, or all of them where the
/// ends are the same too.
fn tell_apart(rows: &mut [FoundRow]) {
    for tail in [ID_TAIL, usize::MAX] {
        let mut seen = HashMap::new();
        for row in &*rows {
            *seen.entry(looks(row)).or_insert(0_usize) += 1;
        }
        for row in &mut *rows {
            if seen.get(&looks(row)).is_some_and(|count| *count > 1) {
                let id = row.id.as_str();
                let from = id.ceil_char_boundary(id.len().saturating_sub(tail));
                let tail = id.get(from..).unwrap_or_default();
                row.place = match &*row.place {
                    "" => format!("#{tail}"),
                    place => format!("{place} #{tail}"),
                };
            }
        }
    }
}

fn looks(row: &FoundRow) -> (String, String) {
    (row.title.clone(), row.place.clone())
}

/// How much of an id tells two sessions apart, in bytes.
const ID_TAIL: usize = 8;

/// The person's home, where it is known.
fn home_dir() -> Option<String> {
    let dirs = directories::BaseDirs::new()?;
    dirs.home_dir().to_str().map(str::to_owned)
}

/// A path with the person's home as `~`.
fn short_path(path: &str, home: Option<&str>) -> String {
    match home.and_then(|home| path.strip_prefix(home)) {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, title: &str, place: &str) -> FoundRow {
        FoundRow {
            id: id.into(),
            label: title.to_owned(),
            title: title.to_owned(),
            tool: "ibid",
            place: place.to_owned(),
            when: Millis(0),
            matched: Vec::new(),
        }
    }

    fn places(mut rows: Vec<FoundRow>) -> Vec<String> {
        tell_apart(&mut rows);
        rows.into_iter().map(|row| row.place).collect()
    }

    #[test]
    fn rows_that_look_alike_get_the_ends_of_their_ids() {
        let rows = vec![
            row("session-one-1", "Fix", "~/api"),
            row("session-two-2", "Fix", "~/api"),
            row("other", "Fix", "~/web"),
        ];
        assert_eq!(
            places(rows),
            ["~/api #on-one-1", "~/api #on-two-2", "~/web"]
        );
    }

    #[test]
    fn ids_that_end_alike_are_shown_whole() {
        let rows = vec![
            row("a-12345678", "Fix", ""),
            row("b-12345678", "Fix", ""),
            row("", "Fix", ""),
            row("世界世界", "Fix", ""),
        ];
        let places = places(rows);
        let distinct: std::collections::HashSet<_> = places.iter().collect();
        assert_eq!(distinct.len(), 4, "{places:?}");
    }

    #[test]
    fn the_home_of_a_person_is_a_tilde() {
        let short = |path| short_path(path, Some("/home/ann"));
        assert_eq!(short("/home/ann"), "~");
        assert_eq!(short("/home/ann/api"), "~/api");
        assert_eq!(short("/home/anna"), "/home/anna");
        assert_eq!(short_path("/x", None), "/x");
    }
}
