//! Reading the rows.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::library::files::{Kind, Stamp};
use crate::session::Millis;
use crate::tool::Tool;

/// The columns in the order of [`CachedRow::read`].
macro_rules! columns {
    () => {
        "file, size, mtime_ns, inode, id, version, created_at, cwd, parent, is_seeded, title, \
         title_pinned, updated_at, messages, tool, kind, is_first, is_double, name"
    };
}

pub(super) const SELECT: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM sessions ORDER BY updated_at DESC, id, tool, file"
);
const SELECT_FILES: &str = "SELECT tool, file, size, mtime_ns, inode FROM files";

/// A row as it stands in the cache, believed by nobody yet.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a column each, and any mix of them can stand in a row"
)]
pub(in crate::library) struct CachedRow<'a> {
    pub(in crate::library) tool: Tool,
    pub(in crate::library) file: &'a str,
    pub(in crate::library) stamp: Stamp,
    pub(in crate::library) id: &'a str,
    pub(in crate::library) version: u32,
    pub(in crate::library) created_at: Millis,
    pub(in crate::library) cwd: Option<&'a str>,
    pub(in crate::library) parent: Option<&'a str>,
    pub(in crate::library) is_seeded: bool,
    pub(in crate::library) title: Option<&'a str>,
    pub(in crate::library) is_pinned: bool,
    pub(in crate::library) updated_at: Millis,
    pub(in crate::library) messages: Option<u32>,
    pub(in crate::library) kind: Kind,
    /// Whether it stands for its file as a whole.
    pub(in crate::library) is_first: bool,
    /// Whether another file of the same session is shown.
    pub(in crate::library) is_double: bool,
}

/// A file that has no session, and is known all the same.
#[derive(Clone, Debug)]
pub(in crate::library) struct CachedFile {
    pub(in crate::library) tool: Tool,
    pub(in crate::library) file: String,
    pub(in crate::library) stamp: Stamp,
}

impl<'a> CachedRow<'a> {
    /// The row of a query for the columns above; `None` for one that this program
    /// can't have written.
    pub(super) fn read(row: &'a Row<'_>) -> Option<Self> {
        let text = |at| row.get_ref(at).ok()?.as_str().ok();
        let optional = |at| match row.get_ref(at).ok()? {
            ValueRef::Null => Some(None),
            value => value.as_str().ok().map(Some),
        };
        let int = |at| row.get_ref(at).ok()?.as_i64().ok();
        let messages = match row.get_ref(13).ok()? {
            ValueRef::Null => None,
            value => Some(u32::try_from(value.as_i64().ok()?).ok()?),
        };
        // A name of the tool's own keeping goes before the session's word.
        let name = optional(18)?;
        Some(Self {
            file: text(0)?,
            stamp: Stamp {
                size: int(1)?.cast_unsigned(),
                mtime_ns: int(2)?,
                inode: int(3)?.cast_unsigned(),
            },
            id: text(4)?,
            version: u32::try_from(int(5)?).ok()?,
            created_at: Millis(int(6)?),
            cwd: optional(7)?,
            parent: optional(8)?,
            is_seeded: int(9)? != 0,
            title: name.or(optional(10)?),
            is_pinned: name.is_some() || int(11)? != 0,
            updated_at: Millis(int(12)?),
            messages,
            tool: tool(int(14)?)?,
            kind: kind(int(15)?)?,
            is_first: int(16)? != 0,
            is_double: int(17)? != 0,
        })
    }
}

/// A query for the rows of which this is so.
pub(super) fn select_where(condition: &str) -> String {
    format!(
        concat!("SELECT ", columns!(), " FROM sessions WHERE {}"),
        condition
    )
}

/// Shows every row to `each`, newest first, and gives the files without one.
pub(super) fn all(
    connection: &Connection,
    mut each: impl FnMut(CachedRow<'_>),
) -> rusqlite::Result<Vec<CachedFile>> {
    // All of one moment, while another process writes.
    let moment = connection.unchecked_transaction()?;
    let mut statement = moment.prepare_cached(SELECT)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(row) = CachedRow::read(row) {
            each(row);
        }
    }
    let mut statement = moment.prepare_cached(SELECT_FILES)?;
    let files = statement.query_map([], |row| {
        let (file, stamp) = (row.get(1)?, stamp(row, 2)?);
        Ok(tool(row.get(0)?).map(|tool| CachedFile { tool, file, stamp }))
    })?;
    files.filter_map(Result::transpose).collect()
}

/// The state of a file in three columns from this one on.
pub(super) fn stamp(row: &Row<'_>, at: usize) -> rusqlite::Result<Stamp> {
    Ok(Stamp {
        size: row.get::<_, i64>(at)?.cast_unsigned(),
        mtime_ns: row.get(at + 1)?,
        inode: row.get::<_, i64>(at + 2)?.cast_unsigned(),
    })
}

/// How a tool stands in the table; these numbers never change.
pub(super) fn tool_number(tool: Tool) -> i64 {
    match tool {
        Tool::Ibid => 0,
        Tool::Dsh => 1,
        Tool::ClaudeCode => 2,
        Tool::Codex => 3,
        Tool::Gemini => 4,
        Tool::Opencode => 5,
    }
}

pub(super) fn tool(number: i64) -> Option<Tool> {
    Tool::ALL
        .into_iter()
        .find(|tool| tool_number(*tool) == number)
}

pub(super) fn kind_number(kind: Kind) -> i64 {
    match kind {
        Kind::Session => 0,
        Kind::Subagent => 1,
        Kind::Stub => 2,
    }
}

fn kind(number: i64) -> Option<Kind> {
    [Kind::Session, Kind::Subagent, Kind::Stub]
        .into_iter()
        .find(|kind| kind_number(*kind) == number)
}
