//! The row that shows what was said, with what matched marked.

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use crate::figures::thousands;
use crate::runtime::TextRow;
use crate::sanitize;
use crate::session::Role;
use crate::tui::picker::columns::push_styled;
use crate::tui::theme::Theme;
use crate::tui::wrap::columns;

/// A grapheme cluster as it is shown.
struct Cell {
    text: String,
    columns: usize,
    is_marked: bool,
}

/// Who said it, whether that can't be cited any more, and the part of the snippet
/// that holds the first match.
pub(super) fn line(row: &TextRow, selected: bool, width: usize, theme: &Theme) -> Line<'static> {
    let mark = if selected { "▌" } else { " " };
    let more = match row.matches {
        0 | 1 => String::new(),
        matches => format!(" (1 of {})", thousands(matches.into())),
    };
    let earlier = if row.message.is_none() {
        ", earlier"
    } else {
        ""
    };
    let who = format!("  {}{earlier}{more}: ", speaker(row.role));
    let room = width.saturating_sub(1 + columns(&who));
    let mut spans = vec![Span::raw(mark), Span::styled(who, theme.dim)];
    for cell in window(cells(row), room) {
        let style = if cell.is_marked {
            theme.matched
        } else {
            Style::default()
        };
        push_styled(&mut spans, &cell.text, style);
    }
    Line::from(spans)
}

/// What matched, the longest first: what stands together, then each part of
/// it. In lower case, so that it is found however it is written.
pub(super) fn matched(row: &TextRow) -> Vec<String> {
    let text = |range: &Range<usize>| row.snippet.get(range.clone());
    let mut runs: Vec<Range<usize>> = Vec::new();
    for mark in row.marks.iter().filter(|mark| text(mark).is_some()) {
        match runs.last_mut() {
            Some(run) if text(&(run.end..mark.start)).is_some_and(|t| t.trim().is_empty()) => {
                run.end = mark.end;
            }
            _ => runs.push(mark.clone()),
        }
    }
    let all = runs.iter().chain(&row.marks);
    let mut texts: Vec<String> = all
        .filter_map(text)
        .filter(|text| !text.is_empty())
        .map(str::to_lowercase)
        .collect();
    texts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    texts.dedup();
    texts
}

fn speaker(role: Role) -> &'static str {
    match role {
        Role::User => "You",
        Role::Assistant => "Assistant",
        Role::System => "System",
        Role::Tool => "Tool",
    }
}

fn cells(row: &TextRow) -> Vec<Cell> {
    row.snippet
        .grapheme_indices(true)
        .map(|(at, grapheme)| {
            let text = sanitize::line(grapheme).into_owned();
            let end = at + grapheme.len();
            Cell {
                columns: columns(&text),
                text,
                is_marked: row.marks.iter().any(|m| m.start < end && at < m.end),
            }
        })
        .collect()
}

/// As much as there is room for: from the start where the first match is seen
/// even so, else with a third of the room before it.
fn window(cells: Vec<Cell>, room: usize) -> Vec<Cell> {
    let width = |cells: &[Cell]| cells.iter().map(|cell| cell.columns).sum::<usize>();
    if width(&cells) <= room {
        return cells;
    }
    let first = cells.iter().position(|cell| cell.is_marked).unwrap_or(0);
    let marked = cells.iter().skip(first).take_while(|cell| cell.is_marked);
    let match_end = width(cells.get(..first).unwrap_or_default())
        + marked.map(|cell| cell.columns).sum::<usize>();
    let mut skip = 0;
    // The sign at either end takes a column.
    if match_end + 1 > room {
        let mut before = 0;
        skip = first;
        while let Some(cell) = skip.checked_sub(1).and_then(|at| cells.get(at))
            && before + cell.columns < room / 3
        {
            before += cell.columns;
            skip -= 1;
        }
    }
    let mut shown = Vec::new();
    let mut used = 0;
    if skip > 0 && room > 0 {
        shown.push(sign());
        used = 1;
    }
    let mut rest = cells.into_iter().skip(skip).peekable();
    while let Some(cell) = rest.next() {
        let is_last = rest.peek().is_none();
        if used + cell.columns + usize::from(!is_last) > room {
            if used < room {
                shown.push(sign());
            }
            break;
        }
        used += cell.columns;
        shown.push(cell);
    }
    shown
}

/// Where something is left out.
fn sign() -> Cell {
    Cell {
        text: "…".to_owned(),
        columns: 1,
        is_marked: false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::single_range_in_vec_init, clippy::reversed_empty_ranges)]

    use super::*;
    use crate::session::Millis;
    use crate::tool::Tool;
    use crate::tui::testing::{HOSTILE, mono};

    fn row(snippet: &str, marks: &[Range<usize>]) -> TextRow {
        TextRow {
            id: "a".into(),
            label: "A".to_owned(),
            title: "A".to_owned(),
            tool: Tool::Codex,
            place: String::new(),
            message: Some(0),
            matches: 1,
            when: Millis(0),
            role: Role::User,
            snippet: snippet.to_owned(),
            marks: marks.to_vec(),
        }
    }

    /// The snippet as it is shown, what is marked in brackets.
    fn shown(snippet: &str, marks: &[Range<usize>], room: usize) -> String {
        let mut text = String::new();
        let mut was_marked = false;
        for cell in window(cells(&row(snippet, marks)), room) {
            if cell.is_marked != was_marked {
                text.push(if cell.is_marked { '[' } else { ']' });
            }
            was_marked = cell.is_marked;
            text.push_str(&cell.text);
        }
        if was_marked {
            text.push(']');
        }
        text
    }

    #[test]
    fn what_matched_is_marked() {
        assert_eq!(shown("see login_test", &[4..9], 40), "see [login]_test");
        assert_eq!(shown("ab", &[0..1, 1..2], 40), "[ab]");
        assert_eq!(shown("größe 世界", &[8..11], 40), "größe [世]界");
    }

    #[test]
    fn what_can_not_be_cited_any_more_is_told() {
        let row = TextRow {
            message: None,
            ..row("login", &[])
        };
        let shown = line(&row, false, 40, &mono()).to_string();
        assert_eq!(shown.trim(), "You, earlier: login");
    }

    #[test]
    fn of_several_matches_it_is_said_that_one_is_shown() {
        let mut row = row("login", &[]);
        let shown = |row: &TextRow| line(row, false, 40, &mono()).to_string();
        assert_eq!(shown(&row), "   You: login");
        row.matches = 1_204;
        row.role = Role::Assistant;
        assert_eq!(shown(&row), "   Assistant (1 of 1,204): login");
    }

    #[test]
    fn what_matched_is_looked_for_together_and_then_apart() {
        let row = row(
            "12 is One in six, one",
            &[6..9, 10..12, 13..16, 18..21, 90..99],
        );
        assert_eq!(matched(&row), ["one in six", "one", "six", "in"]);
    }

    #[test]
    fn marks_that_fit_no_character_do_no_harm() {
        assert_eq!(shown("größe", &[3..4], 40), "gr[ö]ße");
        assert_eq!(shown("ab", &[9..12, 1..1, 7..2], 40), "ab");
    }

    #[test]
    fn of_a_long_snippet_the_part_around_the_first_match_is_shown() {
        let text = "aaaa bbbb cccc dddd eeee ffff";
        assert_eq!(shown(text, &[5..9], 12), "aaaa [bbbb] c…");
        assert_eq!(shown(text, &[20..24], 12), "…dd [eeee] ff…");
        assert_eq!(shown(text, &[25..29], 12), "…ee [ffff]");
        assert_eq!(shown(text, &[], 12), "aaaa bbbb c…");
        assert_eq!(shown(text, &[20..24], 1), "…");
        assert_eq!(shown(text, &[20..24], 0), "");
    }

    #[test]
    fn nothing_in_a_snippet_reaches_the_terminal_raw() {
        let line = line(&row(HOSTILE, &[0..4]), true, 200, &mono());
        let text = line.to_string();
        assert!(text.contains("␛[31mred"), "{text}");
        assert!(!text.chars().any(char::is_control));
    }

    #[test]
    fn no_snippet_is_wider_than_its_row() {
        for width in 0..60 {
            let row = row("世界 login 👩‍💻 test and more of it to be cut", &[7..12]);
            let line = line(&row, false, width, &mono());
            let said: String = line.spans.iter().skip(2).map(|s| &*s.content).collect();
            assert!(columns(&said) + 8 <= width.max(8), "{width}: {said}");
        }
    }
}
