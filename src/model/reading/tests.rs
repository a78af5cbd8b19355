use proptest::prelude::*;

use super::*;

/// What a response tells that comes in these pieces, text joined with text.
fn read<'a>(api: Api, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let mut reading = Reading::new(api);
    let mut deltas = Vec::new();
    let mut outcome = Ok(());
    for piece in pieces {
        outcome = outcome.and_then(|()| reading.feed(piece, &mut deltas));
    }
    outcome = outcome.and_then(|()| reading.end(&mut deltas));
    told(deltas, outcome)
}

fn told(deltas: Vec<Delta>, outcome: Result<(), Flaw>) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for delta in deltas {
        let next = match delta {
            Delta::Text(text) => format!("text {text}"),
            Delta::Reasoning(text) => format!("reasoning {text}"),
            Delta::Usage(usage) => format!("usage {}+{}", usage.input_tokens, usage.output_tokens),
            Delta::Finished(reason) => reason.as_str().to_owned(),
            Delta::Waiting(_) => unreachable!("a response never waits"),
        };
        let kind = next.split(' ').next().unwrap().to_owned() + " ";
        match told.last_mut() {
            Some(last) if kind != "usage " && last.starts_with(&kind) => {
                last.push_str(next.strip_prefix(&kind).unwrap());
            }
            _ => told.push(next),
        }
    }
    match outcome {
        Ok(()) => {}
        Err(Flaw::Ended) => told.push("ended".to_owned()),
        Err(Flaw::Report(report)) => {
            told.push(format!("{:?}: {}", report.verdict, report.message));
        }
    }
    told
}

/// Data as a stream of the format has it.
fn stream(api: Api, events: &[&str]) -> String {
    let wrap = |data: &&str| match api {
        Api::Ollama => format!("{data}\n"),
        _ => format!("data: {data}\n\n"),
    };
    events.iter().map(wrap).collect()
}

fn events(api: Api, events: &[&str]) -> Vec<String> {
    read(api, [stream(api, events).as_bytes()])
}

/// An answer of each format: reasoning, text with an odd character cut in
/// two, usage, the end.
fn samples() -> [(Api, Vec<&'static str>, Vec<&'static str>); 5] {
    let whole = |usage| vec!["reasoning hm, so", "text h\u{1f642}i\n", usage, "stop"];
    [
        (
            Api::OpenaiChat,
            vec![
                r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
                r#"{"choices":[{"index":0,"delta":{"reasoning_content":"hm, "}}]}"#,
                r#"{"choices":[{"index":0,"delta":{"reasoning":"so"}}]}"#,
                r#"{"choices":[{"index":0,"delta":{"content":"h\ud83d"},"finish_reason":null}]}"#,
                r#"{"choices":[{"index":0,"delta":{"content":"\ude42i\n"}}]}"#,
                r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}"#,
                r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}"#,
                "[DONE]",
            ],
            whole("usage 5+7"),
        ),
        (
            Api::OpenaiResponses,
            vec![
                r#"{"type":"response.created","response":{"id":"r"}}"#,
                r#"{"type":"response.reasoning_summary_text.delta","delta":"hm, "}"#,
                r#"{"type":"response.reasoning_text.delta","delta":"so"}"#,
                r#"{"type":"response.output_text.delta","delta":"h\ud83d"}"#,
                r#"{"type":"response.output_text.delta","delta":"\ude42i\n"}"#,
                r#"{"type":"response.output_text.done","text":"h🙂i\n"}"#,
                r#"{"type":"response.completed","response":{"usage":{"input_tokens":5,"output_tokens":7}}}"#,
            ],
            whole("usage 5+7"),
        ),
        (
            Api::Anthropic,
            vec![
                r#"{"type":"message_start","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":1}}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
                r#"{"type":"ping"}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm, so"}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}"#,
                r#"{"type":"content_block_stop","index":0}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"h\ud83d"}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"\ude42i\n"}}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}"#,
                r#"{"type":"message_stop"}"#,
            ],
            [vec!["usage 5+1"], whole("usage 5+7")].concat(),
        ),
        (
            Api::Gemini,
            vec![
                r#"{"candidates":[{"content":{"parts":[{"text":"hm, so","thought":true}],"role":"model"}}]}"#,
                r#"{"candidates":[{"content":{"parts":[{"text":"h\ud83d"},{"text":"\ude42"}]}}]}"#,
                r#"{"candidates":[{"content":{"parts":[{"text":"i\n"}]}}]}"#,
                r#"{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":4,"thoughtsTokenCount":3}}"#,
            ],
            whole("usage 5+7"),
        ),
        (
            Api::Ollama,
            vec![
                r#"{"message":{"role":"assistant","content":"","thinking":"hm, so"},"done":false}"#,
                r#"{"message":{"content":"h\ud83d"},"done":false}"#,
                r#"{"message":{"content":"\ude42i\n"},"done":false}"#,
                r#"{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":5,"eval_count":7}"#,
            ],
            whole("usage 5+7"),
        ),
    ]
}

#[test]
fn an_answer_of_each_format_is_read_whole_wherever_its_bytes_are_cut() {
    for (api, events, expected) in samples() {
        let stream = stream(api, &events);
        let bytes = stream.as_bytes();
        for cut in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(read(api, [head, tail]), expected, "{api:?} at {cut}");
        }
        assert_eq!(read(api, bytes.chunks(1)), expected, "{api:?} by bytes");
    }
}

#[test]
fn an_answer_that_breaks_off_anywhere_before_its_end_is_no_success() {
    for (api, events, expected) in samples() {
        let stream = stream(api, &events);
        let bytes = stream.as_bytes();
        for cut in 0..bytes.len() {
            let told = read(api, [&bytes[..cut]]);
            let last = told.last().unwrap().as_str();
            if last == "stop" {
                let text = told.iter().find(|line| line.starts_with("text"));
                assert_eq!(text.unwrap(), "text h\u{1f642}i\n", "{api:?} at {cut}");
                let rest = std::str::from_utf8(&bytes[cut..]).unwrap();
                let reasons = ["\"stop\"", "end_turn", "\"STOP\"", "response.completed"];
                assert!(
                    !reasons.iter().any(|reason| rest.contains(reason)),
                    "{api:?} at {cut}: the reason had not come"
                );
            } else {
                assert_eq!(last, "ended", "{api:?} at {cut}");
                let so_far = &told[..told.len() - 1];
                for (line, whole) in so_far.iter().zip(&expected) {
                    assert!(whole.starts_with(line), "{api:?} at {cut}: {line:?}");
                }
            }
        }
    }
}

#[test]
fn errors_within_an_answer_are_told_behind_the_text_before_them() {
    let rows: [(Api, &[&str], &str); 7] = [
        (
            Api::OpenaiChat,
            &[
                r#"{"error":{"code":502,"message":"upstream"},"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}"#,
            ],
            "Overloaded: upstream",
        ),
        (
            Api::OpenaiChat,
            &[r#"{"object":"error","message":"boom","type":"server_error","code":null}"#],
            "Overloaded: boom",
        ),
        (
            Api::OpenaiResponses,
            &[r#"{"type":"error","code":"rate_limit_exceeded","message":"slow down"}"#],
            "RateLimited: slow down",
        ),
        (
            Api::OpenaiResponses,
            &[
                r#"{"type":"response.failed","response":{"error":{"code":"server_error","message":"boom"}}}"#,
            ],
            "Overloaded: boom",
        ),
        (
            Api::Anthropic,
            &[r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#],
            "Overloaded: Overloaded",
        ),
        (
            Api::Gemini,
            &[r#"{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}"#],
            "Overloaded: busy",
        ),
        (
            Api::Ollama,
            &[r#"{"error":"out of memory"}"#],
            "BrokeOff: out of memory",
        ),
    ];
    for (api, error, expected) in rows {
        let text = samples().into_iter().find(|(a, ..)| *a == api).unwrap().1;
        let until = text.len() - if api == Api::Anthropic { 2 } else { 1 };
        let cut = if api == Api::OpenaiChat {
            until - 2
        } else {
            until
        };
        let all = [&text[..cut], error, &["never read"]].concat();
        let told = events(api, &all);
        assert!(told.contains(&"text h\u{1f642}i\n".to_owned()), "{api:?}");
        assert_eq!(told.last().unwrap(), expected, "{api:?}");
    }
}

#[test]
fn an_error_without_a_reason_is_of_the_request_only_before_the_answer_begins() {
    for (before, verdict) in [
        (None, "Rejected: boom"),
        (
            Some(r#"{"message":{"content":""},"done":false}"#),
            "Rejected: boom",
        ),
        (
            Some(r#"{"message":{"thinking":"hm"},"done":false}"#),
            "BrokeOff: boom",
        ),
        (
            Some(r#"{"message":{"content":"so"},"done":false}"#),
            "BrokeOff: boom",
        ),
    ] {
        let error = [r#"{"error":"boom"}"#];
        let all = [before.as_slice(), &error].concat();
        assert_eq!(
            events(Api::Ollama, &all).last().unwrap(),
            verdict,
            "{before:?}"
        );
    }
}

#[test]
fn an_answer_that_reaches_its_limit_says_so() {
    for (api, last) in [
        (
            Api::OpenaiChat,
            r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#,
        ),
        (
            Api::OpenaiResponses,
            r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}"#,
        ),
        (
            Api::Gemini,
            r#"{"candidates":[{"finishReason":"MAX_TOKENS"}]}"#,
        ),
        (Api::Ollama, r#"{"done":true,"done_reason":"length"}"#),
    ] {
        assert_eq!(events(api, &[last]), ["length"], "{api:?}");
    }
    let cut = r#"{"type":"response.completed","response":{"status":"incomplete"}}"#;
    assert_eq!(events(Api::OpenaiResponses, &[cut]), ["length"]);
    let limit = r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#;
    assert_eq!(
        events(Api::Anthropic, &[limit, r#"{"type":"message_stop"}"#]),
        ["length"]
    );
}

#[test]
fn a_refusal_is_an_error_and_no_answer() {
    let rows: [(Api, &[&str], &str); 7] = [
        (
            Api::OpenaiChat,
            &[r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#],
            "Refused: its content filter ended the answer",
        ),
        (
            Api::OpenaiChat,
            &[
                r#"{"choices":[{"delta":{"refusal":"I "}}]}"#,
                r#"{"choices":[{"delta":{"refusal":"can't"},"finish_reason":"stop"}]}"#,
                "[DONE]",
            ],
            "Refused: I can't",
        ),
        (
            Api::OpenaiResponses,
            &[
                r#"{"type":"response.refusal.delta","delta":"no"}"#,
                r#"{"type":"response.completed","response":{}}"#,
            ],
            "Refused: no",
        ),
        (
            Api::OpenaiResponses,
            &[
                r#"{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}"#,
            ],
            "Refused: its content filter ended the answer",
        ),
        (
            Api::Anthropic,
            &[r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#],
            "Refused: it refuses to go on",
        ),
        (
            Api::Gemini,
            &[r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#],
            "Refused: the request is blocked: PROHIBITED_CONTENT",
        ),
        (
            Api::Gemini,
            &[r#"{"candidates":[{"finishReason":"SAFETY"}]}"#],
            "Refused: it ended the answer: SAFETY",
        ),
    ];
    for (api, stream, expected) in rows {
        assert_eq!(events(api, stream), [expected], "{api:?}");
    }
}

#[test]
fn a_last_word_without_a_reason_is_no_success() {
    assert_eq!(events(Api::OpenaiChat, &["[DONE]"]), ["ended"]);
    assert_eq!(
        events(Api::Anthropic, &[r#"{"type":"message_stop"}"#]),
        ["ended"]
    );
    assert_eq!(
        events(
            Api::OpenaiChat,
            &[r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#]
        ),
        [r#"Garbage: its answer ended with "tool_calls""#]
    );
}

#[test]
fn what_comes_behind_the_end_does_not_count() {
    let late = r#"{"message":{"content":"late"},"done":false}"#;
    let end = r#"{"message":{"content":"a"},"done":true}"#;
    assert_eq!(
        events(Api::Ollama, &[end, late, "garbage"]),
        ["text a", "stop"]
    );
}

#[test]
fn a_connection_that_breaks_behind_the_finish_reason_takes_nothing_away() {
    let mut reading = Reading::new(Api::OpenaiChat);
    let mut deltas = Vec::new();
    let end = r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    reading
        .feed(stream(Api::OpenaiChat, &[end]).as_bytes(), &mut deltas)
        .unwrap();
    assert!(!reading.is_over(), "usage may follow");
    let outcome = reading.broke_off(&mut deltas);
    assert_eq!(told(deltas, outcome), ["text a", "stop"]);
}

#[test]
fn a_response_that_is_no_stream_says_what_it_was() {
    assert_eq!(
        read(Api::OpenaiChat, [&b"<html>\n<title>Login"[..]]),
        [
            r#"Garbage: it sent a response that can't be understood and begins "<html>\n<title>Login""#
        ]
    );
    assert_eq!(
        read(
            Api::OpenaiChat,
            [&br#"{"error":{"message":"slow","code":429}}"#[..]]
        ),
        ["RateLimited: slow"]
    );
    for api in Api::ALL {
        assert_eq!(read(api, [&b""[..]]), ["ended"], "{api:?}");
        let told = events(api, &["{\"a\":", "{}"]);
        assert!(told[0].starts_with("Garbage: it sent an event"), "{told:?}");
        let torn = read(api, [&b"data: \xff\n\n{\"\xff\"}\n"[..]]);
        assert_eq!(
            torn,
            ["Garbage: it sent an event that is no UTF-8"],
            "{api:?}"
        );
    }
}

#[test]
fn half_a_character_is_an_error_and_never_a_replacement() {
    let half = r#"{"message":{"content":"a\ud83d"},"done":false}"#;
    let end = r#"{"done":true}"#;
    assert_eq!(
        events(Api::Ollama, &[half, end]),
        ["text a", "Garbage: it sent half of a character"]
    );
}

/// Events that tell a piece of text or reasoning, in this format.
fn piece(api: Api, is_reasoning: bool, text: &str) -> String {
    let text = serde_json::Value::from(text);
    match (api, is_reasoning) {
        (Api::OpenaiChat, false) => format!(r#"{{"choices":[{{"delta":{{"content":{text}}}}}]}}"#),
        (Api::OpenaiChat, true) => {
            let delta = format!(r#"{{"reasoning_content":{text},"reasoning":"other"}}"#);
            format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#)
        }
        (Api::OpenaiResponses, false) => {
            format!(r#"{{"type":"response.output_text.delta","delta":{text}}}"#)
        }
        (Api::OpenaiResponses, true) => {
            format!(r#"{{"type":"response.reasoning_text.delta","delta":{text}}}"#)
        }
        (Api::Anthropic, _) => {
            let kind = if is_reasoning { "thinking" } else { "text" };
            let delta = format!(r#"{{"type":"{kind}_delta","{kind}":{text}}}"#);
            format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#)
        }
        (Api::Gemini, _) => {
            let part = format!(r#"{{"text":{text},"thought":{is_reasoning}}}"#);
            format!(r#"{{"candidates":[{{"content":{{"parts":[{part}]}}}}]}}"#)
        }
        (Api::Ollama, false) => format!(r#"{{"message":{{"content":{text}}},"done":false}}"#),
        (Api::Ollama, true) => {
            format!(r#"{{"message":{{"content":"x","thinking":{text}}},"done":false}}"#)
        }
    }
}

proptest! {
    #[test]
    fn an_event_in_a_known_wrapping_tells_what_a_parse_of_it_tells(
        pieces in prop::collection::vec(
            (any::<bool>(), prop_oneof![
                prop::sample::select(vec!["", "a", ":", ",", "text", "delta", "content", "false", "other"])
                    .prop_map(str::to_owned),
                ".{0,6}",
            ]),
            0..12,
        ),
        api in prop::sample::select(&Api::ALL[..]),
    ) {
        let alike: Vec<String> = pieces
            .iter()
            .map(|(is_reasoning, text)| piece(api, *is_reasoning, text))
            .collect();
        // No event is wrapped like the one before it.
        let unlike: Vec<String> = alike
            .iter()
            .enumerate()
            .map(|(at, event)| match at % 3 {
                0 => event.clone(),
                1 => event.clone() + " ",
                _ => event.replacen("\":", "\" :", 1),
            })
            .collect();
        let read = |data: &[String]| events(api, &data.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert_eq!(read(&alike), read(&unlike));
    }

    #[test]
    fn no_bytes_make_a_reader_panic_or_an_answer_of_garbage(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        api in prop::sample::select(&Api::ALL[..]),
    ) {
        let told = read(api, [&bytes[..]]);
        prop_assert!(!told.iter().any(|line| line == "stop"));
    }
}
