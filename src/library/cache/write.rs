//! Writing what files hold.
//!
//! A session can lie in several files: a resumed copy, an older generation, a
//! stub. Of these one is shown, and the others are marked as doubles when
//! they are written, so that nothing has to be compared when rows are read.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, ffi, params};

use super::rows::{self, CachedRow, kind_number, tool_number};
use crate::library::files::{Facts, Found, LogFile};
use crate::session::{Header, Millis, SessionId, Title};
use crate::tool::Tool;

/// A file, and what was found in it.
#[derive(Clone, Debug)]
pub(in crate::library) struct ReadFile {
    pub(in crate::library) log: LogFile,
    pub(in crate::library) found: Found,
}

/// What is shown of sessions from now on where it is not just what was found
/// in a file: `None` for one that is not shown any more.
pub(in crate::library) type Corrections = HashMap<SessionId, Option<Facts>>;

/// How exactly it is known when a tool's files were last listed, in
/// milliseconds. Starting again within that time writes nothing.
const SCAN_PRECISION: i64 = 60_000;

const PUT: &str = "INSERT OR REPLACE INTO sessions VALUES \
     (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, 0, ?18, ?19)";

/// When each session was last seen.
const SEEN: &str = "SELECT id, tool, file, coalesce(name, title), \
     coalesce((SELECT at FROM scans WHERE scans.tool = sessions.tool), updated_at) FROM sessions";

pub(super) fn write(
    connection: &mut Connection,
    read: &[ReadFile],
) -> rusqlite::Result<Corrections> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut touched = BTreeSet::new();
    for file in read {
        take_out(&transaction, file.log.tool, &file.log.file, &mut touched)?;
        put(&transaction, file, &mut touched)?;
    }
    let corrections = settle(&transaction, &touched, read)?;
    transaction.commit()?;
    Ok(corrections)
}

pub(super) fn remove(
    connection: &mut Connection,
    files: &[(Tool, String)],
) -> rusqlite::Result<Corrections> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut touched = BTreeSet::new();
    for (tool, file) in files {
        transaction
            .prepare_cached(&format!(
                "INSERT OR REPLACE INTO gone {SEEN} WHERE tool = ?1 AND file = ?2"
            ))?
            .execute(params![tool_number(*tool), file])?;
        take_out(&transaction, *tool, file, &mut touched)?;
    }
    let corrections = settle(&transaction, &touched, &[])?;
    transaction.commit()?;
    Ok(corrections)
}

pub(super) fn scanned(connection: &Connection, tools: &[Tool], at: Millis) -> rusqlite::Result<()> {
    let mut noted = connection.prepare_cached("SELECT at FROM scans WHERE tool = ?1")?;
    let mut late = Vec::new();
    for tool in tools {
        let before: Option<i64> = noted
            .query_row([tool_number(*tool)], |row| row.get(0))
            .optional()?;
        // A clock that was set back must not keep a moment that never comes.
        let is_recent =
            before.is_some_and(|before| (0..SCAN_PRECISION).contains(&at.0.saturating_sub(before)));
        if !is_recent {
            late.push(tool_number(*tool));
        }
    }
    if late.is_empty() {
        return Ok(());
    }
    let transaction = connection.unchecked_transaction()?;
    let mut note = transaction.prepare_cached("INSERT OR REPLACE INTO scans VALUES (?1, ?2)")?;
    for tool in late {
        note.execute(params![tool, at.0])?;
    }
    drop(note);
    transaction.commit()
}

/// Forgets all but what was last seen when, which nothing else knows: each
/// session counts as gone until it is found again.
pub(super) fn clear(connection: &Connection) -> rusqlite::Result<()> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    transaction.execute(&format!("INSERT OR REPLACE INTO gone {SEEN}"), [])?;
    transaction.execute_batch("DELETE FROM sessions; DELETE FROM files; DELETE FROM names;")?;
    transaction.commit()
}

/// [`clear`] of a database that is whole. What is left of it is looked through;
/// damage is an error.
pub(super) fn clear_whole(connection: &Connection) -> rusqlite::Result<()> {
    clear(connection)?;
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found == "ok" {
        return Ok(());
    }
    let code = ffi::Error::new(ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(code, Some(found)))
}

/// A session and when it was last seen.
pub(super) struct Seen {
    id: String,
    tool: i64,
    file: String,
    title: Option<String>,
    at: i64,
}

/// All that a cache knows of what was last seen when, in whatever form it is:
/// as far as that can be read.
pub(super) fn seen(connection: &Connection) -> Vec<Seen> {
    let gone = "SELECT id, tool, file, title, last_seen FROM gone";
    let mut all = Vec::new();
    for select in [gone, SEEN] {
        let Ok(mut statement) = connection.prepare(select) else {
            continue;
        };
        let rows = statement.query_map([], |row| {
            Ok(Seen {
                id: row.get(0)?,
                tool: row.get(1)?,
                file: row.get(2)?,
                title: row.get(3)?,
                at: row.get(4)?,
            })
        });
        // Nothing behind a row that can't be read is sure.
        all.extend(rows.into_iter().flatten().map_while(Result::ok));
    }
    all
}

/// Takes note of sessions that count as gone until they are found again.
pub(super) fn remember(connection: &Connection, seen: &[Seen]) -> rusqlite::Result<()> {
    let mut put = connection.prepare("INSERT OR REPLACE INTO gone VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for Seen {
        id,
        tool,
        file,
        title,
        at,
    } in seen
    {
        put.execute(params![id, tool, file, title, at])?;
    }
    Ok(())
}

/// Takes over what the cache in a file says, which has the same schema.
pub(super) fn copy(connection: &Connection, from: &str) -> rusqlite::Result<()> {
    connection.execute("ATTACH ?1 AS other", [from])?;
    let copied = copy_tables(connection);
    connection.execute_batch("DETACH other")?;
    copied
}

fn copy_tables(connection: &Connection) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    for table in ["sessions", "files", "names", "gone", "scans"] {
        let copy = format!("INSERT INTO {table} SELECT * FROM other.{table}");
        transaction.execute(&copy, [])?;
    }
    transaction.commit()
}

/// Takes out all that is known of a file, and tells whose it was.
fn take_out(
    transaction: &Transaction<'_>,
    tool: Tool,
    file: &str,
    touched: &mut BTreeSet<String>,
) -> rusqlite::Result<()> {
    let key = params![tool_number(tool), file];
    // A file with names has a row of its own, too.
    let is_known: bool = transaction
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM sessions WHERE tool = ?1 AND file = ?2)
                 OR EXISTS (SELECT 1 FROM files WHERE tool = ?1 AND file = ?2)",
        )?
        .query_row(key, |row| row.get(0))?;
    if !is_known {
        return Ok(());
    }
    for table in ["sessions", "names"] {
        let ids = format!("SELECT id FROM {table} WHERE tool = ?1 AND file = ?2");
        let mut statement = transaction.prepare_cached(&ids)?;
        for id in statement.query_map(key, |row| row.get(0))? {
            touched.insert(id?);
        }
    }
    for table in ["sessions", "names", "files"] {
        let delete = format!("DELETE FROM {table} WHERE tool = ?1 AND file = ?2");
        transaction.prepare_cached(&delete)?.execute(key)?;
    }
    Ok(())
}

fn put(
    transaction: &Transaction<'_>,
    file: &ReadFile,
    touched: &mut BTreeSet<String>,
) -> rusqlite::Result<()> {
    let tool = file.log.tool;
    let sessions = match &file.found {
        Found::Sessions(sessions) if !sessions.is_empty() => sessions,
        Found::Sessions(_) => return put_file(transaction, &file.log, None),
        Found::Nothing(problem) => return put_file(transaction, &file.log, Some(problem)),
        Found::Names(names) => {
            put_file(transaction, &file.log, None)?;
            return put_names(transaction, &file.log, names, touched);
        }
    };
    let mut insert = transaction.prepare_cached(PUT)?;
    let mut back = transaction.prepare_cached("DELETE FROM gone WHERE id = ?1")?;
    for (at, facts) in sessions.iter().enumerate() {
        let header = &facts.header;
        let id = header.id.as_str();
        let notices = (!facts.notices.is_empty()).then(|| facts.notices.join("\n"));
        insert.execute(params![
            file.log.file,
            file.log.stamp.size.cast_signed(),
            file.log.stamp.mtime_ns,
            file.log.stamp.inode.cast_signed(),
            id,
            header.version,
            header.created_at.0,
            header.cwd,
            header.parent_session.as_ref().map(SessionId::as_str),
            header.is_seeded == Some(true),
            facts.title.as_ref().map(|title| &title.text),
            facts.title.as_ref().is_some_and(|title| title.pinned),
            facts.updated_at.0,
            facts.messages,
            tool_number(tool),
            kind_number(facts.kind),
            at == 0,
            None::<String>,
            notices,
        ])?;
        back.execute([id])?;
        touched.insert(id.to_owned());
    }
    Ok(())
}

fn put_file(
    transaction: &Transaction<'_>,
    log: &LogFile,
    problem: Option<&str>,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("INSERT INTO files VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![
            tool_number(log.tool),
            log.file,
            log.stamp.size.cast_signed(),
            log.stamp.mtime_ns,
            log.stamp.inode.cast_signed(),
            problem,
        ])?;
    Ok(())
}

fn put_names(
    transaction: &Transaction<'_>,
    log: &LogFile,
    names: &[(SessionId, Title)],
    touched: &mut BTreeSet<String>,
) -> rusqlite::Result<()> {
    let mut insert =
        transaction.prepare_cached("INSERT OR REPLACE INTO names VALUES (?1, ?2, ?3, ?4)")?;
    for (id, title) in names {
        insert.execute(params![
            id.as_str(),
            tool_number(log.tool),
            log.file,
            title.text
        ])?;
        touched.insert(id.as_str().to_owned());
    }
    Ok(())
}

/// The name that a tool keeps apart from its session. Of several files that
/// tell one, the first by its path counts.
fn name(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<String>> {
    transaction
        .prepare_cached("SELECT title FROM names WHERE id = ?1 ORDER BY file LIMIT 1")?
        .query_row([id], |row| row.get(0))
        .optional()
}

/// Marks doubles, gives the touched sessions their names, and tells what is
/// shown of them where that is not just what was found.
fn settle(
    transaction: &Transaction<'_>,
    touched: &BTreeSet<String>,
    read: &[ReadFile],
) -> rusqlite::Result<Corrections> {
    let mut found: HashMap<&str, (usize, &Facts)> = HashMap::new();
    for facts in read.iter().flat_map(|file| match &file.found {
        Found::Sessions(sessions) => sessions.as_slice(),
        Found::Names(_) | Found::Nothing(_) => &[],
    }) {
        let entry = found.entry(facts.header.id.as_str());
        entry.or_insert((0, facts)).0 += 1;
    }
    let mut corrections = Corrections::new();
    for id in touched {
        let found_once = found.get(&**id).is_some_and(|(count, _)| *count == 1);
        if found_once && is_alone(transaction, id)? {
            continue;
        }
        let shown = settle_one(transaction, id)?;
        let is_as_found = match (found.get(&**id), &shown) {
            (Some((1, facts)), Some(shown)) => *facts == shown,
            _ => false,
        };
        if !is_as_found {
            corrections.insert(SessionId::from(&**id), shown);
        }
    }
    Ok(corrections)
}

/// Whether a session lies in one file and nothing else names it: most do, and
/// stand as they were put.
fn is_alone(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<bool> {
    transaction
        .prepare_cached(
            "SELECT (SELECT count(*) FROM sessions WHERE id = ?1) = 1
                 AND NOT EXISTS (SELECT 1 FROM names WHERE id = ?1)",
        )?
        .query_row([id], |row| row.get(0))
}

/// One file of a session is shown: one with a message before one without,
/// one of ibid's own, then the one that something last happened in.
fn settle_one(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<Facts>> {
    transaction
        .prepare_cached("UPDATE sessions SET name = ?2 WHERE id = ?1 AND name IS NOT ?2")?
        .execute(params![id, name(transaction, id)?])?;
    let select =
        rows::select_where("id = ?1 ORDER BY kind = 2, tool != 0, updated_at DESC, tool, file");
    let mut statement = transaction.prepare_cached(&select)?;
    let mut rows = statement.query([id])?;
    let mut files: Vec<(Tool, String, bool)> = Vec::new();
    let mut shown = None;
    while let Some(row) = rows.next()? {
        if let Some(row) = CachedRow::read(row) {
            if files.is_empty() {
                shown = Some(facts(&row));
            }
            files.push((row.tool, row.file.to_owned(), row.is_double));
        }
    }
    let mut mark = transaction.prepare_cached(
        "UPDATE sessions SET is_double = ?4 WHERE id = ?1 AND tool = ?2 AND file = ?3",
    )?;
    for (at, (tool, file, was_double)) in files.iter().enumerate() {
        let is_double = at > 0;
        if is_double != *was_double {
            mark.execute(params![id, tool_number(*tool), file, is_double])?;
        }
    }
    Ok(shown)
}

/// What a row says of a session, without its notices, which no list shows.
pub(super) fn facts(row: &CachedRow<'_>) -> Facts {
    let mut header = Header::new(row.id, row.created_at, row.cwd.map(str::to_owned));
    header.version = row.version;
    header.parent_session = row.parent.map(SessionId::from);
    header.is_seeded = row.is_seeded.then_some(true);
    Facts {
        header,
        title: row.title.map(|title| Title {
            text: title.to_owned(),
            pinned: row.is_pinned,
        }),
        updated_at: row.updated_at,
        messages: row.messages,
        kind: row.kind,
        notices: Vec::new(),
    }
}
