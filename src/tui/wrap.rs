//! Wraps plain text into rows of terminal columns.
//!
//! Works on text that is safe to show already, where tabs are spaces. Cuts
//! only between grapheme clusters, and is lazy: a row costs its own length.

use ratatui::buffer::CellWidth as _;
use unicode_segmentation::UnicodeSegmentation as _;

/// Where a row may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// Between words and beside wide characters; inside a word only when it is
    /// wider than a row. Spaces at a break are not shown.
    Words,
    /// Wherever it is full: every character is shown.
    Hard,
}

/// One row of wrapped text, in byte offsets of the text.
///
/// `start..end` is shown; `end..next` is the line feed or the spaces at the
/// break, so that the rows' `start..next` join to the whole text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where it begins.
    pub start: usize,
    /// Where what is shown ends.
    pub end: usize,
    /// Where the next row begins.
    pub next: usize,
    /// Whether a line feed ends it.
    pub ends_line: bool,
}

/// One grapheme cluster: its bytes and its terminal columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cluster {
    pub(crate) bytes: usize,
    pub(crate) columns: u16,
}

/// The cluster that begins at byte `at`; `None` at the end.
pub(crate) fn cluster_at(text: &str, at: usize) -> Option<Cluster> {
    let bytes = text.as_bytes();
    let first = bytes.get(at)?;
    // Nothing that is ASCII joins the character before it, but for the line
    // feed after a carriage return.
    if matches!(first, b' '..=b'~') && bytes.get(at + 1).is_none_or(u8::is_ascii) {
        return Some(Cluster {
            bytes: 1,
            columns: 1,
        });
    }
    let cluster = text.get(at..)?.graphemes(true).next()?;
    // The screen leaves control characters out.
    let columns = if cluster.contains(char::is_control) {
        0
    } else {
        cluster.cell_width()
    };
    Some(Cluster {
        bytes: cluster.len(),
        columns,
    })
}

/// The terminal columns that one line of text takes.
#[must_use]
pub fn columns(text: &str) -> usize {
    let mut at = 0;
    let mut columns = 0;
    while let Some(cluster) = cluster_at(text, at) {
        at += cluster.bytes;
        columns += usize::from(cluster.columns);
    }
    columns
}

/// As much of one line as fits into `width` columns, with `…` at the end where
/// it was cut.
#[must_use]
pub fn cut_to(text: &str, width: u16) -> String {
    let (mut at, mut used) = (0, 0_u16);
    // What fits beside the sign, should it be needed.
    let mut short = 0;
    while let Some(cluster) = cluster_at(text, at) {
        used = used.saturating_add(cluster.columns);
        if used > width {
            let head = text.get(..short).unwrap_or_default();
            return if width == 0 {
                String::new()
            } else {
                format!("{head}…")
            };
        }
        at += cluster.bytes;
        if used < width {
            short = at;
        }
    }
    text.to_owned()
}

/// As much of the end of one line as fits into `width` columns, with `…` in
/// front where it was cut: the end of a path tells most.
#[must_use]
pub fn cut_start(text: &str, width: u16) -> String {
    let mut left = columns(text);
    let room = usize::from(width);
    if left <= room {
        return text.to_owned();
    }
    let mut at = 0;
    while let Some(cluster) = cluster_at(text, at) {
        if left < room {
            break;
        }
        at += cluster.bytes;
        left -= usize::from(cluster.columns);
    }
    let tail = text.get(at..).unwrap_or_default();
    if width == 0 {
        String::new()
    } else {
        format!("…{tail}")
    }
}

/// The rows of `text` at `width` columns; a width of 0 counts as 1.
///
/// No row is wider, save one that holds a single cluster wider than itself.
/// The empty text, and what follows a line feed at the end, is an empty row.
#[must_use]
pub fn rows(text: &str, width: u16, wrap: Wrap) -> Rows<'_> {
    rows_from(text, 0, width, wrap)
}

/// The rows of `text` from byte `start` on, where a row is known to begin.
#[must_use]
pub fn rows_from(text: &str, start: usize, width: u16, wrap: Wrap) -> Rows<'_> {
    Rows {
        text,
        at: Some(start),
        width: width.max(1),
        wrap,
    }
}

/// The rows of a text, found one by one.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    text: &'a str,
    at: Option<usize>,
    width: u16,
    wrap: Wrap,
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let row = self.row(self.at?);
        let more = row.ends_line || row.next < self.text.len();
        self.at = more.then_some(row.next);
        Some(row)
    }
}

impl Rows<'_> {
    fn row(&self, start: usize) -> Row {
        let row = |end, next| Row {
            start,
            end,
            next,
            ends_line: false,
        };
        let line = |end, next| Row {
            ends_line: true,
            ..row(end, next)
        };
        let mut at = start;
        let mut used = 0_u16;
        // The last place that the row may end at, and where the next begins.
        let mut fold: Option<(usize, usize)> = None;
        let mut spaces_from = None;
        loop {
            let Some(cluster) = cluster_at(self.text, at) else {
                return row(at, at);
            };
            let next = at + cluster.bytes;
            match self.text.as_bytes().get(at) {
                Some(b'\n') => return line(at, next),
                Some(b'\r') if cluster.bytes == 2 => return line(at, next),
                _ => {}
            }
            let is_space = self.text.as_bytes().get(at) == Some(&b' ') && cluster.bytes == 1;
            let words = self.wrap == Wrap::Words;
            if words && cluster.columns > 1 && spaces_from.is_none() && at > start {
                fold = Some((at, at));
            }
            let columns = used.saturating_add(cluster.columns);
            if columns > self.width && at > start {
                if words && is_space {
                    return self.after_spaces(start, spaces_from.unwrap_or(at), at);
                }
                let (end, next) = fold.filter(|_| words).unwrap_or((at, at));
                return row(end, next);
            }
            used = columns;
            if is_space {
                let from = *spaces_from.get_or_insert(at);
                // Indentation is no place to break.
                if from > start {
                    fold = Some((from, next));
                }
            } else {
                spaces_from = None;
                if words && cluster.columns > 1 {
                    fold = Some((next, next));
                }
            }
            at = next;
        }
    }

    /// The row that ends where its spaces run over: they belong to the break,
    /// and so does a line feed behind them.
    fn after_spaces(&self, start: usize, end: usize, mut at: usize) -> Row {
        while let Some(Cluster { bytes: 1, .. }) = cluster_at(self.text, at) {
            if self.text.as_bytes().get(at) != Some(&b' ') {
                break;
            }
            at += 1;
        }
        let rest = self.text.get(at..).unwrap_or_default();
        let feed = if rest.starts_with("\r\n") {
            2
        } else {
            usize::from(rest.starts_with('\n'))
        };
        Row {
            start,
            end,
            next: at + feed,
            ends_line: feed > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, clippy::string_slice)]

    use proptest::prelude::*;

    use super::*;

    fn wrapped(text: &str, width: u16, wrap: Wrap) -> Vec<&str> {
        rows(text, width, wrap)
            .map(|row| &text[row.start..row.end])
            .collect()
    }

    #[test]
    fn words_stay_whole_and_the_spaces_at_a_break_are_not_shown() {
        assert_eq!(
            wrapped("the quick  brown fox", 10, Wrap::Words),
            ["the quick", "brown fox"]
        );
        assert_eq!(
            wrapped("ten chars! x", 10, Wrap::Words),
            ["ten chars!", "x"]
        );
        assert_eq!(wrapped("ab   ", 2, Wrap::Words), ["ab"]);
        assert_eq!(wrapped("ab  \ncd", 2, Wrap::Words), ["ab", "cd"]);
    }

    #[test]
    fn a_word_wider_than_a_row_is_cut() {
        assert_eq!(
            wrapped("see abcdefghijkl", 5, Wrap::Words),
            ["see", "abcde", "fghij", "kl"]
        );
    }

    #[test]
    fn indentation_is_kept() {
        assert_eq!(
            wrapped("  if x {\n    call(a, b)", 12, Wrap::Words),
            ["  if x {", "    call(a,", "b)"]
        );
        assert_eq!(wrapped("  abcdefgh", 6, Wrap::Words), ["  abcd", "efgh"]);
    }

    #[test]
    fn wide_characters_break_anywhere_and_never_in_half() {
        assert_eq!(wrapped("世界你好", 5, Wrap::Words), ["世界", "你好"]);
        assert_eq!(wrapped("abc世界", 4, Wrap::Words), ["abc", "世界"]);
    }

    #[test]
    fn a_joined_emoji_is_one() {
        assert_eq!(wrapped("a👩‍💻b", 2, Wrap::Hard), ["a", "👩‍💻", "b"]);
        assert_eq!(wrapped("👩‍💻👩‍💻", 1, Wrap::Hard), ["👩‍💻", "👩‍💻"]);
    }

    #[test]
    fn line_feeds_end_rows_and_empty_lines_count() {
        assert_eq!(wrapped("", 5, Wrap::Words), [""]);
        assert_eq!(wrapped("a\n\nb\n", 5, Wrap::Words), ["a", "", "b", ""]);
        assert_eq!(wrapped("abcde\nf", 5, Wrap::Hard), ["abcde", "f"]);
    }

    #[test]
    fn hard_rows_show_every_character() {
        assert_eq!(wrapped("ab  cd ef", 3, Wrap::Hard), ["ab ", " cd", " ef"]);
    }

    #[test]
    fn text_is_cut_with_a_sign_only_where_it_does_not_fit() {
        assert_eq!(cut_to("abcdef", 6), "abcdef");
        assert_eq!(cut_to("abcdefg", 6), "abcde…");
        assert_eq!(cut_to("世界你", 5), "世界…");
        assert_eq!(cut_to("世界你", 4), "世…");
        assert_eq!(cut_to("a", 0), "");
    }

    fn texts() -> impl Strategy<Value = String> {
        let bits = prop::sample::select(vec![
            "a",
            "bc",
            " ",
            "  ",
            "\n",
            "\r\n",
            "世",
            "👩‍💻",
            "e\u{301}",
            "🇩🇪",
            "क्‍ष",
            "-",
            "word",
            "\u{301}",
            "ﷺ",
            "\t",
        ]);
        prop::collection::vec(bits, 0..80).prop_map(|bits| bits.concat())
    }

    proptest! {
        #[test]
        fn rows_join_to_the_text_and_fit(text in texts(), width in 0_u16..40, hard in any::<bool>()) {
            let wrap = if hard { Wrap::Hard } else { Wrap::Words };
            let mut at = 0;
            for row in rows(&text, width, wrap) {
                prop_assert_eq!(row.start, at);
                let shown = &text[row.start..row.end];
                let gone = &text[row.end..row.next];
                prop_assert!(gone.chars().all(|c| matches!(c, ' ' | '\n' | '\r')), "{:?}", gone);
                prop_assert!(!hard || gone.trim_matches(['\r', '\n']).is_empty());
                let one = shown.graphemes(true).count() == 1;
                prop_assert!(columns(shown) <= usize::from(width.max(1)) || one, "{:?}", shown);
                at = row.next;
            }
            prop_assert_eq!(at, text.len());
        }

        #[test]
        fn wrapping_goes_on_from_any_row(text in texts(), width in 1_u16..40) {
            let all: Vec<Row> = rows(&text, width, Wrap::Words).collect();
            for (place, row) in all.iter().enumerate() {
                let rest: Vec<Row> = rows_from(&text, row.start, width, Wrap::Words).collect();
                prop_assert_eq!(&rest[..], &all[place..]);
            }
        }

        #[test]
        fn any_text_is_measured_as_the_screen_draws_it(text in any::<String>()) {
            let text = text.replace(char::is_control, "");
            let area = ratatui::layout::Rect::new(0, 0, 500, 1);
            let mut buffer = ratatui::buffer::Buffer::empty(area);
            let (end, _) = buffer.set_stringn(0, 0, &text, 500, ratatui::style::Style::new());
            prop_assert_eq!(columns(&text), usize::from(end));
        }
    }

    #[test]
    fn width_is_what_the_screen_draws() {
        assert_eq!(columns("abc"), 3);
        assert_eq!(columns("世界"), 4);
        assert_eq!(columns("👩‍💻"), 2);
        assert_eq!(columns("e\u{301}"), 1);

        for text in [
            "ｶﾞ x",
            "世👩‍💻!",
            "🇩🇪 e\u{301}",
            "ل ا لا",
            "각 \u{1100}\u{1100}\u{1161}",
            "\u{17d8}.",
        ] {
            let mut buffer =
                ratatui::buffer::Buffer::empty(ratatui::layout::Rect::new(0, 0, 40, 1));
            let (end, _) = buffer.set_stringn(0, 0, text, 40, ratatui::style::Style::new());
            assert_eq!(columns(text), usize::from(end), "{text}");
        }
    }
}
