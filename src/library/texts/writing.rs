//! Brings what sessions say into the tables, in short transactions.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::database::{Database, Purpose, begin};
use super::error::TextsError;
use super::rows::{RowRange, Rows};
use super::tokens::Tokens;
use super::{SessionTexts, TextMessage, role_number};
use crate::session::SessionId;

/// How much text one transaction takes, in bytes: some 50 ms of work, so
/// that no other process waits long.
const TEXT_A_TRANSACTION: usize = 512 * 1024;
/// How many messages one transaction removes at the most.
const REMOVALS_A_TRANSACTION: usize = 1000;
/// What removing one message counts for, in bytes of text.
const REMOVAL: usize = TEXT_A_TRANSACTION / REMOVALS_A_TRANSACTION;

const SELECT_SESSION: &str = "SELECT key, writes FROM texts_sessions WHERE id = ?1";
const INSERT_SESSION: &str = "INSERT INTO texts_sessions (id, writes) VALUES (?1, 0)";
const MARK_SESSION: &str = "UPDATE texts_sessions \
     SET writes = ?2, size = ?3, mtime_ns = ?4, inode = ?5 WHERE key = ?1";
const DELETE_SESSION: &str = "DELETE FROM texts_sessions WHERE key = ?1";
const SELECT_TEXTS: &str =
    "SELECT place, role, cited, text FROM texts_messages WHERE session = ?1 ORDER BY place";
const SELECT_LAST: &str = "SELECT id FROM texts_messages WHERE session = ?1 AND place >= ?2 \
     ORDER BY place DESC LIMIT ?3";
const INSERT_MESSAGE: &str = "INSERT INTO texts_messages VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const INSERT_TOKENS: &str = "INSERT INTO texts_index (rowid, tokens) VALUES (?1, ?2)";
const DELETE_MESSAGE: &str = "DELETE FROM texts_messages WHERE id = ?1";
const DELETE_TOKENS: &str = "DELETE FROM texts_index WHERE rowid = ?1";
const PUT_PROBLEM: &str = "INSERT OR REPLACE INTO texts_problems VALUES (?1, ?2)";
const DELETE_PROBLEM: &str = "DELETE FROM texts_problems WHERE id = ?1";

/// Writes these sessions, as many in one transaction as fit.
pub(super) fn put(database: &Database, sessions: &[SessionTexts<'_>]) -> Result<(), TextsError> {
    let mut tokens = Tokens::new();
    let mut pending: Vec<Pending<'_>> = sessions.iter().map(Pending::new).collect();
    let mut rest = pending.as_mut_slice();
    while !rest.is_empty() {
        database.require_room()?;
        let done = database.with(Purpose::Writing, |connection| {
            let transaction = begin(connection)?;
            let done = write_some(&transaction, rest, &mut tokens)?;
            transaction.commit()?;
            Ok(done)
        })?;
        rest = rest.get_mut(done..).unwrap_or_default();
    }
    Ok(())
}

/// A session on its way into the tables.
struct Pending<'a> {
    session: &'a SessionTexts<'a>,
    /// What the last transaction left: the number of its write, and how many messages are there.
    left: Option<(i64, usize)>,
}

impl<'a> Pending<'a> {
    fn new(session: &'a SessionTexts<'a>) -> Self {
        Self {
            session,
            left: None,
        }
    }
}

/// Messages of one session that one transaction writes.
struct Part<'a> {
    key: i64,
    first_place: usize,
    messages: &'a [TextMessage<'a>],
    rows: RowRange,
}

/// Writes as much as one transaction takes and tells how many sessions are
/// done with.
fn write_some(
    transaction: &Transaction<'_>,
    pending: &mut [Pending<'_>],
    tokens: &mut Tokens,
) -> Result<usize, rusqlite::Error> {
    let mut budget = TEXT_A_TRANSACTION;
    let mut parts = Vec::new();
    let mut done = 0;
    for pending in pending {
        let is_done = prepare(transaction, pending, &mut budget, &mut parts)?;
        if !is_done {
            break;
        }
        done += 1;
        if budget == 0 {
            break;
        }
    }
    let mut rows = Rows::read(transaction)?;
    rows.assign(parts.iter_mut().map(|part: &mut Part<'_>| &mut part.rows));
    // The index takes rising numbers as they come, but writes itself out
    // before each that is lower than the one before.
    parts.sort_unstable_by_key(|part| part.rows.start);
    for part in &parts {
        insert(transaction, part, tokens)?;
    }
    Ok(done)
}

/// Makes way for what is new of a session and puts that into `parts`, as far
/// as the budget goes. Whether that is all.
fn prepare<'a>(
    transaction: &Transaction<'_>,
    pending: &mut Pending<'a>,
    budget: &mut usize,
    parts: &mut Vec<Part<'a>>,
) -> Result<bool, rusqlite::Error> {
    let SessionTexts {
        id,
        stamp,
        messages,
    } = *pending.session;
    let (key, writes) = session_key(transaction, id)?;
    let kept = match pending.left {
        Some((left, kept)) if left == writes => kept,
        _ => common_prefix(transaction, key, messages)?,
    };
    let is_trimmed = remove_from(transaction, key, kept, budget)?;
    let taken = if is_trimmed {
        take(messages.get(kept..).unwrap_or_default(), budget)
    } else {
        &[]
    };
    let there = kept + taken.len();
    let is_done = is_trimmed && there >= messages.len();
    if let Some(last) = messages.last().filter(|_| !taken.is_empty()) {
        parts.push(Part {
            key,
            first_place: kept,
            messages: taken,
            rows: RowRange::new(taken.len(), last.when),
        });
    }
    let stamp = is_done.then_some(stamp);
    transaction
        .prepare_cached(DELETE_PROBLEM)?
        .execute([id.as_str()])?;
    transaction.prepare_cached(MARK_SESSION)?.execute(params![
        key,
        writes + 1,
        stamp.map(|stamp| stamp.size.cast_signed()),
        stamp.map(|stamp| stamp.mtime_ns),
        stamp.map(|stamp| stamp.inode.cast_signed()),
    ])?;
    pending.left = Some((writes + 1, there));
    Ok(is_done)
}

/// The session's key and the number of its last write. A new one is made.
fn session_key(
    transaction: &Transaction<'_>,
    id: &SessionId,
) -> Result<(i64, i64), rusqlite::Error> {
    let known = find_session(transaction, id)?;
    if let Some(known) = known {
        return Ok(known);
    }
    transaction
        .prepare_cached(INSERT_SESSION)?
        .execute([id.as_str()])?;
    Ok((transaction.last_insert_rowid(), 0))
}

fn find_session(
    connection: &Connection,
    id: &SessionId,
) -> Result<Option<(i64, i64)>, rusqlite::Error> {
    connection
        .prepare_cached(SELECT_SESSION)?
        .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// How many messages, from the first on, are in the tables as they are here.
fn common_prefix(
    transaction: &Transaction<'_>,
    key: i64,
    messages: &[TextMessage<'_>],
) -> Result<usize, rusqlite::Error> {
    let mut statement = transaction.prepare_cached(SELECT_TEXTS)?;
    let mut rows = statement.query([key])?;
    let mut same = 0;
    for (message, place) in messages.iter().zip(0i64..) {
        let Some(row) = rows.next()? else {
            break;
        };
        let is_same = row.get::<_, i64>(0)? == place
            && row.get::<_, i64>(1)? == role_number(message.role)
            && row.get::<_, Option<u32>>(2)? == message.cited
            && row.get_ref(3)?.as_str()? == message.text;
        if !is_same {
            break;
        }
        same += 1;
    }
    Ok(same)
}

/// Takes messages until the budget is used up; one at the least, so that it
/// goes on.
fn take<'a>(messages: &'a [TextMessage<'a>], budget: &mut usize) -> &'a [TextMessage<'a>] {
    let mut taken = 0;
    for message in messages {
        if *budget == 0 {
            break;
        }
        *budget = budget.saturating_sub(message.text.len().max(REMOVAL / 8));
        taken += 1;
    }
    messages.get(..taken).unwrap_or_default()
}

/// Removes a session's messages from this place on, the last first. Whether
/// none is left.
fn remove_from(
    transaction: &Transaction<'_>,
    key: i64,
    place: usize,
    budget: &mut usize,
) -> Result<bool, rusqlite::Error> {
    let limit = budget.div_ceil(REMOVAL);
    let last = params![key, number(place), number(limit)];
    let mut statement = transaction.prepare_cached(SELECT_LAST)?;
    let found = statement.query_map(last, |row| row.get(0))?;
    let rows: Vec<i64> = found.collect::<Result<_, _>>()?;
    for row in &rows {
        transaction.prepare_cached(DELETE_TOKENS)?.execute([row])?;
        transaction.prepare_cached(DELETE_MESSAGE)?.execute([row])?;
    }
    *budget = budget.saturating_sub(rows.len().saturating_mul(REMOVAL));
    Ok(rows.len() < limit)
}

fn insert(
    transaction: &Transaction<'_>,
    part: &Part<'_>,
    tokens: &mut Tokens,
) -> Result<(), rusqlite::Error> {
    let mut insert_message = transaction.prepare_cached(INSERT_MESSAGE)?;
    let mut insert_tokens = transaction.prepare_cached(INSERT_TOKENS)?;
    let places = number(part.first_place)..;
    let rows = part.rows.start..;
    for ((message, place), row) in part.messages.iter().zip(places).zip(rows) {
        insert_message.execute(params![
            row,
            part.key,
            place,
            role_number(message.role),
            message.when.0,
            message.cited,
            message.text,
        ])?;
        insert_tokens.execute(params![row, tokens.of_text(message.text)])?;
    }
    Ok(())
}

/// A count as SQLite takes it.
fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Takes note of why these sessions could not be read.
pub(super) fn put_problems(
    database: &Database,
    problems: &[(SessionId, String)],
) -> Result<(), TextsError> {
    if problems.is_empty() {
        return Ok(());
    }
    database.with(Purpose::Writing, |connection| {
        let transaction = begin(connection)?;
        let mut put = transaction.prepare_cached(PUT_PROBLEM)?;
        for (id, problem) in problems {
            put.execute([id.as_str(), problem])?;
        }
        drop(put);
        transaction.commit()
    })
}

/// Removes these sessions, as many in one transaction as fit.
pub(super) fn forget(database: &Database, ids: &[SessionId]) -> Result<(), TextsError> {
    let mut rest = ids;
    while !rest.is_empty() {
        let done = database.with(Purpose::Writing, |connection| {
            let transaction = begin(connection)?;
            let done = forget_some(&transaction, rest)?;
            transaction.commit()?;
            Ok(done)
        })?;
        rest = rest.get(done..).unwrap_or_default();
    }
    Ok(())
}

fn forget_some(transaction: &Transaction<'_>, ids: &[SessionId]) -> Result<usize, rusqlite::Error> {
    let mut budget = TEXT_A_TRANSACTION;
    let mut done = 0;
    for id in ids {
        if budget == 0 {
            break;
        }
        if let Some((key, writes)) = find_session(transaction, id)? {
            if remove_from(transaction, key, 0, &mut budget)? {
                transaction.prepare_cached(DELETE_SESSION)?.execute([key])?;
            } else {
                // Half of it is gone: whoever has it again reads it again.
                let nothing = params![key, writes + 1, None::<i64>, None::<i64>, None::<i64>];
                transaction.prepare_cached(MARK_SESSION)?.execute(nothing)?;
                break;
            }
        }
        transaction
            .prepare_cached(DELETE_PROBLEM)?
            .execute([id.as_str()])?;
        budget = budget.saturating_sub(REMOVAL);
        done += 1;
    }
    Ok(done)
}
