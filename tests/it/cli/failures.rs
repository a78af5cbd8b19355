//! Bad input: a clear error that names the thing and the remedy, on stderr.

use std::process::Command;

use super::Place;
use crate::support::sessions::said;

/// Runs `ibid prepare --log FILE --json` on what is refused.
#[track_caller]
fn refused_log(place: &Place, log: &str) -> (String, String) {
    let (code, message) = place.refused(&["prepare", "--log", log, "--json"]);
    assert!(message.contains(log), "{message}");
    (code, message)
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let place = Place::new();
    let missing = place.path("missing.jsonl");
    refused_log(&place, missing.to_str().unwrap());
}

#[test]
fn foreign_files_are_refused_by_name() {
    let place = Place::new();
    let elf: Vec<u8> = (0..=255).cycle().take(4096).collect();
    for content in [
        &br#"{"sessionId":"x","type":"summary","message":{"role":"user"}}"#[..],
        br#"{"type":"session","id":"x","timestamp":"2025-01-01","version":1}"#,
        b"[1,2,3]\n",
        b"hello\n",
        b"\n\n",
        b"\xef\xbb\xbf{}",
        elf.as_slice(),
    ] {
        let log = place.write("foreign", content);
        let (code, message) = refused_log(&place, &log);
        assert_eq!(code, "SESSION_FOREIGN_FILE");
        assert!(message.contains("no ibid session"), "{message}");
        assert!(message.contains("first line should be"), "{message}");
    }
}

#[test]
fn what_is_no_regular_file_is_refused_and_never_waited_for() {
    let place = Place::new();
    let fifo = place.path("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let folder = place.path(".");
    for path in [
        "/dev/null",
        fifo.to_str().unwrap(),
        folder.to_str().unwrap(),
    ] {
        assert_eq!(refused_log(&place, path).0, "SESSION_FOREIGN_FILE");
    }
}

#[test]
fn an_empty_file_is_an_unfinished_session() {
    let place = Place::new();
    let log = place.write("empty.jsonl", "");
    assert_eq!(refused_log(&place, &log).0, "SESSION_UNFINISHED");
}

#[test]
fn a_version_from_the_future_asks_for_an_update() {
    let place = Place::new();
    let header = r#"{"type":"session","version":99,"id":"a","createdAt":1}"#;
    let log = place.write("future.jsonl", format!("{header}\n"));
    let (code, message) = refused_log(&place, &log);
    assert_eq!(code, "SESSION_FORMAT_TOO_NEW");
    assert!(
        message.contains("99") && message.contains("update ibid"),
        "{message}"
    );
}

#[test]
fn an_unknown_session_is_named_once_with_what_to_do() {
    let place = Place::new();
    for (args, expected, exit) in [
        (
            &["prepare", "--session", "nope"][..],
            "SESSION_REFERENCE_READ_FAILED",
            9,
        ),
        (&["sessions", "show", "nope"], "SESSION_NOT_FOUND", 8),
    ] {
        let (code, message) = place.refused(&[args, &["--json"]].concat());
        assert_eq!(code, expected);
        assert!(message.contains("\"nope\""), "{message}");
        assert!(message.contains("`ibid sessions list`"), "{message}");

        let ended = place.run(args);
        assert_eq!((ended.code, ended.out.as_slice()), (Some(exit), &b""[..]));
        assert_eq!(ended.err, format!("ibid: {message} [{code}]\n"));
    }
}

#[test]
fn an_unknown_full_text_is_named() {
    let place = Place::new();
    let zeros = "spill:00000000000000000000000000000000";
    for locator in [zeros, "spill:../../etc/passwd", "-x", ""] {
        let (code, message) = place.refused(&["spill", "show", locator, "--json"]);
        assert_eq!(code, "SPILL_NOT_FOUND");
        assert!(message.contains(locator), "{message}");
    }
}

#[test]
fn a_budget_too_small_says_what_would_do() {
    let place = Place::new();
    let log = place.log("a.jsonl", &said("a", ["hello"]));
    let with = |budget: &str| {
        let log = log.as_str();
        let args = [
            "prepare",
            "--log",
            log,
            "--max-reference-bytes",
            budget,
            "--json",
        ];
        place.run(&args)
    };
    let (code, message) = with("10").refused();
    assert_eq!(code, "SESSION_REFERENCE_BUDGET_EXCEEDED");
    let needed = message.split("it takes ").nth(1).unwrap();
    let needed = needed.split(' ').next().unwrap();
    with(needed).json();
    assert_eq!(with("0").refused().0, "SESSION_REFERENCE_INVALID_CONFIG");
}

#[test]
fn a_fraction_out_of_range_is_refused() {
    let place = Place::new();
    for fraction in ["-0.1", "1.5", "NaN", "inf"] {
        let (code, message) = place.refused(&[
            "prepare",
            "--session",
            "a",
            "--context-window",
            "1000",
            "--fraction",
            fraction,
            "--json",
        ]);
        assert_eq!(code, "SESSION_REFERENCE_INVALID_CONFIG");
        assert!(message.contains("from 0 to 1"), "{message}");
    }
}

#[test]
fn wrong_usage_is_one_line_of_json_when_asked_for() {
    let place = Place::new();
    for args in [
        &["bogus", "--json"][..],
        &["prepare", "--json"],
        &["sessions", "--json"],
        &["sessions", "show", "--bogus", "x", "--json"],
        &[
            "prepare",
            "--session",
            "a",
            "--max-reference-bytes",
            "many",
            "--json",
        ],
        &[
            "prepare",
            "--session",
            "a",
            "--max-reference-bytes",
            "1",
            "--context-window",
            "1",
            "--json",
        ],
        &["prepare", "--session", "a", "--fraction", "0.5", "--json"],
        &["candidates", "--limit", "-1", "--json"],
        &["mention", "format", "--json"],
    ] {
        let ended = place.run(args);
        assert_eq!(ended.code, Some(2), "{args:?}");
        let (code, message) = ended.refused();
        assert_eq!(code, "USAGE", "{args:?}");
        assert!(
            !message.contains('\n') && !message.starts_with("error"),
            "{message}"
        );
        assert!(message.contains("--help"), "{message}");
    }
    let ended = place.run(&["bogus"]);
    assert_eq!((ended.code, ended.out.as_slice()), (Some(2), &b""[..]));
    assert!(ended.err.contains("bogus"), "{}", ended.err);
}

#[test]
fn a_wrong_setting_is_named_with_its_file_and_line() {
    let place = Place::new();
    place.home().create().unwrap();
    let config = place.write("home/config.toml", "review = \"never\"\nreveiw = 1\n");
    let (code, message) = place.refused(&["sessions", "list", "--json"]);
    assert_eq!(code, "CONFIG_INVALID");
    assert!(message.contains(&config), "{message}");
    assert!(
        message.contains("line 2") && message.contains("reveiw"),
        "{message}"
    );
    assert!(!message.contains('\n'), "{message}");

    place.write("home/config.toml", "[references]\nmax-references = 4\n");
    let (code, message) = place.refused(&["candidates", "--json"]);
    assert_eq!(code, "CONFIG_INVALID");
    assert!(message.contains(&config), "{message}");
    assert!(message.contains("references.max-references"), "{message}");
}

#[test]
fn a_home_that_is_a_file_or_in_one_is_named() {
    let place = Place::new();
    let file = place.write("home", "");
    for home in [file.clone(), format!("{file}/inside")] {
        for args in [
            &["sessions", "list", "--json"][..],
            &["prepare", "--session", "a", "--json"],
            &["candidates", "--json"],
            &["spill", "show", "x", "--json"],
        ] {
            let mut command = place.command();
            let output = command.env("IBID_HOME", &home).args(args).output().unwrap();
            let error = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(8));
            assert!(error.contains("STORE_NOT_A_DIRECTORY"), "{error}");
            assert!(
                error.contains(&file) && error.contains("IBID_HOME"),
                "{error}"
            );
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_home_that_can_t_be_made_still_lets_logs_be_read() {
    let place = Place::new();
    let log = place.log("a.jsonl", &said("a", ["x".repeat(5000)]));
    let args = ["prepare", "--log", &log, "--max-reference-bytes", "600"];
    let mut command = place.command();
    let output = command
        .env("IBID_HOME", "/proc/ibid")
        .args(args)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"## Referenced sessions"));
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(warning.contains("/proc/ibid"), "{warning}");
    assert_eq!(warning.lines().count(), 1, "{warning}");
}
