//! The identity sent is the identity picked.

use super::{mention, rows, seen, sent, typed};
use crate::reference::{Reference, mention as canonical};
use crate::tui::editor::{Draft, Editor};

/// An editor with one mention and nothing else; the caret is behind it.
fn cited() -> Editor {
    let mut editor = Editor::new();
    mention(&mut editor, "Flaky", "s1");
    editor.backspace();
    editor
}

fn message(editor: &Editor) -> String {
    sent(editor, |id, label| format!("@[{label}](uri:{id})"))
}

#[test]
fn an_at_sign_typed_right_before_or_behind_a_mention() {
    let mut editor = cited();
    editor.insert_char('@');
    editor.move_to_start();
    editor.insert_char('@');
    assert_eq!(seen(&editor), "@|<Flaky:s1>@");
    assert_eq!(message(&editor), "@@[Flaky](uri:s1)@");
}

#[test]
fn another_session_picked_right_before_or_behind_a_mention() {
    let mut editor = cited();
    editor.move_to_start();
    mention(&mut editor, "Flaky", "s2");
    assert_eq!(seen(&editor), "<Flaky:s2> |<Flaky:s1>");
    editor.move_to_end();
    mention(&mut editor, "Flaky", "s3");
    assert_eq!(seen(&editor), "<Flaky:s2> <Flaky:s1><Flaky:s3> |");
}

#[test]
fn nothing_typed_beside_a_mention_gets_into_it() {
    for text in [
        "x",
        "\u{301}",
        "\u{200d}",
        "\u{fe0f}",
        "世界",
        "👩‍💻",
        "\u{fffc}",
        "]",
        "\\",
        "\n",
    ] {
        let mut editor = cited();
        editor.insert_str(text);
        editor.move_to_start();
        editor.insert_str(text);
        assert_eq!(message(&editor), format!("{text}@[Flaky](uri:s1){text}"));
        assert_eq!(editor.elements().count(), 1);
    }
}

#[test]
fn a_paste_that_holds_an_at_sign_or_the_look_of_a_mention() {
    let mut editor = cited();
    editor.paste("@Flaky @[Flaky](uri:s9) \u{fffc}");
    editor.move_to_start();
    editor.paste("@Flaky");
    assert_eq!(
        seen(&editor),
        "@Flaky|<Flaky:s1>@Flaky @[Flaky](uri:s9) \u{fffc}"
    );
    assert_eq!(editor.elements().count(), 1);
}

#[test]
fn a_mention_behind_wide_characters_and_emoji() {
    for before in ["世界", "👩‍💻", "🇩🇪", "カナ", "한글"] {
        let mut editor = typed("|");
        editor.insert_str(before);
        mention(&mut editor, "世界の👩‍💻", "s1");
        assert_eq!(message(&editor), format!("{before}@[世界の👩‍💻](uri:s1) "));
    }
}

#[test]
fn a_mention_at_the_end_of_a_wrapped_line() {
    let mut editor = typed("some words |");
    mention(&mut editor, "Flaky test", "s1");
    editor.insert_str("and more");
    let width = "some words @Flaky test ".len();
    assert_eq!(
        rows(&editor, width),
        ["some words @Flaky test ", "and more"]
    );
    assert_eq!(
        rows(&editor, width - 1),
        ["some words ", "@Flaky test and more"]
    );
    editor.move_to_start();
    assert!(editor.move_down(width));
    editor.backspace();
    editor.backspace();
    assert_eq!(seen(&editor), "some words |and more");
    editor.undo();
    assert_eq!(message(&editor), "some words @[Flaky test](uri:s1)and more");
}

#[test]
fn undo_and_redo_over_a_mention() {
    let mut editor = typed("see |");
    mention(&mut editor, "Flaky", "s1");
    editor.insert_str("x");
    let end = seen(&editor);
    while editor.undo() {}
    assert_eq!(seen(&editor), "|");
    while editor.redo() {}
    assert_eq!(seen(&editor), end);
    editor.undo();
    editor.undo();
    assert_eq!(seen(&editor), "see @|");
}

#[test]
fn a_deleted_or_killed_mention_comes_back_as_it_was() {
    let mut editor = cited();
    editor.backspace();
    assert_eq!(seen(&editor), "|");
    editor.undo();
    assert_eq!(seen(&editor), "<Flaky:s1>|");
    editor.kill_to_line_start();
    editor.insert_str("twice ");
    editor.yank();
    editor.yank();
    assert_eq!(seen(&editor), "twice <Flaky:s1><Flaky:s1>|");
}

#[test]
fn a_recalled_prompt_that_is_edited() {
    let mut editor = typed("fix |");
    mention(&mut editor, "Flaky", "s1");
    let sent = editor.take();
    editor.insert_str("the next draft");
    editor.set(sent);
    editor.move_word_left();
    editor.insert_str("@ and ");
    editor.delete_word_forward();
    editor.undo();
    assert_eq!(seen(&editor), "fix @ and |<Flaky:s1> ");
    while editor.undo() {}
    assert_eq!(seen(&editor), "fix |<Flaky:s1> ");
}

#[test]
fn a_second_mention_after_a_newline() {
    let mut editor = cited();
    editor.insert_newline();
    mention(&mut editor, "Flaky", "s2");
    assert_eq!(message(&editor), "@[Flaky](uri:s1)\n@[Flaky](uri:s2) ");
}

#[test]
fn what_the_resolver_reads_is_what_was_picked() {
    let hostile = "]\\(\n\u{1b}/../世界👩‍💻";
    for text in [
        "@",
        "世界",
        "👩‍💻",
        "@[",
        "[",
        "\\",
        "](",
        "dsh-session:",
        "@[x](",
        "\n",
        "\u{301}",
    ] {
        let mut editor = typed("|");
        mention(&mut editor, "Fl]a\\ky", hostile);
        editor.insert_str(text);
        editor.move_to_start();
        editor.insert_str(text);
        let text_sent = sent(&editor, |id, label| {
            canonical::format(&Reference::new(id.clone(), Some(label.to_owned())))
        });
        let references = canonical::parse(&text_sent).unwrap().references;
        let ids: Vec<_> = references
            .iter()
            .map(|found| found.session_id.as_str())
            .collect();
        assert_eq!(ids, [hostile], "{text_sent}");
    }
}

#[test]
fn a_hostile_label_is_shown_as_escapes_and_kept_as_it_is() {
    let label = "a\x1b]0;x\u{7}\u{202e}\n@b";
    let mut editor = typed("|");
    mention(&mut editor, label, "s1");
    assert_eq!(rows(&editor, 80), ["@a␛]0;x␇\\u{202e}⏎@b "]);
    assert_eq!(
        sent(&editor, |id, label| format!("{id}{label}")),
        format!("s1{label} ")
    );
}

#[test]
fn text_that_only_looks_like_a_mention_in_a_draft_is_text() {
    let mut editor = Editor::new();
    editor.set(Draft::from_text("\u{fffc}@Flaky"));
    assert_eq!(editor.elements().count(), 0);
    assert_eq!(message(&editor), "\u{fffc}@Flaky");
}
