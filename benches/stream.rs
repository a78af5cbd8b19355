//! What stands between a model's server and the screen.
//!
//! `cargo bench --bench stream` prints three comparisons, all on this machine
//! alone: an answer read by a provider beside `curl -N`; the work of the UI
//! thread while 5,000 deltas a second come into a session of 10,000 messages;
//! and the way from Enter to the request on the wire beside one fsync and one
//! connection. Without `curl` the first has nothing to compare with and says so.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark"
)]

#[path = "support/process.rs"]
mod process;
#[path = "support/screen.rs"]
mod screen;
#[path = "support/server.rs"]
mod server;

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::Event as TerminalEvent;
use futures_util::StreamExt;
use ibid::chat::{Chat, ChatEvent, Draft, Effect, ReviewPolicy};
use ibid::library::{Library, StoredLogs};
use ibid::model::{
    Api, Delta, Endpoint, HttpProvider, ModelError, Models, Provider, Request, RequestConfig,
};
use ibid::reference::ports::ModelRoute;
use ibid::reference::{ReferenceConfig, ReferenceSettings};
use ibid::runtime::{Done, Job, Runtime, Services, begin, executor};
use ibid::session::{Message, Millis, Session};
use ibid::store::Home;
use ibid::tui::app::{Cmd, Msg};
use process::{Result, memory, processor_time};
use rustix::time::ClockId;
use screen::{Screen, prose, send, session};
use server::{Pace, Server};
use tokio::sync::mpsc::Receiver;

/// How much longer than `curl` reading an answer may take.
const STREAM_BOUND: f64 = 1.2;
const STREAM_ROUNDS: usize = 9;
const EVENTS: usize = 100_000;
const FRAME: Duration = Duration::from_millis(16);
/// The share of a core that a fast answer may take.
const SHARE_BOUND: f64 = 0.3;
const EARLIER_TURNS: usize = 150;
const TURNS: usize = 20;

fn main() -> Result<()> {
    let runtime = executor()?;
    for (name, pace, alike) in [
        ("all at once", Pace::Whole, true),
        ("one by one", Pace::Events, true),
        ("all at once, no two in one wrapping", Pace::Whole, false),
    ] {
        raw_stream(&runtime, name, pace, answer(EVENTS, alike))?;
    }
    fast_answer()?;
    runtime.block_on(enter_to_wire())
}

/// The events of an answer of so many pieces of text. Those of most servers
/// are alike but for their text.
fn answer(pieces: usize, alike: bool) -> Vec<String> {
    let event = |piece: usize| {
        let created = if alike { 1 } else { piece };
        format!(
            r#"{{"id":"chatcmpl-1","object":"chat.completion.chunk","created":{created},"model":"m","choices":[{{"index":0,"delta":{{"content":"word {piece} "}},"finish_reason":null}}]}}"#
        )
    };
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let ends = [end.to_owned(), "[DONE]".to_owned()];
    (0..pieces).map(event).chain(ends).collect()
}

fn provider(server: &Server) -> Result<HttpProvider> {
    let mut endpoint = Endpoint::new("p", Api::OpenaiChat, &*server.base_url);
    endpoint.proxy = Some(String::new());
    Ok(HttpProvider::new(endpoint)?)
}

fn hello() -> Request {
    asking(vec![Arc::new(Message::person("hello"))])
}

fn asking(messages: Vec<Arc<Message>>) -> Request {
    let config = RequestConfig {
        api: Some(Api::OpenaiChat),
        ..RequestConfig::plain("p", "m")
    };
    Request::answer(config, messages)
}

/// An answer as fast as loopback gives it: `curl -N`, a provider, and a bare
/// socket in turn.
fn raw_stream(
    runtime: &tokio::runtime::Runtime,
    name: &str,
    pace: Pace,
    events: Vec<String>,
) -> Result<()> {
    let bytes: usize = events.iter().map(|event| event.len() + 8).sum();
    let server = Server::start(events, pace)?;
    let provider = provider(&server)?;
    let (mut curl, mut ours, mut socket) = (None, Duration::MAX, Duration::MAX);
    let mut processor = Duration::MAX;
    let has_curl = Command::new("curl").arg("-V").output().is_ok();
    for round in 0..=STREAM_ROUNDS {
        let before = processor_time(ClockId::ProcessCPUTime)?;
        let start = Instant::now();
        runtime.block_on(runtime.spawn(read_by(provider.clone())))??;
        let took = start.elapsed();
        let used = processor_time(ClockId::ProcessCPUTime)?.saturating_sub(before);
        let answered = server.served()?;
        // The first makes the client, which later answers use.
        if round == 0 {
            continue;
        }
        ours = ours.min(took);
        processor = processor.min(used.saturating_sub(answered.processor));
        if has_curl {
            let took = read_by_curl(&server)?;
            curl = Some(curl.map_or(took, |least: Duration| least.min(took)));
            server.served()?;
        }
        let start = Instant::now();
        read_by_socket(&server, &answered.request)?;
        socket = socket.min(start.elapsed());
        server.served()?;
    }
    println!(
        "{EVENTS} events, {} MB, sent {name}; best of {STREAM_ROUNDS}\n  \
         provider {ours:?}, of the processor {processor:?}; bare socket {socket:?}",
        bytes / 1_000_000,
    );
    match curl {
        Some(curl) => println!(
            "  curl -N {curl:?} with its start, ratio {:.2} (at most {STREAM_BOUND:.2})",
            ours.div_duration_f64(curl)
        ),
        None => println!("  no ratio: curl is not installed"),
    }
    Ok(())
}

/// Runs as a task, as it does in the program.
async fn read_by(provider: HttpProvider) -> Result<(), ModelError> {
    let mut answer = provider.stream(hello());
    let mut pieces = 0;
    while let Some(piece) = answer.next().await {
        pieces += usize::from(matches!(piece?, Delta::Text(_)));
    }
    assert!(pieces > 0, "no text came");
    Ok(())
}

fn read_by_curl(server: &Server) -> Result<Duration> {
    let body = String::from_utf8(hello().body().unwrap())?;
    let url = format!("{}/chat/completions", server.base_url);
    let mut command = Command::new("curl");
    command
        .args(["-sN", "--noproxy", "*", "-o", "/dev/null"])
        .args(["-H", "content-type: application/json", "-d", &body, &url])
        .stdin(Stdio::null());
    let start = Instant::now();
    let status = command.status()?;
    let took = start.elapsed();
    assert!(status.success(), "curl failed: {status}");
    Ok(took)
}

/// Connects, asks, and reads all that comes.
fn read_by_socket(server: &Server, request: &[u8]) -> Result<usize> {
    let mut connection = TcpStream::connect(&server.address)?;
    connection.set_nodelay(true)?;
    connection.write_all(request)?;
    let mut buffer = vec![0; 64 << 10];
    let mut read = 0;
    loop {
        match connection.read(&mut buffer)? {
            0 => return Ok(read),
            some => read += some,
        }
    }
}

/// 5,000 deltas a second for ten seconds, 62 frames a second, into a session
/// of 10,000 messages; every 150 ms what came is kept.
fn fast_answer() -> Result<()> {
    const SECONDS: u32 = 10;
    let frames = Duration::from_secs(SECONDS.into()).as_millis() / FRAME.as_millis();
    let mut screen = Screen::new(session(10_000, 1_000));
    screen.draw();
    screen.update(Msg::Terminal(TerminalEvent::Paste("go on".to_owned())));
    let generation = send(&mut screen);
    let mut log = screen.app.session().clone();
    screen.longest = Duration::ZERO;
    let (mut longest, mut text) = (Duration::ZERO, 0);
    let (before, start) = (memory("VmRSS:")?, screen.total);
    for frame in 0..frames {
        let worked = screen.total;
        for delta in 0..80 {
            let text_of = if delta == 40 { "\n\n" } else { "word " };
            let delta = format!("{text_of}{frame} ");
            text += delta.len() as u64;
            let event = ChatEvent::Delta(generation, Delta::Text(delta));
            screen.update(Msg::Done(Done::Chat(event)));
        }
        if frame % 9 == 8 {
            let cmds = screen.update(Msg::Done(Done::Chat(ChatEvent::Keep(generation))));
            keep(&mut screen, &mut log, cmds);
        }
        screen.draw();
        longest = longest.max(screen.total.saturating_sub(worked));
    }
    let work = screen.total.saturating_sub(start);
    let grown = memory("VmRSS:")?.saturating_sub(before);
    println!(
        "5,000 deltas/s for {SECONDS} s into 10,000 messages, {} KB of text\n  \
         longest frame {:.2} ms (at most {}), longest step {:.2} ms\n  \
         {:.1} % of a core (at most {:.0} %), memory grows by {} KB",
        text / 1_000,
        longest.as_secs_f64() * 1e3,
        FRAME.as_millis(),
        screen.longest.as_secs_f64() * 1e3,
        work.as_secs_f64() / f64::from(SECONDS) * 1e2,
        SHARE_BOUND * 1e2,
        grown / 1_000,
    );
    Ok(())
}

/// Answers what is to be written as the store does.
fn keep(screen: &mut Screen, log: &mut Session, cmds: Vec<Cmd>) {
    for cmd in cmds {
        if let Cmd::Job(Job::Chat(Effect::Log(generation, entries))) = cmd {
            let append = |entry: ibid::session::Entry| log.append(entry.at(Millis(1))).unwrap();
            let events = entries.into_iter().map(append).collect();
            let event = ChatEvent::Logged(generation, Ok(events));
            screen.update(Msg::Done(Done::Chat(event)));
        }
    }
}

/// A conversation over a real home, and the way of one message.
struct Talk {
    chat: Chat,
    runtime: Runtime,
    done: Receiver<Done>,
    log: PathBuf,
    /// How long the log was when the model was asked.
    logged: u64,
}

impl Talk {
    fn start(home: &Home, provider: HttpProvider) -> Result<Self> {
        let models = Models::new().with(Arc::new(provider));
        let chosen = models.choose(&ModelRoute {
            provider: "p".to_owned(),
            model: "m".to_owned(),
        });
        let (slot, drafts, _) = begin(home, Some("/work".to_owned()))?;
        let session = slot.session();
        let library = Library::open(
            Arc::new(StoredLogs::new(home.clone())),
            Some(home.cache_file()),
        );
        let config = ReferenceConfig::new(ReferenceSettings::default())?;
        let services = Services::new(home.clone(), library, models, config);
        let (runtime, done) = Runtime::start(services, slot, drafts);
        Ok(Self {
            log: home.session_file(session.id()),
            chat: Chat::new(session, chosen, ReviewPolicy::Never),
            runtime,
            done,
            logged: 0,
        })
    }

    /// Sends a message and takes its answer; gives when it was sent, and how
    /// many bytes it added to the log before the model was asked.
    async fn turn(&mut self, text: &str) -> Result<(Instant, u64)> {
        let before = fs::metadata(&self.log).map_or(0, |log| log.len());
        let draft = Draft::from_text(text);
        let start = Instant::now();
        self.on(ChatEvent::Send(draft))?;
        while self.chat.is_busy() {
            let done = self.done.recv().await.ok_or("the runtime is gone")?;
            if let Done::Chat(event) = done {
                self.on(event)?;
            }
        }
        Ok((start, self.logged.saturating_sub(before)))
    }

    fn on(&mut self, event: ChatEvent) -> Result<()> {
        for effect in self.chat.update(event) {
            let asks = matches!(effect, Effect::Ask(..));
            match effect {
                Effect::ClearComposer => {}
                Effect::Say(ref notice) if !notice.is_failure() => {}
                Effect::RestoreDraft(_) | Effect::Say(_) => {
                    return Err(format!("{effect:?}").into());
                }
                other => self.runtime.run(Job::Chat(other)),
            }
            if asks {
                self.logged = fs::metadata(&self.log)?.len();
            }
        }
        Ok(())
    }
}

/// Makes the body that goes on from a session.
fn make_body(session: &Session) -> Duration {
    let start = Instant::now();
    let messages = session.derive_messages();
    let messages = messages.map(|message| Arc::new(message.clone()));
    black_box(asking(messages.collect()).body());
    start.elapsed()
}

/// From `ChatEvent::Send` until the server has read the request, beside one
/// write with fsync and one connection that carry the same bytes.
async fn enter_to_wire() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let home = Home::at(dir.path().join("home"));
    let server = Server::start(answer(30, true), Pace::Whole)?;
    let mut talk = Talk::start(&home, provider(&server)?)?;
    let text = prose(300);
    for _ in 0..EARLIER_TURNS {
        talk.turn(&text).await?;
        server.served()?;
    }
    let mut peer_log = File::create(talk.log.with_extension("peer"))?;
    let (mut ours, mut peers) = (Vec::new(), Vec::new());
    let (mut logged, mut sent) = (0, 0);
    for _ in 0..TURNS {
        let (start, bytes) = talk.turn(&text).await?;
        let answered = server.served()?;
        ours.push(answered.arrived.saturating_duration_since(start));
        (logged, sent) = (bytes, answered.request.len());
        let line = vec![b'x'; usize::try_from(bytes)?];
        let start = Instant::now();
        peer_log.write_all(&line)?;
        peer_log.sync_data()?;
        read_by_socket(&server, &answered.request)?;
        peers.push(server.served()?.arrived.saturating_duration_since(start));
    }
    report(ours, peers, logged, sent, talk.chat.session());
    drop(talk.done);
    talk.runtime.finish().await;
    Ok(())
}

fn report(
    mut ours: Vec<Duration>,
    mut peers: Vec<Duration>,
    logged: u64,
    sent: usize,
    of: &Session,
) {
    ours.sort();
    peers.sort();
    println!(
        "Enter to the request on the wire, {} messages, {logged} bytes logged, {} KB sent",
        of.derive_messages().count(),
        sent / 1_000,
    );
    for (name, at) in [("best", 0), ("median", TURNS / 2)] {
        let (own, peer) = (ours[at], peers[at]);
        println!(
            "  {name} {own:?}, one fsync and one connection {peer:?}: ratio {:.2}, {:?} more",
            own.div_duration_f64(peer),
            own.saturating_sub(peer),
        );
    }
    let mut making: Vec<Duration> = (0..TURNS).map(|_| make_body(of)).collect();
    making.sort();
    println!("  making the request's bytes takes {:?}", making[TURNS / 2]);
}
