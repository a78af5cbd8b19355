//! Requests that are longer than the model takes are caught before they go.

use super::*;
use crate::chat::{Failure, Notice};
use crate::model::{Chosen, Delta, Options, RequestConfig, Usage};

/// A model with a window of so many tokens, of which it may answer with a few.
fn model(name: &str, window: Option<u64>) -> Chosen {
    Chosen {
        context_window: window,
        max_output: Some(10),
        ..Chosen::from(RequestConfig::plain("own", name))
    }
}

fn choose(window: Option<u64>) -> Turn {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.on(ChatEvent::UseModel(model("small", window)));
    turn
}

/// The failure that was told.
fn failure(turn: &Turn) -> Failure {
    let said = turn.effects.iter().find_map(|effect| match effect {
        Effect::Say(Notice::Failed(failure) | Notice::ByEstimate(failure)) => Some(failure.clone()),
        _ => None,
    });
    said.unwrap()
}

fn answered(turn: &mut Turn, says: &str, input_tokens: u64) {
    turn.send("hello");
    turn.log();
    let asked = asked(&turn.effects);
    turn.on(text(asked, says));
    let usage = Usage {
        input_tokens,
        output_tokens: 900,
    };
    turn.on(ChatEvent::Delta(asked, Delta::Usage(usage)));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
}

#[test]
fn a_message_that_does_not_fit_comes_back_and_nothing_is_logged() {
    let mut turn = choose(Some(100));
    let long = "word ".repeat(100);
    let told = turn.send(&long);
    assert_eq!(told[0], "clear");
    assert_eq!(told[1], format!("restore {long}"));
    assert_eq!(told[2..], ["say CHAT_TOO_LONG"]);
    assert!(turn.logged().is_empty());
    assert!(!turn.chat.is_busy());
    let message = failure(&turn).message;
    for part in [
        "about 125 tokens of the 100",
        "/compact",
        "larger window",
        "10 for",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn the_room_for_the_answer_is_kept_free() {
    // 30 tokens and 8 around them leave 9 and 10.
    let text = "word ".repeat(25);
    let mut turn = choose(Some(47));
    assert_eq!(turn.send(&text)[2..], ["say CHAT_TOO_LONG"]);
    let mut turn = choose(Some(48));
    assert_eq!(turn.send(&text).len(), 2, "it goes");
}

#[test]
fn what_is_asked_for_as_an_answer_counts_and_what_a_model_could_do_has_a_limit() {
    let mut turn = choose(None);
    let mut chosen = model("own", Some(400));
    chosen.max_output = Some(400);
    turn.on(ChatEvent::UseModel(chosen.clone()));
    turn.send("short");
    assert_eq!(turn.view(), "sending");
    let mut turn = choose(None);
    chosen.config.options = Options {
        max_output: Some(395),
        ..Options::default()
    };
    turn.on(ChatEvent::UseModel(chosen));
    assert_eq!(turn.send("short")[2..], ["say CHAT_TOO_LONG"]);
}

#[test]
fn a_window_that_nobody_knows_refuses_nothing() {
    let mut turn = choose(None);
    turn.send(&"word ".repeat(100_000));
    assert_eq!(turn.view(), "sending");
}

#[test]
fn what_is_cited_is_named_with_its_share() {
    let mut turn = choose(Some(120));
    turn.send("see @long");
    assert_eq!(turn.prepare()[2..], ["discard 1", "say CHAT_TOO_LONG"]);
    let message = failure(&turn).message;
    assert!(message.contains("cite less (about "), "{message}");
    assert!(turn.world.sources.saved().is_empty());
}

#[test]
fn what_the_model_counted_is_believed_and_what_came_since_is_estimated() {
    let mut turn = choose(Some(2_000));
    answered(&mut turn, "abc", 1_000);
    assert_eq!(turn.chat.context_tokens(), 1_000 + 1 + 8);
    turn.send(&"a".repeat(2_970));
    assert_eq!(failure(&turn).code, "CHAT_TOO_LONG");
    turn.send("fits");
    assert_eq!(turn.view(), "sending");
}

#[test]
fn what_another_model_counted_is_not_believed() {
    let mut turn = choose(Some(2_000));
    answered(&mut turn, "abc", 1_000);
    turn.on(ChatEvent::UseModel(model("other", Some(2_000))));
    assert_eq!(turn.chat.context_tokens(), 2 + 8 + 1 + 8);
}

#[test]
fn what_was_counted_before_something_changed_in_front_is_not_believed() {
    let mut turn = choose(Some(2_000));
    answered(&mut turn, "abc", 1_000);
    let surface: Vec<_> = turn.chat.session().surface().map(|e| e.seq).collect();
    // The first message is another one by now, and newer than the answer.
    let other = crate::session::Payload::user(crate::session::Message::person("abc"));
    let other = crate::session::NewEvent::replacing(
        crate::session::Millis(9),
        other,
        (surface[0], surface[0]),
        vec![surface[0]],
    );
    turn.world.log.append(other).unwrap();
    turn.chat = turn.world.chat(ReviewPolicy::Never);
    turn.on(ChatEvent::UseModel(model("small", Some(2_000))));
    assert_eq!(turn.chat.context_tokens(), 1 + 8 + 1 + 8);
}

#[test]
fn a_message_that_waited_is_counted_when_it_goes() {
    let mut turn = choose(Some(1_100));
    turn.send("hello");
    turn.log();
    let asked = asked(&turn.effects);
    turn.send(&"b".repeat(600));
    assert_eq!(turn.view(), "waiting");
    turn.on(text(asked, &"a".repeat(2_700)));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    let told = turn.log();
    // That the window is nearly full is said first.
    assert_eq!(told[0], "say");
    assert!(told[1].starts_with("restore bbb"));
    assert_eq!(told[2..], ["say CHAT_TOO_LONG"]);
}

/// Whether what was refused goes if it is tried once more.
fn is_by_estimate(turn: &Turn) -> bool {
    turn.effects
        .iter()
        .any(|effect| matches!(effect, Effect::Say(Notice::ByEstimate(_))))
}

#[test]
fn what_an_estimate_refused_goes_when_it_is_sent_once_more() {
    let mut turn = choose(Some(100));
    let long = "word ".repeat(100);
    turn.send(&long);
    assert!(is_by_estimate(&turn));
    turn.send("word ".repeat(99).as_str());
    assert!(is_by_estimate(&turn), "another message is another question");
    turn.send(&long);
    assert!(is_by_estimate(&turn), "and so is the first behind it");
    assert_eq!(turn.send(&long)[0], "clear");
    assert_eq!(turn.view(), "sending");
    turn.log();
    assert_eq!(turn.messages(), [&*long]);
}

#[test]
fn what_was_refused_for_one_model_is_refused_for_another_too() {
    let mut turn = choose(Some(100));
    let long = "word ".repeat(100);
    turn.send(&long);
    turn.on(ChatEvent::UseModel(model("tiny", Some(50))));
    turn.send(&long);
    assert!(is_by_estimate(&turn));
    turn.send(&long);
    assert_eq!(turn.view(), "sending");
}

#[test]
fn what_was_refused_in_a_short_conversation_is_refused_in_a_longer_one() {
    let mut turn = choose(None);
    answered(&mut turn, "abc", 0);
    answered(&mut turn, "abc", 0);
    turn.on(ChatEvent::UseModel(model("small", Some(40))));
    let prompts: Vec<_> = turn.chat.prompts().map(|prompt| prompt.seq).collect();
    let (later, first) = (prompts[0].max(prompts[1]), prompts[0].min(prompts[1]));
    let long = "word ".repeat(100);
    for place in [first, later] {
        turn.on(ChatEvent::Revise(place));
        turn.send(&long);
        assert!(is_by_estimate(&turn), "in place of {place:?}");
    }
    turn.send(&long);
    assert_eq!(turn.view(), "sending");
}

#[test]
fn a_message_that_cites_goes_when_it_is_sent_once_more() {
    let mut turn = choose(Some(120));
    turn.send("see @long");
    turn.prepare();
    assert!(is_by_estimate(&turn));
    turn.send("see @long");
    turn.prepare();
    assert_eq!(turn.view(), "sending");
    assert_eq!(turn.world.sources.saved().len(), 1);
}

#[test]
fn an_answer_that_an_estimate_refused_is_asked_for_again_the_second_time() {
    let mut turn = choose(None);
    answered(&mut turn, "abc", 0);
    turn.on(ChatEvent::UseModel(model("small", Some(12))));
    turn.on(ChatEvent::Regenerate);
    assert!(is_by_estimate(&turn));
    turn.on(ChatEvent::Regenerate);
    assert_eq!(turn.view(), "sending");
}

#[test]
fn what_the_model_itself_counted_as_too_long_never_goes() {
    let mut turn = choose(Some(2_000));
    answered(&mut turn, "abc", 1_991);
    for _ in 0..3 {
        assert_eq!(turn.send("more").last().unwrap(), "say CHAT_TOO_LONG");
        assert!(!is_by_estimate(&turn));
    }
    turn.chat = turn.world.chat(ReviewPolicy::Never).despite_estimates(true);
    turn.on(ChatEvent::UseModel(model("small", Some(2_000))));
    assert_eq!(turn.send("more").last().unwrap(), "say CHAT_TOO_LONG");
}

#[test]
fn who_wants_it_sent_despite_estimates_is_not_asked() {
    let mut turn = choose(Some(100));
    turn.chat = turn.world.chat(ReviewPolicy::Never).despite_estimates(true);
    turn.on(ChatEvent::UseModel(model("small", Some(100))));
    turn.send(&"word ".repeat(100));
    assert_eq!(turn.view(), "sending");
}
