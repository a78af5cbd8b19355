//! A key in a file that only its owner may read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::{KeyError, MOST_BYTES, first_line};
use crate::model::SecretString;

/// The key in the file, read off the async threads.
pub(super) async fn get(path: &Path) -> Result<SecretString, KeyError> {
    let owned = path.to_owned();
    match tokio::task::spawn_blocking(move || read(&owned)).await {
        Ok(read) => read,
        Err(panic) => Err(unreadable(path, &panic)),
    }
}

/// The key in the file.
pub(super) fn read(path: &Path) -> Result<SecretString, KeyError> {
    let failed = |error: io::Error| unreadable(path, &error);
    // Opening a pipe would wait for its other end, so look before.
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(unreadable(path, &"it is no file"));
    }
    let file = File::open(path).map_err(failed)?;
    check_mode(path, &file)?;
    let mut found = Vec::with_capacity(256);
    file.take(MOST_BYTES as u64 + 1)
        .read_to_end(&mut found)
        .map_err(failed)?;
    let key = first_line(&found, || format!("the key file {}", path.display()));
    zeroize::Zeroize::zeroize(&mut found);
    key
}

/// It is the file that was opened that counts, not one put there since.
#[cfg(unix)]
fn check_mode(path: &Path, file: &File) -> Result<(), KeyError> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    let mode = metadata.permissions().mode() & 0o777;
    // Neither the group nor others may do anything.
    if mode.trailing_zeros() >= 6 {
        return Ok(());
    }
    Err(KeyError::Open {
        path: path.to_owned(),
        mode,
    })
}

/// This platform has no such bits.
#[cfg(not(unix))]
fn check_mode(_: &Path, _: &File) -> Result<(), KeyError> {
    Ok(())
}

fn unreadable(path: &Path, problem: &dyn std::fmt::Display) -> KeyError {
    KeyError::Unreadable {
        path: path.to_owned(),
        problem: problem.to_string(),
    }
}
