//! The first settings file of a person.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{ConfigError, DEFAULTS, FILE_NAME};
use crate::store::private;

/// What stands above the defaults in a person's own file.
const HEAD: &str = "\
# The settings of ibid. Those with a # before them hold as they stand here, or are
# examples; take the # away to change one. `ibid config check` tells what is wrong.

";

/// Writes the defaults to a home that has no settings yet, each commented out,
/// so that a later ibid may still choose better ones. The file is for its
/// owner alone; the home must be there.
///
/// # Errors
/// `CONFIG_EXISTS` when there is a file already, which stays as it is;
/// `CONFIG_UNWRITABLE` when the disk would not.
pub fn write_starter(home: &Path) -> Result<PathBuf, ConfigError> {
    let path = home.join(FILE_NAME);
    let mut options = private();
    let file = options.write(true).create_new(true).open(&path);
    let write = |mut file: std::fs::File| -> io::Result<()> {
        file.write_all(starter().as_bytes())?;
        file.sync_all()
    };
    match file {
        Ok(file) => match write(file) {
            Ok(()) => Ok(path),
            Err(cause) => {
                // Half a file would stand in the way of the next try.
                let _ = std::fs::remove_file(&path);
                Err(ConfigError::Unwritable { path, cause })
            }
        },
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            Err(ConfigError::Exists { path })
        }
        Err(cause) => Err(ConfigError::Unwritable { path, cause }),
    }
}

/// The defaults with every setting commented out. What explains the file
/// itself, up to its first empty line, gives way to other words.
pub(super) fn starter() -> String {
    let body = DEFAULTS
        .split_once("\n\n")
        .map_or(DEFAULTS, |(_, body)| body);
    let mut text = HEAD.to_owned();
    for line in body.lines() {
        let is_setting = line.starts_with(|c: char| c.is_ascii_lowercase() || c == '"');
        text.push_str(if is_setting { "#" } else { "" });
        text.push_str(line);
        text.push('\n');
    }
    text
}
