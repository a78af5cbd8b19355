//! A bounded look into a file: its beginning, read on in steps as long as
//! something is missing, and its end. Never all of a big one.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::{SourceError, records};

/// How far the beginning is read, step by step, in bytes.
const HEAD_STEPS: [usize; 4] = [16 * 1024, 64 * 1024, 256 * 1024, 1024 * 1024];
/// How much of the end is read, in bytes.
const TAIL_BYTES: usize = 64 * 1024;

/// How far the beginning is read when nothing but a prompt is missing, in
/// bytes: some sessions have none.
pub(super) const PROMPT_BYTES: usize = 256 * 1024;
/// What a list says of a file whose first records are too long to be read.
pub(super) const CUT: &str = "its first records are too long for a list to read them whole";

/// What has been read of a file. A compressed one is seen decompressed, and
/// has no end but the one that its beginning reaches.
pub(super) struct Glance {
    path: PathBuf,
    from: From,
    head: Buffer,
    tail: Buffer,
    /// Where the first line begins that the tail has all of.
    first_line: usize,
    /// Whether the head reaches the end of the file.
    is_whole: bool,
}

enum From {
    Plain { file: File, size: u64 },
    Frames(Box<dyn BufRead>),
}

impl Glance {
    /// Opens a file and reads the first step of its beginning.
    ///
    /// # Errors
    /// When it is no regular file or can't be read.
    pub(super) fn of(path: &Path) -> Result<Self, SourceError> {
        let failed = |cause| SourceError::Unreadable {
            path: path.to_owned(),
            cause,
        };
        // Opening a pipe would wait for its other end, so look before.
        let metadata = std::fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            return Err(failed(io::Error::other("it is no regular file")));
        }
        let mut glance = Self {
            path: path.to_owned(),
            from: From::Plain {
                file: File::open(path).map_err(failed)?,
                size: metadata.len(),
            },
            head: Buffer::default(),
            tail: Buffer::default(),
            first_line: 0,
            is_whole: false,
        };
        glance.grow()?;
        if records::is_compressed(glance.head()) {
            glance.from = From::Frames(records::open(path)?);
            glance.head = Buffer::default();
            glance.is_whole = false;
            glance.grow()?;
        }
        Ok(glance)
    }

    /// Reads the next step of the beginning. `false` when there is none: the
    /// file has no more, or no more of it is looked at.
    ///
    /// # Errors
    /// When reading fails.
    pub(super) fn grow(&mut self) -> Result<bool, SourceError> {
        let next = HEAD_STEPS.iter().find(|step| **step > self.head().len());
        match next {
            Some(step) if !self.is_whole => self.read_to(*step).map(|()| true),
            _ => Ok(false),
        }
    }

    /// Reads the end: on from the beginning where that is near enough, else
    /// the last lines apart from it. The beginning can't grow any more then.
    ///
    /// # Errors
    /// When reading fails.
    pub(super) fn end(&mut self) -> Result<(), SourceError> {
        let From::Plain { file, size } = &mut self.from else {
            return Ok(());
        };
        if self.is_whole {
            return Ok(());
        }
        let to = self.head.bytes().len() + TAIL_BYTES;
        if *size <= to as u64 {
            return self.read_to(to);
        }
        // One byte more tells whether the first line is a whole one.
        let start = *size - TAIL_BYTES as u64 - 1;
        let read = file
            .seek(SeekFrom::Start(start))
            .and_then(|_| self.tail.fill(file, TAIL_BYTES + 1));
        read.map_err(|cause| records::failure(&self.path, cause))?;
        let first = memchr::memchr(b'\n', self.tail());
        self.first_line = first.map_or(self.tail().len(), |at| at + 1);
        Ok(())
    }

    /// Whether all of the file has been read.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The beginning, as far as it has been read.
    pub(super) fn head(&self) -> &[u8] {
        self.head.bytes()
    }

    /// The last bytes; none where the beginning reaches the end.
    pub(super) fn tail(&self) -> &[u8] {
        self.tail.bytes()
    }

    /// The next line of the beginning from byte `at` on, without its line
    /// feed, and where the one after it begins; `None` when there is none that
    /// has been read to its end.
    pub(super) fn line(&self, at: usize) -> Option<(&[u8], usize)> {
        let rest = self.head().get(at..).filter(|rest| !rest.is_empty())?;
        match memchr::memchr(b'\n', rest) {
            Some(end) => Some((rest.get(..end)?, at + end + 1)),
            None if self.is_whole => Some((rest, self.head().len())),
            None => None,
        }
    }

    /// The lines of the beginning from byte `at` on that have been read to
    /// their end, as records.
    pub(super) fn lines(&self, at: usize) -> impl Iterator<Item = &[u8]> {
        let rest = self.head().get(at..).unwrap_or_default();
        let end = match memchr::memrchr(b'\n', rest) {
            _ if self.is_whole => rest.len(),
            Some(last) => last,
            None => 0,
        };
        split(rest.get(..end).unwrap_or_default())
    }

    /// The last lines, as records.
    pub(super) fn tail_lines(&self) -> impl Iterator<Item = &[u8]> {
        split(self.tail().get(self.first_line..).unwrap_or_default())
    }

    fn read_to(&mut self, length: usize) -> Result<(), SourceError> {
        let known = self.head().len();
        let missing = length.saturating_sub(known);
        let (read, size) = match &mut self.from {
            From::Plain { file, size } => {
                let left = usize::try_from(size.saturating_sub(known as u64));
                let most = missing.min(left.unwrap_or(usize::MAX));
                (self.head.fill(file, most), *size)
            }
            From::Frames(frames) => (self.head.fill(frames, missing), u64::MAX),
        };
        let read = read.map_err(|cause| records::failure(&self.path, cause))?;
        self.is_whole = read < missing || self.head().len() as u64 >= size;
        Ok(())
    }
}

/// The longest buffer that is kept for the next file, in bytes.
const KEPT_BYTES: usize = 256 * 1024;
/// How many a thread keeps.
const KEPT: usize = 4;

thread_local! {
    /// Buffers of files that were looked at, for the next ones: memory that
    /// was just used costs less than new one.
    static SPARE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Bytes that were read.
struct Buffer {
    /// Those, and behind them what is left of an earlier use.
    memory: Vec<u8>,
    len: usize,
}

impl Default for Buffer {
    fn default() -> Self {
        Self {
            memory: SPARE.with_borrow_mut(Vec::pop).unwrap_or_default(),
            len: 0,
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        // At the end of a thread there is nobody to keep it for.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if memory.len() <= KEPT_BYTES && spare.len() < KEPT {
                spare.push(memory);
            }
        });
    }
}

impl Buffer {
    fn bytes(&self) -> &[u8] {
        self.memory.get(..self.len).unwrap_or_default()
    }

    /// Appends the next bytes, so many if there are, in as few reads as can
    /// be. Gives how many there were.
    fn fill(&mut self, from: &mut impl Read, most: usize) -> io::Result<usize> {
        let start = self.len;
        let end = start + most;
        if self.memory.len() < end {
            self.memory.reserve_exact(end - self.memory.len());
            self.memory.resize(end, 0);
        }
        while let Some(rest) = self.memory.get_mut(self.len..end)
            && !rest.is_empty()
        {
            match from.read(rest) {
                Ok(0) => break,
                Ok(read) => self.len += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(self.len - start)
    }
}

/// Lines without what is no part of a record.
fn split(mut lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', lines).unwrap_or(lines.len());
        let line = lines.get(..end).filter(|_| !lines.is_empty())?;
        lines = lines.get(end + 1..).unwrap_or_default();
        Some(records::trimmed(line))
    });
    lines.filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glance(bytes: &[u8]) -> Glance {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, bytes).unwrap();
        Glance::of(&path).unwrap()
    }

    /// Lines of 32 bytes that tell their number.
    fn numbered(lines: usize) -> Vec<u8> {
        (0..lines)
            .flat_map(|n| format!("{n:031}\n").into_bytes())
            .collect()
    }

    #[test]
    fn a_small_file_is_read_whole_at_once() {
        let mut glance = glance(b"a\nb");
        assert!(glance.is_whole());
        assert_eq!(glance.line(0), Some((&b"a"[..], 2)));
        assert_eq!(glance.line(2), Some((&b"b"[..], 3)));
        assert_eq!(glance.line(3), None);
        assert!(!glance.grow().unwrap());
        glance.end().unwrap();
        assert_eq!((glance.head(), glance.tail()), (&b"a\nb"[..], &b""[..]));
    }

    #[test]
    fn the_beginning_grows_in_steps_to_a_bound() {
        let mut glance = glance(&numbered(100_000));
        let mut steps = vec![glance.head().len()];
        while glance.grow().unwrap() {
            steps.push(glance.head().len());
        }
        assert_eq!(steps, HEAD_STEPS);
        assert!(!glance.is_whole());
    }

    #[test]
    fn the_end_of_a_big_file_is_its_last_whole_lines() {
        let mut whole = glance(&numbered(10_000));
        whole.end().unwrap();
        assert_eq!(whole.tail_lines().count(), TAIL_BYTES / 32);
        assert!(whole.tail().ends_with(b"0009999\n") && !whole.is_whole());
        let mut cut = glance(&[&numbered(10_000)[..], b"torn"].concat());
        cut.end().unwrap();
        assert_eq!(cut.tail().len(), TAIL_BYTES + 1);
        let last: Vec<&[u8]> = cut.tail_lines().skip(2046).collect();
        assert_eq!(last, [&b"0000000000000000000000000009999"[..], b"torn"]);
        assert_eq!(cut.lines(0).count(), HEAD_STEPS[0] / 32);
    }

    #[test]
    fn an_end_that_is_near_is_read_on_to() {
        let bytes = numbered(2000);
        let mut glance = glance(&bytes);
        assert!(!glance.is_whole());
        glance.end().unwrap();
        assert!(glance.is_whole() && glance.tail().is_empty());
        assert_eq!(glance.head(), bytes);
    }

    #[test]
    fn a_line_that_is_not_read_to_its_end_is_none() {
        let mut glance = glance(&vec![b'x'; 3_000_000]);
        while glance.grow().unwrap() {}
        glance.end().unwrap();
        assert_eq!(glance.line(0), None);
        assert_eq!(glance.tail_lines().count(), 0);
    }

    #[test]
    fn a_compressed_file_is_seen_decompressed() {
        let bytes = numbered(1000);
        let mut glance = glance(&zrip::compress(&bytes, 1).unwrap());
        assert_eq!(glance.head(), &bytes[..HEAD_STEPS[0]]);
        glance.end().unwrap();
        assert!(glance.grow().unwrap() && glance.is_whole());
        assert_eq!(glance.head(), bytes);
    }

    #[test]
    fn what_is_no_file_is_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let error = Glance::of(dir.path()).err().unwrap();
        assert_eq!(error.code(), "SOURCE_UNREADABLE");
    }
}
