//! Servers that answer with an error, servers that are not there, and
//! settings that can't be used.

use std::sync::Arc;

use futures_util::future::{BoxFuture, ready};
use ibid::model::{
    Api, Endpoint, HttpProvider, KeyError, KeySource, KeyStanding, Provider, SecretString,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::server::{Server, Step};
use super::support::{KEY, ask, endpoint, head, provider, request, whole};

async fn refused(status: &str, headers: &str, body: &str) -> (String, String, usize) {
    let script = vec![
        Step::Send(head(status, headers)),
        Step::Send(body.as_bytes().to_vec()),
    ];
    let server = Server::start(vec![script]).await;
    let told = ask(&provider(endpoint(Api::OpenaiChat, &server.url)), request()).await;
    (told.end, told.error, server.received().len())
}

#[tokio::test]
async fn an_error_of_the_server_is_told_by_its_kind_and_asked_for_once() {
    let rows = [
        ("401 Unauthorized", "bad key", "MODEL_AUTH"),
        ("403 Forbidden", "", "MODEL_AUTH"),
        ("404 Not Found", "no such model", "MODEL_NOT_FOUND"),
        ("400 Bad", "maximum context length is 8", "MODEL_TOO_LONG"),
        ("413 Large", "", "MODEL_TOO_LONG"),
        ("402 Pay", "", "MODEL_QUOTA"),
        ("400 Bad", "what?", "MODEL_REJECTED"),
    ];
    for (status, words, code) in rows {
        let (end, error, requests) = refused(status, "", words).await;
        assert_eq!((end.as_str(), requests), (code, 1), "{status}");
        assert!(error.contains(words), "{error}");
        assert!(
            error.contains(&format!("(status {})", &status[..3])),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_key_that_the_server_repeats_is_in_no_error() {
    let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}."}}}}"#);
    let (_, error, _) = refused("401 Unauthorized", "", &body).await;
    assert!(
        error.contains("Incorrect API key provided: [key]."),
        "{error}"
    );
    let body = format!("<html>Bearer {KEY}</html>");
    let (_, error, _) = refused("400 Bad", "", &body).await;
    assert!(error.contains("Bearer [key]"), "{error}");
}

#[tokio::test]
async fn an_endless_error_is_cut() {
    let (end, error, _) = refused("400 Bad", "", &"é\u{1b}".repeat(1_000_000)).await;
    assert_eq!(end, "MODEL_REJECTED");
    assert!(error.chars().count() < 500 && !error.contains('\u{1b}'));
}

#[tokio::test]
async fn no_redirect_takes_the_key_elsewhere() {
    let elsewhere = Server::start(vec![whole(Api::OpenaiChat)]).await;
    let location = format!("location: {}/chat/completions\r\n", elsewhere.url);
    for status in ["301 Moved", "307 Temporary", "308 Permanent"] {
        let (end, error, _) = refused(status, &location, "").await;
        assert_eq!(end, "MODEL_REJECTED");
        assert!(
            error.contains("it redirects to http://127.0.0.1"),
            "{error}"
        );
    }
    assert!(elsewhere.received().is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_as_such() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", gone.local_addr().unwrap());
    drop(gone);
    let told = ask(&provider(endpoint(Api::Ollama, &url)), request()).await;
    assert_eq!(told.end, "MODEL_NETWORK");
    assert_eq!(told.waits.len(), 2, "it was tried three times");
    assert!(
        told.error.contains("check that the server runs"),
        "{}",
        told.error
    );
}

#[tokio::test]
async fn a_server_without_tls_is_not_asked_again_over_tls() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad\r\n\r\n").await.unwrap();
        let mut heard = Vec::new();
        // The client breaks off; how does not matter.
        let _ = stream.read_to_end(&mut heard).await;
        heard
    });
    let told = ask(&provider(endpoint(Api::OpenaiChat, &url)), request()).await;
    assert_eq!(told.waits, []);
    assert_eq!(told.end, "MODEL_NETWORK");
    assert!(
        told.error.contains("no secure connection"),
        "{}",
        told.error
    );
    let heard = String::from_utf8_lossy(&server.await.unwrap()).into_owned();
    assert!(!heard.contains(KEY), "no key was sent in the clear");
}

struct NoKey;

impl KeySource for NoKey {
    fn key(&self) -> BoxFuture<'_, Result<SecretString, ibid::reference::Cause>> {
        let why = std::io::Error::other("the command ended with status 1");
        Box::pin(ready(Err(Arc::new(why) as _)))
    }

    fn standing(&self) -> Result<KeyStanding, KeyError> {
        Ok(KeyStanding::AtCommand)
    }
}

#[tokio::test]
async fn without_its_key_nothing_is_asked() {
    let server = Server::start(vec![whole(Api::OpenaiChat)]).await;
    let mut endpoint = endpoint(Api::OpenaiChat, &server.url);
    endpoint.key = Some(Arc::new(NoKey));
    let told = ask(&provider(endpoint), request()).await;
    assert_eq!(told.end, "MODEL_KEY");
    assert!(told.error.contains("the command ended with status 1"));
    assert!(server.received().is_empty());
}

#[test]
fn settings_that_cannot_be_used_are_told_before_anything_is_asked() {
    let at = |url: &str| Endpoint::new("p", Api::OpenaiChat, url);
    let mut proxy = at("http://localhost");
    proxy.proxy = Some("http://name:secret@:x".to_owned());
    let mut header = at("http://localhost");
    header.headers = vec![("x".to_owned(), SecretString::from("a\nb"))];
    let rows = [
        (at("localhost:1"), "base-url"),
        (at("nonsense"), "base-url"),
        (at("http://me:secret@host"), "holds a name or a password"),
        (at("http://host?key=secret"), "without \"?\""),
        (proxy, "\"proxy\""),
        (header, "header"),
    ];
    for (endpoint, what) in rows {
        assert!(!format!("{endpoint:?}").contains("secret"));
        let error = HttpProvider::new(endpoint).err().unwrap();
        assert_eq!(error.code(), "MODEL_ENDPOINT");
        assert!(error.to_string().contains(what), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn a_model_that_nobody_listed_is_one_without_facts() {
    let provider = provider(endpoint(Api::OpenaiChat, "http://localhost:1"));
    let info = provider.model_info("new").await.unwrap();
    assert_eq!((info.id.as_str(), info.context_window), ("new", None));
}
