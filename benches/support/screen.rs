//! The screen's own state and drawing, driven without a terminal.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{Event as TerminalEvent, KeyCode, KeyEvent, KeyModifiers};
use ibid::chat::{ChatEvent, Effect, Generation, ReviewPolicy, TitlePolicy};
use ibid::config::ThemeName;
use ibid::model::RequestConfig;
use ibid::runtime::{Done, Job};
use ibid::session::{
    Block, Entry, Event, Header, Message, MessageKind, Millis, NewEvent, Payload, Role, Session,
    Source,
};
use ibid::tui::app::{App, Cmd, Msg};
use ibid::tui::{Setup, Theme};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

/// What runs on the UI thread, over a terminal of 120 columns and 50 rows.
pub struct Screen {
    pub app: App,
    terminal: Terminal<TestBackend>,
    now: i64,
    /// The longest step so far: one update, or one drawing.
    pub longest: Duration,
    pub steps: u32,
    pub total: Duration,
}

impl Screen {
    pub fn new(session: Session) -> Self {
        let setup = Setup {
            // Without a window no conversation is too long to be sent.
            chosen: RequestConfig::plain("offline", "offline").into(),
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

    pub fn step<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let start = Instant::now();
        let outcome = work(self);
        let took = start.elapsed();
        self.longest = self.longest.max(took);
        self.total += took;
        self.steps += 1;
        outcome
    }

    pub fn update(&mut self, msg: Msg) -> Vec<Cmd> {
        self.now += 1;
        let now = Millis(self.now);
        self.step(|screen| screen.app.update(msg, now))
    }

    pub fn draw(&mut self) {
        self.step(|screen| {
            let app = &mut screen.app;
            screen.terminal.draw(|frame| app.draw(frame)).unwrap();
        });
    }

    pub fn key(&mut self, code: KeyCode) -> Vec<Cmd> {
        let key = KeyEvent::new(code, KeyModifiers::NONE);
        let cmds = self.update(Msg::Terminal(TerminalEvent::Key(key)));
        self.draw();
        cmds
    }
}

pub fn prose(bytes: usize) -> String {
    "The login test fails once a day, and nobody has seen it fail twice in a row. "
        .chars()
        .cycle()
        .take(bytes)
        .collect()
}

/// A session of so many messages of so many bytes each.
pub fn session(messages: usize, bytes: usize) -> Session {
    let mut session = Session::new(Header::new("target", Millis(0), Some("/work".to_owned())));
    let text = prose(bytes);
    for index in 0..messages {
        let payload = if index.is_multiple_of(2) {
            Payload::user(Message::person(&*text))
        } else {
            let source = Source::model("offline", "offline");
            let content = vec![Block::text(&*text)];
            let message = Message::new(Role::Assistant, source, content);
            Payload::step(MessageKind::Assistant, message, 1, 1)
        };
        session.append(NewEvent::plain(Millis(1), payload)).unwrap();
    }
    session
}

/// The events of a write, as the store gives them back.
pub fn logged(screen: &Screen, entries: Vec<Entry>) -> Vec<Arc<Event>> {
    let mut session = screen.app.session().clone();
    entries
        .into_iter()
        .map(|entry| session.append(entry.at(Millis(1))).unwrap())
        .collect()
}

/// Sends what is in the composer and has it written.
pub fn send(screen: &mut Screen) -> Generation {
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
