//! A provider's stream against `curl -N` on the same loopback stream.
//!
//! `cargo bench --bench stream` has a server in this process send the same
//! chat completion, as fast as it is taken, to each connection: to `curl`, to
//! [`HttpProvider`] with its deltas dropped, and to a bare socket, which is
//! only read. They take turns, and the quickest of each counts. The ratio of
//! the provider to `curl` should be at most 1.2. Without `curl` it compares
//! with the socket alone, and says so.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use ibid::model::{Api, Delta, Endpoint, HttpProvider, Provider as _, Request};
use ibid::session::Message;

/// Events of an answer, each of one word.
const EVENTS: usize = 100_000;
/// How often each reads the answer.
const ROUNDS: usize = 7;
/// The most that the provider may take, as a multiple of `curl`.
const BAR: f64 = 1.2;

fn main() {
    let body = body();
    let address = serve(&body);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut best = [Duration::MAX; 3];
    let mut has_curl = true;
    for _ in 0..ROUNDS {
        let (curl, there) = curl(&address);
        has_curl &= there;
        let took = [curl, runtime.block_on(provider(&address)), socket(&address)];
        for (best, took) in best.iter_mut().zip(took) {
            *best = took.min(*best);
        }
    }
    let [curl, ours, socket] = best.map(|best| best.as_secs_f64() * 1e3);
    println!(
        "{EVENTS} events, {} MB; best of {ROUNDS}",
        body.len() / 1_000_000
    );
    println!("  provider {ours:7.1} ms, to deltas");
    println!("  socket   {socket:7.1} ms, only read");
    if has_curl {
        println!("  curl -N  {curl:7.1} ms, to nothing");
        println!("provider takes {:.2} of curl (at most {BAR})", ours / curl);
    } else {
        println!("there is no curl here: nothing to compare with but the socket");
    }
}

/// The answer as it is on the wire, without its head.
fn body() -> Vec<u8> {
    let mut body = Vec::new();
    for event in 0..EVENTS {
        writeln!(
            body,
            "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\
             \"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\" word{event}\"}},\
             \"finish_reason\":null}}]}}\n"
        )
        .unwrap();
    }
    body.extend_from_slice(
        b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
          data: [DONE]\n\n",
    );
    body
}

/// Serves the answer to every connection, from threads of its own.
fn serve(body: &[u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let answer: Arc<[u8]> = [head.as_bytes(), body].concat().into();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer) = (stream.unwrap(), Arc::clone(&answer));
            std::thread::spawn(move || {
                // The request fits in one packet; what it says makes no difference.
                let _ = stream.read(&mut [0; 16_384]);
                let _ = stream.write_all(&answer);
            });
        }
    });
    address
}

/// How long `curl` takes, and whether there is one.
fn curl(address: &str) -> (Duration, bool) {
    let start = Instant::now();
    let url = format!("http://{address}/chat/completions");
    let status = Command::new("curl")
        .args(["-sN", "--noproxy", "*", "-d", "{}", &url])
        .stdout(Stdio::null())
        .status();
    (start.elapsed(), status.is_ok_and(|status| status.success()))
}

async fn provider(address: &str) -> Duration {
    let mut endpoint = Endpoint::new("p", Api::OpenaiChat, format!("http://{address}"));
    endpoint.proxy = Some(String::new());
    let provider = HttpProvider::new(endpoint).unwrap();
    let hello = Arc::new(Message::person("hello"));
    let request = Request::answer(provider.config("m"), vec![hello]);
    let start = Instant::now();
    let mut answer = provider.stream(request);
    let mut words = 0;
    while let Some(delta) = answer.next().await {
        if let Delta::Text(text) = delta.unwrap() {
            words += text.matches(' ').count();
        }
    }
    assert_eq!(words, EVENTS);
    start.elapsed()
}

fn socket(address: &str) -> Duration {
    let start = Instant::now();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\n\r\n").unwrap();
    let mut buffer = vec![0; 1 << 16];
    while stream.read(&mut buffer).unwrap() > 0 {}
    start.elapsed()
}
