//! The longest that the UI thread works without a pause, in milliseconds.
//!
//! `cargo bench --bench screen` drives the screen's own state and drawing
//! (`App::update` and `App::draw`, all that runs on the UI thread) through what
//! is heavy, and prints the longest single step of each case beside the bound
//! of 16 ms. A step is what the loop does between two looks at its inputs: one
//! update, or one drawing.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

#[path = "support/screen.rs"]
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event as TerminalEvent, KeyCode};
use ibid::chat::{ChatEvent, Effect};
use ibid::model::Delta;
use ibid::reference::Cause;
use ibid::reference::ports::SurfaceReader;
use ibid::reference::projection::{Capture, Item};
use ibid::reference::resolver::StepDecision;
use ibid::reference::{ReferenceConfig, ReferenceSettings, Resolver};
use ibid::runtime::{Done, Found, FoundRow, Job};
use ibid::session::{Header, Millis, Role, Session, SessionId};
use ibid::tool::Tool;
use ibid::tui::app::{Cmd, Msg};
use support::{Screen, prose, send, session};
use tokio_util::sync::CancellationToken;

const BOUND: Duration = Duration::from_millis(16);
const ROUNDS: usize = 5;

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

/// 5,000 deltas a second for two seconds, 60 frames a second, into a session
/// of 10,000 messages.
fn streaming() -> Screen {
    let mut screen = Screen::new(session(10_000, 1_000));
    screen.draw();
    screen.update(Msg::Terminal(TerminalEvent::Paste("go on".to_owned())));
    let generation = send(&mut screen);
    screen.longest = Duration::ZERO;
    for frame in 0..120 {
        for delta in 0..83 {
            let text = if delta % 40 == 0 { "\n\n" } else { "word " };
            let delta = Delta::Text(format!("{text}{frame} "));
            screen.update(Msg::Done(Done::Chat(ChatEvent::Delta(generation, delta))));
        }
        screen.draw();
    }
    screen
}

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
    let runtime = ibid::runtime::executor().unwrap();
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
        println!(
            "{name:46} longest {:7.2} ms  mean {:7.3} ms  ratio {:5.2}  {verdict}",
            screen.longest.as_secs_f64() * 1e3,
            mean.as_secs_f64() * 1e3,
            screen.longest.as_secs_f64() / BOUND.as_secs_f64(),
        );
    }
}
