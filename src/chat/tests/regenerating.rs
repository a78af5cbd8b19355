//! The last answer, asked for once more.

use super::*;
use crate::chat::requests;
use crate::model::{Api, Chosen, ModelError, RequestConfig};
use crate::reference::projection::capture;
use crate::session::SurfaceOp;

const AGAIN: &str = "log turn/start request/header";
const ANSWER: &str = "log assistant/message turn/end";
const PARTIAL: &str = "log assistant/attempt turn/end";

fn answer(turn: &mut Turn, says: &str) {
    let asked = asked(&turn.effects);
    turn.on(text(asked, says));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
}

fn conversation() -> Turn {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.asked();
    answer(&mut turn, "first");
    turn
}

fn again(turn: &mut Turn) -> crate::chat::Generation {
    assert_eq!(turn.on(ChatEvent::Regenerate), [AGAIN]);
    assert_eq!(turn.view(), "sending");
    turn.log();
    asked(&turn.effects)
}

#[test]
fn a_new_answer_takes_the_place_of_the_old_one() {
    let mut turn = conversation();
    let old = turn.world.log.surface().nth(1).unwrap().seq;
    let asked = again(&mut turn);
    turn.on(text(asked, "second"));
    assert_eq!(turn.messages(), ["hello", "first"], "it is not whole yet");
    assert_eq!(turn.on(ChatEvent::AnswerEnded(asked, None)), [ANSWER]);
    turn.log();
    assert_eq!(turn.messages(), ["hello", "second"]);
    let new = turn.world.log.surface().nth(1).unwrap();
    let replaced = SurfaceOp::Replace {
        start: old,
        end: old,
    };
    assert_eq!(new.surface_op, Some(replaced));
    assert_eq!(new.source_event_seqs, Some(vec![old]));
    assert_eq!(turn.chat.session().events(), turn.world.log.events());
    let cited = capture(&turn.world.log).conversation;
    let cited: Vec<_> = cited.iter().map(|entry| entry.text.to_string()).collect();
    assert_eq!(cited, ["hello", "second"]);
}

#[test]
fn called_off_or_failed_the_old_answer_stays() {
    let mut turn = conversation();
    let asked = again(&mut turn);
    turn.on(text(asked, "half"));
    assert_eq!(turn.cancel(), ["stop", PARTIAL]);
    turn.log();
    assert_eq!(turn.messages(), ["hello", "first"]);
    let asked = again(&mut turn);
    turn.on(text(asked, "half"));
    let error = ModelError::StreamEnded {
        provider: "own".to_owned(),
        model: "b".to_owned(),
    };
    turn.on(ChatEvent::AnswerEnded(asked, Some(error)));
    turn.log();
    assert_eq!(turn.messages(), ["hello", "first"]);
    let asked = again(&mut turn);
    turn.on(text(asked, "third"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
    assert_eq!(turn.messages(), ["hello", "third"]);
}

#[test]
fn called_off_while_it_is_written_no_model_is_asked() {
    let mut turn = conversation();
    turn.on(ChatEvent::Regenerate);
    let written = turn.world.log(&turn.effects);
    assert!(turn.cancel().is_empty());
    assert_eq!(turn.on(written), ["log turn/end"]);
    turn.log();
    assert_eq!(turn.messages(), ["hello", "first"]);
    assert!(!turn.chat.is_busy());
}

#[test]
fn a_request_that_cannot_be_written_changes_nothing() {
    let mut turn = conversation();
    turn.on(ChatEvent::Regenerate);
    assert_eq!(turn.fail_log(), ["say STORE_FULL"]);
    assert_eq!(turn.view(), "none");
    assert_eq!(turn.messages(), ["hello", "first"]);
}

#[test]
fn an_answer_that_never_came_is_asked_for_without_a_second_message() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.asked();
    turn.cancel();
    turn.log();
    let asked = again(&mut turn);
    turn.on(text(asked, "hi"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
    assert_eq!(turn.messages(), ["hello", "hi"]);
}

#[test]
fn an_answer_that_cannot_be_written_takes_the_old_ones_place_later() {
    let mut turn = conversation();
    let asked = again(&mut turn);
    turn.on(text(asked, "second"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    assert_eq!(turn.fail_log(), ["say STORE_FULL"]);
    assert_eq!(turn.on(ChatEvent::Regenerate), ["say"]);
    turn.send("next");
    turn.log();
    assert_eq!(turn.messages(), ["hello", "second", "next"]);
}

#[test]
fn there_is_nothing_to_answer_again_before_the_first_message() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    assert_eq!(turn.on(ChatEvent::Regenerate), ["say"]);
    turn.send("hello");
    let written = turn.world.log(&turn.effects);
    assert_eq!(turn.on(ChatEvent::Regenerate), ["say"], "it is on its way");
    turn.on(written);
    assert_eq!(turn.on(ChatEvent::Regenerate), ["say"], "it is answered");
}

#[test]
fn what_was_asked_again_can_be_made_again_from_the_log() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.on(ChatEvent::UseModel(Chosen::from(RequestConfig {
        api: Some(Api::Anthropic),
        ..RequestConfig::plain("own", "a")
    })));
    let mut sent = Vec::new();
    let mut note = |turn: &Turn| {
        for effect in &turn.effects {
            if let Effect::Ask(_, header, surface) = effect {
                sent.push(header.request(surface).body().unwrap());
            }
        }
    };
    turn.asked();
    note(&turn);
    answer(&mut turn, "first");
    for says in ["second", "third"] {
        again(&mut turn);
        note(&turn);
        answer(&mut turn, says);
    }
    turn.send("next");
    turn.log();
    note(&turn);
    assert_eq!(sent[0], sent[1], "the old answer is no part of it");
    assert_eq!(sent[1], sent[2]);
    let again = requests(&turn.world.log);
    let again: Vec<_> = again.iter().map(|r| r.body().unwrap()).collect();
    assert_eq!(again, sent);
}
