//! What a terminal gets: the same text, safe to show.

use std::io::Read;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use super::Place;
use crate::support::sessions::said;

#[test]
fn a_terminal_gets_no_control_of_the_text_and_a_pipe_gets_it_exactly() {
    let place = Place::new();
    let hostile = "red \u{1b}[31m \u{7}bell \u{9b}2J \u{202e}back \u{1b}]0;title\u{7} end";
    place.store(&said("a\u{1b}c", [hostile]));

    let exact = place.text(&["sessions", "show", "a\u{1b}c"]);
    assert!(exact.contains(hostile));

    for args in [
        &["sessions", "show", "a\u{1b}c"][..],
        &["sessions", "show", "a\u{1b}c", "--json"],
        &["sessions", "show", "b\u{1b}c"],
        &["sessions", "list"],
        &["candidates"],
        &["candidates", "--json"],
        &["prepare", "--session", "a\u{1b}c"],
        &["mention", "format", "--id", "a\u{1b}c"],
        &["bogus\u{1b}c"],
        &["bogus\u{9b}\u{202e}c"],
        &["bogus\u{9b}\u{202e}c", "--json"],
        &["sessions", "show", "b\u{9b}\u{202e}c", "--json"],
    ] {
        let shown = in_terminal(&place, args);
        assert!(!shown.is_empty(), "{args:?}");
        let control = shown
            .chars()
            .find(|c| c.is_control() && !matches!(c, '\r' | '\n') || *c == '\u{202e}');
        assert_eq!(control, None, "{args:?}: {shown:?}");
    }
}

#[test]
fn json_in_a_terminal_stays_json() {
    let place = Place::new();
    let title = "red \u{9b}2J \u{202e}back \u{7f} end";
    place.store(&said("a", [title]));
    let list = in_terminal(&place, &["candidates", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert!(!list.to_string().contains("\\u{"), "{list}");
    let error = in_terminal(&place, &["b\u{9b}\u{202e}c", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&error).unwrap();
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("b\u{9b}\u{202e}c"), "{message}");
}

#[test]
fn a_terminal_that_cannot_draw_a_screen_is_told_what_to_run_instead() {
    let place = Place::new();
    for args in [&[][..], &["demo"]] {
        let shown = in_terminal_as("dumb", &place, args);
        assert!(shown.contains("TERM=dumb"), "{shown}");
        assert!(shown.contains("`ibid ask`"), "{shown}");
        assert!(shown.contains("[NO_TERMINAL]"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }
}

/// All that a terminal gets from a run.
fn in_terminal(place: &Place, args: &[&str]) -> String {
    in_terminal_as("xterm-256color", place, args)
}

/// The same, of a terminal that goes by this name.
fn in_terminal_as(term: &str, place: &Place, args: &[&str]) -> String {
    let pair = native_pty_system().openpty(PtySize::default()).unwrap();
    let mut command = CommandBuilder::new(assert_cmd::cargo::cargo_bin("ibid"));
    command.env("TERM", term);
    command.env("IBID_HOME", place.path("home"));
    command.env("HOME", place.path("person"));
    command.cwd(place.path(""));
    command.args(args);
    let mut child = pair.slave.spawn_command(command).unwrap();
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().unwrap();
    let mut shown = Vec::new();
    // The end of a terminal is an error on some systems.
    let _ = reader.read_to_end(&mut shown);
    child.wait().unwrap();
    String::from_utf8(shown).unwrap()
}
