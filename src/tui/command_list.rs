//! The commands under a `/`: the ones that fit what was typed so far. They are
//! known at once, so nothing is ever asked for.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::commands::{COMMANDS, Entry, Fitting, fitting};
use super::list::List;
use super::picker::columns::push_styled;
use super::picker::render_row;
use super::theme::Theme;
use super::wrap::{columns, cut_to};

/// A list of commands being picked from.
#[derive(Debug)]
pub struct CommandList {
    /// How the list stands.
    pub list: List,
    typed: String,
    fitting: Vec<Fitting>,
}

impl CommandList {
    /// The commands that fit what was typed of a word; `None` when none does.
    #[must_use]
    pub fn of(typed: &str) -> Option<Self> {
        let fitting = fitting(typed);
        let mut list = List::new(1);
        list.answered(fitting.len(), None);
        (!fitting.is_empty()).then(|| Self {
            list,
            typed: typed.to_owned(),
            fitting,
        })
    }

    /// What was typed of the word.
    #[must_use]
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// The command under the cursor.
    #[must_use]
    pub fn selected(&self) -> Option<&'static Entry> {
        let fitting = self.fitting.get(self.list.selected())?;
        Some(fitting.entry)
    }

    /// How many commands fit, of how many.
    #[must_use]
    pub fn counter(&self) -> String {
        format!("{}/{}", self.fitting.len(), COMMANDS.len())
    }

    /// Draws the rows; keeps the cursor in sight.
    pub fn render(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        if area.is_empty() {
            return;
        }
        let all = COMMANDS.iter().map(|entry| columns(&entry.usage()));
        let beside = all.max().unwrap_or_default() + 3;
        let first = self.list.scroll_to_selected(area.height.into());
        let visible = self.fitting.iter().enumerate().skip(first);
        for ((index, fitting), row) in visible.zip(area.rows()) {
            let selected = index == self.list.selected();
            let line = row_of(fitting, selected, beside, area.width, theme);
            render_row(line, selected, row, buf, theme);
        }
    }
}

/// The command, and what it does where there is room for it beside.
fn row_of(
    fitting: &Fitting,
    selected: bool,
    beside: usize,
    width: u16,
    theme: &Theme,
) -> Line<'static> {
    let mark = if selected { "▌" } else { " " };
    let usage = fitting.entry.usage();
    let mut spans = vec![Span::raw(mark)];
    let shown = cut_to(&usage, width.saturating_sub(1));
    for (at, c) in (0_u32..).zip(shown.chars()) {
        // The `/` before the name matches nothing.
        let is_matched = at > 0 && fitting.matched.contains(&(at - 1));
        let style = if is_matched {
            theme.matched
        } else {
            Style::default()
        };
        push_styled(&mut spans, c.encode_utf8(&mut [0; 4]), style);
    }
    let what = fitting.entry.what;
    let room = usize::from(width).saturating_sub(beside + 1);
    let gap = " ".repeat(beside.saturating_sub(columns(&usage)));
    if room >= what.len().min(LEAST_WORDS) {
        let room = u16::try_from(room).unwrap_or(u16::MAX);
        spans.push(Span::styled(
            format!("{gap}{}", cut_to(what, room)),
            theme.dim,
        ));
    }
    Line::from(spans)
}

/// With fewer columns than this, half a sentence tells nothing.
const LEAST_WORDS: usize = 20;
