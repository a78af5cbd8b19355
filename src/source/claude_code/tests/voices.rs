//! Whose words a text is.

use super::*;

#[test]
fn what_software_says_is_nobodys() {
    let with = |uuid: &str, parent: &str, key: &str| {
        record(
            "user",
            uuid,
            parent,
            &format!(r#"{key},"message":{{"content":"not typed"}}"#),
        )
    };
    let lines = [
        user("u1", "", "typed"),
        with("m", "u1", r#""isMeta":true"#),
        with("n", "m", r#""origin":{"kind":"task-notification"}"#),
        with("o", "n", r#""origin":{"kind":"peer","senderTaskId":"t"}"#),
        with("p", "o", r#""origin":{"kind":"peer","from":"x"}"#),
        with("v", "p", r#""isVisibleInTranscriptOnly":true"#),
        user("c", "v", "<command-name>/x</command-name>"),
        result("r", "c"),
        record(
            "assistant",
            "s",
            "r",
            r#""message":{"model":"<synthetic>","content":"gone"}"#,
        ),
        record(
            "assistant",
            "e",
            "s",
            r#""isApiErrorMessage":true,"message":{"content":"gone"}"#,
        ),
        model("a", "e", "said"),
    ];
    let session = read_lines(&lines);
    assert_eq!(told(&session), ">typed <said");
    let injected = session.session.surface().filter(|event| {
        matches!(&event.payload, Payload::Message { message, .. } if message.source.kind == "plugin")
    });
    assert_eq!(injected.count(), 6);
    assert_eq!(session.notices, []);
}

#[test]
fn what_was_typed_while_the_model_worked_is_a_persons() {
    let queued = |uuid: &str, parent: &str, rest: &str| {
        let attachment = format!(r#""attachment":{{"type":"queued_command",{rest}}}"#);
        record("attachment", uuid, parent, &attachment)
    };
    let lines = [
        user("u", "", "q"),
        queued("1", "u", r#""prompt":"one","commandMode":"prompt""#),
        queued(
            "2",
            "1",
            r#""prompt":[{"type":"image"},{"type":"text","text":"two"}],"commandMode":"prompt""#,
        ),
        queued(
            "3",
            "2",
            r#""prompt":"no","commandMode":"task-notification""#,
        ),
        queued(
            "4",
            "3",
            r#""prompt":"no","commandMode":"prompt","origin":{"kind":"task-notification"}"#,
        ),
        queued("5", "4", r#""prompt":"three","origin":{"kind":"human"}"#),
    ];
    assert_eq!(conversation(&lines), ">q >one >two >three");
}

#[test]
fn an_attachment_as_the_tool_writes_it_is_a_link() {
    let attachment = |kind: &str, prompt: &str| {
        format!(
            r#"{{"parentUuid":"u1","isSidechain":false,"attachment":{{"type":"{kind}","prompt":"{prompt}","commandMode":"prompt"}},"type":"attachment","uuid":"x","sessionId":"s"}}"#
        )
    };
    let lines = |kind: &str| {
        [
            user("u1", "", "q"),
            attachment(kind, "more"),
            user("u2", "x", "q2"),
        ]
    };
    assert_eq!(conversation(&lines("skill_listing")), ">q >q2");
    assert_eq!(conversation(&lines("queued_command")), ">q >more >q2");
    let torn = attachment("skill_listing", "more").replace("\"type\":\"attachment\"", "");
    assert!(marks::marked(torn.as_bytes()).is_none());
    let glued = format!("{}{}", &attachment("a", "b")[..90], attachment("a", "b"));
    assert!(marks::marked(glued.as_bytes()).is_none());
}

#[test]
fn what_stands_in_the_place_of_no_answer_is_none() {
    let lines = [
        user("u", "", "q"),
        model("a", "u", "(no content)"),
        user("v", "a", "(no content)"),
        model("b", "v", "it said (no content)"),
    ];
    assert_eq!(
        conversation(&lines),
        ">q >(no content) <it said (no content)"
    );
}

#[test]
fn only_an_origin_that_is_human_is_a_persons() {
    let from = |uuid: &str, parent: &str, kind: &str| {
        let rest = format!(r#""origin":{{"kind":"{kind}"}},"message":{{"content":"{kind}"}}"#);
        record("user", uuid, parent, &rest)
    };
    let lines = [
        from("1", "", "human"),
        from("2", "1", "coordinator"),
        from("3", "2", "channel"),
        from("4", "3", "auto-continuation"),
        from("5", "4", "of-tomorrow"),
    ];
    assert_eq!(conversation(&lines), ">human");
}

#[test]
fn what_keeps_a_fork_from_being_synced_is_no_news() {
    let lines = [
        r#"{"type":"history-suppression","cause":"fork_inherit","sessionId":"s"}"#.to_owned(),
        user("u", "", "q"),
    ];
    assert_eq!(read_lines(&lines).notices, []);
}
