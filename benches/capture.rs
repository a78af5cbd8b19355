//! Citing straight from a log of 100 MB, against one `serde_json` pass with
//! borrowed `RawValue`s over the same lines.
//!
//! Citing is what `ibid prepare --log` does with a log: reading what of it can
//! be cited, whole, and retaining what fits the default budget of 64 KiB.
//!
//! `cargo bench --bench capture` prints, for logs of dialogue alone and for
//! some with nine log-only lines in ten, the ratio of the times and of the
//! processor time over all threads (each the best of several interleaved
//! rounds), and the growth of peak memory in a process of its own.

#[path = "support/race.rs"]
mod race;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use ibid::reference::retention;
use ibid::session::{
    Event, Header, Message, MessageKind, Millis, Payload, Role, Seq, Source, SurfaceOp,
};
use ibid::store::log;
use race::{Race, Result};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

const LOG_BYTES: u64 = 100_000_000;
const BUDGET: u64 = 65_536;
const RACE: Race = Race {
    name: "capture and retain",
    ours: cite,
    rounds: 15,
};

/// What a reader with borrowed values looks at.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawLine<'a> {
    seq: Option<u64>,
    time: Option<i64>,
    r#type: &'a str,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    surface_op: Option<&'a RawValue>,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    if RACE.is_peak_of_its_own(&args)? {
        return Ok(());
    }
    let dir = tempfile::tempdir()?;
    let cases = [
        ("dialogue alone", 0, 1_500, 1.0),
        ("nine of ten lines log-only", 9, 1_500, 1.0 / 3.0),
        ("dialogue alone, short lines", 0, 60, 1.0),
        ("nine of ten lines log-only, short lines", 9, 60, 1.0 / 3.0),
    ];
    for (name, noise, length, bar) in cases {
        let path = dir.path().join("log.jsonl");
        generate(&path, noise, length)?;
        RACE.run(name, &path, path.metadata()?.len(), bar, raw_pass)?;
        fs::remove_file(&path)?;
    }
    Ok(())
}

fn cite(path: &Path) -> Result<usize> {
    let log = log::read_capture(path)?;
    let kept = retention::retain(&log.capture, "bench", BUDGET)?;
    if log.notices.is_empty() {
        Ok(kept.json.len())
    } else {
        Err("the log has notices".into())
    }
}

fn raw_pass(path: &Path) -> Result<usize> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    let mut seen = 0;
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(seen);
        }
        let raw: RawLine = serde_json::from_slice(&line)?;
        seen += raw.r#type.len()
            + raw.data.map_or(0, |d| d.get().len())
            + raw.surface_op.map_or(0, |d| d.get().len())
            + usize::from(raw.seq.is_some())
            + usize::from(raw.time.is_some());
    }
}

/// Writes a log with `noise` log-only lines for each message, all of about
/// `length` bytes of text.
fn generate(path: &Path, noise: u64, length: usize) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let header = Header::new("bench", Millis(0), Some("/home/u/project".to_owned()));
    let mut line = serde_json::to_value(header)?;
    line["type"] = "session".into();
    let mut written = writeln(&mut out, &line)?;
    let mut seq = 0;
    let words = "The flaky login test waits for \"ready\" before it clicks.\n\
                 Then the session cookie <b>expires</b>, and the retry — as seen — fails. ";
    let prose = words.repeat(2 * length / words.len() + 2);
    while written < LOG_BYTES {
        let is_message = seq % (noise + 1) == noise;
        // Lengths from half to one and a half of the usual.
        let wanted = length / 2 + usize::try_from(seq * 7_919)? % length;
        let text = &prose[..prose.floor_char_boundary(wanted)];
        let (payload, surface_op) = if is_message {
            (message(seq / (noise + 1), text), Some(SurfaceOp::Append))
        } else {
            (
                Payload::log_only("assistant/chunk", json!({"step": seq, "delta": text})),
                None,
            )
        };
        let event = Event {
            seq: Seq(seq),
            time: Millis(1_786_073_817_152),
            payload,
            surface_op,
            source_event_seqs: None,
            rest: serde_json::Map::new(),
        };
        written += writeln(&mut out, &event)?;
        seq += 1;
    }
    out.flush()?;
    Ok(())
}

fn message(turn: u64, text: &str) -> Payload {
    if turn.is_multiple_of(2) {
        Payload::user(Message::person(text))
    } else {
        let block = ibid::session::Block::text(text);
        let message = Message::new(Role::Assistant, Source::model("offline", "o"), vec![block]);
        Payload::step(MessageKind::Assistant, message, turn, 1)
    }
}

fn writeln(out: &mut impl Write, value: &impl serde::Serialize) -> Result<u64> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    out.write_all(&line)?;
    Ok(line.len() as u64)
}
