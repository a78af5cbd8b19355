//! What a rollback drops.

use super::*;

#[test]
fn a_rollback_drops_the_last_turns() {
    let turn = |n: u32| [started(), user(&format!("q{n}")), model(&format!("a{n}"))];
    let mut records = vec![meta(ID)];
    records.extend((1..=3).flat_map(turn));
    records.push(rolled_back(2));
    records.extend(turn(4));
    assert_eq!(
        said(&read_records(&records)),
        ["u q1", "a a1", "u q4", "a a4"]
    );
}

#[test]
fn a_rollback_counts_what_begins_a_turn_though_no_person_said_it() {
    let message = |parts: Value| {
        line(
            "response_item",
            json!({"type": "message", "role": "user", "content": parts}),
        )
    };
    let image = json!({"type": "input_image", "image_url": "data:"});
    let frame = |text: &str| json!({"type": "input_text", "text": text});
    let agent = json!({"type": "agent_message", "author": "/root/a", "content": []});
    for (what, begins) in [
        ("an image", message(json!([image]))),
        (
            "a framed image",
            message(json!([
                frame("<image name=[Image #1]>"),
                image,
                frame("</image>")
            ])),
        ),
        ("a review", user("<user_action>\nreview\n</user_action>")),
        ("an agent", line("response_item", agent.clone())),
        ("an agent", line("inter_agent_communication", agent)),
        (
            "software",
            line(
                "response_item",
                kinds(user_item(&["do"]), &["hooks.context"]),
            ),
        ),
    ] {
        let mut records = vec![meta(ID), started(), user("q1"), model("a1"), started()];
        records.extend([begins, model("a2"), rolled_back(1), started(), user("q3")]);
        assert_eq!(
            said(&read_records(&records)),
            ["u q1", "a a1", "u q3"],
            "{what}"
        );
    }
}

#[test]
fn a_rollback_does_not_count_context() {
    let environment = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>";
    let marked = kinds(
        user_item(&[environment, "q2"]),
        &["environments.environment_context", "user.text"],
    );
    let read = |begins: Value| {
        let mut records = vec![meta(ID), user("q1"), model("a1"), begins, model("a2")];
        records.push(rolled_back(1));
        said(&read_records(&records))
    };
    assert_eq!(read(user(environment)), [""; 0]);
    assert_eq!(read(line("response_item", marked)), ["u q1", "a a1"]);
}
