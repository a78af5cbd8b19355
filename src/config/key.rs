//! Where a provider's key comes from, as a setting: `key = { env = "NAME" }`,
//! `{ file = "PATH" }` or `{ command = ["PROGRAM", "ARGUMENT"] }`.

use std::path::Path;
use std::time::Duration;

use toml::de::DeValue;

use super::problem::{Problems, Wrong};
use super::section::{Section, filled, positive, text, unlike};
use super::values;
use crate::model::KeyPlace;

/// The settings of a key: one of the first three, and the time for the last.
const NAMES: &[&str] = &["env", "file", "command", "timeout"];
/// How long a command may take where nothing else is said: a person may have
/// to unlock something.
const TIMEOUT: Duration = Duration::from_mins(1);
/// The longest time that can be set for it, in seconds.
const LONGEST: u64 = 3_600;
/// The longest name of a variable.
const LONGEST_NAME: usize = 64;

/// Reads `key` of a provider's section.
pub(super) fn read(
    section: &Section<'_>,
    folder: &Path,
    problems: &mut Problems<'_>,
) -> Option<KeyPlace> {
    // A key that stands in the settings itself is refused, and not repeated.
    section.get("key", problems, is_table)?;
    let section = section.inner("key", problems)?;
    section.only(NAMES, problems);
    let timeout = section.get("timeout", problems, |value| match positive(value)? {
        seconds @ 1..=LONGEST => Ok(Duration::from_secs(seconds)),
        more => Err(Wrong::new(format!("{more} is more than {LONGEST} seconds"))),
    });
    let given: Vec<&str> = ["env", "file", "command"]
        .into_iter()
        .filter(|name| section.has(name))
        .collect();
    let [place] = given.as_slice() else {
        section.refuse(
            Wrong::new("a key has one place: `env`, `file` or `command`"),
            problems,
        );
        return None;
    };
    match *place {
        "env" => {
            let names = section.get("env", problems, variables)?;
            Some(KeyPlace::Variables(names))
        }
        "file" => {
            let path = section.get("file", problems, filled)?;
            Some(KeyPlace::File(values::path(&path, folder)))
        }
        _ => {
            let words = section.get("command", problems, command)?;
            Some(KeyPlace::Command {
                words,
                time_limit: timeout.unwrap_or(TIMEOUT),
            })
        }
    }
}

fn is_table(value: &DeValue<'_>) -> Result<(), Wrong> {
    if value.is_table() {
        return Ok(());
    }
    Err(Wrong::new(
        "a key does not stand here itself, only where it comes from: { env = \"NAME\" }, \
         { file = \"PATH\" } or { command = [\"PROGRAM\", \"ARGUMENT\"] }",
    ))
}

/// One name, or several of which the first that is set counts.
fn variables(value: &DeValue<'_>) -> Result<Vec<String>, Wrong> {
    let Some(list) = value.as_array() else {
        return Ok(vec![variable(value)?]);
    };
    if list.is_empty() {
        return Err(Wrong::new("this list names no variable"));
    }
    list.iter().map(|name| variable(name.get_ref())).collect()
}

/// A key that was put in place of the variable's name would be shown wherever
/// the name is. Nearly every key has a small letter or a dash, or is longer.
fn variable(value: &DeValue<'_>) -> Result<String, Wrong> {
    let name = text(value)?;
    let is_plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(is_plain) {
        return Err(Wrong::new(
            "this is the name of an environment variable, of capitals, digits and `_`; the key \
             itself does not stand here",
        ));
    }
    Ok(name)
}

fn command(value: &DeValue<'_>) -> Result<Vec<String>, Wrong> {
    let list = value
        .as_array()
        .ok_or_else(|| unlike("a list of a program and its arguments", value))?;
    let words = list.iter().map(|word| text(word.get_ref()));
    let words = words.collect::<Result<Vec<String>, Wrong>>()?;
    match words.first() {
        Some(program) if !program.is_empty() => Ok(words),
        _ => Err(Wrong::new("this command names no program")),
    }
}
