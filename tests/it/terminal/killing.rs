//! Kills the program while it answers, and looks at what it left.

use std::path::Path;
use std::time::Duration;

use ibid::store::{Home, SessionWriter, list_files};

use super::home::{Place, events, eventually};
use super::pty::{Terminal, ibid, rows, shows};

/// How long a program lives at most after its message was sent.
const LIFE: Duration = Duration::from_millis(2_500);
/// The session that messages cite.
const OLD: &str = "old-1";

/// One home through many deaths.
pub struct Victim {
    place: Place,
    random: u64,
    round: u64,
    /// The round in which the session that is gone on in was begun.
    begun: Option<u64>,
    /// What was seen to be sent, and whether its answer was seen whole.
    seen: Vec<(u64, bool)>,
}

impl Victim {
    pub fn new(seed: u64) -> Self {
        let place = Place::without_review();
        place.store(OLD, "An old session", "hello", "/tmp");
        Self {
            place,
            random: seed,
            round: 0,
            begun: None,
            seen: Vec::new(),
        }
    }

    /// How many messages, and how many whole answers, were seen so far.
    pub fn seen(&self) -> (usize, usize) {
        let answers = self.seen.iter().filter(|(_, answered)| *answered).count();
        (self.seen.len(), answers)
    }

    /// Sends a message, kills the program at a random moment, and checks that
    /// everything can be opened and nothing is lost.
    pub fn round(&mut self) {
        self.round += 1;
        let round = self.round;
        // A new session now and then; else on in the one before.
        if round % 8 == 1 {
            self.begun = None;
        }
        let mut terminal = self.start();
        terminal.keys(&format!("q{round}q please "));
        if round.is_multiple_of(2) {
            terminal.keys("@old");
            terminal.wait_text("▌An old session");
            terminal.keys("\r");
            terminal.wait_text("@An old session");
        }
        terminal.keys("\r");
        let life = Duration::from_micros(self.next() % micros(LIFE));
        terminal.wait_at_most(life, |screen, _| answered(screen, round));
        let screen = terminal.kill();
        let sent = rows(&screen)
            .iter()
            .any(|row| row.contains(&format!("q{round}q")) && !row.starts_with(" >"));
        if sent {
            self.seen.push((round, answered(&screen, round)));
        }
        self.check();
    }

    fn start(&self) -> Terminal {
        let home = self.place.home();
        let mut terminal = Terminal::start(ibid(&home, &self.place.cwd(), &[]), (80, 24));
        terminal.wait_text("help");
        // What was not sent comes back as a draft.
        terminal.keys("\x05\x15");
        if let Some(begun) = self.begun {
            terminal.keys(&format!("\x14q{begun}q"));
            terminal.wait_text(&format!("▌q{begun}q please"));
            terminal.keys("\r");
            terminal.wait_gone("Sessions:");
            terminal.wait_text(&format!("ibid · q{begun}q"));
            terminal.keys("\x05\x15");
        }
        terminal
    }

    /// Opens every session, and looks for all that was seen.
    fn check(&mut self) {
        let home = Home::at(self.place.home());
        let mut questions = Vec::new();
        for file in list_files(&home).unwrap() {
            let id = file.id.expect("ids here are short");
            let opened = SessionWriter::open(&home, &id);
            let (writer, recovered) =
                opened.unwrap_or_else(|error| panic!("round {}: {error}", self.round));
            let events = recovered.session.events();
            assert!(!events.is_empty(), "round {}: an empty one", self.round);
            assert!(recovered.notices.len() <= 1, "{:?}", recovered.notices);
            drop(writer);
            questions.extend(read(&file.path));
        }
        for &(round, answered) in &self.seen {
            let found = questions.iter().find(|q| q.round == round);
            let found = found.unwrap_or_else(|| panic!("message {round} is lost"));
            assert!(found.answered || !answered, "answer {round} is lost");
        }
        let begun = self.round - (self.round - 1) % 8;
        self.begun = questions.iter().any(|q| q.round == begun).then_some(begun);
    }

    /// A number that looks random and is the same in each run.
    fn next(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap()
}

fn answered(screen: &vt100::Screen, round: u64) -> bool {
    shows(screen, &format!("you said: \"q{round}q")) && !shows(screen, "answering")
}

/// A message in a log.
struct Question {
    round: u64,
    answered: bool,
}

/// The messages of a log that rounds sent, each with the context that belongs
/// to it.
fn read(log: &Path) -> Vec<Question> {
    let mut questions: Vec<Question> = Vec::new();
    let events = events(log);
    for (at, event) in events.iter().enumerate() {
        if event["type"] == "assistant/message" {
            if let Some(question) = questions.last_mut() {
                question.answered = true;
            }
            continue;
        }
        let text = event.pointer("/data/content/0/text");
        let text = text.and_then(|text| text.as_str()).unwrap_or_default();
        let number = text.strip_prefix('q').and_then(|t| t.split_once('q'));
        let Some(round) = number.and_then(|(number, _)| number.parse().ok()) else {
            continue;
        };
        if text.contains("@An old session") {
            let context = &events[at + 1]["data"]["source"]["references"][0];
            assert_eq!(context["sessionId"], OLD, "the context of {round} is lost");
        }
        questions.push(Question {
            round,
            answered: false,
        });
    }
    questions
}

/// Types a draft, kills the program, and looks for it in the next one.
pub fn a_draft_survives() {
    let place = Place::new();
    place.store(OLD, "An old session", "hello", "/tmp");
    let start = || Terminal::start(ibid(&place.home(), &place.cwd(), &[]), (80, 24));
    let mut terminal = start();
    terminal.wait_text(">");
    terminal.keys("see @old");
    terminal.wait_text("▌An old session");
    terminal.keys("\rand think");
    terminal.wait_text("> see @An old session and think");
    eventually("the draft is saved", || {
        let drafts = std::fs::read_dir(place.home().join("drafts")).unwrap();
        drafts.flatten().any(|draft| {
            let path = draft.path();
            // One that is still being written has another name.
            path.extension()
                .is_some_and(|extension| extension == "json")
                && std::fs::read_to_string(path).is_ok_and(|text| text.contains("and think"))
        })
    });
    terminal.kill();
    let mut terminal = start();
    terminal.wait_text("> see @An old session and think");
    // The mention is one piece, as it was.
    terminal.keys("\x1bb\x1bb\x7f\x7f");
    terminal.wait_text("> see and think");
    terminal.keys("\x03\x04");
    assert!(terminal.end().status.success());
}
