//! URIs, mentions, tag-safe JSON and transcripts.

use std::sync::Arc;

use ibid::reference::mention::{self, Reference};
use ibid::reference::projection::{Capture, Item};
use ibid::reference::transcript::{FRAGMENT_CODE_POINTS, Transcript, decode};
use ibid::reference::{tag_safe, uri};
use ibid::session::{Header, Millis, Role, Seq, SessionId};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

/// Text that is likely to hold what the parsers look for.
pub(super) fn awkward_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => any::<char>().prop_map(String::from),
        2 => "[a-z ]{1,9}",
        1 => prop::sample::select(vec![
            "<", "</referenced-sessions>", "\\", "]", "@[", "](", ")", "dsh-session:", "\n", "\r\n",
            "\u{2028}", "\"", "\0", "\u{1b}]0;x\u{7}", "界", "😀", "👩\u{200d}👧", "e\u{301}",
            "\n[… omitted 3 UTF-8 bytes …]", "### Message 1: user\n\n",
        ]).prop_map(str::to_owned),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Any JSON, a few levels deep.
pub(super) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        awkward_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((awkward_text(), inner), 0..4).prop_map(|pairs| pairs.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn a_uri_gives_its_id_back(id in awkward_text()) {
        let id = SessionId::from(id);
        prop_assert_eq!(uri::decode(&uri::encode(&id)).unwrap(), id);
    }

    #[test]
    fn only_the_canonical_uri_of_an_id_is_taken(text in "dsh-session:[A-Za-z0-9_=-]{0,12}") {
        if let Ok(id) = uri::decode(&text) {
            prop_assert_eq!(uri::encode(&id), text);
        }
    }

    #[test]
    fn a_formatted_mention_parses_to_itself(
        id in awkward_text(),
        label in awkward_text(),
        before in "[^@d]{0,9}",
        after in "[^@d]{0,9}",
    ) {
        // A label may hold line ends, but not directly behind a backslash.
        prop_assume!(!label.contains("\\\n"));
        let reference = Reference::new(id, Some(label));
        let text = format!("{before}{}{after}", mention::format(&reference));
        let parsed = mention::parse(&text).unwrap();
        prop_assert_eq!(parsed.text, format!("{before}@{}{after}", reference.label));
        prop_assert_eq!(parsed.references, [reference]);
    }

    #[test]
    fn text_without_a_scheme_is_left_alone(text in awkward_text()) {
        prop_assume!(!text.contains(uri::SCHEME));
        let parsed = mention::parse(&text).unwrap();
        prop_assert_eq!(parsed.text, text);
        prop_assert!(parsed.references.is_empty());
    }

    #[test]
    fn parsing_never_panics(text in awkward_text()) {
        // Refused or not, it comes back.
        let _ = mention::parse(&text);
    }

    #[test]
    fn tag_safe_json_keeps_its_value_and_spells_no_tag(value in json()) {
        for safe in [tag_safe::to_string(&value), tag_safe::to_string_pretty(&value)] {
            let safe = safe.unwrap();
            prop_assert!(!safe.contains('<'));
            prop_assert_eq!(serde_json::from_str::<Value>(&safe).unwrap(), value.clone());
        }
    }

    #[test]
    fn a_string_is_counted_and_appended_as_it_is_written(text in awkward_text(), times in 1_usize..40) {
        let text = text.repeat(times);
        let written = tag_safe::to_string(&text).unwrap();
        prop_assert_eq!(tag_safe::escaped_len(&text) + 2, written.len());
        let mut appended = String::new();
        tag_safe::append_str(&mut appended, &text);
        prop_assert_eq!(appended, written);
    }

    #[test]
    fn a_transcript_decodes_to_the_exact_text(
        id in awkward_text(),
        label in awkward_text(),
        texts in vec((awkward_text(), 1_usize..30), 0..5),
    ) {
        let conversation: Vec<Item> = texts
            .iter()
            .enumerate()
            .map(|(place, (text, times))| Item {
                time: Millis(0),
                role: [Role::User, Role::Assistant][place % 2],
                checkpoint: false,
                text: text.repeat(*times).into(),
            })
            .collect();
        let capture = Arc::new(Capture {
            header: Header::new(id, Millis(1), None),
            captured_through: Some(Seq(9)),
            damage: None,
            conversation,
        });
        let mut written = Vec::new();
        Transcript::new(Arc::clone(&capture), label.clone()).write_to(&mut written).unwrap();
        let written = String::from_utf8(written).unwrap();
        prop_assert!(!written.contains('<'));
        for line in written.lines() {
            if let Ok(fragment) = serde_json::from_str::<String>(line) {
                prop_assert!(fragment.chars().count() <= FRAGMENT_CODE_POINTS);
            }
        }

        let decoded = decode(&written).unwrap();
        prop_assert_eq!(decoded.capture["label"].as_str(), Some(&*label));
        prop_assert_eq!(decoded.capture["sessionId"].as_str(), Some(capture.header.id.as_str()));
        prop_assert_eq!(decoded.messages.len(), capture.conversation.len());
        for (message, item) in decoded.messages.iter().zip(&capture.conversation) {
            prop_assert_eq!(&*message.role, item.role.as_str());
            prop_assert_eq!(&*message.text, &*item.text);
        }
    }
}

#[test]
fn hostile_mentions_end_quickly() {
    // Scanned again from each opening, these would take minutes.
    for end in ["", "]", "\\\n", "](dsh-session:", "](https://e.test)"] {
        let text = format!("{}{end}", "@[".repeat(100_000));
        assert_eq!(mention::parse(&text).unwrap().text, text);
    }
    let text = "@[](dsh-session:%".repeat(100_000);
    assert_eq!(mention::parse(&text).unwrap().text, text);
}
