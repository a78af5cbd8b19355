//! Drawing a paged text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::piece::{Kind, Laid};
use super::{Pager, Place};
use crate::sanitize;
use crate::tui::theme::Theme;
use crate::tui::wrap::{self, Row};

/// Draws one line of safe text from the left of `area`'s first row on, as far
/// as it fits. `style_at` may style the cluster at a byte of the text.
pub(in crate::tui) fn paint(
    area: Rect,
    buf: &mut Buffer,
    text: &str,
    mut style_at: impl FnMut(usize, usize) -> Style,
) {
    if area.is_empty() {
        return;
    }
    let mut at = 0;
    let mut x = area.x;
    while let Some(cluster) = wrap::cluster_at(text, at) {
        let end = at + cluster.bytes;
        let next = x.saturating_add(cluster.columns);
        if next > area.right() {
            return;
        }
        if cluster.columns > 0
            && let Some(symbol) = text.get(at..end)
        {
            let style = style_at(at, end);
            for column in x..next {
                if let Some(cell) = buf.cell_mut((column, area.y)) {
                    cell.reset();
                    cell.set_style(style);
                }
            }
            if let Some(cell) = buf.cell_mut((x, area.y)) {
                cell.set_symbol(symbol);
            }
        }
        (at, x) = (end, next);
    }
}

impl Pager {
    /// Draws what is in view, and corrects the place where the text ends
    /// before the screen does.
    pub(crate) fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        self.resize(area.width, area.height);
        if area.is_empty() || self.pieces.is_empty() {
            return;
        }
        self.top = self.snapped(self.top).min(self.end_top());
        let mut at = self.top;
        for y in area.top()..area.bottom() {
            let line = Rect {
                y,
                height: 1,
                ..area
            };
            self.draw_row(at, line, buf, theme);
            match self.below(at) {
                Some(next) => at = next,
                None => return,
            }
        }
    }

    fn draw_row(&mut self, at: Place, line: Rect, buf: &mut Buffer, theme: &Theme) {
        let (Some(laid), Some(kind)) = (self.laid(at.piece), self.kind(at.piece)) else {
            return;
        };
        let number = laid.row_of(at.byte);
        let Some(row) = laid.rows.get(number) else {
            return;
        };
        let names = self.name_columns();
        if number == 0 && names > 0 {
            self.draw_name(at.piece, line, names, buf, theme);
        }
        let line = inset(line, names);
        let style = kind.style(theme);
        if number == 0 {
            paint(line, buf, kind.lead(line.width), |_, _| style);
        }
        self.draw_text(
            at.piece,
            &laid,
            *row,
            inset(line, laid.indent),
            buf,
            theme,
            kind,
        );
    }

    /// The name of whoever says the piece, when it is the first they say.
    fn draw_name(&self, piece: usize, line: Rect, names: u16, buf: &mut Buffer, theme: &Theme) {
        let speaker = piece
            .checked_sub(1)
            .and_then(|before| self.pieces.get(before))
            .filter(|before| before.kind.is_speaker());
        if let Some(speaker) = speaker {
            let name = sanitize::line(speaker.raw());
            let column = Rect {
                width: names.saturating_sub(3),
                ..inset(line, 2)
            };
            let style = speaker.kind.style(theme);
            paint(column, buf, &wrap::cut_to(&name, column.width), |_, _| {
                style
            });
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one row, and where it goes")]
    fn draw_text(
        &self,
        piece: usize,
        laid: &Laid,
        row: Row,
        line: Rect,
        buf: &mut Buffer,
        theme: &Theme,
        kind: Kind,
    ) {
        let plain = kind.style(theme);
        let found = self.search.found_in(piece);
        let here = self.search.current();
        let text = laid.text.get(row.start..row.end).unwrap_or_default();
        // The first match that does not end before the row.
        let first = found.partition_point(|f| f.end <= row.start);
        let mut found = found.get(first..).unwrap_or_default().iter().peekable();
        paint(line, buf, text, |start, end| {
            let (start, end) = (row.start + start, row.start + end);
            while found.peek().is_some_and(|f| f.end <= start) {
                found.next();
            }
            match found.peek() {
                Some(&&f) if f.start < end => {
                    if Some(f) == here {
                        theme.found_here
                    } else {
                        theme.found
                    }
                }
                _ => plain,
            }
        });
    }
}

fn inset(line: Rect, columns: u16) -> Rect {
    let columns = columns.min(line.width);
    Rect {
        x: line.x.saturating_add(columns),
        width: line.width - columns,
        ..line
    }
}
