//! Reading a file in two ways side by side: what each takes, and how the peak
//! of memory grows by the one.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

#[path = "process.rs"]
mod process;

pub use process::Result;
use process::{memory, processor_time};
use rustix::time::ClockId;

/// What citing may take of memory beside the size of the file, in bytes.
const MEMORY_ALLOWANCE: u64 = 64 << 20;

/// Two ways to read a file.
pub struct Race {
    /// What the one is called, which is measured.
    pub name: &'static str,
    /// Reads the file; gives how many bytes came of it.
    pub ours: fn(&Path) -> Result<usize>,
    /// How often each reads it; the quickest counts.
    pub rounds: usize,
}

impl Race {
    /// The file that this process was started for alone, to tell by how much
    /// reading it raises its peak; `true` when there was one.
    pub fn is_peak_of_its_own(&self, args: &[String]) -> Result<bool> {
        let Some(at) = args.iter().position(|arg| arg == "--peak") else {
            return Ok(false);
        };
        let path = args.get(at + 1).ok_or("--peak needs a file")?;
        let before = memory("VmHWM:")?;
        black_box((self.ours)(Path::new(path))?);
        println!("{}", memory("VmHWM:")? - before);
        Ok(true)
    }

    /// Prints what reading the file takes, beside what the other way does.
    /// `bytes` is the size of what is read, `bar` the most that it may take as
    /// a share of the other. Gives how long the other takes.
    pub fn run(
        &self,
        title: &str,
        path: &Path,
        bytes: u64,
        bar: f64,
        theirs: impl Fn(&Path) -> Result<usize>,
    ) -> Result<Duration> {
        let (mut ours, mut plain) = (Spent::MAX, Spent::MAX);
        let mut given = 0;
        for _ in 0..self.rounds {
            ours = ours.least(Spent::by(|| {
                given = (self.ours)(path)?;
                Ok(given)
            })?);
            plain = plain.least(Spent::by(|| theirs(path))?);
        }
        let ratio = ours.time.div_duration_f64(plain.time);
        let processor_ratio = ours.processor.div_duration_f64(plain.processor);
        println!(
            "{title}: {} MB, of which {} % is kept\n  \
             {} {:?}, RawValue pass {:?}, ratio {ratio:.2} (at most {bar:.2})\n  \
             of processor time {:?} and {:?}, ratio {processor_ratio:.2}\n  \
             peak memory grows by {} MB (at most {} MB)",
            bytes / 1_000_000,
            100 * given as u64 / bytes,
            self.name,
            ours.time,
            plain.time,
            ours.processor,
            plain.processor,
            grown(path)? / 1_000_000,
            (bytes + MEMORY_ALLOWANCE) / 1_000_000,
        );
        Ok(plain.time)
    }
}

/// By how many bytes reading a file raises the peak of a process of its own.
fn grown(path: &Path) -> Result<u64> {
    let output = Command::new(std::env::current_exe()?)
        .arg("--peak")
        .arg(path)
        .output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
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
        let processor = processor_time(ClockId::ProcessCPUTime)?;
        let start = Instant::now();
        black_box(run()?);
        Ok(Self {
            time: start.elapsed(),
            processor: processor_time(ClockId::ProcessCPUTime)?.saturating_sub(processor),
        })
    }

    fn least(self, other: Self) -> Self {
        Self {
            time: self.time.min(other.time),
            processor: self.processor.min(other.processor),
        }
    }
}
