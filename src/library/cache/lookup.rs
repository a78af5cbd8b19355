//! Single questions to the cache.

use rusqlite::{Connection, OptionalExtension, params};

use super::rows;
use crate::library::files::Stamp;
use crate::library::index::Hidden;
use crate::session::{Millis, SessionId};
use crate::tool::Tool;

/// Where a session lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::library) struct Place {
    pub(in crate::library) tool: Tool,
    pub(in crate::library) file: String,
    pub(in crate::library) stamp: Stamp,
}

/// A session whose file is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::library) struct Gone {
    pub(in crate::library) tool: Tool,
    pub(in crate::library) file: String,
    pub(in crate::library) title: Option<String>,
    pub(in crate::library) last_seen: Millis,
}

/// What the cache holds of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// How many sessions a list shows.
    pub shown: usize,
    /// How many it does not.
    pub hidden: Hidden,
    /// What could not be read, and where.
    pub notices: Vec<(String, String)>,
}

/// The file of a session that counts.
pub(in crate::library) fn place(
    connection: &Connection,
    id: &SessionId,
) -> rusqlite::Result<Option<Place>> {
    connection
        .prepare_cached(
            "SELECT tool, file, size, mtime_ns, inode FROM sessions \
             WHERE id = ?1 ORDER BY is_double, tool, file LIMIT 1",
        )?
        .query_row([id.as_str()], |row| {
            let (file, stamp) = (row.get(1)?, rows::stamp(row, 2)?);
            Ok(rows::tool(row.get(0)?).map(|tool| Place { tool, file, stamp }))
        })
        .optional()
        .map(Option::flatten)
}

/// A session whose text can be searched.
#[derive(Clone, Debug)]
pub(in crate::library) struct Searchable {
    pub(in crate::library) id: SessionId,
    pub(in crate::library) place: Place,
    /// Whether its file holds others as well.
    pub(in crate::library) is_one_of_many: bool,
    pub(in crate::library) updated_at: Millis,
}

/// Every session that lists show, with the newest activity first.
pub(in crate::library) fn searchable(
    connection: &Connection,
    with_subagents: bool,
) -> rusqlite::Result<Vec<Searchable>> {
    let mut statement = connection.prepare(
        "WITH many AS (SELECT DISTINCT tool, file FROM sessions WHERE is_first = 0)
         SELECT tool, file, size, mtime_ns, inode, id, updated_at,
             EXISTS (SELECT 1 FROM many m WHERE m.tool = s.tool AND m.file = s.file)
         FROM sessions s WHERE is_double = 0 AND (kind = 0 OR (kind = 1 AND ?1))
         ORDER BY updated_at DESC, id",
    )?;
    let rows = statement.query_map([with_subagents], |row| {
        let (file, stamp) = (row.get(1)?, rows::stamp(row, 2)?);
        let id: String = row.get(5)?;
        let (updated_at, is_one_of_many) = (Millis(row.get(6)?), row.get(7)?);
        Ok(rows::tool(row.get(0)?).map(|tool| Searchable {
            id: SessionId::from(id),
            place: Place { tool, file, stamp },
            is_one_of_many,
            updated_at,
        }))
    })?;
    rows.filter_map(Result::transpose).collect()
}

/// What is remembered of a session that is gone, be it noticed or not.
pub(in crate::library) fn gone(
    connection: &Connection,
    id: &SessionId,
) -> rusqlite::Result<Option<Gone>> {
    connection
        .prepare_cached(
            "SELECT tool, file, title, last_seen FROM gone WHERE id = ?1
             UNION ALL
             SELECT tool, file, coalesce(name, title),
                 coalesce((SELECT at FROM scans WHERE scans.tool = sessions.tool), updated_at)
             FROM sessions WHERE id = ?1 LIMIT 1",
        )?
        .query_row([id.as_str()], |row| {
            let (file, title) = (row.get(1)?, row.get(2)?);
            let last_seen = Millis(row.get(3)?);
            Ok(rows::tool(row.get(0)?).map(|tool| Gone {
                tool,
                file,
                title,
                last_seen,
            }))
        })
        .optional()
        .map(Option::flatten)
}

/// The state in which a file is known, with or without a session.
pub(in crate::library) fn stamp(
    connection: &Connection,
    tool: Tool,
    file: &str,
) -> rusqlite::Result<Option<Stamp>> {
    connection
        .prepare_cached(
            "SELECT size, mtime_ns, inode FROM sessions WHERE tool = ?1 AND file = ?2 \
             UNION ALL SELECT size, mtime_ns, inode FROM files WHERE tool = ?1 AND file = ?2 \
             LIMIT 1",
        )?
        .query_row(params![rows::tool_number(tool), file], |row| {
            rows::stamp(row, 0)
        })
        .optional()
}

/// How many sessions are known and not shown.
pub(in crate::library) fn hidden(connection: &Connection) -> rusqlite::Result<Hidden> {
    count_hidden(connection, "1", params![])
}

/// What is known of one tool.
pub(in crate::library) fn standing(
    connection: &Connection,
    tool: Tool,
) -> rusqlite::Result<Standing> {
    let number = rows::tool_number(tool);
    let shown: i64 = connection.query_row(
        "SELECT count(*) FROM sessions WHERE tool = ?1 AND kind = 0 AND is_double = 0",
        [number],
        |row| row.get(0),
    )?;
    let mut notices = connection.prepare(
        "SELECT file, notices FROM sessions WHERE tool = ?1 AND notices IS NOT NULL
         UNION ALL SELECT file, problem FROM files WHERE tool = ?1 AND problem IS NOT NULL
         ORDER BY 1",
    )?;
    let notices = notices.query_map([number], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Standing {
        shown: usize::try_from(shown).unwrap_or(0),
        hidden: count_hidden(connection, "tool = ?1", params![number])?,
        notices: notices.collect::<Result<_, _>>()?,
    })
}

fn count_hidden(
    connection: &Connection,
    condition: &str,
    parameters: &[&dyn rusqlite::ToSql],
) -> rusqlite::Result<Hidden> {
    let count = format!(
        "SELECT coalesce(sum(is_double), 0),
             coalesce(sum(is_double = 0 AND kind = 1), 0),
             coalesce(sum(is_double = 0 AND kind = 2), 0)
         FROM sessions WHERE (kind != 0 OR is_double != 0) AND {condition}"
    );
    connection
        .prepare_cached(&count)?
        .query_row(parameters, |row| {
            let count = |at| row.get(at).map(|n: i64| usize::try_from(n).unwrap_or(0));
            Ok(Hidden {
                doubles: count(0)?,
                subagents: count(1)?,
                stubs: count(2)?,
            })
        })
}
