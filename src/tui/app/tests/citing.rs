//! The popup under an `@`: when it is open, and what is picked from it.

use super::*;
use crate::tui::keymap::Layer;

#[test]
fn an_at_sign_opens_the_popup_and_each_key_asks_anew() {
    let mut bench = Bench::new();
    bench.type_text("see @fl");
    let queries = bench.queries();
    let texts: Vec<&str> = queries.iter().map(|query| &*query.text).collect();
    assert_eq!(texts, ["", "f", "fl"]);
    assert_eq!(queries[0].target, Some("target".into()));
    assert_eq!(queries[0].cwd.as_deref(), Some("/work/api"));
}

#[test]
fn old_rows_stay_until_the_new_ones_are_in_and_late_answers_are_dropped() {
    let mut bench = Bench::new();
    bench.type_text("@f");
    bench.find(&THREE);
    bench.type_text("l");
    let old = bench.queries().pop().unwrap();
    assert!(bench.screen().contains("Login page redesign"));
    bench.type_text("a");
    let new = bench.queries().pop().unwrap();
    bench.find_for(old, &[("late", "An old answer", "")]);
    assert!(!bench.screen().contains("An old answer"));
    bench.find_for(new, &THREE[..1]);
    assert!(!bench.screen().contains("Login page redesign"));
}

#[test]
fn enter_before_the_answer_is_in_picks_from_the_right_answer() {
    let mut bench = Bench::new();
    bench.type_text("@f");
    bench.find(&THREE);
    bench.type_text("la");
    bench.press("Enter");
    assert_eq!(bench.text(), "@fla", "the rows shown answer another query");
    bench.find(&[THREE[2]]);
    assert_eq!(bench.text(), "<arm> ");
    assert_eq!(bench.app.layer(), Layer::Composer);
}

#[test]
fn a_key_after_enter_takes_it_back() {
    let mut bench = Bench::new();
    bench.type_text("@fl");
    bench.press("Enter");
    bench.type_text("a");
    bench.find(&THREE);
    assert_eq!(bench.text(), "@fla");
    bench.type_text("k");
    bench.press("Enter");
    bench.paste("y");
    bench.find(&THREE);
    assert_eq!(bench.text(), "@flaky");
}

#[test]
fn a_row_gone_to_by_hand_is_the_one_picked_also_while_an_answer_is_out() {
    let mut bench = Bench::new();
    bench.type_text("@f");
    bench.find(&THREE);
    bench.type_text("l");
    bench.press("Down");
    assert_eq!(bench.selected(), "Login page redesign");
    bench.press("Enter");
    assert_eq!(bench.text(), "<page> ");
}

#[test]
fn a_chosen_row_stays_chosen_as_answers_come_and_else_the_best_is() {
    let mut bench = Bench::new();
    bench.type_text("@");
    bench.find(&THREE);
    bench.press_all(&["Down", "Down"]);
    bench.update(Msg::Done(Done::LibraryChanged));
    bench.find(&[("new", "A new one", ""), THREE[2], THREE[0]]);
    assert_eq!(bench.selected(), "flaky CI on arm64");
    bench.update(Msg::Done(Done::LibraryChanged));
    bench.find(&[THREE[0], THREE[1]]);
    assert_eq!(bench.selected(), "Fix the flaky login test");
}

#[test]
fn moving_wraps_and_pages_stop_at_the_ends() {
    let mut bench = Bench::new();
    bench.type_text("@");
    let many: Vec<(String, String)> = (0..30)
        .map(|n| (format!("s{n}"), format!("Session {n}")))
        .collect();
    let rows: Vec<(&str, &str, &str)> = many.iter().map(|(i, t)| (&**i, &**t, "")).collect();
    bench.find(&rows);
    let mut after = |key: &str| {
        bench.press(key);
        bench.selected()
    };
    assert_eq!(after("Up"), "Session 29");
    assert_eq!(after("Down"), "Session 0");
    assert_eq!(after("Ctrl-N"), "Session 1");
    assert_eq!(after("Ctrl-P"), "Session 0");
    assert_eq!(after("PgDn"), "Session 8");
    assert_eq!(after("End"), "Session 29");
    assert_eq!(after("PgDn"), "Session 29");
    assert_eq!(after("PgUp"), "Session 21");
    assert_eq!(after("Home"), "Session 0");
    assert_eq!(after("PgUp"), "Session 0");
}

#[test]
fn a_list_that_changes_all_the_time_is_still_answered() {
    let mut bench = Bench::new();
    bench.type_text("@f");
    let query = bench.queries().pop().unwrap();
    for _ in 0..1_000 {
        bench.update(Msg::Done(Done::LibraryChanged));
    }
    assert!(bench.queries().is_empty(), "one question is out");
    bench.find_for(query, &THREE);
    assert!(bench.screen().contains("flaky CI"));
    assert_eq!(bench.queries().len(), 1, "and then the next one");
    bench.press("Enter");
    assert_eq!(
        bench.text(),
        "<flaky> ",
        "what is shown can be picked meanwhile"
    );
}

#[test]
fn esc_closes_the_popup_for_that_token_alone() {
    let mut bench = Bench::new();
    bench.type_text("@fl");
    bench.press("Esc");
    assert_eq!(bench.app.layer(), Layer::Composer);
    bench.type_text("a");
    assert_eq!(bench.app.layer(), Layer::Composer);
    // Out of the token and back into it.
    bench.press_all(&["Home", "End"]);
    bench.type_text("k");
    assert_eq!(bench.app.layer(), Layer::Composer);
    bench.type_text(" @");
    assert_eq!(bench.app.layer(), Layer::Popup);
    bench.press("Backspace");
    bench.press("Backspace");
    assert_eq!(
        bench.app.layer(),
        Layer::Popup,
        "the first one, gone back into"
    );
}

#[test]
fn an_at_sign_typed_anew_where_one_was_closed_opens_the_popup() {
    let mut bench = Bench::new();
    bench.type_text("@");
    bench.press("Esc");
    assert_eq!(bench.app.layer(), Layer::Composer);
    bench.press("Backspace");
    bench.type_text("@");
    assert_eq!(bench.app.layer(), Layer::Popup);
}

#[test]
fn the_popup_never_opens_inside_a_word_and_closes_with_the_token() {
    let mut bench = Bench::new();
    bench.type_text("a@b.c");
    assert_eq!(bench.app.layer(), Layer::Composer);
    bench.type_text(" (@f");
    assert_eq!(bench.app.layer(), Layer::Popup);
    bench.type_text(" ");
    assert_eq!(bench.app.layer(), Layer::Composer);
    bench.press("Backspace");
    assert_eq!(bench.app.layer(), Layer::Popup);
    bench.press_all(&["Left", "Left"]);
    assert_eq!(bench.app.layer(), Layer::Composer, "the caret left it");
}

#[test]
fn a_fourth_session_is_refused_with_the_reason_and_a_second_mention_is_not() {
    let mut bench = Bench::new();
    for id in ["a", "b", "c"] {
        bench.cite(id, id);
    }
    bench.type_text("@");
    bench.find(&[("d", "The fourth", ""), ("a", "a", "")]);
    bench.press("Enter");
    assert_eq!(bench.text(), "<a> <b> <c> @");
    insta::assert_snapshot!(bench.screen_at(60, 10), @r###"
 ibid · new session                    offline · 0% of 128k
────────────────────────────────────────────────────────────

────────────────────────────────────────────────────────────
▌The fourth                                        ibid  2 h
 ! a message can cite 3 sessions: delete a mention to cite
 ! another
────────────────────────────────────────────────────────────
 > @a @b @c @
 Enter accept · Esc close · Ctrl-O preview 2/1,204  F1 help
"###);
    bench.press("Down");
    bench.press("Enter");
    assert_eq!(bench.text(), "<a> <b> <c> <a> ");
}

#[test]
fn enter_with_nothing_to_pick_says_how_to_go_on() {
    let mut bench = Bench::new();
    bench.type_text("hi @nobody");
    bench.find(&[]);
    bench.press("Enter");
    assert_eq!(bench.text(), "hi @nobody");
    assert!(
        bench
            .notice()
            .contains("Esc closes the list, then Enter sends")
    );
    bench.cmds.clear();
    bench.press_all(&["Esc", "Enter"]);
    assert!(matches!(bench.effects()[..], [Effect::Log(..)]));
}

#[test]
fn a_click_picks_the_row_and_the_wheel_moves() {
    let mut bench = Bench::new();
    bench.type_text("@f");
    bench.find(&THREE);
    // A newer query is out; the row clicked is the row seen.
    bench.type_text("l");
    let row = bench.row_of("Login page redesign");
    bench.mouse(MouseEventKind::ScrollDown, (5, row));
    assert_eq!(bench.selected(), "flaky CI on arm64");
    bench.mouse(MouseEventKind::ScrollUp, (5, row));
    assert_eq!(bench.selected(), "Fix the flaky login test");
    bench.click((5, row));
    assert_eq!(bench.text(), "<page> ");
}

#[test]
fn a_session_looked_at_is_the_one_picked_whatever_the_list_does_meanwhile() {
    let mut bench = Bench::new();
    bench.type_text("@fl");
    bench.find(&THREE);
    bench.press("Ctrl-O");
    let read = looked("flaky", &bench.world);
    bench.update(read);
    assert!(bench.screen().contains("why is it flaky?"));
    bench.update(Msg::Done(Done::LibraryChanged));
    bench.find(&[THREE[1]]);
    bench.press("Enter");
    assert_eq!(bench.text(), "<flaky> ");
}
