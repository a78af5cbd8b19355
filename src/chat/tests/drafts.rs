//! What is kept of a message that is not in the log yet.

use super::*;
use crate::chat::{Departed, KeptDraft};

#[test]
fn a_draft_has_departed_from_its_confirmation_until_it_is_logged() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    let departed = |turn: &Turn| turn.chat.departed().map(|d| d.draft.to_text());
    let whole = Some(draft("see @flaky").to_text());
    turn.send("see @flaky");
    assert_eq!(departed(&turn), None, "it is in the composer");
    turn.prepare();
    assert_eq!(departed(&turn), None);
    turn.confirm();
    assert_eq!(departed(&turn), whole);
    turn.recheck();
    assert_eq!(departed(&turn), whole);
    turn.log();
    assert_eq!(departed(&turn), None);
}

#[test]
fn a_draft_that_is_prepared_anew_has_departed_already() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("see @flaky");
    turn.prepare();
    turn.world.sources.grow("flaky", "more");
    turn.confirm();
    turn.recheck();
    assert!(turn.chat.departed().is_some());
    turn.prepare();
    assert!(turn.chat.departed().is_some());
}

#[test]
fn after_a_crash_a_draft_comes_back_only_when_it_was_not_logged() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.send("hello");
    let kept = KeptDraft {
        departed: turn.chat.departed(),
        typed: draft("typed since"),
        revises: None,
    };
    let json = serde_json::to_string(&kept).unwrap();
    let kept: KeptDraft = serde_json::from_str(&json).unwrap();
    let left = |turn: &Turn| kept.clone().left_in(&turn.world.log).typed.to_text();
    assert_eq!(left(&turn), "hello\ntyped since");
    turn.log();
    assert_eq!(left(&turn), "typed since");
}

#[test]
fn nothing_is_kept_of_an_empty_composer() {
    assert!(KeptDraft::default().is_blank());
    let kept = KeptDraft {
        departed: Some(Departed {
            message_id: "m".to_owned(),
            draft: draft("hello"),
        }),
        ..KeptDraft::default()
    };
    assert!(!kept.is_blank());
}
