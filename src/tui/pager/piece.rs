//! The pieces that a paged text is made of, and how one is laid out.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ratatui::style::Style;

use crate::sanitize;
use crate::session::Event;
use crate::text::Text;
use crate::tui::theme::Theme;
use crate::tui::wrap::{self, Row, Wrap, rows_from};

/// A longer text is cut into pieces at a line feed behind this many bytes.
const PIECE_BYTES: usize = 8 * 1024;
/// A single line is cut only when it is longer than this many bytes.
pub(crate) const LINE_BYTES: usize = 64 * 1024;

/// What a piece is, which decides its style and layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The person's name above or beside what they said.
    You,
    /// The model's name above or beside what it said.
    Model,
    /// What was said.
    Text,
    /// The name of a session.
    Title,
    /// What is known of a session.
    Fact,
    /// Where something was left out, and what of it is known.
    Cut,
    /// What a message cites.
    Citation,
    /// A remark that takes one row and is cut to it.
    Remark,
    /// The same, of an answer that was not finished.
    Interrupted,
}

impl Kind {
    /// Whether it names who says what follows.
    pub(crate) fn is_speaker(self) -> bool {
        matches!(self, Self::You | Self::Model)
    }

    fn is_one_row(self) -> bool {
        matches!(self, Self::Remark | Self::Interrupted)
    }

    pub(crate) fn style(self, theme: &Theme) -> Style {
        match self {
            Self::You => theme.you,
            Self::Model => theme.model,
            Self::Text | Self::Fact => theme.text,
            Self::Title => theme.title,
            Self::Cut => theme.cut,
            Self::Interrupted => theme.warning,
            Self::Citation => theme.citation,
            Self::Remark => theme.dim,
        }
    }

    /// The sign before its first row; the other rows are as far in.
    pub(crate) fn lead(self, width: u16) -> &'static str {
        match self {
            Self::Citation if width >= 36 => "⌐ cited  ",
            Self::Citation if width >= 12 => "⌐ ",
            _ => "",
        }
    }
}

/// A part of a paged text: rows of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) kind: Kind,
    pub(crate) body: Body,
}

/// The text of a piece, as it came.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// A part of a text that somebody else keeps too.
    Shared(Text, Range<usize>),
    /// A part of one text block of an event's message, counted among all its
    /// blocks.
    Block(Arc<Event>, usize, Range<usize>),
    /// Its own text.
    Own(String),
}

impl Piece {
    pub(crate) fn own(kind: Kind, text: impl Into<String>) -> Self {
        Self {
            kind,
            body: Body::Own(text.into()),
        }
    }

    /// The text as it came.
    pub(crate) fn raw(&self) -> &str {
        match &self.body {
            Body::Shared(text, range) => text.get(range.clone()).unwrap_or_default(),
            Body::Block(event, block, range) => event
                .message()
                .and_then(|message| message.content.get(*block)?.as_text()?.get(range.clone()))
                .unwrap_or_default(),
            Body::Own(text) => text,
        }
    }

    /// The text as it is shown and searched.
    pub(crate) fn shown(&self) -> Cow<'_, str> {
        if self.kind.is_one_row() {
            sanitize::line(self.raw())
        } else {
            sanitize::block(self.raw())
        }
    }
}

/// Pieces for a part of a shared text.
pub(crate) fn shared(kind: Kind, text: &Text, range: Range<usize>) -> Vec<Piece> {
    let part = text.get(range.clone()).unwrap_or_default();
    split(part)
        .map(|Range { start, end }| Piece {
            kind,
            body: Body::Shared(text.clone(), range.start + start..range.start + end),
        })
        .collect()
}

/// The parts of a text of any length, none of them much longer than
/// [`LINE_BYTES`]. Takes time in proportion to their number.
pub(crate) fn split(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = Some(0);
    std::iter::from_fn(move || {
        let start = from?;
        let cut = piece_end(text.get(start..).unwrap_or_default());
        from = cut.map(|(_, next)| start + next);
        Some(start..cut.map_or(text.len(), |(end, _)| start + end))
    })
}

/// Where the first piece of `rest` ends and the next one begins; `None` when
/// it is the last.
fn piece_end(rest: &str) -> Option<(usize, usize)> {
    let bytes = rest.as_bytes();
    if bytes.len() <= PIECE_BYTES {
        return None;
    }
    let line_ends = bytes
        .get(PIECE_BYTES..bytes.len().min(LINE_BYTES))
        .and_then(|window| memchr::memchr(b'\n', window))
        .map(|at| (PIECE_BYTES + at, PIECE_BYTES + at + 1));
    if line_ends.is_some() || bytes.len() <= LINE_BYTES {
        return line_ends;
    }
    let cut = rest.floor_char_boundary(LINE_BYTES);
    Some((cut, cut))
}

/// A piece as it is drawn at one width.
#[derive(Clone, Debug)]
pub(crate) struct Laid {
    /// The text as it is shown.
    pub(crate) text: String,
    /// Its rows, in bytes of `text`.
    pub(crate) rows: Vec<Row>,
    /// How far in from the left its rows stand, in columns.
    pub(crate) indent: u16,
    /// Columns left for the rows.
    width: u16,
    how: Wrap,
}

impl Laid {
    /// Lays a piece out at `width` columns. With `beside`, the names of
    /// speakers stand beside what they say and take no rows of their own.
    pub(crate) fn new(piece: &Piece, width: u16, how: Wrap, beside: bool) -> Self {
        let indent = u16::try_from(wrap::columns(piece.kind.lead(width))).unwrap_or(0);
        let mut laid = Self {
            text: String::new(),
            rows: Vec::new(),
            indent,
            width: width.saturating_sub(indent).max(1),
            how,
        };
        if beside && piece.kind.is_speaker() {
            return laid;
        }
        laid.text = piece.shown().into_owned();
        if piece.kind.is_one_row() {
            laid.text = wrap::cut_to(&laid.text, laid.width);
        }
        laid.rows = rows_from(&laid.text, 0, laid.width, how).collect();
        laid
    }

    /// Takes over the piece's text after it grew, and wraps only its end again.
    ///
    /// What was shown may change at its end, where a character joins the one
    /// before it. A row ends where the next word or character would not fit, so
    /// that it depends on the row below it and on nothing further.
    pub(crate) fn extend(&mut self, piece: &Piece) {
        let shown = piece.shown();
        let unchanged = if shown.starts_with(&self.text) {
            self.text.len()
        } else {
            let pairs = shown.bytes().zip(self.text.bytes());
            pairs.take_while(|(new, old)| new == old).count()
        };
        let keep = self.row_of(unchanged).saturating_sub(1);
        let from = self.rows.get(keep).map_or(0, |row| row.start);
        self.rows.truncate(keep);
        self.text.truncate(from);
        self.text.push_str(shown.get(from..).unwrap_or_default());
        self.rows
            .extend(rows_from(&self.text, from, self.width, self.how));
    }

    /// Which row a byte of the text stands in.
    pub(crate) fn row_of(&self, byte: usize) -> usize {
        self.rows
            .partition_point(|row| row.start <= byte)
            .saturating_sub(1)
    }

    /// What counts against the cache, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.text.len() + self.rows.len() * size_of::<Row>()
    }
}
