//! What is printed where, and readers that go away.

use std::io::Read as _;
use std::process::Stdio;

use ibid::model::Api;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::json;

use super::{KEY, KEY_NAME, attempts, framed, hanging, refusing, served, texts};
use crate::models::support::{TEXT, ok, whole};

const API: Api = Api::OpenaiChat;

/// An answer of these pieces.
fn says(pieces: &[&str]) -> Vec<super::Step> {
    let piece =
        |text: &&str| json!({"choices": [{"index": 0, "delta": {"content": text}}]}).to_string();
    let mut events: Vec<String> = pieces.iter().map(piece).collect();
    let (_, end) = super::answer(API);
    events.extend(end.into_iter().map(str::to_owned));
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    ok(framed(API, &events, "\n"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_answer_alone_goes_to_stdout_and_ends_with_its_line() {
    let reasoning = r#"{"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}"#;
    let (text, end) = super::answer(API);
    let with_reasoning = [vec![reasoning], text, end].concat();
    let scripts = vec![ok(framed(API, &with_reasoning, "\n")), says(&["no end"])];
    let (place, _server) = served(API, scripts).await;
    let ended = place.ask(&["hello"]);
    assert_eq!(ended.answer(), TEXT);
    let id = ended.session_id();
    assert_eq!(ended.err, format!("ibid: session {id} (new)\n"));
    let ended = place.ask(&["--session", &id, "and?"]);
    assert_eq!(ended.answer(), "no end\n");
    assert_eq!(ended.err, format!("ibid: session {id}\n"));
    assert_eq!(
        texts(&place.session(&id)),
        ["hello", TEXT, "and?", "no end"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn events_tell_all_that_happens_in_order() {
    let limited = refusing("429 Slow", "retry-after: 0\r\n", "slow down");
    let (place, _server) = served(API, vec![limited, whole(API)]).await;
    let ended = place.ask(&["--json", "hello"]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    let events = ended.events();
    let kinds: Vec<&str> = events.iter().map(|e| e["type"].as_str().unwrap()).collect();
    let (deltas, rest): (Vec<&str>, Vec<&str>) = kinds.iter().partition(|kind| **kind == "delta");
    assert!(!deltas.is_empty());
    assert_eq!(rest, ["session", "request", "waiting", "finished"]);
    let id = &events[0]["sessionId"];
    assert_eq!(
        events[0],
        json!({"type": "session", "sessionId": id, "new": true})
    );
    assert_eq!(
        events[1],
        json!({"type": "request", "turn": 1, "provider": "local", "model": "m"})
    );
    assert_eq!(events[2]["code"], "MODEL_RATE_LIMITED");
    assert_eq!(
        (&events[2]["attempt"], &events[2]["seconds"]),
        (&json!(1), &json!(0.0))
    );
    let text = ended.events_of("delta");
    let text: String = text.iter().map(|e| e["text"].as_str().unwrap()).collect();
    assert_eq!(text, TEXT);
    assert_eq!(
        events.last().unwrap(),
        &json!({"type": "finished", "finish": "stop"})
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_offline_model_says_that_it_is_no_language_model() {
    let (place, _server) = served(API, Vec::new()).await;
    let ended = place.ask(&["--model", "offline/offline", "hello"]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.err.contains("offline model answers"), "{}", ended.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_model_is_the_given_one_then_the_sessions_last_then_the_setting() {
    let (place, server) = served(API, vec![whole(API); 3]).await;
    let id = place.ask(&["a"]).session_id();
    place.ask(&["--session", &id, "--model", "local/other/x", "b"]);
    place.ask(&["--session", &id, "c"]);
    let models: Vec<String> = server
        .received()
        .iter()
        .map(|request| {
            let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
            body["model"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(models, ["m", "other/x", "other/x"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn when_nobody_reads_any_more_the_answer_is_called_off_and_kept() {
    for args in [&["hello"][..], &["--json", "hello"]] {
        let (place, server) = served(API, vec![hanging(API)]).await;
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.process();
        let output = command
            .env(KEY_NAME, KEY)
            .arg("ask")
            .args(args)
            .stdin(Stdio::null())
            .stdout(writer)
            .output()
            .unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(!told.contains("panic"), "{told}");
        server
            .is_left_by(u32::from(!server.received().is_empty()))
            .await;
        let session = place.session_but(&[]);
        assert_eq!(texts(&session), ["hello"]);
        let kept = attempts(&session).concat();
        assert!(TEXT.starts_with(&kept), "{kept}");
        let last = session.events().last().unwrap();
        assert_eq!(last.payload.type_name(), ibid::chat::TURN_END);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_terminal_gets_no_control_of_an_answer_and_whole_characters() {
    let pieces = [
        "red \u{1b}",
        "[31m \u{202e}",
        "\u{1f469}",
        "\u{200d}",
        "\u{1f4bb}",
        "\r",
        "\nend",
    ];
    let (place, _server) = served(API, vec![says(&pieces), says(&pieces)]).await;
    let exact = place.ask(&["hello"]);
    assert_eq!(exact.answer(), pieces.concat() + "\n");

    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let mut command = CommandBuilder::new("sh");
    command.args(["-c", "\"$0\" ask hello </dev/null 2>/dev/null"]);
    command.arg(assert_cmd::cargo::cargo_bin("ibid"));
    command.env("IBID_HOME", place.path("home"));
    command.env("HOME", place.path("person"));
    command.env(KEY_NAME, KEY);
    command.cwd(place.path(""));
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut shown = Vec::new();
    // The end of a terminal is an error on some systems.
    let _ = pair
        .master
        .try_clone_reader()
        .unwrap()
        .read_to_end(&mut shown);
    child.wait().unwrap();
    let shown = String::from_utf8(shown).unwrap();
    assert_eq!(
        shown,
        "red \u{241b}[31m \\u{202e}\u{1f469}\u{200d}\u{1f4bb}\r\nend\r\n"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_key_is_in_nothing_that_a_turn_leaves() {
    let repeats = refusing("401 No", "", &format!("you sent {KEY}"));
    let (place, _server) = served(API, vec![whole(API), repeats]).await;
    for args in [&["hello"][..], &["--json", "hello"]] {
        let ended = place.ask(args);
        assert!(!ended.answer().contains(KEY) && !ended.err.contains(KEY));
    }
    let mut folders = vec![place.path("")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                let key = KEY.as_bytes();
                assert!(
                    !bytes.windows(key.len()).any(|part| part == key),
                    "{path:?}"
                );
            }
        }
    }
}
