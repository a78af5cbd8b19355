//! The composer, the caret, and leaving.

use super::*;
use crate::runtime::Job;

#[test]
fn the_caret_stands_where_the_next_character_goes() {
    let mut bench = Bench::new();
    assert_eq!(bench.caret(), Position::new(3, 22));
    bench.type_text("世界");
    assert_eq!(bench.caret(), Position::new(7, 22));
    bench.press("Left");
    assert_eq!(bench.caret(), Position::new(5, 22));
    bench.press("Ctrl-J");
    assert_eq!(bench.caret(), Position::new(3, 22));
}

#[test]
fn a_click_moves_the_caret() {
    let mut bench = Bench::new();
    bench.type_text("one two");
    bench.click((3 + 3, 22));
    bench.type_text("!");
    assert_eq!(bench.text(), "one! two");
}

#[test]
fn the_composer_grows_to_a_third_and_then_scrolls_with_the_caret() {
    let mut bench = Bench::new();
    for line in 0..12 {
        bench.type_text(&format!("line {line}"));
        bench.press("Ctrl-J");
    }
    bench.screen_at(30, 12);
    assert!(bench.screen().contains("line 11"));
    assert!(!bench.screen().contains("line 8"));
    bench.press("Up");
    bench.press("Up");
    let screen = bench.screen();
    assert!(screen.contains("line 11"), "what is below stays:\n{screen}");
    for _ in 0..10 {
        bench.press("Up");
    }
    assert!(bench.screen().contains(" > line 0"));
    bench.click((3 + 4, bench.app.areas.composer.y + 1));
    bench.type_text("!");
    assert!(bench.text().contains("line! 1"));
}

#[test]
fn ctrl_c_clears_the_draft_and_a_second_one_quits() {
    let mut bench = Bench::new();
    bench.type_text("draft");
    bench.press("Ctrl-C");
    assert_eq!(bench.text(), "");
    assert!(bench.notice().contains("Ctrl-C again"));
    bench.press("Ctrl-_");
    assert_eq!(bench.text(), "draft", "it can be undone");
    bench.cmds.clear();
    bench.press_all(&["Ctrl-C", "Ctrl-C"]);
    assert!(matches!(bench.cmds.last(), Some(Cmd::Quit)));
}

#[test]
fn anything_between_two_ctrl_c_keeps_the_program_open() {
    let mut bench = Bench::new();
    bench.press("Ctrl-C");
    bench.paste("more");
    bench.press("Ctrl-C");
    assert!(!bench.cmds.iter().any(|cmd| matches!(cmd, Cmd::Quit)));
    bench.type_text("x");
    bench.press("Backspace");
    bench.press("Ctrl-C");
    assert!(!bench.cmds.iter().any(|cmd| matches!(cmd, Cmd::Quit)));
}

#[test]
fn ctrl_d_quits_on_an_empty_draft_and_else_deletes() {
    let mut bench = Bench::new();
    bench.type_text("ab");
    bench.press_all(&["Home", "Ctrl-D"]);
    assert_eq!(bench.text(), "b");
    bench.press("Ctrl-D");
    assert!(bench.effects().is_empty());
    bench.press("Ctrl-D");
    assert!(matches!(bench.cmds[..], [Cmd::Quit]));
}

#[test]
fn ctrl_z_suspends_and_esc_with_nothing_under_way_does_nothing() {
    let mut bench = Bench::new();
    bench.type_text("draft");
    bench.cmds.clear();
    bench.press("Esc");
    assert!(bench.cmds.is_empty());
    assert_eq!(bench.text(), "draft");
    bench.press("Ctrl-Z");
    assert!(matches!(bench.cmds[..], [Cmd::Suspend]));
}

#[test]
fn each_change_of_the_draft_is_kept_and_nothing_else() {
    let mut bench = Bench::new();
    bench.type_text("ab");
    let kept = |bench: &mut Bench| {
        let cmds = std::mem::take(&mut bench.cmds);
        cmds.into_iter()
            .filter_map(|cmd| match cmd {
                Cmd::Job(Job::KeepDraft(id, kept)) => {
                    assert_eq!(id.as_str(), "target");
                    Some((kept.departed.is_some(), kept.typed.to_text()))
                }
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        kept(&mut bench),
        [(false, "a".to_owned()), (false, "ab".to_owned())]
    );
    bench.press_all(&["Left", "Home", "Esc"]);
    bench.update(Msg::Tick);
    assert_eq!(kept(&mut bench), []);
}

#[test]
fn the_draft_is_kept_while_earlier_prompts_are_looked_at() {
    let mut bench = Bench::new();
    bench.type_text("sent before");
    bench.press("Enter");
    bench.log();
    bench.type_text("the draft");
    bench.press("Up");
    bench.press("Up");
    assert_eq!(bench.text(), "sent before");
    let kept = |bench: &Bench| match bench.app.draft_job() {
        Job::KeepDraft(_, kept) => kept.typed.to_text(),
        other => panic!("{other:?}"),
    };
    assert_eq!(kept(&bench), "the draft");
    bench.type_text("!");
    assert_eq!(kept(&bench), "sent before!", "edited, it is the draft");
}

#[test]
fn an_earlier_prompt_that_is_sent_again_leaves_the_draft() {
    let mut bench = Bench::new();
    bench.type_text("sent before");
    bench.press("Enter");
    bench.log();
    bench.type_text("the draft");
    bench.press("Up");
    bench.press("Enter");
    assert_eq!(bench.text(), "the draft");
}

#[test]
fn a_draft_that_is_sent_is_kept_until_it_is_logged_and_no_longer() {
    let mut bench = Bench::new();
    bench.type_text("hello");
    bench.cmds.clear();
    bench.press("Enter");
    let order: Vec<&str> = bench
        .cmds
        .iter()
        .map(|cmd| match cmd {
            Cmd::Job(Job::KeepDraft(_, kept)) if kept.departed.is_some() => "departed",
            Cmd::Job(Job::Chat(Effect::Log(..))) => "log",
            _ => "other",
        })
        .collect();
    assert_eq!(order, ["departed", "log"], "first the draft, then the log");
    bench.log();
    let last = bench.cmds.iter().find_map(|cmd| match cmd {
        Cmd::Job(Job::KeepDraft(_, kept)) => Some(kept.is_blank()),
        _ => None,
    });
    assert_eq!(last, Some(true), "nothing is left to keep");
}

#[test]
fn what_was_edited_outside_is_the_draft_and_no_recalled_prompt() {
    let mut bench = Bench::new();
    bench.type_text("sent before");
    bench.press("Enter");
    bench.log();
    bench.press("Up");
    assert_eq!(bench.text(), "sent before");
    bench.update(Msg::Edited(Ok(Some("written outside\n".to_owned()))));
    bench.press("Down");
    assert_eq!(bench.text(), "written outside");
}
