//! Files of JSON records, one a line, as other programs leave them: with torn
//! lines, NUL runs, byte order marks, lines of many megabytes, and records
//! glued to the end of torn ones.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::time::SystemTime;

use serde::de::DeserializeOwned;

use super::SourceError;

/// The longest record that is read, in bytes. A longer one is skipped.
pub(super) const MAX_RECORD_BYTES: usize = 256 * 1024 * 1024;
/// The most that a compressed file may grow to, in bytes.
pub(super) const MAX_DECODED_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// How much is parsed to find a record glued to a torn one, as a multiple of
/// the line.
const GLUE_EFFORT: usize = 16;
/// What a compressed file may always grow to, in bytes.
const SMALL_DECODED_BYTES: u64 = 64 * 1024 * 1024;
/// How many times its size a larger one may grow to. Records repeat
/// themselves, and still come nowhere near it.
const MAX_GROWTH: u64 = 256;

/// Opens a file as plain bytes: zstd frames, one behind the other, are
/// decoded, and a torn last one gives what it holds.
///
/// # Errors
/// When the file is no regular file or can't be opened.
pub(super) fn open(path: &Path) -> Result<Box<dyn BufRead>, SourceError> {
    let failed = |cause| SourceError::Unreadable {
        path: path.to_owned(),
        cause,
    };
    // Opening a pipe would wait for its other end, so look before.
    let kind = std::fs::metadata(path).map_err(failed)?;
    if !kind.is_file() {
        return Err(failed(io::Error::other("it is no regular file")));
    }
    let mut file = BufReader::with_capacity(1 << 18, File::open(path).map_err(failed)?);
    if is_compressed(file.fill_buf().map_err(failed)?) {
        let frames = Frames::new(file, most_decoded(kind.len()));
        return Ok(Box::new(BufReader::with_capacity(1 << 18, frames)));
    }
    Ok(Box::new(file))
}

/// Whether a file that begins like this is of zstd frames.
pub(super) fn is_compressed(head: &[u8]) -> bool {
    head.starts_with(&ZSTD_MAGIC)
}

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// A last block that holds nothing, with room for a checksum: it ends a torn
/// frame, so that the decoder gives out what it kept to look back at.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// How many bytes a compressed file of `size` bytes may grow to.
fn most_decoded(size: u64) -> u64 {
    size.saturating_mul(MAX_GROWTH)
        .clamp(SMALL_DECODED_BYTES, MAX_DECODED_BYTES)
}

/// A compressed file grows out of all proportion.
#[derive(Debug, thiserror::Error)]
#[error("it grows to more than {most} bytes when decompressed")]
struct Bomb {
    most: u64,
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

/// The contents of zstd frames that follow each other. A torn last frame, or
/// anything else that can't be decoded, ends them.
struct Frames<R> {
    file: R,
    frame: Option<Box<ruzstd::decoding::FrameDecoder>>,
    torn: bool,
    most: u64,
    given: u64,
}

impl<R: BufRead> Frames<R> {
    fn new(file: R, most: u64) -> Self {
        Self {
            file,
            frame: None,
            torn: false,
            most,
            given: 0,
        }
    }

    fn decode(&mut self, out: &mut [u8]) -> io::Result<usize> {
        use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
        loop {
            if self.frame.is_none() {
                if self.torn || self.file.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                let mut decoder = FrameDecoder::new();
                if decoder.reset(&mut self.file).is_err() {
                    return Ok(0);
                }
                self.frame = Some(Box::new(decoder));
            }
            let Some(frame) = &mut self.frame else {
                return Ok(0);
            };
            while frame.can_collect() < out.len() && !frame.is_finished() && !self.torn {
                let strategy = BlockDecodingStrategy::UptoBytes(out.len());
                self.torn = frame.decode_blocks(&mut self.file, strategy).is_err();
                if self.torn {
                    let end = frame.decode_blocks(&LAST_BLOCK[..], BlockDecodingStrategy::All);
                    end.map_err(io::Error::other)?;
                }
            }
            let read = frame.read(out)?;
            if read > 0 {
                return Ok(read);
            }
            self.frame = None;
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.decode(out)?;
        self.given = self.given.saturating_add(read as u64);
        if self.given > self.most {
            return Err(io::Error::other(Bomb { most: self.most }));
        }
        Ok(read)
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
    mut wanted: impl FnMut(&[u8]) -> bool,
    mut take: impl FnMut(T),
) -> Result<usize, SourceError> {
    let mut lines = Lines::new(Box::new(open(path)?.take(bytes)));
    let mut skipped = 0;
    loop {
        let line = lines.next().map_err(|cause| failure(path, cause))?;
        let Some(line) = line else {
            return Ok(skipped);
        };
        match line {
            Line::TooLong => skipped += 1,
            Line::Whole(bytes) => {
                let bytes = trimmed(bytes);
                if bytes.is_empty() || !wanted(bytes) {
                    continue;
                }
                let (read, lost) = record(bytes);
                skipped += lost;
                if let Some(read) = read {
                    take(read);
                }
            }
        }
    }
}

/// The record that a line is, or that is glued to a torn one in it, and how
/// many could not be read.
pub(super) fn record<T: DeserializeOwned>(line: &[u8]) -> (Option<T>, usize) {
    match serde_json::from_slice(line) {
        Ok(record) => (Some(record), 0),
        Err(_) => (glued(line), 1),
    }
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
    fn marks_and_nul_runs_are_no_part_of_a_record() {
        let (records, skipped) = read(b"\xef\xbb\xbf{\"a\":1}\r\n\0\0\0{\"b\":2}\0\0\n\n");
        assert_eq!((records.len(), skipped), (2, 0));
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

    fn frame(text: &str) -> Vec<u8> {
        use ruzstd::encoding::{CompressionLevel, compress_to_vec};
        compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
    }

    #[test]
    fn compressed_frames_are_read_one_after_the_other() {
        let both = [frame("{\"a\":1}\n"), frame("{\"b\":2}\n")].concat();
        assert_eq!(read(&both).0.len(), 2);
    }

    #[test]
    fn a_torn_last_frame_leaves_those_before_it() {
        let mut bytes = frame("{\"a\":1}\n");
        let last = frame("{\"b\":2}\n");
        bytes.extend_from_slice(&last[..last.len() - 6]);
        assert_eq!(read(&bytes).0.len(), 1);
    }

    #[test]
    fn a_torn_frame_gives_the_blocks_that_are_whole() {
        let line = |n: usize| format!("{{\"n\":{n},\"noise\":\"{:x}\"}}\n", n * 0x9e37_79b9);
        let text: String = (0..20_000).map(line).collect();
        let whole = frame(&text);
        let torn = &whole[..whole.len() / 2];
        let (records, skipped) = read(torn);
        assert!(records.len() > 4_000, "{} records", records.len());
        assert_eq!(records[3]["n"], 3);
        assert_eq!(skipped, 1);
    }

    #[test]
    fn what_follows_the_frames_and_is_none_ends_them() {
        let bytes = [frame("{\"a\":1}\n"), b"no frame".to_vec()].concat();
        assert_eq!(read(&bytes).0.len(), 1);
    }

    /// A frame of blocks that are one byte repeated 128 KiB times, four bytes
    /// each.
    fn bomb(blocks: usize) -> Vec<u8> {
        // No checksum, no content size, a window of 128 KiB.
        let mut bytes = [&ZSTD_MAGIC[..], &[0x00, 0x38]].concat();
        for block in 0..blocks {
            let last = u32::from(block + 1 == blocks);
            let header = last | (1 << 1) | ((128 * 1024) << 3);
            bytes.extend_from_slice(&header.to_le_bytes()[..3]);
            bytes.push(b' ');
        }
        bytes
    }

    #[test]
    fn a_compressed_file_that_grows_out_of_proportion_is_not_read_on() {
        let mut out = Vec::new();
        let grown = Frames::new(&bomb(64)[..], 1024 * 1024).read_to_end(&mut out);
        assert!(grown.unwrap_err().get_ref().unwrap().is::<Bomb>());
        assert!(out.len() <= 1024 * 1024, "{} bytes", out.len());

        let mut out = Vec::new();
        let fits = Frames::new(&bomb(8)[..], 1024 * 1024).read_to_end(&mut out);
        assert_eq!(fits.unwrap(), 1024 * 1024);
    }

    #[test]
    fn a_bomb_is_told_apart_from_what_can_not_be_read() {
        let path = Path::new("f.jsonl.zst");
        let bomb = failure(path, io::Error::other(Bomb { most: 1 }));
        assert_eq!(bomb.code(), "SOURCE_TOO_LARGE");
        let other = failure(path, io::Error::other("gone"));
        assert_eq!(other.code(), "SOURCE_UNREADABLE");
        assert_eq!(most_decoded(10), SMALL_DECODED_BYTES);
        assert_eq!(most_decoded(u64::MAX), MAX_DECODED_BYTES);
    }

    #[test]
    fn a_folder_is_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let error = each::<Value>(dir.path(), |_| true, |_| {}).unwrap_err();
        assert_eq!(error.code(), "SOURCE_UNREADABLE");
    }
}
