//! Citing straight from another tool's file of 100 MB, against one
//! `serde_json` pass with borrowed `RawValue`s over the same lines.
//!
//! Citing is what `ibid prepare --file` does with a file: telling its tool,
//! reading the conversation that would go on there, and capturing what of it
//! can be cited. The pass is the one of the bench `capture`; of a compressed
//! file it is made over the lines as they are decoded.
//!
//! `cargo bench --bench foreign` prints, for files in the proportions of real
//! ones and for files of dialogue alone, the ratio of the times and of the
//! processor time over all threads (each the best of several interleaved
//! rounds), and the growth of peak memory in a process of its own. Of a
//! compressed file it also prints what decoding takes alone, on one thread:
//! both sides use the same decoder, and most of the pass is spent in it.
//! `-- --megabytes 10` makes smaller files, and `-- --only NAME` measures
//! those whose name holds NAME.

mod files;
mod lines;
#[path = "../support/race.rs"]
mod race;

use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use files::Format;
use ibid::source::detect;
use race::{Race, Result};
use serde::Deserialize;
use serde_json::value::RawValue;
use zrip::FrameDecoder;

const RACE: Race = Race {
    name: "read and capture",
    ours: cite,
    rounds: 9,
};

/// What a reader with borrowed values looks at, in files of all the tools.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawLine<'a> {
    r#type: &'a str,
    seq: Option<u64>,
    time: Option<i64>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    uuid: Option<&'a str>,
    parent_uuid: Option<&'a str>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    attachment: Option<&'a RawValue>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
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
    let option = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1).cloned()
    };
    let bytes = match option("--megabytes") {
        Some(megabytes) => megabytes.parse::<u64>()? * 1_000_000,
        None => 100_000_000,
    };
    let only = option("--only").unwrap_or_default();
    for case in files::CASES {
        if case.name.contains(&only) {
            let dir = tempfile::tempdir()?;
            let path = case.write(dir.path(), bytes)?;
            let plain = |path: &Path| raw_pass(path, case.format);
            let plain = RACE.run(case.name, &path, bytes, case.bar, plain)?;
            if case.format.is_compressed() {
                print_decoding(&path, plain)?;
            }
        }
    }
    Ok(())
}

/// How many bytes can be cited.
fn cite(path: &Path) -> Result<usize> {
    let foreign = detect::capture_file(path)?;
    if !foreign.notices.is_empty() {
        return Err(format!("the file has notices: {:?}", foreign.notices).into());
    }
    let items = foreign.session.capture.conversation.iter();
    Ok(items.map(|item| item.text.len()).sum())
}

/// Prints what of the plain pass is decoding, which no reader can do without:
/// the least that reading takes is that share over as many threads as there
/// are.
fn print_decoding(path: &Path, plain: Duration) -> Result<()> {
    let mut decoding = Duration::MAX;
    for _ in 0..RACE.rounds {
        let start = Instant::now();
        black_box(io::copy(&mut frames(path)?, &mut io::sink())?);
        decoding = decoding.min(start.elapsed());
    }
    let share = decoding.div_duration_f64(plain);
    let threads = thread::available_parallelism()?;
    let least = decoding / u32::try_from(threads.get())?;
    println!(
        "  decoding alone {decoding:?}, {share:.2} of the pass; \
         on {threads} threads at least {:.2}",
        least.div_duration_f64(plain)
    );
    Ok(())
}

/// The contents of frames one behind the other.
fn frames(path: &Path) -> Result<FrameDecoder<BufReader<File>>> {
    Ok(FrameDecoder::new(BufReader::new(File::open(path)?)))
}

fn raw_pass(path: &Path, format: Format) -> Result<usize> {
    if format.is_compressed() {
        return raw_lines(BufReader::with_capacity(1 << 17, frames(path)?));
    }
    raw_lines(BufReader::new(File::open(path)?))
}

fn raw_lines(mut reader: impl BufRead) -> Result<usize> {
    let mut line = Vec::new();
    let mut seen = 0;
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(seen);
        }
        let raw: RawLine = serde_json::from_slice(&line)?;
        let values = [
            raw.timestamp,
            raw.message,
            raw.attachment,
            raw.payload,
            raw.data,
            raw.surface_op,
        ];
        seen += raw.r#type.len()
            + raw.uuid.map_or(0, str::len)
            + raw.parent_uuid.map_or(0, str::len)
            + values
                .map(|value| value.map_or(0, |v| v.get().len()))
                .iter()
                .sum::<usize>()
            + usize::from(raw.seq.is_some())
            + usize::from(raw.time.is_some());
    }
}
