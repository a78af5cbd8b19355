//! Settings: what a person can choose, from `config.toml` in ibid's home.
//!
//! `assets/config.toml` is the one place of defaults. It is read like a
//! person's own file, which is laid over it. Everything that is wrong in a file
//! is told at once, each with its place.

mod assembly;
mod key;
mod models;
mod problem;
mod providers;
mod references;
mod requests;
mod section;
mod shown;
mod sources;
mod starter;
mod values;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;
use toml::de::{DeTable, DeValue};

pub use assembly::{models, servers};
pub use models::ModelConfig;
pub use problem::Problem;
pub use providers::ProviderConfig;
pub use shown::Shown;
pub use sources::SourceConfig;
pub use starter::write_starter;

use crate::chat::{ReviewPolicy, TitlePolicy};
use crate::model::offline;
use crate::reference::ports::ModelRoute;
use crate::reference::{ReferenceConfig, ReferenceSettings};
use problem::{Problems, Wrong};
use section::{Section, one_of, text, unknown_name};

/// The name of the file in ibid's home.
pub const FILE_NAME: &str = "config.toml";

/// The settings that hold where the file says nothing, as that file.
const DEFAULTS: &str = include_str!("../assets/config.toml");
/// Where they are, for the one who breaks them.
const DEFAULTS_PATH: &str = "assets/config.toml";

/// The sections and settings that stand in none.
const NAMES: &[&str] = &[
    "model",
    "review",
    "titles",
    "theme",
    "references",
    "sources",
    "providers",
];

const REVIEWS: [(&str, ReviewPolicy); 3] = [
    ("always", ReviewPolicy::Always),
    ("when-omitted", ReviewPolicy::WhenOmitted),
    ("never", ReviewPolicy::Never),
];

const TITLES: [(&str, TitlePolicy); 2] = [
    ("from-words", TitlePolicy::FromWords),
    ("from-model", TitlePolicy::FromModel),
];

/// The colours of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThemeName {
    /// The terminal's own, as they are.
    #[default]
    Terminal,
    /// Bright ones, for a dark background.
    Dark,
    /// Dark ones, for a light background.
    Light,
    /// None at all.
    Mono,
}

/// The words for them.
pub const THEMES: [(&str, ThemeName); 4] = [
    ("terminal", ThemeName::Terminal),
    ("dark", ThemeName::Dark),
    ("light", ThemeName::Light),
    ("mono", ThemeName::Mono),
];

/// Checked settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// The model of new sessions; `None` for the one that needs no network.
    pub model: Option<ModelRoute>,
    /// When a message that cites sessions is shown before it is sent.
    pub review: ReviewPolicy,
    /// Where the titles of sessions come from.
    pub titles: TitlePolicy,
    /// The colours of the screen.
    pub theme: ThemeName,
    /// The limits of citing.
    pub references: ReferenceConfig,
    /// Whose sessions are listed, and which of them.
    pub sources: SourceConfig,
    /// The providers of models, by name.
    pub providers: BTreeMap<String, ProviderConfig>,
}

/// Why the settings can't be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file is there and can't be read.
    #[error("the settings in {} can't be read: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// Something in it is wrong.
    #[error("the settings in {} are not valid{}", path.display(), told(problems))]
    Invalid {
        /// The file.
        path: PathBuf,
        /// All that is wrong, in the order of the file.
        problems: Vec<Problem>,
    },
    /// There is a file already where the first one was to be written.
    #[error(
        "there are settings already in {}; change them there, or move them away first",
        path.display()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The first file can't be written.
    #[error("the settings can't be written to {}: {cause}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl ConfigError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "CONFIG_UNREADABLE",
            Self::Invalid { .. } => "CONFIG_INVALID",
            Self::Exists { .. } => "CONFIG_EXISTS",
            Self::Unwritable { .. } => "CONFIG_UNWRITABLE",
        }
    }
}

/// One problem in the same line, several below each other.
fn told(problems: &[Problem]) -> String {
    match problems {
        [only] => format!(", {only}"),
        _ => problems.iter().fold(":".to_owned(), |told, problem| {
            format!("{told}\n  {problem}")
        }),
    }
}

/// A file as it was written.
#[derive(Debug, Default)]
struct Given {
    model: Option<ModelRoute>,
    review: Option<ReviewPolicy>,
    titles: Option<TitlePolicy>,
    theme: Option<ThemeName>,
    references: ReferenceSettings,
    sources: sources::Given,
    providers: BTreeMap<String, providers::Given>,
}

impl Given {
    /// Reads a file's text, over the settings that hold without it. Paths in
    /// it start at `folder`.
    fn read(text: &str, folder: &Path, defaults: &Self) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::of(text);
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let wrong = Wrong::new(error.message());
            problems.add(&error.span().unwrap_or(0..0), String::new(), wrong);
        }
        // What a text that is no TOML means is not sure enough to be judged.
        let problems_of_form = problems.into_vec();
        if !problems_of_form.is_empty() {
            return Err(problems_of_form);
        }
        let mut problems = Problems::of(text);
        let given = Self::of(&Section::file(&table), folder, defaults, &mut problems);
        match problems.into_vec() {
            problems if problems.is_empty() => Ok(given),
            problems => Err(problems),
        }
    }

    fn of(file: &Section<'_>, folder: &Path, defaults: &Self, problems: &mut Problems<'_>) -> Self {
        file.only(NAMES, problems);
        let mut given = Self {
            model: file.get("model", problems, route),
            review: file.get("review", problems, one_of("review", &REVIEWS)),
            titles: file.get("titles", problems, one_of("titles", &TITLES)),
            theme: file.get("theme", problems, one_of("theme", &THEMES)),
            ..Self::default()
        };
        if let Some(section) = file.inner("references", problems) {
            given.references = references::read(&section, problems);
        }
        if let Some(section) = file.inner("sources", problems) {
            given.sources = sources::Given::read(&section, problems);
        }
        if let Some(section) = file.inner("providers", problems) {
            given.providers = providers::read(&section, folder, &defaults.providers, problems);
        }
        let route = given.model.as_ref();
        let wrong = route.and_then(|route| unusable(route, &given.providers, &defaults.providers));
        if let Some(wrong) = wrong {
            file.refuse_setting("model", wrong, problems);
        }
        given
    }
}

/// Why the chosen model can't be asked: of providers that the person's file
/// names, and of those that are known without it.
fn unusable(
    route: &ModelRoute,
    own: &BTreeMap<String, providers::Given>,
    known: &BTreeMap<String, providers::Given>,
) -> Option<Wrong> {
    let ModelRoute { provider, model } = route;
    if provider == offline::PROVIDER {
        let is_there = model == offline::MODEL;
        return (!is_there).then(|| unknown_name(model, "offline model", [offline::MODEL]));
    }
    if own.get(provider).is_some_and(providers::Given::is_off) {
        return Some(Wrong::new("this provider has `enabled = false`"));
    }
    if own.contains_key(provider) || known.contains_key(provider) {
        return None;
    }
    let names = own.keys().chain(known.keys()).map(String::as_str);
    Some(unknown_name(
        provider,
        "provider",
        names.chain([offline::PROVIDER]),
    ))
}

/// A model with its provider, `provider/model`.
fn route(value: &DeValue<'_>) -> Result<ModelRoute, Wrong> {
    ModelRoute::parse(&text(value)?)
        .ok_or_else(|| Wrong::new("a model is written with its provider, as \"openai/gpt-5\""))
}

impl Config {
    /// The settings of a home; the defaults where it has no file.
    ///
    /// # Errors
    /// When the file is there and can't be used: which file, where, and why.
    pub fn load(home: &Path) -> Result<Self, ConfigError> {
        let path = home.join(FILE_NAME);
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text, &path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::parse("", &path),
            Err(cause) => Err(ConfigError::Unreadable { path, cause }),
        }
    }

    fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let invalid = |path: &Path| {
            let path = path.to_owned();
            |problems| ConfigError::Invalid { path, problems }
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let shipped = Path::new(DEFAULTS_PATH);
        let defaults =
            Given::read(DEFAULTS, folder, &Given::default()).map_err(invalid(shipped))?;
        let given = Given::read(text, folder, &defaults).map_err(invalid(path))?;
        let references = given.references.over(defaults.references);
        // Each was in its range by itself, and none depends on another.
        let references = ReferenceConfig::new(references).map_err(|error| {
            let mut problems = Problems::of(text);
            problems.add(&(0..0), "references".to_owned(), Wrong::new(error));
            invalid(path)(problems.into_vec())
        })?;
        let mut providers = defaults.providers;
        for (name, own) in given.providers {
            let under = providers.remove(&name).unwrap_or_default();
            providers.insert(name, own.over(under));
        }
        let providers = providers.into_iter();
        Ok(Self {
            model: given.model.or(defaults.model),
            review: given.review.or(defaults.review).unwrap_or_default(),
            titles: given.titles.or(defaults.titles).unwrap_or_default(),
            theme: given.theme.or(defaults.theme).unwrap_or_default(),
            references,
            sources: given.sources.over(defaults.sources),
            providers: providers
                .filter_map(|(name, given)| Some((name, given.whole()?)))
                .collect(),
        })
    }

    /// The word in the settings for when messages are shown.
    fn review_word(&self) -> &'static str {
        let mut words = REVIEWS.iter();
        let found = words.find(|(_, review)| *review == self.review);
        found.map_or("always", |(word, _)| word)
    }

    /// The word in the settings for where titles come from.
    fn titles_word(&self) -> &'static str {
        let mut words = TITLES.iter();
        let found = words.find(|(_, titles)| *titles == self.titles);
        found.map_or("from-words", |(word, _)| word)
    }

    /// The word in the settings for the colours.
    fn theme_word(&self) -> &'static str {
        let mut words = THEMES.iter();
        let found = words.find(|(_, theme)| *theme == self.theme);
        found.map_or("terminal", |(word, _)| word)
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = toml::to_string(self).map_err(|_| fmt::Error)?;
        out.write_str(&text)
    }
}

#[cfg(test)]
mod tests;
