//! An input as the home folder of a tool.
//!
//! An input is one file, or several: each then begins with the byte 0x1c and
//! its path on a line of its own. A file `x.sql` is run into the database
//! `x.db`, and text under the name of a compressed file is compressed, so that
//! mutations reach what lies behind both.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ibid::tool::Tool;

/// What begins each file of an input.
const SEPARATOR: u8 = 0x1c;
/// How many files are made of one input.
const MAX_PARTS: usize = 32;
/// How deep a path goes.
const MAX_DEPTH: usize = 8;

/// One file of an input.
#[derive(Clone, Debug)]
pub struct Part {
    /// Below the home folder.
    pub path: PathBuf,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Where a file lies whose input does not say it.
#[must_use]
pub fn default_path(tool: Tool) -> &'static str {
    match tool {
        Tool::ClaudeCode => ".claude/projects/-p/720ba929-4265-47f7-8de8-2fd1083a871e.jsonl",
        Tool::Codex => {
            ".codex/sessions/2026/12/01/rollout-2026-12-01T20-57-48-01a23366-407e-7953-bf07-7558970eea43.jsonl"
        }
        Tool::Gemini => ".gemini/tmp/p/chats/session-2026-12-01T20-38-a90858a3.jsonl",
        Tool::Opencode => ".local/share/opencode/opencode.db",
        _ => ".dsh/sessions/--p--/session-1/session.jsonl",
    }
}

/// The files of an input.
#[must_use]
pub fn parts(tool: Tool, data: &[u8]) -> Vec<Part> {
    let whole = || Part {
        path: default_path(tool).into(),
        bytes: data.to_vec(),
    };
    let Some(framed) = data.strip_prefix(&[SEPARATOR]) else {
        return vec![whole()];
    };
    let parts = framed.split(|byte| *byte == SEPARATOR).take(MAX_PARTS);
    let part = |part: &[u8]| {
        let end = part.iter().position(|byte| *byte == b'\n');
        let (name, bytes) = part.split_at(end.unwrap_or(part.len()));
        Part {
            path: below(name),
            bytes: bytes.get(1..).unwrap_or_default().to_vec(),
        }
    };
    parts.map(part).collect()
}

/// An input of these files.
#[must_use]
pub fn frame(parts: &[Part]) -> Vec<u8> {
    let mut data = Vec::new();
    for part in parts {
        data.push(SEPARATOR);
        data.extend_from_slice(part.path.as_os_str().as_encoded_bytes());
        data.push(b'\n');
        data.extend_from_slice(&part.bytes);
    }
    data
}

/// A path that can't leave the folder it is put below.
fn below(name: &[u8]) -> PathBuf {
    let name = String::from_utf8_lossy(name);
    let names = name.split('/').map(|name| name.replace('\0', "0"));
    let names = names.filter(|name| !matches!(name.as_str(), "" | "." | ".."));
    let short = |name: String| name.chars().take(60).collect::<String>();
    names.map(short).take(MAX_DEPTH).collect()
}

/// Puts the files below a folder, which is emptied before. What can't be
/// written, as of two files with one name, is left out.
pub(crate) fn write(home: &Path, parts: &[Part]) -> io::Result<()> {
    fs::remove_dir_all(home)?;
    fs::create_dir(home)?;
    for part in parts {
        let path = home.join(&part.path);
        let Some(folder) = path.parent().filter(|folder| folder.starts_with(home)) else {
            continue;
        };
        if fs::create_dir_all(folder).is_err() {
            continue;
        }
        let extension = path.extension().unwrap_or_default();
        if extension == "sql" {
            run(&path.with_extension("db"), &part.bytes);
        } else if (extension == "zst" || extension == "zstd") && part.bytes.starts_with(b"{") {
            let packed = zrip::compress(&part.bytes, 1).unwrap();
            let _ = fs::write(path, packed);
        } else {
            let _ = fs::write(path, &part.bytes);
        }
    }
    Ok(())
}

/// Makes a database of statements. Each is run for itself, so that a broken
/// one leaves the others.
fn run(path: &Path, statements: &[u8]) {
    let Ok(database) = rusqlite::Connection::open(path) else {
        return;
    };
    let _ = database.execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN");
    let text = String::from_utf8_lossy(statements);
    for statement in text.split(";\n") {
        let first = statement.trim_start().get(..6).unwrap_or_default();
        // Nothing that reaches past this database.
        if first.eq_ignore_ascii_case("create") || first.eq_ignore_ascii_case("insert") {
            // One statement, whatever else stands behind it.
            let _ = database.execute(statement, []);
        }
    }
    let _ = database.execute_batch("COMMIT");
}
