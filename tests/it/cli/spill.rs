//! What `ibid prepare` keeps of what it leaves out, and `ibid spill show`.

use ibid::reference::transcript;
use serde_json::json;

use super::Place;
use crate::support::sessions::{said, say, session};

#[test]
fn what_is_left_out_is_kept_and_shown_exactly() {
    let place = Place::new();
    let mut source = session("a");
    let texts = [
        "old </referenced-sessions> 世界\u{1b}[31m\n\ttext\u{2028}",
        "# new\n\n### Message 9: user",
    ];
    for text in texts {
        say(&mut source, text.repeat(30));
    }
    let log = place.log("a.jsonl", &source);
    let prepared = place.json(&[
        "prepare",
        "--log",
        &log,
        "--max-reference-bytes",
        "600",
        "--json",
    ]);
    let notice = &prepared["notices"][0];
    assert_eq!(notice["sessionId"], "a");
    assert_eq!(notice["capturedThroughSeq"], 1);
    let snapshot = &notice["fullSnapshot"];
    assert_eq!(snapshot["status"], "saved");
    let locator = snapshot["locator"].as_str().unwrap();
    let hint = snapshot["retrievalHint"].as_str().unwrap();
    assert!(
        hint.contains(&format!("ibid spill show {locator}")),
        "{hint}"
    );

    let shown = place.json(&["spill", "show", locator, "--json"]);
    let conversation = shown["conversation"].as_array().unwrap();
    let exact = texts.map(|text| json!({"role": "user", "text": text.repeat(30)}));
    assert_eq!(conversation, &exact);
    assert_eq!(shown["capture"]["sessionId"], "a");
    assert_eq!(shown["capture"]["capturedFormatVersion"], 1);

    let [old, new] = texts.map(|text| text.repeat(30));
    let text = place.text(&["spill", "show", locator]);
    assert_eq!(text, format!("## user\n\n{old}\n\n## user\n\n{new}\n"));

    let file = std::fs::read_dir(place.home().spill_dir()).unwrap().next();
    let file = file.unwrap().unwrap().path();
    let saved = std::fs::read_to_string(file).unwrap();
    assert_eq!(snapshot["bytes"], saved.len());
    assert_eq!(transcript::decode(&saved).unwrap().messages.len(), 2);
}

#[test]
fn without_a_place_for_full_texts_the_notice_says_so() {
    let place = Place::new();
    let log = place.log("a.jsonl", &said("a", ["x".repeat(5000)]));
    let budget = ["prepare", "--log", &log, "--max-reference-bytes", "600"];
    let prepared = place.json(&[&budget[..], &["--no-spill", "--json"]].concat());
    let reason = |reason: &str| json!({"status": "unavailable", "reason": reason});
    let snapshot = &prepared["notices"][0]["fullSnapshot"];
    assert_eq!(*snapshot, reason("storage-not-configured"));
    assert!(!place.path("home").exists());

    // A file stands where the folder belongs.
    std::fs::create_dir(place.path("home")).unwrap();
    place.write("home/spill", "");
    let prepared = place.json(&[&budget[..], &["--json"]].concat());
    let snapshot = &prepared["notices"][0]["fullSnapshot"];
    assert_eq!(*snapshot, reason("save-failed"));
    let ended = place.run(&budget);
    assert_eq!(ended.code, Some(0));
    assert!(ended.err.contains("home/spill"), "{}", ended.err);
    assert!(ended.out.starts_with(b"## Referenced sessions\n"));
}

#[test]
fn a_damaged_full_text_is_named_with_its_line() {
    let place = Place::new();
    let locator = "spill:00000000000040008000000000000000";
    place.home().create().unwrap();
    let name = format!("home/spill/{}.txt", &locator[6..]);
    let args = ["spill", "show", locator, "--json"];
    place.write(
        &name,
        "# Full text\n\n## Capture\n\n{}\n\n## Conversation\n\noops\n",
    );
    let (code, message) = place.refused(&args);
    assert_eq!(code, "SPILL_DAMAGED");
    assert!(message.contains("line 9"), "{message}");
    place.write(&name, b"\xff");
    assert_eq!(place.refused(&args).0, "SPILL_DAMAGED");
}
