//! Files as the tools write them, in the proportions of real ones.
//!
//! Of a real file most bytes are what tools printed, what the model thought,
//! what was sent to it, and the pieces of its answers as they came; a
//! twentieth or so is what persons and the model said to each other.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::Result;
use super::lines::Writer;

/// A kind of file and how long reading it may take.
pub struct Case {
    pub name: &'static str,
    pub format: Format,
    shape: Shape,
    /// The most that reading may take, as a share of the plain pass.
    pub bar: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Claude,
    /// Since 0.171: an ordinal in each line, and metadata beside the payload.
    CodexNew,
    /// Up to 0.120.
    CodexOld,
    /// Version 0, plain: rows of packed chunks, without seqs.
    Dsh0,
    /// Version 4, plain.
    Dsh4,
    /// Version 4, in frames of a few rows.
    Dsh4Frames,
}

impl Format {
    pub fn is_compressed(self) -> bool {
        self == Self::Dsh4Frames
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// About a twentieth of the bytes is dialogue.
    Work,
    /// Nearly all of it is what tools printed.
    Results,
    /// Nothing but dialogue.
    Dialogue,
}

const NOISE_BAR: f64 = 1.0 / 3.0;

const fn case(name: &'static str, format: Format, shape: Shape) -> Case {
    let bar = match shape {
        Shape::Dialogue => 1.0,
        Shape::Work | Shape::Results => NOISE_BAR,
    };
    Case {
        name,
        format,
        shape,
        bar,
    }
}

pub const CASES: &[Case] = &[
    case("claude, work", Format::Claude, Shape::Work),
    case("claude, tool results", Format::Claude, Shape::Results),
    case("claude, dialogue", Format::Claude, Shape::Dialogue),
    case("codex 0.171, work", Format::CodexNew, Shape::Work),
    case("codex 0.171, dialogue", Format::CodexNew, Shape::Dialogue),
    case("codex 0.120, work", Format::CodexOld, Shape::Work),
    case("codex 0.120, dialogue", Format::CodexOld, Shape::Dialogue),
    case("dsh v0, work", Format::Dsh0, Shape::Work),
    case("dsh v0, dialogue", Format::Dsh0, Shape::Dialogue),
    case("dsh v4, work", Format::Dsh4, Shape::Work),
    case("dsh v4, dialogue", Format::Dsh4, Shape::Dialogue),
    case("dsh v4 zstd, work", Format::Dsh4Frames, Shape::Work),
    case("dsh v4 zstd, dialogue", Format::Dsh4Frames, Shape::Dialogue),
];

/// How many bytes of rows a frame holds before it ends.
const FRAME_BYTES: usize = 4_000;

impl Case {
    /// Writes a file of `bytes` bytes, uncompressed, into a folder.
    pub fn write(&self, folder: &Path, bytes: u64) -> Result<PathBuf> {
        let path = folder.join(match self.format {
            Format::Claude => "5b0f4c9e-8a55-4c37-b1a5-0d4f7c1d2e3f.jsonl",
            Format::CodexNew | Format::CodexOld => {
                "rollout-2026-12-01T20-34-12-01a23350-a48b-72e2-8611-b88f257eb84a.jsonl"
            }
            Format::Dsh0 => "session.jsonl",
            Format::Dsh4 => "session.v4.jsonl",
            Format::Dsh4Frames => "session.v4.jsonl.zstd",
        });
        let mut out = BufWriter::new(File::create(&path)?);
        let mut writer = Writer::new();
        self.begin(&mut writer);
        let mut written = 0;
        while written + (writer.lines.len() as u64) < bytes {
            self.turn(&mut writer);
            let is_due = !self.format.is_compressed() || writer.lines.len() >= FRAME_BYTES;
            if is_due {
                written += writer.lines.len() as u64;
                self.put(&mut writer, &mut out)?;
            }
        }
        self.put(&mut writer, &mut out)?;
        out.flush()?;
        Ok(path)
    }

    fn put(&self, writer: &mut Writer, out: &mut impl Write) -> Result<()> {
        if self.format.is_compressed() {
            let lines = writer.lines.as_bytes();
            // A frame ends behind a row, some thousand bytes on.
            let mut rest = lines;
            while !rest.is_empty() {
                let end = rest.get(FRAME_BYTES..).unwrap_or_default();
                let end = memchr::memchr(b'\n', end).map_or(rest.len(), |at| FRAME_BYTES + at + 1);
                let (frame, after) = rest.split_at(end);
                out.write_all(&zrip::compress(frame, 1)?)?;
                rest = after;
            }
        } else {
            out.write_all(writer.lines.as_bytes())?;
        }
        writer.lines.clear();
        Ok(())
    }

    fn begin(&self, w: &mut Writer) {
        let instructions = w.prose(8_000);
        match self.format {
            Format::Claude => {
                w.line(r#"{"type":"mode","mode":"normal","sessionId":"5b0f4c9e-8a55-4c37-b1a5-0d4f7c1d2e3f"}"#);
            }
            Format::CodexNew | Format::CodexOld => w.codex(
                self.format,
                "session_meta",
                &format!(
                    r#""id":"01a23350-a48b-72e2-8611-b88f257eb84a","timestamp":"2026-12-01T20:34:12.768Z","cwd":"/home/u/project","originator":"codex_exec","cli_version":"0.171.0","source":"exec","model_provider":"mock","base_instructions":{{"text":{instructions}}}"#
                ),
            ),
            Format::Dsh0 => w.line(r#"{"type":"session","version":0,"id":"s-1","createdAt":1786073817152,"cwd":"/home/u/project"}"#),
            Format::Dsh4 | Format::Dsh4Frames => w.line(r#"{"type":"session","version":4,"id":"s-1","createdAt":1786073817152,"cwd":"/home/u/project","isSeeded":false,"delegationDepth":0}"#),
        }
    }

    /// A question, what the model did about it, and an answer.
    fn turn(&self, w: &mut Writer) {
        match self.format {
            Format::Claude => w.claude_turn(self.shape),
            Format::CodexNew | Format::CodexOld => w.codex_turn(self.format, self.shape),
            Format::Dsh0 => w.dsh0_turn(self.shape),
            Format::Dsh4 | Format::Dsh4Frames => w.dsh4_turn(self.shape),
        }
    }
}
