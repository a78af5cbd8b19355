//! Providers against servers that others wrote, where they are installed:
//! `IBID_AIMOCK` names the folder that npm installed `@copilotkit/aimock` in,
//! `IBID_LLMOCK` the one that pip installed `llmock` in. `.ci/run` installs both.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ibid::model::{Api, Provider};
use serde_json::{Value, json};

use super::support::{ask, endpoint, provider, request};

/// A server that ends with the test.
pub struct Foreign {
    child: Child,
    pub url: String,
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The folder that a variable names, or a word that the test was left out.
fn installed(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        println!("left out: {variable} does not name an installation");
    }
    folder
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts a server and waits for the line that says it listens.
fn start(command: &mut Command, port: u16, ready: &str) -> Foreign {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (said, heard) = std::sync::mpsc::channel();
    let pipes: [Box<dyn std::io::Read + Send>; 2] = [
        Box::new(child.stdout.take().unwrap()),
        Box::new(child.stderr.take().unwrap()),
    ];
    for pipe in pipes {
        let said = said.clone();
        // Read to the end: a server blocks when nobody reads what it says.
        std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                let _ = said.send(line);
            }
        });
    }
    drop(said);
    let url = format!("http://127.0.0.1:{port}");
    let server = Foreign { child, url };
    let mut before = String::new();
    loop {
        let line = heard.recv_timeout(Duration::from_mins(1));
        let line = line.unwrap_or_else(|_| panic!("the server did not start: {before}"));
        if line.contains(ready) {
            return server;
        }
        before += &line;
    }
}

const SAYS: &str = "Hi \u{1f642}\u{1f642}\u{1f642} there, line one\nline two \u{e9}";
const THINKS: &str = "let me think";

fn aimock() -> Option<(Foreign, tempfile::NamedTempFile)> {
    aimock_with(&json!([
        {"match": {"userMessage": "hello"}, "response": {"content": SAYS, "reasoning": THINKS}},
        {"match": {"userMessage": "cut"}, "response": {"content": SAYS, "finishReason": "length"}},
        {"match": {"userMessage": "limit"},
            "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429}},
        {"match": {"userMessage": "torn"}, "response": {"content": SAYS},
            "latency": 5, "truncateAfterChunks": 3},
    ]))
}

/// The server, with these answers; the file that it has them from stays as long
/// as it does.
pub fn aimock_with(fixtures: &Value) -> Option<(Foreign, tempfile::NamedTempFile)> {
    let folder = installed("IBID_AIMOCK")?;
    let fixtures = json!({"fixtures": fixtures});
    let mut file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    file.write_all(fixtures.to_string().as_bytes()).unwrap();
    let port = free_port();
    let mut command = Command::new("node");
    command
        .arg(folder.join("node_modules/.bin/llmock"))
        .args(["-p", &port.to_string(), "-c", "4", "-f"])
        .arg(file.path());
    Some((start(&mut command, port, "listening"), file))
}

/// Where a format is served below an address.
pub fn base(api: Api, url: &str) -> String {
    match api {
        Api::OpenaiChat | Api::OpenaiResponses => format!("{url}/v1"),
        Api::Gemini => format!("{url}/v1beta"),
        Api::Anthropic | Api::Ollama => url.to_owned(),
    }
}

fn says(text: &str) -> ibid::model::Request {
    let mut request = request();
    request.messages = vec![std::sync::Arc::new(ibid::session::Message::person(text))];
    request
}

#[tokio::test]
async fn aimock_is_understood_in_all_five_formats() {
    let Some((server, _fixtures)) = aimock() else {
        return;
    };
    for api in Api::ALL {
        let provider = provider(endpoint(api, &base(api, &server.url)));
        let told = ask(&provider, says("hello")).await;
        assert_eq!(told.end, "stop", "{api:?}: {}", told.error);
        assert_eq!(told.text, SAYS, "{api:?}: it cuts characters in halves");
        assert_eq!(told.reasoning, THINKS, "{api:?}");

        let told = ask(&provider, says("cut")).await;
        // It has one end for every answer as by Ollama.
        let length = if api == Api::Ollama { "stop" } else { "length" };
        assert_eq!(
            (told.text.as_str(), told.end.as_str()),
            (SAYS, length),
            "{api:?}"
        );

        let told = ask(&provider, says("limit")).await;
        assert_eq!(told.end, "MODEL_RATE_LIMITED", "{api:?}: {}", told.error);
        assert!(told.error.contains("slow down"), "{api:?}: {}", told.error);
        assert_eq!(told.waits.len(), 2, "{api:?}");

        let told = ask(&provider, says("torn")).await;
        assert!(SAYS.starts_with(&told.text) && told.text != SAYS, "{api:?}");
        assert!(
            ["MODEL_NETWORK", "MODEL_STREAM_ENDED"].contains(&told.end.as_str()),
            "{api:?}: {} {}",
            told.end,
            told.error
        );
    }
    let openai = provider(endpoint(
        Api::OpenaiChat,
        &base(Api::OpenaiChat, &server.url),
    ));
    assert!(!openai.list_models().await.unwrap().models.is_empty());
}

fn llmock() -> Option<Foreign> {
    let folder = installed("IBID_LLMOCK")?;
    let port = free_port();
    let mut command = Command::new("python3");
    command
        .arg(folder.join("bin/llmock"))
        .args(["serve", "--host", "127.0.0.1", "--port", &port.to_string()])
        .env("PYTHONPATH", &folder)
        .env("NO_COLOR", "1");
    Some(start(&mut command, port, "Uvicorn running"))
}

/// Sends a request by hand: this is no model server's API.
fn control(server: &Foreign, method: &str, path: &str, body: &Value) -> String {
    use std::io::Read;
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let body = body.to_string();
    let request = format!(
        "{method} /_llmock/{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
    answer
}

#[tokio::test]
async fn llmocks_faults_are_told_apart() {
    let Some(server) = llmock() else {
        return;
    };
    let text = "one two three four five six seven eight";
    let fault = |kind: &str| json!({"type": "stream_fault", "kind": kind, "after_chunks": 3});
    let apis = [
        (Api::OpenaiChat, "v1"),
        (Api::OpenaiResponses, "v1"),
        (Api::Anthropic, "anthropic"),
        (Api::Gemini, "gemini/v1beta"),
    ];
    for (api, path) in apis {
        let provider = provider(endpoint(api, &format!("{}/{path}", server.url)));
        let script = async |behaviors: Value| {
            control(&server, "POST", "reset", &json!({}));
            control(
                &server,
                "POST",
                "scenario",
                &json!({"behaviors": behaviors}),
            );
            ask(&provider, request()).await
        };
        let reply = json!({"type": "reply", "text": text});

        let told = script(json!([reply])).await;
        assert_eq!(
            (told.text.as_str(), told.end.as_str()),
            (text, "stop"),
            "{api:?}: {}",
            told.error
        );

        let limited = json!({"type": "fail", "status": 429, "retry_after": 1});
        let told = script(json!([limited, reply])).await;
        assert_eq!(
            told.waits,
            [(Duration::from_secs(1), "MODEL_RATE_LIMITED")],
            "{api:?}"
        );
        assert_eq!(
            (told.text.as_str(), told.end.as_str()),
            (text, "stop"),
            "{api:?}"
        );

        let told = script(json!([{"type": "fail", "status": 401}])).await;
        assert_eq!(told.end, "MODEL_AUTH", "{api:?}: {}", told.error);

        for (kind, codes) in [
            ("disconnect", ["MODEL_NETWORK", "MODEL_STREAM_ENDED"]),
            ("truncate", ["MODEL_STREAM_ENDED", "MODEL_STREAM_ENDED"]),
            ("malformed", ["MODEL_BAD_RESPONSE", "MODEL_BAD_RESPONSE"]),
        ] {
            let told = script(json!([fault(kind), reply])).await;
            // Where no text had come yet, the request was made again.
            if told.waits.is_empty() {
                assert!(
                    codes.contains(&told.end.as_str()),
                    "{api:?} {kind}: {told:?}"
                );
                assert!(
                    text.starts_with(told.text.trim_end()),
                    "{api:?} {kind}: {told:?}"
                );
            }
        }
        let verdict = control(&server, "GET", "verdict", &json!({}));
        println!("{api:?}: {}", verdict.lines().last().unwrap_or_default());
    }
}
