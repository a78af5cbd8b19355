//! Reading what the resolver framed, as the model would.

use ibid::reference::{PreparedContext, tag_safe};
use serde_json::Value;

/// The text of a context message.
pub(crate) fn text(context: &PreparedContext) -> String {
    context.message.text()
}

/// The array between the tags.
pub(crate) fn data(context: &PreparedContext) -> Vec<Value> {
    let text = text(context);
    let (_, rest) = text.split_once("<referenced-sessions>\n").unwrap();
    let (json, _) = rest.rsplit_once("\n</referenced-sessions>").unwrap();
    serde_json::from_str(json).unwrap()
}

/// How many bytes each source's data takes.
pub(crate) fn sizes(context: &PreparedContext) -> Vec<usize> {
    data(context)
        .iter()
        .map(|source| tag_safe::to_string(source).unwrap().len())
        .collect()
}

/// The notices of what was left out.
pub(crate) fn notices(context: &PreparedContext) -> Vec<Value> {
    let text = text(context);
    let (_, json) = text.split_once("background information.\n").unwrap();
    serde_json::from_str(json).unwrap()
}

/// The record of the citations in the message's source.
pub(crate) fn record(context: &PreparedContext) -> Value {
    serde_json::to_value(&context.message.source).unwrap()
}

/// Checks that `actual` holds every key of `expected`, at any depth.
#[track_caller]
pub(crate) fn assert_holds(actual: &Value, expected: &Value) {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            for (key, value) in expected {
                let found = actual.get(key);
                assert_holds(found.unwrap_or(&Value::Null), value);
            }
        }
        (Value::Array(actual), Value::Array(expected)) => {
            assert_eq!(actual.len(), expected.len(), "{actual:?}");
            for (actual, expected) in actual.iter().zip(expected) {
                assert_holds(actual, expected);
            }
        }
        _ => assert_eq!(actual, expected),
    }
}
