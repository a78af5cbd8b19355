//! How much of the window is used, and what is said of it.

use super::*;

#[test]
fn room_is_offered_once_when_the_window_is_nearly_used() {
    let mut turn = talked(3);
    let used = |turn: &mut Turn, tokens| {
        let asked = turn.asked();
        turn.on(text(asked, "hi"));
        let usage = Usage {
            input_tokens: tokens,
            output_tokens: 0,
        };
        turn.on(ChatEvent::Delta(asked, Delta::Usage(usage)));
        turn.on(ChatEvent::AnswerEnded(asked, None));
        turn.log()
    };
    assert!(used(&mut turn, 100_000).is_empty());
    assert_eq!(used(&mut turn, 105_000), ["say"]);
    assert_eq!(
        turn.told(),
        "82% of the window is used: /compact in the chat makes room"
    );
    assert!(used(&mut turn, 106_000).is_empty(), "it was told");
    turn.compacted("sum");
    assert_eq!(turn.chat.window_share(), Some(0));
    assert!(turn.told().ends_with("; 0% of the window is used now"));
    assert!(used(&mut turn, 50_000).is_empty());
    assert_eq!(used(&mut turn, 110_000), ["say"], "it is crowded again");
}

#[test]
fn that_the_window_is_nearly_used_never_takes_the_place_of_a_failure() {
    let mut turn = talked(3);
    let asked = turn.asked();
    turn.on(text(asked, "half"));
    let mut small = chosen();
    small.context_window = Some(turn.chat.context_tokens() * 100 / 85);
    small.max_output = Some(1);
    turn.on(ChatEvent::UseModel(small));
    let failed = ModelError::StreamEnded {
        provider: "offline".to_owned(),
        model: "offline".to_owned(),
    };
    turn.on(ChatEvent::AnswerEnded(asked, Some(failed)));
    assert!(turn.chat.window_share() > Some(80));
    assert!(turn.log().is_empty(), "the failure stands");
    let asked = turn.asked();
    turn.on(text(asked, "whole"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    assert_eq!(turn.log(), ["say"], "it is told with the next answer");
}

#[test]
fn what_was_counted_before_something_was_replaced_counts_no_longer() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.say(Payload::user(Message::person("12345678")));
    turn.say(answer("1234", Some(1_000)));
    let tokens = |turn: &Turn| context_tokens(&turn.world.log, &crate::chat::testing::route());
    // Each message takes 8 beside its text, which takes 4, 7 and 2.
    assert_eq!(tokens(&turn), 1_000 + 12);
    turn.say(Payload::user(Message::person("12345678")));
    assert_eq!(tokens(&turn), 1_012 + 15);
    let sum = Payload::user(Message::new(
        Role::User,
        Source::checkpoint("c"),
        vec![Block::text("sum!")],
    ));
    let seq = crate::session::Seq;
    let replaced = NewEvent::replacing(Millis(1), sum, (seq(0), seq(0)), vec![seq(0)]);
    turn.world.log.append(replaced).unwrap();
    assert_eq!(tokens(&turn), 10 + 12 + 15);
    turn.say(answer("1234", Some(500)));
    assert_eq!(tokens(&turn), 500 + 12);
}
