//! Where the output goes: no terminal, a pipe that closes, a disk that is full.

use std::fs;
use std::process::{Command, Stdio};

use super::Place;
use crate::support::sessions::said;

#[test]
fn without_a_terminal_the_chat_says_what_to_run_instead() {
    let place = Place::new();
    for args in [&[][..], &["demo"]] {
        let ended = place.run(args);
        assert_eq!((ended.code, ended.out.as_slice()), (Some(1), &b""[..]));
        assert!(ended.err.contains("terminal"), "{}", ended.err);
        assert!(ended.err.contains("`ibid demo --print`"), "{}", ended.err);
        assert!(!place.path("home").exists());
    }
}

#[test]
fn the_tour_is_printed_as_text() {
    let place = Place::new();
    let tour = place.text(&["demo", "--print"]);
    for part in [
        "compare with @flak\n",
        "▌Fix the flaky login test",
        "no language model",
    ] {
        assert!(tour.contains(part), "{tour}");
    }
    let locator = tour.split("ibid spill show ").nth(1).unwrap();
    let locator = locator.split_whitespace().next().unwrap();
    assert!(
        place
            .text(&["spill", "show", locator])
            .starts_with("## user")
    );
    assert_eq!(place.text(&["sessions", "list"]), "");
}

#[test]
fn a_closed_stdout_ends_it_quietly() {
    let place = Place::new();
    let source = said("a", ["x".repeat(50_000), "y".repeat(50_000)]);
    let log = place.log("a.jsonl", &source);
    place.store(&source);
    for args in [
        &["prepare", "--log", &log, "--max-reference-bytes", "900000"][..],
        &["prepare", "--log", &log, "--json"],
        &["sessions", "show", "a"],
        &["sessions", "list", "--json"],
        &["demo", "--print"],
        &["mention", "format", "--id", "a"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(assert_cmd::cargo::cargo_bin("ibid"))
            .env("IBID_HOME", place.path("home"))
            .env("HOME", place.path("person"))
            .args(args)
            .stdin(Stdio::null())
            .stdout(writer)
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), error.as_str()),
            (Some(0), ""),
            "{args:?}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    let place = Place::new();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(assert_cmd::cargo::cargo_bin("ibid"))
        .env("IBID_HOME", place.path("home"))
        .env("HOME", place.path("person"))
        .args(["sessions", "list", "--json"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("stdout"), "{error}");
}
