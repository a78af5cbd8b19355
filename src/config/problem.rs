//! What is wrong in a settings file, and where.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// One thing that is wrong in a settings file. It never repeats a value that
/// could be a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The setting with its section, such as `references.max-bytes`; empty
    /// where the file is no TOML.
    pub setting: String,
    /// What is wrong with it.
    pub problem: String,
    /// The right name or value that is nearest to what was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, column {}: ", self.line, self.column)?;
        if !self.setting.is_empty() {
            write!(out, "{}: ", self.setting)?;
        }
        out.write_str(&self.problem)?;
        match &self.nearest {
            Some(nearest) => write!(out, "; did you mean {nearest:?}?"),
            None => Ok(()),
        }
    }
}

/// Why a value can't be used, before it is known where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) problem: String,
    pub(super) nearest: Option<String>,
}

impl Wrong {
    pub(super) fn new(problem: impl fmt::Display) -> Self {
        Self {
            problem: problem.to_string(),
            nearest: None,
        }
    }

    /// Something else than one of the names that there are.
    pub(super) fn not_one_of(written: &str, what: &str, names: &[&str]) -> Self {
        Self {
            problem: format!("there is no {what} {written:?}; there is {}", listed(names)),
            nearest: nearest(written, names.iter().copied()),
        }
    }
}

/// The problems of one text, in the order of their places.
#[derive(Debug)]
pub(super) struct Problems<'t> {
    text: &'t str,
    places: BTreeSet<(usize, usize)>,
    told: Vec<(usize, Problem)>,
}

impl<'t> Problems<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            text,
            places: BTreeSet::new(),
            told: Vec::new(),
        }
    }

    /// Notes a problem. A second one of the same setting at the same place
    /// says nothing new.
    pub(super) fn add(&mut self, span: &Range<usize>, setting: String, wrong: Wrong) {
        if !self.places.insert((span.start, span.end)) {
            return;
        }
        let (line, column) = self.place(span.start);
        let Wrong { problem, nearest } = wrong;
        self.told.push((
            span.start,
            Problem {
                line,
                column,
                setting,
                problem,
                nearest,
            },
        ));
    }

    pub(super) fn into_vec(mut self) -> Vec<Problem> {
        self.told.sort_by_key(|(at, _)| *at);
        self.told.into_iter().map(|(_, problem)| problem).collect()
    }

    /// Line and column of a byte, both from 1.
    fn place(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = 1 + before.matches('\n').count();
        let last = before.rsplit('\n').next().unwrap_or_default();
        (line, 1 + last.chars().count())
    }
}

/// Names as a sentence lists them.
fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    names.join(", ")
}

/// The name that needs the fewest changes, if that is few: one for every three
/// letters.
pub(super) fn nearest<'n>(
    written: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    let most = (written.chars().count() / 3).max(1);
    let plain = written.to_lowercase().replace('_', "-");
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(&plain, name), name))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_by_line_and_character() {
        let text = "a = 1\nж = 2 # é\n";
        let mut problems = Problems::of(text);
        let at = text.find('2').unwrap();
        problems.add(&(at..at + 1), "ж".to_owned(), Wrong::new("too small"));
        problems.add(&(0..1), "a".to_owned(), Wrong::new("too large"));
        let told: Vec<String> = problems.into_vec().iter().map(Problem::to_string).collect();
        assert_eq!(
            told,
            [
                "line 1, column 1: a: too large",
                "line 2, column 5: ж: too small"
            ]
        );
    }

    #[test]
    fn the_nearest_name_is_a_near_one() {
        let names = ["review", "references", "max-bytes"];
        for (written, expected) in [
            ("reveiw", Some("review")),
            ("Review", Some("review")),
            ("refrences", Some("references")),
            ("max_bytes", Some("max-bytes")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, names).as_deref(), expected, "{written}");
        }
    }
}
