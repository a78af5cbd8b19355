//! What the tests of providers share: answers of each format, and what
//! becomes of them.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use ibid::model::retry::Policy;
use ibid::model::{Api, Delta, Endpoint, FixedKey, HttpProvider, Provider, Request, RequestConfig};
use ibid::session::Message;

use super::server::Step;

pub const KEY: &str = "sk-test-0123456789";
pub const TEXT: &str = "h\u{1f642}i\n";

/// An endpoint at this address that goes through no proxy.
pub fn endpoint(api: Api, url: &str) -> Endpoint {
    let mut endpoint = Endpoint::new("p", api, url);
    endpoint.key = Some(Arc::new(FixedKey::new(KEY)));
    endpoint.proxy = Some(String::new());
    endpoint
}

/// A provider that tries three times and hardly waits.
pub fn provider(endpoint: Endpoint) -> HttpProvider {
    let policy = Policy {
        attempts: 3,
        first_wait: Duration::from_millis(1),
        ..Policy::default()
    };
    HttpProvider::with_policy(endpoint, policy).unwrap()
}

pub fn request() -> Request {
    let hello = Arc::new(Message::person("hello"));
    Request::answer(RequestConfig::plain("p", "m"), vec![hello])
}

/// What an answer told: reasoning and text joined, then how it ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub reasoning: String,
    pub text: String,
    pub waits: Vec<(Duration, &'static str)>,
    pub usage: Option<(u64, u64)>,
    /// `stop`, `length`, or the code of the error.
    pub end: String,
    /// The error's message.
    pub error: String,
}

pub async fn ask(provider: &HttpProvider, request: Request) -> Told {
    let mut told = Told::default();
    let mut answer = provider.stream(request);
    while let Some(piece) = answer.next().await {
        assert_eq!(told.end, "", "something came behind the end");
        match piece {
            Ok(Delta::Text(text)) => told.text += &text,
            Ok(Delta::Reasoning(text)) => told.reasoning += &text,
            Ok(Delta::Usage(usage)) => {
                told.usage = Some((usage.input_tokens, usage.output_tokens));
            }
            Ok(Delta::Waiting(waiting)) => told.waits.push((waiting.wait, waiting.code)),
            Ok(Delta::Finished(reason)) => reason.as_str().clone_into(&mut told.end),
            Err(error) => {
                error.code().clone_into(&mut told.end);
                told.error = error.to_string();
            }
        }
    }
    assert!(!told.text.contains('\u{fffd}'), "nobody sent that");
    assert!(!told.error.contains(KEY), "the key is in an error");
    told
}

/// The events of an answer of [`TEXT`]: those before its end, and its end.
pub fn answer(api: Api) -> (Vec<&'static str>, Vec<&'static str>) {
    match api {
        Api::OpenaiChat => (
            vec![
                r#"{"choices":[{"index":0,"delta":{"content":"h🙂"}}]}"#,
                r#"{"choices":[{"index":0,"delta":{"content":"i\n"}}]}"#,
            ],
            vec![
                r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
                "[DONE]",
            ],
        ),
        Api::OpenaiResponses => (
            vec![
                r#"{"type":"response.output_text.delta","delta":"h🙂"}"#,
                r#"{"type":"response.output_text.delta","delta":"i\n"}"#,
            ],
            vec![r#"{"type":"response.completed","response":{}}"#],
        ),
        Api::Anthropic => (
            vec![
                r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"h🙂"}}"#,
                r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"i\n"}}"#,
            ],
            vec![
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
                r#"{"type":"message_stop"}"#,
            ],
        ),
        Api::Gemini => (
            vec![
                r#"{"candidates":[{"content":{"parts":[{"text":"h🙂"}]}}]}"#,
                r#"{"candidates":[{"content":{"parts":[{"text":"i\n"}]}}]}"#,
            ],
            vec![r#"{"candidates":[{"finishReason":"STOP"}]}"#],
        ),
        Api::Ollama => (
            vec![
                r#"{"message":{"content":"h🙂"},"done":false}"#,
                r#"{"message":{"content":"i\n"},"done":false}"#,
            ],
            vec![r#"{"message":{"content":""},"done":true,"done_reason":"stop"}"#],
        ),
    }
}

/// An error in the middle of a stream.
pub fn error_event(api: Api) -> &'static str {
    match api {
        Api::OpenaiResponses => r#"{"type":"error","code":"server_error","message":"boom"}"#,
        Api::Anthropic => r#"{"type":"error","error":{"type":"api_error","message":"boom"}}"#,
        _ => r#"{"error":{"code":500,"message":"boom"}}"#,
    }
}

/// Events as they are on the wire.
pub fn framed(api: Api, events: &[&str], end: &str) -> Vec<u8> {
    let frame = |event: &&str| match api {
        Api::Ollama => format!("{event}{end}"),
        _ => format!("data: {event}{end}{end}"),
    };
    events.iter().map(frame).collect::<String>().into_bytes()
}

/// The head of a response whose body ends with the connection.
pub fn head(status: &str, headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n").into_bytes()
}

/// A response of success with this body.
pub fn ok(body: Vec<u8>) -> Vec<Step> {
    vec![Step::Send(head("200 OK", "")), Step::Send(body)]
}

/// A response of success with the whole answer.
pub fn whole(api: Api) -> Vec<Step> {
    let (text, end) = answer(api);
    ok(framed(api, &[text, end].concat(), "\n"))
}
