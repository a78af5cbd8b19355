//! Records that do not tell their place.

use super::*;

/// A record that does not speak of a parent.
fn unlinked(line: &str) -> String {
    line.replace(r#""parentUuid":null,"#, "")
}

#[test]
fn a_record_that_speaks_of_no_parent_follows_the_one_before_it() {
    let lines = [
        unlinked(&user("u1", "", "q1")),
        unlinked(&model("a1", "", "r1")),
        record("system", "y", "a1", r#""subtype":"turn_duration""#),
        user("u2", "y", "q2"),
    ];
    assert_eq!(conversation(&lines), ">q1 <r1 >q2");
    let at_the_end = [
        user("u1", "", "q1"),
        model("a1", "u1", "r1"),
        unlinked(&user("u2", "", "q2")),
    ];
    assert_eq!(conversation(&at_the_end), ">q1 <r1 >q2");
}

#[test]
fn a_record_that_says_it_has_no_parent_begins_anew() {
    let lines = [
        user("u1", "", "old"),
        user("u2", "", "new"),
        model("a", "u2", "r"),
    ];
    assert_eq!(conversation(&lines), ">new <r");
}

#[test]
fn what_another_agent_did_is_not_what_an_unlinked_record_follows() {
    let side = |line: String| line.replace(r#""isSidechain":false"#, r#""isSidechain":true"#);
    let lines = [
        unlinked(&user("u1", "", "q1")),
        side(unlinked(&user("s1", "", "task"))),
        unlinked(&model("a1", "", "r1")),
        user("u2", "a1", "q2"),
    ];
    assert_eq!(conversation(&lines), ">q1 <r1 >q2");
}

#[test]
fn without_any_link_the_order_of_the_file_is_taken() {
    let bare = |kind: &str, text: &str| {
        format!(
            r#"{{"type":"{kind}","sessionId":"s","uuid":"{text}","message":{{"content":"{text}"}}}}"#
        )
    };
    let lines = [
        bare("user", "q1"),
        bare("assistant", "r1"),
        bare("user", "q2"),
    ];
    assert_eq!(conversation(&lines), ">q1 <r1 >q2");
}
