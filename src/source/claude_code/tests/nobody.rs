//! Records that are nobody's words.

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
fn what_keeps_a_fork_from_being_synced_is_no_news() {
    let lines = [
        r#"{"type":"history-suppression","cause":"fork_inherit","sessionId":"s"}"#.to_owned(),
        user("u", "", "q"),
    ];
    assert_eq!(read_lines(&lines).notices, []);
}
