//! Damaged files, and files of others.

use super::*;

#[test]
fn where_the_first_line_is_lost_the_name_tells_whose_file_it_is() {
    let home = Fixture::new();
    let text = format!("{{\"timestamp\":\"2026\n{}", lines(&[meta(ID), user("q")]));
    let read = read_file(&home.write(&rollout(CHILD), text)).unwrap();
    assert_eq!(read.session.header().id.as_str(), format!("codex:{CHILD}"));
    assert_eq!(notices(&read), ["1 record skipped"]);
}

#[test]
fn a_torn_compressed_file_gives_what_is_whole_and_says_so() {
    let home = Fixture::new();
    let mut bytes = zstd(&lines(&[meta(ID), user("q1")]));
    bytes.extend(zstd("{\"timestamp\":\"2026-12"));
    let read = read_file(&home.write(&(rollout(ID) + ".zst"), bytes)).unwrap();
    assert_eq!(said(&read), ["u q1"]);
    assert_eq!(notices(&read), ["1 record skipped"]);
}

#[test]
fn damaged_records_are_counted_and_the_others_read() {
    let home = Fixture::new();
    let mut text = lines(&[meta(ID), user("q1")]);
    text.push_str("{\"timestamp\":\"2026-12-01T20:57:48Z\",\"type\":\"event_msg\",\"payload\":{\"type\":\"token_c");
    text.push_str(&lines(&[user("glued")]));
    text.push_str("\0\0\0\0\n");
    text.push_str(&lines(&[
        line("surprise", json!({"type": "x"})),
        line("response_item", json!({"type": "surprise"})),
        line(
            "response_item",
            json!({"type": "message", "role": "user", "content": [{"type": "riddle"}]}),
        ),
        event(json!({"type": "an_event_of_tomorrow"})),
    ]));
    text.push_str("{\"timestamp\":\"2026-12-01T20:57:48Z\",\"type\":\"respon");
    let read = read_file(&home.write(&rollout(ID), text)).unwrap();
    assert_eq!(said(&read), ["u q1", "u glued"]);
    assert_eq!(notices(&read), ["6 records skipped"]);
}

#[test]
fn dialogue_that_can_not_be_read_at_all_is_an_error_with_the_version() {
    let home = Fixture::new();
    let riddle = json!({"type": "message", "role": "user", "content": [{"type": "riddle"}]});
    let file = home.write(
        &rollout(ID),
        lines(&[meta(ID), line("response_item", riddle)]),
    );
    let error = read_file(&file).unwrap_err();
    assert_eq!(error.code(), "SOURCE_NO_DIALOGUE");
    assert!(error.to_string().contains("0.120.0"), "{error}");
}

#[test]
fn a_session_without_dialogue_is_empty_and_no_error() {
    let read = read_records(&[
        meta(ID),
        event(json!({"type": "token_count", "info": null})),
    ]);
    assert_eq!(said(&read), [""; 0]);
    assert_eq!(notices(&read), [""; 0]);
}

#[test]
fn keys_in_another_order_change_nothing() {
    let home = Fixture::new();
    let text = format!(
        "{{\"payload\": {{\"cwd\": \"/w\", \"id\": \"{ID}\"}}, \"type\": \"session_meta\"}}\n\
         {{\"payload\": {{\"content\": \"q\", \"role\": \"user\", \"type\": \"message\"}}, \"type\": \"response_item\"}}\n"
    );
    assert_eq!(
        said(&read_file(&home.write("any.jsonl", text)).unwrap()),
        ["u q"]
    );
}

#[test]
fn files_of_others_are_not_recognised() {
    let home = Fixture::new();
    for text in [
        json!({"type": "user", "message": {"role": "user", "content": "q"}, "uuid": "1", "sessionId": "2"}),
        json!({"type": "session", "version": 4, "id": "1"}),
        json!({"sessionId": "1", "projectHash": "2", "messages": []}),
        json!({"some": "thing"}),
    ] {
        let path = home.write("f.jsonl", lines(std::slice::from_ref(&text)));
        // Another tool may know it.
        let tool = read_file(&path).map(|session| session.tool);
        assert!(!matches!(tool, Ok(Tool::Codex)), "{text}");
    }
}

#[test]
fn a_file_cut_off_anywhere_keeps_what_is_whole() {
    let home = Fixture::new();
    let whole = lines(&[meta(ID), user("q 漢字"), model("a")]);
    let expected = ["u q 漢字", "a a"];
    for cut in 0..whole.len() {
        let text = &whole.as_bytes()[..cut];
        let path = home.write(&rollout(ID), text);
        // A last line may be whole without its end.
        let is_whole = cut == 0 || whole.as_bytes()[cut] == b'\n' || text.ends_with(b"\n");
        let torn = usize::from(!is_whole);
        let records = text.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        let records = records.count() - torn;
        let Ok(read) = read_file(&path) else {
            assert_eq!(records, 0, "cut at {cut}");
            continue;
        };
        assert_eq!(said(&read), expected[..records - 1], "cut at {cut}");
        assert_eq!(notices(&read).len(), torn, "cut at {cut}");
    }
}

#[test]
fn the_inside_of_a_torn_compaction_is_no_message() {
    let home = Fixture::new();
    let left = json!([user_item(&["q0"]), user_item(&["q1"])]);
    let torn = compacted("s", left).to_string();
    let end = torn.rfind("]}}").unwrap();
    let text = lines(&[meta(ID), user("q1")]) + torn.get(..end).unwrap();
    let read = read_file(&home.write(&rollout(ID), text)).unwrap();
    assert_eq!(said(&read), ["u q1"]);
    assert_eq!(notices(&read), ["1 record skipped"]);
}

#[test]
fn hostile_values_fail_nothing() {
    for payload in [
        json!({"type": "thread_rolled_back", "num_turns": u64::MAX}),
        json!({"type": "thread_rolled_back", "num_turns": -1}),
        json!({"type": "thread_rolled_back"}),
        json!({"type": "user_message", "message": {"a": 1}}),
        json!({"type": "item_completed", "item": null}),
    ] {
        let read = read_records(&[meta(ID), event(payload), user("q")]);
        assert_eq!(said(&read), ["u q"]);
    }
    let odd =
        json!({"id": ID, "timestamp": "never", "cwd": null, "source": [1], "history_base": "x"});
    assert_eq!(
        said(&read_records(&[line("session_meta", odd), user("q")])),
        ["u q"]
    );
}
