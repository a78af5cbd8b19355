//! The database: which sessions it holds, and one of them.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row};
use serde::de::DeserializeOwned;

use super::current::{Message, MessageData, PartData};
use super::{Revert, SourceError, Stored, first_prompt};
use crate::source::database::{Databases, ask, optional, tables};

/// How many messages of an untitled session are looked at for its first
/// prompt.
const FIRST_MESSAGES: usize = 16;
const SESSION: &str = "SELECT * FROM session WHERE id = ?1";
const MESSAGES: &str = "SELECT id, time_created, data FROM message WHERE session_id = ?1";

/// What the table of sessions says of one.
pub(super) struct Entry {
    /// The session, without its messages.
    pub(super) stored: Stored,
    /// Whether it has messages.
    pub(super) has_messages: bool,
    /// What a person said first, if it has no title.
    pub(super) first_prompt: Option<String>,
}

/// All sessions, and of those with a title no message.
pub(super) fn list(path: &Path) -> Result<Vec<Entry>, SourceError> {
    asked(path, |connection, tables| {
        let mut used = HashSet::new();
        for table in MESSAGE_TABLES.iter().filter(|table| tables.has(table)) {
            // The index of this column answers it.
            let query = format!("SELECT DISTINCT session_id FROM {table}");
            let mut ids = connection.prepare(&query)?;
            for id in ids.query_map([], |row| row.get::<_, String>(0))? {
                used.insert(id?);
            }
        }
        let can_look = has_index(connection, "message", "session_id")?
            && has_index(connection, "part", "message_id")?;
        let mut entries = Vec::new();
        // Without this column it is of another form, and not of no sessions.
        connection.prepare("SELECT id FROM session")?;
        let mut rows = connection.prepare("SELECT * FROM session")?;
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            // What has no id can't be asked for either.
            let Some(id) = optional(row, "id") else {
                continue;
            };
            let stored = session(row, id);
            let has_messages = used.contains(&stored.id);
            let first_prompt = if can_look && has_messages && stored.title.is_none() {
                first_prompt(
                    first_messages(connection, &stored.id)?,
                    stored.revert.as_ref(),
                )
            } else {
                None
            };
            entries.push(Entry {
                stored,
                has_messages,
                first_prompt,
            });
        }
        Ok(entries)
    })
}

/// Whether it holds this session.
pub(super) fn holds(path: &Path, id: &str) -> Result<bool, SourceError> {
    asked(path, |connection, _| {
        connection.prepare(SESSION)?.exists([id])
    })
}

/// The session of this id, or else the one that was used last.
pub(super) fn read(path: &Path, wanted: Option<&str>) -> Result<Stored, SourceError> {
    let stored = asked(path, |connection, tables| {
        let Some(id) =
            wanted.map_or_else(|| last_used(connection), |id| Ok(Some(id.to_owned())))?
        else {
            return Ok(None);
        };
        let Some(mut stored) = one(connection, tables, &id)? else {
            return Ok(None);
        };
        let others = "SELECT count(*) FROM session WHERE id != ?1";
        let others = count(connection, others, &stored.id)?;
        if others > 0 && wanted.is_none() {
            let sessions = others + 1;
            stored.note = Some(format!(
                "the database holds {sessions} sessions, and this is the one used last"
            ));
        }
        Ok(Some(stored))
    })?;
    stored.ok_or_else(|| no_session(path, wanted))
}

/// The sessions of these ids, all of one moment.
pub(super) fn read_many(
    path: &Path,
    wanted: &[&str],
    databases: &Databases,
) -> Result<Vec<Result<Stored, SourceError>>, SourceError> {
    let answer = databases.ask(
        path,
        of_opencode(|connection, tables| {
            let stored = wanted.iter().map(|id| one(connection, tables, id));
            stored.collect::<rusqlite::Result<Vec<_>>>()
        }),
    )?;
    let stored = answer.ok_or_else(|| no_opencode(path))?;
    let stored = wanted.iter().zip(stored);
    let found = stored.map(|(id, stored)| stored.ok_or_else(|| no_session(path, Some(id))));
    Ok(found.collect())
}

fn no_session(path: &Path, wanted: Option<&str>) -> SourceError {
    SourceError::NoSession {
        path: path.to_owned(),
        wanted: wanted.map(str::to_owned),
    }
}

fn one(connection: &Connection, tables: &Tables, id: &str) -> rusqlite::Result<Option<Stored>> {
    let stored = connection
        .query_row(SESSION, [id], |row| Ok(session(row, id.to_owned())))
        .optional()?;
    let Some(mut stored) = stored else {
        return Ok(None);
    };
    messages(connection, &mut stored)?;
    if stored.records == 0 && tables.has(NEXT_FORM) {
        let query = format!("SELECT count(*) FROM {NEXT_FORM} WHERE session_id = ?1");
        stored.records = count(connection, &query, &stored.id)?;
    }
    Ok(Some(stored))
}

/// Where messages of a form are that is not read yet.
const NEXT_FORM: &str = "session_message";
const MESSAGE_TABLES: [&str; 2] = ["message", NEXT_FORM];

/// The names of the tables that there are.
struct Tables(Vec<String>);

impl Tables {
    fn has(&self, table: &str) -> bool {
        self.0.iter().any(|name| name == table)
    }
}

/// Asks the database, if it is one of opencode.
fn asked<T>(
    path: &Path,
    query: impl FnMut(&Connection, &Tables) -> rusqlite::Result<T>,
) -> Result<T, SourceError> {
    let answer = ask(path, of_opencode(query))?;
    answer.ok_or_else(|| no_opencode(path))
}

/// A question that another tool's database has no answer to.
fn of_opencode<T>(
    mut query: impl FnMut(&Connection, &Tables) -> rusqlite::Result<T>,
) -> impl FnMut(&Connection) -> rusqlite::Result<Option<T>> {
    move |connection| {
        let tables = Tables(tables(connection)?);
        let is_known = ["session", "message", "part"]
            .iter()
            .all(|table| tables.has(table));
        is_known.then(|| query(connection, &tables)).transpose()
    }
}

fn no_opencode(path: &Path) -> SourceError {
    SourceError::UnknownFormat {
        path: path.to_owned(),
        found: "it is a database, and not of opencode".to_owned(),
    }
}

/// Whether an index begins with this column.
fn has_index(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let query = "SELECT 1 FROM pragma_index_list(?1) AS list
                 JOIN pragma_index_info(list.name) AS info
                 WHERE info.seqno = 0 AND info.name = ?2";
    connection.prepare(query)?.exists([table, column])
}

/// The session that was used last: one with messages before one without, and
/// a person's before a subagent's.
fn last_used(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let query = "SELECT id FROM session
         ORDER BY EXISTS (SELECT 1 FROM message WHERE session_id = session.id) DESC,
                  parent_id IS NOT NULL, time_updated DESC, id DESC
         LIMIT 1";
    connection.query_row(query, [], |row| row.get(0)).optional()
}

fn count(connection: &Connection, query: &str, id: &str) -> rusqlite::Result<usize> {
    let count: i64 = connection.query_row(query, [id], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

fn session(row: &Row<'_>, id: String) -> Stored {
    let revert: Option<String> = optional(row, "revert");
    Stored {
        id,
        directory: optional(row, "directory"),
        title: super::named(optional(row, "title")),
        version: optional(row, "version"),
        parent: optional(row, "parent_id"),
        created: optional(row, "time_created").unwrap_or(0),
        updated: optional(row, "time_updated"),
        revert: revert.and_then(|revert| serde_json::from_str::<Revert>(&revert).ok()),
        ..Stored::default()
    }
}

fn message(row: &Row<'_>) -> Option<Message> {
    let created = row.get(1).unwrap_or(0);
    data::<MessageData>(row)?.message(id(row)?, created)
}

/// The first messages of a session, with their parts.
fn first_messages(connection: &Connection, session: &str) -> rusqlite::Result<Vec<Message>> {
    let query = format!("{MESSAGES} ORDER BY time_created, id LIMIT {FIRST_MESSAGES}");
    let mut rows = connection.prepare_cached(&query)?;
    let found = rows.query_map([session], |row| Ok(message(row)))?;
    let mut messages = Vec::new();
    for found in found {
        messages.extend(found?);
    }
    let query = "SELECT id, message_id, data FROM part WHERE message_id = ?1";
    let mut rows = connection.prepare_cached(query)?;
    for message in messages.iter_mut().filter(|message| message.is_user) {
        let mut rows = rows.query([&message.id])?;
        while let Some(row) = rows.next()? {
            let part = id(row).and_then(|id| Some(data::<PartData>(row)?.part(id)));
            message.parts.extend(part);
        }
    }
    Ok(messages)
}

fn messages(connection: &Connection, stored: &mut Stored) -> rusqlite::Result<()> {
    let mut places = HashMap::new();
    let mut rows = connection.prepare(MESSAGES)?;
    let mut rows = rows.query([&stored.id])?;
    while let Some(row) = rows.next()? {
        stored.records += 1;
        match message(row) {
            Some(message) => {
                places.insert(message.id.clone(), stored.messages.len());
                stored.messages.push(message);
            }
            None => stored.skipped += 1,
        }
    }
    let mut rows =
        connection.prepare("SELECT id, message_id, data FROM part WHERE session_id = ?1")?;
    let mut rows = rows.query([&stored.id])?;
    while let Some(row) = rows.next()? {
        let place = row.get::<_, String>(1).ok().and_then(|id| places.get(&id));
        // Parts of a message that can't be read were counted with it.
        let Some(message) = place.and_then(|place| stored.messages.get_mut(*place)) else {
            continue;
        };
        match id(row).and_then(|id| Some(data::<PartData>(row)?.part(id))) {
            Some(part) => message.parts.push(part),
            None => stored.skipped += 1,
        }
    }
    Ok(())
}

fn id(row: &Row<'_>) -> Option<String> {
    row.get(0).ok()
}

/// The JSON in the third column.
fn data<T: DeserializeOwned>(row: &Row<'_>) -> Option<T> {
    serde_json::from_slice(row.get_ref(2).ok()?.as_bytes().ok()?).ok()
}

#[cfg(test)]
pub(super) mod tests;
