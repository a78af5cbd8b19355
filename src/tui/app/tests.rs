//! The screen as a whole, driven by keys, with stub answers: what is asked
//! for, what is shown, and which session is cited.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod anything;
mod citing;
mod commands;
mod compacting;
mod editing;
mod identity;
mod layouts;
mod listing;
mod models;
mod phrases;
mod sessions;
mod texts;
mod turning;
mod turns;

use std::sync::Arc;

use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::Modifier;

use super::{App, Cmd, Msg, Setup};
use crate::chat::testing::{World, asked_to_prepare, chosen};
use crate::chat::{ChatEvent, Draft, Effect, ReviewPolicy};
use crate::reference::mention;
use crate::runtime::{Done, Found, FoundRow, Job, Query, TextFound, TextQuery, TextRow};
use crate::session::{Millis, Role, SessionId};
use crate::tool::Tool;
use crate::tui::testing::{assert_clean, mono, shown};
use crate::tui::view;

const HOUR: i64 = 3_600_000;
/// When the tests happen.
const NOW: i64 = 1_000 * HOUR;

/// A screen with a person before it and the rest of the program behind it.
struct Bench {
    app: App,
    world: World,
    /// What was wanted since it was last looked at.
    cmds: Vec<Cmd>,
    now: i64,
    terminal: Terminal<TestBackend>,
}

impl Bench {
    fn new() -> Self {
        Self::with(ReviewPolicy::Always)
    }

    fn with(review: ReviewPolicy) -> Self {
        let world = World::new();
        let setup = Setup {
            chosen: chosen(),
            review,
            titles: crate::chat::TitlePolicy::default(),
            max_references: 3,
            theme: mono(),
            zone: jiff::tz::TimeZone::UTC,
        };
        let mut bench = Self {
            app: App::new(setup, world.log.clone(), None),
            world,
            cmds: Vec::new(),
            now: NOW,
            terminal: Terminal::new(TestBackend::new(80, 24)).unwrap(),
        };
        bench.draw();
        bench
    }

    fn update(&mut self, msg: Msg) {
        let cmds = self.app.update(msg, Millis(self.now));
        self.cmds.extend(cmds);
    }

    /// Presses a key, as its name in the help has it.
    fn press(&mut self, name: &str) {
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = name;
        for (prefix, modifier) in [
            ("Ctrl-", KeyModifiers::CONTROL),
            ("Alt-", KeyModifiers::ALT),
            ("Shift-", KeyModifiers::SHIFT),
        ] {
            if let Some(after) = rest.strip_prefix(prefix) {
                modifiers |= modifier;
                rest = after;
            }
        }
        let code = match rest {
            "Enter" => KeyCode::Enter,
            "Esc" => KeyCode::Esc,
            "Tab" => KeyCode::Tab,
            "Up" => KeyCode::Up,
            "Down" => KeyCode::Down,
            "Left" => KeyCode::Left,
            "Right" => KeyCode::Right,
            "Home" => KeyCode::Home,
            "End" => KeyCode::End,
            "PgUp" => KeyCode::PageUp,
            "PgDn" => KeyCode::PageDown,
            "Backspace" => KeyCode::Backspace,
            "Delete" => KeyCode::Delete,
            "F1" => KeyCode::F(1),
            _ => KeyCode::Char(rest.chars().next().unwrap()),
        };
        let key = KeyEvent::new(code, modifiers);
        self.update(Msg::Terminal(Event::Key(key)));
    }

    fn press_all(&mut self, names: &[&str]) {
        for name in names {
            self.press(name);
        }
    }

    fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
            self.update(Msg::Terminal(Event::Key(key)));
        }
    }

    fn paste(&mut self, text: &str) {
        self.update(Msg::Terminal(Event::Paste(text.to_owned())));
    }

    fn mouse(&mut self, kind: MouseEventKind, (column, row): (u16, u16)) {
        self.update(Msg::Terminal(Event::Mouse(MouseEvent {
            kind,
            column,
            row,
            modifiers: KeyModifiers::NONE,
        })));
    }

    fn click(&mut self, at: (u16, u16)) {
        self.mouse(MouseEventKind::Down(MouseButton::Left), at);
    }

    /// The queries asked since it was last looked at.
    fn queries(&mut self) -> Vec<Query> {
        let (finds, rest) = std::mem::take(&mut self.cmds)
            .into_iter()
            .partition(|cmd| matches!(cmd, Cmd::Job(Job::Find(_))));
        self.cmds = rest;
        let finds: Vec<Cmd> = finds;
        finds
            .into_iter()
            .map(|cmd| match cmd {
                Cmd::Job(Job::Find(query)) => query,
                _ => panic!("only queries were taken"),
            })
            .collect()
    }

    /// Answers the newest query with these sessions: id, title, place.
    fn find(&mut self, rows: &[(&str, &str, &str)]) {
        let query = self.queries().pop().expect("a query is out");
        self.find_for(query, rows);
    }

    fn find_for(&mut self, query: Query, rows: &[(&str, &str, &str)]) {
        let found = Found {
            rows: rows.iter().map(|row| found_row(&query.text, row)).collect(),
            matched: rows.len(),
            total: 1_204,
            ..Found::default()
        };
        self.update(Msg::Done(Done::Found(query, Ok(found))));
    }

    /// The queries for what was said, since it was last looked at.
    fn text_queries(&mut self) -> Vec<TextQuery> {
        let mut queries = Vec::new();
        for cmd in std::mem::take(&mut self.cmds) {
            match cmd {
                Cmd::Job(Job::Search(query)) => queries.push(query),
                other => self.cmds.push(other),
            }
        }
        queries
    }

    /// Answers the newest of these with messages: id, title, what was said. The
    /// query matches there.
    fn search(&mut self, rows: &[(&str, &str, &str)]) {
        let query = self.text_queries().pop().expect("a query is out");
        self.search_for(query, rows);
    }

    fn search_for(&mut self, query: TextQuery, rows: &[(&str, &str, &str)]) {
        let found = TextFound {
            rows: rows.iter().map(|row| text_row(&query.text, row)).collect(),
            matched: rows.len(),
            ..TextFound::default()
        };
        self.update(Msg::Done(Done::Searched(query, Ok(found))));
    }

    /// Types an `@` and a query, and picks the session found.
    fn cite(&mut self, id: &str, title: &str) {
        self.type_text("@");
        self.find(&[(id, title, "~/work/api")]);
        self.press("Enter");
    }

    /// What the conversation wants done, since it was last looked at.
    fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.cmds)
            .into_iter()
            .filter_map(|cmd| match cmd {
                Cmd::Job(Job::Chat(effect)) => Some(effect),
                _ => None,
            })
            .collect()
    }

    fn chat(&mut self, event: ChatEvent) {
        self.update(Msg::Done(Done::Chat(event)));
    }

    fn prepare(&mut self) {
        let effects = self.effects();
        let event = self.world.prepare(&effects);
        self.chat(event);
    }

    fn recheck(&mut self) {
        let effects = self.effects();
        let event = self.world.recheck(&effects);
        self.chat(event);
    }

    fn log(&mut self) {
        let effects = self.effects();
        let event = self.world.log(&effects);
        self.chat(event);
    }

    /// Sends the draft; gives the ids of the sessions that it cites, and the
    /// message as it would be read by a person.
    fn sent(&mut self) -> (Vec<String>, String) {
        self.cmds.clear();
        self.press("Enter");
        let (_, _, message) = asked_to_prepare(&self.effects());
        let mut cited = Vec::new();
        let mut text = String::new();
        for block in message.content.iter().filter_map(|block| block.as_text()) {
            let parsed = mention::parse(block).unwrap();
            cited.extend(parsed.references);
            text.push_str(&parsed.text);
        }
        let ids = cited.into_iter().map(|r| r.session_id.as_str().to_owned());
        (ids.collect(), text)
    }

    fn draft(&self) -> Draft {
        self.app.editor.draft()
    }

    fn text(&self) -> String {
        let parts = self.draft().parts;
        parts
            .into_iter()
            .map(|part| match part {
                crate::chat::Part::Text(text) => text,
                crate::chat::Part::Element(crate::chat::Element::Mention {
                    session_id, ..
                }) => {
                    format!("<{session_id}>")
                }
                crate::chat::Part::Element(crate::chat::Element::Paste { text }) => {
                    format!("<{} chars>", text.chars().count())
                }
            })
            .collect()
    }

    fn draw(&mut self) -> &Buffer {
        let app = &mut self.app;
        self.terminal.draw(|frame| view::draw(app, frame)).unwrap();
        let buffer = self.terminal.backend().buffer();
        assert_clean(buffer);
        buffer
    }

    /// The screen as a person sees it.
    fn screen(&mut self) -> String {
        shown(self.draw())
    }

    /// The same at another size.
    fn screen_at(&mut self, width: u16, height: u16) -> String {
        self.terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        self.screen()
    }

    /// The last row of the screen, which hints at keys.
    fn hints(&mut self) -> String {
        self.screen().lines().last().unwrap_or_default().to_owned()
    }

    /// The notice, its rows joined.
    fn notice(&mut self) -> String {
        let screen = self.screen();
        let rows = screen.lines().filter_map(|row| row.strip_prefix(" ! "));
        rows.collect::<Vec<_>>().join(" ")
    }

    /// The row of the screen that the cursor of a list stands in.
    fn selected(&mut self) -> String {
        let screen = self.screen();
        let row = screen.lines().find_map(|row| row.strip_prefix('▌'));
        let title = row.unwrap_or_default().split("  ").next();
        title.unwrap_or_default().to_owned()
    }

    fn caret(&mut self) -> Position {
        self.draw();
        self.terminal.get_cursor_position().unwrap()
    }

    /// All characters that are bold within a row of the screen.
    fn bold_in(&mut self, row: u16) -> String {
        let buffer = self.draw();
        (0..buffer.area.width)
            .map(|x| &buffer[(x, row)])
            .filter(|cell| cell.modifier.contains(Modifier::BOLD))
            .map(|cell| cell.symbol().to_owned())
            .collect()
    }

    /// The number of the first row that contains a text.
    fn row_of(&mut self, text: &str) -> u16 {
        let screen = self.screen();
        let found = screen.lines().position(|row| row.contains(text));
        u16::try_from(found.unwrap_or_else(|| panic!("no {text:?} in\n{screen}"))).unwrap()
    }
}

/// A row whose title matches from its first characters on.
fn found_row(query: &str, (id, title, place): &(&str, &str, &str)) -> FoundRow {
    let start = title.to_lowercase().find(&query.to_lowercase());
    let matched = start.map_or(0..0, |start| {
        let start = u32::try_from(title.split_at(start).0.chars().count()).unwrap();
        start..start + u32::try_from(query.chars().count()).unwrap()
    });
    FoundRow {
        id: SessionId::from(*id),
        label: (*title).to_owned(),
        title: (*title).to_owned(),
        tool: Tool::of(&SessionId::from(*id)),
        is_fork: false,
        place: (*place).to_owned(),
        when: Millis(NOW - 2 * HOUR),
        matched: matched.collect(),
    }
}

/// A message in which the query is marked.
fn text_row(query: &str, (id, title, snippet): &(&str, &str, &str)) -> TextRow {
    let mark = snippet.find(query).map(|at| at..at + query.len());
    let id = SessionId::from(*id);
    TextRow {
        tool: Tool::of(&id),
        id,
        label: (*title).to_owned(),
        title: (*title).to_owned(),
        place: "~/work/api".to_owned(),
        message: Some(1),
        matches: 1,
        when: Millis(NOW - 2 * HOUR),
        role: Role::User,
        snippet: (*snippet).to_owned(),
        marks: mark.into_iter().collect(),
    }
}

/// Three sessions to pick from.
const THREE: [(&str, &str, &str); 3] = [
    ("flaky", "Fix the flaky login test", "~/work/api"),
    ("page", "Login page redesign", "~/work/web"),
    ("arm", "flaky CI on arm64", "~/work/api"),
];

fn looked(id: &str, world: &World) -> Msg {
    use crate::reference::ports::SurfaceReader as _;
    use futures_util::FutureExt as _;
    let id = SessionId::from(id);
    let read = world.sources.read_surface(&id).now_or_never().unwrap();
    let outcome = read.map(Arc::new).map_err(|cause| cause.to_string());
    Msg::Done(Done::Looked(id, outcome))
}
