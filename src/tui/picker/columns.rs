//! The columns of a list row: title, fork, tool, place and age, as many as
//! there is room for.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use crate::runtime::{FoundRow, TextRow};
use crate::sanitize;
use crate::session::Millis;
use crate::tool::Tool;
use crate::tui::human;
use crate::tui::theme::Theme;
use crate::tui::wrap::{columns, cut_start};

/// What a list tells of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells<'a> {
    title: &'a str,
    /// Which grapheme clusters of the title match.
    matched: &'a [u32],
    is_fork: bool,
    tool: Tool,
    place: &'a str,
    when: Millis,
}

impl<'a> From<&'a FoundRow> for Cells<'a> {
    fn from(row: &'a FoundRow) -> Self {
        Self {
            title: &row.title,
            matched: &row.matched,
            is_fork: row.is_fork,
            tool: row.tool,
            place: &row.place,
            when: row.when,
        }
    }
}

impl<'a> From<&'a TextRow> for Cells<'a> {
    fn from(row: &'a TextRow) -> Self {
        Self {
            title: &row.title,
            matched: &[],
            is_fork: false,
            tool: row.tool,
            place: &row.place,
            when: row.when,
        }
    }
}

impl Cells<'_> {
    fn fork(&self) -> &'static str {
        if self.is_fork { "fork" } else { "" }
    }

    fn place(&self) -> String {
        sanitize::line(self.place).into_owned()
    }

    fn age(&self, now: Millis) -> String {
        human::human_age(self.when, now)
    }
}

/// Which columns a list has room for. They drop out before titles are cut:
/// first the age, then the directory, then the tool, last the mark of forks.
/// A long directory is cut before the age drops out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Columns {
    title: usize,
    fork: usize,
    tool: usize,
    place: usize,
    age: usize,
}

/// The room a title wants, in columns.
const TITLE_WANTS: usize = 24;
/// The least that is shown of a directory, in columns.
const PLACE_LEAST: usize = 12;

impl Columns {
    pub(crate) fn fit<'a>(
        rows: &(impl Iterator<Item = Cells<'a>> + Clone),
        width: usize,
        now: Millis,
    ) -> Self {
        let widest = |of: &dyn Fn(&Cells<'_>) -> usize| {
            let widths = rows.clone().map(|cells| of(&cells));
            widths.max().unwrap_or(0)
        };
        let fork = widest(&|cells| columns(cells.fork()));
        let tool = widest(&|cells| columns(cells.tool.name()));
        let place = widest(&|cells| columns(&cells.place())).min(width / 3);
        let age = widest(&|cells| columns(&cells.age(now)));
        let titles = widest(&|cells| columns(&sanitize::line(cells.title)));
        let wanted = titles.clamp(1, TITLE_WANTS.max(width / 2));
        // The mark before a title takes a column, and a gap two before each
        // column that follows.
        let beside = |width: usize| if width > 0 { width + 2 } else { 0 };
        let others = 1 + wanted + beside(fork) + beside(tool) + beside(age) + 2;
        let room = width.saturating_sub(others);
        let place = if room < place.min(PLACE_LEAST) {
            place
        } else {
            place.min(room)
        };
        let fits = |extra: usize| 1 + wanted + extra <= width;
        let mut columns = Self::default();
        let mut used = 0;
        for (slot, wants) in [
            (&mut columns.fork, fork),
            (&mut columns.tool, tool),
            (&mut columns.place, place),
            (&mut columns.age, age),
        ] {
            if wants == 0 {
                continue;
            }
            if !fits(used + wants + 2) {
                break;
            }
            *slot = wants;
            used += wants + 2;
        }
        columns.title = width.saturating_sub(1 + used);
        columns
    }

    pub(crate) fn line(
        &self,
        cells: &Cells<'_>,
        selected: bool,
        theme: &Theme,
        now: Millis,
    ) -> Line<'static> {
        let mark = if selected { "▌" } else { " " };
        let mut spans = vec![Span::raw(mark)];
        let used = title_spans(cells, self.title, theme, &mut spans);
        let mut gap = self.title.saturating_sub(used);
        for (width, text) in [
            (self.fork, cells.fork().to_owned()),
            (self.tool, cells.tool.name().to_owned()),
            (self.place, cells.place()),
            (self.age, cells.age(now)),
        ] {
            if width == 0 {
                continue;
            }
            let text = cut_start(&text, u16::try_from(width).unwrap_or(u16::MAX));
            spans.push(Span::raw(" ".repeat(gap + 2)));
            gap = width.saturating_sub(columns(&text));
            spans.push(Span::styled(text, theme.dim));
        }
        Line::from(spans)
    }
}

/// The title with its matched characters marked, cut to a width. Gives the
/// columns used.
fn title_spans(
    cells: &Cells<'_>,
    width: usize,
    theme: &Theme,
    spans: &mut Vec<Span<'static>>,
) -> usize {
    let mut used = 0;
    let mut graphemes = cells.title.graphemes(true).zip(0_u32..).peekable();
    while let Some((grapheme, at)) = graphemes.next() {
        let shown = sanitize::line(grapheme).into_owned();
        let taken = columns(&shown);
        let last = graphemes.peek().is_none();
        if used + taken > width.saturating_sub(usize::from(!last)) {
            if used < width {
                spans.push(Span::raw("…"));
                used += 1;
            }
            break;
        }
        let hit = cells.matched.contains(&at);
        push_styled(
            spans,
            &shown,
            if hit { theme.matched } else { Style::default() },
        );
        used += taken;
    }
    used
}

/// Adds text to the last span where that looks the same.
pub(crate) fn push_styled(spans: &mut Vec<Span<'static>>, text: &str, style: Style) {
    match spans.last_mut() {
        Some(span) if span.style == style => span.content.to_mut().push_str(text),
        _ => spans.push(Span::styled(text.to_owned(), style)),
    }
}
