//! What the open session holds to be picked from: the person's earlier messages,
//! and the branches that were left. It is all there, so nothing is ever asked
//! for.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use super::human::{counted, human_age, human_count};
use super::list::List;
use super::picker::columns::push_styled;
use super::picker::{render_note, render_row};
use super::theme::Theme;
use super::wrap::{columns, cut_to};
use crate::chat::{Branch, Prompt};
use crate::library::matcher::Few;
use crate::sanitize;
use crate::session::{Millis, Seq};

/// How much of a message is shown and searched, in bytes.
const WORDS_BYTES: usize = 400;

/// What is picked from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Messages of the person, to be changed and sent anew.
    Prompts,
    /// Branches, to go back to.
    Branches,
}

/// One row.
#[derive(Debug)]
struct Choice {
    seq: Seq,
    words: String,
    /// What else is told of it, if there is anything.
    more: Option<String>,
    time: Millis,
}

/// A row that matches, and which grapheme clusters of its words do.
#[derive(Debug)]
struct Shown {
    choice: usize,
    matched: Vec<u32>,
}

/// A list of messages or branches being picked from.
#[derive(Debug)]
pub struct Choices {
    /// How the list stands.
    pub list: List,
    /// What is picked from.
    pub kind: Kind,
    all: Vec<Choice>,
    typed: String,
    shown: Vec<Shown>,
}

impl Choices {
    /// The person's messages, given oldest first; the newest is shown first.
    #[must_use]
    pub fn of_prompts(prompts: impl Iterator<Item = Prompt>) -> Self {
        let mut all: Vec<_> = prompts
            .map(|prompt| Choice {
                seq: prompt.seq,
                words: in_short(&prompt.draft.readable()),
                more: None,
                time: prompt.time,
            })
            .collect();
        all.reverse();
        Self::new(Kind::Prompts, all)
    }

    /// Branches, in the order that they are shown in.
    #[must_use]
    pub fn of_branches(branches: &[Branch]) -> Self {
        let all = branches.iter().map(|branch| Choice {
            seq: branch.left_by,
            words: in_short(&branch.words()),
            more: Some(counted(branch.messages.len(), "message")),
            time: branch.time,
        });
        Self::new(Kind::Branches, all.collect())
    }

    fn new(kind: Kind, all: Vec<Choice>) -> Self {
        let mut choices = Self {
            list: List::new(1),
            kind,
            all,
            typed: String::new(),
            shown: Vec::new(),
        };
        choices.ask(String::new());
        choices
    }

    /// Whether there is nothing to pick from at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Shows only what matches this.
    pub fn ask(&mut self, typed: String) {
        let few = Few::new(&typed);
        let rows = self.all.iter().enumerate();
        let shown = rows.filter_map(|(choice, row)| {
            let matched = few.rank(&row.words)?.places;
            Some(Shown { choice, matched })
        });
        self.shown = shown.collect();
        self.typed = typed;
        self.list.answered(self.shown.len(), None);
    }

    /// What is searched for.
    #[must_use]
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// The name of the row under the cursor.
    #[must_use]
    pub fn selected(&self) -> Option<Seq> {
        let shown = self.shown.get(self.list.selected())?;
        Some(self.all.get(shown.choice)?.seq)
    }

    /// What the list is called.
    #[must_use]
    pub fn title(&self) -> &'static str {
        match self.kind {
            Kind::Prompts => "Change a message",
            Kind::Branches => "Branches",
        }
    }

    /// How many rows match, of how many.
    #[must_use]
    pub fn counter(&self) -> String {
        let (shown, all) = (self.shown.len(), self.all.len());
        format!("{}/{}", human_count(shown), human_count(all))
    }

    /// Draws the rows; keeps the cursor in sight.
    pub fn render(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
        if self.shown.is_empty() {
            render_note("nothing matches", area, buf, theme);
            return;
        }
        let first = self.list.scroll_to_selected(area.height.into());
        let visible = self.shown.iter().enumerate().skip(first);
        for ((index, shown), row) in visible.zip(area.rows()) {
            let Some(choice) = self.all.get(shown.choice) else {
                continue;
            };
            let selected = index == self.list.selected();
            let line = choice.row(&shown.matched, selected, area.width, theme, now);
            render_row(line, selected, row, buf, theme);
        }
    }
}

impl Choice {
    /// The words, and what else is told where there is room for it beside.
    fn row(
        &self,
        matched: &[u32],
        selected: bool,
        width: u16,
        theme: &Theme,
        now: Millis,
    ) -> Line<'static> {
        let age = human_age(self.time, now);
        let beside = match &self.more {
            Some(more) => format!("  {more} · {age} "),
            None => format!("  {age} "),
        };
        let taken = u16::try_from(columns(&beside)).unwrap_or(u16::MAX);
        let (beside, room) = match width.checked_sub(taken.saturating_add(1)) {
            Some(room) if room >= WORDS_WANT => (beside, room),
            _ => (String::new(), width.saturating_sub(1)),
        };
        let words = cut_to(&self.words, room);
        let gap = usize::from(room).saturating_sub(columns(&words));
        let mut spans = vec![Span::raw(if selected { "▌" } else { " " })];
        for (at, cluster) in (0_u32..).zip(words.graphemes(true)) {
            let style = if matched.contains(&at) {
                theme.matched
            } else {
                Style::default()
            };
            push_styled(&mut spans, cluster, style);
        }
        spans.push(Span::styled(
            format!("{}{beside}", " ".repeat(gap)),
            theme.dim,
        ));
        Line::from(spans)
    }
}

/// The room that words want, in columns.
const WORDS_WANT: u16 = 16;

/// The beginning of a text as one line that is safe to show.
fn in_short(text: &str) -> String {
    let start = text.get(..text.floor_char_boundary(WORDS_BYTES));
    let words: Vec<&str> = start.unwrap_or_default().split_whitespace().collect();
    sanitize::line(&words.join(" ")).into_owned()
}
