//! Searching what was said behind `@?`, where one writes.

use super::texts::SAID;
use super::*;
use crate::tui::keymap::Layer;

#[test]
fn a_question_mark_behind_the_at_sign_searches_what_was_said() {
    let mut bench = Bench::new();
    bench.type_text("see @?log in");
    let texts: Vec<String> = bench.text_queries().into_iter().map(|q| q.text).collect();
    assert_eq!(texts, ["l", "lo", "log", "log ", "log i", "log in"]);
    let find: Vec<String> = bench.queries().into_iter().map(|q| q.text).collect();
    assert_eq!(find, [""], "by titles before the question mark alone");
    let query = TextQuery {
        text: "log in".to_owned(),
        target: Some("target".into()),
    };
    bench.search_for(query, &SAID);
    insta::assert_snapshot!(bench.screen_at(60, 14), @r###"
 ibid · new session                    offline · 0% of 128k
────────────────────────────────────────────────────────────


────────────────────────────────────────────────────────────
▌Fix the flaky login test             ibid   ~/work/api  2 h
▌  You: the login test fails on every third run since the c…
 flaky CI on arm64                    codex  ~/work/api  2 h
   You: only the login step hangs there
 Login page redesign                  ibid   ~/work/api  2 h
   You: login again
────────────────────────────────────────────────────────────
 > see @?log in
 Enter accept · Esc close · Ctrl-O preview 3 found  F1 help
"###);
    bench.press_all(&["Down", "Tab"]);
    assert_eq!(bench.text(), "see <codex:arm> ");
}

#[test]
fn enter_on_a_question_mark_alone_says_how_to_go_on() {
    let mut bench = Bench::new();
    bench.type_text("what is @?");
    assert!(bench.screen().contains("  type what was said"));
    bench.press("Enter");
    assert!(
        bench
            .notice()
            .contains("Esc closes the list, then Enter sends")
    );
}

#[test]
fn a_phrase_behind_the_at_sign_ends_at_the_line_and_with_esc() {
    let mut bench = Bench::new();
    bench.type_text("@?log in");
    assert_eq!(bench.app.layer(), Layer::Popup);
    bench.press("Ctrl-J");
    assert_eq!(bench.app.layer(), Layer::Composer);
    bench.press("Backspace");
    assert_eq!(bench.app.layer(), Layer::Popup);
    bench.press("Esc");
    bench.type_text(" and more");
    assert_eq!(bench.app.layer(), Layer::Composer);
    assert_eq!(bench.text(), "@?log in and more");
}

#[test]
fn taking_the_question_mark_away_lists_titles_again() {
    let mut bench = Bench::new();
    bench.type_text("@?f");
    bench.press_all(&["Left", "Backspace", "Right"]);
    bench.find(&THREE);
    assert!(bench.screen().contains("Login page redesign"));
    bench.press("Enter");
    assert_eq!(bench.text(), "<flaky> ");
}
