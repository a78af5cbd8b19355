//! The rules of a log: what each refuses, and that a refusal changes nothing.

use std::sync::Arc;

use ibid::session::{
    Block, Event, Message, MessageKind, Millis, NewEvent, Payload, Role, Seq, Session, Source,
    SurfaceError, SurfaceOp, Title, TitleSource,
};
use serde_json::{Value, json};

use crate::support::sessions::{answer, append, compact, said, say, session, user};

/// Tries to append to a session of three messages (seqs 0 to 2).
#[track_caller]
fn refused(event: NewEvent) -> SurfaceError {
    let mut session = said("s", ["a", "b", "c"]);
    let refused = session.append(event).unwrap_err();
    assert_eq!(session.events().len(), 3);
    assert_eq!(session.surface().count(), 3);
    refused
}

fn text() -> Payload {
    Payload::user(Message::person("x"))
}

fn replacing(start: u64, end: u64, sources: &[u64]) -> NewEvent {
    let sources = sources.iter().copied().map(Seq).collect();
    NewEvent::replacing(Millis(1), text(), (Seq(start), Seq(end)), sources)
}

fn seqs(session: &Session) -> Vec<u64> {
    session.surface().map(|event| event.seq.0).collect()
}

#[test]
fn seqs_have_no_gap() {
    let mut session = said("s", ["a"]);
    for seq in [0, 2, u64::MAX] {
        let mut event = (*session.events()[0]).clone();
        event.seq = Seq(seq);
        let gap = SurfaceError::Gap {
            expected: Seq(1),
            found: Seq(seq),
        };
        assert_eq!(session.push(Arc::new(event)), Err(gap));
    }
    assert_eq!(session.next_seq(), Seq(1));
}

#[test]
fn a_message_needs_an_operation() {
    let event = NewEvent {
        surface_op: None,
        ..NewEvent::plain(Millis(1), text())
    };
    let expected = SurfaceError::MissingOp {
        seq: Seq(3),
        kind: "user/message",
    };
    assert_eq!(refused(event), expected);
}

#[test]
fn a_log_only_event_carries_no_operation() {
    let event = NewEvent {
        surface_op: Some(SurfaceOp::Append),
        ..NewEvent::plain(Millis(1), Payload::log_only("turn/start", Value::Null))
    };
    let expected = SurfaceError::UnexpectedOp {
        seq: Seq(3),
        kind: "turn/start".to_owned(),
    };
    assert_eq!(refused(event), expected);
}

#[test]
fn both_ends_of_a_replaced_range_must_be_on_the_surface() {
    for (start, end) in [(0, 9), (9, 0), (3, 3), (u64::MAX, 0)] {
        let missing = Seq(start.max(end));
        let seq = Seq(3);
        let expected = SurfaceError::NotOnSurface { seq, missing };
        assert_eq!(refused(replacing(start, end, &[0, 1, 2])), expected);
    }
}

#[test]
fn what_was_shadowed_cannot_be_replaced_again() {
    let mut session = said("s", ["a", "b", "c"]);
    session.append(replacing(0, 1, &[0, 1])).unwrap();
    assert_eq!(seqs(&session), [3, 2]);
    let again = session.append(replacing(1, 2, &[1, 2])).unwrap_err();
    let expected = SurfaceError::NotOnSurface {
        seq: Seq(4),
        missing: Seq(1),
    };
    assert_eq!(again, expected);
    // The replacement stands where the range stood, before a lower seq.
    session.append(replacing(3, 2, &[2, 3])).unwrap();
    assert_eq!(seqs(&session), [4]);
}

#[test]
fn a_replaced_range_must_be_in_order() {
    let expected = SurfaceError::OutOfOrder {
        seq: Seq(3),
        start: Seq(2),
        end: Seq(0),
    };
    assert_eq!(refused(replacing(2, 0, &[0, 1, 2])), expected);
    assert_eq!(refused(replacing(2, 0, &[0])), expected);
}

#[test]
fn a_replacement_names_all_that_it_shadows() {
    let unnamed = |unnamed| SurfaceError::UnnamedSource {
        seq: Seq(3),
        unnamed: Seq(unnamed),
    };
    assert_eq!(refused(replacing(0, 2, &[0, 2])), unnamed(1));
    let event = NewEvent {
        source_event_seqs: None,
        ..replacing(0, 0, &[])
    };
    assert_eq!(refused(event), unnamed(0));
}

#[test]
fn a_source_is_named_once() {
    let expected = SurfaceError::RepeatedSource {
        seq: Seq(3),
        source_seq: Seq(1),
    };
    assert_eq!(refused(replacing(0, 1, &[0, 1, 1])), expected);
}

#[test]
fn a_source_is_earlier() {
    for later in [3, u64::MAX] {
        let expected = SurfaceError::LaterSource {
            seq: Seq(3),
            source_seq: Seq(later),
        };
        assert_eq!(refused(replacing(0, 0, &[0, later])), expected);
    }
}

#[test]
fn only_an_answer_may_have_no_sources_at_all() {
    for payload in [text(), Payload::log_only("step/end", Value::Null)] {
        let kind = payload.type_name().to_owned();
        let event = NewEvent {
            source_event_seqs: Some(Vec::new()),
            ..NewEvent::plain(Millis(1), payload)
        };
        let expected = SurfaceError::EmptySources { seq: Seq(3), kind };
        assert_eq!(refused(event), expected);
    }
    let message = Message::new(Role::Assistant, Source::model("p", "m"), Vec::new());
    let event = NewEvent {
        source_event_seqs: Some(Vec::new()),
        ..NewEvent::plain(
            Millis(1),
            Payload::step(MessageKind::Assistant, message, 1, 1),
        )
    };
    assert!(said("s", ["a"]).append(event).is_ok());
}

#[test]
fn a_checkpoint_takes_the_place_of_what_it_stands_for() {
    let mut session = session("s");
    let first = say(&mut session, "a");
    let last = answer(&mut session, vec![Block::text("b")]);
    say(&mut session, "c");
    compact(&mut session, "a and b", (first, last));
    let texts: Vec<String> = session.derive_messages().map(Message::text).collect();
    assert_eq!(texts, ["a and b", "c"]);
}

#[test]
fn an_operation_has_one_of_two_forms() {
    for (json, expected) in [
        (json!("append"), SurfaceOp::Append),
        (
            json!({"op": "replace", "startSeq": 0, "endSeq": u64::MAX}),
            SurfaceOp::Replace {
                start: Seq(0),
                end: Seq(u64::MAX),
            },
        ),
    ] {
        let read: SurfaceOp = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(read, expected);
        assert_eq!(serde_json::to_value(read).unwrap(), json);
    }
}

#[test]
fn anything_else_is_no_operation() {
    for json in [
        json!("replace"),
        json!({"append": null}),
        json!({"op": "append"}),
        json!({"op": "append", "startSeq": 0, "endSeq": 1}),
        json!({"op": "delete", "startSeq": 0, "endSeq": 1}),
        json!({"op": {"replace": null}, "startSeq": 0, "endSeq": 1}),
        json!({"startSeq": 0, "endSeq": 1}),
        json!({"op": "replace"}),
        json!({"op": "replace", "startSeq": 0}),
        json!({"op": "replace", "startSeq": 0, "endSeq": 1, "keep": [1]}),
        json!({"op": "replace", "startSeq": -1, "endSeq": 1}),
        json!({"op": "replace", "startSeq": 0, "endSeq": 1.5}),
        json!({"op": "replace", "startSeq": 0, "endSeq": 1e30}),
        json!({"op": "replace", "startSeq": "0", "endSeq": "1"}),
        json!(["replace", 0, 1]),
        json!(0),
    ] {
        let line = json!({"seq": 0, "time": 0, "type": "x", "surfaceOp": json});
        assert!(serde_json::from_value::<Event>(line).is_err(), "{json}");
    }
    let refused = serde_json::from_value::<SurfaceOp>(json!("move")).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains(r#""append" or {"op":"replace""#)
    );
}

#[test]
fn a_text_block_is_an_object_of_that_type_with_a_text() {
    for (json, text) in [
        (json!({"type": "text", "text": "a", "x": 1}), Some("a")),
        (json!({"type": {"text": null}, "text": "a"}), None),
        (json!({"type": "text", "text": 1}), None),
        (json!({"type": "text"}), None),
        (json!({"text": "a"}), None),
        (json!("a"), None),
        (Value::Null, None),
    ] {
        let block: Block = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(block.as_text(), text, "{json}");
        assert_eq!(serde_json::to_value(block).unwrap(), json);
    }
}

#[test]
fn numbers_in_unknown_data_are_kept_exactly() {
    for number in [
        "31.245270191439438",
        "18446744073709551615",
        "-0.0",
        "5e-324",
    ] {
        let line = format!(r#"{{"seq":0,"time":0,"type":"x","data":{number}}}"#);
        let event: Event = serde_json::from_str(&line).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), line);
    }
}

#[test]
fn the_latest_title_counts_and_a_person_pins_it() {
    let mut session = session("s");
    assert_eq!(session.title(), None);
    append(&mut session, Title::event("first", TitleSource::Fallback));
    let title = |text: &str, pinned| Title {
        text: text.to_owned(),
        pinned,
    };
    assert_eq!(session.title(), Some(&title("first", false)));
    append(&mut session, Title::event("mine", TitleSource::Person));
    assert_eq!(session.title(), Some(&title("mine", true)));
    assert_eq!(session.surface().count(), 0);
}

#[test]
fn a_title_event_is_cleaned_and_cut() {
    let Payload::LogOnly { kind, data } = Title::event(
        &format!("\u{1b}[31mred\u{7}\n {}", "界".repeat(40)),
        TitleSource::Person,
    ) else {
        panic!("titles are log-only");
    };
    let title = Title::from_event(&kind, &data).unwrap();
    assert_eq!(title.text, format!("red {}", "界".repeat(25)));
    assert!(title.pinned);
}

#[test]
fn what_is_no_title_leaves_the_title_alone() {
    let mut session = session("s");
    append(&mut session, Title::event("kept", TitleSource::Person));
    for data in [Value::Null, json!({}), json!({"title": 1}), json!("title")] {
        append(&mut session, Payload::log_only("session/title", data));
    }
    append(
        &mut session,
        Payload::log_only("x/title", json!({"title": "no"})),
    );
    assert_eq!(session.title().unwrap().text, "kept");
}

#[test]
fn the_fallback_title_is_the_first_words_that_a_person_typed() {
    let mut session = session("s");
    user(
        &mut session,
        Source::plugin("x"),
        Block::text("not a person"),
    );
    assert_eq!(session.fallback_title(), None);
    user(&mut session, Source::person(), Block::reasoning("no text"));
    say(&mut session, " \u{200b}\n");
    say(&mut session, "please fix  the flaky\nlogin test now");
    say(&mut session, "later");
    assert_eq!(
        session.fallback_title().unwrap(),
        "please fix the flaky login"
    );
}
