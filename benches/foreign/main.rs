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
//! rounds), and the growth of peak memory in a process of its own.
//! `-- --megabytes 10` makes smaller files, and `-- --only NAME` measures
//! those whose name holds NAME.

mod files;

use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use files::{Case, Format};
use ibid::reference::projection;
use ibid::source::detect;
use rustix::time::{ClockId, clock_gettime};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use serde::Deserialize;
use serde_json::value::RawValue;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ROUNDS: usize = 9;
const MEMORY_ALLOWANCE: u64 = 64 << 20;

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
    let option = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1).cloned()
    };
    if let Some(path) = option("--peak") {
        return peak(Path::new(&path));
    }
    let bytes = match option("--megabytes") {
        Some(megabytes) => megabytes.parse::<u64>()? * 1_000_000,
        None => 100_000_000,
    };
    let only = option("--only").unwrap_or_default();
    for case in files::CASES {
        if case.name.contains(&only) {
            let dir = tempfile::tempdir()?;
            let path = case.write(dir.path(), bytes)?;
            measure(case, &path, bytes)?;
        }
    }
    Ok(())
}

fn measure(case: &Case, path: &Path, bytes: u64) -> Result<()> {
    let (mut ours, mut theirs) = (Spent::MAX, Spent::MAX);
    let mut cited = 0;
    for _ in 0..ROUNDS {
        ours = ours.least(Spent::by(|| {
            cited = cite(path)?;
            Ok(cited)
        })?);
        theirs = theirs.least(Spent::by(|| raw_pass(path, case.format))?);
    }
    let ratio = ours.time.div_duration_f64(theirs.time);
    let processor_ratio = ours.processor.div_duration_f64(theirs.processor);
    let output = Command::new(std::env::current_exe()?)
        .arg("--peak")
        .arg(path)
        .output()?;
    let grown: u64 = String::from_utf8(output.stdout)?.trim().parse()?;
    println!(
        "{}: {} MB, of which {} % is cited\n  read and capture {:?}, RawValue pass {:?}, ratio {ratio:.2} (at most {:.2})\n  \
         of processor time {:?} and {:?}, ratio {processor_ratio:.2}\n  \
         peak memory grows by {} MB (at most {} MB)",
        case.name,
        bytes / 1_000_000,
        100 * cited as u64 / bytes,
        ours.time,
        theirs.time,
        case.bar,
        ours.processor,
        theirs.processor,
        grown / 1_000_000,
        (bytes + MEMORY_ALLOWANCE) / 1_000_000,
    );
    Ok(())
}

/// What one run took.
#[derive(Clone, Copy)]
struct Spent {
    time: Duration,
    /// Of all threads, in the system's part too.
    processor: Duration,
}

impl Spent {
    const MAX: Self = Self {
        time: Duration::MAX,
        processor: Duration::MAX,
    };

    fn by(run: impl FnOnce() -> Result<usize>) -> Result<Self> {
        let processor = processor_time()?;
        let start = Instant::now();
        black_box(run()?);
        Ok(Self {
            time: start.elapsed(),
            processor: processor_time()?.saturating_sub(processor),
        })
    }

    fn least(self, other: Self) -> Self {
        Self {
            time: self.time.min(other.time),
            processor: self.processor.min(other.processor),
        }
    }
}

fn processor_time() -> Result<Duration> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Ok(Duration::try_from(time)?)
}

/// How many bytes can be cited.
fn cite(path: &Path) -> Result<usize> {
    let foreign = detect::read_file(path)?;
    let capture = projection::capture(&foreign.session);
    if foreign.notices.is_empty() {
        Ok(capture
            .conversation
            .iter()
            .map(|item| item.text.len())
            .sum())
    } else {
        Err(format!("the file has notices: {:?}", foreign.notices).into())
    }
}

fn raw_pass(path: &Path, format: Format) -> Result<usize> {
    let file = BufReader::new(File::open(path)?);
    if format.is_compressed() {
        return raw_lines(BufReader::with_capacity(
            1 << 17,
            Frames {
                file,
                frame: FrameDecoder::new(),
            },
        ));
    }
    raw_lines(file)
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

/// The contents of frames one behind the other.
struct Frames {
    file: BufReader<File>,
    frame: FrameDecoder,
}

impl Read for Frames {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.frame.read(out)?;
            if read > 0 {
                return Ok(read);
            }
            if self.frame.is_finished() {
                if self.file.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.frame.reset(&mut self.file).map_err(io::Error::other)?;
            }
            let strategy = BlockDecodingStrategy::UptoBytes(out.len());
            self.frame
                .decode_blocks(&mut self.file, strategy)
                .map_err(io::Error::other)?;
        }
    }
}

/// Prints by how many bytes one citing raises the peak of this process.
fn peak(path: &Path) -> Result<()> {
    let before = high_water()?;
    black_box(cite(path)?);
    println!("{}", high_water()? - before);
    Ok(())
}

fn high_water() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .ok_or("no VmHWM")?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib * 1024)
}
