//! A list of sessions that were found by what was said in them. State and drawing; asking
//! is the app's work.

mod snippet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::human::{self, human_count};
use super::list::List;
use super::pane::Spot;
use super::picker::columns::{Cells, Columns};
use super::picker::{indexing, render_note, render_notes, render_row};
use super::theme::Theme;
use crate::figures::counted;
use crate::runtime::{TextFound, TextQuery, TextRow};
use crate::session::Millis;

/// Each takes two rows of the screen: the session, and what was said.
const ROWS_EACH: usize = 2;

/// A list of sessions being picked from, each with a message.
#[derive(Debug)]
pub struct TextPicker {
    /// How the list stands.
    pub list: List,
    query: TextQuery,
    found: TextFound,
}

impl Default for TextPicker {
    fn default() -> Self {
        Self {
            list: List::new(ROWS_EACH),
            query: TextQuery::default(),
            found: TextFound::default(),
        }
    }
}

impl TextPicker {
    /// The question whose answer is shown, or awaited.
    #[must_use]
    pub fn query(&self) -> &TextQuery {
        &self.query
    }

    /// Takes another question; gives whether it is one to be put. The rows of
    /// the last one stay until its answer is in; where nothing is asked there
    /// are none.
    pub fn ask(&mut self, query: TextQuery, now: Millis) -> bool {
        let is_other = self.query != query;
        self.query = query;
        let asks = !self.is_blank();
        if asks {
            self.list.asked(is_other, now);
        } else {
            self.list = List::new(ROWS_EACH);
            self.found = TextFound::default();
        }
        asks
    }

    /// Whether nothing is asked.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.query.text.trim().is_empty()
    }

    /// Takes an answer to a question, unless another one was put: there may be
    /// a first one and a whole one. Gives whether it was taken.
    pub fn answer(&mut self, query: &TextQuery, found: Result<TextFound, String>) -> bool {
        if *query != self.query || self.is_blank() {
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
                self.found = TextFound::default();
            }
        }
        true
    }

    /// The row under the cursor.
    #[must_use]
    pub fn selected(&self) -> Option<&TextRow> {
        self.found.rows.get(self.list.selected())
    }

    /// Where the selected message is in its session, and what matched in it.
    #[must_use]
    pub fn spot(&self) -> Option<Spot> {
        let row = self.selected()?;
        Some(Spot {
            message: row
                .message
                .map(|at| usize::try_from(at).unwrap_or(usize::MAX)),
            texts: snippet::matched(row),
        })
    }

    /// How many rows of the screen the list can use.
    #[must_use]
    pub fn height(&self) -> usize {
        let message = usize::from(self.found.rows.is_empty());
        self.list.wanted_height() + message + self.notes().len()
    }

    /// How many sessions were found; empty where nothing is asked.
    #[must_use]
    pub fn counter(&self) -> String {
        if self.is_blank() {
            return String::new();
        }
        let more = if self.found.is_cut { "+" } else { "" };
        format!("{}{more} found", human_count(self.found.matched))
    }

    /// What stands in place of rows where there are none.
    fn message(&self) -> Option<String> {
        if let Some(failure) = self.list.failure() {
            return Some(format!("sessions can't be searched: {failure}"));
        }
        if self.is_blank() {
            return Some("type what was said: words, \"a phrase\", -without".to_owned());
        }
        if !self.found.rows.is_empty() || self.list.is_waiting() {
            return None;
        }
        Some(match self.found.indexing {
            Some(_) => "nothing found yet".to_owned(),
            None if self.found.unread > 0 => "nothing found in what was read".to_owned(),
            None => "nothing found".to_owned(),
        })
    }

    /// What stands below the rows in any case.
    fn notes(&self) -> Vec<String> {
        let reading = self.found.indexing.map(|(done, of)| match of {
            0 => "still reading the list".to_owned(),
            _ => format!("still {}", indexing(done, of)),
        });
        let unread = (self.found.unread > 0).then(|| {
            let sessions = counted(self.found.unread, "session");
            format!("{sessions} not searched: `ibid doctor` tells why")
        });
        let hint = self.found.hint.clone();
        reading.into_iter().chain(unread).chain(hint).collect()
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
        let notes = self.notes();
        let used = self.list.wanted_height() + usize::from(message.is_some());
        let area = render_notes(&notes, notes.len(), used, area, buf, theme);
        if let Some(message) = message {
            render_note(&message, area, buf, theme);
        }
        let rows = &self.found.rows;
        let columns = Columns::fit(&rows.iter().map(Cells::from), area.width.into(), now);
        let first = self.list.scroll_to_selected(area.height.into());
        let mut lines = area.rows();
        for (index, row) in rows.iter().enumerate().skip(first) {
            let selected = index == self.list.selected();
            let Some(line) = lines.next() else { break };
            let about = columns.line(&row.into(), selected, theme, now);
            render_row(about, selected, line, buf, theme);
            let Some(line) = lines.next() else { break };
            let said = snippet::line(row, selected, area.width.into(), theme);
            render_row(said, selected, line, buf, theme);
        }
    }
}
