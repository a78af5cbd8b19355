//! The identity that is sent is the one that was picked: from the keys of a
//! real terminal to the log. The editor's own tests know more cases.

use super::home::{Place, cited, said};
use super::pty::{Screen, Terminal, ibid, rows};

/// Writes with the keys of a terminal, sends, and gives the ids that the log
/// names and the text as it was said.
fn sent(write: impl FnOnce(&mut Terminal)) -> (Vec<String>, String) {
    let place = Place::without_review();
    // Two that look the same, and one that does not.
    place.store("twin-a", "The twin", "hello", "/tmp/a");
    place.store("twin-b", "The twin", "hello", "/tmp/b");
    place.store("other", "Another thing", "hello", "/tmp/c");
    let before = place.logs();
    let mut terminal = Terminal::start(ibid(&place.home(), &place.cwd(), &[]), (60, 24));
    terminal.wait_text(">");
    write(&mut terminal);
    terminal.keys("\r");
    terminal.wait_text("This is the built-in");
    terminal.keys("\x1b");
    terminal.wait_gone("answering");
    terminal.keys("\x04");
    assert!(terminal.end().status.success());
    let log = place.new_log(&before);
    (cited(&log), said(&log).last().unwrap().clone())
}

/// Picks the session whose row holds `mark`.
fn pick(terminal: &mut Terminal, query: &str, mark: &str) {
    terminal.keys(&format!("@{query}"));
    terminal.wait_drawn("rows", |screen| selected(screen).is_some());
    for _ in 0..5 {
        let now = terminal.rows().into_iter().find(|row| row.starts_with('▌'));
        if now.as_ref().is_some_and(|row| row.contains(mark)) {
            break;
        }
        terminal.keys("\x1b[B");
        terminal.wait_drawn("another row", |screen| selected(screen) != now);
    }
    terminal.keys("\r");
    terminal.wait_drawn("a closed popup", |screen| selected(screen).is_none());
}

/// The row of the popup that would be picked.
fn selected(screen: &Screen) -> Option<String> {
    rows(screen).into_iter().find(|row| row.starts_with('▌'))
}

#[test]
fn of_two_that_look_the_same() {
    let (ids, text) = sent(|terminal| {
        pick(terminal, "twin", "/tmp/b");
        terminal.keys("or ");
        pick(terminal, "twin", "/tmp/a");
    });
    assert_eq!(ids, ["twin-b", "twin-a"]);
    assert_eq!(text.trim_end(), "@The twin or @The twin");
}

#[test]
fn with_an_at_typed_right_before_it() {
    let (ids, text) = sent(|terminal| {
        pick(terminal, "twin", "/tmp/b");
        terminal.keys("\x01@");
        terminal.wait_text("> @@The twin");
        terminal.keys("\x1b");
        terminal.wait_drawn("a closed popup", |screen| selected(screen).is_none());
        terminal.keys("\x05");
    });
    assert_eq!(ids, ["twin-b"]);
    assert_eq!(text.trim_end(), "@@The twin");
}

#[test]
fn with_a_paste_that_holds_ats_and_line_feeds() {
    let (ids, text) = sent(|terminal| {
        terminal.paste("@one\r@twin\ra@b.c ");
        terminal.wait_text("a@b.c");
        pick(terminal, "twin", "/tmp/a");
    });
    assert_eq!(ids, ["twin-a"]);
    assert_eq!(text.trim_end(), "@one\n@twin\na@b.c @The twin");
}

#[test]
fn after_wide_text_and_joined_emoji_at_the_end_of_a_wrapped_line() {
    let (ids, text) = sent(|terminal| {
        terminal.keys("世界 👩‍💻 one two three four five six seven eight nine ");
        pick(terminal, "twin", "/tmp/b");
        terminal.keys("ten");
        terminal.wait_text("ten");
    });
    assert_eq!(ids, ["twin-b"]);
    assert_eq!(
        text,
        "世界 👩‍💻 one two three four five six seven eight nine @The twin ten"
    );
}

#[test]
fn through_undo_and_redo_and_a_second_one_on_a_new_line() {
    let (ids, text) = sent(|terminal| {
        pick(terminal, "twin", "/tmp/a");
        terminal.wait_text("> @The twin");
        terminal.keys("\n");
        pick(terminal, "other", "Another");
        terminal.wait_text("@Another thing");
        terminal.keys("\x1f\x1f\x1f\x1f");
        terminal.wait_gone("Another thing");
        terminal.keys("\x1b/\x1b/\x1b/\x1b/");
        terminal.wait_text("@Another thing");
    });
    assert_eq!(ids, ["twin-a", "other"]);
    assert_eq!(text.trim_end(), "@The twin \n@Another thing");
}

#[test]
fn in_a_recalled_prompt_that_was_edited() {
    let (ids, text) = sent(|terminal| {
        pick(terminal, "twin", "/tmp/b");
        terminal.keys("\r");
        terminal.wait_text("This is the built-in");
        terminal.keys("\x1b");
        terminal.wait_gone("answering");
        terminal.wait_text("interrupted");
        terminal.keys("\x1b[A");
        terminal.wait_text("> @The twin");
        terminal.keys("\x01again ");
        terminal.wait_text("> again @The twin");
        terminal.keys("\r");
        terminal.wait_text("answering");
    });
    assert_eq!(ids, ["twin-b", "twin-b"]);
    assert_eq!(text.trim_end(), "again @The twin");
}

#[test]
fn with_half_a_mention_typed_right_before_it() {
    let (ids, text) = sent(|terminal| {
        pick(terminal, "twin", "/tmp/b");
        terminal.keys("\x01");
        terminal.paste("@[x](dsh-session:");
        terminal.wait_text("dsh-session:@The twin");
    });
    assert_eq!(ids, ["twin-b"]);
    assert_eq!(text.trim_end(), "@[x](dsh-session:@The twin");
}
