//! Which tool wrote a file, told by its content.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::brief::Brief;
use super::{Adapter, ForeignCapture, ForeignSession, SourceError, records};

/// How much of a file is looked at, in bytes.
const HEAD_BYTES: u64 = 256 * 1024;
/// How much of a file that is not known by so little: its first line may hold
/// what was pasted, or all that the tool tells its model.
const LONG_HEAD_BYTES: u64 = 32 * 1024 * 1024;
/// How many records of it.
const HEAD_RECORDS: usize = 32;

/// The beginning of a file, decompressed.
pub struct Head {
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
    /// The outsides of its first whole lines that are JSON objects.
    pub(super) records: Vec<Brief>,
}

impl Head {
    fn read(path: &Path, most: u64) -> Result<Self, SourceError> {
        let mut bytes = Vec::new();
        records::open(path)?
            .take(most)
            .read_to_end(&mut bytes)
            .map_err(|cause| SourceError::Unreadable {
                path: path.to_owned(),
                cause,
            })?;
        Ok(Self {
            records: records_of(&bytes),
            bytes,
        })
    }

    fn describe(&self, path: &Path) -> String {
        if self.bytes.is_empty() {
            let holds_something = std::fs::metadata(path).is_ok_and(|file| file.len() > 0);
            if holds_something {
                "it is compressed, and damaged from its beginning on".to_owned()
            } else {
                "it is empty".to_owned()
            }
        } else if self.records.is_empty() && !self.bytes.starts_with(b"{") {
            "it holds no JSON".to_owned()
        } else {
            "its records are of no known form".to_owned()
        }
    }
}

/// The first whole lines of these that are records.
pub(super) fn records_of(bytes: &[u8]) -> Vec<Brief> {
    let lines = bytes.split(|b| *b == b'\n').take(HEAD_RECORDS);
    lines
        .filter_map(|line| serde_json::from_slice(records::trimmed(line)).ok())
        .collect()
}

/// What is found in the beginning of a file.
fn told<T>(path: &Path, find: impl Fn(&Head) -> Option<T>) -> Result<T, SourceError> {
    let mut head = Head::read(path, HEAD_BYTES)?;
    let mut found = find(&head);
    if found.is_none() && head.bytes.len() as u64 == HEAD_BYTES {
        head = Head::read(path, LONG_HEAD_BYTES)?;
        found = find(&head);
    }
    found.ok_or_else(|| SourceError::UnknownFormat {
        path: path.to_owned(),
        found: head.describe(path),
    })
}

/// The adapter of the tool that wrote a file.
fn adapter_of(path: &Path) -> Result<&'static dyn Adapter, SourceError> {
    told(path, |head| {
        super::adapters().find(|adapter| adapter.recognises(head))
    })
}

/// Whether a file is this tool's, as far as its beginning tells.
///
/// # Errors
/// `SOURCE_UNKNOWN_FORMAT` for one that is not, and when it can't be read.
pub fn check(adapter: &dyn Adapter, path: &Path) -> Result<(), SourceError> {
    told(path, |head| adapter.recognises(head).then_some(()))
}

/// Reads the session in one file, whichever tool wrote it. Of a file that
/// holds several it is the one that was used last.
///
/// # Errors
/// `SOURCE_UNKNOWN_FORMAT` for a file of no known tool, and those of the
/// tool's reader.
pub fn read_file(path: &Path) -> Result<ForeignSession, SourceError> {
    let path = &absolute(path)?;
    read_as(adapter_of(path)?, path, None)
}

/// Captures the session in one file, which is that of [`read_file`].
///
/// # Errors
/// Those of [`read_file`].
pub fn capture_file(path: &Path) -> Result<ForeignCapture, SourceError> {
    let path = &absolute(path)?;
    capture_as(adapter_of(path)?, path, None)
}

/// The path with all the folders that the file is in, of a link that of the file
/// itself: what it builds on is looked for there.
fn absolute(path: &Path) -> Result<PathBuf, SourceError> {
    let whole = if path.is_symlink() {
        path.canonicalize()
    } else {
        std::path::absolute(path)
    };
    whole.map_err(|cause| SourceError::Unreadable {
        path: path.to_owned(),
        cause,
    })
}

/// Reads a session of a file that is known to be this tool's, as one
/// observation.
///
/// # Errors
/// Those of [`Adapter::read`].
pub fn read_as(
    adapter: &dyn Adapter,
    path: &Path,
    native_id: Option<&str>,
) -> Result<ForeignSession, SourceError> {
    records::observed(path, || adapter.read(path, native_id))
}

/// Captures a session of a file that is known to be this tool's, as one
/// observation.
///
/// # Errors
/// Those of [`Adapter::capture`].
pub fn capture_as(
    adapter: &dyn Adapter,
    path: &Path,
    native_id: Option<&str>,
) -> Result<ForeignCapture, SourceError> {
    records::observed(path, || adapter.capture(path, native_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_compressed_file_is_not_called_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rollout.jsonl.zst");
        for (bytes, why) in [
            (
                &b"\x28\xb5\x2f\xfd\xff\xff\xff"[..],
                "damaged from its beginning",
            ),
            (b"", "it is empty"),
        ] {
            std::fs::write(&path, bytes).unwrap();
            let error = read_file(&path).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_first_line_of_any_length_that_tools_write_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder
            .path()
            .join("5b0f4c9e-8a55-4c37-b1a5-0d4f7c1d2e3f.jsonl");
        let pasted = "x".repeat(1_000_000);
        let lines = format!(
            "{{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"sessionId\":\"s\",\"content\":\"{pasted}\"}}\n\
             {{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"hi\"}}}}\n"
        );
        std::fs::write(&path, lines).unwrap();
        let read = capture_file(&path).unwrap();
        let texts: Vec<&str> = read
            .session
            .capture
            .conversation
            .iter()
            .map(|it| &*it.text)
            .collect();
        assert_eq!(texts, ["hi"]);
    }
}
