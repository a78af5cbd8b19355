//! The screen at its sizes, and the hints.

use super::*;
use crate::tui::keymap::Layer;

const SIZES: [(u16, u16); 5] = [(80, 24), (40, 12), (20, 6), (10, 3), (1, 1)];

#[test]
fn the_empty_screen() {
    let mut bench = Bench::new();
    insta::assert_snapshot!(bench.screen_at(60, 10), @r###"
 ibid · new session                    offline · 0% of 128k
────────────────────────────────────────────────────────────





────────────────────────────────────────────────────────────
 >
 Ctrl-T sessions · Ctrl-F search · Ctrl-D quit      F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(20, 6), @r###"
>
           F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(10, 3), @r###"
>
 F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(5, 3), @r###"
>
  F1
"###);
    insta::assert_snapshot!(bench.screen_at(1, 1), @"");
}

#[test]
fn a_draft_being_written() {
    let mut bench = Bench::new();
    bench.type_text("compare ");
    bench.cite("flaky", "Fix the flaky login test");
    bench.type_text("with 世界 👩‍💻");
    bench.press("Ctrl-J");
    bench.paste(&"x".repeat(4_211));
    insta::assert_snapshot!(bench.screen_at(60, 12), @r###"
 ibid · new session                    offline · 0% of 128k
────────────────────────────────────────────────────────────






────────────────────────────────────────────────────────────
 > compare @Fix the flaky login test with 世界 👩‍💻
   [pasted 4,211 chars]
 Enter send · Ctrl-J newline · Ctrl-O preview       F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(20, 6), @r###"
  [pasted 4,211 ch
  ars]
Enter send F1 help
"###);
}

#[test]
fn the_head_cuts_the_title_before_the_model_goes() {
    let mut bench = Bench::new();
    bench.type_text("a title of many words that goes on");
    bench.press("Enter");
    bench.log();
    let mut head = |width| {
        bench
            .screen_at(width, 10)
            .lines()
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        head(60),
        " ibid · a title of many words          offline · 0% of 128k"
    );
    assert_eq!(head(42), " ibid · a title of … offline · 0% of 128k");
    assert_eq!(head(30), " ibid · a title of m… offline");
    assert_eq!(head(20), " ibid · a title of…");
}

#[test]
fn the_help_is_made_of_the_keys() {
    let mut bench = Bench::new();
    bench.press("F1");
    let screen = bench.screen();
    assert!(screen.contains(" Writing"));
    assert!(screen.contains("Alt-Enter"));
    let screen = bench.screen_at(100, 400);
    assert!(screen.contains("PgDn, Space"), "{screen}");
    for binding in crate::tui::keymap::BINDINGS {
        // The text stands behind its keys, however many these are.
        let (at, what) = (33, binding.what);
        let rows = screen.lines().filter(|row| row.ends_with(what));
        let beside = rows.map(|row| row.chars().skip(at).collect::<String>());
        assert!(
            what.is_empty() || beside.into_iter().any(|beside| beside == what),
            "{what}:\n{screen}"
        );
    }
    for (typed, what) in crate::tui::view::QUERIES {
        assert!(
            screen.contains(&format!("  {typed:<30} {what}")),
            "{what}:\n{screen}"
        );
    }
    bench.screen_at(80, 24);
    bench.press("End");
    let screen = bench.screen();
    assert!(screen.contains(" In any search for sessions"), "{screen}");
    bench.press("Up");
    assert_ne!(bench.screen(), screen, "it is not scrolled past its end");
    bench.press("Esc");
    assert!(!bench.screen().contains(" In any search"));
}

#[test]
fn the_help_can_be_read_on_a_narrow_screen() {
    use crate::tui::keymap::BINDINGS;
    for width in [20, 40, 75, 80] {
        let mut bench = Bench::new();
        bench.press("F1");
        let screen = bench.screen_at(width, 400);
        let text: Vec<&str> = screen.split_whitespace().collect();
        let text = text.join(" ");
        let queries = crate::tui::view::QUERIES.map(|(_, what)| what);
        let commands = crate::tui::commands::COMMANDS.iter().map(|c| c.what);
        let keys = BINDINGS.iter().map(|b| b.what);
        for what in keys.chain(queries).chain(commands) {
            assert!(text.contains(what), "{what} at {width}:\n{screen}");
        }
    }
}

#[test]
fn what_covers_the_conversation_has_the_rows_of_a_small_screen() {
    let mut bench = Bench::new();
    bench.type_text("a draft of more than one row ");
    bench.type_text("@");
    bench.find(&THREE);
    bench.press("Ctrl-O");
    let read = looked("flaky", &bench.world);
    bench.update(read);
    let screen = bench.screen_at(20, 6);
    assert_eq!(bench.row_of(" > a draft"), 4, "{screen}");
    assert!(!screen.contains('▌'), "{screen}");
    bench.press("F1");
    let screen = bench.screen_at(20, 6);
    assert_eq!(bench.row_of(" > a draft"), 4, "{screen}");
    assert!(!screen.contains('▌'), "{screen}");
}

#[test]
fn hints_name_only_keys_that_work_now() {
    let mut bench = Bench::new();
    assert_eq!(
        bench.hints(),
        " Ctrl-T sessions · Ctrl-F search · Ctrl-D quit · Ctrl-L model           F1 help"
    );
    bench.type_text(" ");
    assert!(
        !bench.hints().contains("send"),
        "a blank draft can't be sent"
    );
    bench.type_text("x");
    assert!(bench.hints().starts_with(" Enter send · Ctrl-J newline "));
    bench.type_text(" @");
    bench.find(&[]);
    assert!(
        bench.hints().starts_with(" Esc close "),
        "{}",
        bench.hints()
    );
    bench.type_text("f");
    bench.find(&THREE);
    assert!(
        bench
            .hints()
            .starts_with(" Enter accept · Esc close · Ctrl-O preview ")
    );
    bench.press("Ctrl-O");
    assert!(bench.hints().starts_with(" Enter cite · Esc return "));
    assert!(!bench.hints().contains("search"), "nothing is there yet");
    let read = looked("flaky", &bench.world);
    bench.update(read);
    assert!(bench.hints().contains("/ search"));
    bench.press("/");
    assert!(bench.hints().contains("F1 help"));
    bench.press("F1");
    assert_eq!(bench.app.layer(), Layer::Help);
    bench.press("Esc");
    assert_eq!(bench.app.layer(), Layer::PaneSearch);
}

#[test]
fn a_notice_is_shown_whole_and_goes_with_the_next_key() {
    let mut bench = Bench::new();
    bench.type_text("see @[x](dsh-session:%)");
    bench.press("Esc");
    bench.press("Enter");
    insta::assert_snapshot!(bench.screen_at(60, 12), @r###"
 ibid · new session                    offline · 0% of 128k
────────────────────────────────────────────────────────────



 ! invalid session reference URI "dsh-session:%": what
 ! follows the scheme is not unpadded base64url; pick the
 ! session again with @ to get a fresh one
 ! [SESSION_REFERENCE_INVALID_REFERENCE]
────────────────────────────────────────────────────────────
 > see @[x](dsh-session:%)
 Enter send · Ctrl-J newline                        F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(20, 6), @r###"
! invalid session
… fresh one
  @[x](dsh-session
  :%)
Enter send F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(10, 3), @r###"
… invalid
  )
 F1 help
"###);
    bench.press("Left");
    assert_eq!(bench.notice(), "");
}

#[test]
fn the_code_of_an_error_gives_way_before_what_to_do() {
    let mut bench = Bench::new();
    let failure = crate::chat::Failure {
        code: "A_RATHER_LONG_CODE_OF_AN_ERROR".to_owned(),
        message: "it is full; make some room".to_owned(),
    };
    let notice = crate::chat::Notice::Failed(failure);
    bench.update(Msg::Done(Done::Notice(notice)));
    bench.screen_at(20, 6);
    assert_eq!(bench.notice(), "it is full; make some room");
}

#[test]
fn the_composer_is_there_at_every_size_in_every_layer() {
    type Open = (&'static str, fn(&mut Bench));
    let opened: [Open; 6] = [
        ("composer", |_| ()),
        ("popup", |bench| {
            bench.type_text("@");
            bench.find(&THREE);
        }),
        ("sessions", |bench| {
            bench.press("Ctrl-T");
            bench.find(&THREE);
        }),
        ("search", |bench| {
            bench.press("Ctrl-F");
            bench.type_text("login");
            bench.search(&[("flaky", "Fix", "the login test")]);
        }),
        ("help", |bench| bench.press("F1")),
        ("review", |bench| {
            bench.cite("long", "L");
            bench.press("Enter");
            bench.prepare();
        }),
    ];
    for (name, open) in opened {
        let mut bench = Bench::new();
        bench.type_text("D ");
        open(&mut bench);
        for (width, height) in SIZES {
            let screen = bench.screen_at(width, height);
            let composer = if width > 4 { " > D" } else { "" };
            assert!(
                screen.contains(composer),
                "{name} at {width}×{height}:\n{screen}"
            );
        }
    }
}
