//! How files and folders are opened: for their owner alone, and never a pipe
//! or a device that would hang the reader.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use super::StoreError;

/// Options that create files for their owner alone.
pub(crate) fn private() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// A file that is locked as long as this lives.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Drop for Lock {
    /// Closing the file is not enough: a program that is being started holds
    /// it for a moment too.
    fn drop(&mut self) {
        // Closing it lets go of it all the same.
        let _ = self.0.unlock();
    }
}

/// Locks a file, which is made where there is none; `None` when somebody else
/// holds it. Whoever holds it may remove it.
pub(super) fn lock(path: &Path) -> io::Result<Option<Lock>> {
    loop {
        let mut options = private();
        let file = options
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, path)? => return Ok(Some(Lock(file))),
            // Removed between opening and locking it: others would lock
            // another file of that name.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(cause)) => return Err(cause),
        }
    }
}

/// Whether it is this very file that stands at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let held = file.metadata()?;
    match path.metadata() {
        Ok(found) => Ok((held.dev(), held.ino()) == (found.dev(), found.ino())),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(cause),
    }
}

/// A file that is open can't be removed here.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Makes a folder, and those above it, for their owner alone. Folders that
/// are there stay as they are.
pub(super) fn make_dir(path: &Path) -> Result<(), StoreError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|cause| {
        path.ancestors()
            .find(|above| above.exists())
            .filter(|above| !above.is_dir())
            .map_or_else(
                || StoreError::io("create", path, cause),
                |file| StoreError::NotADirectory {
                    path: file.to_owned(),
                },
            )
    })
}

/// Opens a regular file for reading.
///
/// A file that is not there is an `Io` error of kind `NotFound`.
pub(super) fn open_regular(path: &Path) -> Result<File, StoreError> {
    let io = |cause| StoreError::io("read", path, cause);
    // Opening a pipe would wait for its other end, so look before.
    let kind = path.metadata().map_err(io)?.file_type();
    if !kind.is_file() {
        let found = if kind.is_dir() {
            "it is a folder"
        } else {
            "it is a pipe or a device"
        };
        return Err(StoreError::NotASession {
            path: path.to_owned(),
            found: found.to_owned(),
        });
    }
    File::open(path).map_err(io)
}

/// Makes the entries of a folder durable, where the platform can.
pub(super) fn sync_dir(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(path)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_given_up_is_free_though_a_child_still_holds_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = lock(&path).unwrap().unwrap();
        assert!(lock(&path).unwrap().is_none());
        let inherited = held.0.try_clone().unwrap();
        drop(held);
        assert!(lock(&path).unwrap().is_some());
        drop(inherited);
    }
}
