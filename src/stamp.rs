//! Tells one state of a file from another without reading it.

use std::fs::Metadata;
use std::time::UNIX_EPOCH;

use crate::session::Millis;

/// One state of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The length in bytes.
    pub size: u64,
    /// When it was last written, in nanoseconds since 1970; 0 when unknown.
    pub mtime_ns: i64,
    /// Which file it is on its disk; 0 where the platform has no such number.
    pub inode: u64,
}

impl Stamp {
    /// The state that a file's metadata tells.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        let written = metadata.modified().ok();
        let since = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let mtime_ns = since.map_or(0, |since| {
            i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
        });
        Self {
            size: metadata.len(),
            mtime_ns,
            inode: inode(metadata),
        }
    }

    /// When the file was last written.
    #[must_use]
    pub fn written_at(&self) -> Millis {
        Millis(self.mtime_ns.div_euclid(1_000_000))
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}
