use super::{describe, mention, seen, sent, typed};
use crate::tui::editor::{Draft, Editor, Element, LONGEST_PLAIN_PASTE, Part};

fn after(text: &str, action: impl FnOnce(&mut Editor)) -> String {
    let mut editor = typed(text);
    action(&mut editor);
    seen(&editor)
}

#[test]
fn moves_and_deletions_go_by_grapheme_cluster() {
    for cluster in ["e\u{301}", "世", "👩‍💻", "🇩🇪", "❤️", "각", "क्षि"] {
        assert_eq!(after(&format!("a{cluster}|b"), Editor::backspace), "a|b");
        assert_eq!(after(&format!("a|{cluster}b"), Editor::delete), "a|b");
        assert_eq!(
            after(&format!("a{cluster}|b"), Editor::move_left),
            format!("a|{cluster}b")
        );
        assert_eq!(
            after(&format!("a|{cluster}b"), Editor::move_right),
            format!("a{cluster}|b")
        );
    }
    assert_eq!(after("🇩🇪🇫🇷|🇮🇹", Editor::move_left), "🇩🇪|🇫🇷🇮🇹");
}

#[test]
fn the_caret_never_stands_inside_a_cluster_that_an_edit_made() {
    assert_eq!(
        after("e|x", |editor| editor.insert_char('\u{301}')),
        "e\u{301}|x"
    );
    assert_eq!(
        after("👩|💻", |editor| editor.insert_char('\u{200d}')),
        "👩\u{200d}💻|"
    );
    assert_eq!(after("🇩|x🇪", Editor::delete), "🇩🇪|");
    assert_eq!(
        after("|\u{301}", |editor| editor.insert_char('e')),
        "e\u{301}|"
    );
}

#[test]
fn edits_at_the_edges_of_the_text_do_nothing() {
    for action in [
        Editor::backspace,
        Editor::move_left,
        Editor::delete_word_back,
        Editor::kill_to_line_start,
        Editor::move_word_left,
    ] {
        assert_eq!(after("|ab", action), "|ab");
    }
    for action in [
        Editor::delete,
        Editor::move_right,
        Editor::delete_word_forward,
        Editor::kill_to_line_end,
        Editor::move_word_right,
    ] {
        assert_eq!(after("ab|", action), "ab|");
    }
}

#[test]
fn word_moves_pass_over_punctuation_and_stop_at_scripts_and_symbols() {
    assert_eq!(
        after("one two, | three", Editor::move_word_left),
        "one |two,  three"
    );
    assert_eq!(
        after("one| ,two three", Editor::move_word_right),
        "one ,two| three"
    );
    assert_eq!(
        after("漢字かなカナ|", Editor::move_word_left),
        "漢字かな|カナ"
    );
    assert_eq!(after("漢字|かな", Editor::move_word_left), "|漢字かな");
    assert_eq!(after("so 👩‍💻👍|", Editor::move_word_left), "so |👩‍💻👍");
    assert_eq!(after("größe_1|", Editor::move_word_left), "|größe_1");
}

#[test]
fn an_element_is_a_word() {
    let mut editor = typed("see |");
    mention(&mut editor, "The flaky test", "s1");
    editor.move_word_left();
    assert_eq!(seen(&editor), "see |<The flaky test:s1> ");
    editor.move_word_right();
    assert_eq!(seen(&editor), "see <The flaky test:s1>| ");
    editor.delete_word_back();
    assert_eq!(seen(&editor), "see | ");
}

#[test]
fn line_moves_and_kills_go_by_hard_line() {
    assert_eq!(
        after("ab\nc|d\nef", Editor::move_to_line_start),
        "ab\n|cd\nef"
    );
    assert_eq!(
        after("ab\nc|d\nef", Editor::move_to_line_end),
        "ab\ncd|\nef"
    );
    assert_eq!(after("ab\nc|d\nef", Editor::move_to_start), "|ab\ncd\nef");
    assert_eq!(after("ab\nc|d\nef", Editor::move_to_end), "ab\ncd\nef|");
    assert_eq!(
        after("ab\nc|d\nef", Editor::kill_to_line_start),
        "ab\n|d\nef"
    );
    assert_eq!(after("ab\nc|d\nef", Editor::kill_to_line_end), "ab\nc|\nef");
    assert_eq!(after("ab|\ncd", Editor::kill_to_line_end), "ab|cd");
    assert_eq!(after("ab\n|cd", Editor::kill_to_line_start), "ab|cd");
}

#[test]
fn kills_in_a_row_are_yanked_as_one() {
    let mut editor = typed("one two three|");
    editor.delete_word_back();
    editor.delete_word_back();
    assert_eq!(seen(&editor), "one |");
    editor.yank();
    assert_eq!(seen(&editor), "one two three|");
    editor.move_left();
    editor.kill_to_line_end();
    editor.yank();
    editor.yank();
    assert_eq!(seen(&editor), "one two threee|");
}

#[test]
fn undo_takes_typing_back_by_word_and_restores_the_caret() {
    let mut editor = Editor::new();
    for c in "one two".chars() {
        editor.insert_char(c);
    }
    editor.move_to_start();
    editor.insert_char('x');
    let mut back = Vec::new();
    while editor.undo() {
        back.push(seen(&editor));
    }
    assert_eq!(back, ["|one two", "one |", "|"]);
    let mut forth = Vec::new();
    while editor.redo() {
        forth.push(seen(&editor));
    }
    assert_eq!(forth, ["one |", "one two|", "x|one two"]);
}

#[test]
fn undo_takes_erasing_back_by_word() {
    let mut editor = typed("one two|");
    for _ in 0..7 {
        editor.backspace();
    }
    assert_eq!(seen(&editor), "|");
    let mut back = Vec::new();
    for _ in 0..2 {
        editor.undo();
        back.push(seen(&editor));
    }
    assert_eq!(back, ["one |", "one two|"]);

    let mut editor = typed("|one two");
    for _ in 0..5 {
        editor.delete();
    }
    editor.undo();
    assert_eq!(seen(&editor), "| two");
    editor.undo();
    assert_eq!(seen(&editor), "|one two");
}

#[test]
fn a_new_edit_ends_what_can_be_redone() {
    let mut editor = typed("one|");
    editor.undo();
    editor.insert_char('x');
    assert!(!editor.redo());
    assert_eq!(seen(&editor), "x|");
}

#[test]
fn a_paste_is_one_edit_with_plain_line_breaks() {
    let mut editor = typed("a|b");
    editor.paste("1\r\n2\r3\n");
    assert_eq!(seen(&editor), "a1\n2\n3\n|b");
    editor.undo();
    assert_eq!(seen(&editor), "a|b");
}

#[test]
fn a_paste_of_more_than_a_thousand_characters_is_an_element() {
    let mut editor = typed("see |!");
    editor.paste(&"世".repeat(LONGEST_PLAIN_PASTE));
    assert_eq!(editor.elements().count(), 0);
    editor.undo();
    let text = "世".repeat(LONGEST_PLAIN_PASTE + 1);
    editor.paste(&text);
    assert_eq!(
        editor
            .layout(80)
            .row(0)
            .spans
            .get(1)
            .map(|span| span.text.clone()),
        Some("[pasted 1,001 chars]".into())
    );
    assert_eq!(sent(&editor, |_, _| String::new()), format!("see {text}!"));
    editor.backspace();
    assert_eq!(seen(&editor), "see |!");
    editor.undo();
    assert_eq!(seen(&editor), "see [世世世世世…]|!");
}

#[test]
fn control_characters_stay_in_the_message_and_off_the_screen() {
    let mut editor = typed("|");
    editor.paste("a\x1b[31mb\u{202e}");
    assert_eq!(sent(&editor, |_, _| String::new()), "a\x1b[31mb\u{202e}");
    assert_eq!(super::rows(&editor, 80), ["a␛[31mb\\u{202e}"]);
}

#[test]
fn a_draft_survives_taking_saving_and_setting() {
    let mut editor = typed("see |");
    mention(&mut editor, "Flaky", "s/1\n");
    editor.paste(&"x".repeat(2_000));
    editor.insert_str("\u{fffc}\nend");
    let before = describe(&editor.draft());
    let draft = editor.take();
    assert!(editor.is_empty() && editor.is_blank() && !editor.undo());
    let saved = serde_json::to_string(&draft).unwrap();
    editor.set(serde_json::from_str(&saved).unwrap());
    assert_eq!(seen(&editor), before + "|");
    assert_eq!(editor.draft(), draft);
    assert!(!editor.undo());
}

#[test]
fn a_saved_draft_is_a_list_of_strings_and_elements() {
    let mention = Element::Mention {
        session_id: "s1".into(),
        label: "Flaky".into(),
    };
    let draft = Draft {
        parts: vec![Part::Text("see ".into()), Part::Element(mention)],
    };
    assert_eq!(
        serde_json::to_string(&draft).unwrap(),
        r#"["see ",{"mention":{"sessionId":"s1","label":"Flaky"}}]"#
    );
}

#[test]
fn blank_is_white_space_alone() {
    assert!(typed(" \n\t|").is_blank());
    assert!(Draft::from_text(" \n").is_blank() && Draft::default().is_blank());
    let mut editor = typed("|");
    mention(&mut editor, "", "s1");
    assert!(!editor.is_blank() && !editor.draft().is_blank());
}

#[test]
fn clearing_and_replacing_can_be_undone() {
    let mut editor = typed("see |x");
    mention(&mut editor, "Flaky", "s1");
    let before = seen(&editor);
    editor.clear();
    assert_eq!(seen(&editor), "|");
    editor.undo();
    assert_eq!(seen(&editor), before);
    editor.replace(Draft::from_text("from the other editor"));
    assert_eq!(seen(&editor), "from the other editor|");
    editor.undo();
    assert_eq!(seen(&editor), before);
}

#[test]
fn the_revision_tells_changes_from_moves() {
    let mut editor = typed("ab|");
    let revision = editor.revision();
    editor.move_left();
    assert_eq!(editor.revision(), revision);
    editor.delete();
    assert_ne!(editor.revision(), revision);
}
