//! What is said of a turn that got no answer.

use super::*;

/// A question that a model was asked, and what came of it.
fn asked(then: impl IntoIterator<Item = Payload>) -> Session {
    let begun = [
        Payload::log_only(TURN_START, json!({"turn": 1})),
        you("why?"),
        Payload::log_only(REQUEST_HEADER, json!({"turn": 1})),
    ];
    session(begun.into_iter().chain(then))
}

#[test]
fn a_turn_without_an_answer_says_that_none_was_kept() {
    let shown = |session: &Session, streaming| {
        draw((60, 3), session, streaming, &mut TranscriptState::new())
    };
    let end = Payload::log_only(TURN_END, json!({"turn": 1}));
    for session in [asked([]), asked([end])] {
        assert!(shown(&session, None).contains("no answer was kept"));
    }
    for (what, session, streaming) in [
        ("it is under way", asked([]), Some("")),
        (
            "an answer is there",
            asked([model(vec![Block::text("so")])]),
            None,
        ),
    ] {
        let shown = shown(&session, streaming);
        assert!(!shown.contains("no answer was kept"), "{what}:\n{shown}");
    }
}

#[test]
fn what_an_error_ended_is_told_from_what_a_person_stopped() {
    let shown = |then: Vec<Payload>| {
        let mut state = TranscriptState::new();
        draw((60, 3), &asked(then), None, &mut state)
    };
    let error = json!({"code": "MODEL_NETWORK"});
    let attempt = |error: Option<&serde_json::Value>| {
        let mut data = json!({"text": "half", "interrupted": true});
        if let Some(error) = error {
            data["error"] = error.clone();
        }
        Payload::log_only("assistant/attempt", data)
    };
    let end = Payload::log_only(TURN_END, json!({"turn": 1, "error": error}));
    let failed = shown(vec![attempt(Some(&error)), end.clone()]);
    assert!(
        failed.ends_with("broke off [MODEL_NETWORK] · not sent on"),
        "{failed}"
    );
    let stopped = shown(vec![attempt(None)]);
    assert!(stopped.ends_with("interrupted · not sent on"), "{stopped}");
    let none = shown(vec![end]);
    assert!(
        none.trim_end()
            .ends_with("failed [MODEL_NETWORK] · no answer came"),
        "{none}"
    );
}

#[test]
fn a_summary_that_is_asked_for_leaves_a_failure_told_as_one() {
    let error = json!({"code": "MODEL_NETWORK"});
    let session = asked([
        Payload::log_only(TURN_END, json!({"turn": 1, "error": error})),
        Payload::log_only(REQUEST_HEADER, json!({"turn": 1, "purpose": "summary"})),
    ]);
    let shown = draw((60, 3), &session, None, &mut TranscriptState::new());
    assert!(shown.contains("failed [MODEL_NETWORK]"), "{shown}");
}

#[test]
fn a_turn_that_a_model_ended_without_an_answer_broke_off_nowhere() {
    let error = json!({"code": "NO_ANSWER"});
    let end = Payload::log_only(TURN_END, json!({"turn": 1, "error": error}));
    let thought = json!({
        "provider": "lab", "text": "", "reasoning": "hm", "interrupted": true, "error": error
    });
    let thought = Payload::log_only("assistant/attempt", thought);
    for (then, last) in [
        (
            vec![thought, end.clone()],
            "lab      ended its turn without an answer · not sent on",
        ),
        (vec![end], "the model ended its turn without an answer"),
    ] {
        let shown = draw((64, 3), &asked(then), None, &mut TranscriptState::new());
        assert!(shown.trim_end().ends_with(last), "{shown}");
    }
}

#[test]
fn the_next_question_stands_below_the_one_that_got_no_answer() {
    let mut state = TranscriptState::new();
    let mut session = asked([]);
    draw((60, 6), &session, None, &mut state);
    for payload in [
        Payload::log_only(TURN_START, json!({"turn": 2})),
        you("and now?"),
        Payload::log_only(REQUEST_HEADER, json!({"turn": 2})),
    ] {
        session.append(NewEvent::plain(Millis(0), payload)).unwrap();
    }
    insta::assert_snapshot!(draw((60, 6), &session, Some("So"), &mut state), @r###"
You      why?
         interrupted · no answer was kept
You      and now?
offline  So
         ⠋ streaming
"###);
}
