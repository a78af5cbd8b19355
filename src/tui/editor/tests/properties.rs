use proptest::prelude::*;

use super::seen;
use crate::tui::editor::wrap::Wrap;
use crate::tui::editor::{Draft, Editor, Element, Part, Point};
use crate::tui::wrap::columns;

#[derive(Clone, Debug)]
enum Action {
    Type(String),
    Paste(String),
    Mention,
    Do(fn(&mut Editor)),
    Up,
    Down,
    Click(usize, usize),
    MoveTo(usize),
    Undo,
    Redo,
}

/// Pieces that join, split, hide, wrap or mean something.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "a", "b", "word", "longerword", " ", "  ", "\t", "\n", "\r\n", "@", "(", ")", ".", "1", "\u{fffc}", "\x1b", "\u{202e}",
    "世", "界", "。", "「", "カ", "ﾞ", "한", "\u{1100}", "\u{1161}", "e", "\u{301}", "\u{200d}", "\u{fe0f}", "👩", "💻",
    "🇩", "🇪", "क", "\u{94d}", "\u{600}", "\u{17d8}", "ل", "ا",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 1..6).prop_map(|pieces| pieces.concat())
}

fn action() -> impl Strategy<Value = Action> {
    let edits: Vec<fn(&mut Editor)> = vec![
        Editor::backspace,
        Editor::delete,
        Editor::delete_word_back,
        Editor::delete_word_forward,
        Editor::kill_to_line_end,
        Editor::kill_to_line_start,
        Editor::yank,
        Editor::insert_newline,
    ];
    let moves: Vec<fn(&mut Editor)> = vec![
        Editor::move_left,
        Editor::move_right,
        Editor::move_word_left,
        Editor::move_word_right,
        Editor::move_to_line_start,
        Editor::move_to_line_end,
        Editor::move_to_start,
        Editor::move_to_end,
    ];
    prop_oneof![
        6 => text().prop_map(Action::Type),
        2 => text().prop_map(Action::Paste),
        1 => text().prop_map(|text| Action::Paste(text.repeat(1_001))),
        4 => Just(Action::Mention),
        6 => prop::sample::select(edits).prop_map(Action::Do),
        1 => Just(Action::Do(Editor::clear)),
        6 => prop::sample::select(moves).prop_map(Action::Do),
        1 => Just(Action::Up),
        1 => Just(Action::Down),
        2 => (0..6usize, 0..14usize).prop_map(|(row, column)| Action::Click(row, column)),
        2 => (0..60usize).prop_map(Action::MoveTo),
        2 => Just(Action::Undo),
        1 => Just(Action::Redo),
    ]
}

/// The label and the id of a mention belong together by this rule.
fn label_of(id: &str) -> String {
    format!("la bel世{id}")
}

fn perform(editor: &mut Editor, action: &Action, index: usize, width: usize) {
    match action {
        Action::Type(text) => editor.insert_str(text),
        Action::Paste(text) => editor.paste(text),
        Action::Mention => {
            editor.insert_str(" @x");
            // A combining mark that follows may have joined; then there is no token, as the caret went behind it.
            if let Some(query) = editor.mention_query() {
                let id = index.to_string();
                assert!(editor.accept_mention(query.start, id.as_str().into(), label_of(&id)));
            }
        }
        Action::Do(action) => action(editor),
        Action::Up => drop(editor.move_up(width)),
        Action::Down => drop(editor.move_down(width)),
        Action::Click(row, column) => {
            let at = editor.layout(width).position_at(Point {
                row: *row,
                column: *column,
            });
            assert_eq!(
                editor.content.boundary_from(at),
                at,
                "a click lands on a boundary"
            );
            editor.move_to(at);
        }
        Action::MoveTo(at) => editor.move_to(*at),
        Action::Undo => drop(editor.undo()),
        Action::Redo => drop(editor.redo()),
    }
}

/// The text as it is drawn, without any wrapping.
fn displayed(editor: &Editor) -> String {
    let cell = |cell: crate::tui::editor::cells::Cell<'_>| cell.shown.into_owned();
    editor.content.cells(0).map(cell).collect()
}

fn check(editor: &Editor, width: usize) {
    let content = &editor.content;
    assert_eq!(
        content.boundary_from(editor.caret),
        editor.caret,
        "the caret is on a boundary: {}",
        seen(editor)
    );
    for (at, placed) in content.elements() {
        assert_eq!(
            content.text().get(*at..at + 3),
            Some("\u{fffc}"),
            "an element has its placeholder"
        );
        if let Element::Mention { session_id, label } = &placed.element {
            assert_eq!(
                label,
                &label_of(session_id.as_str()),
                "a mention keeps its identity"
            );
        }
    }
    assert!(content.elements().is_sorted_by(|a, b| a.0 < b.0));
    for (at, _) in content
        .text()
        .match_indices('@')
        .filter(|(at, _)| content.is_pasted_at(*at))
    {
        assert!(content.element_at(at).is_none());
    }

    let rows = editor.layout(width);
    assert_eq!(
        *editor.wrap.borrow().as_deref().unwrap(),
        Wrap::new(content, width),
        "an edit leads to the same rows as a new layout"
    );
    let mut joined = String::new();
    for index in 0..rows.count() {
        let row = rows.row(index);
        assert!(row.width <= width, "row {row:?} fits {width}");
        let drawn: String = row.spans.iter().map(|span| span.text.as_str()).collect();
        assert!(!drawn.contains(char::is_control));
        assert!(
            row.spans
                .iter()
                .map(|span| columns(&span.text))
                .sum::<usize>()
                <= width,
            "as drawn"
        );
        joined.push_str(&drawn);
    }
    assert_eq!(
        joined,
        displayed(editor),
        "rows lose nothing and add nothing"
    );
    let caret = rows.caret();
    assert!(caret.column < width && caret.row < rows.count());
    assert_eq!(
        rows.point_of(rows.position_at(caret)),
        caret,
        "a click on the caret leaves it there"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_actions_keep_everything_in_order(actions in prop::collection::vec(action(), 1..60), width in 4..24usize) {
        let mut editor = Editor::new();
        check(&editor, width);
        for (index, action) in actions.iter().enumerate() {
            perform(&mut editor, action, index, width);
            check(&editor, width);
        }
        let draft = editor.draft();
        let end = editor.content.clone();
        while editor.redo() {}
        let last = (editor.content.clone(), editor.draft());
        while editor.undo() {
            check(&editor, width);
        }
        prop_assert!(editor.is_empty() && editor.caret == 0);
        while editor.redo() {}
        prop_assert_eq!((editor.content.clone(), editor.draft()), last);

        let saved = serde_json::to_string(&draft).unwrap();
        editor.set(serde_json::from_str(&saved).unwrap());
        prop_assert_eq!(editor.content.text(), end.text());
        prop_assert_eq!(editor.content.elements(), end.elements());
        prop_assert_eq!(&editor.draft(), &draft);
        let is_joined = |pair: &[Part]| !matches!(pair, [Part::Text(_), Part::Text(_)]);
        prop_assert!(draft.parts.windows(2).all(is_joined));
    }

    #[test]
    fn undo_returns_to_a_recalled_draft(text in text(), actions in prop::collection::vec(action(), 1..30)) {
        let mut editor = Editor::new();
        editor.set(Draft::from_text(text));
        let original = seen(&editor);
        for (index, action) in actions.iter().enumerate() {
            perform(&mut editor, action, index, 12);
        }
        while editor.undo() {}
        // With no edit at all, moves may have left the caret elsewhere.
        prop_assert_eq!(seen(&editor).replace('|', ""), original.replace('|', ""));
    }
}
