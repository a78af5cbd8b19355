//! The way of an answer in.

use super::*;
use crate::model::{Delta, FinishReason, ModelError, Usage, Waiting};
use crate::reference::projection::capture;
use crate::session::Payload;

const ANSWER: &str = "log assistant/message turn/end";
const PARTIAL: &str = "log assistant/attempt turn/end";

fn broke_off() -> ModelError {
    ModelError::StreamEnded {
        provider: "offline".to_owned(),
        model: "offline".to_owned(),
    }
}

/// The data of the last event of a type.
fn data(turn: &Turn, kind: &str) -> serde_json::Value {
    let events = turn.world.log.events().iter().rev();
    let found = events
        .map(|event| &event.payload)
        .find_map(|payload| match payload {
            Payload::LogOnly { kind: k, data } if k == kind => Some(data.clone()),
            _ => None,
        });
    found.unwrap()
}

#[test]
fn a_model_that_is_asked_again_later_says_so() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    let waiting = Delta::Waiting(Waiting {
        attempt: 1,
        wait: std::time::Duration::from_millis(1_500),
        code: "MODEL_RATE_LIMITED",
        why: "too many requests".to_owned(),
    });
    let effects = turn.chat.update(ChatEvent::Delta(asked, waiting));
    let [Effect::Say(crate::chat::Notice::Waiting(told))] = &*effects else {
        panic!("{effects:?}");
    };
    assert_eq!(told, "too many requests; asking again in 2 s (Esc stops)");
    assert!(turn.chat.is_waiting());
    turn.on(ChatEvent::Delta(asked, Delta::Reasoning("hm".to_owned())));
    assert!(!turn.chat.is_waiting(), "the answer begins");
}

#[test]
fn an_answer_streams_in_and_is_saved() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    assert_eq!(turn.chat.partial_answer(), Some(""));
    turn.on(text(asked, "two "));
    turn.on(ChatEvent::Delta(asked, Delta::Reasoning("hm".to_owned())));
    turn.on(text(asked, "things"));
    assert_eq!(turn.chat.partial_answer(), Some("two things"));
    let usage = Usage {
        input_tokens: 3,
        output_tokens: 4,
    };
    turn.on(ChatEvent::Delta(asked, Delta::Usage(usage)));
    turn.on(ChatEvent::Delta(asked, Delta::Finished(FinishReason::Stop)));
    assert_eq!(turn.on(ChatEvent::AnswerEnded(asked, None)), [ANSWER]);
    assert_eq!(turn.chat.partial_answer(), Some("two things"), "no flicker");
    assert!(turn.log().is_empty());
    assert_eq!(turn.chat.partial_answer(), None);
    assert_eq!(turn.messages(), ["hello", "two things"]);
    let event = turn.world.log.surface().nth(1).unwrap();
    let Payload::Message {
        envelope, message, ..
    } = &event.payload
    else {
        panic!("it is a message");
    };
    assert_eq!(envelope["usage"]["inputTokens"], 3);
    assert_eq!(message.source.rest["model"], "offline");
    assert_eq!(data(&turn, "turn/end")["outcome"], "complete");
}

#[test]
fn an_answer_cut_at_the_models_limit_is_kept_whole_and_says_so() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.on(text(asked, "one, two, thr"));
    turn.on(ChatEvent::Delta(
        asked,
        Delta::Finished(FinishReason::Length),
    ));
    assert_eq!(turn.on(ChatEvent::AnswerEnded(asked, None)), [ANSWER]);
    turn.log();
    assert_eq!(turn.messages(), ["hello", "one, two, thr"]);
    let event = turn.world.log.surface().nth(1).unwrap();
    let Payload::Message { envelope, .. } = &event.payload else {
        panic!("it is a message");
    };
    assert_eq!(envelope["finish"], "length");
    assert_eq!(data(&turn, "turn/end")["outcome"], "complete");
    assert_eq!(data(&turn, "turn/end")["finish"], "length");
}

#[test]
fn esc_keeps_what_came_marked_as_interrupted_and_uncitable() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.on(text(asked, "half an ans"));
    assert_eq!(turn.cancel(), ["stop", PARTIAL]);
    turn.log();
    assert!(turn.on(text(asked, "wer")).is_empty());
    assert!(turn.on(ChatEvent::AnswerEnded(asked, None)).is_empty());
    let attempt = data(&turn, "assistant/attempt");
    assert_eq!(attempt["text"], "half an ans");
    assert_eq!(attempt["interrupted"], true);
    assert_eq!(
        (&attempt["provider"], &attempt["model"]),
        (&route().provider.into(), &route().model.into()),
        "whose it is"
    );
    assert_eq!(data(&turn, "turn/end")["outcome"], "interrupted");
    let cited = capture(&turn.world.log).conversation;
    assert_eq!(cited.len(), 1);
    assert_eq!(&*cited[0].text, "hello");
}

#[test]
fn esc_before_anything_came_ends_the_turn() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.asked();
    assert_eq!(turn.cancel(), ["stop", "log turn/end"]);
    assert!(turn.cancel().is_empty(), "it is being written");
}

#[test]
fn an_answer_that_breaks_off_is_kept_as_an_attempt_with_its_error() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.on(text(asked, "half"));
    assert_eq!(
        turn.on(ChatEvent::AnswerEnded(asked, Some(broke_off()))),
        ["say MODEL_STREAM_ENDED", PARTIAL]
    );
    turn.log();
    let attempt = data(&turn, "assistant/attempt");
    assert_eq!(attempt["error"]["code"], "MODEL_STREAM_ENDED");
    assert_eq!(attempt["interrupted"], true);
    assert_eq!(data(&turn, "turn/end")["outcome"], "failed");
    assert_eq!(turn.messages(), ["hello"]);
}

#[test]
fn an_answer_of_reasoning_alone_is_no_message() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.on(ChatEvent::Delta(asked, Delta::Reasoning("hm".to_owned())));
    assert_eq!(
        turn.on(ChatEvent::AnswerEnded(asked, None)),
        ["say", PARTIAL]
    );
    turn.log();
    assert_eq!(data(&turn, "assistant/attempt")["reasoning"], "hm");
    assert_eq!(turn.messages(), ["hello"]);
}

#[test]
fn an_answer_that_cannot_be_saved_stays_in_sight_and_goes_with_the_next_message() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.on(text(asked, "an answer"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    assert_eq!(turn.fail_log(), ["say STORE_FULL"]);
    assert_eq!(turn.chat.unsaved_answer(), Some("an answer"));
    assert!(!turn.chat.is_busy());

    turn.send("next");
    assert_eq!(turn.fail_log(), ["restore next", "say STORE_FULL"]);
    assert_eq!(turn.chat.unsaved_answer(), Some("an answer"));

    assert_eq!(
        turn.send("next"),
        [
            "clear",
            "log assistant/message turn/end turn/start user/message request/header"
        ]
    );
    assert_eq!(turn.log(), ["ask 3"]);
    assert_eq!(turn.chat.unsaved_answer(), None);
    assert_eq!(turn.messages(), ["hello", "an answer", "next"]);
}

#[test]
fn an_answer_that_cannot_be_saved_is_tried_again_on_esc() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.on(text(asked, "half"));
    turn.cancel();
    turn.fail_log();
    assert_eq!(turn.cancel(), [PARTIAL]);
    assert_eq!(turn.fail_log(), ["say STORE_FULL"]);
    assert_eq!(turn.chat.unsaved_answer(), Some("half"));
    turn.cancel();
    turn.log();
    assert_eq!(turn.chat.unsaved_answer(), None);
    assert_eq!(data(&turn, "assistant/attempt")["text"], "half");
    assert!(turn.cancel().is_empty());
}

#[test]
fn a_message_waits_for_the_answer_under_way_and_then_goes() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    assert_eq!(turn.send("next"), ["clear"]);
    assert_eq!(turn.view(), "waiting");
    assert_eq!(turn.send("and another"), ["say"]);
    turn.on(text(asked, "hi"));
    assert_eq!(turn.on(ChatEvent::AnswerEnded(asked, None)), [ANSWER]);
    assert_eq!(turn.view(), "waiting");
    assert_eq!(turn.log(), ["log turn/start user/message request/header"]);
    assert_eq!(turn.log(), ["ask 3"]);
}

#[test]
fn a_message_that_waited_is_checked_before_it_goes() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    let asked = turn.asked();
    turn.send("see @long");
    turn.prepare();
    assert_eq!(turn.view(), "review", "the answer goes on meanwhile");
    assert_eq!(turn.confirm(), ["clear"]);
    turn.world.sources.grow("long", "more");
    turn.on(text(asked, "hi"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    assert_eq!(turn.log(), ["recheck"]);
    assert_eq!(turn.recheck(), ["discard 1", "prepare"]);
}

#[test]
fn a_message_that_waited_goes_also_when_the_answer_cannot_be_saved() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.send("next");
    turn.on(text(asked, "hi"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    assert_eq!(
        turn.fail_log(),
        [
            "say STORE_FULL",
            "log assistant/message turn/end turn/start user/message request/header"
        ]
    );
    turn.log();
    assert_eq!(turn.messages(), ["hello", "hi", "next"]);
}

#[test]
fn a_message_that_waited_comes_back_when_the_answer_failed() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    let asked = turn.asked();
    turn.send("see @long");
    turn.prepare();
    turn.confirm();
    turn.on(text(asked, "half"));
    let back = format!("restore {}", draft("see @long").to_text());
    assert_eq!(
        turn.on(ChatEvent::AnswerEnded(asked, Some(broke_off()))),
        ["say MODEL_STREAM_ENDED", &*back, "discard 1", PARTIAL]
    );
    assert!(turn.log().is_empty(), "nothing is asked in its stead");
    assert_eq!(turn.view(), "none");
    assert_eq!(turn.messages(), ["hello"]);
}

#[test]
fn a_message_that_waited_comes_back_when_there_was_no_answer() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.send("next");
    assert_eq!(
        turn.on(ChatEvent::AnswerEnded(asked, None)),
        ["say", "restore next", "log turn/end"]
    );
    turn.log();
    assert_eq!(data(&turn, "turn/end")["error"]["code"], "NO_ANSWER");
}

#[test]
fn the_end_of_a_turn_tells_an_error_from_a_person() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.on(ChatEvent::AnswerEnded(asked, Some(broke_off())));
    turn.log();
    assert_eq!(data(&turn, "turn/end")["outcome"], "failed");
    let error = &data(&turn, "turn/end")["error"];
    assert_eq!(error["code"], "MODEL_STREAM_ENDED");
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.asked();
    turn.cancel();
    turn.log();
    assert_eq!(data(&turn, "turn/end")["outcome"], "interrupted");
    assert!(data(&turn, "turn/end").get("error").is_none());
}

#[test]
fn a_second_message_behind_one_that_waits_stays_in_the_composer_and_that_is_said() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.asked();
    turn.send("next");
    turn.send("and another");
    let [Effect::Say(crate::chat::Notice::Info(told))] = &*turn.effects else {
        panic!("{:?}", turn.effects);
    };
    assert_eq!(
        told,
        "another message waits; Esc stops the answer and takes it back"
    );
    assert_eq!(turn.cancel()[0], "restore next");
}

#[test]
fn esc_takes_a_waiting_message_back_and_stops_the_answer() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    let asked = turn.asked();
    turn.on(text(asked, "half"));
    turn.send("see @long");
    turn.prepare();
    turn.confirm();
    let back = format!("restore {}", draft("see @long").to_text());
    assert_eq!(turn.cancel(), [&*back, "discard 1", "stop", PARTIAL]);
    assert!(turn.world.sources.saved().is_empty());
}

#[test]
fn esc_in_a_review_leaves_the_answer_under_way_alone() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    let asked = turn.asked();
    turn.send("see @flaky");
    turn.prepare();
    assert!(turn.cancel().is_empty());
    turn.on(text(asked, "still coming"));
    assert_eq!(turn.chat.partial_answer(), Some("still coming"));
}
