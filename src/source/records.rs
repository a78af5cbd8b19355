//! Files of JSON records, one a line, as other programs leave them: with torn
//! lines, NUL runs, byte order marks, lines of many megabytes, and records
//! glued to the end of torn ones.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::time::SystemTime;

use serde::de::DeserializeOwned;

use super::SourceError;
use super::frames::{Bomb, Frames, ZSTD_MAGIC, most_decoded};

/// The longest record that is read, in bytes. A longer one is skipped.
pub(super) const MAX_RECORD_BYTES: usize = 256 * 1024 * 1024;
/// How much is parsed to find a record glued to a torn one, as a multiple of
/// the line.
const GLUE_EFFORT: usize = 16;
/// Opens a file as plain bytes: zstd frames, one behind the other, are
/// decoded, and a torn last one gives what it holds.
///
/// # Errors
/// When the file is no regular file or can't be opened.
pub(super) fn open(path: &Path) -> Result<Box<dyn BufRead>, SourceError> {
    let failed = |cause| failure(path, cause);
    let file = open_regular(path)?;
    let len = file.metadata().map_err(failed)?.len();
    let mut file = BufReader::with_capacity(1 << 18, file);
    let is_zstd = is_compressed(file.fill_buf().map_err(failed)?);
    if is_zstd {
        let frames = Frames::new(file, most_decoded(len));
        return Ok(Box::new(BufReader::with_capacity(1 << 18, frames)));
    }
    Ok(Box::new(file))
}

/// Opens a regular file.
///
/// # Errors
/// When it is something else or can't be opened.
pub(super) fn open_regular(path: &Path) -> Result<File, SourceError> {
    let failed = |cause| failure(path, cause);
    // Opening a pipe would wait for its other end, so look before.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(failed(io::Error::other("it is no regular file")));
    }
    File::open(path).map_err(failed)
}

/// Whether a file that begins like this is of zstd frames.
pub(super) fn is_compressed(head: &[u8]) -> bool {
    head.starts_with(&ZSTD_MAGIC)
}

/// What went wrong while a file was read.
pub(super) fn failure(path: &Path, cause: io::Error) -> SourceError {
    let path = path.to_owned();
    let bomb = cause
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Bomb>());
    match bomb.map(Bomb::to_string) {
        Some(problem) => SourceError::TooLarge { path, problem },
        None => SourceError::Unreadable { path, cause },
    }
}

/// Which state of a file was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State(u64, Option<SystemTime>);

fn state(path: &Path) -> Option<State> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(State(metadata.len(), metadata.modified().ok()))
}

/// Reads something as one observation: once more when the file changed
/// meanwhile. A file that changes all the time is taken as it was read last.
pub(super) fn observed<T>(
    path: &Path,
    mut read: impl FnMut() -> Result<T, SourceError>,
) -> Result<T, SourceError> {
    let before = state(path);
    let first = read()?;
    if state(path) == before {
        return Ok(first);
    }
    read()
}

/// Calls `take` with every line that `wanted` says yes to, parsed as `T`.
/// Gives how many of those could not be read.
///
/// `wanted` sees the raw bytes and should only look for marks: it keeps noise
/// from being parsed. It is asked for the line as it is, so a mark may stand
/// inside a string.
///
/// # Errors
/// When reading fails.
pub(super) fn each<T: DeserializeOwned>(
    path: &Path,
    wanted: impl FnMut(&[u8]) -> bool,
    take: impl FnMut(T),
) -> Result<usize, SourceError> {
    each_within(path, u64::MAX, wanted, take)
}

/// [`each`] of the first `bytes` bytes of a file, decompressed.
///
/// # Errors
/// When reading fails.
pub(super) fn each_within<T: DeserializeOwned>(
    path: &Path,
    bytes: u64,
    wanted: impl FnMut(&[u8]) -> bool,
    mut take: impl FnMut(T),
) -> Result<usize, SourceError> {
    let mut skipped = 0;
    look_within(path, bytes, wanted, &mut skipped, |record| {
        take(record);
        None::<()>
    })?;
    Ok(skipped)
}

/// What `find` finds in the first `bytes` bytes of a file, decompressed, of
/// whose lines it gets those that `wanted` says yes to. Nothing behind it is
/// read.
///
/// # Errors
/// When reading fails.
pub(super) fn find_within<T: DeserializeOwned, R>(
    path: &Path,
    bytes: u64,
    wanted: impl FnMut(&[u8]) -> bool,
    find: impl FnMut(T) -> Option<R>,
) -> Result<Option<R>, SourceError> {
    look_within(path, bytes, wanted, &mut 0, find)
}

fn look_within<T: DeserializeOwned, R>(
    path: &Path,
    bytes: u64,
    mut wanted: impl FnMut(&[u8]) -> bool,
    skipped: &mut usize,
    mut find: impl FnMut(T) -> Option<R>,
) -> Result<Option<R>, SourceError> {
    let mut lines = Lines::new(Box::new(open(path)?.take(bytes)));
    loop {
        let line = lines.next().map_err(|cause| failure(path, cause))?;
        let (read, lost) = match line {
            None => return Ok(None),
            Some(Line::TooLong) => (None, 1),
            Some(Line::Whole(bytes)) => {
                *skipped += usize::from(has_nul_run(bytes));
                let bytes = trimmed(bytes);
                if bytes.is_empty() || !wanted(bytes) {
                    continue;
                }
                record(bytes)
            }
        };
        *skipped += lost;
        if let Some(found) = read.and_then(&mut find) {
            return Ok(Some(found));
        }
    }
}

/// The record that a line is, or that is glued to a torn one in it, and how
/// many could not be read.
pub(super) fn record<T: DeserializeOwned>(line: &[u8]) -> (Option<T>, usize) {
    if let Ok(record) = serde_json::from_slice(line) {
        return (Some(record), 0);
    }
    let whole = mended(line).and_then(|line| serde_json::from_slice(&line).ok());
    match whole {
        Some(record) => (Some(record), 0),
        None => (glued(line), 1),
    }
}

/// A line in which halves of characters are replacement characters; `None`
/// when it has none. Programs that cut a text by its UTF-16 units write them,
/// and JSON can't be read with them.
fn mended(line: &[u8]) -> Option<Vec<u8>> {
    const HIGH: std::ops::Range<u16> = 0xd800..0xdc00;
    const LOW: std::ops::Range<u16> = 0xdc00..0xe000;
    let unit = |at: usize| {
        let digits = line.get(at..at + 6)?.strip_prefix(br"\u")?;
        u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut mended = Vec::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(escape) = memchr::memchr(b'\\', line.get(at..)?) {
        at += escape;
        match unit(at) {
            Some(high)
                if HIGH.contains(&high) && unit(at + 6).is_some_and(|u| LOW.contains(&u)) =>
            {
                at += 12;
            }
            Some(half) if HIGH.contains(&half) || LOW.contains(&half) => {
                mended.extend_from_slice(line.get(kept..at)?);
                mended.extend_from_slice(br"\ufffd");
                at += 6;
                kept = at;
            }
            // Whatever is escaped is no escape of its own.
            _ => at = (at + 2).min(line.len()),
        }
    }
    if kept == 0 {
        return None;
    }
    mended.extend_from_slice(line.get(kept..)?);
    Some(mended)
}

/// The record at the end of a line that begins with a torn one.
fn glued<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    let mut effort = 0;
    for at in memchr::memmem::find_iter(line, b"{\"").skip(1) {
        match serde_json::from_slice(line.get(at..)?) {
            Ok(record) => return Some(record),
            // A line has one line: the column tells how far parsing came.
            Err(e) => effort += e.column(),
        }
        if effort > line.len().saturating_mul(GLUE_EFFORT) {
            return None;
        }
    }
    None
}

/// A file that is one JSON document; `None` when it can't be read as that.
pub(super) fn document<T: DeserializeOwned>(path: &Path) -> Option<T> {
    document_within(path, MAX_RECORD_BYTES as u64)
}

/// [`document`], if it has no more than `most` bytes.
pub(super) fn document_within<T: DeserializeOwned>(path: &Path, most: u64) -> Option<T> {
    let mut bytes = Vec::new();
    open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    serde_json::from_slice(trimmed(&bytes)).ok()
}

/// Whether a name from inside a file can be no more than a name in a folder.
pub(super) fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && !name.contains(|c: char| matches!(c, '/' | '\\' | ':') || c.is_control())
}

/// Whether a line begins or ends with NULs: a record was to be written there
/// when the machine stopped.
pub(super) fn has_nul_run(line: &[u8]) -> bool {
    line.first() == Some(&0) || line.iter().rev().take(3).any(|byte| *byte == 0)
}

/// A line without what is no part of a record: white space, NUL runs, a byte
/// order mark.
pub(super) fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let is_record = |b: &u8| !matches!(b, 0 | b' ' | b'\t' | b'\r' | b'\n');
    let start = line.iter().position(is_record).unwrap_or(line.len());
    let end = line.iter().rposition(is_record).map_or(start, |at| at + 1);
    line.get(start..end).unwrap_or_default()
}

enum Line<'a> {
    Whole(&'a [u8]),
    TooLong,
}

/// Lines in a buffer that is used again, and never grows past a record's bound.
struct Lines {
    from: Box<dyn BufRead>,
    line: Vec<u8>,
}

impl Lines {
    fn new(from: Box<dyn BufRead>) -> Self {
        Self {
            from,
            line: Vec::new(),
        }
    }

    fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let mut too_long = false;
        let mut any = false;
        loop {
            let available = match self.from.fill_buf() {
                Ok(available) => available,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            if available.is_empty() {
                break;
            }
            any = true;
            let end = memchr::memchr(b'\n', available);
            let used = end.map_or(available.len(), |at| at + 1);
            if self.line.len() + used > MAX_RECORD_BYTES {
                too_long = true;
                self.line = Vec::new();
            }
            if !too_long {
                self.line
                    .extend_from_slice(available.get(..used).unwrap_or_default());
            }
            self.from.consume(used);
            if end.is_some() {
                break;
            }
        }
        Ok(match (any, too_long) {
            (false, _) => None,
            (true, true) => Some(Line::TooLong),
            (true, false) => Some(Line::Whole(&self.line)),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn read(bytes: &[u8]) -> (Vec<Value>, usize) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f.jsonl");
        std::fs::write(&path, bytes).unwrap();
        let mut records = Vec::new();
        let skipped = each(&path, |_| true, |record| records.push(record)).unwrap();
        (records, skipped)
    }

    #[test]
    fn marks_and_nul_runs_are_no_part_of_a_record_and_lines_with_nuls_are_counted() {
        let (records, skipped) = read(b"\xef\xbb\xbf{\"a\":1}\r\n\0\0\0{\"b\":2}\0\0\n\n\0\0");
        assert_eq!((records.len(), skipped), (2, 2));
    }

    #[test]
    fn half_a_character_is_a_replacement_character_and_loses_nothing_else() {
        let text = |line: &[u8]| record::<serde_json::Value>(line).0.unwrap()["a"].clone();
        assert_eq!(text(br#"{"a":"x\ud83d y"}"#), "x\u{fffd} y");
        assert_eq!(
            text(br#"{"a":"\udc00\ud83d\ude00\ud83d"}"#),
            "\u{fffd}😀\u{fffd}"
        );
        assert_eq!(text(br#"{"a":"\\ud83d \ud83d"}"#), "\\ud83d \u{fffd}");
        let (torn, lost) = record::<serde_json::Value>(br#"{"a":"\ud83d"#);
        assert_eq!((torn, lost), (None, 1));
    }

    #[test]
    fn a_torn_line_is_counted_and_what_is_glued_to_it_is_read() {
        let (records, skipped) = read(b"{\"a\":\"x{\"b\":2}\n{\"c\":3}\n{\"d\":");
        assert_eq!(records.len(), 2);
        assert_eq!(skipped, 2);
    }

    #[test]
    fn a_record_glued_behind_many_objects_of_a_torn_one_is_read() {
        let objects = r#"{"k":"v"},"#.repeat(500);
        let line = format!(r#"{{"torn":[{objects}{{"b":2}}"#);
        let (records, skipped) = read(line.as_bytes());
        assert_eq!((records.len(), skipped), (1, 1));
    }

    #[test]
    fn names_that_lead_elsewhere_are_no_plain_names() {
        for name in ["", "..", "../x", "a/b", "a\\b", "C:x", ".hidden", "a\0b"] {
            assert!(!is_plain_name(name), "{name:?}");
        }
        assert!(is_plain_name("ses_1-a.b"));
    }

    #[test]
    fn only_so_many_bytes_are_read_when_asked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f.jsonl");
        std::fs::write(&path, "{\"a\":1}\n{\"b\":2}\n").unwrap();
        let mut records: Vec<Value> = Vec::new();
        let skipped = each_within(&path, 8, |_| true, |record| records.push(record)).unwrap();
        assert_eq!((records.len(), skipped), (1, 0));
    }

    #[test]
    fn what_changes_while_it_is_read_is_read_once_more() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f.jsonl");
        std::fs::write(&path, "1").unwrap();
        let mut reads = 0;
        let text = observed(&path, || {
            reads += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            if reads == 1 {
                std::fs::write(&path, "1 2").unwrap();
            }
            Ok(text)
        });
        assert_eq!((text.unwrap().as_str(), reads), ("1 2", 2));
        observed(&path, || {
            reads += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(reads, 3);
    }

    #[test]
    fn a_folder_is_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let error = each::<Value>(dir.path(), |_| true, |_| {}).unwrap_err();
        assert_eq!(error.code(), "SOURCE_UNREADABLE");
    }
}
