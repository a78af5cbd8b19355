//! Retention against a slow, obvious model of the contract: drop and shorten
//! one by one, writing everything out again each time.

use ibid::reference::projection::{Capture, Item};
use ibid::reference::retention::{Facts, Retained, retain};
use ibid::session::{Header, Millis, Role, Seq};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::text::awkward_text;

const LABEL: &str = "la<bel\"";

#[derive(Clone, Debug)]
struct Entry {
    role: Role,
    checkpoint: bool,
    newest: bool,
    original: String,
    text: String,
    /// Bytes of the original that are gone.
    gone: usize,
    shortened: bool,
}

fn json_of(capture: &Capture, entries: &[Entry]) -> String {
    let conversation: Vec<Value> = entries
        .iter()
        .map(|entry| json!({"role": entry.role.as_str(), "text": entry.text}))
        .collect();
    json!({
        "sessionId": capture.header.id,
        "label": LABEL,
        "cwd": capture.header.cwd,
        "capturedThroughSeq": capture.captured_through,
        "conversation": conversation,
    })
    .to_string()
    .replace('<', "\\u003c")
}

/// Head and tail of at most `keep` bytes together, by whole code points.
fn ends(text: &str, keep: usize) -> (&str, &str) {
    let mut head = keep.div_ceil(2);
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = text.len() - keep / 2;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    (&text[..head], &text[tail..])
}

fn shorten(original: &str, target: usize) -> (String, usize) {
    let (mut low, mut high) = (0_i64, i64::try_from(target).unwrap());
    let mut best = None;
    while low <= high {
        let mid = i64::midpoint(low, high);
        let (head, tail) = ends(original, usize::try_from(mid).unwrap());
        let gone = original.len() - head.len() - tail.len();
        let text = format!("{head}{tail}\n[… omitted {gone} UTF-8 bytes …]");
        if text.len() <= target {
            best = Some((text, gone));
            low = mid + 1;
        } else {
            high = mid - 1;
        }
    }
    best.unwrap_or((String::new(), original.len()))
}

/// The data and the facts; `None` when the budget is too small.
fn model(capture: &Capture, budget: usize) -> Option<(String, Facts)> {
    let count = capture.conversation.len();
    let mut entries: Vec<Entry> = capture
        .conversation
        .iter()
        .enumerate()
        .map(|(place, item)| Entry {
            role: item.role,
            checkpoint: item.checkpoint,
            newest: place + 1 == count,
            original: item.text.to_string(),
            text: item.text.to_string(),
            gone: 0,
            shortened: false,
        })
        .collect();
    let mut omitted_bytes = 0;
    while json_of(capture, &entries).len() > budget {
        let Some(oldest) = entries.iter().position(|e| !e.checkpoint && !e.newest) else {
            break;
        };
        omitted_bytes += entries.remove(oldest).original.len();
    }
    loop {
        let size = json_of(capture, &entries).len();
        if size <= budget {
            break;
        }
        // Of equals the first counts.
        let longest = entries.iter_mut().rev().max_by_key(|e| e.text.len())?;
        if longest.text.is_empty() {
            return None;
        }
        let target = longest.text.len().saturating_sub(size - budget);
        (longest.text, longest.gone) = shorten(&longest.original, target);
        longest.shortened = true;
    }
    omitted_bytes += entries.iter().map(|e| e.gone).sum::<usize>();
    let omitted_messages = count - entries.len();
    let facts = Facts {
        compacted: capture.conversation.iter().any(|item| item.checkpoint),
        original_messages: count,
        retained_messages: entries.len(),
        omitted_messages,
        omitted_bytes,
        truncated: omitted_messages > 0 || entries.iter().any(|e| e.shortened),
    };
    Some((json_of(capture, &entries), facts))
}

fn capture() -> impl Strategy<Value = Capture> {
    let text = prop_oneof![
        (awkward_text(), 1_usize..12).prop_map(|(text, times)| text.repeat(times)),
        // Equal lengths, so that the first of equals matters.
        prop::sample::select(vec!["界".repeat(20), "\"".repeat(60), "<".repeat(60)]),
    ];
    let item = (any::<bool>(), prop::bool::weighted(0.25), text).prop_filter_map(
        "an item has text",
        |(user, checkpoint, text)| {
            (!text.is_empty()).then(|| Item {
                time: Millis(0),
                role: if user || checkpoint {
                    Role::User
                } else {
                    Role::Assistant
                },
                checkpoint,
                text: text.into(),
            })
        },
    );
    let cwd = proptest::option::of(awkward_text());
    (
        awkward_text(),
        cwd,
        proptest::option::of(any::<u64>()),
        vec(item, 0..9),
    )
        .prop_map(|(id, cwd, seq, conversation)| Capture {
            header: Header::new(id, Millis(1), cwd),
            captured_through: seq.map(Seq),
            damage: None,
            conversation,
        })
}

fn kept_and_gone_add_up(capture: &Capture, retained: &Retained) {
    let facts = retained.facts;
    assert_eq!(facts.original_messages, capture.conversation.len());
    assert_eq!(facts.retained_messages, retained.kept.len());
    assert_eq!(
        facts.retained_messages + facts.omitted_messages,
        facts.original_messages
    );
    let original: usize = capture
        .conversation
        .iter()
        .map(|item| item.text.len())
        .sum();
    let mut there = 0;
    for kept in &retained.kept {
        let whole = &capture.conversation[kept.index].text;
        let Some(cut) = kept.cut else {
            assert_eq!(kept.text, *whole);
            there += whole.len();
            continue;
        };
        assert_eq!(cut.head + cut.omitted + cut.tail, whole.len());
        assert!(kept.text.starts_with(&whole[..cut.head]));
        assert!(kept.text[cut.head..].starts_with(&whole[whole.len() - cut.tail..]));
        there += cut.head + cut.tail;
    }
    assert_eq!(there + facts.omitted_bytes, original);
    assert_eq!(facts.truncated, facts.omitted_bytes > 0);
}

proptest! {
    #[test]
    fn retention_equals_the_contract_and_never_exceeds_its_budget(
        capture in capture(),
        // From nothing to everything: a part of what the whole takes.
        thousandths in 0_usize..1_050,
    ) {
        let whole = retain(&capture, LABEL, u64::MAX).unwrap();
        prop_assert!(!whole.facts.truncated);
        let budget = whole.json.len() * thousandths / 1_000;
        let retained = retain(&capture, LABEL, u64::try_from(budget).unwrap());
        let Some((json, facts)) = model(&capture, budget) else {
            let refused = retained.unwrap_err();
            prop_assert_eq!(refused.code(), Some("SESSION_REFERENCE_BUDGET_EXCEEDED"));
            return Ok(());
        };
        let retained = retained.unwrap();
        prop_assert!(retained.json.len() <= budget);
        prop_assert_eq!(&retained.json, &json);
        prop_assert_eq!(retained.facts, facts);
        kept_and_gone_add_up(&capture, &retained);
    }
}

#[test]
fn retention_equals_the_contract_at_every_budget() {
    for text in [
        "abcdefghij".repeat(9),
        "a界😀".repeat(12),
        "\"<\0".repeat(30),
    ] {
        let item = |checkpoint| Item {
            time: Millis(0),
            role: Role::User,
            checkpoint,
            text: text.as_str().into(),
        };
        let capture = Capture {
            header: Header::new("s", Millis(1), None),
            captured_through: None,
            damage: None,
            conversation: vec![item(true), item(false), item(false)],
        };
        let whole = retain(&capture, LABEL, u64::MAX).unwrap().json.len();
        for budget in 0..=whole {
            let retained = retain(&capture, LABEL, u64::try_from(budget).unwrap()).ok();
            let found = retained.map(|r| (r.json, r.facts));
            assert_eq!(found, model(&capture, budget), "{budget} bytes");
        }
    }
}
