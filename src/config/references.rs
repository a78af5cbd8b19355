//! The limits of citing, as settings: `[references]`.

use toml::de::DeValue;

use super::problem::{Problems, Wrong};
use super::section::{Section, number, whole};
use crate::reference::{ReferenceConfig, ReferenceError, ReferenceSettings};

/// The settings of the section.
pub(super) const NAMES: &[&str] = &[
    "max-references",
    "candidate-limit",
    "max-bytes",
    "context-fraction",
];

/// Reads the section. Each setting is checked by itself, so that every one
/// that is out of its range is noted.
pub(super) fn read(section: &Section<'_>, problems: &mut Problems<'_>) -> ReferenceSettings {
    section.only(NAMES, problems);
    let mut settings = ReferenceSettings::default();
    for name in NAMES {
        let one = section.get(name, problems, |value| one(name, value));
        settings = one.unwrap_or_default().over(settings);
    }
    settings
}

/// The settings with this one alone.
fn one(name: &str, value: &DeValue<'_>) -> Result<ReferenceSettings, Wrong> {
    let mut settings = ReferenceSettings::default();
    match name {
        "max-references" => settings.max_references = Some(count(value)?),
        "candidate-limit" => settings.candidate_limit = Some(count(value)?),
        "max-bytes" => settings.max_reference_bytes = Some(whole(value)?),
        _ => settings.context_fraction = Some(number(value)?),
    }
    match ReferenceConfig::new(settings) {
        Ok(_) => Ok(settings),
        Err(ReferenceError::InvalidConfig { problem, .. }) => Err(Wrong::new(problem)),
        Err(other) => Err(Wrong::new(other)),
    }
}

fn count(value: &DeValue<'_>) -> Result<usize, Wrong> {
    let number = whole(value)?;
    usize::try_from(number).map_err(|_| Wrong::new(format!("{number} is too large")))
}
