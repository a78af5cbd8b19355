//! The story: cite a session, read what goes, send it, read the answer, quit,
//! resume.

use std::fs;

use super::home::{Place, cited, events, said};
use super::pty::{Terminal, ibid, rows, shows, squeeze};

/// The sample that is cited.
const FLAKY: &str = "4b550ae4-1436-49c8-99cf-03fa9266bdfd";
/// The end of the offline model's answer.
const LAST_WORDS: &str = "and tell me what changed\"";

/// Makes the screen tiny and huge before it is as it was.
fn shake(terminal: &mut Terminal, (columns, rows): (u16, u16)) {
    terminal.resize(10, 3);
    terminal.resize(200, 60);
    terminal.resize(1, 1);
    terminal.resize(columns, rows);
}

/// Moves down a list until the row that begins so is selected.
fn select(terminal: &mut Terminal, title: &str) {
    let selected = |rows: Vec<String>| rows.into_iter().find(|row| row.starts_with('▌'));
    let wanted = format!("▌{title}");
    for _ in 0..20 {
        terminal.wait_drawn("a selected row", |screen| selected(rows(screen)).is_some());
        let now = selected(terminal.rows()).unwrap();
        if now.starts_with(&wanted) {
            return;
        }
        terminal.keys("\x1b[B");
        terminal.wait_drawn("another selected row", |screen| {
            selected(rows(screen)).is_some_and(|row| row != now)
        });
    }
    panic!("no row {title}: {:?}", terminal.rows());
}

/// Scrolls the pane down until a text is in sight. What was pressed before has
/// to be on the screen already: any other change would be taken for what the
/// key does, and a row be passed unseen.
fn scroll_to(terminal: &mut Terminal, text: &str) {
    loop {
        let mut now = Vec::new();
        terminal.wait_drawn("a whole frame", |screen| {
            now = rows(screen);
            true
        });
        if squeeze(&now.concat()).contains(&squeeze(text)) {
            return;
        }
        terminal.keys("\x1b[B");
        terminal.wait_drawn(text, |screen| rows(screen) != now);
    }
}

fn whole_story(size: (u16, u16), at_each_step: fn(&mut Terminal, (u16, u16))) {
    let place = Place::new();
    let mut terminal = Terminal::start(ibid(&place.home(), &place.cwd(), &["demo"]), size);
    terminal.wait_text(">");
    at_each_step(&mut terminal, size);

    terminal.keys("compare with @flak");
    select(&mut terminal, "Fix the flaky");
    at_each_step(&mut terminal, size);
    select(&mut terminal, "Fix the flaky");
    terminal.keys("\r");
    terminal.wait_text("@Fix the flaky login test");
    terminal.keys("and tell me what changed");
    terminal.wait_text("me what changed");
    at_each_step(&mut terminal, size);
    assert!(
        place.logs().is_empty(),
        "nothing is logged before it is sent"
    );

    terminal.keys("\r");
    terminal.wait_drawn("the review", |screen| {
        shows(screen, "Review") && !shows(screen, "Preparing")
    });
    at_each_step(&mut terminal, size);
    for fact in ["42 of 75 messages", "█", "of 100.0 KB", "omitted", "spill:"] {
        scroll_to(&mut terminal, fact);
    }
    terminal.keys("\t");
    terminal.wait_text("## Referenced session");
    scroll_to(&mut terminal, "<referenced-sessions");
    at_each_step(&mut terminal, size);
    assert!(
        place.logs().is_empty(),
        "nothing is logged before it is agreed to"
    );

    terminal.keys("\r");
    terminal.wait_text("answering");
    at_each_step(&mut terminal, size);
    terminal.wait_text(LAST_WORDS);
    terminal.wait_gone("answering");
    terminal.wait_text(LAST_WORDS);
    terminal.keys("\x04");
    assert!(terminal.end().status.success());

    let log = place.new_log(&[]);
    let written = fs::read(&log).unwrap();
    assert_eq!(cited(&log), [FLAKY]);
    let question = &said(&log)[0];
    assert_eq!(
        question,
        "compare with @Fix the flaky login test and tell me what changed"
    );
    let answers: Vec<_> = events(&log)
        .into_iter()
        .filter(|event| event["type"] == "assistant/message")
        .collect();
    assert_eq!(answers.len(), 1);

    resume(&place, size, at_each_step);
    assert_eq!(fs::read(&log).unwrap(), written, "reading changes nothing");
}

/// Opens the session once more, and reads everything in it.
fn resume(place: &Place, size: (u16, u16), at_each_step: fn(&mut Terminal, (u16, u16))) {
    let mut terminal = Terminal::start(ibid(&place.home(), &place.cwd(), &[]), size);
    terminal.wait_text(">");
    terminal.keys("\x14");
    terminal.wait_text("Sessions");
    terminal.wait_text("▌compare with");
    at_each_step(&mut terminal, size);
    terminal.wait_text("▌compare with");
    terminal.keys("\r");
    terminal.wait_text(LAST_WORDS);
    at_each_step(&mut terminal, size);
    let mut seen = String::new();
    // From the end to the start: every screen differs from the one before.
    loop {
        let now = terminal.rows();
        seen = now.concat() + &seen;
        if shows_question(&now) {
            break;
        }
        terminal.keys("\x1b[5~");
        terminal.wait_drawn("an earlier screen", |screen| rows(screen) != now);
    }
    let seen = squeeze(&seen);
    for text in [
        "compare with @Fix the flaky login test",
        "42 of 75 messages",
        "full text saved",
        "This is the built-in offline model",
    ] {
        assert!(seen.contains(&squeeze(text)), "{text}: {seen}");
    }
    terminal.keys("\x04");
    assert!(terminal.end().status.success());
}

fn shows_question(rows: &[String]) -> bool {
    rows.iter().any(|row| row.trim_start().starts_with("You"))
}

#[test]
fn a_session_is_cited_sent_answered_and_resumed() {
    whole_story((80, 24), |_, _| {});
}

#[test]
fn the_story_survives_resizes_at_every_step() {
    whole_story((80, 24), shake);
}

#[test]
fn the_story_fits_a_tiny_screen() {
    whole_story((20, 6), |_, _| {});
}

#[test]
fn the_story_survives_resizes_of_a_tiny_screen() {
    whole_story((20, 6), shake);
}

#[test]
fn without_a_terminal_the_program_says_what_to_run() {
    let place = Place::new();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_ibid"))
        .env("IBID_HOME", place.home())
        .output()
        .unwrap();
    assert!(!output.status.success());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("ibid demo --print"), "{error}");
}

#[test]
fn the_list_says_when_nothing_is_there() {
    let place = Place::new();
    let mut terminal = Terminal::start(ibid(&place.home(), &place.cwd(), &[]), (80, 24));
    terminal.wait_text(">");
    terminal.keys("@");
    terminal.wait("an empty list", |screen| {
        shows(screen, "no other sessions here yet")
    });
    terminal.keys("\x03\x04");
    assert!(terminal.end().status.success());
}
