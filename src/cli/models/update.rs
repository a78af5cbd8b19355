//! `ibid models update`: asks each server which models it has.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Serialize;
use serde_json::json;

use crate::cli::{CliError, Output, output};
use crate::config::{self, Config};
use crate::figures::counted;
use crate::model::{
    Catalogue, Configured, KeySource as _, Listed, ModelError, PlacedKey, Refreshed, StoredModels,
};
use crate::session::Millis;

/// How long a server may take to tell.
const LONGEST: Duration = Duration::from_mins(1);

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Ask this provider alone
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// How it went with one provider.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    provider: String,
    /// How many models its server told of.
    #[serde(skip_serializing_if = "Option::is_none")]
    models: Option<usize>,
    /// Which facts it could not tell, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    lacks: Option<String>,
    #[serde(flatten)]
    failure: Option<Failure>,
}

#[derive(Clone, Debug, Serialize)]
struct Failure {
    code: String,
    problem: String,
}

impl Failure {
    fn new(code: &str, problem: &dyn std::fmt::Display) -> Self {
        Self {
            code: code.to_owned(),
            problem: problem.to_string(),
        }
    }
}

type Answer = Result<Listed, Failure>;

pub(super) fn run(args: &Args, out: &mut Output) -> Result<(), CliError> {
    let (home, config) = crate::cli::home()?;
    let mut servers = config::servers(&config, &Catalogue::default());
    if let Some(name) = &args.provider {
        if !servers.contains_key(name) {
            let known = servers.into_keys().collect();
            let provider = name.clone();
            return Err(ModelError::NoAdapter { provider, known }.into());
        }
        servers.retain(|provider, _| provider == name);
    }
    let servers: Vec<_> = servers
        .into_iter()
        .map(|(name, server)| (missing_key(&name, &config), name, server))
        .collect();
    let answers = crate::cli::block_on(ask(servers))?;
    let path = home.models_file();
    if answers.iter().any(|(_, answer)| answer.is_ok()) {
        home.create()?;
        let mut stored = StoredModels::load(&path).unwrap_or_else(|error| {
            output::tell(error);
            StoredModels::default()
        });
        keep(&answers, &mut stored);
        let saved = stored.save(&path);
        saved.map_err(|error| CliError::new(error.code(), error))?;
    }
    report(answers, &path, out)
}

/// Why a provider has no key, as far as that is known without running
/// anything. May read a file.
fn missing_key(name: &str, config: &Config) -> Option<Failure> {
    let place = config.providers.get(name)?.key.clone()?;
    let missing = PlacedKey::new(place).standing().err()?;
    Some(Failure::new(missing.code(), &missing))
}

/// Asks all of them at once. One whose key is known to be missing is not
/// asked.
async fn ask(servers: Vec<(Option<Failure>, String, Configured)>) -> Vec<(String, Answer)> {
    let questions = servers.into_iter().map(async |(missing, name, server)| {
        if let Some(missing) = missing {
            return (name, Err(missing));
        }
        let answer = match tokio::time::timeout(LONGEST, server.tells()).await {
            Ok(Ok(listed)) => Ok(listed),
            Ok(Err(error)) => Err(Failure::new(error.code(), &error)),
            Err(_) => {
                let limit = LONGEST.as_secs();
                let problem = format!("its server told nothing within {limit} s");
                Err(Failure::new("MODEL_TIMEOUT", &problem))
            }
        };
        (name, answer)
    });
    join_all(questions).await
}

/// Keeps what was told.
fn keep(answers: &[(String, Answer)], stored: &mut StoredModels) {
    let now = Millis::now();
    for (name, answer) in answers {
        if let Ok(listed) = answer {
            let told = Refreshed::new(now, &listed.models);
            stored.add(name.clone(), told, listed.lacks.is_some());
        }
    }
}

fn report(
    answers: Vec<(String, Answer)>,
    path: &std::path::Path,
    out: &mut Output,
) -> Result<(), CliError> {
    let outcomes = answers.into_iter().map(|(provider, answer)| Outcome {
        provider,
        models: answer.as_ref().ok().map(|listed| listed.models.len()),
        lacks: answer.as_ref().ok().and_then(|listed| listed.lacks.clone()),
        failure: answer.err(),
    });
    let outcomes: Vec<Outcome> = outcomes.collect();
    if out.is_json() {
        out.json(&json!({"path": path, "providers": outcomes}))?;
    } else {
        for outcome in &outcomes {
            let told = || counted(outcome.models.unwrap_or_default(), "model");
            let how = match (&outcome.failure, &outcome.lacks) {
                (Some(failure), _) => failure.problem.clone(),
                (None, Some(lacks)) => format!("{}; {lacks}", told()),
                (None, None) => told(),
            };
            out.line(&format!("{}: {how}", outcome.provider))?;
        }
    }
    match outcomes.as_slice() {
        [
            Outcome {
                failure: Some(failure),
                ..
            },
        ] => Err(CliError::new(&failure.code, &failure.problem)),
        all if all.iter().any(|outcome| outcome.failure.is_none()) => Ok(()),
        _ => Err(CliError::new(
            "MODELS_NOT_UPDATED",
            "no server told which models it has; set a key (see `ibid config show`), or start \
             one on this machine",
        )),
    }
}
