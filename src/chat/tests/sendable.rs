//! Whatever became of an answer, what is sent next is something that servers
//! take: no blank message, and no two of one side in a row.

use serde_json::Value;

use super::*;
use crate::chat::requests;
use crate::model::{Api, Chosen, Delta, FinishReason, ModelError, RequestConfig};

/// What comes of an answer before it ends.
const COMES: [(&str, &str); 5] = [
    ("", ""),
    ("", "only reasoning"),
    (" \n", "and blanks"),
    ("half", ""),
    ("half", "reasoned"),
];

#[derive(Clone, Copy, Debug)]
enum Ends {
    Whole,
    Cancelled,
    Failed,
}

/// The sides of a request's turns, in order; each must say something.
fn sides(body: &Value) -> Vec<String> {
    let turns = ["messages", "input", "contents"];
    let turns = turns.iter().find_map(|key| body.get(key)).unwrap();
    let turns = turns.as_array().unwrap().iter();
    turns
        .map(|turn| {
            assert!(!texts(turn).trim().is_empty(), "{turn}");
            assert!(!turn.to_string().contains("reason"), "{turn}");
            let role = turn["role"].as_str().unwrap();
            let is_model = ["assistant", "model"].contains(&role);
            if is_model { "model" } else { "person" }.to_owned()
        })
        .collect()
}

/// All text within a turn.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(texts).collect(),
        Value::Object(map) => ["content", "parts", "text"]
            .iter()
            .filter_map(|key| map.get(*key))
            .map(texts)
            .collect(),
        _ => String::new(),
    }
}

fn ask(turn: &mut Turn, (says, reasons): (&str, &str), ends: Ends) {
    let asked = asked(&turn.effects);
    turn.on(ChatEvent::Delta(
        asked,
        Delta::Reasoning(reasons.to_owned()),
    ));
    turn.on(text(asked, says));
    match ends {
        Ends::Whole => {
            turn.on(ChatEvent::Delta(asked, Delta::Finished(FinishReason::Stop)));
            turn.on(ChatEvent::AnswerEnded(asked, None));
        }
        Ends::Cancelled => {
            turn.cancel();
        }
        Ends::Failed => {
            let error = ModelError::StreamEnded {
                provider: "own".to_owned(),
                model: "m".to_owned(),
            };
            turn.on(ChatEvent::AnswerEnded(asked, Some(error)));
        }
    }
    turn.log();
}

#[test]
fn whatever_is_left_of_an_answer_the_next_request_can_be_sent() {
    for api in Api::ALL {
        for comes in COMES {
            for ends in [Ends::Whole, Ends::Cancelled, Ends::Failed] {
                let mut turn = Turn::new(ReviewPolicy::Never);
                turn.on(ChatEvent::UseModel(Chosen::from(RequestConfig {
                    api: Some(api),
                    ..RequestConfig::plain("own", "m")
                })));
                turn.send("first");
                turn.log();
                ask(&mut turn, comes, ends);
                turn.on(ChatEvent::Regenerate);
                turn.log();
                ask(&mut turn, comes, ends);
                turn.send("next");
                turn.log();
                let asked = requests(&turn.world.log);
                assert_eq!(asked.len(), 3);
                let is_said = matches!(ends, Ends::Whole) && !comes.0.trim().is_empty();
                for (place, request) in asked.iter().enumerate() {
                    let body: Value = serde_json::from_slice(&request.body().unwrap()).unwrap();
                    let wanted: &[&str] = if place == 2 && is_said {
                        &["person", "model", "person"]
                    } else {
                        &["person"]
                    };
                    assert_eq!(sides(&body), wanted, "{api:?} {comes:?} {ends:?} {place}");
                }
            }
        }
    }
}
