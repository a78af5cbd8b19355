//! The columns of a model's row: name, window, key and price, as many as there
//! is room for.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use super::Row;
use crate::figures::price;
use crate::sanitize;
use crate::tui::human;
use crate::tui::picker::columns::push_styled;
use crate::tui::theme::Theme;
use crate::tui::wrap::columns;

impl Row {
    fn window(&self) -> String {
        let window = self.offer.chosen.context_window;
        window.map(human::tokens).unwrap_or_default()
    }

    fn key(&self) -> &'static str {
        if self.is_typed {
            "in no list"
        } else {
            self.access.words()
        }
    }

    fn price(&self) -> String {
        let (input, output) = self.offer.price;
        price(input, output).unwrap_or_default()
    }
}

/// Which columns a list has room for. They drop out before names are cut: first
/// the price, then the key, last the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Columns {
    name: usize,
    window: usize,
    key: usize,
    price: usize,
}

/// The marks before a name: of the cursor, and of the model in use.
const MARKS: usize = 2;
/// The room a name wants, in columns.
const NAME_WANTS: usize = 24;

impl Columns {
    pub(super) fn fit(rows: &[Row], width: usize) -> Self {
        let widest = |of: &dyn Fn(&Row) -> usize| rows.iter().map(of).max().unwrap_or(0);
        let name = widest(&|row| columns(&sanitize::line(&row.name)));
        let wanted = name.clamp(1, NAME_WANTS.max(width / 2));
        let window = widest(&|row| columns(&row.window()));
        let key = widest(&|row| columns(row.key()));
        let price = widest(&|row| columns(&row.price()));
        let mut fitted = Self::default();
        let mut used = MARKS;
        for (slot, wants) in [
            (&mut fitted.window, window),
            (&mut fitted.key, key),
            (&mut fitted.price, price),
        ] {
            // A gap of two stands before each.
            if wants > 0 {
                if used + wanted + wants + 2 > width {
                    break;
                }
                *slot = wants;
                used += wants + 2;
            }
        }
        fitted.name = width.saturating_sub(used);
        fitted
    }

    pub(super) fn line(&self, row: &Row, selected: bool, theme: &Theme) -> Line<'static> {
        let mark = if selected { "▌" } else { " " };
        let in_use = if row.is_in_use { "*" } else { " " };
        let mut spans = vec![Span::raw(format!("{mark}{in_use}"))];
        let used = self.name_spans(row, theme, &mut spans);
        spans.push(Span::raw(" ".repeat(self.name.saturating_sub(used))));
        // Numbers end in one line, words begin in one.
        for (width, text, is_number) in [
            (self.window, row.window(), true),
            (self.key, row.key().to_owned(), false),
            (self.price, row.price(), false),
        ] {
            if width > 0 {
                let gap = " ".repeat(width.saturating_sub(columns(&text)));
                let text = if is_number {
                    format!("  {gap}{text}")
                } else {
                    format!("  {text}{gap}")
                };
                spans.push(Span::styled(text, theme.dim));
            }
        }
        Line::from(spans)
    }

    /// The name with its matched characters marked. Gives the columns used.
    fn name_spans(&self, row: &Row, theme: &Theme, spans: &mut Vec<Span<'static>>) -> usize {
        let whole = columns(&sanitize::line(&row.name)) <= self.name;
        let room = if whole {
            self.name
        } else {
            self.name.saturating_sub(1)
        };
        let mut used = 0;
        for (grapheme, at) in row.name.graphemes(true).zip(0_u32..) {
            let shown = sanitize::line(grapheme);
            if used + columns(&shown) > room {
                break;
            }
            let style = if row.matched.contains(&at) {
                theme.matched
            } else {
                Style::default()
            };
            push_styled(spans, &shown, style);
            used += columns(&shown);
        }
        if !whole && used < self.name {
            spans.push(Span::raw("…"));
            used += 1;
        }
        used
    }
}
