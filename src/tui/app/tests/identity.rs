//! The identity sent is the identity picked, through every key.

use super::*;

#[test]
fn an_at_sign_typed_right_before_a_mention() {
    let mut bench = Bench::new();
    bench.cite("flaky", "Flaky");
    bench.press("Home");
    bench.type_text("@");
    bench.find(&THREE);
    bench.press("Esc");
    let (cited, text) = bench.sent();
    assert_eq!((cited, &*text), (vec!["flaky".to_owned()], "@@Flaky "));
}

#[test]
fn another_session_picked_right_before_a_mention() {
    let mut bench = Bench::new();
    bench.cite("flaky", "Flaky");
    bench.press("Home");
    bench.cite("page", "Flaky");
    let (cited, text) = bench.sent();
    assert_eq!(cited, ["page", "flaky"]);
    assert_eq!(text, "@Flaky @Flaky ");
}

#[test]
fn a_paste_that_holds_at_signs_cites_nothing_by_itself() {
    let mut bench = Bench::new();
    bench.cite("flaky", "Flaky");
    bench.cmds.clear();
    bench.paste("@page mail@x.org\n@Flaky @[Flaky](x)");
    assert!(bench.queries().is_empty(), "a paste opens no popup");
    bench.press("Home");
    bench.paste("@");
    let (cited, text) = bench.sent();
    assert_eq!(cited, ["flaky"]);
    assert_eq!(text, "@Flaky @page mail@x.org\n@@Flaky @[Flaky](x)");
}

#[test]
fn mentions_behind_wide_characters_and_joined_emoji() {
    for before in ["世界", "👩‍💻", "👨‍👩‍👧‍👦 ", "e\u{301} ", "🇩🇪"] {
        let mut bench = Bench::new();
        bench.type_text(before);
        bench.cite("flaky", "世界の👩‍💻");
        bench.type_text("x\u{301}");
        let (cited, text) = bench.sent();
        assert_eq!(cited, ["flaky"], "{before}");
        assert_eq!(text, format!("{before}@世界の👩‍💻 x\u{301}"));
    }
}

#[test]
fn a_mention_at_the_end_of_a_wrapped_line() {
    let mut bench = Bench::new();
    bench.screen_at(24, 12);
    bench.type_text("some words ");
    bench.cite("flaky", "Flaky test");
    bench.type_text("and more");
    bench.press_all(&["Up", "End"]);
    bench.type_text("x");
    bench.press_all(&["Left", "Backspace", "Ctrl-_"]);
    let (cited, text) = bench.sent();
    assert_eq!(cited, ["flaky"]);
    assert!(text.contains("@Flaky test"), "{text}");
}

#[test]
fn undo_and_redo_over_a_mention() {
    let mut bench = Bench::new();
    bench.type_text("see ");
    bench.cite("flaky", "Flaky");
    bench.type_text("and ");
    bench.cite("page", "Page");
    for _ in 0..12 {
        bench.press("Ctrl-_");
    }
    assert_eq!(bench.text(), "");
    for _ in 0..12 {
        bench.press("Alt-_");
    }
    assert_eq!(bench.text(), "see <flaky> and <page> ");
    bench.press_all(&["Backspace", "Backspace", "Ctrl-_"]);
    let (cited, _) = bench.sent();
    assert_eq!(cited, ["flaky", "page"]);
}

#[test]
fn a_mention_killed_and_yanked_elsewhere() {
    let mut bench = Bench::new();
    bench.cite("flaky", "Flaky");
    bench.press_all(&["Ctrl-A", "Ctrl-K"]);
    bench.type_text("first ");
    bench.press("Ctrl-Y");
    let (cited, text) = bench.sent();
    assert_eq!((cited, &*text), (vec!["flaky".to_owned()], "first @Flaky "));
}

#[test]
fn a_second_mention_after_a_line_break() {
    let mut bench = Bench::new();
    bench.cite("flaky", "Flaky");
    bench.press("Ctrl-J");
    bench.cite("page", "Flaky");
    let (cited, text) = bench.sent();
    assert_eq!(cited, ["flaky", "page"]);
    assert_eq!(text, "@Flaky \n@Flaky ");
}

#[test]
fn a_recalled_prompt_cites_what_it_cited_and_can_be_edited() {
    let mut bench = Bench::with(ReviewPolicy::Never);
    bench.type_text("see ");
    bench.cite("flaky", "Flaky");
    bench.press("Enter");
    bench.prepare();
    bench.log();
    bench.press("Esc");
    bench.log();
    for fresh in [false, true] {
        if fresh {
            // As the program finds it when the session is resumed.
            let setup = bench.app.setup.clone();
            bench.app = App::new(setup, bench.world.log.clone(), None);
            bench.draw();
        }
        bench.type_text("half a thought");
        bench.press("Up");
        assert_eq!(bench.text(), "see <flaky> ");
        bench.press_all(&["Left", "Left"]);
        bench.type_text("again ");
        assert_eq!(bench.sent().0, ["flaky"]);
        bench.press("Esc");
        bench.press("Ctrl-C");
    }
}

#[test]
fn a_mention_handed_to_the_external_editor_and_back() {
    let mut bench = Bench::new();
    bench.cite("flaky", "Flaky ] test");
    bench.press("Ctrl-G");
    let Some(Cmd::Edit(text)) = bench.cmds.pop() else {
        panic!("an editor is asked for");
    };
    bench.update(Msg::Edited(Ok(Some(format!("look: {text}\n")))));
    assert_eq!(bench.text(), "look: <flaky> ");
    let broken = text.replace("dsh-session:", "dsh-session:%");
    bench.update(Msg::Edited(Ok(Some(broken.clone()))));
    assert_eq!(bench.text(), broken, "what was written stays");
    assert!(
        bench
            .notice()
            .contains("SESSION_REFERENCE_INVALID_REFERENCE")
    );
    bench.update(Msg::Edited(Err("vi is not there".to_owned())));
    assert_eq!(bench.text(), broken);
    assert!(bench.notice().contains("vi is not there"));
}
