//! Whose words records are, and which say nothing any more.

use super::*;

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
fn what_was_snipped_is_gone_and_links_the_others_still() {
    let snip = record(
        "system",
        "s",
        "a2",
        r#""subtype":"snip_boundary","snipMetadata":{"removedUuids":["a1","u2"]}"#,
    );
    let lines = [
        user("u1", "", "q1"),
        model("a1", "u1", "gone"),
        user("u2", "a1", "gone"),
        model("a2", "u2", "r2"),
        snip,
        user("u3", "s", "q3"),
    ];
    assert_eq!(conversation(&lines), ">q1 <r2 >q3");
}

#[test]
fn what_was_queued_without_a_mode_is_a_prompt() {
    let queued =
        r#""attachment":{"type":"queued_command","prompt":"typed","origin":{"kind":"human"}}"#;
    let lines = [user("u", "", "q"), record("attachment", "x", "u", queued)];
    assert_eq!(conversation(&lines), ">q >typed");
}

#[test]
fn the_mark_of_an_empty_answer_is_nobodys_words() {
    let lines = [
        user("u", "", "(no content)"),
        model("a", "u", "(no content)"),
        model("b", "a", "said"),
    ];
    assert_eq!(conversation(&lines), ">(no content) <said");
}

#[test]
fn what_keeps_a_fork_from_being_synced_is_no_news() {
    let lines = [
        r#"{"type":"history-suppression","cause":"fork_inherit","sessionId":"s"}"#.to_owned(),
        user("u", "", "q"),
    ];
    assert_eq!(read_lines(&lines).notices, []);
}
