//! Going back in the conversation.

use super::*;
use crate::chat::KeptDraft;
use crate::chat::testing::{asked, disk_full, text};
use crate::tui::keymap::Layer;

impl Bench {
    /// A message and its answer.
    fn say(&mut self, said: &str, answer: &str) {
        self.type_text(said);
        self.press("Enter");
        self.is_answered(answer);
    }

    /// What is asked is logged, and answered.
    fn is_answered(&mut self, answer: &str) {
        self.log();
        let generation = asked(&self.effects());
        self.chat(text(generation, answer));
        self.chat(ChatEvent::AnswerEnded(generation, None));
        self.log();
        self.cmds.clear();
    }

    /// A command, typed whole.
    fn command(&mut self, name: &str) {
        self.type_text(name);
        self.press("Enter");
    }

    fn said(&self) -> Vec<String> {
        let messages = self.app.session().derive_messages();
        messages.map(crate::session::Message::text).collect()
    }

    fn talked() -> Self {
        let mut bench = Self::with(ReviewPolicy::Never);
        bench.say("one", "1");
        bench.say("two", "2");
        bench.say("three", "3");
        bench
    }
}

#[test]
fn esc_twice_lists_the_earlier_messages_and_enter_takes_one() {
    let mut bench = Bench::talked();
    bench.press("Esc");
    assert!(bench.notice().contains("Esc again"));
    assert_eq!(bench.app.layer(), Layer::Composer);
    bench.press("Esc");
    assert_eq!(bench.app.layer(), Layer::Choices);
    insta::assert_snapshot!(bench.screen_at(60, 10), @r###"
 ibid · one                            offline · 0% of 128k
────────────────────────────────────────────────────────────
 Change a message:                                      3/3
▌three                                                 41 d
 two                                                   41 d
 one                                                   41 d

────────────────────────────────────────────────────────────
 >
 Enter change · Esc close                           F1 help
"###);
    bench.press("Down");
    assert_eq!(bench.selected(), "two");
    bench.press("Enter");
    assert_eq!(bench.text(), "two");
    insta::assert_snapshot!(bench.screen_at(60, 12), @r###"
 ibid · one                            offline · 0% of 128k
────────────────────────────────────────────────────────────
  You      one
  offline  1
  You      two
  offline  2
  You      three
  offline  3
 in place of: two
────────────────────────────────────────────────────────────
 > two
 Esc leave it as it was · Enter send                F1 help
"###);
    bench.press("Ctrl-U");
    bench.say("zwei", "2!");
    assert_eq!(bench.said(), ["one", "1", "zwei", "2!"]);
    insta::assert_snapshot!(bench.screen_at(60, 12), @r###"
 ibid · one                            offline · 0% of 128k
────────────────────────────────────────────────────────────
  You      one
  offline  1
           ┆ earlier branch · 4 messages
  You      zwei
  offline  2!


────────────────────────────────────────────────────────────
 >
 Ctrl-T sessions · Ctrl-F search · Ctrl-D quit      F1 help
"###);
}

#[test]
fn esc_lists_nothing_where_it_has_something_else_to_do() {
    let mut bench = Bench::new();
    bench.press_all(&["Esc", "Esc"]);
    assert_eq!(bench.app.layer(), Layer::Composer, "nothing was said yet");
    bench.type_text("one");
    bench.press("Enter");
    bench.log();
    bench.press("Esc");
    bench.log();
    bench.press("Esc");
    assert_eq!(bench.app.layer(), Layer::Composer, "the first stopped it");
    bench.type_text("x");
    bench.press_all(&["Esc", "Esc"]);
    assert_eq!(bench.app.layer(), Layer::Composer, "a draft is there");
    bench.press_all(&["Backspace", "Esc", "Left", "Esc"]);
    assert_eq!(bench.app.layer(), Layer::Composer, "another key between");
    bench.press("Esc");
    assert_eq!(bench.app.layer(), Layer::Choices);
}

#[test]
fn the_list_of_messages_is_searched_and_left() {
    let mut bench = Bench::talked();
    bench.command("/edit");
    assert_eq!(bench.text(), "");
    assert_eq!(bench.selected(), "three");
    bench.type_text("on");
    assert_eq!(bench.selected(), "one");
    bench.type_text("zzz");
    assert!(bench.screen().contains("nothing matches"));
    bench.press("Enter");
    assert_eq!(
        bench.app.layer(),
        Layer::Choices,
        "there is nothing to take"
    );
    bench.press("Esc");
    assert_eq!(bench.app.layer(), Layer::Composer);
    assert!(bench.app.chat.revising().is_none());
}

#[test]
fn esc_leaves_the_earlier_message_as_it_was_and_keeps_the_draft() {
    let mut bench = Bench::talked();
    bench.command("/edit");
    bench.press("Enter");
    bench.type_text(" and four");
    bench.press("Esc");
    assert!(bench.notice().contains("new one"), "{}", bench.notice());
    assert_eq!(bench.text(), "three and four");
    bench.press("Enter");
    bench.is_answered("4");
    assert_eq!(bench.said().len(), 8);
}

#[test]
fn clearing_the_draft_leaves_the_earlier_message_too() {
    let mut bench = Bench::talked();
    bench.command("/edit");
    bench.press("Enter");
    bench.press("Ctrl-C");
    assert_eq!(bench.text(), "");
    assert!(bench.app.chat.revising().is_none());
}

#[test]
fn a_mention_comes_back_as_one_and_cites_again() {
    let mut bench = Bench::with(ReviewPolicy::Never);
    bench.type_text("see ");
    bench.cite("flaky", "Flaky login");
    bench.press("Enter");
    bench.prepare();
    bench.is_answered("seen");
    bench.command("/edit");
    assert_eq!(bench.selected(), "see @Flaky login");
    bench.press("Enter");
    assert_eq!(bench.text(), "see <flaky> ");
    bench.type_text("again");
    bench.press("Enter");
    bench.prepare();
    bench.is_answered("seen again");
    let said = bench.said();
    assert_eq!(said.len(), 3);
    assert_eq!(said[0], "see @Flaky login again");
}

#[test]
fn what_is_being_changed_is_kept_with_the_draft() {
    let mut bench = Bench::talked();
    bench.command("/edit");
    bench.press("Enter");
    let revising = bench.app.chat.revising();
    let kept = bench.cmds.iter().rev().find_map(|cmd| match cmd {
        Cmd::Job(Job::KeepDraft(_, kept)) => Some(kept.clone()),
        _ => None,
    });
    let kept = kept.unwrap();
    assert_eq!(kept.revises, revising);
    assert_eq!(kept.typed, Draft::from_text("three"));
    let again = App::new(bench.app.setup.clone(), bench.world.log.clone(), Some(kept));
    assert_eq!(again.chat.revising(), revising);
    assert_eq!(again.editor.draft(), Draft::from_text("three"));
    for job in bench.app.part() {
        if let Job::KeepDraft(_, KeptDraft { revises, .. }) = job {
            assert_eq!(revises, revising, "the program may end in between");
        }
    }
}

#[test]
fn a_changed_message_that_cannot_be_logged_comes_back_to_be_sent_again() {
    let mut bench = Bench::talked();
    bench.command("/edit");
    bench.press("Enter");
    bench.press("Enter");
    let effects = bench.effects();
    bench.chat(disk_full(&effects));
    assert_eq!(bench.text(), "three");
    bench.press("Enter");
    bench.is_answered("drei");
    assert_eq!(bench.said()[4..], ["three", "drei"]);
}

#[test]
fn branches_are_listed_and_gone_back_to() {
    let mut bench = Bench::talked();
    bench.command("/branches");
    assert!(bench.notice().contains("no other branch"));
    bench.press("Ctrl-U");
    bench.command("/edit");
    bench.press_all(&["Down", "Enter", "Ctrl-U"]);
    bench.say("zwei", "2!");
    bench.command("/branches");
    insta::assert_snapshot!(bench.screen_at(60, 8), @r###"
 Branches:                                              1/1
▌two                                      4 messages · 41 d




 >
 Enter go back · Esc close                          F1 help
"###);
    bench.press("Enter");
    bench.log();
    assert_eq!(bench.said(), ["one", "1", "two", "2", "three", "3"]);
    insta::assert_snapshot!(bench.screen_at(60, 16), @r###"
 ibid · one                            offline · 0% of 128k
────────────────────────────────────────────────────────────
  You      one
  offline  1
           ┆ earlier branch · 2 messages
  You      two
  offline  2
  You      three
  offline  3


 ! back on the earlier branch; /branches lists the one just
 ! left
────────────────────────────────────────────────────────────
 >
 Ctrl-T sessions · Ctrl-F search · Ctrl-D quit      F1 help
"###);
}

#[test]
fn retry_puts_a_new_answer_in_the_place_of_the_old_one() {
    let mut bench = Bench::talked();
    bench.command("/retry");
    bench.is_answered("3 again");
    let screen = bench.screen_at(60, 16);
    assert!(screen.contains("┆ 1 earlier answer"), "{screen}");
    bench.command("/retry");
    bench.is_answered("3 once more");
    insta::assert_snapshot!(bench.screen_at(60, 16), @r###"
 ibid · one                            offline · 0% of 128k
────────────────────────────────────────────────────────────
  You      one
  offline  1
  You      two
  offline  2
  You      three
           ┆ 2 earlier answers
  offline  3 once more




────────────────────────────────────────────────────────────
 >
 Ctrl-T sessions · Ctrl-F search · Ctrl-D quit      F1 help
"###);
    bench.command("/branches");
    insta::assert_snapshot!(bench.screen_at(60, 8), @r###"
 Branches:                                              2/2
▌3 again                                   1 message · 41 d
 3                                         1 message · 41 d



 >
 Enter go back · Esc close                          F1 help
"###);
}

#[test]
fn an_answer_that_failed_is_asked_for_again_without_a_second_message() {
    let mut bench = Bench::with(ReviewPolicy::Never);
    bench.type_text("hello");
    bench.press("Enter");
    bench.log();
    bench.press("Esc");
    bench.log();
    bench.command("/retry");
    bench.is_answered("hi");
    assert_eq!(bench.said(), ["hello", "hi"]);
}
