//! The popup under an `@`.

use super::*;
use crate::library::index::Hidden;
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
fn the_popup_shows_what_matches_and_counts() {
    let mut bench = Bench::new();
    bench.type_text("compare with @flak");
    bench.find(&THREE);
    insta::assert_snapshot!(bench.screen_at(80, 24), @r###"
 ibid · new session                                        offline · 0% of 128k
────────────────────────────────────────────────────────────────────────────────















────────────────────────────────────────────────────────────────────────────────
▌Fix the flaky login test                                  ibid  ~/work/api  2 h
 Login page redesign                                       ibid  ~/work/web  2 h
 flaky CI on arm64                                         ibid  ~/work/api  2 h
────────────────────────────────────────────────────────────────────────────────
 > compare with @flak
 Enter accept · Esc close · Ctrl-O preview · Ctrl-F search     3/1,204  F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(40, 12), @r###"
 ibid · new sessi… offline · 0% of 128k
────────────────────────────────────────



────────────────────────────────────────
▌Fix the flaky login test           ibid
 Login page redesign                ibid
 flaky CI on arm64                  ibid
────────────────────────────────────────
 > compare with @flak
 Enter accept          3/1,204  F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(20, 6), @r###"
▌Fix the flaky logi…
 Login page redesign
 > compare with
   @flak
   3/1,204  F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(10, 3), @r###"
▌Fix the …
   @flak
  F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(1, 1), @"");
}

#[test]
fn matched_characters_are_marked() {
    let mut bench = Bench::new();
    bench.type_text("@flak");
    bench.find(&THREE);
    let row = bench.row_of("flaky CI");
    assert_eq!(bench.bold_in(row), "flak");
}

#[test]
fn each_state_of_the_list_says_so_in_a_row_of_its_own() {
    let mut bench = Bench::new();
    bench.type_text("@x");
    let query = bench.queries().pop().unwrap();
    assert!(!bench.screen().contains("looking"), "not at once");
    bench.now += 99;
    bench.update(Msg::Tick);
    assert!(!bench.screen().contains("looking"));
    bench.now += 1;
    bench.update(Msg::Tick);
    assert!(bench.screen().contains("looking…"));
    assert!(bench.app.wants_tick());

    bench.find_for(query.clone(), &[]);
    assert!(bench.screen().contains("none of 1,204 sessions matches"));
    assert!(!bench.app.wants_tick());

    bench.type_text("y");
    let again = bench.queries().pop().unwrap();
    let found = Found {
        rows: Vec::new(),
        matched: 0,
        total: 1,
        ..Found::default()
    };
    bench.update(Msg::Done(Done::Found(again, Ok(found))));
    assert!(
        bench
            .screen()
            .contains("the one session here does not match")
    );

    bench.type_text("y");
    let query = bench.queries().pop().unwrap();
    let failed = Err("the folder is gone".to_owned());
    bench.update(Msg::Done(Done::Found(query, failed)));
    let failed = "sessions can't be listed: the folder is gone";
    assert!(bench.screen().contains(failed));

    bench.type_text("z");
    let query = bench.queries().pop().unwrap();
    let indexing = Found {
        indexing: Some((1_200, 100_000)),
        ..Found::default()
    };
    bench.update(Msg::Done(Done::Found(query, Ok(indexing))));
    let screen = bench.screen();
    assert!(screen.contains("nothing yet: indexing 1,200 of 100,000"));
    assert!(screen.contains("0/0 · indexing 1,200 of 100,000"));

    bench.type_text("a");
    let query = bench.queries().pop().unwrap();
    bench.update(Msg::Done(Done::Found(query, Ok(Found::default()))));
    assert!(bench.screen().contains("no other sessions here yet"));
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
    assert_eq!(bench.app.layer(), crate::tui::keymap::Layer::Composer);
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
fn the_selected_row_is_in_sight_at_any_size() {
    let mut bench = Bench::new();
    bench.type_text("@");
    let many: Vec<String> = (0..30).map(|n| format!("S{n}")).collect();
    let rows: Vec<(&str, &str, &str)> = many.iter().map(|id| (&**id, &**id, "")).collect();
    bench.find(&rows);
    for height in [24, 12, 10, 9, 6, 4, 3, 2] {
        bench.screen_at(20, height);
        for key in ["Down", "PgDn", "End", "PgUp", "Home"] {
            bench.press(key);
            let screen = bench.screen();
            assert!(screen.contains('▌'), "{height} rows, {key}:\n{screen}");
            assert!(screen.contains(" > @"), "{height} rows, {key}:\n{screen}");
        }
    }
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
    use crate::tui::keymap::Layer;
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
    use crate::tui::keymap::Layer;
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
    use crate::tui::keymap::Layer;
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

#[test]
fn the_reading_of_sessions_is_counted_where_there_is_room() {
    for (open, key) in [("Ctrl-T", ""), ("", "@")] {
        let mut bench = Bench::new();
        if key.is_empty() {
            bench.press(open);
        }
        bench.type_text(key);
        let query = bench.queries().pop().unwrap();
        let found = Found {
            rows: vec![found_row("", &THREE[0])],
            matched: 1,
            total: 3_104,
            indexing: Some((3_104, 12_880)),
            ..Found::default()
        };
        bench.update(Msg::Done(Done::Found(query, Ok(found))));
        let screen = bench.screen_at(80, 24);
        let counter = "1/3,104 · indexing 3,104 of 12,880";
        assert!(screen.contains(counter), "{screen}");
        let screen = bench.screen_at(24, 8);
        assert!(screen.contains("1/3,104"), "{screen}");
        assert!(!screen.contains('·'), "{screen}");
    }
}

/// One session, two more that are forks, of three tools.
fn forks() -> Vec<FoundRow> {
    let rows = [
        ("claude:a", "Fix the flaky login test", "~/work/api"),
        ("codex:b", "Fix the flaky login test", "~/work/api #b"),
        ("c", "世界 login page", "~/w"),
    ];
    let mut rows: Vec<FoundRow> = rows.iter().map(|row| found_row("", row)).collect();
    for fork in rows.iter_mut().skip(1) {
        fork.is_fork = true;
    }
    rows
}

#[test]
fn a_row_tells_tool_and_fork_and_drops_columns_before_its_title_is_cut() {
    let mut bench = Bench::new();
    bench.type_text("@");
    let query = bench.queries().pop().unwrap();
    let found = Found {
        rows: forks(),
        matched: 3,
        total: 3,
        ..Found::default()
    };
    bench.update(Msg::Done(Done::Found(query, Ok(found))));
    let mut rows = |width| {
        let screen = bench.screen_at(width, 6);
        let rows: Vec<&str> = screen.lines().skip(1).take(3).collect();
        rows.join("\n")
    };
    insta::assert_snapshot!(rows(70), @r###"
▌Fix the flaky login test                   claude  ~/work/api     2 h
 Fix the flaky login test             fork  codex   ~/work/api #b  2 h
 世界 login page                      fork  ibid    ~/w            2 h
"###);
    insta::assert_snapshot!(rows(50), @r###"
▌Fix the flaky login test                   claude
 Fix the flaky login test             fork  codex
 世界 login page                      fork  ibid
"###);
    insta::assert_snapshot!(rows(40), @r###"
▌Fix the flaky login test         claude
 Fix the flaky login test   fork  codex
 世界 login page            fork  ibid
"###);
    insta::assert_snapshot!(rows(32), @r###"
▌Fix the flaky login test
 Fix the flaky login test   fork
 世界 login page            fork
"###);
    insta::assert_snapshot!(rows(26), @r###"
▌Fix the flaky login test
 Fix the flaky login test
 世界 login page
"###);
    insta::assert_snapshot!(rows(20), @r###"
▌Fix the flaky logi…
 Fix the flaky logi…
 世界 login page
"###);
}

#[test]
fn what_is_hidden_is_said_where_little_is_found() {
    let mut bench = Bench::new();
    bench.type_text("@x");
    let mut found = Found {
        total: 40,
        hidden: Hidden {
            subagents: 1_012,
            ..Hidden::default()
        },
        ..Found::default()
    };
    let query = bench.queries().pop().unwrap();
    bench.update(Msg::Done(Done::Found(query, Ok(found.clone()))));
    let said = "  none of 40 sessions matches\n  1,012 subagent sessions hidden\n";
    assert!(bench.screen().contains(said));

    bench.type_text("y");
    found.hidden.stubs = 3;
    let query = bench.queries().pop().unwrap();
    bench.update(Msg::Done(Done::Found(query, Ok(found.clone()))));
    let said = "\n  1,012 subagent sessions and 3 empty hidden\n";
    assert!(bench.screen().contains(said));

    bench.type_text("y");
    found.hidden.subagents = 0;
    found.rows = forks();
    let query = bench.queries().pop().unwrap();
    bench.update(Msg::Done(Done::Found(query, Ok(found.clone()))));
    assert!(bench.screen().contains("\n  3 empty sessions hidden\n"));
    assert!(!bench.screen_at(60, 6).contains("hidden"), "no room");

    bench.type_text("z");
    found.rows = (0..20)
        .map(|n| found_row("", &(&n.to_string(), "Many", "")))
        .collect();
    let query = bench.queries().pop().unwrap();
    bench.update(Msg::Done(Done::Found(query, Ok(found))));
    assert!(!bench.screen_at(80, 24).contains("hidden"));
}

#[test]
fn a_filter_that_says_nothing_is_told_in_a_row_of_its_own() {
    let mut bench = Bench::new();
    bench.press("Ctrl-T");
    bench.type_text("tool:cobol");
    let query = bench.queries().pop().unwrap();
    let found = Found {
        rows: (0..20)
            .map(|n| found_row("", &(&n.to_string(), "Many", "")))
            .collect(),
        hint: Some("no tool is called cobol\u{202e}".to_owned()),
        ..Found::default()
    };
    bench.update(Msg::Done(Done::Found(query, Ok(found))));
    for size in [(80, 24), (60, 12), (40, 6)] {
        let screen = bench.screen_at(size.0, size.1);
        let hint = "\n  no tool is called cobol\\u{202e}\n";
        assert!(screen.contains(hint), "{size:?}:\n{screen}");
    }
    let note = bench.row_of("no tool is called");
    bench.click((3, note));
    assert_eq!(bench.app.layer(), Layer::Sessions, "it is no session");
    bench.screen_at(20, 6);
    for _ in 0..20 {
        bench.press("Down");
        assert_eq!(bench.selected(), "Many");
    }
}

#[test]
fn hostile_titles_are_shown_as_text() {
    let mut bench = Bench::new();
    bench.type_text("@");
    let hostile = crate::tui::testing::HOSTILE;
    bench.find(&[(hostile, hostile, hostile), ("", "", "")]);
    for (width, height) in [(80, 24), (40, 12), (20, 6), (10, 3), (1, 1)] {
        bench.screen_at(width, height);
    }
    bench.press("Enter");
    bench.screen_at(80, 24);
    assert_eq!(bench.sent().0, [hostile]);
}
