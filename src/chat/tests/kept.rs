//! What is in the log while an answer comes, and what was sent.

use super::*;
use crate::chat::{requests, unfinished};
use crate::model::{Api, Chosen, Delta, ModelError, Options, RequestConfig};
use crate::session::{Header, Message, Millis, NewEvent, Payload, Session};

const DELTA: &str = "log assistant/delta";

fn deltas(turn: &Turn) -> Vec<serde_json::Value> {
    let events = turn.world.log.events().iter();
    events
        .filter_map(|event| match &event.payload {
            Payload::LogOnly { kind, data } if kind == "assistant/delta" => Some(data.clone()),
            _ => None,
        })
        .collect()
}

#[test]
fn what_came_is_written_when_it_is_time_and_each_piece_once() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    assert!(turn.on(ChatEvent::Keep(asked)).is_empty(), "nothing came");
    turn.on(text(asked, "two "));
    turn.on(ChatEvent::Delta(asked, Delta::Reasoning("hm".to_owned())));
    assert_eq!(turn.on(ChatEvent::Keep(asked)), [DELTA]);
    turn.log();
    assert!(turn.on(ChatEvent::Keep(asked)).is_empty(), "nothing new");
    turn.on(text(asked, "things"));
    assert_eq!(turn.on(ChatEvent::Keep(asked)), [DELTA]);
    turn.log();
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
    let deltas = deltas(&turn);
    assert_eq!(deltas[0]["text"], "two ");
    assert_eq!(deltas[0]["reasoning"], "hm");
    assert_eq!(deltas[1]["text"], "things");
    assert_eq!(deltas[1].get("reasoning"), None);
    assert_eq!(turn.messages(), ["hello", "two things"]);
    assert_eq!(turn.chat.session().events(), turn.world.log.events());
}

#[test]
fn one_write_is_under_way_at_a_time_and_the_answer_may_end_before_it() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.on(text(asked, "two "));
    turn.on(ChatEvent::Keep(asked));
    let written = turn.world.log(&turn.effects);
    turn.on(text(asked, "things"));
    assert!(
        turn.on(ChatEvent::Keep(asked)).is_empty(),
        "one is under way"
    );
    turn.on(ChatEvent::AnswerEnded(asked, None));
    let end = turn.world.log(&turn.effects);
    assert!(
        turn.on(written).is_empty(),
        "the whole answer is on its way"
    );
    turn.on(end);
    assert_eq!(turn.messages(), ["hello", "two things"]);
    assert_eq!(turn.chat.session().events(), turn.world.log.events());
    assert!(!turn.chat.is_busy());
}

#[test]
fn what_came_while_a_write_was_under_way_is_written_right_after_it() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.on(text(asked, "two "));
    turn.on(ChatEvent::Keep(asked));
    let written = turn.world.log(&turn.effects);
    turn.on(text(asked, "things"));
    turn.on(ChatEvent::Keep(asked));
    // The model says nothing more for a while.
    assert_eq!(turn.on(written), [DELTA]);
    turn.log();
    assert_eq!(deltas(&turn)[1]["text"], "things");
}

#[test]
fn pieces_that_cannot_be_written_are_told_once_and_lose_nothing() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.on(text(asked, "two "));
    turn.on(ChatEvent::Keep(asked));
    assert_eq!(turn.fail_log(), ["say STORE_FULL"]);
    turn.on(text(asked, "things"));
    turn.on(ChatEvent::Keep(asked));
    assert!(turn.fail_log().is_empty(), "it was told");
    turn.on(ChatEvent::Keep(asked));
    turn.log();
    assert_eq!(deltas(&turn)[0]["text"], "two things");
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
    assert_eq!(turn.messages(), ["hello", "two things"]);
}

#[test]
fn a_turn_that_a_crash_left_open_is_ended_with_what_had_come() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.on(text(asked, "two "));
    turn.on(ChatEvent::Keep(asked));
    turn.log();
    turn.on(text(asked, "thin"));
    turn.on(ChatEvent::Keep(asked));
    turn.log();

    let mut left = turn.world.log.clone();
    let end = unfinished(&left);
    let kinds: Vec<_> = end.iter().map(Payload::type_name).collect();
    assert_eq!(kinds, ["assistant/attempt", "turn/end"]);
    let Payload::LogOnly { data, .. } = &end[0] else {
        panic!("an attempt is never on the surface");
    };
    assert_eq!(data["text"], "two thin");
    assert_eq!(data["interrupted"], true);
    assert_eq!(data["model"], "offline");
    for payload in end {
        left.append(NewEvent::plain(Millis(6), payload)).unwrap();
    }
    assert!(unfinished(&left).is_empty(), "once is enough");
}

#[test]
fn a_turn_without_a_word_is_ended_without_an_attempt() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.asked();
    let end = unfinished(&turn.world.log);
    let kinds: Vec<_> = end.iter().map(Payload::type_name).collect();
    assert_eq!(kinds, ["turn/end"]);
    let empty = Session::new(Header::new("new", Millis(0), None));
    assert!(unfinished(&empty).is_empty());
}

/// The log without its last event, as a torn last line leaves it.
fn without_last(log: &Session) -> Session {
    let mut log = log.clone();
    let last = log.events().last().unwrap().seq;
    log.rewind_to(last);
    log
}

fn ends(payload: &Payload) -> &serde_json::Value {
    let Payload::LogOnly { kind, data } = payload else {
        panic!("what ends a turn is log-only");
    };
    assert_eq!(kind, "turn/end");
    data
}

#[test]
fn a_turn_that_lost_nothing_but_its_end_is_ended_with_its_answer() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.on(text(asked, "two "));
    turn.on(ChatEvent::Keep(asked));
    turn.log();
    turn.on(text(asked, "things"));
    turn.on(ChatEvent::Delta(
        asked,
        Delta::Finished(crate::model::FinishReason::Length),
    ));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
    let left = without_last(&turn.world.log);
    let end = unfinished(&left);
    assert_eq!(end.len(), 1, "the answer is no attempt: {end:?}");
    let events = turn.world.log.events();
    assert_eq!(end[0], events.last().unwrap().payload);
    assert_eq!(ends(&end[0])["outcome"], "complete");
    let said: Vec<_> = left.derive_messages().map(Message::text).collect();
    assert_eq!(said, ["hello", "two things"]);
}

#[test]
fn an_attempt_that_is_there_is_not_made_twice() {
    for (error, outcome) in [(false, "interrupted"), (true, "failed")] {
        let mut turn = Turn::new(ReviewPolicy::Never);
        let asked = turn.asked();
        turn.on(text(asked, "two "));
        turn.on(ChatEvent::Keep(asked));
        turn.log();
        if error {
            let error = ModelError::StreamEnded {
                provider: "own".to_owned(),
                model: "b".to_owned(),
            };
            turn.on(ChatEvent::AnswerEnded(asked, Some(error)));
        } else {
            turn.cancel();
        }
        turn.log();
        let end = unfinished(&without_last(&turn.world.log));
        assert_eq!(end.len(), 1, "{end:?}");
        assert_eq!(ends(&end[0])["outcome"], outcome);
        assert_eq!(end[0], turn.world.log.events().last().unwrap().payload);
    }
}

fn server(model: &str, max_output: u64) -> Chosen {
    Chosen::from(RequestConfig {
        api: Some(Api::Anthropic),
        options: Options {
            max_output: Some(max_output),
            ..Options::default()
        },
        ..RequestConfig::plain("own", model)
    })
}

/// What was asked, as the effects had it.
fn bodies(turn: &Turn) -> Vec<Vec<u8>> {
    let asked = turn.effects.iter().filter_map(|effect| match effect {
        Effect::Ask(_, header, surface) => header.request(surface).body(),
        _ => None,
    });
    asked.collect()
}

#[test]
fn what_was_sent_can_be_made_again_from_the_log_alone() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let mut sent = Vec::new();
    for (model, says) in [(server("a", 7), "one"), (server("b", 9), "two")] {
        turn.on(ChatEvent::UseModel(model));
        turn.send(says);
        turn.log();
        sent.extend(bodies(&turn));
        let asked = asked(&turn.effects);
        turn.on(text(asked, "half"));
        // The first is called off, the second fails.
        if says == "one" {
            turn.cancel();
        } else {
            let error = ModelError::StreamEnded {
                provider: "own".to_owned(),
                model: "b".to_owned(),
            };
            turn.on(ChatEvent::AnswerEnded(asked, Some(error)));
        }
        turn.log();
    }
    assert_eq!(sent.len(), 2);
    assert_ne!(sent[0], sent[1]);
    let again = requests(&turn.world.log);
    let again: Vec<_> = again.iter().map(|r| r.body().unwrap()).collect();
    assert_eq!(again, sent);
}

#[test]
fn a_citation_is_prepared_anew_for_a_model_that_was_chosen_since() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("see @flaky");
    turn.prepare();
    assert_eq!(turn.view(), "review");
    turn.on(ChatEvent::UseModel(server("b", 9)));
    turn.on(ChatEvent::Confirm);
    let checked = turn.world.recheck(&turn.effects);
    assert_eq!(turn.on(checked), ["prepare"]);
    turn.prepare();
    assert_eq!(turn.view(), "review", "shown once more");
    turn.on(ChatEvent::Confirm);
    let checked = turn.world.recheck(&turn.effects);
    turn.on(checked);
    turn.log();
    assert_eq!(requests(&turn.world.log)[0].config.model, "b");
}
