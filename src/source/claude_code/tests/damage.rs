//! Damaged, hostile and unknown records.

use std::path::Path;

use super::*;
use crate::source::SourceNotice;

#[test]
fn unknown_and_damaged_records_are_counted_and_the_rest_is_read() {
    let lines = [
        "\u{feff}".to_owned() + &user("u1", "", "q1"),
        r#"{"type":"brand-new","x":1}"#.to_owned(),
        r#"{"type":"mode","mode":"normal"}"#.to_owned(),
        r#"{"type":"ended-by-model","sessionId":"s"}"#.to_owned(),
        r#"{"sessionId":"s","type":"observer-ref"}"#.to_owned(),
        "garbage".to_owned(),
        format!(
            "{}{}",
            &model("a0", "u1", "torn")[..40],
            model("a1", "u1", "r1")
        ),
        format!("\0\0\0{}", user("u2", "a1", "q2")),
        r#"{"type":"queue-operation","content":"to"#.to_owned(),
    ];
    let session = read_lines(&lines);
    assert_eq!(told(&session), ">q1 <r1 >q2");
    assert_eq!(session.notices, [SourceNotice::Skipped { records: 5 }]);
}

#[test]
fn where_a_damaged_line_broke_the_chain_it_goes_on_before_it() {
    let lines = [
        user("u1", "", "q1"),
        model("a1", "u1", "r1")[..60].to_owned(),
        user("u2", "a1", "q2"),
        model("a2", "u2", "r2"),
    ];
    assert_eq!(conversation(&lines), ">q1 >q2 <r2");
}

#[test]
fn records_that_point_at_themselves_or_in_a_ring_end() {
    let ring = [user("y", "z", "c"), user("z", "y", "d")];
    assert_eq!(conversation(&ring), ">c >d");
    let own = [
        user("x", "x", "a"),
        user("x", "x", "b"),
        user("z", "x", "c"),
    ];
    assert_eq!(conversation(&own), ">b >c");
}

#[test]
fn a_later_record_of_the_same_uuid_takes_the_place() {
    let lines = [
        user("u", "", "old"),
        model("a", "u", "r"),
        user("u", "", "new"),
    ];
    let marked = [&lines[..], &[marker("u")]].concat();
    assert_eq!(conversation(&marked), ">new <r");
}

#[test]
fn dialogue_of_no_known_form_is_an_error_that_names_the_version() {
    let strange = record(
        "user",
        "u",
        "",
        r#""message":{"content":[{"type":"words","v":"q"}]}"#,
    );
    let error = read_at("s.jsonl", std::slice::from_ref(&strange)).unwrap_err();
    assert_eq!(error.code(), "SOURCE_NO_DIALOGUE");
    assert!(error.to_string().contains("2.1.0"), "{error}");
    let session = read_lines(&[strange, user("v", "u", "q")]);
    assert_eq!(session.notices, [SourceNotice::Skipped { records: 1 }]);
}

#[test]
fn a_session_of_commands_alone_is_empty_and_no_error() {
    let session = read_lines(&[user("u", "", "<command-name>/exit</command-name>")]);
    assert_eq!(told(&session), "");
}

#[test]
fn a_long_chain_is_read_in_linear_time() {
    let mut lines = vec![user("x", "", "beside"), user("0", "", "first")];
    lines.extend((1..4000).map(|n| user(&n.to_string(), &(n - 1).to_string(), "")));
    // Segments that never end at their head.
    let segment = r#"{"preservedSegment":{"headUuid":"x","tailUuid":"3999"}}"#;
    lines.extend((0..4000).map(|n| boundary(&format!("b{n}"), "x", segment)));
    lines.push(model("end", "3999", "last"));
    assert_eq!(conversation(&lines), ">first <last");
}

#[test]
fn a_file_cut_or_damaged_anywhere_is_survived() {
    let lines = [
        user("u1", "", "q1"),
        model_with("a1", "u1", "m", r#"{"type":"text","text":"é"}"#),
        boundary("b", "a1", r#"{"preservedMessages":{"uuids":["a1"]}}"#),
        summary("c", "b", "sum"),
        marker("c"),
    ];
    let bytes = lines.join("\n").into_bytes();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let survive = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let _ = read(Path::new(&path));
    };
    for at in (0..bytes.len()).step_by(41) {
        survive(&bytes[..at]);
        survive(&bytes[at..]);
        for with in [b'"', b'{', b'\n', 0, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = with;
            survive(&damaged);
        }
    }
}
