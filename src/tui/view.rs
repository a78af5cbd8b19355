//! Draws the screen. Decides nothing: what there is room for, and in what
//! place, follows from the size and the state alone.

mod help;
mod notice;
mod status;

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use super::app::composing::PROMPT;
use super::app::{App, Areas};
use super::editor::SpanKind;
use super::human;
use super::keymap::Layer;
use super::listed::Listed;
use super::wrap;
use crate::sanitize;
#[cfg(test)]
pub(super) use help::QUERIES;

/// From this many rows on, the head and the rules are shown.
const ROOM_FOR_HEAD: u16 = 10;
/// How many columns of the head's left side stay, whatever is on its right.
const TITLE_WANTS: u16 = 16;
/// The most rows of a popup.
const POPUP_ROWS: u16 = 8;

/// Draws everything.
pub fn draw(app: &mut App, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.is_empty() {
        return;
    }
    app.fit(area.width);
    let plan = Plan::new(app, area);
    if let Some(head) = plan.head {
        draw_head(app, frame, head);
    }
    for rule in plan.rules() {
        let line = "─".repeat(usize::from(rule.width));
        Line::styled(line, app.setup.theme.rule).render(rule, frame.buffer_mut());
    }
    app.areas = Areas {
        composer: plan.composer,
        rows: Rect::default(),
        ..app.areas
    };
    draw_notice(app, frame, plan.notice);
    let composer_caret = draw_composer(app, frame, plan.composer);
    let body_caret = draw_body(app, frame, &plan);
    status::draw(app, frame, plan.status);
    if let Some(caret) = body_caret.or(composer_caret) {
        frame.set_cursor_position(caret);
    }
}

/// Where everything goes.
#[derive(Debug, Default)]
struct Plan {
    head: Option<Rect>,
    head_rule: Option<Rect>,
    body: Rect,
    popup_rule: Option<Rect>,
    popup: Option<Rect>,
    notice: Rect,
    composer_rule: Option<Rect>,
    composer: Rect,
    status: Rect,
}

impl Plan {
    fn new(app: &mut App, area: Rect) -> Self {
        let mut plan = Self::default();
        let mut left = area;
        let roomy = area.height >= ROOM_FOR_HEAD;
        if area.height > 2 {
            plan.status = take_bottom(&mut left, 1);
        }
        let again = app.reviewed_again();
        let editor = again.as_ref().unwrap_or(&app.editor);
        let rows = editor.layout(app.composer_width()).count();
        let rows = u16::try_from(rows).unwrap_or(u16::MAX);
        // What covers the conversation needs scarce rows more than the draft.
        let layer = app.layer();
        let is_written = matches!(layer, Layer::Composer | Layer::Popup);
        let most = if roomy || is_written {
            (area.height / 3).max(1)
        } else {
            1
        };
        let composer = rows.clamp(1, most);
        plan.composer = take_bottom(&mut left, composer);
        if roomy {
            plan.composer_rule = Some(take_bottom(&mut left, 1));
            plan.head = Some(take_top(&mut left, 1));
            plan.head_rule = Some(take_top(&mut left, 1));
        }
        let notice = notice::lines(app, left.width, u16::MAX).len();
        let notice = u16::try_from(notice).unwrap_or(u16::MAX);
        let room = left.height.div_ceil(2).max(left.height.saturating_sub(2));
        plan.notice = take_bottom(&mut left, notice.min(room));
        let keeps = if roomy { 3 } else { 1 };
        if layer == Layer::Popup
            && let Some(popup) = app.listed()
        {
            let wants = u16::try_from(popup.height()).unwrap_or(POPUP_ROWS);
            let rows = wants
                .min(POPUP_ROWS)
                .min(left.height.saturating_sub(keeps))
                .max(1);
            plan.popup = Some(take_bottom(&mut left, rows));
            if roomy {
                plan.popup_rule = Some(take_bottom(&mut left, 1));
            }
        }
        plan.body = left;
        plan
    }

    fn rules(&self) -> impl Iterator<Item = Rect> {
        [self.head_rule, self.popup_rule, self.composer_rule]
            .into_iter()
            .flatten()
    }
}

fn take_bottom(left: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(left.height);
    left.height -= rows;
    Rect {
        y: left.y + left.height,
        height: rows,
        ..*left
    }
}

fn take_top(left: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(left.height);
    let taken = Rect {
        height: rows,
        ..*left
    };
    left.y += rows;
    left.height -= rows;
    taken
}

/// The columns that one line takes.
fn columns(line: &str) -> u16 {
    u16::try_from(wrap::columns(line)).unwrap_or(u16::MAX)
}

fn draw_head(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let theme = &app.setup.theme;
    let title = app.chat.session().display_title();
    let title = sanitize::line(title.as_deref().unwrap_or("new session"));
    let left = format!(" ibid · {title}");
    let model = sanitize::line(&app.chat.chosen().config.model).into_owned();
    let window = app.chat.chosen().context_window;
    let share = window
        .zip(app.chat.window_share())
        .map(|(window, share)| format!("{model} · {share}% of {} ", human::tokens(window)));
    // A title is cut before the model goes, but not to nothing.
    let room_beside = |right: &String| area.width.saturating_sub(columns(right) + 1);
    let wants = columns(&left).min(TITLE_WANTS);
    let right = [share, Some(format!("{model} "))]
        .into_iter()
        .flatten()
        .find(|right| room_beside(right) >= wants)
        .unwrap_or_default();
    let left = wrap::cut_to(&left, room_beside(&right));
    Line::styled(left, theme.title).render(area, frame.buffer_mut());
    Line::styled(right, theme.dim)
        .right_aligned()
        .render(area, frame.buffer_mut());
}

/// A text in rows of so many columns that are safe to show.
fn wrapped(text: &str, width: u16) -> Vec<String> {
    let text = sanitize::line(text);
    wrap::rows(&text, width, wrap::Wrap::Words)
        .filter_map(|row| text.get(row.start..row.end))
        .map(str::to_owned)
        .collect()
}

fn draw_notice(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let lines = notice::lines(app, area.width, area.height);
    for (row, y) in lines.into_iter().zip(area.rows()) {
        row.render(y, frame.buffer_mut());
    }
}

fn draw_composer(app: &mut App, frame: &mut Frame<'_>, area: Rect) -> Option<Position> {
    let theme = app.setup.theme;
    let again = app.reviewed_again();
    let editor = again.as_ref().unwrap_or(&app.editor);
    let layout = editor.layout(app.composer_width());
    let caret = layout.caret();
    let height = usize::from(area.height);
    let is_written = matches!(app.layer(), Layer::Composer | Layer::Popup);
    // It scrolls only as far as the caret makes it. Where nobody writes, its
    // beginning tells which draft it is.
    let top = if is_written {
        let top = app.areas.composer_top;
        top.min(layout.count().saturating_sub(height))
            .min(caret.row)
            .max((caret.row + 1).saturating_sub(height))
    } else {
        0
    };
    for (index, row_area) in (top..layout.count()).zip(area.rows()) {
        let prompt = if index == 0 { PROMPT } else { "   " };
        let mut spans = vec![Span::styled(prompt, theme.dim)];
        spans.extend(layout.row(index).spans.into_iter().map(|span| {
            let style = match span.kind {
                SpanKind::Text => theme.text,
                SpanKind::Mention => theme.mention,
                SpanKind::Paste => theme.dim,
            };
            Span::styled(span.text, style)
        }));
        Line::from(spans).render(row_area, frame.buffer_mut());
    }
    if !is_written || area.is_empty() {
        return None;
    }
    app.areas.composer_top = top;
    let x = u16::try_from(PROMPT.len() + caret.column).unwrap_or(u16::MAX);
    let y = u16::try_from(caret.row - top).unwrap_or(u16::MAX);
    Some(Position {
        x: area.x.saturating_add(x).min(area.right().saturating_sub(1)),
        y: area
            .y
            .saturating_add(y)
            .min(area.bottom().saturating_sub(1)),
    })
}

fn draw_body(app: &mut App, frame: &mut Frame<'_>, plan: &Plan) -> Option<Position> {
    let theme = app.setup.theme;
    let now = app.now;
    if let Some(rows) = plan.popup {
        app.areas.rows = rows;
        if let Some(popup) = app.listed_mut() {
            popup.render(rows, frame.buffer_mut(), &theme, now);
        }
    }
    match app.layer() {
        Layer::Help => {
            draw_help(app, frame, plan.body);
            None
        }
        Layer::Pane | Layer::PaneSearch => {
            let pane = app.pane_mut()?;
            pane.render(plan.body, frame.buffer_mut(), &theme, now)
        }
        Layer::Sessions | Layer::Texts | Layer::Choices | Layer::Models | Layer::Naming => {
            draw_list(app, frame, plan.body)
        }
        Layer::Composer | Layer::Popup => {
            app.draw_transcript(plan.body, frame.buffer_mut());
            None
        }
    }
}

fn draw_list(app: &mut App, frame: &mut Frame<'_>, area: Rect) -> Option<Position> {
    let theme = app.setup.theme;
    let now = app.now;
    let mut rows = area;
    let search = take_top(&mut rows, 1);
    app.areas.rows = rows;
    let naming = app.naming().map(str::to_owned);
    let listed = app.listed_mut()?;
    let (title, typed) = match (&naming, &*listed) {
        (Some(typed), _) => ("New title", typed.as_str()),
        (None, Listed::Texts(_)) => ("Search", listed.text()),
        (None, Listed::Choices(choices)) => (choices.title(), listed.text()),
        (None, Listed::Models(_)) => ("Models", listed.text()),
        (None, _) => ("Sessions", listed.text()),
    };
    let text = format!(" {title}: {}", sanitize::line(typed));
    let beside = area.width.saturating_sub(columns(&text).saturating_add(2));
    let counter = match naming {
        Some(_) => String::new(),
        None => format!("{} ", listed.counter(now, beside.into())),
    };
    let room = area
        .width
        .saturating_sub(columns(&counter).saturating_add(1));
    let text = wrap::cut_start(&text, room);
    let caret = columns(&text);
    Line::styled(text, theme.title).render(search, frame.buffer_mut());
    Line::styled(counter, theme.dim)
        .right_aligned()
        .render(search, frame.buffer_mut());
    listed.render(rows, frame.buffer_mut(), &theme, now);
    (!search.is_empty()).then(|| Position {
        x: search.x + caret.min(search.width.saturating_sub(1)),
        y: search.y,
    })
}

fn draw_help(app: &mut App, frame: &mut Frame<'_>, area: Rect) {
    let theme = app.setup.theme;
    let lines = help::lines(&theme, area.width);
    let last = lines.len().saturating_sub(usize::from(area.height));
    let top = app.help_top(last).unwrap_or_default();
    Clear.render(area, frame.buffer_mut());
    for (line, row) in lines.into_iter().skip(top).zip(area.rows()) {
        line.render(row, frame.buffer_mut());
    }
}
