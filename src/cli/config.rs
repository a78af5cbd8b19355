//! `ibid config`: the settings file, and what is wrong in it.

use std::path::Path;

use serde::Serialize;
use serde_json::json;

use super::{CliError, Output};
use crate::config::{Config, ConfigError, FILE_NAME, Problem, Shown, write_starter};
use crate::figures::counted;
use crate::model::{KeyPlace, KeySource as _, PlacedKey};
use crate::store::Home;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Write a first settings file, with every setting explained
    Init {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print where the settings file is, or would be
    Path {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the settings as they hold; of keys only where they come from
    Show {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Tell all that is wrong with the settings; fails if anything is
    Check {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(command: &Command, out: &mut Output) -> Result<(), CliError> {
    let home = Home::locate()?;
    match command {
        Command::Init { .. } => init(&home, out),
        Command::Path { .. } => path(&home, out),
        Command::Show { .. } => show(&home, out),
        Command::Check { .. } => check(&home, out),
    }
}

fn init(home: &Home, out: &mut Output) -> Result<(), CliError> {
    home.create()?;
    let path = write_starter(home.root())?;
    if out.is_json() {
        return out.json(&json!({"path": path}));
    }
    out.line(&path.display().to_string())
}

fn path(home: &Home, out: &mut Output) -> Result<(), CliError> {
    let path = home.root().join(FILE_NAME);
    if out.is_json() {
        return out.json(&json!({"path": path, "exists": path.exists()}));
    }
    out.line(&path.display().to_string())
}

fn show(home: &Home, out: &mut Output) -> Result<(), CliError> {
    let config = Config::load(home.root())?;
    let shown = Shown::from(&config);
    if out.is_json() {
        return out.json(&shown);
    }
    out.text(&shown.to_string())
}

/// What is wrong with a setting that is written as it should be.
#[derive(Debug, Serialize)]
struct KeyTrouble {
    provider: String,
    code: &'static str,
    problem: String,
}

fn check(home: &Home, out: &mut Output) -> Result<(), CliError> {
    let path = home.root().join(FILE_NAME);
    let (problems, keys) = match Config::load(home.root()) {
        Ok(config) => (Vec::new(), key_files(&config)),
        Err(ConfigError::Invalid { path: at, problems }) if at == path => (problems, Vec::new()),
        Err(error) => return Err(error.into()),
    };
    tell(&path, &problems, &keys, out)?;
    match problems.len() + keys.len() {
        0 => Ok(()),
        count => Err(CliError::new(
            "CONFIG_INVALID",
            format!("{} in {}", counted(count, "problem"), path.display()),
        )),
    }
}

/// Key files that can't be used. A variable that is not set is no mistake:
/// nobody has a key of every provider.
fn key_files(config: &Config) -> Vec<KeyTrouble> {
    let providers = config.providers.iter();
    providers
        .filter(|(_, provider)| provider.enabled)
        .filter_map(|(name, provider)| {
            let place = provider.key.clone()?;
            matches!(place, KeyPlace::File(_)).then_some(())?;
            let error = PlacedKey::new(place).standing().err()?;
            Some(KeyTrouble {
                provider: name.clone(),
                code: error.code(),
                problem: error.to_string(),
            })
        })
        .collect()
}

fn tell(
    path: &Path,
    problems: &[Problem],
    keys: &[KeyTrouble],
    out: &mut Output,
) -> Result<(), CliError> {
    if out.is_json() {
        return out.json(&json!({"path": path, "problems": problems, "keys": keys}));
    }
    for problem in problems {
        out.line(&format!("{}: {problem}", path.display()))?;
    }
    for key in keys {
        out.line(&format!("provider {:?}: {}", key.provider, key.problem))?;
    }
    if problems.is_empty() && keys.is_empty() {
        out.line("nothing is wrong with the settings")?;
    }
    Ok(())
}
