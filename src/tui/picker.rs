//! A list of sessions to pick from: what the popup under an `@` and the list
//! of sessions have in common. State and drawing; asking is the app's work.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use unicode_segmentation::UnicodeSegmentation;

use super::human;
use super::theme::Theme;
use super::wrap::{columns, cut_start};
use crate::runtime::{Found, FoundRow, Query};
use crate::sanitize;
use crate::session::{Millis, SessionId};

/// How long an answer may take before a spinner shows, in milliseconds.
const SPINNER_AFTER: i64 = 100;

/// A list being picked from.
#[derive(Debug, Default)]
pub struct Picker {
    rows: Vec<FoundRow>,
    matched: usize,
    total: usize,
    selected: usize,
    offset: usize,
    query: Query,
    /// When the newest question was put, while its answer is out.
    asked: Option<Millis>,
    /// Whether the rows answer the query, though perhaps not its newest answer.
    is_answered: bool,
    /// Whether the person moved to the selected row by hand.
    is_chosen: bool,
    /// Whether there may be other rows by now than the answer awaited tells.
    is_outdated: bool,
    failure: Option<String>,
    indexing: Option<(usize, usize)>,
}

impl Picker {
    /// The question whose answer is shown, or awaited.
    #[must_use]
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Notes that a question was put; the rows of the last one stay until its
    /// answer is in.
    pub fn asked(&mut self, query: Query, now: Millis) {
        if self.query != query {
            self.selected = 0;
            self.offset = 0;
            self.is_chosen = false;
            self.is_answered = false;
        }
        self.query = query;
        self.asked = Some(now);
        self.is_outdated = false;
    }

    /// Notes that there may be other rows by now. Gives the question to put
    /// again, unless its answer is still awaited: then it is to be put after
    /// that.
    pub fn outdated(&mut self, now: Millis) -> Option<Query> {
        if self.is_waiting() {
            self.is_outdated = true;
            return None;
        }
        self.asked(self.query.clone(), now);
        Some(self.query.clone())
    }

    /// Takes the answer to a question, unless a newer one was put. Gives
    /// whether it was the one awaited.
    pub fn answer(&mut self, query: &Query, found: Result<Found, String>) -> bool {
        if *query != self.query || !self.is_waiting() {
            return false;
        }
        self.asked = None;
        self.is_answered = true;
        match found {
            Ok(found) => {
                let chosen = self.selected().filter(|_| self.is_chosen);
                let kept = chosen.and_then(|row| found.rows.iter().position(|r| r.id == row.id));
                self.rows = found.rows;
                self.matched = found.matched;
                self.total = found.total;
                self.indexing = found.indexing;
                self.failure = None;
                self.is_chosen = kept.is_some();
                self.selected = kept.unwrap_or(0);
            }
            Err(message) => {
                self.failure = Some(message);
                self.rows.clear();
                self.selected = 0;
                self.is_chosen = false;
            }
        }
        true
    }

    /// Whether there may be other rows than the answer that is in tells.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        self.is_outdated
    }

    /// Shows something else as the place of a row.
    pub fn set_place(&mut self, id: &SessionId, place: &str) {
        for row in self.rows.iter_mut().filter(|row| row.id == *id) {
            place.clone_into(&mut row.place);
        }
    }

    /// The row under the cursor.
    #[must_use]
    pub fn selected(&self) -> Option<&FoundRow> {
        self.rows.get(self.selected)
    }

    /// Whether the selected row is what a person can mean: the rows answer
    /// what they typed, or they went to it by hand.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.is_answered || self.is_chosen
    }

    /// Moves by one row, round the ends.
    pub fn step(&mut self, down: bool) {
        let count = self.rows.len();
        if count > 0 {
            let by = if down { 1 } else { count - 1 };
            self.selected = (self.selected + by) % count;
            self.is_chosen = true;
        }
    }

    /// Moves by many rows, up to the ends.
    pub fn jump(&mut self, by: isize) {
        let last = self.rows.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
        self.is_chosen = !self.rows.is_empty();
    }

    /// Puts the cursor on a row of the screen, counted from the top one.
    pub fn select_visible(&mut self, row: usize) -> bool {
        let index = self.offset + row;
        let there = index < self.rows.len();
        if there {
            self.selected = index;
            self.is_chosen = true;
        }
        there
    }

    /// How many rows of the screen the list can use.
    #[must_use]
    pub fn height(&self) -> usize {
        self.rows.len().max(1)
    }

    /// Matches and total, as the counter shows them.
    #[must_use]
    pub fn counter(&self) -> String {
        let (matched, total) = (
            human::human_count(self.matched),
            human::human_count(self.total),
        );
        match self.indexing {
            Some((done, of)) if of > 0 => {
                let (done, of) = (human::human_count(done), human::human_count(of));
                format!("{matched}/{total} · indexing {done} of {of}")
            }
            _ => format!("{matched}/{total}"),
        }
    }

    /// Whether a spinner is due.
    #[must_use]
    pub fn is_slow(&self, now: Millis) -> bool {
        self.asked
            .is_some_and(|asked| now.0.saturating_sub(asked.0) >= SPINNER_AFTER)
    }

    /// Whether an answer is out: the screen wants to be drawn again later.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.asked.is_some()
    }

    fn message(&self) -> Option<String> {
        if let Some(failure) = &self.failure {
            return Some(format!("sessions can't be listed: {failure}"));
        }
        if !self.rows.is_empty() || self.is_waiting() {
            return None;
        }
        Some(match (self.indexing, self.total) {
            (Some((_, 0)), _) => "still reading the list".to_owned(),
            (Some((done, of)), _) => format!(
                "nothing yet: indexing {} of {}",
                human::human_count(done),
                human::human_count(of)
            ),
            (None, 0) => "no other sessions here yet".to_owned(),
            (None, 1) => "the one session here does not match".to_owned(),
            (None, total) => format!("none of {} sessions matches", human::human_count(total)),
        })
    }

    /// Draws the rows; keeps the cursor in sight.
    pub fn render(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
        let height = usize::from(area.height);
        if height == 0 || area.width == 0 {
            return;
        }
        self.offset = self
            .offset
            .min(self.selected)
            .max((self.selected + 1).saturating_sub(height))
            .min(self.rows.len().saturating_sub(height));
        if let Some(message) = self.message() {
            let text = sanitize::line(&message).into_owned();
            Line::styled(format!("  {text}"), theme.dim).render(area, buf);
        } else if self.rows.is_empty() && self.is_slow(now) {
            Line::styled(format!("{} looking…", human::spinner(now)), theme.dim).render(area, buf);
        }
        let width = usize::from(area.width);
        let columns = Columns::fit(&self.rows, width, now);
        let visible = self.rows.iter().enumerate().skip(self.offset).take(height);
        for ((index, row), y) in visible.zip(area.y..) {
            let selected = index == self.selected;
            let line = columns.line(row, selected, theme, now);
            let style = if selected {
                theme.selected
            } else {
                Style::default()
            };
            let row_area = Rect {
                y,
                height: 1,
                ..area
            };
            buf.set_style(row_area, style);
            line.render(row_area, buf);
        }
    }
}

/// Which columns a list has room for. They drop out before titles are cut:
/// first the age, then the directory, then the tool.
struct Columns {
    title: usize,
    tool: usize,
    cwd: usize,
    age: usize,
}

/// The room a title wants, in columns.
const TITLE_WANTS: usize = 24;

impl Columns {
    fn fit(rows: &[FoundRow], width: usize, now: Millis) -> Self {
        let widest = |of: &dyn Fn(&FoundRow) -> usize| rows.iter().map(of).max().unwrap_or(0);
        let tool = widest(&|row| columns(row.tool));
        let cwd = widest(&|row| columns(&sanitize::line(&row.place))).min(width / 3);
        let age = widest(&|row| columns(&human::human_age(row.when, now)));
        let titles = widest(&|row| columns(&sanitize::line(&row.title)));
        let wanted = titles.clamp(1, TITLE_WANTS.max(width / 2));
        // The mark before a title takes a column, and a gap two before each
        // column that follows.
        let fits = |extra: usize| 1 + wanted + extra <= width;
        let mut columns = Self {
            title: 0,
            tool: 0,
            cwd: 0,
            age: 0,
        };
        let mut used = 0;
        for (slot, wants) in [
            (&mut columns.tool, tool),
            (&mut columns.cwd, cwd),
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

    fn line(&self, row: &FoundRow, selected: bool, theme: &Theme, now: Millis) -> Line<'static> {
        let mark = if selected { "▌" } else { " " };
        let mut spans = vec![Span::raw(mark)];
        let used = title_spans(row, self.title, theme, &mut spans);
        let mut gap = self.title.saturating_sub(used);
        for (width, text) in [
            (self.tool, row.tool.to_owned()),
            (self.cwd, sanitize::line(&row.place).into_owned()),
            (self.age, human::human_age(row.when, now)),
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
    row: &FoundRow,
    width: usize,
    theme: &Theme,
    spans: &mut Vec<Span<'static>>,
) -> usize {
    let mut used = 0;
    let mut graphemes = row.title.graphemes(true).zip(0_u32..).peekable();
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
        let hit = row.matched.contains(&at);
        let style = if hit { theme.matched } else { Style::default() };
        match spans.last_mut() {
            Some(span) if span.style == style => span.content.to_mut().push_str(&shown),
            _ => spans.push(Span::styled(shown, style)),
        }
        used += taken;
    }
    used
}
