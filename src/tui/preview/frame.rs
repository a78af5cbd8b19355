//! Drawing the preview: the title row, the facts, the text, the search row.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::StatefulWidget;

use super::{Document, PreviewState, ReadyPreview, SessionPreview, View};
use crate::sanitize;
use crate::session::Millis;
use crate::tui::pager::{Pager, paint};
use crate::tui::theme::Theme;
use crate::tui::wrap::{self, Wrap};

/// From this many rows on, the facts stand above the text.
const ROOM_FOR_FACTS: u16 = 12;
/// From this many rows on, the last row tells how far the reader is.
const ROOM_FOR_FOOT: u16 = 5;

/// What the pane is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviewMode {
    /// To look.
    Preview,
    /// To agree: Enter sends.
    Review,
}

impl PreviewMode {
    /// What the title row says, the longest that fits.
    fn titles(self) -> &'static [&'static str] {
        match self {
            Self::Preview => &["Preview"],
            Self::Review => &[
                "Review — Enter sends · Esc returns",
                "Review — Enter sends",
                "Review",
            ],
        }
    }

    /// The same while there is nothing to agree to yet.
    fn waiting(self) -> &'static [&'static str] {
        match self {
            Self::Preview => self.titles(),
            Self::Review => &["Preparing · Esc cancels", "Preparing"],
        }
    }
}

/// Draws a [`PreviewState`].
#[derive(Clone, Copy, Debug)]
pub struct PreviewPane<'a> {
    /// The styles.
    pub theme: &'a Theme,
    /// What the pane is for.
    pub mode: PreviewMode,
    /// The present moment, which tells how long preparing takes.
    pub now: Millis,
}

/// Draws a [`SessionPreview`].
#[derive(Clone, Copy, Debug)]
pub struct SessionPane<'a> {
    /// The styles.
    pub theme: &'a Theme,
    /// Whether the session can't be gone on in.
    pub is_only_to_read: bool,
}

impl StatefulWidget for PreviewPane<'_> {
    type State = PreviewState;

    fn render(self, area: Rect, buf: &mut Buffer, state: &mut PreviewState) {
        let theme = self.theme;
        match state {
            PreviewState::Ready(ready) => self.ready(area, buf, ready),
            PreviewState::Preparing { since } => {
                title_row(area, buf, theme, self.mode.waiting(), &[]);
                let seconds = self.now.0.saturating_sub(since.0).max(0) / 1000;
                let waited = match seconds {
                    0 => "Preparing…".to_owned(),
                    _ => format!("Preparing… {seconds} s"),
                };
                paragraph(below(area, 1), buf, theme.dim, &waited);
            }
            PreviewState::Failed { message } => {
                title_row(area, buf, theme, &["Can't be shown"], &[]);
                paragraph(below(area, 1), buf, theme.error, &sanitize::block(message));
            }
        }
    }
}

impl PreviewPane<'_> {
    fn ready(&self, area: Rect, buf: &mut Buffer, ready: &mut ReadyPreview) {
        let count = ready.context.references.len();
        let place = format!("{}/{count}", ready.reference + 1);
        let view = match ready.view {
            View::Conversation => "conversation",
            View::Exact => "exact text",
        };
        let places = if count > 1 {
            [format!("{place} · {view}"), place]
        } else {
            [view.to_owned(), String::new()]
        };
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        title_row(area, buf, self.theme, self.mode.titles(), &places);
        let mut rest = below(area, 1);
        if let Some(note) = &ready.note {
            let note = sanitize::line(note);
            let note = wrap::cut_to(&note, rest.width);
            paint(rows(rest, 1), buf, &note, |_, _| self.theme.warning);
            rest = below(rest, 1);
        }
        document(rest, buf, self.theme, ready.document_mut());
    }
}

impl StatefulWidget for SessionPane<'_> {
    type State = SessionPreview;

    fn render(self, area: Rect, buf: &mut Buffer, state: &mut SessionPreview) {
        let titles: &[&str] = if self.is_only_to_read {
            &[
                "Session of another tool — read-only",
                "Session — read-only",
                "Read-only",
            ]
        } else {
            &["Session"]
        };
        title_row(area, buf, self.theme, titles, &[]);
        document(below(area, 1), buf, self.theme, &mut state.document);
    }
}

fn document(area: Rect, buf: &mut Buffer, theme: &Theme, document: &mut Document) {
    let above = area.height + 1 >= ROOM_FOR_FACTS;
    document.put_facts_inside(!above);
    let mut rest = area;
    if above && !document.facts.is_empty() {
        document.head.resize(area.width, area.height);
        let limit = area.height / 2;
        let height = document.head.rows_up_to(usize::from(limit));
        let height = u16::try_from(height).unwrap_or(limit);
        document.head.draw(rows(area, height), buf, theme);
        rest = below(area, height);
        rule(rest, buf, theme);
        rest = below(rest, 1);
    }
    let pager = &mut document.pager;
    let has_foot = area.height >= ROOM_FOR_FOOT || (pager.is_search_open() && area.height > 1);
    if has_foot {
        let text = rows(rest, rest.height.saturating_sub(1));
        pager.draw(text, buf, theme);
        foot(below(rest, text.height), buf, theme, pager);
    } else {
        pager.draw(rest, buf, theme);
    }
}

/// The query and its count on the left, how far the reader is on the right.
fn foot(line: Rect, buf: &mut Buffer, theme: &Theme, pager: &mut Pager) {
    let percent = format!("{}%", pager.percent());
    right(line, buf, theme.dim, &percent);
    let room = line.width.saturating_sub(6);
    if let Some(shown) = search_text(pager, room) {
        paint(rows(line, 1), buf, &shown, |_, _| theme.text);
    }
}

/// `/query  3/17`; of a long query its end is shown, where the caret is.
fn search_text(pager: &Pager, room: u16) -> Option<String> {
    let count = pager.search_count();
    if !pager.is_search_open() && count.is_none() {
        return None;
    }
    let count = count.map_or(String::new(), |count| format!("  {count}"));
    let room = usize::from(room).saturating_sub(1 + wrap::columns(&count));
    let query = query_end(pager.query(), room);
    Some(format!("/{query}{count}"))
}

fn query_end(query: &str, room: usize) -> String {
    let safe = sanitize::line(query);
    let mut from = 0;
    let mut columns = wrap::columns(&safe);
    while columns > room {
        let Some(cluster) = wrap::cluster_at(&safe, from) else {
            break;
        };
        from += cluster.bytes;
        columns -= usize::from(cluster.columns);
    }
    safe.get(from..).unwrap_or_default().to_owned()
}

/// Where the caret stands in the search row of a pane drawn at `area`; `None`
/// when no query is being typed.
fn search_caret(area: Rect, pager: &Pager) -> Option<Position> {
    if !pager.is_search_open() || area.height < 3 {
        return None;
    }
    let count = pager.search_count().map_or(0, |c| wrap::columns(&c) + 2);
    let room = usize::from(area.width.saturating_sub(6)).saturating_sub(1 + count);
    let columns = wrap::columns(&query_end(pager.query(), room)) + 1;
    let x = area.x.saturating_add(u16::try_from(columns).ok()?);
    Some(Position {
        x: x.min(area.right().saturating_sub(1)),
        y: area.bottom() - 1,
    })
}

impl PreviewState {
    /// Where the caret of the search stands when the pane is drawn at `area`.
    pub fn caret(&mut self, area: Rect) -> Option<Position> {
        search_caret(area, self.pager_mut()?)
    }
}

impl SessionPreview {
    /// Where the caret of the search stands when the pane is drawn at `area`.
    #[must_use]
    pub fn caret(&self, area: Rect) -> Option<Position> {
        search_caret(area, &self.document.pager)
    }
}

/// The longest title that fits on the left, and beside it the longest `place`
/// that does.
fn title_row(area: Rect, buf: &mut Buffer, theme: &Theme, titles: &[&str], places: &[&str]) {
    let width = usize::from(area.width);
    let fits = |text: &&&str| wrap::columns(text) <= width;
    let title = titles.iter().find(fits).or(titles.last());
    let title = title.copied().unwrap_or_default();
    let line = rows(area, 1);
    paint(line, buf, title, |_, _| theme.title);
    let room = width.saturating_sub(wrap::columns(title) + 2);
    let place = places.iter().find(|place| wrap::columns(place) <= room);
    right(line, buf, theme.dim, place.copied().unwrap_or_default());
}

fn right(line: Rect, buf: &mut Buffer, style: Style, text: &str) {
    let columns = u16::try_from(wrap::columns(text)).unwrap_or(u16::MAX);
    if columns <= line.width && line.height > 0 {
        let end = Rect {
            x: line.right() - columns,
            width: columns,
            ..line
        };
        paint(end, buf, text, |_, _| style);
    }
}

fn rule(area: Rect, buf: &mut Buffer, theme: &Theme) {
    if area.height > 0 {
        let line = "─".repeat(usize::from(area.width));
        paint(rows(area, 1), buf, &line, |_, _| theme.rule);
    }
}

fn paragraph(area: Rect, buf: &mut Buffer, style: Style, text: &str) {
    let lines = wrap::rows(text, area.width, Wrap::Words);
    for (y, row) in (area.top()..area.bottom()).zip(lines) {
        let line = Rect {
            y,
            height: 1,
            ..area
        };
        let text = text.get(row.start..row.end).unwrap_or_default();
        paint(line, buf, text, |_, _| style);
    }
}

fn rows(area: Rect, height: u16) -> Rect {
    Rect {
        height: height.min(area.height),
        ..area
    }
}

fn below(area: Rect, height: u16) -> Rect {
    let height = height.min(area.height);
    Rect {
        y: area.y + height,
        height: area.height - height,
        ..area
    }
}
