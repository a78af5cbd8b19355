//! The content as a sequence of cells: what is drawn and measured as one.

use std::borrow::Cow;

use super::content::Content;
use crate::sanitize::{self, TAB};
use crate::tui::wrap::columns;

/// Brackets and quotes that open, of East Asian writing too. A straight quote is taken to open.
pub(super) const OPENING: &str = "([{\"'“‘„‚«‹〈《「『【〔〖〝（［｛＂＇";

/// Punctuation that belongs to what is before it.
pub(super) const CLOSING: &str = ",.;:!?)]}”’»›…、。〉》」』】〕〗！），．：；？］｝ー";

/// What a cell is to wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Newline,
    Space,
    /// A letter, or anything else that stays with its neighbours.
    Word,
    /// Rows may break on either side: wide characters and elements.
    Wide,
    /// Never at the end of a row.
    Opening,
    /// Never at the start of a row.
    Closing,
}

/// A grapheme cluster or an element. `shown` is safe, and empty for a newline.
#[derive(Clone, Debug)]
pub(super) struct Cell<'a> {
    pub(super) at: usize,
    pub(super) end: usize,
    pub(super) shown: Cow<'a, str>,
    pub(super) width: usize,
    pub(super) class: Class,
}

impl Content {
    /// The cell that begins at a boundary; nothing at the end.
    pub(super) fn cell(&self, at: usize) -> Option<Cell<'_>> {
        if let Some(placed) = self.element_at(at) {
            return Some(Cell {
                at,
                end: self.next(at),
                shown: Cow::Borrowed(&placed.shown),
                width: placed.width,
                class: Class::Wide,
            });
        }
        let end = self.next(at);
        let cluster = self.slice(at..end);
        let (shown, width) = match cluster {
            "" => return None,
            "\n" => (Cow::Borrowed(""), 0),
            "\t" => (Cow::Borrowed(TAB), TAB.len()),
            _ => measured(cluster),
        };
        Some(Cell {
            at,
            end,
            shown,
            width,
            class: class(cluster, width),
        })
    }

    /// The cells from a boundary on.
    pub(super) fn cells(&self, from: usize) -> impl Iterator<Item = Cell<'_>> {
        let mut at = from;
        std::iter::from_fn(move || {
            let cell = self.cell(at)?;
            at = cell.end;
            Some(cell)
        })
    }
}

/// A cluster made safe, with its width. A mark with nothing to stand on gets a dotted circle: otherwise the screen would not show it.
fn measured(cluster: &str) -> (Cow<'_, str>, usize) {
    let mut chars = cluster.chars();
    if let (Some(c), None) = (chars.next(), chars.next())
        && is_plain_wide(c)
    {
        return (Cow::Borrowed(cluster), 2);
    }
    let shown = sanitize::line(cluster);
    match columns(&shown) {
        0 => {
            let shown = format!("◌{shown}");
            let width = columns(&shown);
            (Cow::Owned(shown), width)
        }
        width => (shown, width),
    }
}

/// Letters two columns wide that never form a cluster with one another: what long texts without spaces are made of, and
/// so worth a short way.
pub(super) fn is_plain_wide(c: char) -> bool {
    matches!(
        c,
        '\u{3041}'..='\u{3096}'
            | '\u{30a1}'..='\u{30fa}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}'
    )
}

fn class(cluster: &str, width: usize) -> Class {
    match cluster.chars().next() {
        Some('\n') => Class::Newline,
        Some(' ' | '\t' | '\u{3000}') => Class::Space,
        Some(c) if c.is_ascii_alphanumeric() && width == 1 => Class::Word,
        Some(c) if is_plain_wide(c) => Class::Wide,
        Some(c) if OPENING.contains(c) => Class::Opening,
        Some(c) if CLOSING.contains(c) => Class::Closing,
        _ if width > 1 => Class::Wide,
        _ => Class::Word,
    }
}

/// Whether a row may break between two cells.
pub(super) fn can_break(before: Class, after: Class) -> bool {
    match (before, after) {
        (_, Class::Space | Class::Closing) | (Class::Opening, _) => false,
        (Class::Space, _) => true,
        _ => before == Class::Wide || after == Class::Wide,
    }
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation as _;

    use super::*;

    #[test]
    fn the_short_way_for_wide_letters_gives_what_the_long_way_does() {
        for c in ('\0'..=char::MAX).filter(|&c| is_plain_wide(c)) {
            let text = c.to_string();
            assert_eq!(columns(&text), 2, "{c}");
            assert_eq!(sanitize::line(&text), text);
            assert!(!OPENING.contains(c) && !CLOSING.contains(c));
            for other in ['あ', 'ア', '世', '가', '각'] {
                assert_eq!(
                    format!("{c}{other}{c}").graphemes(true).count(),
                    3,
                    "{c}{other}"
                );
            }
        }
    }
}
