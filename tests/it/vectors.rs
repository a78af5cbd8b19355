//! Every row of `tests/vectors/`: inputs with the values that the existing
//! system computed for them.

use std::sync::Arc;

use ibid::reference::mention::{self, Reference};
use ibid::reference::projection::capture;
use ibid::reference::{ReferenceError, retention, uri};
use ibid::session::{Event, Header, Session, SessionId, title};
use serde::Deserialize;
use serde_json::{Value, json};

fn rows<T: for<'de> Deserialize<'de>>(name: &str) -> Vec<T> {
    let path = format!("{}/tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path)
        .unwrap()
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn error(error: &ReferenceError) -> Value {
    json!({"error": error.code()})
}

#[test]
fn titles_are_cleaned_and_cut() {
    #[derive(Deserialize)]
    struct Row {
        input: String,
        normalized80: String,
        #[serde(rename = "fallback5x40")]
        fallback: String,
    }
    let rows: Vec<Row> = rows("title.jsonl");
    assert_eq!(rows.len(), 160);
    for row in rows {
        assert_eq!(
            title::normalise(&row.input, 80),
            row.normalized80,
            "{:?}",
            row.input
        );
        assert_eq!(title::fallback(&row.input), row.fallback, "{:?}", row.input);
    }
}

#[test]
fn ids_have_one_uri_and_mentions_carry_it() {
    #[derive(Deserialize)]
    struct Row {
        id: SessionId,
        uri: String,
        mention: String,
        labelled: String,
    }
    let rows: Vec<Row> = rows("uri.jsonl");
    assert_eq!(rows.len(), 74);
    for row in rows {
        assert_eq!(uri::encode(&row.id), row.uri);
        assert_eq!(uri::decode(&row.uri).unwrap(), row.id);
        let plain = Reference::new(row.id.clone(), None);
        assert_eq!(mention::format(&plain), row.mention);
        let labelled = Reference::new(row.id, Some("lab\\el]".to_owned()));
        assert_eq!(mention::format(&labelled), row.labelled);
    }
}

#[test]
fn uris_that_are_not_canonical_are_refused() {
    #[derive(Deserialize)]
    struct Row {
        uri: String,
        error: String,
    }
    let rows: Vec<Row> = rows("uri-invalid.jsonl");
    assert_eq!(rows.len(), 13);
    for row in rows {
        let refused = uri::decode(&row.uri).unwrap_err();
        assert_eq!(refused.code(), Some(row.error.as_str()), "{}", row.uri);
    }
}

#[test]
fn mentions_in_text_become_labels() {
    #[derive(Deserialize)]
    struct Row {
        input: String,
        expect: Value,
    }
    let rows: Vec<Row> = rows("mention.jsonl");
    assert_eq!(rows.len(), 260);
    for row in rows {
        let parsed = match mention::parse(&row.input) {
            Ok(parsed) => serde_json::to_value(parsed).unwrap(),
            Err(refused) => error(&refused),
        };
        assert_eq!(parsed, row.expect, "{:?}", row.input);
    }
}

#[test]
fn conversations_are_kept_under_their_budget() {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Row {
        session: Header,
        label: String,
        events: Vec<Event>,
        surface: Vec<u64>,
        captured_through_seq: Option<u64>,
        max_bytes: u64,
        expect: Value,
    }
    let rows: Vec<Row> = rows("retention.jsonl");
    assert_eq!(rows.len(), 335);
    for row in rows {
        let session = Session::replay(row.session, row.events.into_iter().map(Arc::new)).unwrap();
        let surface: Vec<u64> = session.surface().map(|event| event.seq.0).collect();
        assert_eq!(surface, row.surface);
        assert_eq!(
            session.captured_through().map(|seq| seq.0),
            row.captured_through_seq
        );

        let retained = match retention::retain(&capture(&session), &row.label, row.max_bytes) {
            Ok(retained) => json!({"dataJson": retained.json, "stats": retained.facts}),
            Err(refused) => error(&refused),
        };
        assert_eq!(retained, row.expect, "{} bytes", row.max_bytes);
    }
}
