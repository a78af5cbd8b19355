//! `ibid mention` and `ibid title`.

use serde_json::{Value, json};

use super::{Place, sample};

#[test]
fn parse_gives_the_text_and_the_references() {
    let place = Place::new();
    for row in sample("mention.jsonl", 20) {
        let input = row["input"].as_str().unwrap();
        let ended = place.run_with(&["mention", "parse"], input);
        if let Some(code) = row["expect"]["error"].as_str() {
            assert_eq!(ended.refused().0, code, "{input:?}");
        } else {
            assert_eq!(ended.json(), row["expect"], "{input:?}");
        }
    }
}

#[test]
fn format_and_decode_are_each_other_s_inverse() {
    let place = Place::new();
    for row in sample("uri.jsonl", 20) {
        let field = |name: &str| row[name].as_str().unwrap();
        let (id, uri) = (field("id"), field("uri"));
        if id.contains('\0') {
            // No program can be given a NUL in an argument.
            continue;
        }
        let plain = place.text(&["mention", "format", "--id", id]);
        assert_eq!(plain, format!("{}\n", field("mention")));
        let labelled = ["mention", "format", "--id", id, "--label", "lab\\el]"];
        assert_eq!(place.text(&labelled), format!("{}\n", field("labelled")));
        let args = ["mention", "format", "--id", id, "--json"];
        let whole = json!({"mention": field("mention"), "uri": uri});
        assert_eq!(place.json(&args), whole);

        assert_eq!(place.text(&["mention", "decode", uri]), format!("{id}\n"));
        let decoded = place.json(&["mention", "decode", uri, "--json"]);
        assert_eq!(decoded, json!({"sessionId": id}));
    }
}

#[test]
fn uris_that_are_not_canonical_are_refused() {
    let place = Place::new();
    for row in sample("uri-invalid.jsonl", 13) {
        let uri = row["uri"].as_str().unwrap();
        let (code, message) = place.refused(&["mention", "decode", uri, "--json"]);
        assert_eq!(Value::from(code), row["error"]);
        assert!(message.contains("URI"), "{message}");
    }
}

#[test]
fn a_lone_surrogate_is_refused_in_words() {
    let lone = "dsh-session:Ilx1ZDgwMCI";
    let place = Place::new();
    let (code, message) = place.refused(&["mention", "decode", lone, "--json"]);
    assert_eq!(code, "SESSION_REFERENCE_INVALID_REFERENCE");
    assert!(message.contains(lone), "{message}");
    assert!(message.contains("Unicode"), "{message}");

    let ended = place.run_with(&["mention", "parse"], format!("see {lone}"));
    assert_eq!(ended.refused().0, code);
}

#[test]
fn title_gives_both_forms() {
    let place = Place::new();
    for row in sample("title.jsonl", 20) {
        let ended = place.run_with(&["title"], row["input"].as_str().unwrap());
        let forms = json!({"normalized": row["normalized80"], "fallback": row["fallback5x40"]});
        assert_eq!(ended.json(), forms);
    }
}

#[test]
fn text_that_is_not_utf8_is_refused_with_its_place() {
    let place = Place::new();
    for args in [&["title"][..], &["mention", "parse", "--json"]] {
        let (code, message) = place.run_with(args, b"good \xff").refused();
        assert_eq!(code, "NOT_UTF8");
        assert!(message.contains("byte 5"), "{message}");
    }
}

#[test]
fn the_flag_s_own_name_can_be_an_id() {
    let place = Place::new();
    let mention = "@[--json](dsh-session:Ii0tanNvbiI)";
    let text = place.text(&["mention", "format", "--id", "--json"]);
    assert_eq!(text, format!("{mention}\n"));
    let json = place.json(&["mention", "format", "--id", "--json", "--json"]);
    assert_eq!(json["mention"], mention);
}

#[test]
fn a_megabyte_of_unclosed_mentions_is_text() {
    let text = "@[a](dsh-session:".repeat(60_000);
    let parsed = Place::new().run_with(&["mention", "parse"], text.as_str());
    assert_eq!(parsed.json(), json!({"text": text, "references": []}));
}
