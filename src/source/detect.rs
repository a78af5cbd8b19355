//! Which tool wrote a file, told by its content.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::{
    ForeignSession, SourceError, Tool, claude_code, codex, dsh, gemini, opencode, records,
};

/// How much of a file is looked at, in bytes.
const HEAD_BYTES: u64 = 256 * 1024;
/// How many records of it.
const HEAD_RECORDS: usize = 32;

/// The beginning of a file, decompressed.
pub(super) struct Head {
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
    /// Its first whole lines that are JSON.
    pub(super) records: Vec<Value>,
}

impl Head {
    fn read(path: &Path) -> Result<Self, SourceError> {
        let mut bytes = Vec::new();
        records::open(path)?
            .take(HEAD_BYTES)
            .read_to_end(&mut bytes)
            .map_err(|cause| SourceError::Unreadable {
                path: path.to_owned(),
                cause,
            })?;
        let records = bytes
            .split(|b| *b == b'\n')
            .take(HEAD_RECORDS)
            .filter_map(|line| serde_json::from_slice(records::trimmed(line)).ok())
            .collect();
        Ok(Self { bytes, records })
    }

    fn describe(&self) -> String {
        if self.bytes.is_empty() {
            "it is empty".to_owned()
        } else if self.records.is_empty() && !self.bytes.starts_with(b"{") {
            "it holds no JSON".to_owned()
        } else {
            "its records are of no known form".to_owned()
        }
    }
}

/// One tool's way of knowing its files.
type Recogniser = fn(&Head) -> bool;
/// One tool's way of reading a file.
type Reader = fn(&Path) -> Result<ForeignSession, SourceError>;

/// Every tool with how to know its files and how to read one.
const TOOLS: &[(Tool, Recogniser, Reader)] = &[
    (Tool::Dsh, dsh::recognises, dsh::read),
    (Tool::Codex, codex::recognises, codex::read),
    (Tool::Opencode, opencode::recognises, opencode::read),
    (Tool::Gemini, gemini::recognises, gemini::read),
    (Tool::ClaudeCode, claude_code::recognises, claude_code::read),
];

/// Reads the session in one file, whichever tool wrote it. Of a file that
/// holds several it is the one that was used last.
///
/// # Errors
/// `SOURCE_UNKNOWN_FORMAT` for a file of no known tool, and those of the
/// tool's reader.
pub fn read_file(path: &Path) -> Result<ForeignSession, SourceError> {
    let head = Head::read(path)?;
    let (_, _, read) = TOOLS
        .iter()
        .find(|(_, recognises, _)| recognises(&head))
        .ok_or_else(|| SourceError::UnknownFormat {
            path: path.to_owned(),
            found: head.describe(),
        })?;
    records::observed(path, || read(path))
}
