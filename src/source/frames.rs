//! Compressed files: zstd frames, one behind the other.

use std::io::{self, BufRead, Chain, Cursor, ErrorKind, Read};
use std::mem;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use zrip::{DecompressContext, DecompressError, FrameDecoder};

use crate::blocks::{self, BLOCK_BYTES};

/// The most that a compressed file may grow to, in bytes.
const MAX_DECODED_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// What a compressed file may always grow to, in bytes.
const SMALL_DECODED_BYTES: u64 = 64 * 1024 * 1024;
/// How many times its size a larger one may grow to. Records repeat
/// themselves, and still come nowhere near it.
const MAX_GROWTH: u64 = 256;

/// How a frame begins.
pub(super) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// How many bytes a compressed file of `size` bytes may grow to.
pub(super) fn most_decoded(size: u64) -> u64 {
    size.saturating_mul(MAX_GROWTH)
        .clamp(SMALL_DECODED_BYTES, MAX_DECODED_BYTES)
}

/// A compressed file grows out of all proportion.
#[derive(Debug, thiserror::Error)]
#[error("it grows to more than {most} bytes when decompressed")]
pub(super) struct Bomb {
    pub(super) most: u64,
}

/// The contents of zstd frames that follow each other. A torn last frame, or
/// anything else that can't be decoded, ends them.
pub(super) struct Frames<R: Read> {
    decoder: FrameDecoder<R>,
    torn: bool,
    most: u64,
    given: u64,
}

impl<R: Read> Frames<R> {
    /// Reads frames that give `most` bytes at the most.
    pub(super) fn new(file: R, most: u64) -> Self {
        Self {
            // The decoder's own limit goes by what a frame says of its size,
            // which may be damaged.
            decoder: FrameDecoder::with_limit(file, usize::MAX),
            torn: false,
            most,
            given: 0,
        }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.torn {
            return Ok(0);
        }
        let read = match self.decoder.read(out) {
            Ok(read) => read,
            Err(error) if is_damage(&error) => {
                self.torn = true;
                0
            }
            Err(error) => return Err(error),
        };
        self.given = self.given.saturating_add(read as u64);
        if self.given > self.most {
            return Err(io::Error::other(Bomb { most: self.most }));
        }
        Ok(read)
    }
}

/// Whether it is the frames that can't be decoded, and not the file that
/// can't be read.
fn is_damage(error: &io::Error) -> bool {
    let is_found = error
        .get_ref()
        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<DecompressError>);
    is_found || error.kind() == ErrorKind::UnexpectedEof
}

/// The most bytes that a block of a frame holds, decoded.
const MAX_BLOCK_BYTES: usize = 128 << 10;
/// How many blocks a part of several frames may have: what bounds its growth.
const MAX_BLOCKS: usize = 64;

/// Compressed frames in parts that can be decoded side by side.
///
/// From the first frame on that is big, torn or none at all, the rest is
/// decoded as it comes.
pub(super) struct Parts<R: Read> {
    /// Frames that are whole, one behind the other.
    frames: Vec<u8>,
    state: State<R>,
    most: u64,
}

/// What was read of a frame, and the file behind it.
type Rest<R> = io::BufReader<Chain<Cursor<Vec<u8>>, R>>;

enum State<R: Read> {
    Framed(R),
    Streamed(Box<Frames<Rest<R>>>),
    Over,
}

/// A part.
pub(super) enum Part {
    /// Whole frames.
    Frames(Vec<u8>),
    /// Bytes that are decoded already.
    Decoded(Vec<u8>),
}

impl<R: BufRead> Parts<R> {
    /// The parts of a file that may grow to `most` bytes.
    pub(super) fn new(file: R, most: u64) -> Self {
        Self {
            frames: Vec::new(),
            state: State::Framed(file),
            most,
        }
    }

    /// All that follows, decoded as it comes.
    pub(super) fn into_stream(self) -> Box<dyn Read + Send>
    where
        R: Send + 'static,
    {
        match self.state {
            State::Framed(file) => Box::new(Frames::new(file, self.most)),
            State::Streamed(rest) => rest,
            State::Over => Box::new(io::empty()),
        }
    }

    /// The next part; `None` at the end.
    ///
    /// # Errors
    /// When reading fails, or the file grows out of proportion.
    pub(super) fn next(&mut self) -> io::Result<Option<blocks::Part<Part>>> {
        let mut blocks = 0;
        let mut decoded = 0;
        while let State::Framed(file) = &mut self.state {
            let start = self.frames.len();
            let room = MAX_BLOCKS.saturating_sub(blocks);
            if let Some(frame) = frame(file, &mut self.frames, room)? {
                blocks += frame.blocks;
                decoded += frame.decoded;
            } else {
                let rest = Cursor::new(self.frames.split_off(start));
                if let State::Framed(file) = mem::replace(&mut self.state, State::Over) {
                    let rest = io::BufReader::with_capacity(1 << 18, rest.chain(file));
                    self.state = State::Streamed(Box::new(Frames::new(rest, self.most)));
                }
            }
            // The next frame must have room, or it would be taken for a big one.
            let is_full = blocks > MAX_BLOCKS / 2 || decoded as u64 >= BLOCK_BYTES;
            if is_full || !matches!(self.state, State::Framed(_)) && !self.frames.is_empty() {
                return Ok(Some((Part::Frames(mem::take(&mut self.frames)), false)));
            }
        }
        let State::Streamed(rest) = &mut self.state else {
            return Ok(None);
        };
        let mut part = Vec::new();
        rest.as_mut().take(BLOCK_BYTES).read_to_end(&mut part)?;
        if part.is_empty() {
            self.state = State::Over;
            return Ok(None);
        }
        Ok(Some((Part::Decoded(part), false)))
    }
}

/// A frame, told by its headers alone.
struct Frame {
    blocks: usize,
    /// How many bytes it holds, if it says so, or may hold.
    decoded: usize,
}

/// Adds a frame of at most `most` blocks to the bytes; `None` when it is none,
/// and what was added is its beginning.
fn frame(file: &mut impl Read, bytes: &mut Vec<u8>, most: usize) -> io::Result<Option<Frame>> {
    let mut add = |n: usize| -> io::Result<Option<u64>> {
        let start = bytes.len();
        file.take(n as u64).read_to_end(bytes)?;
        let added = bytes.get(start..).unwrap_or_default();
        let little = added.iter().rev().take(8);
        let value = little.fold(0, |value: u64, byte| value << 8 | u64::from(*byte));
        Ok((added.len() == n).then_some(value))
    };
    let magic = u64::from(u32::from_le_bytes(ZSTD_MAGIC));
    let (Some(found), Some(descriptor)) = (add(4)?, add(1)?) else {
        return Ok(None);
    };
    let (is_single, has_checksum) = (descriptor & 0x20 != 0, descriptor & 4 != 0);
    let size_len = match descriptor >> 6 {
        0 => usize::from(is_single),
        n => 1 << n,
    };
    // One that needs a dictionary is none of ours.
    if found != magic || descriptor & 3 != 0 || add(usize::from(!is_single))?.is_none() {
        return Ok(None);
    }
    let Some(size) = add(size_len)? else {
        return Ok(None);
    };
    // Two bytes count from 256.
    let size = if size_len == 2 { size + 256 } else { size };
    for blocks in 1..=most {
        let Some(header) = add(3)? else {
            return Ok(None);
        };
        let (is_last, kind, len) = (header & 1 != 0, header >> 1 & 3, header >> 3);
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let stored = if kind == 1 { 1 } else { len };
        if len > MAX_BLOCK_BYTES || add(stored)?.is_none() {
            return Ok(None);
        }
        if is_last {
            let bound = blocks.saturating_mul(MAX_BLOCK_BYTES);
            let told = usize::try_from(size).unwrap_or(usize::MAX);
            let whole = add(if has_checksum { 4 } else { 0 })?.is_some();
            return Ok(whole.then_some(Frame {
                blocks,
                decoded: if size_len == 0 {
                    bound
                } else {
                    told.min(bound)
                },
            }));
        }
    }
    Ok(None)
}

/// Decodes parts, on as many threads as there are.
pub(super) struct Decoders {
    /// Used again and again, as their tables are big.
    free: Mutex<Vec<DecompressContext>>,
    given: AtomicU64,
    most: u64,
}

impl Decoders {
    /// For parts that give `most` bytes at the most, all together.
    pub(super) fn new(most: u64) -> Self {
        Self {
            free: Mutex::default(),
            given: AtomicU64::new(0),
            most,
        }
    }

    /// Writes what a part holds to the buffer. A break says that a frame was
    /// torn.
    ///
    /// # Errors
    /// When the parts grow out of proportion.
    pub(super) fn decode(&self, part: &Part, buffer: &mut Vec<u8>) -> io::Result<ControlFlow<()>> {
        buffer.clear();
        let frames = match part {
            Part::Decoded(bytes) => {
                buffer.extend_from_slice(bytes);
                return Ok(ControlFlow::Continue(()));
            }
            Part::Frames(frames) => frames,
        };
        let free = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut decoder = free().pop().unwrap_or_default();
        let limit = MAX_BLOCKS * MAX_BLOCK_BYTES;
        let is_whole = decoder
            .decompress_into_with_limit(frames, buffer, limit)
            .is_ok();
        free().push(decoder);
        if !is_whole {
            // Of what is torn, all blocks that are whole.
            buffer.clear();
            Frames::new(&frames[..], self.most).read_to_end(buffer)?;
        }
        let given = self.given.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        if given + buffer.len() as u64 > self.most {
            return Err(io::Error::other(Bomb { most: self.most }));
        }
        Ok(if is_whole {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::records::failure;
    use super::*;

    /// What a reader gets of it, by one way and by the other.
    fn read(bytes: &[u8]) -> String {
        let streamed = streamed(bytes);
        assert_eq!(in_parts(bytes), streamed);
        String::from_utf8(streamed).unwrap()
    }

    fn streamed(bytes: &[u8]) -> Vec<u8> {
        let mut all = Vec::new();
        let mut frames = Frames::new(bytes, MAX_DECODED_BYTES);
        frames.read_to_end(&mut all).unwrap();
        all
    }

    fn in_parts(bytes: &[u8]) -> Vec<u8> {
        let mut parts = Parts::new(bytes, MAX_DECODED_BYTES);
        let decoders = Decoders::new(MAX_DECODED_BYTES);
        let (mut all, mut buffer) = (Vec::new(), Vec::new());
        while let Some((part, _)) = parts.next().unwrap() {
            let flow = decoders.decode(&part, &mut buffer).unwrap();
            all.extend_from_slice(&buffer);
            if flow.is_break() {
                break;
            }
        }
        all
    }

    fn compressed(text: &str) -> Vec<u8> {
        zrip::compress(text.as_bytes(), 1).unwrap()
    }

    #[test]
    fn compressed_frames_are_read_one_after_the_other() {
        let both = [compressed("{\"a\":1}\n"), compressed("{\"b\":2}\n")].concat();
        assert_eq!(read(&both), "{\"a\":1}\n{\"b\":2}\n");
        // More than one part holds.
        let many = compressed("{\"a\":1}\n").repeat(300);
        assert_eq!(read(&many).len(), 8 * 300);
    }

    #[test]
    fn a_torn_last_frame_leaves_those_before_it() {
        let mut bytes = compressed("{\"a\":1}\n");
        let last = compressed("{\"b\":2}\n");
        bytes.extend_from_slice(&last[..last.len() - 6]);
        assert_eq!(read(&bytes), "{\"a\":1}\n");
    }

    #[test]
    fn a_torn_frame_gives_the_blocks_that_are_whole() {
        let line = |n: usize| format!("{{\"n\":{n},\"noise\":\"{:x}\"}}\n", n * 0x9e37_79b9);
        let text: String = (0..20_000).map(line).collect();
        let whole = compressed(&text);
        let torn = &whole[..whole.len() / 2];
        let given = read(torn);
        assert!(given.len() >= 128 * 1024, "{} bytes", given.len());
        assert!(text.starts_with(&given));
        // Small frames before it and behind it are no matter.
        let small = compressed("{\"a\":1}\n");
        let first = [&small[..], torn].concat();
        assert_eq!(read(&first), format!("{{\"a\":1}}\n{given}"));
    }

    #[test]
    fn wherever_a_file_is_torn_or_damaged_both_ways_read_the_same() {
        let text = "{\"name\":1}\n{\"number\":2}\n".repeat(20);
        let first = compressed(&text);
        let frames = [&first[..], &compressed("{\"last\":1}\n")].concat();
        let whole = read(&frames);
        for at in 0..frames.len() {
            let given = read(&frames[..at]);
            assert!(whole.starts_with(&given), "torn at {at}");
            assert!(at < first.len() || given.starts_with(&text), "torn at {at}");
            let mut damaged = frames.clone();
            damaged[at] ^= 0x55;
            assert_eq!(in_parts(&damaged), streamed(&damaged), "damaged at {at}");
        }
    }

    #[test]
    fn a_frame_that_tells_a_wrong_size_is_torn_and_no_bomb() {
        // One block of three bytes, in a frame that says it has 2^40.
        let mut frame = [&ZSTD_MAGIC[..], &[0xe0]].concat();
        frame.extend((1u64 << 40).to_le_bytes());
        frame.extend([3 << 3 | 1, 0, 0, b'a', b'b', b'c']);
        let bytes = [compressed("{\"a\":1}\n"), frame].concat();
        assert_eq!(read(&bytes), "{\"a\":1}\n");
    }

    #[test]
    fn what_follows_the_frames_and_is_none_ends_them() {
        let bytes = [compressed("{\"a\":1}\n"), b"no frame".to_vec()].concat();
        assert_eq!(read(&bytes), "{\"a\":1}\n");
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

        let mut parts = Vec::new();
        for _ in 0..64 {
            parts.extend(bomb(1));
        }
        let most = 1024 * 1024;
        let decoders = Decoders::new(most);
        let mut parts = Parts::new(&parts[..], most);
        let mut grown = Ok(ControlFlow::Continue(()));
        while grown.is_ok()
            && let Some((part, _)) = parts.next().unwrap()
        {
            grown = decoders.decode(&part, &mut Vec::new());
        }
        assert!(grown.unwrap_err().get_ref().unwrap().is::<Bomb>());

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
}
