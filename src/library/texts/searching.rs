//! Answers a query: candidates from the index, the newest first, each
//! compared with its text.

use std::cmp::Reverse;
use std::collections::HashMap;

use rusqlite::{Connection, Row, Statement, params};
use tokio_util::sync::CancellationToken;

use super::matching::TextMatcher;
use super::snippet::Snippet;
use super::{Depth, TextHit, TextHits, TextQuery, role_of};
use crate::session::{Millis, SessionId};

/// How many candidates are looked at between two questions whether to stop.
const STRIDE: usize = 16;

const CANDIDATES: &str = "SELECT m.id, m.session, m.time \
     FROM texts_index CROSS JOIN texts_messages AS m ON m.id = texts_index.rowid \
     WHERE texts_index MATCH ?1 ORDER BY texts_index.rowid DESC";
const ALL: &str = "SELECT id, session, time FROM texts_messages ORDER BY id DESC";
const SESSION: &str = "SELECT id FROM texts_sessions WHERE key = ?1";
const TEXT: &str = "SELECT text FROM texts_messages WHERE id = ?1";
const MESSAGE: &str = "SELECT cited, role, time, text FROM texts_messages WHERE id = ?1";

impl Depth {
    /// How many matches are enough.
    fn matches(self) -> usize {
        match self {
            Self::First => 500,
            Self::All => 50_000,
        }
    }

    /// How much text is looked at when something was found, in bytes.
    fn text(self) -> usize {
        match self {
            Self::First => 1024 * 1024,
            Self::All => usize::MAX,
        }
    }
}

/// Searches. `None` when cancelled.
pub(super) fn search(
    connection: &mut Connection,
    query: &TextQuery<'_>,
    cancel: &CancellationToken,
) -> Result<Option<TextHits>, rusqlite::Error> {
    if query.terms.is_empty() {
        return Ok(Some(TextHits::default()));
    }
    // All of it as of one moment.
    let transaction = connection.transaction()?;
    let mut search = Search {
        connection: &transaction,
        query,
        matcher: TextMatcher::new(query.terms),
        sessions: HashMap::new(),
        matches: 0,
        looked_at: 0,
    };
    let Some(is_cut) = search.look(cancel)? else {
        return Ok(None);
    };
    let (best, sessions) = search.best();
    let mut rows = Vec::with_capacity(best.len());
    for (id, best) in best {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        rows.extend(search.show(id, best)?);
    }
    Ok(Some(TextHits {
        rows,
        sessions,
        is_cut,
    }))
}

struct Search<'a> {
    connection: &'a Connection,
    query: &'a TextQuery<'a>,
    matcher: TextMatcher<'a>,
    /// By key; `None` for one that is not admitted.
    sessions: HashMap<i64, Option<Session>>,
    matches: usize,
    /// In bytes of text.
    looked_at: usize,
}

/// A session that may be found.
struct Session {
    id: SessionId,
    best: Option<Best>,
}

/// The best message of a session.
#[derive(Clone, Copy)]
struct Best {
    score: u32,
    when: Millis,
    row: i64,
    matches: u32,
}

impl Best {
    /// The best is the greatest: by match, then by time.
    fn rank(&self) -> (u32, Millis, i64) {
        (self.score, self.when, self.row)
    }
}

impl Search<'_> {
    /// Looks at candidates until there are enough; whether it left some out.
    /// `None` when cancelled.
    fn look(&mut self, cancel: &CancellationToken) -> Result<Option<bool>, rusqlite::Error> {
        let expression = self.query.terms.expression();
        let sql = if expression.is_some() {
            CANDIDATES
        } else {
            ALL
        };
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = match &expression {
            Some(expression) => statement.query([expression])?,
            None => statement.query([])?,
        };
        let mut texts = self.connection.prepare_cached(TEXT)?;
        let mut count = 0usize;
        while let Some(row) = rows.next()? {
            if count.is_multiple_of(STRIDE) && cancel.is_cancelled() {
                return Ok(None);
            }
            count += 1;
            let is_enough = self.matches >= self.query.depth.matches()
                || self.matches > 0 && self.looked_at >= self.query.depth.text();
            if is_enough {
                return Ok(Some(true));
            }
            self.compare(row, &mut texts)?;
        }
        Ok(Some(false))
    }

    /// `texts` gives the text of a message.
    fn compare(&mut self, row: &Row<'_>, texts: &mut Statement<'_>) -> Result<(), rusqlite::Error> {
        let (id, key, when) = (row.get(0)?, row.get(1)?, Millis(row.get(2)?));
        if !self.is_admitted(key)? {
            return Ok(());
        }
        let mut rows = texts.query([id])?;
        let Some(row) = rows.next()? else {
            return Ok(());
        };
        let text = row.get_ref(0)?.as_str()?;
        self.looked_at += text.len();
        let Some(score) = self.matcher.score(text) else {
            return Ok(());
        };
        self.matches += 1;
        let found = Best {
            score,
            when,
            row: id,
            matches: 1,
        };
        if let Some(Some(session)) = self.sessions.get_mut(&key) {
            session.best = Some(match session.best {
                None => found,
                Some(best) => Best {
                    matches: best.matches + 1,
                    ..if found.rank() > best.rank() {
                        found
                    } else {
                        best
                    }
                },
            });
        }
        Ok(())
    }

    fn is_admitted(&mut self, key: i64) -> Result<bool, rusqlite::Error> {
        if let Some(known) = self.sessions.get(&key) {
            return Ok(known.is_some());
        }
        let mut statement = self.connection.prepare_cached(SESSION)?;
        let id: String = statement.query_row([key], |row| row.get(0))?;
        let id = SessionId::from(id);
        let admitted = (self.query.admits)(&id).then_some(Session { id, best: None });
        let is_admitted = admitted.is_some();
        self.sessions.insert(key, admitted);
        Ok(is_admitted)
    }

    /// The sessions found, the best first, and how many there are of them.
    fn best(&self) -> (Vec<(SessionId, Best)>, usize) {
        let sessions = self.sessions.values().flatten();
        let mut found: Vec<(&SessionId, Best)> = sessions
            .filter_map(|session| Some((&session.id, session.best?)))
            .collect();
        found.sort_unstable_by_key(|(_, best)| Reverse(best.rank()));
        let count = found.len();
        let shown = found.into_iter().take(self.query.limit);
        (shown.map(|(id, best)| (id.clone(), best)).collect(), count)
    }

    fn show(&mut self, id: SessionId, best: Best) -> Result<Option<TextHit>, rusqlite::Error> {
        let mut statement = self.connection.prepare_cached(MESSAGE)?;
        let mut rows = statement.query(params![best.row])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let Some(role) = role_of(row.get(1)?) else {
            return Ok(None);
        };
        let snippet = Snippet::new(&mut self.matcher, row.get_ref(3)?.as_str()?);
        Ok(Some(TextHit {
            id,
            message: row.get(0)?,
            role,
            when: best.when,
            snippet: snippet.text,
            marks: snippet.marks,
            score: best.score,
            matches: best.matches,
        }))
    }
}
