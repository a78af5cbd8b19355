//! The room on a disk.

use std::path::Path;

/// What is left free of a disk, in bytes: what can be read again at any time
/// must not take the room for drafts and messages, which can't. Far more than
/// one transaction and the write-ahead log take.
pub(super) const RESERVE: u64 = 64 << 20;

/// How much room there is for whoever is no administrator on the disk of this
/// file, which need not be there, in bytes; `None` where the system does not
/// tell.
pub(super) fn free(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let told = rustix::fs::statvfs(path.parent()?).ok()?;
        Some(told.f_bavail.saturating_mul(told.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_room_beside_a_file_is_told_though_the_file_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free(&folder.path().join("new")).is_some_and(|bytes| bytes > 0));
        assert_eq!(free(&folder.path().join("no/folder")), None);
    }
}
