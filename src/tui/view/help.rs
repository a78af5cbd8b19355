//! The table of keys.

use ratatui::text::{Line, Span};

use super::wrapped;
use crate::tui::keymap::BINDINGS;
use crate::tui::theme::Theme;

/// The columns of the keys where they stand beside what they do.
const KEY_COLUMNS: usize = 30;

/// The table of keys: beside each other where there is room for the longest,
/// else each key above what it does.
pub(super) fn lines(theme: &Theme, width: u16) -> Vec<Line<'static>> {
    let told = BINDINGS.iter().map(|b| b.what.len()).max();
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
        if is_wide {
            let room = u16::try_from(KEY_COLUMNS).unwrap_or(u16::MAX);
            let what = std::iter::once(binding.what).chain(std::iter::repeat(""));
            lines.extend(wrapped(&keys, room).iter().zip(what).map(|(keys, what)| {
                Line::from(vec![
                    Span::raw(format!("  {keys:<KEY_COLUMNS$} ")),
                    Span::styled(what, theme.dim),
                ])
            }));
        } else {
            lines.extend(indented(&keys, 2, width).map(Line::raw));
            let what = indented(binding.what, 4, width);
            lines.extend(what.map(|row| Line::styled(row, theme.dim)));
        }
    }
    lines
}

/// The rows of a text that stands so many columns in.
fn indented(text: &str, columns: usize, width: u16) -> impl Iterator<Item = String> {
    let indent = " ".repeat(columns);
    let room = usize::from(width).saturating_sub(columns).max(1);
    let room = u16::try_from(room).unwrap_or(u16::MAX);
    let rows = wrapped(text, room).into_iter();
    rows.map(move |row| format!("{indent}{row}"))
}
