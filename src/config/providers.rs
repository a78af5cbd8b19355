//! The providers of models, as settings: `[providers.NAME]`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::problem::{Problems, Wrong};
use super::section::{Section, filled, flag, one_of, positive, text};
use super::{ModelConfig, key, models, requests, values};
use crate::model::{Api, Endpoint, Facts, KeyPlace, Options, SecretString, offline};

/// The settings of a provider.
const NAMES: &[&str] = &[
    "api",
    "base-url",
    "key",
    "headers",
    "connect-timeout",
    "idle-timeout",
    "total-timeout",
    "ca-file",
    "proxy",
    "max-output",
    requests::NUM_CTX,
    "extra",
    "models",
    "enabled",
];

/// The longest time-out, in seconds: a day.
const LONGEST: u64 = 86_400;

/// The checked settings of a provider.
#[derive(Clone, Debug)]
pub struct ProviderConfig {
    /// Whether it is to be used at all.
    pub enabled: bool,
    /// What its server speaks.
    pub api: Api,
    /// Its server's address, with everything before the API's own paths.
    pub base_url: String,
    /// Where its key comes from; `None` for a server that needs none.
    pub key: Option<KeyPlace>,
    /// More headers of each request, by name.
    pub headers: BTreeMap<String, SecretString>,
    /// The longest wait for a connection.
    pub connect_timeout: Duration,
    /// The longest silence before or within an answer.
    pub idle_timeout: Duration,
    /// The longest time for a whole answer.
    pub total_timeout: Option<Duration>,
    /// Certificates (PEM) to trust beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// The proxy to use, whose address may hold a password; `None` for the one
    /// that the environment names.
    pub proxy: Option<SecretString>,
    /// What shapes requests to any of its models.
    pub options: Options,
    /// What a person says of its models, by their ids.
    pub models: BTreeMap<String, ModelConfig>,
}

impl ProviderConfig {
    /// What a person says is known of its models, by their ids.
    #[must_use]
    pub fn facts(&self) -> BTreeMap<String, Facts> {
        let models = self.models.iter();
        models
            .map(|(id, model)| (id.clone(), model.facts.clone()))
            .collect()
    }
}

/// A provider's section as it was written.
#[derive(Debug, Default)]
pub(super) struct Given {
    enabled: Option<bool>,
    api: Option<Api>,
    base_url: Option<String>,
    key: Option<KeyPlace>,
    headers: BTreeMap<String, SecretString>,
    connect_timeout: Option<Duration>,
    idle_timeout: Option<Duration>,
    total_timeout: Option<Duration>,
    ca_file: Option<PathBuf>,
    proxy: Option<SecretString>,
    options: Options,
    models: BTreeMap<String, ModelConfig>,
}

/// The sections of all providers, by name. Paths in them start at `folder`.
pub(super) fn read(
    section: &Section<'_>,
    folder: &Path,
    known: &BTreeMap<String, Given>,
    problems: &mut Problems<'_>,
) -> BTreeMap<String, Given> {
    let mut providers = BTreeMap::new();
    for (name, section) in section.all(problems) {
        if let Err(wrong) = name_of_a_provider(&name) {
            section.refuse(wrong, problems);
        }
        let known_api = known.get(&name).and_then(|given| given.api);
        let given = Given::read(&section, folder, known_api, problems);
        for needed in ["api", "base-url"] {
            if !known.contains_key(&name) && !section.has(needed) {
                let names = known.keys().map(String::as_str);
                let problem = format!("ibid does not know this provider; it needs `{needed}`");
                let nearest = super::problem::nearest(&name, names);
                section.refuse(Wrong { problem, nearest }, problems);
            }
        }
        providers.insert(name, given);
    }
    providers
}

/// A name that a route can be written with.
fn name_of_a_provider(name: &str) -> Result<(), Wrong> {
    if name == offline::PROVIDER {
        return Err(Wrong::new(
            "this name is that of the built-in model; choose another one",
        ));
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(Wrong::new(
            "a provider's name has letters, digits, `-`, `_` and `.` alone",
        ));
    }
    Ok(())
}

impl Given {
    /// Whether it is left out. The defaults leave none out, so what a person
    /// says decides.
    pub(super) fn is_off(&self) -> bool {
        self.enabled == Some(false)
    }

    /// `known_api` is what its server speaks where the section does not say.
    fn read(
        section: &Section<'_>,
        folder: &Path,
        known_api: Option<Api>,
        problems: &mut Problems<'_>,
    ) -> Self {
        section.only(NAMES, problems);
        let apis = Api::ALL.map(|api| (api.as_str(), api));
        let own_api = section.get("api", problems, one_of("API", &apis));
        let api = own_api.or(known_api);
        Self {
            enabled: section.get("enabled", problems, flag),
            api: own_api,
            base_url: section.get("base-url", problems, |value| {
                values::base_url(&text(value)?)
            }),
            key: key::read(section, folder, problems),
            headers: headers(section, problems),
            connect_timeout: seconds(section, "connect-timeout", problems),
            idle_timeout: seconds(section, "idle-timeout", problems),
            total_timeout: seconds(section, "total-timeout", problems),
            ca_file: section.get("ca-file", problems, |value| {
                Ok(values::path(&filled(value)?, folder))
            }),
            proxy: section.get("proxy", problems, |value| values::proxy(&text(value)?)),
            options: requests::read(section, api, problems),
            models: section
                .inner("models", problems)
                .map(|section| models::read(&section, api, problems))
                .unwrap_or_default(),
        }
    }

    /// These settings, and those of `defaults` where they say nothing.
    pub(super) fn over(self, mut defaults: Self) -> Self {
        for (id, model) in self.models {
            let under = defaults.models.remove(&id).unwrap_or_default();
            defaults.models.insert(id, model.over(under));
        }
        defaults.headers.extend(self.headers);
        Self {
            enabled: self.enabled.or(defaults.enabled),
            api: self.api.or(defaults.api),
            base_url: self.base_url.or(defaults.base_url),
            key: self.key.or(defaults.key),
            headers: defaults.headers,
            connect_timeout: self.connect_timeout.or(defaults.connect_timeout),
            idle_timeout: self.idle_timeout.or(defaults.idle_timeout),
            total_timeout: self.total_timeout.or(defaults.total_timeout),
            ca_file: self.ca_file.or(defaults.ca_file),
            proxy: self.proxy.or(defaults.proxy),
            options: self.options.over(defaults.options),
            models: defaults.models,
        }
    }

    /// The settings as a whole; `None` without an API or an address.
    pub(super) fn whole(self) -> Option<ProviderConfig> {
        Some(ProviderConfig {
            enabled: self.enabled.unwrap_or(true),
            api: self.api?,
            base_url: self.base_url?,
            key: self.key,
            headers: self.headers,
            connect_timeout: self.connect_timeout.unwrap_or(Endpoint::CONNECT_TIMEOUT),
            idle_timeout: self.idle_timeout.unwrap_or(Endpoint::IDLE_TIMEOUT),
            total_timeout: self.total_timeout,
            ca_file: self.ca_file,
            proxy: self.proxy,
            options: self.options,
            models: self.models,
        })
    }
}

fn seconds(section: &Section<'_>, name: &str, problems: &mut Problems<'_>) -> Option<Duration> {
    section.get(name, problems, |value| match positive(value)? {
        seconds @ 1..=LONGEST => Ok(Duration::from_secs(seconds)),
        more => Err(Wrong::new(format!("{more} is more than {LONGEST} seconds"))),
    })
}

fn headers(section: &Section<'_>, problems: &mut Problems<'_>) -> BTreeMap<String, SecretString> {
    let Some(section) = section.inner("headers", problems) else {
        return BTreeMap::new();
    };
    let names: Vec<String> = section.names().map(str::to_owned).collect();
    let mut headers = BTreeMap::new();
    for name in names {
        if let Err(wrong) = values::header_name(&name) {
            section.refuse_name(&name, wrong, problems);
        }
        let value = section.get(&name, problems, |value| values::header_value(text(value)?));
        if let Some(value) = value {
            headers.insert(name, value);
        }
    }
    headers
}
