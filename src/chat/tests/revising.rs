//! An earlier message, changed and sent anew, and the way back.

use super::*;
use crate::chat::{Branch, KeptDraft, branches, requests};
use crate::reference::projection::capture;
use crate::session::{Seq, SurfaceOp};

fn say(turn: &mut Turn, says: &str, answer: &str) {
    turn.send(says);
    if turn.view() == "preparing" {
        turn.prepare();
    }
    turn.log();
    let asked = asked(&turn.effects);
    turn.on(text(asked, answer));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
}

fn conversation() -> Turn {
    let mut turn = Turn::new(ReviewPolicy::Never);
    say(&mut turn, "one", "1");
    say(&mut turn, "two", "2");
    say(&mut turn, "three", "3");
    turn
}

/// The place of what the person said in these words.
fn place(turn: &Turn, words: &str) -> Seq {
    let prompts = turn.chat.prompts();
    let mut found = prompts.filter(|prompt| prompt.draft.readable() == words);
    found.next().unwrap().seq
}

fn revise(turn: &mut Turn, words: &str) -> Vec<String> {
    let seq = place(turn, words);
    turn.on(ChatEvent::Revise(seq))
}

fn words(branches: &[Branch]) -> Vec<(String, usize)> {
    let words = branches.iter();
    words.map(|b| (b.words(), b.messages.len())).collect()
}

#[test]
fn a_changed_message_takes_the_place_of_all_from_the_old_one_on() {
    let mut turn = conversation();
    let from = place(&turn, "two");
    assert_eq!(revise(&mut turn, "two"), ["restore two"]);
    assert_eq!(turn.chat.revising(), Some(from));
    assert_eq!(
        turn.send("zwei"),
        ["clear", "log turn/start user/message request/header"]
    );
    assert_eq!(turn.log(), ["ask 3"]);
    assert_eq!(turn.chat.revising(), None);
    assert_eq!(turn.messages(), ["one", "1", "zwei"]);
    let new = turn.world.log.surface().nth(2).unwrap();
    let shadowed = new.source_event_seqs.clone().unwrap();
    assert_eq!(shadowed.len(), 4);
    let (start, end) = (shadowed[0], shadowed[3]);
    assert_eq!(start, from);
    assert_eq!(new.surface_op, Some(SurfaceOp::Replace { start, end }));
    let cited = capture(&turn.world.log).conversation;
    assert_eq!(cited.len(), 3, "only what the model sees is cited");
}

#[test]
fn a_changed_message_is_prepared_and_reviewed_like_any_other() {
    let mut turn = conversation();
    turn.chat = crate::chat::Chat::new(
        turn.world.log.clone(),
        crate::chat::testing::chosen(),
        ReviewPolicy::Always,
    );
    revise(&mut turn, "one");
    turn.send("see @long");
    turn.prepare();
    assert_eq!(turn.view(), "review");
    turn.confirm();
    turn.world.sources.grow("long", "more");
    assert_eq!(turn.recheck(), ["discard 1", "prepare"]);
    turn.prepare();
    assert!(
        turn.cancel()[1].starts_with("restore "),
        "Esc gives it back"
    );
    assert!(turn.chat.revising().is_some());
    turn.send("see @flaky");
    turn.prepare();
    turn.confirm();
    turn.recheck();
    turn.log();
    let messages = turn.messages();
    assert_eq!(messages[0], "see @FLAKY");
    assert!(messages[1].starts_with("## Referenced sessions"));
    assert_eq!(messages.len(), 2);
}

#[test]
fn an_earlier_message_comes_back_with_its_mentions() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    say(&mut turn, "see @flaky please", "ok");
    let prompt = turn.chat.prompts().next().unwrap();
    assert_eq!(prompt.draft.to_text(), draft("see @flaky please").to_text());
    revise(&mut turn, "see @FLAKY please");
    turn.send("see @flaky again");
    turn.prepare();
    turn.log();
    assert_eq!(turn.messages().len(), 2, "the old context is gone too");
    assert_eq!(turn.messages()[0], "see @FLAKY again");
}

#[test]
fn a_changed_message_that_cannot_be_written_or_is_called_off_changes_nothing() {
    let mut turn = conversation();
    revise(&mut turn, "two");
    turn.send("zwei");
    assert_eq!(turn.fail_log(), ["restore zwei", "say STORE_FULL"]);
    assert!(turn.chat.revising().is_some());
    assert_eq!(turn.messages().len(), 6);
    assert_eq!(turn.on(ChatEvent::LeaveRevising), ["say"]);
    assert!(turn.on(ChatEvent::LeaveRevising).is_empty());
    turn.send("four");
    turn.log();
    assert_eq!(turn.messages().len(), 7);
}

#[test]
fn a_changed_message_is_counted_without_what_it_takes_the_place_of() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    say(&mut turn, "one", &"a".repeat(3_000));
    let mut chosen = crate::chat::testing::chosen();
    chosen.context_window = Some(1_000);
    turn.on(ChatEvent::UseModel(chosen));
    assert_eq!(turn.send("two").last().unwrap(), "say CHAT_TOO_LONG");
    revise(&mut turn, "one");
    turn.send("eins");
    assert_eq!(turn.view(), "sending");
}

#[test]
fn a_message_that_is_gone_is_not_changed_in_silence() {
    let mut turn = conversation();
    let two = place(&turn, "two");
    revise(&mut turn, "one");
    turn.send("eins");
    turn.log();
    turn.cancel();
    turn.log();
    assert_eq!(turn.on(ChatEvent::Revise(two)), ["say CHAT_MESSAGE_GONE"]);
    turn.chat.go_on_revising(two);
    assert_eq!(turn.chat.revising(), None);
}

#[test]
fn what_is_being_changed_survives_the_end_of_the_program() {
    let turn = conversation();
    let kept = KeptDraft {
        revises: Some(place(&turn, "two")),
        ..KeptDraft::from(draft("zwei"))
    };
    let json = serde_json::to_string(&kept).unwrap();
    let kept: KeptDraft = serde_json::from_str(&json).unwrap();
    let mut turn = Turn {
        chat: turn.world.chat(ReviewPolicy::Never),
        ..turn
    };
    let left = kept.left_in(turn.chat.session());
    turn.chat.go_on_revising(left.revises.unwrap());
    turn.on(ChatEvent::Send(left.typed));
    turn.log();
    assert_eq!(turn.messages(), ["one", "1", "zwei"]);
}

#[test]
fn the_way_that_was_left_can_be_gone_back_to_and_nothing_is_lost() {
    let mut turn = conversation();
    assert!(branches(turn.chat.session()).is_empty());
    revise(&mut turn, "two");
    say(&mut turn, "zwei", "2!");
    let before = turn.messages();
    let left = branches(turn.chat.session());
    assert_eq!(words(&left), [("two".to_owned(), 4)]);
    assert_eq!(
        turn.on(ChatEvent::GoBack(left[0].left_by)),
        ["log user/message assistant/message user/message assistant/message"]
    );
    assert_eq!(turn.view(), "sending");
    assert_eq!(turn.log(), ["say"]);
    assert_eq!(turn.messages(), ["one", "1", "two", "2", "three", "3"]);
    assert_eq!(turn.chat.session().events(), turn.world.log.events());
    let left = branches(turn.chat.session());
    assert_eq!(words(&left), [("zwei".to_owned(), 2)], "only the other one");
    turn.on(ChatEvent::GoBack(left[0].left_by));
    turn.log();
    assert_eq!(turn.messages(), before);
    let ids: Vec<_> = turn.world.log.events().iter().collect();
    let ids = ids.iter().filter_map(|e| e.message()).map(|m| &m.id);
    let unique: std::collections::HashSet<_> = ids.clone().collect();
    assert_eq!(unique.len(), ids.count(), "each has an id of its own");
}

#[test]
fn a_way_that_goes_on_in_another_is_told_once() {
    let mut turn = conversation();
    revise(&mut turn, "three");
    say(&mut turn, "drei", "3!");
    let first = branches(turn.chat.session())[0].left_by;
    turn.on(ChatEvent::GoBack(first));
    turn.log();
    say(&mut turn, "four", "4");
    revise(&mut turn, "one");
    say(&mut turn, "eins", "1!");
    let left = branches(turn.chat.session());
    assert_eq!(
        words(&left),
        [("one".to_owned(), 8), ("one".to_owned(), 6)],
        "the one with four, and the one with drei"
    );
    turn.on(ChatEvent::GoBack(left[0].left_by));
    turn.log();
    assert_eq!(turn.messages().last().unwrap(), "4");
    say(&mut turn, "five", "5");
    assert_eq!(turn.messages().len(), 10);
}

#[test]
fn a_compacted_way_can_be_gone_back_to_and_from_it_too() {
    let mut turn = conversation();
    revise(&mut turn, "one");
    say(&mut turn, "eins", "1");
    say(&mut turn, "zwei", "2");
    say(&mut turn, "drei", "3");
    turn.on(ChatEvent::Compact(None));
    turn.log();
    let summary = asked(&turn.effects);
    turn.on(text(summary, "counted"));
    turn.on(ChatEvent::AnswerEnded(summary, None));
    turn.log();
    let compacted = turn.messages();

    let left = branches(turn.chat.session());
    let old = left.iter().find(|b| b.words() == "one").unwrap().left_by;
    turn.on(ChatEvent::GoBack(old));
    turn.log();
    say(&mut turn, "four", "4");
    let left = branches(turn.chat.session());
    turn.on(ChatEvent::GoBack(left[0].left_by));
    turn.log();
    assert_eq!(turn.messages(), compacted);
    let left = branches(turn.chat.session());
    assert!(left.iter().any(|b| b.messages.len() == 8), "with \"four\"");
}

#[test]
fn an_answer_that_was_asked_for_again_is_a_way_too() {
    let mut turn = conversation();
    turn.on(ChatEvent::Regenerate);
    turn.log();
    let asked = asked(&turn.effects);
    turn.on(text(asked, "3 again"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
    let left = branches(turn.chat.session());
    assert_eq!(words(&left), [("3".to_owned(), 1)]);
    turn.on(ChatEvent::GoBack(left[0].left_by));
    turn.log();
    assert_eq!(turn.messages().last().unwrap(), "3");
}

#[test]
fn going_back_that_cannot_be_written_changes_nothing() {
    let mut turn = conversation();
    assert_eq!(
        turn.on(ChatEvent::GoBack(Seq(99))),
        ["say CHAT_BRANCH_GONE"]
    );
    revise(&mut turn, "two");
    say(&mut turn, "zwei", "2!");
    let before = turn.messages();
    let left = branches(turn.chat.session());
    turn.on(ChatEvent::GoBack(left[0].left_by));
    let failed = disk_full(&turn.effects);
    assert!(turn.cancel().is_empty(), "a write can't be taken back");
    assert_eq!(turn.on(failed), ["say STORE_FULL"]);
    assert_eq!(turn.messages(), before);
    assert!(!turn.chat.is_busy());
    turn.send("on");
    assert_eq!(turn.on(ChatEvent::GoBack(left[0].left_by)), ["say"]);
}

#[test]
fn every_request_on_every_way_can_be_made_again_from_the_log() {
    let mut turn = conversation();
    revise(&mut turn, "two");
    say(&mut turn, "zwei", "2!");
    let left = branches(turn.chat.session());
    turn.on(ChatEvent::GoBack(left[0].left_by));
    turn.log();
    turn.send("four");
    turn.log();
    let sent: Vec<Vec<String>> = requests(&turn.world.log)
        .iter()
        .map(|r| r.messages.iter().map(|m| m.text()).collect())
        .collect();
    assert_eq!(sent[3], ["one", "1", "zwei"]);
    assert_eq!(sent[4], ["one", "1", "two", "2", "three", "3", "four"]);
}
