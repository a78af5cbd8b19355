//! Streams that go wrong: each has one right end, and none is a success.

use std::time::Duration;

use ibid::model::Api;

use super::server::{Server, Step};
use super::support::{
    TEXT, Told, answer, ask, endpoint, error_event, framed, head, ok, provider, request, whole,
};

/// What comes of a stream that one connection after the other gives.
async fn outcome(api: Api, scripts: Vec<Vec<Step>>) -> (Told, usize) {
    let server = Server::start(scripts).await;
    let mut endpoint = endpoint(api, &server.url);
    endpoint.total_timeout = Some(Duration::from_mins(1));
    let told = ask(&provider(endpoint), request()).await;
    (told, server.received().len())
}

/// The text of an answer and then this.
fn text_and(api: Api, rest: &[u8]) -> Vec<u8> {
    let (text, _) = answer(api);
    [framed(api, &text, "\n"), rest.to_vec()].concat()
}

/// An error in the middle of a stream that has words alone.
fn unreasoned(api: Api) -> &'static str {
    match api {
        Api::OpenaiResponses | Api::Anthropic => {
            r#"{"type":"error","error":{"message":"\u001b[2Jboom"}}"#
        }
        _ => r#"{"error":{"message":"\u001b[2Jboom"}}"#,
    }
}

#[tokio::test]
async fn behind_text_the_words_of_an_error_are_told_as_those_of_an_answer_that_broke_off() {
    for api in Api::ALL {
        let error = framed(api, &[unreasoned(api)], "\n");
        let (told, _) = outcome(api, vec![ok(text_and(api, &error))]).await;
        let broke_off = "gave no whole answer: ␛[2Jboom; ask again for a whole one";
        assert!(told.error.ends_with(broke_off), "{api:?}: {:?}", told.error);
    }
}

#[tokio::test]
async fn behind_text_every_fault_is_an_error_at_once_and_the_text_stays() {
    for api in Api::ALL {
        let garbage = framed(api, &["{\"oops"], "\n");
        let mut long = framed(api, &["\""], "").repeat(1);
        long.extend(vec![b'x'; 10 * 1024 * 1024]);
        let not_utf8 = [framed(api, &["{"], ""), b"\xff\n\n".to_vec()].concat();
        let rows: Vec<(&str, Vec<Step>, &str)> = vec![
            ("no end", ok(text_and(api, b"")), "MODEL_STREAM_ENDED"),
            (
                "an error event",
                ok(text_and(api, &framed(api, &[error_event(api)], "\n"))),
                "MODEL_OVERLOADED",
            ),
            (
                "an error event without a reason",
                ok(text_and(api, &framed(api, &[unreasoned(api)], "\n"))),
                "MODEL_STREAM_ENDED",
            ),
            ("garbage", ok(text_and(api, &garbage)), "MODEL_BAD_RESPONSE"),
            (
                "ten megabytes",
                ok(text_and(api, &long)),
                "MODEL_BAD_RESPONSE",
            ),
            (
                "no UTF-8",
                ok(text_and(api, &not_utf8)),
                "MODEL_BAD_RESPONSE",
            ),
            (
                "a body shorter than told",
                vec![
                    Step::Send(head("200 OK", "content-length: 100000\r\n")),
                    Step::Send(text_and(api, b"")),
                ],
                "MODEL_NETWORK",
            ),
        ];
        for (fault, script, code) in rows {
            let (told, requests) = outcome(api, vec![script, whole(api)]).await;
            assert_eq!(told.text, TEXT, "{api:?}, {fault}");
            assert_eq!(told.end, code, "{api:?}, {fault}: {}", told.error);
            assert_eq!(requests, 1, "{api:?}, {fault}: it is not asked again");
        }
    }
}

#[tokio::test]
async fn a_connection_that_is_torn_behind_text_is_an_error() {
    for api in Api::ALL {
        let mut script = ok(text_and(api, b""));
        script.push(Step::Reset);
        let (told, requests) = outcome(api, vec![script, whole(api)]).await;
        // A reset may overtake what was sent before it.
        assert!(TEXT.starts_with(&told.text), "{api:?}");
        if told.text.is_empty() {
            continue;
        }
        assert_eq!(
            (told.end.as_str(), requests),
            ("MODEL_NETWORK", 1),
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn before_any_text_what_may_be_over_in_a_moment_is_asked_again() {
    for api in Api::ALL {
        let busy = |status: &str| vec![Step::Send(head(status, "retry-after-ms: 3\r\n"))];
        let rows = [
            ("closed at once", vec![], "MODEL_NETWORK"),
            ("torn at once", vec![Step::Reset], "MODEL_NETWORK"),
            ("an empty stream", ok(Vec::new()), "MODEL_STREAM_ENDED"),
            ("500", busy("500 Oh"), "MODEL_OVERLOADED"),
            ("529", busy("529 Overloaded"), "MODEL_OVERLOADED"),
            (
                "an error event first",
                ok(framed(api, &[error_event(api)], "\n")),
                "MODEL_OVERLOADED",
            ),
        ];
        for (fault, script, code) in rows {
            let (told, requests) = outcome(api, vec![script, whole(api)]).await;
            assert_eq!(told.text, TEXT, "{api:?}, {fault}: {}", told.error);
            assert_eq!(told.end, "stop", "{api:?}, {fault}");
            assert_eq!(told.waits.len(), 1, "{api:?}, {fault}");
            assert_eq!(told.waits[0].1, code, "{api:?}, {fault}");
            assert_eq!(requests, 2, "{api:?}, {fault}");
        }
    }
}

#[tokio::test]
async fn a_rate_limit_is_waited_for_as_told_and_else_for_a_while() {
    for api in Api::ALL {
        let limited = |headers: &str| vec![Step::Send(head("429 Slow", headers))];
        let scripts = vec![limited("retry-after-ms: 7\r\n"), limited(""), whole(api)];
        let (told, requests) = outcome(api, scripts).await;
        assert_eq!((told.text.as_str(), requests), (TEXT, 3), "{api:?}");
        let (first, second) = (told.waits[0], told.waits[1]);
        assert_eq!(first, (Duration::from_millis(7), "MODEL_RATE_LIMITED"));
        assert!(second.0 > Duration::ZERO && second.0 <= Duration::from_millis(2));

        let (told, requests) = outcome(api, vec![limited("retry-after: 3600\r\n")]).await;
        assert_eq!((told.end.as_str(), requests), ("MODEL_RATE_LIMITED", 1));
        assert!(told.error.ends_with("ask again in 1 h"), "{}", told.error);

        let (told, requests) = outcome(api, vec![limited(""); 9]).await;
        assert_eq!((told.end.as_str(), requests), ("MODEL_RATE_LIMITED", 3));
    }
}

#[tokio::test]
async fn a_response_that_is_no_stream_is_not_asked_for_again() {
    for api in Api::ALL {
        let page = ok(b"<html><title>Log in</title></html>".to_vec());
        let (told, requests) = outcome(api, vec![page, whole(api)]).await;
        assert_eq!(
            (told.end.as_str(), requests),
            ("MODEL_BAD_RESPONSE", 1),
            "{api:?}"
        );
        assert!(told.error.contains("<html>"), "{}", told.error);
    }
}

#[tokio::test]
async fn silence_is_an_error_when_the_time_is_over() {
    for api in Api::ALL {
        for before in [Vec::new(), ok(text_and(api, b""))] {
            let script = [before, vec![Step::Hang]].concat();
            let server = Server::start(vec![script]).await;
            let mut endpoint = endpoint(api, &server.url);
            endpoint.idle_timeout = Duration::from_millis(80);
            let told = ask(&provider(endpoint), request()).await;
            assert_eq!(told.end, "MODEL_TIMEOUT", "{api:?}");
            assert!(told.error.contains("idle-timeout"), "{}", told.error);
            assert_eq!(server.received().len(), 1, "it is not asked again");
            server.is_left_by(1).await;
        }
    }
}

#[tokio::test]
async fn a_drip_without_end_stops_at_the_total_time() {
    let drip = Step::Drip(b": keep-alive\n".repeat(10_000_000 / 13));
    let script = vec![Step::Send(head("200 OK", "")), drip];
    let server = Server::start(vec![script]).await;
    let mut endpoint = endpoint(Api::OpenaiChat, &server.url);
    endpoint.total_timeout = Some(Duration::from_millis(80));
    let told = ask(&provider(endpoint), request()).await;
    assert_eq!(told.end, "MODEL_TIMEOUT");
    assert!(told.error.contains("total-timeout"), "{}", told.error);
}
