//! How it ends: an exit code for each way, and what stands in the log then.

use ibid::chat::TURN_END;
use ibid::model::Api;
use ibid::store::SessionWriter;
use rustix::process::Signal;

use super::{Step, attempts, framed, hanging, place, refusing, served, texts};
use crate::models::support::{TEXT, ok, whole};
use crate::support::sessions::said;

const API: Api = Api::OpenaiChat;

/// The answer's text with a finish of this kind.
fn finished(reason: &str) -> Vec<Step> {
    let end = format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#);
    let (text, _) = super::answer(API);
    let mut events: Vec<&str> = text;
    events.extend([end.as_str(), "[DONE]"]);
    ok(framed(API, &events, "\n"))
}

/// The answer's text, and then nothing more.
fn torn() -> Vec<Step> {
    let (text, _) = super::answer(API);
    ok(framed(API, &text, "\n"))
}

/// The answer's text, and then words that tell no reason.
fn ended_by_an_error() -> Vec<Step> {
    let (mut events, _) = super::answer(API);
    events.push(r#"{"error":{"message":"\u001b[31mupstream fell over"}}"#);
    ok(framed(API, &events, "\n"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_words_of_an_error_in_the_middle_are_told_and_do_nothing_to_a_terminal() {
    let (place, _server) = served(API, vec![ended_by_an_error()]).await;
    let ended = place.ask(&["hello"]);
    let told = "gave no whole answer: ␛[31mupstream fell over; ask again for a whole one";
    assert!(ended.err.contains(told), "{}", ended.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_is_too_long_by_an_estimate_goes_when_that_is_wanted() {
    let (place, server) = served(API, vec![whole(API)]).await;
    let settings = std::fs::read_to_string(place.path("home/config.toml")).unwrap();
    let window = "[providers.local.models.m]\ncontext-window = 100\n";
    place.write("home/config.toml", settings + window);
    let long = "word ".repeat(200);
    let ended = place.ask(&[&long]);
    assert_eq!(ended.code, Some(7), "{}", ended.err);
    assert!(ended.err.contains("--send-anyway"), "{}", ended.err);
    assert!(server.received().is_empty());
    let ended = place.ask(&["--send-anyway", &long]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(ended.answer(), TEXT);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_session_whose_provider_is_gone_goes_on_with_the_model_of_the_settings() {
    let (place, server) = served(API, vec![whole(API), whole(API)]).await;
    let id = place.ask(&["hello"]).session_id();
    let settings = super::provider("new", API, &server.url);
    place.write("home/config.toml", format!("model = \"new/n\"\n{settings}"));
    let ended = place.ask(&["--json", "--session", &id, "and then?"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let notices = ended.events_of("notice");
    let told = notices[0]["message"].as_str().unwrap();
    assert!(told.starts_with("local/m answered here last"), "{told}");
    assert_eq!(ended.events_of("request")[0]["model"], "n");

    place.write("home/config.toml", "");
    let ended = place.ask(&["--session", &id, "and then?"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(
        ended.err.contains("new/n answered here last"),
        "{}",
        ended.err
    );
    let gone = place.ask(&["--session", &id, "--model", "local/m", "hello"]);
    assert!(gone.err.contains("[NO_ADAPTER]"), "{}", gone.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn each_way_to_end_has_its_exit_code_and_its_code() {
    let limited = || refusing("429 Slow", "retry-after: 0\r\n", "slow down");
    let rows = [
        (vec![whole(API)], 0, "", TEXT),
        (vec![refusing("401 No", "", "bad key")], 3, "MODEL_AUTH", ""),
        (vec![refusing("403 No", "", "")], 3, "MODEL_AUTH", ""),
        (vec![limited(); 5], 4, "MODEL_RATE_LIMITED", ""),
        (
            vec![refusing("429 Slow", "retry-after: 600\r\n", "")],
            4,
            "MODEL_RATE_LIMITED",
            "",
        ),
        (vec![refusing("402 Pay", "", "")], 4, "MODEL_QUOTA", ""),
        (vec![torn()], 5, "MODEL_STREAM_ENDED", TEXT),
        (vec![ended_by_an_error()], 5, "MODEL_STREAM_ENDED", TEXT),
        (vec![finished("content_filter")], 6, "MODEL_REFUSED", TEXT),
        (
            vec![refusing("400 Bad", "", "maximum context length is 8")],
            7,
            "MODEL_TOO_LONG",
            "",
        ),
        (vec![finished("length")], 10, "ANSWER_CUT", TEXT),
        (vec![refusing("404 No", "", "")], 1, "MODEL_NOT_FOUND", ""),
        (
            vec![refusing("400 Bad", "", "what?")],
            1,
            "MODEL_REJECTED",
            "",
        ),
    ];
    for (scripts, exit, code, printed) in rows {
        let requests = scripts.len();
        let (place, server) = served(API, scripts).await;
        let ended = place.ask(&["hello"]);
        assert_eq!(ended.code, Some(exit), "{code}: {}", ended.err);
        assert_eq!(ended.answer(), printed, "{code}");
        assert!(
            ended.err.contains(&format!("[{code}]")) || code.is_empty(),
            "{}",
            ended.err
        );
        assert_eq!(server.received().len(), requests, "{code}");

        let session = place.session_but(&[]);
        assert_eq!(session.id().as_str(), ended.session_id());
        let is_whole = matches!(exit, 0 | 10);
        let kept: &[&str] = if is_whole {
            &["hello", TEXT]
        } else {
            &["hello"]
        };
        assert_eq!(texts(&session), kept, "{code}");
        let partial: &[&str] = if is_whole || printed.is_empty() {
            &[]
        } else {
            &[TEXT]
        };
        assert_eq!(attempts(&session), partial, "{code}");
        let last = session.events().last().unwrap();
        assert_eq!(last.payload.type_name(), TURN_END, "{code}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn with_json_the_error_is_the_last_event_and_stands_on_stderr_too() {
    let (place, _server) = served(API, vec![refusing("401 No", "", "bad key")]).await;
    let ended = place.ask(&["--json", "hello"]);
    assert_eq!(ended.code, Some(3));
    let last = ended.events().pop().unwrap();
    assert_eq!(
        (&last["type"], &last["code"]),
        (&"error".into(), &"MODEL_AUTH".into())
    );
    let told: serde_json::Value = serde_json::from_str(&ended.err).unwrap();
    assert_eq!(told["error"]["message"], last["message"]);
}

#[test]
fn wrong_arguments_are_no_event() {
    let place = place(API, "http://127.0.0.1:1");
    for args in [
        &["--json", "--cite", "", "hello"][..],
        &["--json", "--session", "claude:a", "hello"],
        &["--json", ""],
        &["--json", "--model", "m", "hello"],
    ] {
        let ended = place.ask(args);
        assert_eq!((ended.code, ended.answer()), (Some(2), ""), "{args:?}");
        let told: serde_json::Value = serde_json::from_str(&ended.err).unwrap();
        assert_eq!(told["error"]["code"], "USAGE", "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn without_its_key_nothing_is_sent() {
    let (place, server) = served(API, Vec::new()).await;
    let ended = place.run(&["ask", "hello"]);
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    assert!(ended.err.contains(super::KEY_NAME), "{}", ended.err);
    assert!(server.received().is_empty());
    let sessions = ibid::store::list_files(&place.home()).unwrap();
    assert!(sessions.is_empty(), "and no session is begun");
}

/// A home whose model needs the key that this script prints.
fn place_with_key(script: &str) -> super::Place {
    let place = place(API, "http://127.0.0.1:1");
    let settings = format!(
        "model = \"own/m\"\n[providers.own]\napi = \"openai-chat\"\n\
         base-url = \"http://127.0.0.1:1\"\nkey = {{ command = [\"sh\", \"-c\", \"{script}\"] }}\n"
    );
    place.write("home/config.toml", settings);
    place
}

#[test]
fn a_signal_while_the_key_is_fetched_calls_it_off_before_anything_is_sent() {
    let place = place_with_key("echo > begun; exec sleep 1000");
    let pipe = place.path("begun");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let asking = place.asking(&["hello"]);
    // Nobody can write to it before it is read.
    std::fs::read(&pipe).unwrap();
    asking.signal(Signal::TERM);
    let ended = asking.end();
    assert_eq!(ended.code, Some(143), "{}", ended.err);
    assert!(
        ended.err.contains("nothing was sent [CANCELLED]"),
        "{}",
        ended.err
    );
    assert!(ibid::store::list_files(&place.home()).unwrap().is_empty());
}

#[test]
fn a_key_command_that_fails_begins_no_session_and_nothing_it_said_is_told() {
    let place = place_with_key("echo sk-SECRET >&2; exit 3");
    let ended = place.ask(&["hello"]);
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    assert!(ended.err.contains("exit status: 3"), "{}", ended.err);
    assert!(!ended.err.contains("SECRET"), "{}", ended.err);
    assert!(ibid::store::list_files(&place.home()).unwrap().is_empty());
}

/// Only Linux tells which signals a program was started to ignore.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_signal_that_it_was_started_to_ignore_stays_ignored() {
    let (place, _server) = served(API, vec![hanging(API)]).await;
    let mut asking = place.asking_without("HUP INT", &["hello"]);
    asking.prints(TEXT);
    for ignored in [Signal::HUP, Signal::INT] {
        asking.signal(ignored);
    }
    asking.signal(Signal::TERM);
    let ended = asking.end();
    assert_eq!(ended.code, Some(143), "{}", ended.err);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_signal_calls_it_off_and_what_came_is_kept() {
    for (signal, exit) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let (place, server) = served(API, vec![hanging(API)]).await;
        let mut asking = place.asking(&["hello"]);
        asking.prints(TEXT);
        asking.signal(signal);
        let ended = asking.end();
        assert_eq!(ended.code, Some(exit), "{}", ended.err);
        assert!(ended.err.ends_with("[CANCELLED]\n"), "{}", ended.err);
        server.is_left_by(1).await;
        let session = place.session_but(&[]);
        assert_eq!(texts(&session), ["hello"]);
        assert_eq!(attempts(&session), [TEXT]);
    }
}

#[test]
fn what_cannot_be_asked_is_told_before_a_session_begins() {
    let place = place(API, "http://127.0.0.1:1");
    let rows: [(&[&str], i32, &str); 9] = [
        (&[""], 2, "USAGE"),
        (&[" \n"], 2, "USAGE"),
        (&["--model", "m", "hello"], 2, ""),
        (&["--new", "--session", "a", "hello"], 2, ""),
        (&["--session", "claude:a", "hello"], 2, "USAGE"),
        (&["--model", "nowhere/m", "hello"], 1, "NO_ADAPTER"),
        (&["--session", "gone", "hello"], 8, "SESSION_NOT_FOUND"),
        (
            &["see dsh-session:a"],
            9,
            "SESSION_REFERENCE_INVALID_REFERENCE",
        ),
        (
            &["--cite", "nothing like it", "hello"],
            9,
            "ASK_CITE_NOT_FOUND",
        ),
    ];
    for (args, exit, code) in rows {
        let ended = place.ask(args);
        assert_eq!(ended.code, Some(exit), "{args:?}: {}", ended.err);
        assert!(ended.err.contains(code), "{args:?}: {}", ended.err);
        assert_eq!(ended.answer(), "");
        assert!(ibid::store::list_files(&place.home()).unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_citation_that_cannot_be_read_sends_nothing() {
    let (place, server) = served(API, Vec::new()).await;
    let ended = place.ask(&["see dsh-session:ImEi"]);
    assert_eq!(ended.code, Some(9), "{}", ended.err);
    assert!(
        ended.err.contains("SESSION_REFERENCE_READ_FAILED"),
        "{}",
        ended.err
    );
    assert!(ibid::store::list_files(&place.home()).unwrap().is_empty());
    assert!(server.received().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_session_that_is_open_elsewhere_is_left_alone() {
    let (place, server) = served(API, Vec::new()).await;
    place.store(&said("a", ["before"]));
    let held = SessionWriter::open(&place.home(), &"a".into()).unwrap();
    let ended = place.ask(&["--session", "a", "hello"]);
    assert_eq!(ended.code, Some(8));
    assert!(ended.err.contains("open elsewhere"), "{}", ended.err);
    drop(held);
    assert_eq!(texts(&place.session("a")), ["before"]);
    assert!(server.received().is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_home_that_cannot_be_made_is_named() {
    let place = place(API, "http://127.0.0.1:1");
    let mut command = place.command();
    let command = command
        .env("IBID_HOME", "/proc/ibid")
        .args(["ask", "hello"]);
    let output = command.write_stdin("").output().unwrap();
    assert_eq!(output.status.code(), Some(8));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("/proc/ibid") && error.contains("STORE_"),
        "{error}"
    );
}

/// Files can't grow beyond this many kilobytes or half of that, as the shell
/// counts.
const LIMIT: &str = "ulimit -f 200; exec \"$@\"";

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_disk_without_room_for_the_message_sends_nothing() {
    let (place, server) = served(API, Vec::new()).await;
    let ended = limited(&place, "words ".repeat(50_000));
    assert_eq!(ended.code, Some(8), "{}", ended.err);
    assert!(ended.err.contains("[STORE_FULL]"), "{}", ended.err);
    assert!(server.received().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_answer_that_finds_no_room_is_printed_whole_and_said_to_be_lost() {
    let words = "words ".repeat(50_000);
    let event = format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{words}"}}}}]}}"#);
    let (_, end) = super::answer(API);
    let events = [vec![event.as_str()], end].concat();
    let (place, _server) = served(API, vec![ok(framed(API, &events, "\n"))]).await;
    let ended = limited(&place, "hello");
    assert_eq!(ended.code, Some(8), "{}", ended.err);
    assert!(
        ended.err.contains("the answer is not in the session"),
        "{}",
        ended.err
    );
    assert_eq!(ended.answer(), words + "\n");
    assert_eq!(texts(&place.session_but(&[])), ["hello"]);
}

/// Asks where the disk takes little more.
fn limited(place: &super::Place, prompt: impl Into<Vec<u8>>) -> super::Ended {
    let ibid = assert_cmd::cargo::cargo_bin("ibid");
    let asking = place.process();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", LIMIT, "sh"]).arg(ibid).arg("ask");
    for (name, value) in asking.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env(super::KEY_NAME, super::KEY);
    let mut command = assert_cmd::Command::from_std(command);
    let output = command.write_stdin(prompt).output().unwrap();
    super::Ended {
        code: output.status.code(),
        out: output.stdout,
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
