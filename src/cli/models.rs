//! `ibid models`: the models there are, and what is known of them.

mod update;

use serde::Serialize;

use super::{CliError, Output, output};
use crate::config::{self, Config};
use crate::figures::{price, thousands};
use crate::model::{
    Access, Catalogue, Entry, Facts, KeySource, Models, Origin, PlacedKey, Provider as _,
    StoredModels, offline,
};
use crate::store::Home;

const EXAMPLES: &str = "\
Examples:
  ibid models --provider openai
  ibid models --json
  ibid models update                        ask each server which models it has

What is known of a model comes from the list that ships with ibid, from servers when
they were last asked, and from config.toml, each over the one before.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    /// The models of this provider alone
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Ask each server which models it has, and keep what it tells
    Update(update::Args),
}

pub(super) fn run(args: &Args, out: &mut Output) -> Result<(), CliError> {
    match &args.command {
        Some(Command::Update(args)) => update::run(args, out),
        None => list(args.provider.as_deref(), out),
    }
}

/// One model of the list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    provider: &'a str,
    model: &'a str,
    #[serde(flatten)]
    facts: Facts,
    sources: Vec<&'static str>,
    key: &'static str,
    #[serde(skip)]
    words: &'static str,
}

impl<'a> Row<'a> {
    fn new(provider: &'a str, model: &'a str, entry: &Entry, access: &Access) -> Self {
        Self {
            provider,
            model,
            facts: entry.facts.clone(),
            sources: entry.origins.iter().map(|origin| origin.as_str()).collect(),
            key: access.as_str(),
            words: access.words(),
        }
    }

    fn print(&self, out: &mut Output) -> Result<(), CliError> {
        let facts = &self.facts;
        let tokens = |count: Option<u64>| count.map_or("-".to_owned(), thousands);
        out.row(&[
            self.provider,
            self.model,
            &tokens(facts.context_window),
            &tokens(facts.max_output),
            &price(facts.input_price, facts.output_price).unwrap_or("-".to_owned()),
            &self.sources.join("+"),
            self.words,
        ])
    }
}

fn list(provider: Option<&str>, out: &mut Output) -> Result<(), CliError> {
    let (home, config) = super::home()?;
    let catalogue = config.over(&catalogue(&home)?);
    if let Some(name) = provider {
        // An unknown one is named together with those there are.
        config::models(&config, &catalogue).provider(name)?;
    }
    let is_wanted = |name: &str| provider.is_none_or(|provider| provider == name);
    let offline = offline_entry();
    let mut rows = Vec::new();
    if is_wanted(offline::PROVIDER) {
        let access = Access::NotNeeded;
        let entry = Row::new(offline::PROVIDER, offline::MODEL, &offline, &access);
        rows.push(entry);
    }
    for (name, provider) in &config.providers {
        if !provider.enabled || !is_wanted(name) {
            continue;
        }
        let key = provider.key.clone().map(PlacedKey::new);
        let access = Access::of(key.as_ref().map(|key| key as &dyn KeySource));
        let models = catalogue.models(name);
        rows.extend(models.map(|(id, entry)| Row::new(name, id, entry, &access)));
    }
    if out.is_json() {
        return out.json(&rows);
    }
    if let (Some(name), []) = (provider, rows.as_slice()) {
        out.warn(format!(
            "nothing is known of the models of {name}; `ibid models update` asks its server"
        ));
    }
    rows.iter().try_for_each(|row| row.print(out))
}

/// What is known of the offline model.
fn offline_entry() -> Entry {
    let known = offline::Offline::default().models();
    Entry {
        facts: known.first().map(Facts::from).unwrap_or_default(),
        origins: [Origin::Shipped].into(),
    }
}

/// What is known of models without the settings. A damaged list of what
/// servers told is said, and left out.
pub(super) fn catalogue(home: &Home) -> Result<Catalogue, CliError> {
    let shipped = Catalogue::shipped().map_err(|error| CliError::new("MODELS_DAMAGED", error))?;
    let told = StoredModels::load(&home.models_file()).unwrap_or_else(|error| {
        output::tell(error);
        StoredModels::default()
    });
    Ok(shipped.with(Origin::Server, told.into_layer()))
}

/// Every provider of the settings, and what is known of their models.
pub(super) fn assembled(home: &Home, config: &Config) -> Result<(Models, Catalogue), CliError> {
    let catalogue = catalogue(home)?;
    Ok((config::models(config, &catalogue), config.over(&catalogue)))
}
