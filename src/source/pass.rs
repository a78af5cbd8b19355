//! One pass over a file of records, on several threads.
//!
//! A form looks at each line by itself and says what of it is wanted; what it
//! says is taken in the order of the file. Most lines are noise, and told so by
//! a few of their bytes.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::ops::{ControlFlow, Range};
use std::path::Path;

use serde::de::DeserializeOwned;

use super::SourceError;
use super::frames::{Decoders, Part, Parts, most_decoded};
use super::records::{self, MAX_RECORD_BYTES};
use crate::blocks::{self, BLOCK_BYTES, Lines, Reader};
use crate::json::WORD;
use crate::text::TextBlock;

/// The form of a tool's records.
pub(super) trait Form: Sync {
    /// What a look at a line gives, the texts in which can't be read yet.
    type Seen;

    /// What a line says, as far as it is wanted.
    type Said: Send;

    /// A record, parsed whole.
    type Record: DeserializeOwned;

    /// Looks at a line. Texts may go to the end of `texts`, which has room for
    /// the line; without it, no text may be told.
    ///
    /// What is seen must be the same as that of the whole record.
    fn skim(&self, line: &[u8], texts: Option<&mut TextBlock>) -> Skim<Self::Seen>;

    /// What is seen in a whole record of this line.
    fn whole(&self, line: &[u8], record: Self::Record) -> Self::Seen;

    /// What a line says by what was seen in it, once its texts can be read.
    fn said(&self, seen: Self::Seen) -> Self::Said;
}

/// What a look at a line finds.
#[derive(Debug)]
pub(super) enum Skim<T> {
    /// It says this.
    Said(T),
    /// Nothing that is wanted.
    Nothing,
    /// The line must be parsed to know.
    Unclear,
}

/// Calls `take` with what each line says and its number among those that are
/// not blank, from 0. Gives how many could not be read. No more than the first
/// `bytes` bytes of the file, decompressed, are read, and no more than it had
/// when it was opened: what is added meanwhile is no part of the observation.
///
/// # Errors
/// When reading fails.
pub(super) fn pass<F: Form>(
    path: &Path,
    bytes: u64,
    form: &F,
    mut take: impl FnMut(u64, F::Said) + Send,
) -> Result<usize, SourceError> {
    let opened = Opened::new(path, bytes)?;
    let mut skipped = 0;
    let mut line = 0;
    let read = opened.read(
        |lines, _| parse(form, lines),
        |lines| {
            let Lines::Parsed(batch) = lines else {
                skipped += 1;
                return;
            };
            for (at, told) in batch.told {
                match told {
                    Told::Said(said) => take(line + at, said),
                    Told::Torn(glued) => {
                        skipped += 1;
                        if let Some(said) = glued {
                            take(line + at, said);
                        }
                    }
                }
            }
            line += batch.lines;
        },
    );
    read.map_err(|cause| records::failure(path, cause))?;
    Ok(skipped)
}

/// A file and how much of it is read.
struct Opened {
    file: File,
    len: u64,
    bytes: u64,
    is_zstd: bool,
}

impl Opened {
    fn new(path: &Path, bytes: u64) -> Result<Self, SourceError> {
        let failed = |cause| records::failure(path, cause);
        let file = records::open_regular(path)?;
        let len = file.metadata().map_err(failed)?.len();
        let mut magic = Vec::new();
        blocks::read_at(&file, &(0..len.min(4)), &mut magic).map_err(failed)?;
        Ok(Self {
            is_zstd: records::is_compressed(&magic),
            file,
            len,
            bytes,
        })
    }

    fn read<T: Send>(
        self,
        parse: impl Fn(&[u8], bool) -> T + Sync,
        fold: impl FnMut(Lines<T>) + Send,
    ) -> io::Result<()> {
        let most = MAX_RECORD_BYTES;
        if !self.is_zstd {
            let file = &self.file;
            let load = |part: &Range<u64>, buffer: &mut Vec<u8>| {
                blocks::read_at(file, part, buffer)?;
                Ok(ControlFlow::Continue(()))
            };
            let end = self.len.min(self.bytes);
            return Reader { load, parse, most }.read(blocks::ranges(0, end), fold);
        }
        let grown = most_decoded(self.len);
        let decoders = Decoders::new(grown);
        let load = |part: &Part, buffer: &mut Vec<u8>| decoders.decode(part, buffer);
        let reader = Reader { load, parse, most };
        let file = BufReader::with_capacity(1 << 18, self.file.take(self.len));
        let mut parts = Parts::new(file, grown);
        if self.bytes == u64::MAX {
            return reader.read(|| parts.next(), fold);
        }
        let mut rest = parts.into_stream().take(self.bytes);
        let next = || {
            let mut part = Vec::new();
            rest.by_ref().take(BLOCK_BYTES).read_to_end(&mut part)?;
            Ok((!part.is_empty()).then_some((Part::Decoded(part), false)))
        };
        reader.read(next, fold)
    }
}

/// What lines that stand together say.
struct Batch<T> {
    /// How many of them are not blank.
    lines: u64,
    /// Those that say something, with their places among these.
    told: Vec<(u64, Told<T>)>,
}

enum Told<T> {
    Said(T),
    /// It can't be read; and what the record says that is glued to it.
    Torn(Option<T>),
}

fn parse<F: Form>(form: &F, lines: &[u8]) -> Batch<F::Said> {
    let mut texts = TextBlock::new(lines.len() + WORD);
    let mut seen = parse_each(form, lines, Some(&mut texts));
    if !texts.seal() {
        seen = parse_each(form, lines, None);
    }
    let said = |seen| match seen {
        Told::Said(seen) => Told::Said(form.said(seen)),
        Told::Torn(glued) => Told::Torn(glued.map(|seen| form.said(seen))),
    };
    let told = seen.told.into_iter();
    Batch {
        lines: seen.lines,
        told: told.map(|(at, seen)| (at, said(seen))).collect(),
    }
}

fn parse_each<F: Form>(
    form: &F,
    lines: &[u8],
    mut texts: Option<&mut TextBlock>,
) -> Batch<F::Seen> {
    let mut batch = Batch {
        lines: 0,
        told: Vec::new(),
    };
    let mut rest = lines;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        rest = after;
        if records::has_nul_run(line) {
            batch.told.push((batch.lines, Told::Torn(None)));
        }
        let line = records::trimmed(line);
        if line.is_empty() {
            continue;
        }
        let at = batch.lines;
        batch.lines += 1;
        let start = texts.as_ref().map_or(0, |texts| texts.len());
        let told = match form.skim(line, texts.as_deref_mut()) {
            Skim::Nothing => continue,
            Skim::Said(said) => Told::Said(said),
            Skim::Unclear => {
                if let Some(texts) = &mut texts {
                    texts.truncate(start);
                }
                let (record, lost) = records::record(line);
                match record.map(|record| form.whole(line, record)) {
                    Some(said) if lost == 0 => Told::Said(said),
                    glued => Told::Torn(glued),
                }
            }
        };
        batch.told.push((at, told));
    }
    batch
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use serde_json::Value;

    use super::*;

    /// Skims numbers, passes over `-`, and has objects parsed.
    struct Numbers;

    impl Form for Numbers {
        type Seen = String;
        type Said = String;
        type Record = Value;

        fn skim(&self, line: &[u8], texts: Option<&mut TextBlock>) -> Skim<String> {
            match line {
                b"-" => Skim::Nothing,
                [b'0'..=b'9', ..] if texts.is_some() => {
                    Skim::Said(String::from_utf8_lossy(line).into_owned())
                }
                _ => Skim::Unclear,
            }
        }

        fn whole(&self, _line: &[u8], record: Value) -> String {
            record.to_string()
        }

        fn said(&self, seen: String) -> String {
            seen
        }
    }

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    /// What is told of a file, with the line's number, and what was skipped.
    fn told(bytes: &[u8], most: u64) -> (Vec<(u64, String)>, usize) {
        let file = file(bytes);
        let mut told = Vec::new();
        let skipped = pass(file.path(), most, &Numbers, |line, said| {
            told.push((line, said));
        });
        (told, skipped.unwrap())
    }

    #[test]
    fn lines_are_told_with_their_numbers_and_blank_ones_are_none_but_nuls_are_counted() {
        let (told, skipped) = told(b"1\n\n-\r\n\0\0{\"a\":2}\0\n  \n3", u64::MAX);
        let expected = [(0, "1"), (2, "{\"a\":2}"), (3, "3")];
        assert_eq!(told, expected.map(|(line, said)| (line, said.to_owned())));
        assert_eq!(skipped, 1);
    }

    #[test]
    fn a_torn_line_is_counted_and_what_is_glued_to_it_is_told() {
        let (told, skipped) = told(b"{\"a\":\"x{\"b\":2}\n-\n{\"d\":", u64::MAX);
        assert_eq!((told, skipped), (vec![(0, "{\"b\":2}".to_owned())], 2));
    }

    #[test]
    fn only_so_many_bytes_are_read_when_asked() {
        let rows = b"1\n2\n3\n";
        assert_eq!(told(rows, 4).0.len(), 2);
        let packed = zrip::compress(rows, 1).unwrap();
        assert_eq!(told(&packed, 4).0.len(), 2);
        assert_eq!(told(&packed, u64::MAX).0.len(), 3);
    }

    #[test]
    fn what_is_added_while_a_file_is_read_is_no_part_of_the_observation() {
        // More than is read before the first line is told.
        let file = file("1\n".repeat(3 << 20).as_bytes());
        let mut added = Some(file.reopen().unwrap());
        let mut lines = 0;
        pass(file.path(), u64::MAX, &Numbers, |_, said| {
            assert_eq!(said, "1");
            lines += 1;
            if let Some(mut end) = added.take() {
                std::io::Seek::seek(&mut end, std::io::SeekFrom::End(0)).unwrap();
                end.write_all(b"2\n2\n").unwrap();
            }
        })
        .unwrap();
        assert_eq!(lines, 3 << 20);
    }
}
