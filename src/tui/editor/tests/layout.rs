use super::{mention, rows, seen, typed};
use crate::tui::editor::{Editor, Point, SpanKind};

fn point(row: usize, column: usize) -> Point {
    Point { row, column }
}

/// Where the caret is drawn.
fn caret(editor: &Editor, width: usize) -> (usize, usize) {
    let caret = editor.layout(width).caret();
    (caret.row, caret.column)
}

#[test]
fn an_empty_text_is_one_empty_row() {
    assert_eq!(rows(&typed("|"), 10), [""]);
    assert_eq!(caret(&typed("|"), 10), (0, 0));
    assert_eq!(rows(&typed("a\n|"), 10), ["a", ""]);
    assert_eq!(caret(&typed("a\n|"), 10), (1, 0));
}

#[test]
fn rows_break_between_words_and_long_words_anywhere() {
    assert_eq!(rows(&typed("one two three|"), 9), ["one two ", "three"]);
    assert_eq!(rows(&typed("one twothree|"), 9), ["one ", "twothree"]);
    assert_eq!(rows(&typed("abcdefghij|"), 5), ["abcd", "efgh", "ij"]);
}

#[test]
fn wide_characters_are_never_split_and_break_anywhere_but_before_closing_punctuation() {
    assert_eq!(rows(&typed("世界你好|"), 6), ["世界", "你好"]);
    assert_eq!(rows(&typed("a世界你好|"), 6), ["a世界", "你好"]);
    assert_eq!(rows(&typed("世界。你好|"), 6), ["世", "界。", "你好"]);
    assert_eq!(rows(&typed("世「界|"), 6), ["世", "「界"]);
    assert_eq!(rows(&typed("👩‍💻👩‍💻👩‍💻|"), 5), ["👩‍💻👩‍💻", "👩‍💻"]);
}

#[test]
fn tabs_are_spaces_and_marks_without_a_base_are_visible() {
    assert_eq!(rows(&typed("\tx|"), 10), ["    x"]);
    assert_eq!(rows(&typed("\u{301}|"), 10), ["◌\u{301}"]);
}

#[test]
fn the_caret_is_always_within_the_width() {
    assert_eq!(caret(&typed("abcd|"), 5), (0, 4));
    assert_eq!(caret(&typed("abcd |"), 5), (1, 0));
    assert_eq!(rows(&typed("abcd |\nx"), 5), ["abcd ", "", "x"]);
    assert_eq!(caret(&typed("abcd|\nx"), 5), (0, 4));
    assert_eq!(caret(&typed("abcd|e"), 5), (1, 0));
    assert_eq!(caret(&typed("世界|x"), 80), (0, 4));
}

#[test]
fn a_mention_wraps_as_a_whole() {
    let mut editor = typed("ab |");
    mention(&mut editor, "two words", "s1");
    assert_eq!(rows(&editor, 80), ["ab @two words "]);
    assert_eq!(rows(&editor, 13), ["ab ", "@two words "]);
    let row = editor.layout(13).row(1);
    let kinds: Vec<_> = row.spans.iter().map(|span| span.kind).collect();
    assert_eq!(kinds, [SpanKind::Mention, SpanKind::Text]);
    assert_eq!(row.width, 11);
}

#[test]
fn a_mention_wider_than_the_row_is_cut_and_stays_one_element() {
    let mut editor = typed("ab |");
    mention(&mut editor, "界two words", "s1");
    assert_eq!(rows(&editor, 6), ["ab ", "@界tw", "o wor", "ds "]);
    assert_eq!(caret(&editor, 6), (3, 3));
    editor.move_left();
    assert_eq!(caret(&editor, 6), (3, 2));
    editor.move_left();
    assert_eq!(seen(&editor), "ab |<界two words:s1> ");
    assert_eq!(caret(&editor, 6), (1, 0));
    assert!(editor.move_down(6));
    assert_eq!(seen(&editor), "ab <界two words:s1>| ");
    assert!(editor.move_up(6));
    assert_eq!(seen(&editor), "ab |<界two words:s1> ");
}

#[test]
fn up_and_down_go_by_visual_row_and_keep_the_column() {
    let mut editor = typed("one two\nx\nthree fo|ur");
    assert!(editor.move_up(80));
    assert_eq!(seen(&editor), "one two\nx|\nthree four");
    assert!(editor.move_up(80));
    assert_eq!(seen(&editor), "one two|\nx\nthree four");
    assert!(!editor.move_up(80));
    assert!(editor.move_down(80) && editor.move_down(80));
    assert_eq!(seen(&editor), "one two\nx\nthree fo|ur");
    assert!(!editor.move_down(80));
}

#[test]
fn a_horizontal_move_sets_the_column_anew() {
    let mut editor = typed("three fo|ur");
    assert!(editor.move_up(7));
    assert_eq!(seen(&editor), "th|ree four");
    editor.move_right();
    assert!(editor.move_down(7));
    assert_eq!(seen(&editor), "three fou|r");
}

#[test]
fn a_click_goes_to_the_nearer_edge() {
    let editor = typed("a世b\ncd ef|");
    let rows = editor.layout(80);
    let at = |row, column| rows.position_at(point(row, column));
    assert_eq!(
        [at(0, 0), at(0, 1), at(0, 2), at(0, 3), at(0, 9)],
        [0, 1, 4, 4, 5]
    );
    assert_eq!([at(1, 1), at(9, 99)], [7, 11]);
}

#[test]
fn a_click_behind_a_soft_break_stays_on_its_row() {
    let mut editor = typed("one two|");
    let at = editor.layout(6).position_at(point(0, 5));
    editor.move_to(at);
    assert_eq!(seen(&editor), "one| two");
    assert_eq!(caret(&editor, 6), (0, 3));
}

#[test]
fn a_click_on_a_mention_goes_before_or_behind_it() {
    let mut editor = typed("|");
    mention(&mut editor, "four", "s1");
    let at = |editor: &Editor, column| editor.layout(80).position_at(point(0, column));
    assert_eq!(at(&editor, 1), 0);
    assert_eq!(at(&editor, 4), 3);
    editor.move_to(1);
    assert_eq!(
        seen(&editor),
        "<four:s1>| ",
        "an offset inside is moved out"
    );
}

#[test]
fn no_width_is_too_narrow_or_too_wide() {
    let mut editor = typed("wide 世界 |");
    mention(&mut editor, "Flaky", "s1");
    assert_eq!(rows(&editor, usize::MAX), ["wide 世界 @Flaky "]);
    assert_eq!(rows(&editor, 0), rows(&editor, 4));
    assert_eq!(
        rows(&editor, 4),
        ["wid", "e ", "世", "界 ", "@Fl", "aky ", ""]
    );
}
