//! What compactions and snips leave.

use super::*;

#[test]
fn a_compaction_replaces_what_came_before_but_what_it_preserved() {
    let kept = r#"{"preservedMessages":{"uuids":["a1"]}}"#;
    let segment = r#"{"preservedSegment":{"headUuid":"a1","tailUuid":"a1"}}"#;
    for metadata in [kept, segment] {
        for parent in ["c", "a1"] {
            let lines = [
                user("u1", "", "q1"),
                model("a1", "u1", "kept"),
                boundary("b", "a1", metadata),
                summary("c", "b", "sum"),
                user("u2", parent, "q2"),
            ];
            assert_eq!(
                conversation(&lines),
                "=sum <kept >q2",
                "{metadata} {parent}"
            );
        }
    }
}

#[test]
fn what_a_compaction_of_later_messages_preserved_stands_before_its_summary() {
    let metadata = r#"{"preservedMessages":{"anchorUuid":"b","uuids":["u1","a1"]}}"#;
    let lines = [
        user("u1", "", "q1"),
        model("a1", "u1", "kept"),
        user("u2", "a1", "gone"),
        boundary("b", "u2", metadata),
        summary("c", "b", "sum"),
        user("u3", "c", "q3"),
    ];
    assert_eq!(conversation(&lines), ">q1 <kept =sum >q3");
}

#[test]
fn a_summary_without_a_boundary_replaces_what_came_before() {
    let lines = [
        user("u1", "", "q1"),
        summary("c", "u1", "sum"),
        user("u2", "c", "q2"),
    ];
    assert_eq!(conversation(&lines), "=sum >q2");
    let cut = [boundary("b", "", "{}"), summary("c1", "b", "first")];
    let again = [user("u", "c1", "q"), summary("c2", "u", "second")];
    assert_eq!(conversation(&[cut, again].concat()), "=second");
}

#[test]
fn what_a_fork_hung_under_its_summary_is_not_doubled() {
    let lines = [
        boundary("b", "a1", r#"{"preservedMessages":{"uuids":["a1"]}}"#),
        summary("c", "b", "sum"),
        model("a1", "c", "kept"),
        user("u2", "a1", "q2"),
    ];
    assert_eq!(conversation(&lines), "=sum <kept >q2");
}

#[test]
fn the_last_of_several_compactions_counts() {
    let lines = [
        user("u1", "", "q1"),
        boundary("b1", "u1", r#"{"preservedMessages":{"uuids":["u1"]}}"#),
        summary("c1", "b1", "first"),
        user("u2", "c1", "q2"),
        boundary("b2", "u2", r#"{"preservedMessages":{"uuids":["u2"]}}"#),
        summary("c2", "b2", "second"),
    ];
    assert_eq!(conversation(&lines), "=second >q2");
}

#[test]
fn what_was_snipped_is_hidden_as_long_as_the_snip_is_on_the_way() {
    let snip = |parent: &str| {
        let rest =
            r#""subtype":"snip_boundary","snipMetadata":{"removedUuids":["u1","a1","gone"]}"#;
        record("system", "s", parent, rest)
    };
    let mut lines = vec![
        user("u1", "", "one"),
        model("a1", "u1", "A1"),
        user("u2", "a1", "two"),
        model("a2", "u2", "A2"),
        snip("a2"),
        user("u3", "s", "three"),
    ];
    assert_eq!(conversation(&lines), ">two <A2 >three");
    lines.push(user("u4", "a2", "four"));
    assert_eq!(conversation(&lines), ">one <A1 >two <A2 >four");
}
