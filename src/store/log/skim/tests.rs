#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice)]

use proptest::prelude::*;
use proptest::sample::Index;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::*;
use crate::store::log::whole;

/// Lines as programs write them, each of which is read quickly.
const USUAL: [&str; 8] = [
    r#"{"seq":0,"time":1,"type":"user/message","data":{"id":"m","role":"user","source":{"kind":"user"},"content":[{"type":"text","text":"a \"b\"\n\\é世\u0000😀"}]},"surfaceOp":"append"}"#,
    r#"{"seq":71,"time":-5,"type":"assistant/message","data":{"turn":1,"step":2,"message":{"id":"","role":"assistant","source":{"kind":"model","provider":"p","model":"é"},"content":[{"type":"reasoning","text":"hm\n"},{"type":"text","text":""},{"type":"text","text":"x"},null]}},"surfaceOp":"append","sourceEventSeqs":[]}"#,
    r#"{"seq":9,"time":1,"type":"user/message","data":{"role":"user","source":{"kind":"plugin","plugin":"compact","compactionId":"c"},"content":[{"type":"text","text":"sum"}]},"surfaceOp":{"op":"replace","startSeq":2,"endSeq":7},"sourceEventSeqs":[2,5,7]}"#,
    r#"{"surfaceOp":"append","seq":3,"type":"user/message","data":{"content":[{"text":"first","type":"text","more":[1,{"text":"no"}]}],"source":{"more":true,"kind":"user"},"role":"user"},"time":1}"#,
    r#"{"seq":4,"time":1,"type":"tool/result","data":{"message":{"role":"tool","source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","content":[{"type":"text","text":"long é"}],"isError":false}]}},"surfaceOp":"append"}"#,
    r#"{"seq":5,"time":1,"type":"user/message","data":{"role":"user","content":[{"type":"text","text":"injected é"}],"source":{"kind":"plugin","plugin":"clock"}},"surfaceOp":"append"}"#,
    r#" { "seq" : 6 , "time" : 1 , "type" : "system/message" , "data" : { "message" : { "role" : "system" , "source" : { "kind" : "x" } , "content" : [ ] } } } "#,
    r#"{"seq":7,"time":1,"type":"user/message","data":{"role":"user","source":{"kind":"user"},"content":[{"type":"text","text":"\ud83d\ude00\u00e9\/\b\f\r\t"}]},"surfaceOp":"append","new":{"a":[]}}"#,
];

/// What damage and other programs put into a line.
const PARTS: [&[u8]; 24] = [
    br#","kind":"user""#,
    br#","text":"twice""#,
    br#""type":"text","#,
    br#","plugin":"compact""#,
    br#""data":1,"#,
    br#""id":null,"#,
    br#""$serde_json::private::RawValue":"1","#,
    br#","x":[[[[{}]]]]"#,
    br"\ud83d\ude00",
    br"\ud83d",
    br"\udc00",
    br"\u0074",
    br"\x",
    b"1.5",
    b"1e999",
    b"-0",
    b"01",
    b"99999999999999999999",
    b"null",
    b"\xe2\x82",
    b"\xac",
    b"\t",
    b"\\",
    b"\"",
];

/// Reads the line quickly, if that is possible.
fn skimmed(line: &[u8]) -> Option<Record> {
    // Behind another text, as most are.
    let mut texts = TextBlock::new(2 + line.len() + crate::json::WORD);
    texts.free()[..2].copy_from_slice("é".as_bytes());
    texts.advance(2);
    let record = message(line, &mut texts);
    assert!(record.is_some() || texts.len() == 2);
    record.filter(|_| texts.seal())
}

/// Asserts that reading quickly gives the whole event's record, or nothing.
fn agrees(line: &[u8]) {
    if let Some(record) = skimmed(line) {
        let shown = String::from_utf8_lossy(line);
        let whole = whole::event(line).map(Record::from);
        assert_eq!(Ok(record), whole, "{shown}");
    }
}

#[test]
fn usual_lines_are_read_quickly_and_rightly() {
    for line in USUAL {
        let whole = whole::event(line.as_bytes()).map(Record::from);
        assert_eq!(skimmed(line.as_bytes()), whole.ok(), "{line}");
    }
}

#[test]
fn every_event_of_the_vectors_is_read_quickly_and_rightly() {
    #[derive(Deserialize)]
    struct Row<'a> {
        #[serde(borrow)]
        events: Vec<&'a RawValue>,
    }
    let vectors = include_str!("../../../../tests/vectors/retention.jsonl");
    let mut messages = 0;
    for row in vectors.lines() {
        for event in serde_json::from_str::<Row>(row).unwrap().events {
            let line = event.get().as_bytes();
            let whole = whole::event(line).map(Record::from).unwrap();
            if event.get().contains("\"surfaceOp\"") {
                messages += 1;
                assert_eq!(skimmed(line), Some(whole), "{}", event.get());
            } else {
                assert_eq!(skimmed(line), None);
                assert!(plain_log_only(line).is_some(), "{}", event.get());
            }
        }
    }
    assert!(messages > 1_000, "{messages}");
}

#[test]
fn a_line_with_any_byte_changed_is_read_rightly_or_refused() {
    for line in USUAL {
        for at in 0..line.len() {
            for with in *b"\0\n \"\\{}[],:0-.eu\x80\xc3\xff" {
                let mut line = line.as_bytes().to_vec();
                line[at] = with;
                agrees(&line);
            }
        }
    }
}

#[test]
fn a_line_with_anything_put_in_anywhere_is_read_rightly_or_refused() {
    for line in USUAL {
        for at in 0..line.len() {
            for part in PARTS {
                agrees(&[&line.as_bytes()[..at], part, &line.as_bytes()[at..]].concat());
            }
        }
    }
}

#[test]
fn a_character_torn_over_two_messages_is_no_text_of_either() {
    let with = |part: &[u8]| {
        let (head, tail) = USUAL[0].split_at(USUAL[0].find("a \\\"").unwrap());
        let tail = &tail[tail.find("\"}]").unwrap()..];
        [head.as_bytes(), part, tail.as_bytes()].concat()
    };
    let mut texts = TextBlock::new(1_000);
    assert!(message(&with(b"\xe2\x82"), &mut texts).is_some());
    assert!(message(&with(b"\xac"), &mut texts).is_none());
    assert!(!texts.seal());
}

/// The value with the keys of each object in another order.
fn reordered(value: Value, by: usize) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map
                .into_iter()
                .map(|(key, value)| (key, reordered(value, by / 2 + 1)))
                .collect();
            let len = entries.len().max(1);
            entries.rotate_left(by % len);
            if by / len % 2 == 1 {
                entries.reverse();
            }
            Value::Object(Map::from_iter(entries))
        }
        Value::Array(values) => values.into_iter().map(|v| reordered(v, by)).collect(),
        value => value,
    }
}

#[derive(Clone, Debug)]
enum Edit {
    Set(Index, u8),
    Put(Index, Index),
    Cut(Index, usize),
    Copy(Index, Index, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        any::<(Index, u8)>().prop_map(|(at, with)| Edit::Set(at, with)),
        any::<(Index, Index)>().prop_map(|(at, part)| Edit::Put(at, part)),
        (any::<Index>(), 1..30_usize).prop_map(|(at, len)| Edit::Cut(at, len)),
        (any::<(Index, Index)>(), 1..60_usize).prop_map(|((a, b), len)| Edit::Copy(a, b, len)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_damaged_line_is_read_rightly_or_refused(
        line in prop::sample::select(USUAL.to_vec()),
        order in 0..200_usize,
        edits in prop::collection::vec(edit(), 0..4),
    ) {
        let value = reordered(serde_json::from_str(line).unwrap(), order);
        let mut line = value.to_string().into_bytes();
        for edit in edits {
            let end = |at: usize, len: usize| (at + len).min(line.len());
            match edit {
                Edit::Set(at, with) => {
                    let at = at.index(line.len());
                    line[at] = with;
                }
                Edit::Put(at, part) => {
                    let at = at.index(line.len());
                    line.splice(at..at, PARTS[part.index(PARTS.len())].iter().copied());
                }
                Edit::Cut(at, len) => {
                    let at = at.index(line.len() - 1) + 1;
                    line.drain(at..end(at, len));
                }
                Edit::Copy(from, to, len) => {
                    let from = from.index(line.len());
                    let part = line[from..end(from, len)].to_vec();
                    let to = to.index(line.len());
                    line.splice(to..to, part);
                }
            }
        }
        agrees(&line);
    }
}
