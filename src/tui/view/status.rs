//! The last row of the screen: the keys that work now, and what goes on.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;

use super::columns;
use crate::chat::{Element, View};
use crate::tui::app::App;
use crate::tui::app::drawing::WAITING;
use crate::tui::choices::Kind;
use crate::tui::human;
use crate::tui::keymap::{Action, Layer, hint};
use crate::tui::listed::Listed;

/// The keys that work now, and what goes on.
pub(super) fn draw(app: &mut App, frame: &mut Frame<'_>, area: Rect) {
    let theme = app.setup.theme;
    let layer = app.layer();
    let state = match app.chat.outgoing() {
        _ if app.is_opening() => Some("opening"),
        View::Sending => Some("sending"),
        View::None | View::Preparing | View::Review { .. } | View::Waiting(_) => {
            let answering = app.chat.partial_answer().map(|_| "answering");
            let under_way = answering.or(app.chat.compacting().map(|_| "compacting"));
            if app.chat.is_waiting() {
                Some(WAITING)
            } else {
                under_way
            }
        }
    };
    let spinning = state.map(|state| format!("{} {state}", human::spinner(app.now)));
    let help = hint(layer, Action::Help);
    let help = help.map_or(String::new(), |help| {
        let whole = format!("{help} help ");
        // The word without its key tells nothing.
        let fitting = [whole, help]
            .into_iter()
            .find(|help| columns(help) <= area.width);
        fitting.unwrap_or_default()
    });
    let state = match app.listed() {
        Some(popup) if layer == Layer::Popup => {
            let beside = area.width.saturating_sub(columns(&help).saturating_add(2));
            Some(popup.counter(app.now, beside.into()))
        }
        _ => spinning,
    };
    let mut right = state.unwrap_or_default();
    if !right.is_empty() {
        right.push_str("  ");
    }
    right.push_str(&help);
    let room = area.width.saturating_sub(columns(&right).saturating_add(1));
    let mut left = String::new();
    for (action, what) in hints(app, layer) {
        let Some(key) = hint(layer, action) else {
            continue;
        };
        let gap = if left.is_empty() { " " } else { " · " };
        let next = format!("{left}{gap}{key} {what}");
        if columns(&next) > room {
            break;
        }
        left = next;
    }
    Line::styled(left, theme.dim).render(area, frame.buffer_mut());
    Line::styled(right, theme.dim)
        .right_aligned()
        .render(area, frame.buffer_mut());
}

fn hints(app: &App, layer: Layer) -> Vec<(Action, &'static str)> {
    let mut hints = match layer {
        Layer::Composer => return composer_hints(app),
        Layer::Pane => return app.pane_hints(),
        Layer::PaneSearch => {
            return vec![(Action::Accept, "find"), (Action::Escape, "give up")];
        }
        Layer::Help => return vec![(Action::Escape, "close"), (Action::Down, "on")],
        Layer::Naming => {
            return vec![
                (Action::Accept, "rename"),
                (Action::Escape, "keep the title"),
            ];
        }
        Layer::Popup if matches!(app.listed(), Some(Listed::Commands(_))) => {
            return vec![
                (Action::Accept, "accept"),
                (Action::Complete, "complete"),
                (Action::Escape, "close"),
            ];
        }
        Layer::Popup => vec![
            (Action::Accept, "accept"),
            (Action::Escape, "close"),
            (Action::Preview, "preview"),
            (Action::Texts, "search"),
        ],
        Layer::Sessions => {
            let is_only_to_read = app.is_only_to_read();
            let accept = if is_only_to_read { "read" } else { "resume" };
            vec![
                (Action::Accept, accept),
                (Action::Escape, "close"),
                (Action::Preview, "look"),
                (Action::Rename, "rename"),
                (Action::Export, "export"),
            ]
        }
        Layer::Choices => return choices_hints(app),
        Layer::Models => return model_hints(app),
        Layer::Texts => vec![
            (Action::Accept, "cite"),
            (Action::Escape, "close"),
            (Action::Preview, "look inside"),
        ],
    };
    if app.listed().and_then(Listed::selected).is_none() {
        hints.retain(|(action, _)| matches!(action, Action::Escape | Action::Texts));
    }
    hints
}

fn choices_hints(app: &App) -> Vec<(Action, &'static str)> {
    let mut hints = vec![(Action::Escape, "close")];
    if let Some(Listed::Choices(choices)) = app.listed()
        && choices.selected().is_some()
    {
        let accept = match choices.kind {
            Kind::Prompts => "change",
            Kind::Branches => "go back",
        };
        hints.insert(0, (Action::Accept, accept));
    }
    hints
}

/// What can be done with the selected model.
fn model_hints(app: &App) -> Vec<(Action, &'static str)> {
    let close = (Action::Escape, "close");
    match app.listed() {
        Some(Listed::Models(models)) if models.selected().is_some() => {
            vec![(Action::Accept, "choose"), close]
        }
        _ => vec![close],
    }
}

fn composer_hints(app: &App) -> Vec<(Action, &'static str)> {
    if app.is_opening() {
        return vec![(Action::Escape, "cancel")];
    }
    let is_answering = app.chat.partial_answer().is_some() || app.chat.compacting().is_some();
    let mut hints = Vec::new();
    match app.chat.outgoing() {
        View::Waiting(_) => hints.push((Action::Escape, "stop and take back")),
        View::Sending => hints.push((Action::Escape, "take back")),
        _ if is_answering => hints.push((Action::Escape, "stop")),
        _ if app.chat.unsaved_answer().is_some() => {
            hints.push((Action::Escape, "save the answer"));
        }
        _ if app.chat.revising().is_some() => hints.push((Action::Escape, "leave it as it was")),
        _ => {}
    }
    if !app.transcript.follows() {
        hints.push((Action::LineEnd, "latest"));
    }
    let can_send = matches!(app.chat.outgoing(), View::None);
    if app.editor.is_empty() {
        hints.push((Action::Sessions, "sessions"));
        hints.push((Action::Texts, "search"));
        hints.push((Action::EndOfInput, "quit"));
        hints.push((Action::Models, "model"));
    } else if can_send && !app.editor.is_blank() {
        let what = match is_answering {
            _ if app.is_command() => "run",
            true => "queue",
            false => "send",
        };
        hints.push((Action::Send, what));
    }
    if !app.editor.is_empty() {
        hints.push((Action::Newline, "newline"));
    }
    let is_mention = |element: &Element| matches!(element, Element::Mention { .. });
    if can_send && app.editor.elements().any(is_mention) {
        hints.push((Action::Preview, "preview"));
    }
    hints
}
