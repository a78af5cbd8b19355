//! The table of keys, of commands, and of what can be typed in a query.

use ratatui::text::{Line, Span};

use super::wrapped;
use crate::tui::commands::COMMANDS;
use crate::tui::keymap::BINDINGS;
use crate::tui::theme::Theme;

/// The columns of the keys where they stand beside what they do.
const KEY_COLUMNS: usize = 30;

/// The name of what can be typed in place of a message.
const COMMAND_TITLE: &str = "In place of a message";
/// The name of what can be typed in a query.
const QUERY_TITLE: &str = "In any search for sessions";
/// What can be typed in a query, and what it does.
pub(in crate::tui) const QUERIES: [(&str, &str); 7] = [
    ("@fixlog", "letters of a title, in order; a space ends them"),
    ("tool:codex", "of one tool; -tool:codex of any other"),
    ("cwd:api", "of directories with this in their path"),
    (
        "since:7d, since:2026-11-01",
        "in which something happened since then",
    ),
    ("@?words", "after @: search what was said"),
    ("\"some words\"", "what was said: just these, in this order"),
    ("-word", "what was said: without this"),
];

/// The table of keys: beside each other where there is room for the longest,
/// else each key above what it does.
pub(super) fn lines(theme: &Theme, width: u16) -> Vec<Line<'static>> {
    let told = BINDINGS.iter().map(|b| b.what).chain(QUERIES.map(|q| q.1));
    let told = told.chain(COMMANDS.iter().map(|command| command.what));
    let told = told.map(str::len).max();
    let is_wide = usize::from(width) >= KEY_COLUMNS + 3 + told.unwrap_or_default();
    let mut lines = Vec::new();
    let mut layer = None;
    for binding in BINDINGS.iter().filter(|b| !b.what.is_empty()) {
        if layer != Some(binding.layer) {
            if layer.is_some() {
                lines.push(Line::default());
            }
            layer = Some(binding.layer);
            lines.push(Line::styled(
                format!(" {}", binding.layer.title()),
                theme.title,
            ));
        }
        let keys: Vec<String> = binding
            .keys
            .iter()
            .filter(|chord| chord.is_worth_naming())
            .map(|chord| chord.name())
            .collect();
        let keys = keys.join(", ");
        lines.extend(entry(&keys, binding.what, is_wide, theme, width));
    }
    lines.push(Line::default());
    lines.push(Line::styled(format!(" {COMMAND_TITLE}"), theme.title));
    for command in COMMANDS {
        lines.extend(entry(&command.usage(), command.what, is_wide, theme, width));
    }
    lines.push(Line::default());
    lines.push(Line::styled(format!(" {QUERY_TITLE}"), theme.title));
    for (typed, what) in QUERIES {
        lines.extend(entry(typed, what, is_wide, theme, width));
    }
    lines
}

/// What is pressed or typed, and what that does: beside each other or one
/// above the other.
fn entry(
    typed: &str,
    what: &'static str,
    is_wide: bool,
    theme: &Theme,
    width: u16,
) -> Vec<Line<'static>> {
    if !is_wide {
        let rows = indented(what, 4, width);
        let what = rows.map(|row| Line::styled(row, theme.dim));
        return indented(typed, 2, width)
            .map(Line::raw)
            .chain(what)
            .collect();
    }
    let room = u16::try_from(KEY_COLUMNS).unwrap_or(u16::MAX);
    let what = std::iter::once(what).chain(std::iter::repeat(""));
    let rows = wrapped(typed, room).into_iter().zip(what);
    rows.map(|(typed, what)| {
        Line::from(vec![
            Span::raw(format!("  {typed:<KEY_COLUMNS$} ")),
            Span::styled(what, theme.dim),
        ])
    })
    .collect()
}

/// The rows of a text that stands so many columns in.
fn indented(text: &str, columns: usize, width: u16) -> impl Iterator<Item = String> {
    let indent = " ".repeat(columns);
    let room = usize::from(width).saturating_sub(columns).max(1);
    let room = u16::try_from(room).unwrap_or(u16::MAX);
    let rows = wrapped(text, room).into_iter();
    rows.map(move |row| format!("{indent}{row}"))
}
