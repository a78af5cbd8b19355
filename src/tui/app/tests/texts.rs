//! Searching what was said, in a layer of its own.

use super::*;
use crate::tui::keymap::Layer;

pub(super) const SAID: [(&str, &str, &str); 3] = [
    (
        "flaky",
        "Fix the flaky login test",
        "the login test fails on every third run since the clock was mocked",
    ),
    (
        "codex:arm",
        "flaky CI on arm64",
        "only the login step hangs there",
    ),
    ("page", "Login page redesign", "login again"),
];

/// Opens the search and finds these.
fn search(bench: &mut Bench) {
    bench.press("Ctrl-F");
    bench.type_text("login");
    bench.search(&SAID);
}

#[test]
fn the_search_shows_what_was_said_and_where() {
    let mut bench = Bench::new();
    bench.type_text("a draft");
    search(&mut bench);
    insta::assert_snapshot!(bench.screen_at(80, 16), @r###"
 ibid · new session                                        offline · 0% of 128k
────────────────────────────────────────────────────────────────────────────────
 Search: login                                                          3 found
▌Fix the flaky login test                                 ibid   ~/work/api  2 h
▌  You: the login test fails on every third run since the clock was mocked
 flaky CI on arm64                                        codex  ~/work/api  2 h
   You: only the login step hangs there
 Login page redesign                                      ibid   ~/work/api  2 h
   You: login again




────────────────────────────────────────────────────────────────────────────────
 > a draft
 Enter cite · Esc close · Ctrl-O look inside                            F1 help
"###);
    assert_eq!(bench.caret(), Position::new(14, 2));
    insta::assert_snapshot!(bench.screen_at(40, 12), @r###"
 ibid · new sessi… offline · 0% of 128k
────────────────────────────────────────
 Search: login                  3 found
▌Fix the flaky login test          ibid
▌  You: the login test fails on every t…
 flaky CI on arm64                 codex
   You: only the login step hangs there
 Login page redesign               ibid
   You: login again
────────────────────────────────────────
 > a draft
 Enter cite · Esc close         F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(20, 6), @r###"
…rch: login 3 found
▌Fix the flaky logi…
▌  You: the login t…
 flaky CI on arm64
 > a draft
 Enter cite F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(10, 3), @r###"
… 3 found
 > a
  F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(1, 1), @"");
}

#[test]
fn what_matched_is_marked() {
    let mut bench = Bench::new();
    search(&mut bench);
    let row = bench.row_of("only the login step");
    assert_eq!(bench.bold_in(row), "login");
}

#[test]
fn each_key_asks_anew_but_nothing_is_asked_for_nothing() {
    let mut bench = Bench::new();
    bench.press("Ctrl-F");
    assert_eq!(bench.app.layer(), Layer::Texts);
    assert!(bench.screen().contains("type what was said"));
    bench.type_text(" ");
    assert!(bench.text_queries().is_empty());
    bench.type_text("lo👩‍💻");
    bench.press("Backspace");
    bench.paste("gin\nand more");
    let queries = bench.text_queries();
    assert_eq!(queries.last().unwrap().text, " login");
    assert_eq!(queries.last().unwrap().target, Some("target".into()));
    bench.press("Ctrl-U");
    assert!(bench.text_queries().is_empty());
    bench.search_for(queries.last().unwrap().clone(), &SAID);
    assert!(!bench.screen().contains("clock"), "nobody asks any more");
    assert!(!bench.app.wants_tick());
}

#[test]
fn each_state_of_the_search_says_so_in_a_row_of_its_own() {
    let mut bench = Bench::new();
    bench.press("Ctrl-F");
    bench.type_text("x");
    bench.now += 99;
    bench.update(Msg::Tick);
    assert!(!bench.screen().contains("looking"), "not at once");
    bench.now += 1;
    bench.update(Msg::Tick);
    assert!(bench.screen().contains("⠙ looking…"));
    assert!(bench.app.wants_tick());
    bench.search(&[]);
    assert!(bench.screen().contains("  nothing found\n"));
    assert!(!bench.app.wants_tick());

    bench.type_text("y");
    let query = bench.text_queries().pop().unwrap();
    let found = TextFound {
        indexing: Some((3_104, 12_880)),
        ..TextFound::default()
    };
    bench.update(Msg::Done(Done::Searched(query, Ok(found.clone()))));
    let screen = bench.screen();
    assert!(screen.contains("  nothing found yet\n  still indexing 3,104 of 12,880\n"));

    bench.type_text("w");
    let query = bench.text_queries().pop().unwrap();
    let short = TextFound {
        unread: 496,
        ..TextFound::default()
    };
    bench.update(Msg::Done(Done::Searched(query, Ok(short))));
    let said =
        "  nothing found in what was read\n  496 sessions not searched: `ibid doctor` tells why\n";
    assert!(bench.screen().contains(said));

    bench.type_text("z");
    let query = bench.text_queries().pop().unwrap();
    let found = TextFound {
        rows: vec![text_row("login", &SAID[0])],
        matched: 1,
        is_cut: true,
        hint: Some("no tool is called \u{1b}x".to_owned()),
        ..found
    };
    bench.update(Msg::Done(Done::Searched(query, Ok(found))));
    let screen = bench.screen_at(60, 6);
    assert!(screen.contains(" 1+ found\n"), "{screen}");
    for size in [(60, 6), (60, 12)] {
        let screen = bench.screen_at(size.0, size.1);
        let notes = "  still indexing 3,104 of 12,880\n  no tool is called ␛x\n";
        assert!(screen.contains(notes), "{screen}");
    }

    bench.type_text("a");
    let query = bench.text_queries().pop().unwrap();
    let failed = Err("the disk is gone".to_owned());
    bench.update(Msg::Done(Done::Searched(query, failed)));
    let failed = "sessions can't be searched: the disk is gone";
    assert!(bench.screen().contains(failed));
}

#[test]
fn old_messages_stay_until_the_new_ones_are_in_and_late_answers_are_dropped() {
    let mut bench = Bench::new();
    search(&mut bench);
    bench.type_text("x");
    let old = bench.text_queries().pop().unwrap();
    bench.now += 100;
    bench.update(Msg::Tick);
    let screen = bench.screen();
    assert!(screen.contains("since the clock"), "{screen}");
    assert!(screen.contains(" ⠙ 3 found\n"), "{screen}");
    bench.type_text("y");
    bench.search_for(old, &[("late", "An old answer", "late")]);
    assert!(!bench.screen().contains("An old answer"));
    bench.search(&[]);
    assert!(!bench.screen().contains("since the clock"));
}

#[test]
fn enter_cites_the_session_at_the_caret() {
    let mut bench = Bench::new();
    bench.type_text("see for more");
    bench.press_all(&["Left", "Left", "Left", "Left", "Left"]);
    search(&mut bench);
    bench.press_all(&["Down", "Enter"]);
    assert_eq!(bench.app.layer(), Layer::Composer);
    assert_eq!(bench.text(), "see for <codex:arm> more");
    bench.type_text("x");
    assert_eq!(bench.text(), "see for <codex:arm> xmore");
    bench.press_all(&["Ctrl-_", "Ctrl-_"]);
    assert_eq!(bench.text(), "see for more");
}

#[test]
fn enter_before_the_answer_is_in_cites_from_the_right_answer() {
    let mut bench = Bench::new();
    search(&mut bench);
    bench.type_text("x");
    bench.press("Enter");
    assert_eq!(bench.text(), "");
    bench.search(&[("page", "Login page", "loginx")]);
    assert_eq!(bench.text(), "<page> ");
}

#[test]
fn enter_on_nothing_and_esc_leave_the_draft_alone() {
    let mut bench = Bench::new();
    bench.type_text("draft");
    bench.press("Ctrl-F");
    bench.press("Enter");
    assert_eq!(bench.app.layer(), Layer::Texts);
    assert!(
        bench.hints().starts_with(" Esc close "),
        "{}",
        bench.hints()
    );
    bench.press("Esc");
    assert_eq!(bench.app.layer(), Layer::Composer);
    assert_eq!(bench.text(), "draft");
    assert!(bench.effects().is_empty());
}

#[test]
fn a_session_too_many_is_refused_with_the_reason() {
    let mut bench = Bench::new();
    for id in ["a", "b", "c"] {
        bench.cite(id, id);
    }
    search(&mut bench);
    bench.press("Enter");
    assert!(bench.notice().contains("a message can cite 3 sessions"));
    assert_eq!(bench.app.layer(), Layer::Texts, "the list stays");
    assert_eq!(bench.text(), "<a> <b> <c> ");
}

#[test]
fn the_search_opened_on_a_token_begins_with_it_and_puts_the_mention_in_its_place() {
    let mut bench = Bench::new();
    bench.type_text("see @login");
    bench.press("Ctrl-F");
    bench.search(&SAID);
    assert_eq!(bench.app.layer(), Layer::Texts);
    bench.press("Enter");
    assert_eq!(bench.text(), "see <flaky> ");
}

#[test]
fn the_search_leaves_a_token_alone_whose_popup_was_closed() {
    let mut bench = Bench::new();
    bench.type_text("mail @login");
    bench.press("Esc");
    search(&mut bench);
    bench.press("Enter");
    assert_eq!(bench.text(), "mail @login <flaky> ");
}

#[test]
fn looking_inside_opens_the_session_where_the_match_is() {
    let mut bench = Bench::new();
    let many = "more words\n".repeat(40);
    let before = format!("an earlier clock\n{many}");
    let texts = [before.as_str(), "the Clock was mocked", &many];
    bench.world.sources.put("flaky", &texts);
    bench.press("Ctrl-F");
    bench.type_text("Clock");
    bench.search(&[("flaky", "Fix", "the Clock was mocked")]);
    bench.press("Ctrl-O");
    let read = looked("flaky", &bench.world);
    bench.update(read);
    for (width, height) in [(80, 24), (30, 8), (20, 6), (80, 24)] {
        let screen = bench.screen_at(width, height);
        assert!(screen.contains("the Clock"), "{width}×{height}:\n{screen}");
    }
    assert!(bench.screen().contains("/clock  2/2"));
    assert!(
        bench
            .hints()
            .starts_with(" Enter cite · Esc return · / search")
    );
    bench.press("Esc");
    assert_eq!(bench.app.layer(), Layer::Texts);
    bench.press_all(&["Ctrl-O", "Enter"]);
    assert_eq!(bench.text(), "<flaky> ");
}

#[test]
fn of_what_matched_together_the_part_is_looked_for_that_the_message_has() {
    for (said, count) in [
        ("it is One in six runs", "/one in six  1/1"),
        ("it is One\nin six runs", "/one  1/1"),
    ] {
        let mut bench = Bench::new();
        bench.world.sources.put("flaky", &["hello", said]);
        bench.press("Ctrl-F");
        bench.type_text("one in six");
        let query = bench.text_queries().pop().unwrap();
        let mut row = text_row("", &("flaky", "Fix", "it is One in six runs"));
        row.marks = vec![6..9, 10..12, 13..16];
        let found = TextFound {
            rows: vec![row],
            ..TextFound::default()
        };
        bench.update(Msg::Done(Done::Searched(query, Ok(found))));
        bench.press("Ctrl-O");
        let read = looked("flaky", &bench.world);
        bench.update(read);
        assert!(bench.screen().contains(count), "{}", bench.screen());
    }
}

#[test]
fn looking_inside_opens_the_message_also_where_the_match_is_gone_from_it() {
    let mut bench = Bench::new();
    let many = "more words\n".repeat(40);
    bench
        .world
        .sources
        .put("flaky", &[&many, "something else now", &many]);
    bench.press("Ctrl-F");
    bench.type_text("Clock");
    bench.search(&[("flaky", "Fix", "the Clock was mocked")]);
    bench.press("Ctrl-O");
    let read = looked("flaky", &bench.world);
    bench.update(read);
    let screen = bench.screen();
    assert!(screen.contains("something else now"), "{screen}");
    assert!(screen.contains("/clock  not found"), "{screen}");
}

#[test]
fn a_click_cites_the_message_in_whichever_of_its_rows() {
    for row in ["flaky CI on arm64", "only the login step"] {
        let mut bench = Bench::new();
        search(&mut bench);
        let at = bench.row_of(row);
        bench.click((3, at));
        assert_eq!(bench.text(), "<codex:arm> ");
    }
}

#[test]
fn the_selected_message_is_in_sight_at_any_size() {
    for size in [(80, 24), (40, 12), (20, 6), (20, 5)] {
        let mut bench = Bench::new();
        search(&mut bench);
        for expected in ["flaky CI", "Login", "Fix the", "flaky CI"] {
            bench.press("Down");
            bench.screen_at(size.0, size.1);
            assert!(
                bench.selected().starts_with(expected),
                "{size:?}\n{}",
                bench.screen()
            );
        }
    }
}

#[test]
fn new_sessions_are_searched_too_as_they_come() {
    let mut bench = Bench::new();
    bench.press("Ctrl-F");
    bench.update(Msg::Done(Done::LibraryChanged));
    assert!(bench.text_queries().is_empty(), "nothing is asked");
    bench.type_text("login");
    bench.update(Msg::Done(Done::LibraryChanged));
    assert_eq!(bench.text_queries().len(), 5, "its answer is still out");
    bench.type_text("s");
    bench.update(Msg::Done(Done::LibraryChanged));
    bench.search(&SAID);
    bench.search(&SAID);
    assert!(bench.text_queries().is_empty());
}

#[test]
fn what_is_read_meanwhile_is_searched_and_lists_of_titles_stay() {
    let mut bench = Bench::new();
    search(&mut bench);
    bench.update(Msg::Done(Done::TextsRead));
    assert_eq!(bench.text_queries().len(), 1);
    bench.press("Esc");
    bench.press("Ctrl-T");
    bench.find(&THREE);
    bench.update(Msg::Done(Done::TextsRead));
    assert!(bench.queries().is_empty());
}

#[test]
fn a_whole_answer_takes_the_place_of_the_first_and_keeps_the_chosen_row() {
    let mut bench = Bench::new();
    search(&mut bench);
    bench.press("Down");
    let query = TextQuery {
        text: "login".to_owned(),
        target: Some("target".into()),
    };
    let more = [SAID[2], SAID[0], SAID[1], ("long", "Long", "login at last")];
    bench.search_for(query, &more);
    assert!(bench.screen().contains("login at last"));
    assert!(
        bench.selected().starts_with("flaky CI"),
        "{}",
        bench.screen()
    );
}

#[test]
fn hostile_messages_are_shown_as_text() {
    use crate::tui::testing::HOSTILE;
    let mut bench = Bench::new();
    bench.press("Ctrl-F");
    bench.type_text(HOSTILE);
    bench.search(&[("long", HOSTILE, HOSTILE)]);
    for (width, height) in [(80, 24), (200, 10), (20, 6), (7, 5)] {
        bench.screen_at(width, height);
    }
    bench.press("Enter");
    assert!(bench.text().contains("<long>"));
}

#[test]
fn a_query_of_any_length_can_be_pasted() {
    for key in ["Ctrl-F", "Ctrl-T"] {
        let mut bench = Bench::new();
        bench.press(key);
        bench.paste(&"x".repeat(70_000));
        let screen = bench.screen_at(40, 10);
        assert!(screen.contains("xxx"), "{screen}");
    }
}
