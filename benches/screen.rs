//! The longest that the UI thread works without a pause, in milliseconds.
//!
//! `cargo bench --bench screen` drives the screen's own state and drawing
//! (`App::update` and `App::draw`, all that runs on the UI thread) through what
//! is heavy, and prints the longest single step of each case beside the bound
//! of 16 ms. A step is what the loop does between two looks at its inputs: one
//! update, or one drawing.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event as TerminalEvent, KeyCode, KeyEvent, KeyModifiers};
use ibid::chat::{ChatEvent, Effect, ReviewPolicy, TitlePolicy};
use ibid::config::ThemeName;
use ibid::model::{Delta, RequestConfig};
use ibid::reference::Cause;
use ibid::reference::ports::SurfaceReader;
use ibid::reference::projection::{Capture, Item};
use ibid::reference::resolver::StepDecision;
use ibid::reference::{ReferenceConfig, ReferenceSettings, Resolver};
use ibid::runtime::{Done, Found, FoundRow, Job};
use ibid::session::{
    Entry, Event, Header, Message, MessageKind, Millis, NewEvent, Payload, Role, Session,
    SessionId, Source,
};
use ibid::tool::Tool;
use ibid::tui::app::{App, Cmd, Msg};
use ibid::tui::{Setup, Theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tokio_util::sync::CancellationToken;

const BOUND: Duration = Duration::from_millis(16);
const ROUNDS: usize = 5;

struct Screen {
    app: App,
    terminal: Terminal<TestBackend>,
    now: i64,
    longest: Duration,
    steps: u32,
    total: Duration,
}

impl Screen {
    fn new(session: Session) -> Self {
        let setup = Setup {
            // Whose window is not known: what is sent here has no end.
            chosen: RequestConfig::plain("long", "long").into(),
            review: ReviewPolicy::Always,
            titles: TitlePolicy::default(),
            max_references: 3,
            theme: Theme::of(ThemeName::Terminal),
            zone: jiff::tz::TimeZone::UTC,
        };
        Self {
            app: App::new(setup, session, None),
            terminal: Terminal::new(TestBackend::new(120, 50)).unwrap(),
            now: 0,
            longest: Duration::ZERO,
            steps: 0,
            total: Duration::ZERO,
        }
    }

    fn step<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let outcome = work(self);
        let took = start.elapsed();
        self.longest = self.longest.max(took);
        self.total += took;
        self.steps += 1;
        outcome
    }

    fn update(&mut self, msg: Msg) -> Vec<Cmd> {
        self.now += 1;
        let now = Millis(self.now);
        self.step(|screen| screen.app.update(msg, now))
    }

    fn draw(&mut self) {
        self.step(|screen| {
            let app = &mut screen.app;
            screen.terminal.draw(|frame| app.draw(frame)).unwrap();
        });
    }

    fn key(&mut self, code: KeyCode) -> Vec<Cmd> {
        let key = KeyEvent::new(code, KeyModifiers::NONE);
        let cmds = self.update(Msg::Terminal(TerminalEvent::Key(key)));
        self.draw();
        cmds
    }
}

fn prose(bytes: usize) -> String {
    "The login test fails once a day, and nobody has seen it fail twice in a row. "
        .chars()
        .cycle()
        .take(bytes)
        .collect()
}

fn session(messages: usize, bytes: usize) -> Session {
    let mut session = Session::new(Header::new("target", Millis(0), Some("/work".to_owned())));
    let text = prose(bytes);
    for index in 0..messages {
        let payload = if index.is_multiple_of(2) {
            Payload::user(Message::person(&*text))
        } else {
            let source = Source::model("offline", "offline");
            let content = vec![ibid::session::Block::text(&*text)];
            let message = Message::new(Role::Assistant, source, content);
            Payload::step(MessageKind::Assistant, message, 1, 1)
        };
        session.append(NewEvent::plain(Millis(1), payload)).unwrap();
    }
    session
}

/// A long session is gone on in: its state is made, drawn, and scrolled.
fn resumed() -> Screen {
    let session = session(10_000, 1_000);
    let start = Instant::now();
    let mut screen = Screen::new(session);
    screen.longest = start.elapsed();
    screen.draw();
    for _ in 0..50 {
        screen.key(KeyCode::PageUp);
    }
    screen
}

/// The events of a write, as the store gives them back.
fn logged(screen: &Screen, entries: Vec<Entry>) -> Vec<Arc<Event>> {
    let mut session = screen.app.session().clone();
    entries
        .into_iter()
        .map(|entry| session.append(entry.at(Millis(1))).unwrap())
        .collect()
}

/// Sends what is in the composer and has it written.
fn send(screen: &mut Screen) -> ibid::chat::Generation {
    let mut cmds = screen.key(KeyCode::Enter);
    loop {
        let mut next = Vec::new();
        for cmd in cmds {
            match cmd {
                Cmd::Job(Job::Chat(Effect::Log(generation, entries))) => {
                    let events = logged(screen, entries);
                    let event = ChatEvent::Logged(generation, Ok(events));
                    next.extend(screen.update(Msg::Done(Done::Chat(event))));
                }
                Cmd::Job(Job::Chat(Effect::Ask(generation, ..))) => return generation,
                _ => {}
            }
        }
        assert!(!next.is_empty(), "nothing was asked");
        cmds = next;
    }
}

/// 5,000 deltas a second for two seconds, 60 frames a second, into a session
/// of 10,000 messages.
fn streaming() -> Screen {
    let mut screen = Screen::new(session(10_000, 1_000));
    screen.draw();
    screen.update(Msg::Terminal(TerminalEvent::Paste("go on".to_owned())));
    let generation = send(&mut screen);
    (screen.longest, screen.total, screen.steps) = (Duration::ZERO, Duration::ZERO, 0);
    for frame in 0..FRAMES {
        for delta in 0..83 {
            let text = if delta % 40 == 0 { "\n\n" } else { "word " };
            let delta = Delta::Text(format!("{text}{frame} "));
            screen.update(Msg::Done(Done::Chat(ChatEvent::Delta(generation, delta))));
        }
        screen.draw();
    }
    screen
}

/// How many frames an answer streams for, at 60 a second.
const FRAMES: u32 = 120;

/// Typing in front of a long text.
fn typing() -> Screen {
    let mut screen = Screen::new(Session::new(Header::new("target", Millis(0), None)));
    screen.draw();
    // Short enough lines to stay text: every paste that is longer is one piece.
    for _ in 0..1_000 {
        screen.update(Msg::Terminal(TerminalEvent::Paste(prose(999) + "\n")));
    }
    screen.draw();
    for c in "and every key counts".chars() {
        screen.key(KeyCode::Char(c));
    }
    for _ in 0..50 {
        screen.key(KeyCode::Up);
    }
    screen
}

/// A hundred rows come in for every key of a query.
fn popup() -> Screen {
    let mut screen = Screen::new(Session::new(Header::new("target", Millis(0), None)));
    screen.draw();
    let rows: Vec<FoundRow> = (0..100)
        .map(|index| FoundRow {
            id: SessionId::from(format!("session-{index}")),
            label: format!("Fix the flaky login test {index}"),
            title: format!("Fix the flaky login test {index} 世界 👩‍👩‍👧"),
            tool: Tool::Codex,
            is_fork: index % 3 == 0,
            place: "~/work/api".to_owned(),
            when: Millis(0),
            matched: vec![8, 9, 10, 11],
        })
        .collect();
    for c in "@flaky".chars() {
        for cmd in screen.key(KeyCode::Char(c)) {
            if let Cmd::Job(Job::Find(query)) = cmd {
                let found = Found {
                    rows: rows.clone(),
                    matched: 100_000,
                    total: 100_000,
                    ..Found::default()
                };
                screen.update(Msg::Done(Done::Found(query, Ok(found))));
                screen.draw();
            }
        }
    }
    for _ in 0..50 {
        screen.key(KeyCode::Down);
    }
    screen
}

/// A source of any length for every id.
struct Long;

impl SurfaceReader for Long {
    fn read_surface<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> futures_util::future::BoxFuture<'a, Result<Capture, Cause>> {
        let text = prose(10_000);
        let item = |index: usize| Item {
            time: Millis(0),
            role: if index.is_multiple_of(2) {
                Role::User
            } else {
                Role::Assistant
            },
            checkpoint: false,
            text: text.as_str().into(),
        };
        let capture = Capture {
            header: Header::new(id.clone(), Millis(0), None),
            captured_through: None,
            damage: None,
            conversation: (0..1_000).map(item).collect(),
        };
        Box::pin(std::future::ready(Ok(capture)))
    }
}

/// The review of three sessions of 800 KB each: opened, read and searched.
fn review(runtime: &tokio::runtime::Runtime) -> Screen {
    let mut screen = Screen::new(Session::new(Header::new("target", Millis(0), None)));
    let mentions = "compare dsh-session:ImEi dsh-session:ImIi dsh-session:ImMi";
    for c in mentions.chars() {
        screen.key(KeyCode::Char(c));
    }
    screen.longest = Duration::ZERO;
    let settings = ReferenceSettings {
        max_reference_bytes: Some(800_000),
        ..ReferenceSettings::default()
    };
    let config = ReferenceConfig::new(settings).unwrap();
    let resolver = Resolver::new(config, Arc::new(Long));
    for cmd in screen.key(KeyCode::Enter) {
        if let Cmd::Job(Job::Chat(Effect::Prepare(generation, target, message))) = cmd {
            let decision = StepDecision::Enter(vec![message]);
            let never = CancellationToken::new();
            let prepared = runtime.block_on(resolver.pre_step(&target, decision, &never));
            let event = ChatEvent::Prepared(generation, prepared);
            screen.update(Msg::Done(Done::Chat(event)));
            screen.draw();
        }
    }
    for code in [
        KeyCode::PageDown,
        KeyCode::End,
        KeyCode::Tab,
        KeyCode::PageDown,
        KeyCode::End,
        KeyCode::Home,
        KeyCode::Right,
        KeyCode::Tab,
        KeyCode::Char('/'),
        KeyCode::Char('r'),
        KeyCode::Char('o'),
        KeyCode::Char('w'),
        KeyCode::Enter,
        KeyCode::Char('n'),
        KeyCode::Char('N'),
    ] {
        screen.key(code);
        for _ in 0..4 {
            screen.update(Msg::Work);
            screen.draw();
        }
    }
    // Enter sends: the context goes into the log.
    screen.key(KeyCode::Enter);
    screen
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let cases: [(&str, &dyn Fn() -> Screen); 5] = [
        ("resume 10,000 messages of 1 KB, scroll back", &resumed),
        ("stream 5,000 deltas/s into 10,000 messages", &streaming),
        ("type behind 1 MB of text", &typing),
        ("100 rows for every key of a popup", &popup),
        ("review three citations of 800 KB", &|| review(&runtime)),
    ];
    println!("longest step of the UI thread, best of {ROUNDS} rounds; bound 16 ms");
    for (name, case) in cases {
        let best = (0..ROUNDS)
            .map(|_| case())
            .min_by_key(|screen| screen.longest);
        let Some(screen) = best else {
            continue;
        };
        let mean = screen.total / screen.steps.max(1);
        let verdict = if screen.longest <= BOUND {
            "within"
        } else {
            "OVER"
        };
        if name.starts_with("stream") {
            let share = screen.total.as_secs_f64() / (f64::from(FRAMES) / 60.0);
            println!(
                "{name:46} takes {:.1} % of a core (bound 30)",
                share * 100.0
            );
        }
        println!(
            "{name:46} longest {:7.2} ms  mean {:7.3} ms  ratio {:5.2}  {verdict}",
            screen.longest.as_secs_f64() * 1e3,
            mean.as_secs_f64() * 1e3,
            screen.longest.as_secs_f64() / BOUND.as_secs_f64(),
        );
    }
}
