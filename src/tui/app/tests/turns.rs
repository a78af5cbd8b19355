//! What a person sees of a turn.

use super::*;
use crate::chat::testing::{asked, disk_full, text};
use crate::model::{Chosen, Delta, RequestConfig, Waiting};
use crate::tui::keymap::Layer;

/// A message is logged, and the model was asked.
fn asked_model(bench: &mut Bench) -> crate::chat::Generation {
    bench.type_text("hello");
    bench.press("Enter");
    bench.log();
    asked(&bench.effects())
}

#[test]
fn a_citing_message_is_prepared_reviewed_and_sent() {
    let mut bench = Bench::new();
    bench.type_text("see ");
    bench.cite("flaky", "Flaky login");
    bench.press("Enter");
    assert_eq!(bench.app.layer(), Layer::Pane);
    assert!(bench.hints().contains("Esc cancel"));
    assert!(
        bench.screen().contains(" > see @Flaky login"),
        "the draft stays in sight"
    );
    bench.prepare();
    insta::assert_snapshot!(bench.screen_at(80, 24), @r###"
 ibid · new session                                        offline · 0% of 128k
────────────────────────────────────────────────────────────────────────────────
Review — Enter sends · Esc returns                                  conversation
Flaky login
ibid · /work/api · captured 16:00:00 through seq 0
1 of 1 message · ██░░░░░░░░ 143 of 600 B
────────────────────────────────────────────────────────────────────────────────
You
why is it flaky?











                                                                            100%
────────────────────────────────────────────────────────────────────────────────
 > see @Flaky login
 Enter send · Esc return · Tab conversation/bytes · / search            F1 help
"###);
    insta::assert_snapshot!(bench.screen_at(20, 6), @r###"
Review — Enter sends
Flaky login
ibid · /work/api ·
captured 16:00:00
 > see @Flaky login
 Enter send F1 help
"###);
    bench.screen_at(80, 24);
    bench.press("Enter");
    assert_eq!(bench.text(), "");
    assert!(bench.screen().contains("sending"));
    bench.recheck();
    bench.log();
    assert!(bench.screen().contains("cited  Flaky login"));
}

#[test]
fn esc_in_the_review_gives_the_draft_back_whole() {
    let mut bench = Bench::new();
    bench.type_text("see ");
    bench.cite("long", "Long");
    bench.press("Enter");
    bench.prepare();
    bench.press("Esc");
    assert_eq!(bench.text(), "see <long> ");
    assert_eq!(bench.app.layer(), Layer::Composer);
    assert!(matches!(bench.effects()[..], [Effect::Discard(_)]));
}

#[test]
fn a_source_that_grew_is_said_and_what_was_typed_since_stays() {
    let mut bench = Bench::new();
    bench.cite("flaky", "Flaky");
    bench.press("Enter");
    bench.prepare();
    bench.world.sources.grow("flaky", "more of it");
    bench.press("Enter");
    bench.type_text("typed since");
    bench.recheck();
    bench.prepare();
    assert!(
        bench
            .screen()
            .contains("Flaky: +1 message since the preview")
    );
    let screen = bench.screen();
    assert!(screen.contains(" > @Flaky"), "what is reviewed:\n{screen}");
    assert!(screen.contains("   typed since"), "{screen}");
    bench.press("Enter");
    assert_eq!(bench.text(), "typed since");
    bench.press("Esc");
    assert_eq!(bench.text(), "<flaky> \ntyped since");
}

#[test]
fn a_review_over_a_session_that_is_looked_at_gives_it_back() {
    let mut bench = Bench::new();
    bench.cite("flaky", "Flaky");
    bench.press("Enter");
    bench.prepare();
    bench.world.sources.grow("flaky", "more of it");
    bench.press("Enter");
    let sent = bench.effects();
    bench.press("Ctrl-T");
    bench.find(&THREE);
    bench.press("Ctrl-O");
    assert!(bench.hints().contains("Enter resume"));
    let grown = bench.world.recheck(&sent);
    bench.chat(grown);
    bench.prepare();
    assert!(bench.hints().contains("Enter send"));
    let read = looked("flaky", &bench.world);
    bench.update(read);
    bench.press("Esc");
    assert!(bench.hints().contains("Enter resume"), "{}", bench.hints());
    assert!(bench.screen().contains("more of it"));
    bench.press("Esc");
    assert_eq!(bench.app.layer(), Layer::Sessions);
}

#[test]
fn a_message_that_is_not_logged_stands_before_what_was_typed_since() {
    let mut bench = Bench::new();
    bench.type_text("hello");
    bench.press("Enter");
    let effects = bench.effects();
    bench.type_text("next");
    bench.chat(disk_full(&effects));
    assert_eq!(bench.text(), "hello\nnext");
    assert!(bench.notice().contains("the disk is full [STORE_FULL]"));
}

#[test]
fn an_answer_streams_in() {
    let mut bench = Bench::new();
    let answer = asked_model(&mut bench);
    bench.chat(text(answer, "two **things** changed"));
    insta::assert_snapshot!(bench.screen_at(60, 12), @r###"
 ibid · hello                          offline · 0% of 128k
────────────────────────────────────────────────────────────
  You      hello
  offline  two **things** changed
           ⠋ streaming




────────────────────────────────────────────────────────────
 >
 Esc stop · Ctrl-T sessions            ⠋ answering  F1 help
"###);
    assert!(bench.app.wants_tick());
    bench.press("Esc");
    bench.log();
    let screen = bench.screen();
    assert!(screen.contains("two **things** changed"));
    assert!(screen.contains("interrupted"));
    assert!(!screen.contains("streaming"));
}

#[test]
fn while_a_request_waits_to_be_made_again_nothing_is_said_to_stream() {
    use crate::model::{Delta, Waiting};
    let mut bench = Bench::new();
    let answer = asked_model(&mut bench);
    let waiting = Delta::Waiting(Waiting {
        attempt: 1,
        wait: std::time::Duration::from_secs(2),
        code: "MODEL_OVERLOADED",
        why: "too much to do".to_owned(),
    });
    bench.chat(ChatEvent::Delta(answer, waiting));
    insta::assert_snapshot!(bench.screen_at(60, 10), @r###"
 ibid · hello                          offline · 0% of 128k
────────────────────────────────────────────────────────────
  You      hello
  offline  ⠋ waiting to ask again


 ! too much to do; asking again in 2 s (Esc stops)
────────────────────────────────────────────────────────────
 >
 Esc stop · Ctrl-T sessions ⠋ waiting to ask again  F1 help
"###);
    bench.chat(text(answer, "so"));
    assert!(bench.screen().contains("answering"));
    assert!(!bench.screen().contains("waiting to ask"));
}

#[test]
fn a_message_that_waited_comes_back_with_the_error_of_the_answer() {
    let mut bench = Bench::new();
    let answer = asked_model(&mut bench);
    bench.type_text("and then?");
    bench.press("Enter");
    let error = crate::model::ModelError::StreamEnded {
        provider: "offline".to_owned(),
        model: "offline".to_owned(),
    };
    bench.chat(text(answer, "half"));
    bench.chat(ChatEvent::AnswerEnded(answer, Some(error)));
    bench.log();
    assert_eq!(bench.text(), "and then?");
    assert!(bench.notice().contains("[MODEL_STREAM_ENDED]"));
    let screen = bench.screen();
    assert!(
        screen.contains("broke off [MODEL_STREAM_ENDED]"),
        "{screen}"
    );
}

#[test]
fn the_head_tells_how_much_of_the_window_the_conversation_fills() {
    use crate::model::{Delta, Usage};
    let mut bench = Bench::new();
    let answer = asked_model(&mut bench);
    bench.chat(text(answer, "hi"));
    let usage = Usage {
        input_tokens: 3_840,
        output_tokens: 840,
    };
    bench.chat(ChatEvent::Delta(answer, Delta::Usage(usage)));
    bench.chat(ChatEvent::AnswerEnded(answer, None));
    assert!(bench.screen().contains(" 0% of 128k"));
    bench.log();
    assert!(bench.screen().contains(" 3% of 128k"));
}

#[test]
fn an_answer_cut_at_the_models_limit_is_said_to_be() {
    use crate::model::{Delta, FinishReason};
    let mut bench = Bench::new();
    let answer = asked_model(&mut bench);
    bench.chat(text(answer, "one, two, thr"));
    let cut = Delta::Finished(FinishReason::Length);
    bench.chat(ChatEvent::Delta(answer, cut));
    bench.chat(ChatEvent::AnswerEnded(answer, None));
    bench.log();
    let screen = bench.screen();
    assert!(screen.contains("one, two, thr"), "{screen}");
    assert!(
        screen.contains("cut at the model's length limit"),
        "{screen}"
    );
}

#[test]
fn a_message_that_waits_is_in_sight_until_it_goes() {
    let mut bench = Bench::new();
    asked_model(&mut bench);
    bench.type_text("and then @");
    bench.press("Esc");
    assert!(bench.hints().contains("Enter queue"));
    bench.press("Enter");
    insta::assert_snapshot!(bench.screen_at(60, 12), @r###"
 ibid · hello                          offline · 0% of 128k
────────────────────────────────────────────────────────────
  You      hello
  offline  ⠋ streaming




 next: and then @
────────────────────────────────────────────────────────────
 >
 Esc stop and take back                ⠋ answering  F1 help
"###);
    bench.type_text("third");
    assert!(
        !bench.hints().contains("Enter"),
        "one message waits at a time"
    );
    bench.press("Enter");
    assert!(
        bench
            .notice()
            .contains("Esc stops the answer and takes it back")
    );
    bench.press("Esc");
    assert_eq!(bench.text(), "and then @\nthird");
}

#[test]
fn an_answer_that_is_not_saved_stays_in_sight_with_the_way_to_save_it() {
    let mut bench = Bench::new();
    let answer = asked_model(&mut bench);
    bench.chat(text(answer, "an answer"));
    bench.chat(ChatEvent::AnswerEnded(answer, None));
    let effects = bench.effects();
    bench.chat(disk_full(&effects));
    let screen = bench.screen();
    assert!(screen.contains("an answer"), "{screen}");
    assert!(screen.contains("not saved yet"), "{screen}");
    assert!(bench.hints().contains("Esc save the answer"));
    bench.press("Ctrl-T");
    bench.find(&THREE);
    bench.press("Enter");
    assert!(bench.notice().contains("try again to go on without"));
    bench.press("Esc");
    bench.log();
    assert!(!bench.screen().contains("not saved yet"));
    assert!(bench.screen().contains("an answer"));
}

/// A screen with an answer that could not be saved.
fn with_unsaved_answer() -> Bench {
    let mut bench = Bench::new();
    let answer = asked_model(&mut bench);
    bench.chat(text(answer, "an answer"));
    bench.chat(ChatEvent::AnswerEnded(answer, None));
    let effects = bench.effects();
    bench.chat(disk_full(&effects));
    bench.cmds.clear();
    bench
}

#[test]
fn quitting_asks_before_an_answer_is_lost() {
    for (keys, key) in [
        (&["Ctrl-D"][..], "Ctrl-D"),
        (&["Ctrl-C", "Ctrl-C"], "Ctrl-C"),
    ] {
        let mut bench = with_unsaved_answer();
        bench.press_all(keys);
        assert!(bench.cmds.is_empty(), "{key}");
        let asks = format!("{key} again quits without it");
        assert!(bench.notice().contains(&asks), "{}", bench.notice());
        bench.press("Left");
        bench.press_all(keys);
        assert!(bench.cmds.is_empty(), "another key between: asked anew");
        bench.press(key);
        assert!(matches!(bench.cmds[..], [Cmd::Quit]));
    }
}

#[test]
fn an_answer_that_cannot_be_saved_is_put_aside_when_the_person_goes_on_elsewhere() {
    let mut bench = with_unsaved_answer();
    let resume = |bench: &mut Bench| {
        bench.press("Ctrl-T");
        bench.find(&THREE);
        bench.press("Enter");
        let opens = |cmd: &Cmd| matches!(cmd, Cmd::Job(Job::Open(_)));
        bench.cmds.iter().any(opens)
    };
    assert!(!resume(&mut bench), "asked first");
    bench.press("Esc");
    let effects = bench.effects();
    bench.chat(disk_full(&effects));
    assert!(!resume(&mut bench), "tried in vain: asked anew");
    assert!(resume(&mut bench));
    let home = tempfile::tempdir().unwrap();
    bench.update(Msg::Done(super::sessions::opened(&home)));
    assert_eq!(bench.app.session().id().as_str(), "flaky");
    let aside = bench.cmds.iter().find_map(|cmd| match cmd {
        Cmd::Job(Job::PutAside(text)) => Some(&**text),
        _ => None,
    });
    assert_eq!(aside, Some("an answer"));
}

#[test]
fn an_answer_that_is_not_saved_at_the_end_is_named_with_its_reason() {
    let mut bench = with_unsaved_answer();
    let jobs = bench.app.part().into_iter();
    bench.cmds = jobs.map(Cmd::Job).collect();
    let effects = bench.effects();
    bench.chat(disk_full(&effects));
    let (text, why) = bench.app.unsaved().unwrap();
    assert_eq!(
        (text, why.unwrap().code.as_str()),
        ("an answer", "STORE_FULL")
    );
}

#[test]
fn an_answer_is_kept_at_the_end_also_while_a_message_is_being_prepared() {
    let mut bench = Bench::new();
    let answer = asked_model(&mut bench);
    bench.chat(text(answer, "half"));
    bench.cite("flaky", "Flaky");
    bench.press("Enter");
    bench.cmds.clear();
    let jobs = bench.app.part();
    let is_log = |job: &Job| matches!(job, Job::Chat(Effect::Log(..)));
    assert_eq!(jobs.iter().filter(|job| is_log(job)).count(), 1);
}

#[test]
fn what_failed_stays_while_somebody_types() {
    let mut bench = with_unsaved_answer();
    bench.type_text("typed on");
    bench.paste(" and pasted");
    assert!(bench.notice().contains("[STORE_FULL]"));
    bench.press("Left");
    assert_eq!(bench.notice(), "");
}

#[test]
fn a_preview_is_given_at_any_time() {
    let mut bench = Bench::new();
    bench.type_text("hello");
    bench.press("Ctrl-O");
    assert!(bench.notice().contains("type @ to cite"));
    bench.type_text(" ");
    bench.cite("flaky", "Flaky");
    bench.type_text(" @");
    bench.press("Esc");
    assert!(bench.hints().contains("Ctrl-O preview"));
    bench.press("Ctrl-O");
    bench.prepare();
    assert_eq!(bench.app.layer(), Layer::Pane);
}

#[test]
fn what_is_under_way_when_the_program_ends_is_called_off_and_kept() {
    let mut bench = Bench::new();
    let answer = asked_model(&mut bench);
    bench.chat(text(answer, "half"));
    bench.type_text("a draft");
    let jobs = bench.app.part();
    assert!(matches!(
        jobs[..],
        [
            Job::Chat(Effect::Stop(_)),
            Job::Chat(Effect::Log(..)),
            Job::KeepDraft(..)
        ]
    ));
    assert!(bench.app.is_writing());
}

#[test]
fn that_a_model_is_asked_again_is_told_until_its_answer_begins() {
    let begins: [fn(crate::chat::Generation) -> ChatEvent; 3] = [
        |asked| text(asked, "so"),
        |asked| ChatEvent::Delta(asked, Delta::Reasoning("hm".to_owned())),
        |asked| ChatEvent::AnswerEnded(asked, None),
    ];
    for begins in begins {
        let mut bench = Bench::with(ReviewPolicy::Never);
        let asked = asked_model(&mut bench);
        let waiting = Delta::Waiting(Waiting {
            attempt: 1,
            wait: std::time::Duration::from_secs(1),
            code: "MODEL_RATE_LIMITED",
            why: "too many requests".to_owned(),
        });
        bench.chat(ChatEvent::Delta(asked, waiting));
        assert!(bench.screen().contains("asking again in 1 s"));
        bench.chat(begins(asked));
        let screen = bench.screen();
        assert!(!screen.contains("asking again"), "{screen}");
    }
}

#[test]
fn what_an_estimate_refused_says_how_it_goes_and_enter_sends_it() {
    let mut bench = Bench::with(ReviewPolicy::Never);
    bench.chat(ChatEvent::UseModel(Chosen {
        context_window: Some(20),
        ..Chosen::from(RequestConfig::plain("own", "small"))
    }));
    bench.type_text("far too long for a model as small as this one is");
    bench.press("Enter");
    let screen = bench.screen_at(280, 24);
    assert!(
        screen.contains("that is an estimate: the same once more is sent all the same"),
        "{screen}"
    );
    assert!(screen.contains("[CHAT_TOO_LONG]"), "{screen}");
    bench.press("Enter");
    assert_eq!(bench.text(), "");
    bench.log();
    asked(&bench.effects());
}
