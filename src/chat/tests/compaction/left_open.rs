//! A compaction that a crash left open.

use super::*;

#[test]
fn a_compaction_that_a_crash_left_open_is_ended_with_what_had_come() {
    let mut turn = talked(3);
    let before = turn.messages();
    let asked = turn.asked_for_summary();
    for piece in ["half ", "a sum"] {
        turn.on(text(asked, piece));
        assert_eq!(turn.on(ChatEvent::Keep(asked)), ["log assistant/delta"]);
        turn.log();
    }
    let mut left = turn.world.log.clone();
    let end = unfinished(&left);
    let kinds: Vec<_> = end.iter().map(Payload::type_name).collect();
    assert_eq!(kinds, ["assistant/attempt", "compact/end"]);
    let Payload::LogOnly { data, .. } = &end[0] else {
        panic!("an attempt is never on the surface");
    };
    assert_eq!(data["text"], "half a sum");
    assert_eq!(data["model"], "offline");
    for payload in end {
        left.append(NewEvent::plain(Millis(6), payload)).unwrap();
    }
    assert!(unfinished(&left).is_empty(), "once is enough");
    let after: Vec<_> = left.derive_messages().map(Message::text).collect();
    assert_eq!(after, before);
}

#[test]
fn a_compaction_that_lost_nothing_but_its_end_is_ended_as_it_went() {
    for (whole, outcome) in [(true, "complete"), (false, "interrupted")] {
        let mut turn = talked(3);
        let asked = turn.asked_for_summary();
        turn.on(text(asked, "a sum"));
        turn.on(ChatEvent::Keep(asked));
        turn.log();
        if whole {
            turn.on(ChatEvent::AnswerEnded(asked, None));
        } else {
            turn.cancel();
        }
        turn.log();
        let mut left = turn.world.log.clone();
        left.rewind_to(left.events().last().unwrap().seq);
        let end = unfinished(&left);
        assert_eq!(end.len(), 1, "nothing is kept twice: {end:?}");
        assert_eq!(end[0].type_name(), "compact/end");
        let Payload::LogOnly { data, .. } = &end[0] else {
            panic!("it is log-only");
        };
        assert_eq!(data["outcome"], outcome);
    }
}

#[test]
fn a_compaction_is_no_part_of_a_turn_that_a_crash_left_open() {
    let mut turn = talked(3);
    let asked = turn.asked_for_summary();
    turn.on(text(asked, "half"));
    turn.on(ChatEvent::Keep(asked));
    turn.log();
    turn.cancel();
    turn.log();
    let asked = turn.asked();
    turn.on(text(asked, "hi"));
    turn.on(ChatEvent::Keep(asked));
    turn.log();
    let end = unfinished(&turn.world.log);
    let Payload::LogOnly { data, .. } = &end[0] else {
        panic!("it is log-only");
    };
    assert_eq!(data["text"], "hi");
    assert_eq!(end.len(), 2);
}
