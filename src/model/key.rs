//! Where keys come from: an environment variable, a file that only its owner
//! may read, or a command.
//!
//! A key is held as a [`SecretString`], which prints as nothing and is wiped
//! when it is dropped. No error of this module holds any of it.

mod command;
mod file;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use thiserror::Error;
use tokio::sync::OnceCell;

use super::{KeySource, SecretString};
use crate::reference::Cause;

/// A longer text is no key.
const MOST_BYTES: usize = 16 * 1024;

/// Where a key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// The first of these environment variables that is set.
    Variables(Vec<String>),
    /// The first line of a file, which must be readable for its owner alone.
    File(PathBuf),
    /// The first line that a command prints. It is run without a shell, when
    /// the key is needed first, and once if it succeeds.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// The longest time that it may take.
        time_limit: Duration,
    },
}

/// How things stand with a key, as far as that can be told without getting it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyStanding {
    /// It is there.
    There,
    /// A command gives it. Nothing runs it only to see.
    AtCommand,
}

/// How it stands with the key of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// The server asks for none.
    NotNeeded,
    /// It is there.
    There,
    /// A command gives it.
    AtCommand,
    /// There is none.
    Missing(KeyError),
}

impl Access {
    /// That of a provider with this key, or without one.
    #[must_use]
    pub fn of(key: Option<&dyn KeySource>) -> Self {
        match key.map(KeySource::standing) {
            None => Self::NotNeeded,
            Some(Ok(KeyStanding::There)) => Self::There,
            Some(Ok(KeyStanding::AtCommand)) => Self::AtCommand,
            Some(Err(error)) => Self::Missing(error),
        }
    }

    /// The word for it in JSON.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NotNeeded => "not-needed",
            Self::There => "there",
            Self::AtCommand => "at-command",
            Self::Missing(_) => "missing",
        }
    }

    /// What lists say of it.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self {
            Self::NotNeeded => "needs no key",
            Self::There => "key is there",
            Self::AtCommand => "key by command",
            Self::Missing(_) => "no key",
        }
    }
}

/// Why there is no key. It never holds any of one.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    /// None of the variables is set. An empty one counts as not set.
    #[error("{}, or name another place of the key in config.toml (see `ibid config path`)", set_one(.names))]
    NotSet {
        /// The variables.
        names: Vec<String>,
    },
    /// The file can't be read.
    #[error("the key file {path:?} can't be read: {problem}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// Others than its owner may read or change the file.
    #[error(
        "the key file {path:?} is open to other users (mode {mode:03o}); run `chmod 600` on it, \
         and think about replacing the key"
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The command can't be started, failed, or took too long.
    #[error("the command {program:?} that gives the key {problem}")]
    Command {
        /// The program, without its arguments.
        program: String,
        /// What it did, in words that follow it.
        problem: String,
    },
    /// What was found can't be a key.
    #[error("{origin} holds no key: {problem}")]
    NoKey {
        /// Where it was found.
        origin: String,
        /// Why.
        problem: &'static str,
    },
}

impl KeyError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotSet { .. } => "KEY_NOT_SET",
            Self::Unreadable { .. } => "KEY_UNREADABLE",
            Self::Open { .. } => "KEY_FILE_OPEN",
            Self::Command { .. } => "KEY_COMMAND",
            Self::NoKey { .. } => "KEY_INVALID",
        }
    }
}

/// What to do about variables that are not set.
fn set_one(names: &[String]) -> String {
    match names {
        [only] => format!("set the environment variable {only}"),
        _ => format!("set one of the environment variables {}", names.join(", ")),
    }
}

/// How an environment variable is looked up.
type Lookup = fn(&str) -> Option<OsString>;

/// A key at its place. It is fetched when it is first asked for; what a file
/// or a command gave is kept from then on, a failure is not.
pub struct PlacedKey {
    place: KeyPlace,
    lookup: Lookup,
    kept: OnceCell<SecretString>,
}

impl PlacedKey {
    /// The key at this place. Nothing is looked at yet.
    #[must_use]
    pub fn new(place: KeyPlace) -> Self {
        Self::with_variables(place, |name| std::env::var_os(name))
    }

    fn with_variables(place: KeyPlace, lookup: Lookup) -> Self {
        Self {
            place,
            lookup,
            kept: OnceCell::new(),
        }
    }

    /// The key itself.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn get(&self) -> Result<SecretString, KeyError> {
        match &self.place {
            KeyPlace::Variables(names) => from_variables(names, self.lookup),
            KeyPlace::File(path) => self.kept.get_or_try_init(|| file::get(path)).await.cloned(),
            KeyPlace::Command { words, time_limit } => {
                let run = || command::run(words, *time_limit);
                self.kept.get_or_try_init(run).await.cloned()
            }
        }
    }
}

/// Shows where the key comes from, and nothing of it.
impl std::fmt::Debug for PlacedKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("PlacedKey")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl KeySource for PlacedKey {
    fn key(&self) -> BoxFuture<'_, Result<SecretString, Cause>> {
        Box::pin(async move { self.get().await.map_err(|error| Arc::new(error) as Cause) })
    }

    fn standing(&self) -> Result<KeyStanding, KeyError> {
        match &self.place {
            KeyPlace::Variables(names) => from_variables(names, self.lookup)?,
            KeyPlace::File(path) => file::read(path)?,
            KeyPlace::Command { .. } => return Ok(KeyStanding::AtCommand),
        };
        Ok(KeyStanding::There)
    }
}

fn from_variables(names: &[String], lookup: Lookup) -> Result<SecretString, KeyError> {
    let set = names
        .iter()
        .filter_map(|name| Some((name, lookup(name)?)))
        .find(|(_, value)| !value.is_empty());
    let Some((name, value)) = set else {
        let names = names.to_vec();
        return Err(KeyError::NotSet { names });
    };
    let origin = || format!("the environment variable {name}");
    first_line(value.as_encoded_bytes(), origin)
}

/// The first line of what was found, without the spaces around it.
fn first_line(found: &[u8], origin: impl Fn() -> String) -> Result<SecretString, KeyError> {
    let no_key = |problem| KeyError::NoKey {
        origin: origin(),
        problem,
    };
    let line = found.split(|byte| *byte == b'\n').next();
    let line = line.unwrap_or_default().trim_ascii();
    if line.is_empty() {
        return Err(no_key("its first line is empty"));
    }
    if line.len() > MOST_BYTES {
        return Err(no_key("its first line is too long"));
    }
    if !line.iter().all(u8::is_ascii_graphic) {
        return Err(no_key("it has characters that no key has"));
    }
    let key = str::from_utf8(line).map_err(|_| no_key("it is no text"))?;
    Ok(SecretString::from(key))
}

#[cfg(test)]
#[path = "key/tests.rs"]
mod tests;
