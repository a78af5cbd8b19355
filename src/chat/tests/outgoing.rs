//! The way of a message out.

use super::*;
use crate::reference::ReferenceError;
use crate::reference::projection::Damage;
use crate::reference::resolver::PreparedStep;
use crate::session::Title;

const MESSAGE: &str = "log turn/start session/title user/message request/header";
const CITING: &str = "log turn/start session/title user/message user/message request/header";

#[test]
fn a_message_without_references_goes_to_the_log_and_then_to_the_model() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    assert_eq!(turn.send("hello there"), ["clear", MESSAGE]);
    assert_eq!(turn.view(), "sending");
    assert_eq!(turn.log(), ["ask 1"]);
    assert_eq!(turn.view(), "none");
    assert_eq!(turn.messages(), ["hello there"]);
}

#[test]
fn a_message_with_references_is_prepared_reviewed_checked_logged_and_asked() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    assert_eq!(turn.send("see @flaky please"), ["prepare"]);
    assert_eq!(turn.view(), "preparing");
    assert!(turn.prepare().is_empty(), "it waits for the person");
    assert_eq!(turn.view(), "review");
    assert_eq!(turn.confirm(), ["clear", "recheck"]);
    assert_eq!(turn.view(), "sending");
    assert_eq!(turn.recheck(), [CITING]);
    assert_eq!(turn.log(), ["ask 2"]);
    let messages = turn.messages();
    assert_eq!(messages[0], "see @FLAKY please");
    assert!(messages[1].starts_with("## Referenced sessions"));
    let sent = turn.world.log.derive_messages().nth(1).unwrap();
    assert!(sent.source.is_session_reference());
}

#[test]
fn what_is_shown_is_what_is_sent_byte_for_byte() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("see @long");
    turn.prepare();
    let View::Review { step, .. } = turn.chat.outgoing() else {
        panic!("it waits");
    };
    let shown = step.contexts[0].message.text();
    turn.confirm();
    turn.recheck();
    turn.log();
    assert_eq!(turn.messages()[1], shown);
}

#[test]
fn the_policy_decides_whether_a_message_is_shown() {
    for (policy, cites, shown) in [
        (ReviewPolicy::Always, "@flaky", true),
        (ReviewPolicy::WhenOmitted, "@flaky", false),
        (ReviewPolicy::WhenOmitted, "@long", true),
        (ReviewPolicy::Never, "@long", false),
    ] {
        let mut turn = Turn::new(policy);
        turn.send(cites);
        let effects = turn.prepare();
        if shown {
            assert!(effects.is_empty(), "{policy:?} {cites}: {effects:?}");
            assert_eq!(turn.view(), "review");
        } else {
            assert_eq!(effects, ["clear", CITING], "{policy:?} {cites}");
        }
    }
}

#[test]
fn a_damaged_session_is_shown_where_a_cut_one_is() {
    let mut turn = Turn::new(ReviewPolicy::WhenOmitted);
    *turn.world.sources.damage.lock().unwrap() = Some(Damage {
        problems: 1,
        first: "line 2".to_owned(),
    });
    turn.send("@flaky");
    assert!(turn.prepare().is_empty());
    assert_eq!(turn.view(), "review");
}

#[test]
fn a_preview_is_shown_whatever_the_policy_and_can_be_sent() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    assert_eq!(turn.on(ChatEvent::Preview(draft("@flaky"))), ["prepare"]);
    turn.prepare();
    assert_eq!(turn.view(), "review");
    assert_eq!(turn.confirm(), ["clear", "recheck"]);
}

#[test]
fn a_preview_of_a_draft_that_cites_nothing_says_so() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    assert_eq!(turn.on(ChatEvent::Preview(draft("hello"))), ["say"]);
    assert_eq!(turn.view(), "none");
}

#[test]
fn a_blank_draft_is_not_sent_and_nothing_is_confirmed_without_a_review() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    assert!(turn.send("").is_empty());
    assert!(
        turn.on(ChatEvent::Send(super::super::Draft::from_text(" \n")))
            .is_empty()
    );
    assert!(turn.confirm().is_empty());
    assert!(turn.cancel().is_empty());
}

#[test]
fn a_source_that_grew_is_captured_anew_and_shown_again() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.on(ChatEvent::Preview(draft("see @long")));
    turn.prepare();
    turn.world.sources.grow("long", "one more");
    turn.confirm();
    assert_eq!(turn.recheck(), ["discard 1", "prepare"]);
    assert!(turn.prepare().is_empty());
    let View::Review { growth, .. } = turn.chat.outgoing() else {
        panic!("it is shown again");
    };
    assert_eq!(growth.len(), 1);
    assert_eq!(growth[0].messages, 1);
    assert_eq!(turn.world.sources.saved().len(), 1);
    // The draft left the composer when it was confirmed the first time.
    assert_eq!(turn.confirm(), ["recheck"]);
    assert_eq!(turn.recheck(), [CITING]);
    turn.log();
    assert!(turn.messages()[1].contains("one more"));
}

#[test]
fn a_source_that_grew_and_then_esc_puts_the_draft_back_once() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("see @long");
    turn.prepare();
    turn.world.sources.grow("long", "one more");
    turn.confirm();
    let whole = format!("restore {}", draft("see @long").to_text());
    turn.recheck();
    assert_eq!(turn.cancel(), ["stop", &whole]);

    turn.send("see @long");
    turn.prepare();
    turn.world.sources.grow("long", "and more");
    turn.confirm();
    turn.recheck();
    turn.prepare();
    assert_eq!(turn.cancel(), ["discard 1", &whole]);
    assert!(turn.world.sources.saved().is_empty());
}

#[test]
fn a_source_that_went_away_puts_the_draft_back() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("see @long");
    turn.prepare();
    turn.world.sources.remove("long");
    turn.confirm();
    let back = format!("restore {}", draft("see @long").to_text());
    assert_eq!(
        turn.recheck(),
        [&*back, "discard 1", "say SESSION_REFERENCE_READ_FAILED"]
    );
    assert_eq!(turn.view(), "none");
    assert!(turn.logged().is_empty());

    // Grown, and gone before it is captured anew.
    turn.world.sources.put("long", &["again"]);
    turn.send("see @long");
    turn.prepare();
    turn.world.sources.grow("long", "more");
    turn.confirm();
    turn.recheck();
    turn.world.sources.remove("long");
    assert_eq!(
        turn.prepare(),
        [&*back, "say SESSION_REFERENCE_READ_FAILED"]
    );
}

#[test]
fn a_failed_preparation_leaves_the_draft_in_the_composer() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("see @flaky");
    let failed = unreadable(&turn.effects);
    assert_eq!(turn.on(failed), ["say SESSION_REFERENCE_READ_FAILED"]);
    assert_eq!(turn.view(), "none");
    assert_eq!(turn.send("see @target"), ["prepare"]);
    assert_eq!(turn.prepare(), ["say SESSION_REFERENCE_SELF_REFERENCE"]);
    turn.send("@a @b @c @d");
    assert_eq!(turn.prepare(), ["say SESSION_REFERENCE_TOO_MANY"]);
    assert!(turn.logged().is_empty());
}

#[test]
fn a_rejected_step_leaves_the_draft_in_the_composer() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("see @flaky");
    let (generation, ..) = asked_to_prepare(&turn.effects);
    let rejected = ChatEvent::Prepared(generation, Ok(PreparedStep::Reject));
    assert!(turn.on(rejected).is_empty());
    assert_eq!(turn.view(), "none");
}

#[test]
fn a_message_that_cannot_be_logged_comes_back_whole() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.send("see @long");
    turn.prepare();
    let back = format!("restore {}", draft("see @long").to_text());
    assert_eq!(turn.fail_log(), [&*back, "discard 1", "say STORE_FULL"]);
    assert_eq!(turn.view(), "none");
    assert!(turn.world.sources.saved().is_empty());
    turn.send("hello");
    assert_eq!(turn.fail_log(), ["restore hello", "say STORE_FULL"]);
}

#[test]
fn esc_while_preparing_stops_it_and_leaves_the_draft_where_it_is() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("see @long");
    let asked = turn.effects.clone();
    assert_eq!(turn.cancel(), ["stop"]);
    assert_eq!(turn.view(), "none");
    // It was done already, and what it saved is removed.
    let late = turn.world.prepare(&asked);
    assert_eq!(turn.on(late), ["discard 1"]);
    assert!(turn.world.sources.saved().is_empty());
    assert_eq!(turn.view(), "none");
}

#[test]
fn esc_in_the_review_removes_what_was_saved() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("see @long");
    turn.prepare();
    assert_eq!(turn.world.sources.saved().len(), 1);
    assert_eq!(turn.cancel(), ["discard 1"]);
    assert!(turn.world.sources.saved().is_empty());
    assert_eq!(turn.view(), "none");
}

#[test]
fn esc_while_checking_stops_it_and_puts_the_draft_back() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("see @long");
    turn.prepare();
    turn.confirm();
    let asked = turn.effects.clone();
    let back = format!("restore {}", draft("see @long").to_text());
    assert_eq!(turn.cancel(), ["stop", &back, "discard 1"]);
    let late = turn.world.recheck(&asked);
    assert!(turn.on(late).is_empty());
    assert_eq!(turn.view(), "none");
}

#[test]
fn esc_while_the_message_is_written_stops_what_follows() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.send("hello");
    let write = turn.effects.clone();
    assert!(turn.cancel().is_empty(), "a write can't be taken back");
    turn.effects = write;
    assert_eq!(turn.log(), ["log turn/end"], "no model is asked");
    turn.log();
    assert_eq!(turn.messages(), ["hello"]);
    assert!(!turn.chat.is_busy());
}

#[test]
fn a_write_that_fails_after_esc_still_gives_the_draft_back() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.send("hello");
    let write = turn.effects.clone();
    turn.cancel();
    turn.effects = write;
    assert_eq!(turn.fail_log(), ["restore hello", "say STORE_FULL"]);
}

#[test]
fn a_second_message_is_refused_while_one_is_under_way() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("see @flaky");
    let first = turn.effects.clone();
    assert_eq!(turn.send("another"), ["say"]);
    assert_eq!(turn.on(ChatEvent::Preview(draft("@long"))), ["say"]);
    turn.effects = first;
    turn.prepare();
    assert_eq!(turn.view(), "review");
}

#[test]
fn outcomes_that_nobody_waits_for_are_dropped() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("see @long");
    let old = turn.effects.clone();
    turn.cancel();
    turn.send("see @flaky");
    let new = turn.effects.clone();
    let stale = turn.world.prepare(&old);
    assert_eq!(turn.on(stale), ["discard 1"]);
    assert_eq!(turn.view(), "preparing");
    let (generation, ..) = asked_to_prepare(&old);
    let failed = ChatEvent::Prepared(generation, Err(ReferenceError::Cancelled));
    assert!(
        turn.on(failed).is_empty(),
        "nobody is told of what was called off"
    );
    turn.effects = new;
    turn.prepare();
    let View::Review { step, .. } = turn.chat.outgoing() else {
        panic!("it waits");
    };
    assert_eq!(step.messages[0].text(), "see @FLAKY");
    // Answers to a question of another kind.
    assert!(
        turn.on(ChatEvent::Logged(generation, Ok(Vec::new())))
            .is_empty()
    );
    assert!(
        turn.on(ChatEvent::Rechecked(generation, Ok(Vec::new())))
            .is_empty()
    );
    assert!(turn.on(text(generation, "x")).is_empty());
    assert!(turn.on(ChatEvent::AnswerEnded(generation, None)).is_empty());
    assert_eq!(turn.view(), "review");
}

#[test]
fn an_outcome_of_the_wrong_kind_for_the_awaited_question_changes_nothing() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("see @flaky");
    let asked = turn.effects.clone();
    let (generation, ..) = asked_to_prepare(&asked);
    turn.on(ChatEvent::Rechecked(generation, Ok(Vec::new())));
    turn.on(ChatEvent::Logged(generation, Ok(Vec::new())));
    assert_eq!(turn.view(), "preparing");
    turn.effects = asked;
    turn.prepare();
    turn.confirm();
    let (generation, ..) = asked_to_recheck(&turn.effects);
    let late = ChatEvent::Prepared(generation, Err(ReferenceError::Cancelled));
    turn.on(late);
    assert_eq!(turn.view(), "sending");
}

#[test]
fn a_mention_typed_wrong_is_an_error_and_leaves_the_draft() {
    let mut turn = Turn::new(ReviewPolicy::Always);
    let wrong = super::super::Draft::from_text("see @[Fix](dsh-session:!!!)");
    assert_eq!(
        turn.on(ChatEvent::Send(wrong)),
        ["say SESSION_REFERENCE_INVALID_REFERENCE"]
    );
    assert_eq!(turn.view(), "none");
}

#[test]
fn a_mention_typed_right_cites() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let typed = super::super::Draft::from_text(draft("see @flaky").to_text());
    assert_eq!(turn.on(ChatEvent::Send(typed)), ["prepare"]);
    assert_eq!(turn.prepare(), ["clear", CITING]);
    turn.log();
    assert_eq!(turn.messages()[0], "see @FLAKY");
}

#[test]
fn nothing_typed_around_a_mention_changes_whom_it_means() {
    for (before, after) in [
        ("@[x](", ")"),
        ("@[", "](dsh-session:)"),
        ("@", "@"),
        ("\\", "]"),
        ("dsh-session:", "ImxvbmciCg"),
    ] {
        let mut turn = Turn::new(ReviewPolicy::Never);
        let mut parts = vec![super::super::Part::Text(before.to_owned())];
        parts.extend(draft("@flaky").parts);
        parts.push(super::super::Part::Text(after.to_owned()));
        let send = ChatEvent::Send(super::super::Draft { parts });
        assert_eq!(turn.on(send), ["prepare"], "{before} {after}");
        turn.prepare();
        turn.log();
        let context = turn.world.log.derive_messages().nth(1).unwrap();
        let cited = &context.source.rest["references"];
        assert_eq!(cited.as_array().unwrap().len(), 1, "{before} {after}");
        assert_eq!(cited[0]["sessionId"], "flaky", "{before} {after}");
        assert_eq!(turn.messages()[0], format!("{before}@FLAKY{after}"));
    }
}

#[test]
fn a_session_is_named_once_by_the_persons_first_words() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.send("why does @flaky fail on the build machine");
    turn.prepare();
    turn.log();
    let title = |turn: &Turn| turn.world.log.title().cloned();
    let named = Some(Title {
        text: "why does @FLAKY fail on".to_owned(),
        pinned: false,
    });
    assert_eq!(title(&turn), named);
    let generation = asked(&turn.effects);
    turn.on(text(generation, "because"));
    turn.on(ChatEvent::AnswerEnded(generation, None));
    turn.log();
    turn.send("another thing");
    turn.log();
    assert_eq!(title(&turn), named);
}

#[test]
fn the_first_step_is_for_the_models_option_and_later_ones_for_what_was_asked() {
    use crate::reference::RouteChoice;
    let mut turn = Turn::new(ReviewPolicy::Always);
    turn.send("@flaky");
    assert_eq!(
        asked_to_prepare(&turn.effects).1.route,
        RouteChoice::Own(Some(route()))
    );
    turn.cancel();
    let generation = turn.asked();
    turn.on(ChatEvent::AnswerEnded(generation, None));
    turn.log();
    turn.send("@flaky");
    let target = asked_to_prepare(&turn.effects).1;
    assert_eq!(target.route, RouteChoice::Assembled(Some(route())));
    assert_eq!(target.id.as_str(), "target");
    assert_eq!(target.cwd.as_deref(), Some("/work/api"));
}
