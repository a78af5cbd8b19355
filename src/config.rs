//! Settings: what a person can choose, from `config.toml` in ibid's home.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use crate::chat::ReviewPolicy;
use crate::reference::{ReferenceConfig, ReferenceError, ReferenceSettings};
use crate::tool::Tool;

/// The name of the file in ibid's home.
pub const FILE_NAME: &str = "config.toml";

/// The settings that hold where the file says nothing, as that file.
const DEFAULTS: &str = include_str!("../assets/config.toml");

/// Checked settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// When a message that cites sessions is shown before it is sent.
    pub review: ReviewPolicy,
    /// The limits of citing.
    pub references: ReferenceConfig,
    /// Whose sessions are listed, and which of them.
    pub sources: SourceConfig,
}

/// Which sessions are listed beside ibid's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceConfig {
    /// The other tools whose sessions are listed.
    pub tools: Vec<Tool>,
    /// Whether lists show the sessions that other sessions' agents made.
    pub show_subagents: bool,
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
    /// The file is no TOML, or names a setting that there is not.
    #[error("the settings in {} are not valid, line {line}: {problem}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What, as the parser tells it.
        problem: String,
    },
    /// A setting is out of its range.
    #[error("the settings in {} are not valid: {cause}", path.display())]
    OutOfRange {
        /// The file.
        path: PathBuf,
        /// Which one, and why.
        cause: ReferenceError,
    },
    /// A tool that ibid can't read the sessions of.
    #[error(
        "the settings in {} are not valid: there is no tool {name:?} to list the sessions of; \
         the tools are {}", path.display(), tools()
    )]
    UnknownTool {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
}

/// The names of the tools whose sessions can be listed.
fn tools() -> String {
    let names: Vec<&str> = Tool::OTHERS.iter().map(|tool| tool.name()).collect();
    names.join(", ")
}

impl ConfigError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "CONFIG_UNREADABLE",
            Self::Invalid { .. } | Self::UnknownTool { .. } => "CONFIG_INVALID",
            Self::OutOfRange { cause, .. } => cause.code().unwrap_or("CONFIG_INVALID"),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    review: Option<ReviewPolicy>,
    references: References,
    sources: Sources,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Sources {
    tools: Option<Vec<String>>,
    #[serde(alias = "show_subagents")]
    show_subagents: Option<bool>,
}

impl Sources {
    /// These settings, and those of `defaults` where they say nothing.
    fn over(self, defaults: Self, path: &Path) -> Result<SourceConfig, ConfigError> {
        let names = self.tools.or(defaults.tools).unwrap_or_default();
        let tools = names.into_iter().map(|name| {
            let tool = Tool::named(&name).filter(|tool| Tool::OTHERS.contains(tool));
            tool.ok_or_else(|| ConfigError::UnknownTool {
                path: path.to_owned(),
                name,
            })
        });
        Ok(SourceConfig {
            tools: tools.collect::<Result<_, _>>()?,
            show_subagents: self
                .show_subagents
                .or(defaults.show_subagents)
                .unwrap_or_default(),
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct References {
    #[serde(rename = "max-references")]
    max: Option<usize>,
    candidate_limit: Option<usize>,
    max_bytes: Option<u64>,
    context_fraction: Option<f64>,
}

impl File {
    fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| ConfigError::Invalid {
            path: path.to_owned(),
            line: line_of(text, &error),
            problem: error.message().to_owned(),
        })
    }
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
        let defaults = File::parse(DEFAULTS, Path::new("assets/config.toml"))?;
        let file = File::parse(text, path)?;
        let (own, else_) = (file.references, defaults.references);
        let references = ReferenceConfig::new(ReferenceSettings {
            max_references: own.max.or(else_.max),
            candidate_limit: own.candidate_limit.or(else_.candidate_limit),
            max_reference_bytes: own.max_bytes.or(else_.max_bytes),
            context_fraction: own.context_fraction.or(else_.context_fraction),
        })
        .map_err(|cause| ConfigError::OutOfRange {
            path: path.to_owned(),
            cause,
        })?;
        Ok(Self {
            review: file.review.or(defaults.review).unwrap_or_default(),
            references,
            sources: file.sources.over(defaults.sources, path)?,
        })
    }
}

/// Where the parser stopped, as a line from 1.
fn line_of(text: &str, error: &toml::de::Error) -> usize {
    let at = error.span().map_or(0, |span| span.start);
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(text, Path::new("config.toml"))
    }

    #[test]
    fn the_defaults_file_says_what_holds_without_it() {
        let shipped = File::parse(DEFAULTS, Path::new("assets/config.toml")).unwrap();
        assert_eq!(shipped.review, Some(ReviewPolicy::Always));
        assert_eq!(shipped.references.max, Some(3));
        let defaults = parse("").unwrap();
        assert_eq!(defaults.references, ReferenceConfig::default());
        assert_eq!(defaults.review, ReviewPolicy::Always);
    }

    #[test]
    fn every_tool_is_listed_without_its_subagents_unless_something_else_is_said() {
        let defaults = parse("").unwrap().sources;
        assert_eq!(defaults.tools, Tool::OTHERS);
        assert!(!defaults.show_subagents);
        let config = parse("[sources]\ntools = [\"codex\"]\nshow-subagents = true").unwrap();
        assert_eq!(config.sources.tools, [Tool::Codex]);
        assert!(config.sources.show_subagents);
        assert!(
            parse("[sources]\ntools = []")
                .unwrap()
                .sources
                .tools
                .is_empty()
        );
        for name in ["ibid", "emacs", ""] {
            let error = parse(&format!("[sources]\ntools = [\"{name}\"]")).unwrap_err();
            assert_eq!(error.code(), "CONFIG_INVALID");
            assert!(error.to_string().contains("claude"), "{error}");
        }
    }

    #[test]
    fn settings_are_taken() {
        let config = parse("review = \"when-omitted\"\n[references]\nmax-bytes = 1000").unwrap();
        assert_eq!(config.review, ReviewPolicy::WhenOmitted);
        assert_eq!(config.references.max_reference_bytes(), Some(1000));
    }

    #[test]
    fn an_unknown_setting_is_named_with_its_line() {
        let error = parse("\nreveiw = \"never\"").unwrap_err();
        assert_eq!(error.code(), "CONFIG_INVALID");
        let text = error.to_string();
        assert!(text.contains("reveiw") && text.contains("line 2"), "{text}");
    }

    #[test]
    fn a_value_out_of_range_is_named() {
        let error = parse("[references]\nmax-references = 4").unwrap_err();
        assert_eq!(error.code(), "SESSION_REFERENCE_INVALID_CONFIG");
        assert!(error.to_string().contains("maxReferences"), "{error}");
    }
}
