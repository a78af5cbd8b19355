//! Lines of a log: written, read, and the same.

use ibid::session::{Event, Header, SurfaceOp};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::text::{awkward_text, json};

fn unknown_keys() -> impl Strategy<Value = Map<String, Value>> {
    vec(("x-[a-z]{1,3}", json()), 0..3).prop_map(|pairs| pairs.into_iter().collect())
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        (awkward_text(), unknown_keys()).prop_map(|(text, mut rest)| {
            rest.insert("type".to_owned(), "text".into());
            rest.insert("text".to_owned(), text.into());
            Value::from(rest)
        }),
        json(),
    ]
}

fn message() -> impl Strategy<Value = Value> {
    let source = (
        prop_oneof![Just("user".to_owned()), awkward_text()],
        unknown_keys(),
    );
    (awkward_text(), source, vec(block(), 0..3), unknown_keys()).prop_map(
        |(id, (kind, mut source), content, mut rest)| {
            source.insert("kind".to_owned(), kind.into());
            rest.insert("id".to_owned(), id.into());
            rest.insert("role".to_owned(), "user".into());
            rest.insert("source".to_owned(), source.into());
            rest.insert("content".to_owned(), content.into());
            Value::from(rest)
        },
    )
}

fn surface_op() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        Just(None),
        Just(Some(json!("append"))),
        any::<(u64, u64)>().prop_map(|(start, end)| {
            Some(json!({"op": "replace", "startSeq": start, "endSeq": end}))
        }),
    ]
}

fn event() -> impl Strategy<Value = Value> {
    let payload = prop_oneof![
        message().prop_map(|m| ("user/message".to_owned(), m)),
        (
            prop::sample::select(vec!["system/message", "assistant/message", "tool/result"]),
            message(),
            unknown_keys()
        )
            .prop_map(|(kind, message, mut data)| {
                data.insert("message".to_owned(), message);
                (kind.to_owned(), Value::from(data))
            }),
        ("[a-z]{1,5}/[a-z]{1,5}", json()),
    ];
    let sources = proptest::option::of(vec(any::<u64>(), 0..4));
    (
        any::<u64>(),
        any::<i64>(),
        payload,
        surface_op(),
        sources,
        unknown_keys(),
    )
        .prop_map(|(seq, time, (kind, data), op, sources, mut line)| {
            line.insert("seq".to_owned(), seq.into());
            line.insert("time".to_owned(), time.into());
            line.insert("type".to_owned(), kind.into());
            line.insert("data".to_owned(), data);
            if let Some(op) = op {
                line.insert("surfaceOp".to_owned(), op);
            }
            if let Some(sources) = sources {
                line.insert("sourceEventSeqs".to_owned(), sources.into());
            }
            Value::from(line)
        })
}

proptest! {
    #[test]
    fn an_event_keeps_all_its_keys(line in event()) {
        let read: Event = serde_json::from_value(line.clone()).unwrap();
        let written = serde_json::to_string(&read).unwrap();
        prop_assert!(!written.contains('\n'));
        prop_assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), line);
        prop_assert_eq!(serde_json::from_str::<Event>(&written).unwrap(), read);
    }

    #[test]
    fn a_header_keeps_all_its_keys(id in awkward_text(), created: i64, mut rest in unknown_keys()) {
        rest.insert("version".to_owned(), 1.into());
        rest.insert("id".to_owned(), id.into());
        rest.insert("createdAt".to_owned(), created.into());
        let line = Value::from(rest);
        let read: Header = serde_json::from_value(line.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(&read).unwrap(), line);
    }

    #[test]
    fn any_json_is_an_operation_or_an_error(value in json()) {
        // "append" aside, none of this is an operation.
        prop_assert!(value == "append" || serde_json::from_value::<SurfaceOp>(value).is_err());
    }
}
