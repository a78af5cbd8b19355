//! The steps of the model's work, which are told by their marks.

use super::*;
use crate::source::claude_code::marks::{Kind, marked};

/// A record as the program writes it: what stands before its own id, and
/// behind its time.
fn written(uuid: &str, parent: &str, before: &str, behind: &str) -> String {
    format!(
        r#"{{"parentUuid":"{parent}","isSidechain":false,{before},"uuid":"{uuid}","timestamp":"2026-01-01T00:00:07.000Z",{behind}"cwd":"/w","sessionId":"s","version":"2"}}"#
    )
}

fn model_writes(uuid: &str, parent: &str, block: &str) -> String {
    let before = format!(
        r#""message":{{"id":"m","role":"assistant","model":"o","content":[{block}],"stop_reason":null}},"requestId":"r","type":"assistant""#
    );
    written(uuid, parent, &before, "")
}

fn tool_gives(uuid: &str, parent: &str, blocks: &str) -> String {
    let before =
        format!(r#""promptId":"p","type":"user","message":{{"role":"user","content":[{blocks}]}}"#);
    let behind = r#""toolUseResult":{"type":"text","file":{"content":"out"}},"#;
    written(uuid, parent, &before, behind)
}

const THOUGHT: &str = r#"{"type":"thinking","thinking":"\"type\":\"text\"","signature":"x"}"#;
const USE: &str = r#"{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}"#;
const GIVEN: &str =
    r#"{"tool_use_id":"t","type":"tool_result","content":"\"uuid\": out","is_error":false}"#;
const SAID: &str = r#"{"type":"text","text":"done"}"#;

#[test]
fn steps_of_the_work_are_told_by_their_marks() {
    let kind = |line: String| marked(line.as_bytes()).map(|marked| marked.kind);
    assert_eq!(kind(model_writes("a", "u", THOUGHT)), Some(Kind::Silent));
    assert_eq!(kind(model_writes("a", "u", USE)), Some(Kind::Silent));
    assert_eq!(kind(tool_gives("r", "a", GIVEN)), Some(Kind::Result));
    let told = marked(tool_gives("r", "a", GIVEN).as_bytes()).unwrap();
    assert_eq!(told.node.uuid, Some(Id::of("r")));
    assert_eq!(told.node.parent, Some(Id::of("a")));
    assert_eq!((told.node.message_id, told.time), (None, 1_767_225_607_000));
    let told = marked(model_writes("a", "u", USE).as_bytes()).unwrap();
    assert_eq!(told.node.message_id, Some(Id::of("m")));
}

#[test]
fn what_may_hold_words_is_read() {
    let both = |block: &str| format!("{block},{SAID}");
    let list = r#"{"tool_use_id":"t","type":"tool_result","content":[{"type":"text","text":"a"}]}"#;
    let result = tool_gives("r", "a", GIVEN);
    let step = model_writes("a", "u", USE);
    for line in [
        model_writes("a", "u", SAID),
        model_writes("a", "u", &both(USE)),
        tool_gives("r", "a", &both(GIVEN)),
        tool_gives("r", "a", &format!("{GIVEN},{GIVEN}")),
        tool_gives("r", "a", list),
        tool_gives("r", "a", SAID),
        step.replace(r#""model":"o""#, r#""model":"<synthetic>""#),
        step.replace(r#""model":"o","#, ""),
        step.replace(r#""type":"assistant","#, ""),
        result.replace(r#""type":"user","#, r#""type":"assistant","#),
        result.replace(r#"]},"uuid""#, r#"]}, "uuid""#),
        result.replace(r#","timestamp""#, r#", "timestamp""#),
        format!("{}{result}", &result[..150]),
        format!("{}{step}", &step[..90]),
        result[..result.len() - 1].to_owned(),
    ] {
        assert!(marked(line.as_bytes()).is_none(), "{line}");
    }
}

#[test]
fn steps_take_their_places_in_the_conversation() {
    let lines = [
        user("u", "", "q"),
        model_writes("a1", "u", THOUGHT),
        model_writes("a2", "a1", USE),
        tool_gives("r1", "a2", GIVEN),
        model_writes("a3", "r1", SAID),
        tool_gives(
            "r2",
            "a3",
            &format!(r#"{GIVEN},{{"type":"text","text":"more"}}"#),
        ),
    ];
    let session = read_lines(&lines);
    assert_eq!(conversation(&lines), ">q <done >more");
    let given = session.session.events().iter().filter_map(|event| {
        let message = event.message()?;
        (message.role == Role::Tool).then(|| message.text())
    });
    assert_eq!(given.collect::<Vec<_>>(), ["\"uuid\": out"; 2]);
    assert_eq!(session.notices, []);
}

#[test]
fn what_can_not_be_read_of_a_step_is_no_other_conversation() {
    let broken = r#"{"tool_use_id":"t","type":"tool_result","content":"\x","is_error":false}"#;
    let lines = [
        user("u", "", "q"),
        model("a1", "u", "r"),
        tool_gives("r1", "a1", broken),
        model("a2", "r1", "done"),
    ];
    let session = read_lines(&lines);
    assert_eq!(told(&session), ">q <r <done");
    assert_eq!(session.notices, []);
}
