//! Whatever a session holds, none of it controls the terminal: checked on the
//! bytes that the program writes.

use super::home::Place;
use super::pty::{Terminal, ibid};

/// Sequences that a session would like to send, none of which the program
/// itself ever does: clipboard, window title, links, queries, hidden text,
/// another screen, another character set, reset.
const SEQUENCES: &str = "\x1b]52;c;aGVsbG8=\x07 \x1b]0;owned\x1b\\ \x1b]8;;http://e.example\x07 \
    \x1b[6n \x1b[c \x1b[8m \x1b[3J \x1b[?47h \x1b[20t \x1b[5i \x1bP$q\"p\x1b\\ \x1b_x\x1b\\ \
    \x1b(0 \x1bc \u{9b}6n \u{9d}52;c;aGVsbG8=\u{9c} \u{90}q\u{9c}";

/// Every control character, and what turns or hides text.
fn hostile(name: &str) -> String {
    let controls = (0..0x20).chain(0x7f..0xa0).filter_map(char::from_u32);
    let directions = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}');
    let others = "\u{200e}\u{200f}\u{61c}\u{2028}\u{2029}\u{feff}\u{200b}".chars();
    let all: String = controls.chain(directions).chain(others).collect();
    format!("{name} {SEQUENCES} {all} \u{202e}{name} end")
}

/// What is in the output that the program has no business to send.
fn foreign(raw: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(raw).expect("the output is UTF-8");
    let mut foreign = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = if c == '\x1b' {
            let end = rest[1..].find(|c: char| c.is_ascii_alphabetic());
            let sequence = &rest[..end.map_or(rest.len(), |end| end + 2)];
            if !is_own(sequence) {
                foreign.push(format!("{sequence:?}"));
            }
            sequence.len()
        } else {
            if c.is_control() || turns_or_hides(c) {
                foreign.push(format!("{c:?}"));
            }
            c.len_utf8()
        };
        rest = &rest[taken..];
    }
    foreign
}

fn turns_or_hides(c: char) -> bool {
    matches!(c,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{feff}'
        | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a sequence is one that the program draws with.
fn is_own(sequence: &str) -> bool {
    let Some(body) = sequence.strip_prefix("\x1b[") else {
        return false;
    };
    let (parameters, last) = body.split_at(body.len() - 1);
    let numbers = || parameters.split(';').map(str::parse::<u16>);
    match last {
        // Where the cursor goes.
        "H" => numbers().all(|n| n.is_ok()),
        "J" => parameters == "2",
        "m" => is_own_style(parameters),
        "h" | "l" => [
            "?25", "?1000", "?1002", "?1003", "?1006", "?1015", "?1049", "?2004",
        ]
        .contains(&parameters),
        "u" => [">1", "<1"].contains(&parameters),
        _ => false,
    }
}

/// Colours and weight; none of them hides text.
fn is_own_style(parameters: &str) -> bool {
    let mut numbers = parameters.split(';').map(str::parse::<u8>);
    while let Some(number) = numbers.next() {
        let is_own = match number {
            Ok(38 | 48 | 58) => numbers.next() == Some(Ok(5)) && numbers.next().is_some(),
            Ok(number) => ![5, 6, 8].contains(&number),
            Err(_) => false,
        };
        if !is_own {
            return false;
        }
    }
    true
}

#[test]
fn the_check_finds_what_it_looks_for() {
    assert_eq!(
        foreign("\x1b[2J\x1b[1;1H\x1b[1;38;5;3mhello\x1b[?25h".as_bytes()),
        [""; 0]
    );
    let found = foreign(hostile("x").as_bytes());
    for sequence in [
        "\\u{1b}]",
        "\\u{1b}[8m",
        "\\u{1b}c",
        "\\u{9b}",
        "\\u{7}",
        "\\u{202e}",
        "\\n",
    ] {
        assert!(
            found.iter().any(|f| f.contains(sequence)),
            "{sequence}: {found:?}"
        );
    }
}

#[test]
fn nothing_hostile_in_a_session_reaches_the_terminal() {
    let place = Place::new();
    let id = hostile("evil-id");
    let said = format!(
        "evil-text\n{}\n{}",
        hostile("evil-line"),
        "filler ".repeat(20)
    );
    let log = place.store(&id, &hostile("evil-title"), &said, &hostile("/evil-cwd"));
    let mut terminal = Terminal::start(ibid(&place.home(), &place.cwd(), &[]), (150, 40));

    // The list and the popup, and the session before it is picked.
    terminal.wait_text(">");
    terminal.keys("\x14");
    terminal.wait_text("▌evil-title");
    terminal.keys("\x1b");
    terminal.wait_gone("evil-title");
    terminal.keys("look at @evil");
    terminal.wait_text("▌evil-title");
    terminal.keys("\x0f");
    terminal.wait_text("evil-line");
    terminal.wait_text("evil-cwd");
    terminal.keys("\x1b");
    terminal.wait_gone("evil-line");
    terminal.wait_text("▌evil-title");
    terminal.keys("\r");
    terminal.wait_text("look at @evil-title");

    // What is pasted is hostile as well.
    terminal.paste(&hostile("evil-paste"));
    terminal.wait_text("evil-paste");

    // Both views of the review.
    terminal.keys("\r");
    terminal.wait_text("Review");
    terminal.wait_text("evil-line");
    terminal.keys("\t");
    terminal.wait_text("referenced-sessions");
    terminal.keys("\x1b");
    terminal.wait_gone("Review");

    // A failure that names it.
    let text = std::fs::read(&log).unwrap();
    std::fs::remove_file(&log).unwrap();
    terminal.keys("\r");
    terminal.wait_text("! session \"evil-title");
    terminal.wait_text("can't be read: the session \"evil-id");
    std::fs::write(&log, text).unwrap();

    // The answer, which repeats it, and the transcript.
    terminal.keys("\r");
    terminal.wait_text("Review");
    terminal.keys("\r");
    terminal.wait_text("The last thing you said:");
    terminal.wait_gone("answering");
    terminal.keys("\x04");
    let ended = terminal.end();
    assert!(ended.status.success());
    assert_eq!(foreign(&ended.raw), [""; 0]);
}

#[test]
fn nothing_hostile_in_a_resumed_session_reaches_the_terminal() {
    let place = Place::new();
    let said = format!("evil-text\n{}", hostile("evil-line"));
    place.store(
        &hostile("evil-id"),
        &hostile("evil-title"),
        &said,
        &hostile("/evil-cwd"),
    );
    for size in [(150, 40), (20, 6)] {
        let mut terminal = Terminal::start(ibid(&place.home(), &place.cwd(), &[]), size);
        terminal.wait_text(">");
        terminal.keys("\x14");
        terminal.wait_text("▌evil-title");
        terminal.keys("\r");
        terminal.wait_gone("Sessions");
        terminal.wait_text("evil-line");
        terminal.keys("\x04");
        let ended = terminal.end();
        assert!(ended.status.success());
        assert_eq!(foreign(&ended.raw), [""; 0]);
    }
}
