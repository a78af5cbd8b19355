//! What the process itself takes, of the processor and of memory.

use std::error::Error;
use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

pub type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// The processor time so far by this clock: of all threads, or of this one.
/// The system's part counts too.
pub fn processor_time(clock: ClockId) -> Result<Duration> {
    Ok(Duration::try_from(clock_gettime(clock))?)
}

/// A line of the process's own status that tells of memory, such as `VmHWM:`
/// or `VmRSS:`, in bytes.
pub fn memory(field: &str) -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .ok_or_else(|| format!("no {field}"))?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib * 1024)
}
