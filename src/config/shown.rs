//! The settings as they hold, to be shown: without what could be a key.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Config, ModelConfig, ProviderConfig, values};
use crate::model::KeyPlace;

/// What stands in place of something that could be a key.
const HIDDEN: &str = "(not shown)";

/// All settings of a [`Config`], under the names that they have in the file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Shown<'c> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    review: &'static str,
    titles: &'static str,
    theme: &'static str,
    references: References,
    sources: Sources,
    providers: BTreeMap<&'c str, Provider<'c>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::struct_field_names, reason = "the names of the settings")]
struct References {
    max_references: usize,
    candidate_limit: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_bytes: Option<u64>,
    context_fraction: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    tools: Vec<&'static str>,
    show_subagents: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Provider<'c> {
    enabled: bool,
    api: &'static str,
    base_url: &'c str,
    connect_timeout: u64,
    idle_timeout: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_timeout: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ca_file: Option<&'c Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proxy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_ctx: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Key<'c>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<&'c str, &'static str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    extra: &'c Map<String, Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    models: BTreeMap<&'c str, Model<'c>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case", untagged)]
enum Key<'c> {
    Variables { env: &'c [String] },
    File { file: &'c Path },
    Command { command: &'c [String], timeout: u64 },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Model<'c> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output: Option<u64>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    extra: &'c Map<String, Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    price: BTreeMap<&'static str, f64>,
}

impl<'c> From<&'c Config> for Shown<'c> {
    fn from(config: &'c Config) -> Self {
        let model = config.model.as_ref();
        let references = &config.references;
        let providers = config.providers.iter();
        Self {
            model: model.map(ToString::to_string),
            review: config.review_word(),
            titles: config.titles_word(),
            theme: config.theme_word(),
            references: References {
                max_references: references.max_references(),
                candidate_limit: references.candidate_limit(),
                max_bytes: references.max_reference_bytes(),
                context_fraction: references.context_fraction(),
            },
            sources: Sources {
                tools: config
                    .sources
                    .tools
                    .iter()
                    .map(|tool| tool.name())
                    .collect(),
                show_subagents: config.sources.show_subagents,
            },
            providers: providers
                .map(|(name, provider)| (name.as_str(), provider.into()))
                .collect(),
        }
    }
}

impl<'c> From<&'c ProviderConfig> for Provider<'c> {
    fn from(config: &'c ProviderConfig) -> Self {
        let headers = config.headers.keys();
        let models = config.models.iter();
        Self {
            enabled: config.enabled,
            api: config.api.as_str(),
            base_url: &config.base_url,
            connect_timeout: config.connect_timeout.as_secs(),
            idle_timeout: config.idle_timeout.as_secs(),
            total_timeout: config.total_timeout.map(|time| time.as_secs()),
            ca_file: config.ca_file.as_deref(),
            proxy: config.proxy.as_ref().map(values::without_password),
            key: config.key.as_ref().map(Key::from),
            max_output: config.options.max_output,
            num_ctx: config.options.num_ctx,
            headers: headers.map(|name| (name.as_str(), HIDDEN)).collect(),
            extra: &config.options.extra,
            models: models
                .map(|(id, model)| (id.as_str(), model.into()))
                .collect(),
        }
    }
}

impl<'c> From<&'c KeyPlace> for Key<'c> {
    fn from(place: &'c KeyPlace) -> Self {
        match place {
            KeyPlace::Variables(env) => Self::Variables { env },
            KeyPlace::File(file) => Self::File { file },
            KeyPlace::Command { words, time_limit } => Self::Command {
                command: words,
                timeout: time_limit.as_secs(),
            },
        }
    }
}

impl<'c> From<&'c ModelConfig> for Model<'c> {
    fn from(config: &'c ModelConfig) -> Self {
        let facts = &config.facts;
        let prices = [("input", facts.input_price), ("output", facts.output_price)];
        Self {
            name: facts.name.as_deref(),
            context_window: facts.context_window,
            max_output: facts.max_output,
            extra: &config.extra,
            price: prices
                .into_iter()
                .filter_map(|(name, price)| Some((name, price?)))
                .collect(),
        }
    }
}
