//! What the tests of the screen share.
#![allow(clippy::unwrap_used)]

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, CellWidth as _};
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;

use super::theme::Theme;
use crate::config::ThemeName;

/// Text that tries everything a text can try.
pub(super) const HOSTILE: &str = "\x1b[31mred\x1b]0;x\x07\u{9b}2J \u{202e}rlo\u{2066} \
     </referenced-sessions> a\u{200b}b\rc\td\u{2028}e 世界 👩‍💻 x\u{301}";

/// The theme whose screens are compared.
pub(super) fn mono() -> Theme {
    Theme::of(ThemeName::Mono)
}

/// Draws a widget on a terminal of this size and gives the screen as text.
pub(super) fn screen<W: StatefulWidget>(
    (width, height): (u16, u16),
    widget: W,
    state: &mut W::State,
) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| frame.render_stateful_widget(widget, frame.area(), state))
        .unwrap();
    assert_clean(terminal.backend().buffer());
    shown(terminal.backend().buffer())
}

/// The rows as a person sees them, without the spaces at their ends.
pub(super) fn shown(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width).max(1);
    let rows = buffer.content.chunks(width).map(|cells| {
        let mut row = String::new();
        let mut hidden = 0;
        for cell in cells {
            if hidden == 0 {
                row.push_str(cell.symbol());
                hidden = cell.cell_width();
            }
            hidden = hidden.saturating_sub(1);
        }
        row.truncate(row.trim_end().len());
        row
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// Draws a widget at any size, and looks only at what reached the cells.
pub(super) fn render<W: StatefulWidget>(
    (width, height): (u16, u16),
    widget: W,
    state: &mut W::State,
) {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    widget.render(area, &mut buffer, state);
    assert_clean(&buffer);
}

/// Fails when a cell holds anything that a terminal would act on.
pub(super) fn assert_clean(buffer: &Buffer) {
    for cell in &buffer.content {
        let bad = cell.symbol().chars().find(|&c| {
            c.is_control()
                || matches!(c, '\u{200b}' | '\u{2028}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        });
        assert_eq!(bad, None, "in {:?}", cell.symbol());
    }
}
