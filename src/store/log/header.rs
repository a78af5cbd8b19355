//! The first line of a log.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::session::{FORMAT_VERSION, Header};
use crate::store::{StoreError, files};

/// The longest header line that is read, in bytes.
pub const MAX_HEADER_BYTES: u64 = 1 << 20;

/// The `type` of the first line.
const HEADER_TYPE: &str = "session";

/// How much of a first line an error may show, in bytes.
const MAX_SHOWN_BYTES: usize = 60;

/// Reads the header of a log and nothing behind it.
///
/// # Errors
/// `SESSION_FOREIGN_FILE`, `SESSION_UNFINISHED`, `SESSION_FORMAT_TOO_NEW`, or
/// a failure of the disk.
pub fn read_header(path: &Path) -> Result<Header, StoreError> {
    let file = files::open_regular(path)?;
    // Most headers are far shorter, and there can be 100,000 logs to look at.
    let (header, _) = read(path, &mut BufReader::with_capacity(1024, file))?;
    Ok(header)
}

/// The header's line, line feed included.
pub(in crate::store) fn encode(header: &Header) -> Result<Vec<u8>, StoreError> {
    #[derive(Serialize)]
    struct Line<'a> {
        r#type: &'static str,
        #[serde(flatten)]
        header: &'a Header,
    }
    let not_storable = |problem: String| StoreError::NotStorable { problem };
    let mut line = serde_json::to_vec(&Line {
        r#type: HEADER_TYPE,
        header,
    })
    .map_err(|e| not_storable(format!("the header: {e}")))?;
    // Keys of a newer program could collide with those that are known.
    if parse(Path::new(""), &line).ok().as_ref() != Some(header) {
        return Err(not_storable("a key stands twice in the header".to_owned()));
    }
    line.push(b'\n');
    if line.len() as u64 > MAX_HEADER_BYTES {
        return Err(not_storable(format!(
            "the header is longer than {MAX_HEADER_BYTES} bytes"
        )));
    }
    Ok(line)
}

/// Reads the first line; gives its length in bytes besides.
pub(super) fn read(path: &Path, lines: &mut impl BufRead) -> Result<(Header, u64), StoreError> {
    let mut line = Vec::new();
    let length = lines
        .by_ref()
        .take(MAX_HEADER_BYTES)
        .read_until(b'\n', &mut line)
        .map_err(|cause| StoreError::io("read", path, cause))?;
    let unfinished = || StoreError::Unfinished {
        path: path.to_owned(),
    };
    if line.is_empty() {
        return Err(unfinished());
    }
    match parse(path, &line) {
        Err(StoreError::NotASession { .. }) if is_torn(&line) => Err(unfinished()),
        parsed => Ok((parsed?, length as u64)),
    }
}

/// Whether the line, and so the file, is the beginning of a header and nothing
/// else, or what a disk leaves of one after a power cut.
fn is_torn(line: &[u8]) -> bool {
    if line.ends_with(b"\n") || line.len() as u64 >= MAX_HEADER_BYTES {
        return false;
    }
    let start = format!("{{\"type\":\"{HEADER_TYPE}\",").into_bytes();
    let begins = line.iter().zip(&start).all(|(a, b)| a == b);
    let ends_early =
        || serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err_and(|error| error.is_eof());
    line.iter().all(|byte| *byte == 0) || (begins && ends_early())
}

fn parse(path: &Path, line: &[u8]) -> Result<Header, StoreError> {
    #[derive(Deserialize)]
    struct Known {
        r#type: Option<Value>,
        version: Option<Value>,
    }
    let foreign = |found: String| StoreError::NotASession {
        path: path.to_owned(),
        found,
    };
    if line.starts_with(b"\xef\xbb\xbf") {
        return Err(foreign(
            "it begins with a byte order mark; save it as UTF-8 without one".to_owned(),
        ));
    }
    // The version first: a newer header may differ in everything else.
    let known: Known = serde_json::from_slice(line)
        .map_err(|_| foreign(format!("it begins with {}", shown(line))))?;
    if known.r#type.as_ref().and_then(Value::as_str) != Some(HEADER_TYPE) {
        return Err(foreign(format!("it begins with {}", shown(line))));
    }
    match known.version.as_ref().and_then(Value::as_u64) {
        Some(version) if version > u64::from(FORMAT_VERSION) => Err(StoreError::FormatTooNew {
            path: path.to_owned(),
            version,
        }),
        _ => serde_json::from_slice::<Header>(line)
            .map(|mut header| {
                header.rest.shift_remove("type");
                header
            })
            .map_err(|error| foreign(format!("its header does not read: {error}"))),
    }
}

/// The beginning of a line, safe to print.
fn shown(line: &[u8]) -> String {
    let head: Vec<u8> = line
        .iter()
        .take_while(|byte| **byte != b'\n')
        .take(MAX_SHOWN_BYTES)
        .copied()
        .collect();
    format!("{:?}", String::from_utf8_lossy(&head))
}
