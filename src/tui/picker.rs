//! A list of sessions to pick from: what the popup under an `@` and the list
//! of sessions have in common. State and drawing; asking is the app's work.

pub(crate) mod columns;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use self::columns::{Cells, Columns};
use super::human::{self, counted, human_count};
use super::list::List;
use super::theme::Theme;
use super::wrap::{self, Wrap};
use crate::library::index::Hidden;
use crate::runtime::{Found, FoundRow, Query};
use crate::sanitize;
use crate::session::{Millis, SessionId};

/// A list of sessions being picked from.
#[derive(Debug)]
pub struct Picker {
    /// How the list stands.
    pub list: List,
    query: Query,
    found: Found,
}

impl Default for Picker {
    fn default() -> Self {
        Self {
            list: List::new(1),
            query: Query::default(),
            found: Found::default(),
        }
    }
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
        self.list.asked(self.query != query, now);
        self.query = query;
    }

    /// Takes the answer to a question, unless a newer one was put. Gives
    /// whether it was the one awaited.
    pub fn answer(&mut self, query: &Query, found: Result<Found, String>) -> bool {
        if *query != self.query || !self.list.is_waiting() {
            return false;
        }
        match found {
            Ok(found) => {
                let chosen = self.list.chosen().and_then(|at| self.found.rows.get(at));
                let kept = chosen.and_then(|row| found.rows.iter().position(|r| r.id == row.id));
                self.list.answered(found.rows.len(), kept);
                self.found = found;
            }
            Err(message) => {
                self.list.failed(message);
                self.found.rows.clear();
            }
        }
        true
    }

    /// Shows something else as the place of a row.
    pub fn set_place(&mut self, id: &SessionId, place: &str) {
        for row in self.found.rows.iter_mut().filter(|row| row.id == *id) {
            place.clone_into(&mut row.place);
        }
    }

    /// The row under the cursor.
    #[must_use]
    pub fn selected(&self) -> Option<&FoundRow> {
        self.found.rows.get(self.list.selected())
    }

    /// How many rows of the screen the list can use.
    #[must_use]
    pub fn height(&self) -> usize {
        let message = usize::from(self.found.rows.is_empty());
        self.list.wanted_height() + message + self.notes().len()
    }

    /// Matches and total, as the counter shows them.
    #[must_use]
    pub fn counter(&self) -> String {
        let matched = human_count(self.found.matched);
        format!("{matched}/{}", human_count(self.found.total))
    }

    /// How far the reading of sessions is, while it goes on.
    #[must_use]
    pub fn progress(&self) -> Option<String> {
        let (done, of) = self.found.indexing.filter(|(_, of)| *of > 0)?;
        Some(indexing(done, of))
    }

    /// What stands in place of rows where there are none.
    fn message(&self) -> Option<String> {
        if let Some(failure) = self.list.failure() {
            return Some(format!("sessions can't be listed: {failure}"));
        }
        if !self.found.rows.is_empty() || self.list.is_waiting() {
            return None;
        }
        Some(match (self.found.indexing, self.found.total) {
            (Some((_, 0)), _) => "still reading the list".to_owned(),
            (Some((done, of)), _) => format!("nothing yet: {}", indexing(done, of)),
            (None, 0) => "no other sessions here yet".to_owned(),
            (None, 1) => "the one session here does not match".to_owned(),
            (None, total) => format!("none of {} sessions matches", human_count(total)),
        })
    }

    /// What stands below the rows where there is room, the most telling last.
    fn notes(&self) -> Vec<String> {
        let hidden = hidden(self.found.hidden);
        hidden.into_iter().chain(self.found.hint.clone()).collect()
    }

    /// Draws the rows; keeps the cursor in sight.
    pub fn render(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
        if area.is_empty() {
            return;
        }
        let message = self.message().or_else(|| {
            let is_slow = self.found.rows.is_empty() && self.list.is_slow(now);
            is_slow.then(|| format!("{} looking…", human::spinner(now)))
        });
        let hint = usize::from(self.found.hint.is_some());
        let used = self.list.wanted_height() + usize::from(message.is_some());
        let area = render_notes(&self.notes(), hint, used, area, buf, theme);
        if let Some(message) = message {
            render_note(&message, area, buf, theme);
        }
        let rows = &self.found.rows;
        let columns = Columns::fit(&rows.iter().map(Cells::from), area.width.into(), now);
        let first = self.list.scroll_to_selected(area.height.into());
        let visible = rows.iter().enumerate().skip(first);
        for ((index, row), row_area) in visible.zip(area.rows()) {
            let selected = index == self.list.selected();
            let line = columns.line(&row.into(), selected, theme, now);
            render_row(line, selected, row_area, buf, theme);
        }
    }
}

/// How many sessions are left out, where any are.
fn hidden(hidden: Hidden) -> Option<String> {
    let subagents = counted(hidden.subagents, "subagent session");
    let stubs = counted(hidden.stubs, "empty session");
    let what = match (hidden.subagents, hidden.stubs) {
        (0, 0) => return None,
        (_, 0) => subagents,
        (0, _) => stubs,
        _ => format!("{subagents} and {} empty", human_count(hidden.stubs)),
    };
    Some(format!("{what} hidden"))
}

/// How far the reading of sessions is.
pub(crate) fn indexing(done: usize, of: usize) -> String {
    format!("indexing {} of {}", human_count(done), human_count(of))
}

/// Draws a row of a list, over the whole width.
pub(crate) fn render_row(
    line: Line<'_>,
    selected: bool,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) {
    let style = if selected {
        theme.selected
    } else {
        Style::default()
    };
    buf.set_style(area, style);
    line.render(area, buf);
}

/// Draws something that is said in a row of its own.
pub(crate) fn render_note(text: &str, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let text = sanitize::line(text);
    let width = area.width.saturating_sub(2);
    let has_room = area.height > 1;
    let wrap = if has_room { Wrap::Words } else { Wrap::Hard };
    let lines = wrap::rows(&text, width, wrap);
    for (line, row) in lines.zip(area.rows()) {
        let line = text.get(line.start..line.end).unwrap_or_default();
        Line::styled(format!("  {line}"), theme.dim).render(row, buf);
    }
}

/// Draws notes below `used` rows, the last ones where not all have room.
/// `kept` of them have room even so, as long as a row is left. Gives what is
/// left for rows.
pub(crate) fn render_notes(
    notes: &[String],
    kept: usize,
    used: usize,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) -> Rect {
    let height = usize::from(area.height);
    let room = height.saturating_sub(used).max(kept);
    let count = room.min(notes.len()).min(height.saturating_sub(1));
    let rest = Rect {
        height: u16::try_from(height - count).unwrap_or(area.height),
        ..area
    };
    let shown = notes.iter().skip(notes.len() - count);
    // Right below the rows, which need not fill the area.
    let first = used.min(height - count);
    for (note, row) in shown.zip(area.rows().skip(first)) {
        render_note(note, row, buf, theme);
    }
    rest
}
