#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice)]

mod random;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::reference::projection::{self, Capture};
use crate::session::{
    Block, Event, Message, MessageKind, Millis, NewEvent, Payload, Role, Seq, Source, TitleSource,
};

const HEADER: &str = r#"{"type":"session","version":1,"id":"s","createdAt":5,"cwd":"/w"}"#;

struct Dir(TempDir);

impl Dir {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join("log.jsonl");
        fs::write(&path, bytes).unwrap();
        path
    }
}

fn user(seq: u64, text: &str) -> String {
    json!({
        "seq": seq, "time": 1, "type": "user/message",
        "data": {"id": "m", "role": "user", "source": {"kind": "user"}, "content": [{"type": "text", "text": text}]},
        "surfaceOp": "append",
    })
    .to_string()
}

fn noise(seq: u64) -> String {
    format!(r#"{{"seq":{seq},"time":1,"type":"step/start","data":{{"step":1}}}}"#)
}

fn log(lines: &[String]) -> String {
    let mut log = format!("{HEADER}\n");
    for line in lines {
        log.push_str(line);
        log.push('\n');
    }
    log
}

/// What citing should get of a log that was read whole.
fn capture_of(read: &Recovered) -> Capture {
    Capture {
        damage: damage(&read.notices),
        ..projection::capture(&read.session)
    }
}

/// Reads a log in both ways, and gives texts and notices.
fn texts(bytes: impl AsRef<[u8]>) -> (Vec<String>, Vec<String>) {
    let dir = Dir::new();
    let path = dir.file(bytes);
    let whole = read_session(&path).unwrap();
    let brief = read_capture(&path).unwrap();
    assert_eq!(brief.capture, capture_of(&whole));
    assert_eq!(brief.notices, whole.notices);
    let texts = whole.session.derive_messages().map(Message::text).collect();
    let notices = whole.notices.iter().map(ToString::to_string).collect();
    (texts, notices)
}

fn error(bytes: impl AsRef<[u8]>) -> StoreError {
    let dir = Dir::new();
    let path = dir.file(bytes);
    let error = read_session(&path).unwrap_err();
    assert_eq!(read_capture(&path).unwrap_err().code(), error.code());
    assert_eq!(read_header(&path).unwrap_err().code(), error.code());
    assert!(error.to_string().contains(&format!("{path:?}")), "{error}");
    error
}

#[test]
fn a_log_reads_back() {
    let (texts, notices) = texts(log(&[noise(0), user(1, "a"), user(2, "b")]));
    assert_eq!(texts, ["a", "b"]);
    assert_eq!(notices, [""; 0]);
}

#[test]
fn a_header_keeps_what_it_does_not_know_and_reads_alone() {
    let dir = Dir::new();
    let line =
        r#"{"type":"session","version":0,"id":"a/b","createdAt":5,"isSeeded":true,"new":[1]}"#;
    let path = dir.file(format!("{line}\nrubbish"));
    let header = read_header(&path).unwrap();
    assert_eq!(header.id.as_str(), "a/b");
    assert_eq!(header.is_seeded, Some(true));
    assert_eq!(header.rest, *json!({"new": [1]}).as_object().unwrap());
    let written: Value = serde_json::from_slice(&encode_header(&header).unwrap()).unwrap();
    assert_eq!(written, serde_json::from_str::<Value>(line).unwrap());
}

#[test]
fn a_header_that_would_not_read_back_is_refused() {
    let mut header = Header::new("s", Millis(0), None);
    header.rest.insert("version".to_owned(), json!(7));
    let error = encode_header(&header).unwrap_err();
    assert_eq!(error.code(), "SESSION_NOT_STORABLE");
}

#[test]
fn a_tail_torn_at_any_byte_loses_nothing_before_it() {
    let before = log(&[user(0, "kept")]);
    let last = user(1, "é\n\"last\"") + "\n";
    let dir = Dir::new();
    for cut in 0..=last.len() {
        let bytes = [before.as_bytes(), &last.as_bytes()[..cut]].concat();
        let path = dir.file(&bytes);
        let read = read_session(&path).unwrap();
        let capture = read_capture(&path).unwrap();
        assert_eq!(capture.capture, capture_of(&read));
        assert_eq!(capture.notices, read.notices);
        // Without its line feed alone, the line is all there.
        let whole = cut + 1 >= last.len();
        assert_eq!(read.session.events().len(), if whole { 2 } else { 1 });
        if whole || cut == 0 {
            assert_eq!(read.notices, []);
            assert_eq!(read.valid_len, bytes.len() as u64);
        } else {
            let notice = LogNotice {
                line: 3,
                offset: before.len() as u64,
                bytes: cut as u64,
                problem: Problem::TornTail,
            };
            assert_eq!(read.notices, [notice]);
            assert_eq!(read.valid_len, before.len() as u64);
        }
    }
}

#[test]
fn a_damaged_line_is_named_and_what_follows_is_read() {
    let bad = user(1, "b").replace("\"role\"", "\"ro");
    let bytes = log(&[user(0, "a"), bad, user(2, "c"), noise(3)]);
    let (texts, notices) = texts(&bytes);
    assert_eq!(texts, ["a", "c"]);
    let offset = bytes.find("\"seq\":1").unwrap() - 1;
    assert_eq!(notices.len(), 1);
    assert!(
        notices[0].starts_with(&format!("line 3 (byte {offset}): damaged")),
        "{notices:?}"
    );
}

#[test]
fn nuls_and_invalid_utf8_are_damage_of_their_line_alone() {
    let mut bytes = log(&[user(0, "a"), user(1, "b"), user(2, "c"), user(3, "d")]).into_bytes();
    let lines: Vec<usize> = memchr::memchr_iter(b'\n', &bytes).collect();
    bytes[lines[1] + 1..lines[2]].fill(0);
    bytes[lines[3] - 30] = 0xff;
    let (texts, notices) = texts(bytes);
    assert_eq!(texts, ["a", "d"]);
    assert_eq!(notices.len(), 2);
    assert!(notices[0].starts_with("line 3 "), "{notices:?}");
    assert!(notices[1].starts_with("line 4 "), "{notices:?}");
}

#[test]
fn json_that_is_no_event_is_left_out() {
    let bytes = log(&[
        user(0, "a"),
        r#"{"seq":1,"time":1}"#.to_owned(),
        "[]".to_owned(),
        user(2, "b"),
        user(3, "c").replace("\"content\"", "\"contents\""),
    ]);
    let (texts, notices) = texts(bytes);
    assert_eq!(texts, ["a", "b"]);
    assert_eq!(notices.len(), 3);
    assert!(
        notices.iter().all(|n| n.contains("not an event")),
        "{notices:?}"
    );
}

#[test]
fn missing_events_are_reported_and_the_next_is_kept() {
    let (texts, notices) = texts(log(&[user(0, "a"), user(3, "b"), user(4, "c")]));
    assert_eq!(texts, ["a", "b", "c"]);
    assert_eq!(notices.len(), 1);
    assert!(
        notices[0].contains("events 1 to 2 are missing"),
        "{notices:?}"
    );
}

#[test]
fn a_seq_that_fits_nowhere_is_left_out() {
    for wrong in [0, 90, u64::MAX] {
        let (texts, notices) = texts(log(&[
            user(0, "a"),
            user(wrong, "wrong"),
            user(2, "c"),
            user(3, "d"),
        ]));
        assert_eq!(texts, ["a", "c", "d"], "{wrong}");
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(notices[0].starts_with("line 3 "), "{notices:?}");
    }
}

#[test]
fn what_needs_a_lost_event_is_reported_too() {
    let replacing = json!({
        "seq": 2, "time": 1, "type": "user/message",
        "data": {"role": "user", "source": {"kind": "user"}, "content": []},
        "surfaceOp": {"op": "replace", "startSeq": 0, "endSeq": 1}, "sourceEventSeqs": [0, 1],
    });
    let (texts, notices) = texts(log(&[
        user(0, "a"),
        "x".to_owned(),
        replacing.to_string(),
        user(3, "c"),
    ]));
    assert_eq!(texts, ["a", "c"]);
    assert_eq!(notices.len(), 2);
    assert!(notices[1].contains("replaces event 1"), "{notices:?}");
}

#[test]
fn notices_are_bounded_and_safe_to_print() {
    let bad = r#"{"seq":1,"time":1,"type":"user/message","data":{"role":"\u001b[31m"}}"#.to_owned();
    let (_, notices) = texts(log(&vec![bad; MAX_NOTICES + 5]));
    assert_eq!(notices.len(), MAX_NOTICES + 1);
    assert!(notices[MAX_NOTICES].ends_with("and 5 more problems from here on"));
    assert!(!notices[0].contains('\u{1b}'), "{:?}", notices[0]);
}

#[test]
fn crlf_and_blank_lines_are_white_space() {
    let bytes = log(&[user(0, "a"), noise(1), user(2, "b")]).replace('\n', "\r\n\r\n");
    let (texts, notices) = texts(bytes);
    assert_eq!(texts, ["a", "b"]);
    assert_eq!(notices, [""; 0]);
}

#[test]
fn other_files_are_named_and_refused() {
    for (bytes, found) in [
        (
            format!("\u{feff}{HEADER}\n").into_bytes(),
            "byte order mark",
        ),
        (
            b"{\"type\":\"session_meta\",\"payload\":{}}\n".to_vec(),
            "session_meta",
        ),
        (user(0, "no header").into_bytes(), "it begins with"),
        (b"\x7fELF\x02\x01\0\0\x1b[31m".to_vec(), "ELF"),
        (b"\n".to_vec(), "it begins with"),
        (
            b"{\"type\":\"session\",\"version\":1}\n".to_vec(),
            "missing field",
        ),
        (
            b"{\"type\":\"session\",\"version\":\"1\"}\n".to_vec(),
            "header",
        ),
    ] {
        let error = error(bytes);
        assert_eq!(error.code(), "SESSION_FOREIGN_FILE");
        assert!(error.to_string().contains(found), "{error}");
        assert!(!error.to_string().contains('\u{1b}'), "{error}");
    }
}

#[test]
fn a_version_from_the_future_is_named_whatever_else_changed() {
    let error = error("{\"type\":\"session\",\"version\":12,\"name\":\"s\"}\n");
    assert_eq!(error.code(), "SESSION_FORMAT_TOO_NEW");
    assert!(error.to_string().contains("version 12"), "{error}");
    assert!(error.to_string().contains("update ibid"), "{error}");
}

#[test]
fn a_header_torn_at_any_byte_is_an_unfinished_session() {
    for cut in 0..HEADER.len() {
        assert_eq!(error(&HEADER[..cut]).code(), "SESSION_UNFINISHED", "{cut}");
    }
    assert_eq!(error([0; 90]).code(), "SESSION_UNFINISHED");
    let dir = Dir::new();
    assert!(read_session(&dir.file(HEADER)).is_ok());
}

#[test]
fn folders_pipes_and_missing_files_are_told_apart() {
    let dir = Dir::new();
    let error = read_session(dir.0.path()).unwrap_err();
    assert_eq!(error.code(), "SESSION_FOREIGN_FILE");
    assert!(error.to_string().contains("folder"), "{error}");
    #[cfg(unix)]
    {
        let error = read_session(Path::new("/dev/null")).unwrap_err();
        assert!(error.to_string().contains("a pipe or a device"), "{error}");
    }
    let error = read_session(&dir.0.path().join("none")).unwrap_err();
    assert_eq!(error.code(), "STORE_IO");
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn blocks_join_without_a_seam() {
    // Lines from tiny to several times a block, so that every cut happens.
    let lines: Vec<String> = (0..400)
        .map(|seq| match seq % 10 {
            0 if seq % 100 == 0 => user(seq, &"long \n".repeat(500_000)),
            0..5 => noise(seq),
            _ => user(seq, &"é".repeat(usize::try_from(seq).unwrap() * 40)),
        })
        .collect();
    let (texts, notices) = texts(log(&lines));
    assert_eq!(texts.len(), 204);
    assert_eq!(notices, [""; 0]);
}

#[test]
fn what_was_shadowed_is_told_in_its_place_and_what_was_written_again_once() {
    let replacing = |seq: u64, text: &str, sources: &[u64]| {
        let mut line: Value = serde_json::from_str(&user(seq, text)).unwrap();
        let (start, end) = (sources[0], sources[sources.len() - 1]);
        line["surfaceOp"] = json!({"op": "replace", "startSeq": start, "endSeq": end});
        line["sourceEventSeqs"] = json!(sources);
        line.to_string()
    };
    let bytes = log(&[
        user(0, "zero"),
        user(1, "one"),
        user(2, "two"),
        replacing(3, "uno", &[1, 2]),
        replacing(4, "one", &[3]),
    ]);
    let said = read_said(&Dir::new().file(bytes)).unwrap();
    let told: Vec<_> = said.iter().map(|s| (&*s.item.text, s.cited)).collect();
    let expected = [
        ("zero", Some(0)),
        ("two", None),
        ("uno", None),
        ("one", Some(1)),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_title_is_the_latest_and_damage_in_the_last_line_is_seen() {
    let dir = Dir::new();
    let title = |seq, text| {
        let event = Event {
            seq: Seq(seq),
            time: Millis(1),
            payload: crate::session::Title::event(text, TitleSource::Person),
            surface_op: None,
            source_event_seqs: None,
            rest: serde_json::Map::new(),
        };
        serde_json::to_string(&event).unwrap()
    };
    let torn = r#"{"seq":2,"time":1,"type":"step/start","data":{}"#.to_owned();
    let bytes = log(&[title(0, "old"), title(1, "new"), torn]);
    let captured = read_capture(&dir.file(bytes.trim_end())).unwrap();
    assert_eq!(captured.title.unwrap().text, "new");
    assert_eq!(captured.capture.captured_through, Some(Seq(1)));
    assert_eq!(captured.notices[0].problem, Problem::TornTail);
}
