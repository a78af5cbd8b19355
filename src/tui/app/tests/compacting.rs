//! Compaction on the screen.

use super::*;
use crate::chat::testing::{asked, text};
use crate::session::Session;

impl Bench {
    /// A person and a model took turns twice.
    fn talked_twice(&mut self) {
        for (said, answer) in [("why?", "because"), ("and now?", "nothing")] {
            self.type_text(said);
            self.press("Enter");
            self.log();
            let generation = asked(&self.effects());
            self.chat(text(generation, answer));
            self.chat(ChatEvent::AnswerEnded(generation, None));
            self.log();
        }
    }

    /// A summary is on its way, as far as this.
    fn compacting(&mut self, summary: &str) -> crate::chat::Generation {
        self.talked_twice();
        self.talked_twice();
        self.type_text("/compact what counts");
        self.press("Enter");
        self.log();
        let generation = asked(&self.effects());
        self.chat(text(generation, summary));
        generation
    }
}

#[test]
fn a_summary_is_seen_while_it_comes_and_writing_goes_on() {
    let mut bench = Bench::new();
    bench.compacting("They asked **why**");
    bench.type_text("next");
    insta::assert_snapshot!(bench.screen_at(60, 12), @r###"
 ibid · why?                           offline · 0% of 128k
────────────────────────────────────────────────────────────
  offline  nothing
  You      why?
  offline  because
  You      and now?
  offline  nothing
  summary  They asked **why**
           ⠋ compacting
────────────────────────────────────────────────────────────
 > next
 Esc stop · Enter queue               ⠋ compacting  F1 help
"###);
    assert!(bench.app.wants_tick());
    bench.press("Enter");
    assert!(bench.screen().contains(" next: next"));
}

#[test]
fn what_was_compacted_stays_in_sight_above_the_summary() {
    let mut bench = Bench::new();
    let generation = bench.compacting("They asked why.");
    bench.chat(ChatEvent::AnswerEnded(generation, None));
    bench.log();
    insta::assert_snapshot!(bench.screen_at(60, 22), @r###"
 ibid · why?                           offline · 0% of 128k
────────────────────────────────────────────────────────────
  You      why?
  offline  because
  You      and now?
  offline  nothing
  You      why?
  offline  because
  You      and now?
  offline  nothing
           ── 6 messages compacted into this summary · the
           last 2 were kept ──
           Summary of what was said before, in place of
           those messages:

           They asked why.

 ! 6 messages are compacted into a summary; 0% of the window
 ! is used now
────────────────────────────────────────────────────────────
 >
 Ctrl-T sessions · Ctrl-F search · Ctrl-D quit      F1 help
"###);
}

#[test]
fn a_compaction_that_was_stopped_says_so_and_stays_out_of_sight() {
    let mut bench = Bench::new();
    bench.compacting("They asked wh");
    bench.press("Esc");
    bench.log();
    let screen = bench.screen();
    assert!(
        screen.contains("the summary was given up · nothing was compacted"),
        "{screen}"
    );
    assert!(!screen.contains("They asked wh"));
    assert_eq!(
        bench.notice(),
        "the compaction was stopped; nothing was changed"
    );
    assert!(!screen.contains("no answer was kept"));
}

#[test]
fn a_command_that_cannot_be_done_now_stays_in_the_composer_or_says_why() {
    let mut bench = Bench::new();
    bench.type_text("/compact");
    bench.press("Enter");
    assert!(bench.notice().contains("nothing to compact yet"));
}

#[test]
fn a_crowded_window_is_told_with_the_way_to_make_room() {
    use crate::model::{Delta, Usage};
    let mut bench = Bench::new();
    bench.type_text("hello");
    bench.press("Enter");
    bench.log();
    let generation = asked(&bench.effects());
    bench.chat(text(generation, "hi"));
    let usage = Usage {
        input_tokens: 105_000,
        output_tokens: 0,
    };
    bench.chat(ChatEvent::Delta(generation, Delta::Usage(usage)));
    bench.chat(ChatEvent::AnswerEnded(generation, None));
    bench.log();
    assert_eq!(
        bench.notice(),
        "82% of the window is used: /compact in the chat makes room"
    );
    assert!(bench.screen().contains(" 82% of 128k"));
}

#[test]
fn an_unanswered_turn_is_told_once_also_when_a_summary_is_given_up_after_it() {
    let mut bench = Bench::new();
    bench.talked_twice();
    bench.type_text("hello");
    bench.press("Enter");
    bench.log();
    bench.press("Esc");
    bench.log();
    bench.type_text("/compact");
    bench.press("Enter");
    bench.log();
    let generation = asked(&bench.effects());
    bench.chat(text(generation, "half"));
    bench.press("Esc");
    bench.log();
    let screen = bench.screen_at(80, 30);
    assert_eq!(screen.matches("no answer was kept").count(), 1, "{screen}");
}

#[test]
fn titles_of_the_model_are_shown_as_soon_as_they_are_there() {
    let mut bench = Bench::new();
    bench.app.setup.titles = crate::chat::TitlePolicy::FromModel;
    let session: Session = bench.world.log.clone();
    bench.app = App::new(bench.app.setup.clone(), session, None);
    bench.type_text("hello");
    bench.press("Enter");
    bench.log();
    let generation = asked(&bench.effects());
    bench.chat(text(generation, "hi"));
    bench.chat(ChatEvent::AnswerEnded(generation, None));
    bench.log();
    bench.log();
    let generation = asked(&bench.effects());
    assert!(!bench.app.wants_tick(), "nothing is waited for");
    bench.chat(text(generation, "A greeting"));
    bench.chat(ChatEvent::AnswerEnded(generation, None));
    bench.log();
    assert!(bench.screen().contains("ibid · A greeting"));
}
