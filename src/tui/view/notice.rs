//! What the screen tells above the composer.

use ratatui::text::Line;

use super::wrapped;
use crate::chat::{Draft, Element, Notice, Part, View};
use crate::sanitize;
use crate::tui::app::App;
use crate::tui::wrap;

/// What the screen tells above the composer, in so many rows at most that are
/// safe to show: the message that waits, the one that is changed, and the
/// notice. What there is no room
/// for is left out before the end, which tells what to do.
pub(super) fn lines(app: &App, width: u16, room: u16) -> Vec<Line<'static>> {
    let theme = &app.setup.theme;
    let room = usize::from(room);
    let mut lines = Vec::new();
    if let View::Waiting(draft) = app.chat.outgoing() {
        let text = format!(" next: {}", sanitize::line(&glimpse(draft)));
        lines.push(Line::styled(wrap::cut_to(&text, width), theme.dim));
    }
    if let Some(from) = app.chat.revising()
        && let Some(old) = app.chat.prompts().find(|prompt| prompt.seq == from)
    {
        let text = format!(" in place of: {}", sanitize::line(&glimpse(&old.draft)));
        lines.push(Line::styled(wrap::cut_to(&text, width), theme.dim));
    }
    let doubtful;
    let (text, code, style) = match &app.notice {
        Some(Notice::Failed(failure)) => {
            let code = format!(" [{}]", failure.code);
            (&failure.message, code, theme.error)
        }
        Some(Notice::ByEstimate(failure)) => {
            doubtful = format!("{}; {}", failure.message, ONCE_MORE);
            let code = format!(" [{}]", failure.code);
            (&doubtful, code, theme.error)
        }
        Some(Notice::Info(text) | Notice::Waiting(text)) => (text, String::new(), theme.warning),
        None => return lines,
    };
    let width = width.saturating_sub(3).max(1);
    let mut rows = wrapped(&format!("{text}{code}"), width);
    if lines.len() + rows.len() > room {
        lines.clear();
    }
    if rows.len() > room {
        // What to do counts more than the code.
        rows = wrapped(text, width);
    }
    let is_cut = rows.len() > room;
    let gap = 1..(rows.len() + 1).saturating_sub(room);
    let goes_on = if room > 1 { gap.end } else { 0 };
    let kept = rows.iter().enumerate().filter(|(at, _)| !gap.contains(at));
    lines.extend(kept.map(|(at, row)| {
        let lead = if is_cut && at == goes_on { '…' } else { '!' };
        Line::styled(format!(" {lead} {row}"), style)
    }));
    lines
}

/// The beginning of a draft, as a person reads it.
fn glimpse(draft: &Draft) -> String {
    let mut text = String::new();
    for part in &draft.parts {
        match part {
            Part::Text(part) | Part::Element(Element::Paste { text: part }) => {
                text.extend(part.chars().take(GLIMPSE));
            }
            Part::Element(Element::Mention { label, .. }) => {
                text.push('@');
                text.push_str(label);
            }
        }
        if text.len() > GLIMPSE {
            break;
        }
    }
    text
}

/// What to do where an estimate may be wrong.
const ONCE_MORE: &str = "that is an estimate: the same once more is sent all the same";

/// More characters than a row has.
const GLIMPSE: usize = 1_000;
