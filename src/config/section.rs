//! A section of a settings file, read setting by setting: whatever is wrong is
//! noted with its place, and reading goes on.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{Problems, Wrong, nearest};

/// The names of the settings that are not in a section of a person's own
/// naming, by the section: for telling where a misplaced one belongs.
const PLACES: &[(&str, &[&str])] = &[
    ("references", super::references::NAMES),
    ("sources", super::sources::NAMES),
];

/// One table of the file.
pub(super) struct Section<'d> {
    /// Its name with those around it, `providers.openai`; empty for the file.
    name: String,
    /// Where it is named.
    span: Range<usize>,
    table: &'d DeTable<'d>,
}

impl<'d> Section<'d> {
    /// The file itself.
    pub(super) fn file(table: &'d Spanned<DeTable<'d>>) -> Self {
        Self {
            name: String::new(),
            span: 0..0,
            table: table.get_ref(),
        }
    }

    /// The full name of a setting in it.
    fn full(&self, name: &str) -> String {
        if self.name.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.name)
        }
    }

    /// Notes every name that is none of these.
    pub(super) fn only(&self, names: &[&str], problems: &mut Problems<'_>) {
        for key in self.table.keys() {
            let written = key.get_ref().as_ref();
            if names.contains(&written) {
                continue;
            }
            let mut wrong = Wrong::not_one_of(written, "setting", names);
            let elsewhere = PLACES
                .iter()
                .find(|(place, known)| *place != self.name && known.contains(&written));
            if let Some((place, _)) = elsewhere {
                wrong = Wrong::new(format!("this setting belongs below [{place}]"));
            }
            problems.add(&key.span(), self.full(written), wrong);
        }
    }

    /// One setting, if it is there and right.
    pub(super) fn get<T>(
        &self,
        name: &str,
        problems: &mut Problems<'_>,
        read: impl FnOnce(&DeValue<'_>) -> Result<T, Wrong>,
    ) -> Option<T> {
        let value = self.table.get(name)?;
        match read(value.get_ref()) {
            Ok(value) => Some(value),
            Err(wrong) => {
                problems.add(&value.span(), self.full(name), wrong);
                None
            }
        }
    }

    /// Each entry of a list, if it is there; wrong ones are noted and left
    /// out.
    pub(super) fn each_of<T>(
        &self,
        name: &str,
        problems: &mut Problems<'_>,
        read: impl Fn(&DeValue<'_>) -> Result<T, Wrong>,
    ) -> Option<Vec<T>> {
        let value = self.table.get(name)?;
        let Some(list) = value.get_ref().as_array() else {
            let wrong = unlike("a list", value.get_ref());
            problems.add(&value.span(), self.full(name), wrong);
            return None;
        };
        let mut read_all = Vec::with_capacity(list.len());
        for entry in list {
            match read(entry.get_ref()) {
                Ok(value) => read_all.push(value),
                Err(wrong) => problems.add(&entry.span(), self.full(name), wrong),
            }
        }
        Some(read_all)
    }

    /// A section inside it, if it is there.
    pub(super) fn inner(&self, name: &str, problems: &mut Problems<'_>) -> Option<Section<'d>> {
        let (key, value) = self.table.get_key_value(name)?;
        self.section(key.get_ref(), key.span(), value, problems)
    }

    /// Every section inside it, by the name that a person gave it.
    pub(super) fn all(&self, problems: &mut Problems<'_>) -> Vec<(String, Section<'d>)> {
        let mut sections = Vec::new();
        for (key, value) in self.table {
            let name = key.get_ref().as_ref();
            if let Some(section) = self.section(name, key.span(), value, problems) {
                sections.push((name.to_owned(), section));
            }
        }
        sections
    }

    fn section(
        &self,
        name: &str,
        span: Range<usize>,
        value: &'d Spanned<DeValue<'d>>,
        problems: &mut Problems<'_>,
    ) -> Option<Section<'d>> {
        if let Some(table) = value.get_ref().as_table() {
            let name = self.full(name);
            return Some(Section { name, span, table });
        }
        problems.add(
            &value.span(),
            self.full(name),
            unlike("a table of settings", value.get_ref()),
        );
        None
    }

    /// The names of everything in it.
    pub(super) fn names(&self) -> impl Iterator<Item = &'d str> {
        self.table.keys().map(|key| key.get_ref().as_ref())
    }

    /// Whether a setting stands in it, right or wrong.
    pub(super) fn has(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }

    /// Notes what is wrong with the whole of it.
    pub(super) fn refuse(&self, wrong: Wrong, problems: &mut Problems<'_>) {
        problems.add(&self.span, self.name.clone(), wrong);
    }

    /// Notes what is wrong with the name of something in it.
    pub(super) fn refuse_name(&self, name: &str, wrong: Wrong, problems: &mut Problems<'_>) {
        let key = self.table.get_key_value(name);
        let span = key.map_or(self.span.clone(), |(key, _)| key.span());
        problems.add(&span, self.full(name), wrong);
    }

    /// Notes what is wrong with a setting that could be read.
    pub(super) fn refuse_setting(&self, name: &str, wrong: Wrong, problems: &mut Problems<'_>) {
        let span = self
            .table
            .get(name)
            .map_or(self.span.clone(), Spanned::span);
        problems.add(&span, self.full(name), wrong);
    }
}

/// A value of another kind. It is not repeated.
pub(super) fn unlike(expected: &str, found: &DeValue<'_>) -> Wrong {
    Wrong::new(format!("this is {expected}, not {}", kind(found)))
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A text.
pub(super) fn text(value: &DeValue<'_>) -> Result<String, Wrong> {
    let text = value.as_str().ok_or_else(|| unlike("a text", value))?;
    Ok(text.to_owned())
}

/// A text with something in it.
pub(super) fn filled(value: &DeValue<'_>) -> Result<String, Wrong> {
    let text = text(value)?;
    if text.trim().is_empty() {
        return Err(Wrong::new("this is empty"));
    }
    Ok(text)
}

/// `true` or `false`.
pub(super) fn flag(value: &DeValue<'_>) -> Result<bool, Wrong> {
    value
        .as_bool()
        .ok_or_else(|| unlike("true or false", value))
}

/// A whole number, from 0.
pub(super) fn whole(value: &DeValue<'_>) -> Result<u64, Wrong> {
    let number = value
        .as_integer()
        .ok_or_else(|| unlike("a whole number", value))?;
    u64::from_str_radix(number.as_str(), number.radix()).map_err(|_| {
        Wrong::new(format!(
            "{number} is no whole number from 0 to {}",
            u64::MAX
        ))
    })
}

/// A whole number, from 1.
pub(super) fn positive(value: &DeValue<'_>) -> Result<u64, Wrong> {
    match whole(value)? {
        0 => Err(Wrong::new("0 is less than 1")),
        number => Ok(number),
    }
}

/// Any number.
pub(super) fn number(value: &DeValue<'_>) -> Result<f64, Wrong> {
    let written = match value {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
        DeValue::Float(number) => number.as_str(),
        _ => return Err(unlike("a number", value)),
    };
    written
        .parse()
        .map_err(|_| Wrong::new(format!("{written} is no number")))
}

/// One of some names, as what it stands for.
pub(super) fn one_of<T: Copy>(
    what: &str,
    choices: &[(&str, T)],
) -> impl Fn(&DeValue<'_>) -> Result<T, Wrong> {
    move |value| {
        let written = text(value)?;
        let found = choices.iter().find(|(name, _)| *name == written);
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            Wrong::not_one_of(&written, what, &names)
        })
    }
}

/// A name out of a list that is known only now.
pub(super) fn unknown_name<'n>(
    written: &str,
    what: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Wrong {
    Wrong {
        problem: format!("there is no {what} {written:?}"),
        nearest: nearest(written, names),
    }
}
