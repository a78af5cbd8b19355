//! What is sent, and answers that are odd on the wire and right all the same.

use std::sync::Arc;

use futures_util::StreamExt;
use ibid::model::{Api, Delta, Options, Provider, Request, RequestConfig, SecretString};
use ibid::session::{Block, Message, Role, Source};

use super::server::{Server, Step};
use super::support::{
    KEY, TEXT, answer, ask, endpoint, framed, head, ok, provider, request, whole,
};

#[tokio::test]
async fn every_line_end_mark_keep_alive_and_pace_gives_the_same_answer() {
    for api in Api::ALL {
        let (text, end) = answer(api);
        let events = [text, end].concat();
        let mut scripts = Vec::new();
        for line_end in ["\n", "\r\n", "\r"] {
            for mark in ["", "\u{feff}"] {
                for keep_alive in ["", ": keep-alive"] {
                    let mut body = mark.as_bytes().to_vec();
                    for event in &events {
                        if api != Api::Ollama {
                            body.extend(keep_alive.as_bytes());
                        }
                        body.extend([line_end, line_end].concat().bytes());
                        body.extend(framed(api, &[*event], line_end));
                    }
                    let head = Step::Send(head("200 OK", ""));
                    scripts.push(vec![head.clone(), Step::Send(body.clone())]);
                    let cut = body.trim_ascii_end().to_vec();
                    scripts.push(vec![head, Step::Drip(cut)]);
                }
            }
        }
        let count = scripts.len();
        let server = Server::start(scripts).await;
        let provider = provider(endpoint(api, &server.url));
        for number in 0..count {
            let told = ask(&provider, request()).await;
            assert_eq!(
                (told.text.as_str(), told.end.as_str()),
                (TEXT, "stop"),
                "{api:?}, script {number}: {}",
                told.error
            );
            assert!(told.waits.is_empty());
        }
    }
}

#[tokio::test]
async fn what_is_sent_is_the_body_byte_for_byte_with_the_key_in_its_header_alone() {
    let rows = [
        (
            Api::OpenaiChat,
            "post /chat/completions ",
            "authorization: bearer ",
        ),
        (
            Api::OpenaiResponses,
            "post /responses ",
            "authorization: bearer ",
        ),
        (Api::Anthropic, "post /v1/messages ", "x-api-key: "),
        (
            Api::Gemini,
            "post /models/m%2f..%2fx%3fy:streamgeneratecontent?alt=sse ",
            "x-goog-api-key: ",
        ),
        (Api::Ollama, "post /api/chat ", "authorization: bearer "),
    ];
    for (api, line, key_header) in rows {
        let server = Server::start(vec![whole(api)]).await;
        let mut endpoint = endpoint(api, &format!("{}/", server.url));
        endpoint.headers = vec![("x-title".to_owned(), SecretString::from("ibid"))];
        endpoint.options = Options {
            max_output: Some(100),
            num_ctx: Some(4096),
            ..Options::default()
        };
        let provider = provider(endpoint);
        let says = |role, text| {
            let content = vec![Block::text(text)];
            Arc::new(Message::new(role, Source::person(), content))
        };
        let messages = vec![
            says(Role::System, "be brief"),
            says(Role::User, "a \"quoted\" \u{1f642}"),
            says(Role::Assistant, "b"),
            says(Role::User, "c"),
        ];
        let request = Request::answer(provider.config("m/../x?y"), messages);
        let body = request.body().unwrap();
        assert_eq!(ask(&provider, request).await.end, "stop", "{api:?}");

        let received = server.received();
        assert_eq!(received.len(), 1, "{api:?}");
        assert_eq!(received[0].body, body, "{api:?}");
        let head = &received[0].head;
        assert!(head.starts_with(line), "{head}");
        assert!(head.contains(&format!("\r\n{key_header}{KEY}")), "{head}");
        assert_eq!(head.matches(KEY).count(), 1);
        assert!(!String::from_utf8(body).unwrap().contains(KEY));
        assert!(head.contains("\r\nuser-agent: ibid/"), "{head}");
        assert!(head.contains("\r\nx-title: ibid"), "{head}");
    }
}

#[test]
fn bodies_are_what_each_format_asks_for() {
    let says = |role, text: &str| {
        let content = vec![Block::text(text)];
        Arc::new(Message::new(role, Source::person(), content))
    };
    let messages = vec![
        says(Role::System, "s"),
        says(Role::User, "a"),
        says(Role::User, "b"),
        says(Role::Assistant, "c"),
        says(Role::User, "d"),
    ];
    let options = Options {
        max_output: Some(9),
        num_ctx: Some(8),
        ..Options::default()
    };
    #[rustfmt::skip]
    let rows = [
        (Api::OpenaiChat, r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a\n\nb"},{"role":"assistant","content":"c"},{"role":"user","content":"d"}],"stream":true,"stream_options":{"include_usage":true},"max_tokens":9}"#),
        (Api::OpenaiResponses, r#"{"model":"m","input":[{"role":"user","content":"a\n\nb"},{"role":"assistant","content":"c"},{"role":"user","content":"d"}],"stream":true,"store":false,"instructions":"s","max_output_tokens":9}"#),
        (Api::Anthropic, r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"assistant","content":[{"type":"text","text":"c"}]},{"role":"user","content":[{"type":"text","text":"d"}]}],"stream":true,"system":"s"}"#),
        (Api::Gemini, r#"{"contents":[{"role":"user","parts":[{"text":"a"},{"text":"b"}]},{"role":"model","parts":[{"text":"c"}]},{"role":"user","parts":[{"text":"d"}]}],"systemInstruction":{"parts":[{"text":"s"}]},"generationConfig":{"maxOutputTokens":9}}"#),
        (Api::Ollama, r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"a\n\nb"},{"role":"assistant","content":"c"},{"role":"user","content":"d"}],"stream":true,"options":{"num_ctx":8,"num_predict":9}}"#),
    ];
    for (api, body) in rows {
        let config = RequestConfig {
            api: Some(api),
            options: options.clone(),
            ..RequestConfig::plain("p", "m")
        };
        let request = Request::answer(config, messages.clone());
        let made = String::from_utf8(request.body().unwrap()).unwrap();
        assert_eq!(made, body, "{api:?}");
    }
}

#[tokio::test]
async fn dropping_an_answer_ends_the_connection() {
    let (text, _) = answer(Api::OpenaiChat);
    let body = framed(Api::OpenaiChat, &text, "\n");
    let script = vec![Step::Send(head("200 OK", "")), Step::Send(body), Step::Hang];
    let server = Server::start(vec![script]).await;
    let provider = provider(endpoint(Api::OpenaiChat, &server.url));
    let mut answer = provider.stream(request());
    let first = answer.next().await.unwrap().unwrap();
    assert_eq!(first, Delta::Text("h\u{1f642}i\n".to_owned()));
    drop(answer);
    server.is_left_by(1).await;
}

#[tokio::test]
async fn a_model_whose_facts_cannot_be_told_is_listed_without_them() {
    let list = br#"{"models":[{"model":"a"},{"model":"b"}]}"#.to_vec();
    let facts = br#"{"model_info":{"llama.context_length":4096}}"#.to_vec();
    let broken = vec![Step::Send(head("500 Broken", ""))];
    for (third, windows, lacks) in [
        (ok(facts.clone()), 1, "the window of 1 model is not known"),
        (broken.clone(), 0, "the window of 2 models is not known"),
    ] {
        let scripts = vec![ok(list.clone()), broken.clone(), third];
        let server = Server::start(scripts).await;
        let provider = provider(endpoint(Api::Ollama, &server.url));
        let listed = provider.list_models().await.unwrap();
        let names: Vec<_> = listed.models.iter().map(|m| m.id.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        let known = listed.models.iter().filter(|m| m.context_window.is_some());
        assert_eq!(known.count(), windows);
        let told = listed.lacks.unwrap();
        assert!(
            told.starts_with(lacks) && told.contains("status 500"),
            "{told}"
        );
    }
    let server = Server::start(vec![ok(list.clone()), ok(facts.clone()), ok(facts)]).await;
    let provider = provider(endpoint(Api::Ollama, &server.url));
    assert_eq!(provider.list_models().await.unwrap().lacks, None);
}

#[tokio::test]
async fn a_server_tells_which_models_it_has() {
    let list = br#"{"data":[{"id":"a","max_model_len":4096},{"id":"b"}]}"#;
    let server = Server::start(vec![super::support::ok(list.to_vec())]).await;
    let provider = provider(endpoint(Api::OpenaiChat, &server.url));
    let listed = provider.list_models().await.unwrap().models;
    let told: Vec<_> = listed
        .iter()
        .map(|m| (m.id.as_str(), m.context_window))
        .collect();
    assert_eq!(told, [("a", Some(4096)), ("b", None)]);
    assert_eq!(provider.models(), listed);
    let info = provider.model_info("a").await.unwrap();
    assert_eq!(info.context_window, Some(4096), "from then on it is known");
    assert!(server.received()[0].head.starts_with("get /models "));
}
