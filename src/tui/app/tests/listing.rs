//! What a list of sessions shows: its rows, what they match, and what is said
//! of the list itself.

use super::*;
use crate::library::index::Hidden;
use crate::tui::keymap::Layer;

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
    // A directory is cut for the age.
    insta::assert_snapshot!(rows(58), @r###"
▌Fix the flaky login test        claude  ~/work/api    2 h
 Fix the flaky login test  fork  codex   …work/api #b  2 h
 世界 login page           fork  ibid    ~/w           2 h
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
