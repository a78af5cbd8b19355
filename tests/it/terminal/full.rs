//! A disk that takes no more.

use super::home::Place;
use super::pty::{self, CommandBuilder, Terminal};

/// Starts the program so that no file of it can grow beyond some 100 KB. The
/// system tells it so by a signal, which would end a program that does not
/// care; then a write behind that limit fails as one on a full disk does.
fn start_limited(place: &Place) -> Terminal {
    let mut command = CommandBuilder::new("sh");
    command.args(["-c", "ulimit -f 200; exec \"$0\""]);
    command.arg(env!("CARGO_BIN_EXE_ibid"));
    pty::set_up(&mut command, &place.home(), &place.cwd());
    let terminal = Terminal::start(command, (80, 24));
    terminal.wait_text("help");
    terminal
}

#[test]
fn a_draft_that_cannot_be_saved_is_told_when_the_screen_is_gone() {
    let place = Place::new();
    let mut terminal = start_limited(&place);
    terminal.paste(&format!("{}the last words", "words ".repeat(40_000)));
    terminal.wait_text("[pasted 240,014 chars]");
    terminal.wait_text("[STORE_FULL]");
    pty::signal(terminal.process(), "TERM");
    let output = String::from_utf8(terminal.end().raw).unwrap();
    let (_, told) = output.rsplit_once("\x1b[?1049l").unwrap();
    assert!(told.contains("ibid: the draft is not saved: "), "{told}");
    // There is no room for a file either.
    assert!(told.contains("words the last words"), "{told}");
}

#[test]
fn a_full_disk_is_told_and_the_draft_is_kept() {
    let place = Place::new();
    let log = place.store("big", "A big session", &"words ".repeat(20_000), "/tmp");
    let written = std::fs::read(&log).unwrap();
    // The log is beyond what files may grow to, drafts are not.
    let mut terminal = start_limited(&place);
    terminal.keys("\x14");
    terminal.wait_text("▌A big session");
    terminal.keys("\r");
    terminal.wait_text("ibid · A big session");
    terminal.keys("an important thought\r");
    terminal.wait_text("[STORE_FULL]");
    terminal.wait_text("> an important thought");
    assert_eq!(std::fs::read(&log).unwrap(), written, "half is not written");
    terminal.keys("\x1b");
    terminal.wait_gone("[STORE_FULL]");
    terminal.wait_text("> an important thought");
    terminal.keys("\x03\x04");
    assert!(terminal.end().status.success());
}

#[test]
fn a_home_that_is_a_file_is_named() {
    let place = Place::new();
    let file = place.cwd().join("file");
    std::fs::write(&file, "").unwrap();
    let terminal = Terminal::start(pty::ibid(&file, &place.cwd(), &[]), (80, 24));
    let ended = terminal.end();
    assert!(!ended.status.success());
    let output = String::from_utf8(ended.raw).unwrap();
    assert!(output.contains("work/file"), "{output}");
    assert!(!output.contains("\x1b["), "the screen was never taken");
}
