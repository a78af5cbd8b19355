//! What the host draws: visual rows of styled spans, and where the caret stands among them.

use std::sync::Arc;

use super::cells::{Cell, Class};
use super::content::Content;
use super::wrap::{RowStart, Wrap};
use crate::chat::draft::Element;
use crate::tui::wrap::columns;

/// A place on the laid out text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Visual rows from the top of the text, from 0.
    pub row: usize,
    /// Terminal columns from the left, from 0.
    pub column: usize,
}

/// What a span shows, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Typed text.
    Text,
    /// A cited session.
    Mention,
    /// A long paste.
    Paste,
}

/// A piece of a row in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Safe to show; tabs are spaces.
    pub text: String,
    /// What it shows.
    pub kind: SpanKind,
}

/// One visual row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// From left to right; neighbours may be of one kind.
    pub spans: Vec<Span>,
    /// The width of all spans in columns.
    pub width: usize,
}

/// The text laid out at a width. There is always at least one row. A row is built when it is asked for, so ask only for
/// those on the screen.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    content: &'a Content,
    caret: usize,
    wrap: Arc<Wrap>,
}

/// A part of a cell on a row: an element wider than a row has a part on each of several.
struct Part<'a> {
    cell: Cell<'a>,
    from: usize,
    to: usize,
    width: usize,
}

impl Part<'_> {
    /// Whether the cell began on an earlier row.
    fn is_continued(&self) -> bool {
        self.from > 0
    }

    fn is_cut(&self) -> bool {
        self.to < self.cell.shown.len()
    }
}

impl<'a> Rows<'a> {
    pub(super) fn new(content: &'a Content, caret: usize, wrap: Arc<Wrap>) -> Self {
        Self {
            content,
            caret,
            wrap,
        }
    }

    /// How many rows there are, at least 1.
    #[must_use]
    pub fn count(&self) -> usize {
        self.wrap.rows()
    }

    /// A row by its index; an empty one where there is none.
    #[must_use]
    pub fn row(&self, index: usize) -> Row {
        let mut row = Row::default();
        for part in self.parts(index) {
            let text = part.cell.shown.get(part.from..part.to).unwrap_or_default();
            let element = self
                .content
                .element_at(part.cell.at)
                .map(|placed| &placed.element);
            row.width += part.width;
            match (row.spans.last_mut(), kind(element)) {
                (Some(span), SpanKind::Text) if span.kind == SpanKind::Text => {
                    span.text.push_str(text);
                }
                (_, kind) => row.spans.push(Span {
                    text: text.to_owned(),
                    kind,
                }),
            }
        }
        row
    }

    /// Where the caret stands. Its column is always less than the width.
    #[must_use]
    pub fn caret(&self) -> Point {
        self.point_of(self.caret)
    }

    /// Where an offset that the editor gave out, such as [`MentionQuery::start`](super::MentionQuery::start), is shown.
    #[must_use]
    pub fn point_of(&self, at: usize) -> Point {
        let row = self.wrap.row_of(at);
        let column = self
            .parts(row)
            .take_while(|part| part.cell.at < at)
            .map(|part| part.width)
            .sum();
        Point { row, column }
    }

    /// The offset nearest to a point, for [`Editor::move_to`](super::Editor::move_to): the nearer edge of what is drawn
    /// there, and the end of the row or of the text for a point outside. Behind a soft break, it is the last edge that
    /// still is on the row.
    #[must_use]
    pub fn position_at(&self, point: Point) -> usize {
        let row = point.row.min(self.count() - 1);
        let Some((start, next)) = self.wrap.bounds(row) else {
            return 0;
        };
        let mut column = 0;
        let mut position = start.at;
        for part in self.parts(row) {
            let cell = &part.cell;
            let breaks_behind = next
                == Some(RowStart {
                    at: cell.end,
                    skip: 0,
                });
            let left = if part.is_continued() {
                cell.end
            } else {
                cell.at
            };
            let right = if part.is_cut() || breaks_behind {
                left
            } else {
                cell.end
            };
            let is_left_nearer = point.column < column + part.width.div_ceil(2);
            position = if is_left_nearer { left } else { right };
            column += part.width;
            if point.column < column {
                break;
            }
        }
        position
    }

    /// What stands on a row, from left to right; newlines are not among it.
    fn parts(&self, row: usize) -> impl Iterator<Item = Part<'a>> {
        let (start, next) = self.wrap.bounds(row).unwrap_or((
            RowStart {
                at: self.content.len(),
                skip: 0,
            },
            None,
        ));
        let end = next.unwrap_or(RowStart {
            at: self.content.len(),
            skip: 0,
        });
        let is_here = move |cell: &Cell<'_>| {
            cell.class != Class::Newline
                && (RowStart {
                    at: cell.at,
                    skip: 0,
                }) < end
        };
        self.content
            .cells(start.at)
            .take_while(is_here)
            .map(move |cell| {
                let from = if cell.at == start.at { start.skip } else { 0 };
                let to = if cell.at == end.at {
                    end.skip
                } else {
                    cell.shown.len()
                };
                let is_whole = to - from == cell.shown.len();
                let width = if is_whole {
                    cell.width
                } else {
                    columns(cell.shown.get(from..to).unwrap_or_default())
                };
                Part {
                    cell,
                    from,
                    to,
                    width,
                }
            })
    }
}

fn kind(element: Option<&Element>) -> SpanKind {
    match element {
        None => SpanKind::Text,
        Some(Element::Mention { .. }) => SpanKind::Mention,
        Some(Element::Paste { .. }) => SpanKind::Paste,
    }
}
