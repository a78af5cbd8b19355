use super::{mention, seen, typed};
use crate::tui::editor::{Draft, Editor};

/// The query at the caret, if the popup may be open there.
fn query(editor: &Editor) -> Option<String> {
    editor.mention_query().map(|query| query.query)
}

/// Whether the popup may open now.
fn opens(editor: &Editor) -> bool {
    editor.mention_query().is_some_and(|query| query.typed)
}

fn typing(text: &str) -> Editor {
    let mut editor = Editor::new();
    text.chars().for_each(|c| editor.insert_char(c));
    editor
}

#[test]
fn an_at_sign_opens_at_the_start_behind_space_opening_punctuation_and_wide_characters() {
    for text in [
        "@",
        "x @",
        "x\n@",
        "x\t@",
        "(@",
        "[@",
        "“@",
        "「@",
        "（@",
        "世界@",
        "カナ@",
        "한글@",
        "👩‍💻@",
        "、@",
        "\u{3000}@",
    ] {
        assert!(opens(&typing(text)), "{text}");
    }
}

#[test]
fn inside_a_word_it_is_text() {
    for text in ["a@", "a@b.c", "é@", "e\u{301}@", "1@", "_@", ".@", "a/@b"] {
        assert_eq!(query(&typing(text)), None, "{text}");
    }
}

#[test]
fn the_query_runs_from_the_at_sign_to_the_caret() {
    let mut editor = typing("see @flak");
    assert_eq!(query(&editor).as_deref(), Some("flak"));
    editor.move_left();
    assert_eq!(query(&editor).as_deref(), Some("fla"));
    assert!(!opens(&editor), "moving does not open it");
    editor.insert_char('世');
    assert_eq!(query(&editor).as_deref(), Some("fla世"));
    assert!(opens(&editor));
    assert_eq!(query(&typing("@a@b")).as_deref(), Some("a@b"));
    assert_eq!(query(&typing("@@")).as_deref(), Some("@"));
}

#[test]
fn white_space_or_an_element_ends_the_token_and_erasing_it_brings_the_token_back() {
    let mut editor = typing("@flak ");
    assert_eq!(query(&editor), None);
    editor.backspace();
    assert_eq!(query(&editor).as_deref(), Some("flak"));
    assert!(opens(&editor));
    editor.move_to_start();
    assert_eq!(query(&editor), None);

    let mut editor = typing("");
    mention(&mut editor, "Flaky", "s1");
    editor.backspace();
    assert_eq!(query(&editor), None);
    editor.insert_char('x');
    assert_eq!(query(&editor), None);
}

#[test]
fn a_paste_never_opens_it() {
    let mut editor = typing("");
    editor.paste("write to @team");
    assert_eq!(query(&editor), None);
    editor.insert_char('s');
    assert_eq!(
        query(&editor),
        None,
        "typing on does not make the paste a token"
    );
    editor.undo();
    editor.undo();
    editor.redo();
    assert_eq!(query(&editor), None, "nor do undo and redo");
    editor.kill_to_line_start();
    editor.yank();
    assert_eq!(query(&editor), None, "nor do kill and yank");

    let mut editor = typing("@");
    editor.paste("flak");
    assert!(
        !opens(&editor),
        "what is typed before a paste may stay open, but does not open"
    );
}

#[test]
fn setting_a_draft_does_not_open_it_and_typing_on_does() {
    let mut editor = Editor::new();
    editor.set(Draft::from_text("see @fla"));
    assert!(!opens(&editor));
    editor.insert_char('k');
    assert!(opens(&editor));
}

#[test]
fn accepting_replaces_the_token_by_the_mention_and_a_space() {
    let cases = [
        ("see @flak|", "see <Flaky:s1> |"),
        ("see @flak| too", "see <Flaky:s1> |too"),
        ("see @flak|\ntoo", "see <Flaky:s1>|\ntoo"),
        ("(see @flak|)", "(see <Flaky:s1>|)"),
        ("see @fl|ak", "see <Flaky:s1> |ak"),
        ("世界@|世界", "世界<Flaky:s1> |世界"),
    ];
    for (before, after) in cases {
        let mut editor = typed(before);
        let start = editor.mention_query().unwrap().start;
        assert!(editor.accept_mention(start, "s1".into(), "Flaky"));
        assert_eq!(seen(&editor), after);
        assert_eq!(query(&editor), None);
        editor.undo();
        assert_eq!(seen(&editor), before, "one undo takes it back");
        editor.redo();
        assert_eq!(seen(&editor), after);
    }
}

#[test]
fn accepting_a_token_that_is_gone_does_nothing() {
    let mut editor = typing("see @flak");
    let start = editor.mention_query().unwrap().start;
    editor.insert_char(' ');
    assert!(!editor.accept_mention(start, "s1".into(), "Flaky"));
    editor.backspace();
    assert!(!editor.accept_mention(start + 1, "s1".into(), "Flaky"));
    assert!(!editor.accept_mention(usize::MAX, "s1".into(), "Flaky"));
    assert_eq!(seen(&editor), "see @flak|");
}

#[test]
fn a_very_long_token_is_no_query() {
    assert_eq!(
        query(&typing(&format!("@{}", "x".repeat(200)))).map(|query| query.len()),
        Some(200)
    );
    assert_eq!(query(&typing(&format!("@{}", "x".repeat(201)))), None);
}

#[test]
fn behind_a_question_mark_the_token_is_a_phrase_up_to_the_end_of_the_line() {
    assert_eq!(query(&typing("@?")).as_deref(), Some("?"));
    assert_eq!(
        query(&typing("see @?the flaky test ")).as_deref(),
        Some("?the flaky test ")
    );
    assert_eq!(
        query(&typing("@?a mail a@b.c")).as_deref(),
        Some("?a mail a@b.c")
    );
    assert_eq!(query(&typing("@?the flaky\ntest")), None);
    assert_eq!(query(&typing("@ ?the")), None);
    assert_eq!(query(&typing("a@?the test")), None);
    assert_eq!(
        query(&typing("@?the @flak")).as_deref(),
        Some("flak"),
        "the nearest token counts"
    );
    assert_eq!(query(&typing("@?the @flak test")), None);
    let mut editor = typing("@?the ");
    mention(&mut editor, "Flaky", "s1");
    editor.insert_char('x');
    assert_eq!(query(&editor), None, "an element ends it");
}

#[test]
fn a_token_that_begins_with_a_filter_may_hold_spaces_too() {
    for text in [
        "@tool:codex arm",
        "@-tool:codex  arm",
        "@since:7d cwd:api",
        "@cwd: x",
    ] {
        assert_eq!(query(&typing(text)).as_deref(), text.get(1..), "{text}");
    }
    for text in [
        "@arm tool:codex",
        "@tool codex",
        "@tools:x y",
        "@cwd:a\nb",
        "@--cwd:a b",
    ] {
        assert_eq!(query(&typing(text)), None, "{text}");
    }
}

#[test]
fn accepting_replaces_the_whole_phrase() {
    for (before, after) in [
        ("see @?the flaky| too", "see <Flaky:s1> |too"),
        ("@?the |flaky", "<Flaky:s1> |flaky"),
    ] {
        let mut editor = typed(before);
        let start = editor.mention_query().unwrap().start;
        assert!(editor.accept_mention(start, "s1".into(), "Flaky"));
        assert_eq!(seen(&editor), after);
        editor.undo();
        assert_eq!(seen(&editor), before);
    }
}

#[test]
fn a_mention_can_be_put_in_where_there_is_no_token() {
    for (before, after) in [
        ("|", "<Flaky:s1> |"),
        ("see |", "see <Flaky:s1> |"),
        ("see|", "see <Flaky:s1> |"),
        ("see| more", "see <Flaky:s1> |more"),
        ("se|e", "se <Flaky:s1> |e"),
        ("(|)", "(<Flaky:s1>|)"),
        ("世界|世界", "世界<Flaky:s1> |世界"),
    ] {
        let mut editor = typed(before);
        editor.insert_mention("s1".into(), "Flaky");
        assert_eq!(seen(&editor), after);
        editor.undo();
        assert_eq!(seen(&editor), before, "one undo takes it back");
    }
}
