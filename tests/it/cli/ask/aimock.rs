//! The same against the journal of a server that others wrote, where it is
//! installed (see `models::conformance`).
//!
//! Of chat completions its journal keeps the body as it came, of the other
//! formats what it made of it: there the length of the body and the words in it
//! are compared.

use std::io::{Read as _, Write as _};

use ibid::model::Api;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Place, provider};
use crate::models::conformance::{aimock_with, base};
use crate::support::sessions::said;

const SLOW: &str = "one two three four five six seven eight nine ten eleven twelve";

/// What the server answers to which last message.
fn fixtures() -> Value {
    json!([
        {"match": {"userMessage": "also"}, "response": {"content": "that too"}},
        {"match": {"userMessage": "limit", "sequenceIndex": 0},
            "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429}},
        {"match": {"userMessage": "limit"}, "response": {"content": "after a while"}},
        {"match": {"userMessage": "slow"}, "response": {"content": SLOW}, "latency": 300, "chunkSize": 4},
        {"match": {"userMessage": "hello"}, "response": {"content": "hi there"}},
    ])
}

/// The server's journal: what it received, in order.
fn journal(url: &str) -> Vec<Value> {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    // Without version 1.1 the body comes in one piece.
    let request = format!("GET /__aimock/journal HTTP/1.0\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

/// Every text in the messages of a journal's entry.
fn words(entry: &Value) -> String {
    entry["body"]["messages"].to_string()
}

#[test]
fn the_log_gives_every_request_as_the_journal_has_it() {
    for (api, next) in Api::ALL
        .into_iter()
        .zip(Api::ALL.into_iter().cycle().skip(1))
    {
        let Some((server, _fixtures)) = aimock_with(&fixtures()) else {
            return;
        };
        let place = Place::new();
        place.home().create().unwrap();
        let settings = [
            "model = \"local/m\"\n".to_owned(),
            provider("local", api, &base(api, &server.url)),
            provider("other", next, &base(next, &server.url)),
        ];
        place.write("home/config.toml", settings.concat());
        place.store(&said("old", ["an old \"story\" \u{1f642}\n"]));
        let ended = place.ask(&["hello \u{1f642}"]);
        assert_eq!(ended.code, Some(0), "{api:?}: {}", ended.err);
        let id = ended.session_id();
        let asks = |args: &[&str]| {
            let ended = place.ask(&[&["--session", &id], args].concat());
            assert_eq!(ended.code, Some(0), "{api:?}: {}", ended.err);
        };
        asks(&["limit"]);
        let mut asking = place.asking(&["--session", &id, "slow"]);
        asking.prints("one");
        asking.signal(Signal::INT);
        assert_eq!(asking.end().code, Some(130), "{api:?}");
        asks(&["--model", "other/m2", "also"]);
        asks(&["--model", "local/m", "--cite", "old", "also"]);
        // A compaction belongs here, with a turn after it.

        let mut received = journal(&server.url);
        assert_eq!(received.len(), 6, "{api:?}");
        let bodies = |entry: &Value| {
            (
                entry["headers"]["content-length"].clone(),
                entry["body"].clone(),
            )
        };
        assert_eq!(bodies(&received[1]), bodies(&received[2]), "{api:?}");
        received.remove(2);
        let sent = place.text(&["sessions", "show", &id, "--requests"]);
        let sent: Vec<&str> = sent.lines().collect();
        assert_eq!(sent.len(), received.len(), "{api:?}");
        for (number, (sent, entry)) in sent.iter().zip(&received).enumerate() {
            let length = &entry["headers"]["content-length"];
            assert_eq!(
                length.as_str().unwrap(),
                sent.len().to_string(),
                "{api:?} {number}"
            );
            let format = if number == 3 { next } else { api };
            if format == Api::OpenaiChat {
                let mut body = entry["body"].clone();
                // The server's own word for where it came in.
                body.as_object_mut().unwrap().shift_remove("_endpointType");
                assert_eq!(&body.to_string(), sent, "{number}");
            }
            assert!(words(entry).contains("hello \u{1f642}"), "{api:?}: {entry}");
        }
        let last = words(received.last().unwrap());
        for said in ["limit", "after a while", "slow", "that too", "an old"] {
            assert!(last.contains(said), "{api:?}: {said} is not in {last}");
        }
    }
}
