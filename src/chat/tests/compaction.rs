//! A summary in place of what was said.

mod left_open;
mod room;

use super::*;
use crate::chat::testing::{asked_to_log, disk_full};
use crate::chat::{Notice, context_tokens, requests, unfinished};
use crate::model::{Api, Chosen, Delta, FinishReason, ModelError, Options, RequestConfig, Usage};
use crate::reference::projection::capture;
use crate::session::{Block, Message, MessageKind, Millis, NewEvent, Payload, Role, Source};

const STARTED: &str = "log compact/start request/header";
const SUMMARY: &str = "log user/message compact/end";
const GIVEN_UP: &str = "log compact/end";
const PARTIAL: &str = "log assistant/attempt compact/end";

/// A conversation in which a person and a model took turns so often.
fn talked(turns: usize) -> Turn {
    let mut turn = Turn::new(ReviewPolicy::Never);
    for n in 1..=turns {
        let said = format!("question {n} {}", "and so on ".repeat(20));
        turn.say(Payload::user(Message::person(said)));
        turn.say(answer(
            &format!("answer {n} {}", "because ".repeat(20)),
            None,
        ));
    }
    turn.chat = turn.world.chat(ReviewPolicy::Never);
    turn
}

fn answer(text: &str, usage: Option<u64>) -> Payload {
    let source = Source::model("offline", "offline");
    let message = Message::new(Role::Assistant, source, vec![Block::text(text)]);
    let mut payload = Payload::step(MessageKind::Assistant, message, 1, 1);
    if let (Payload::Message { envelope, .. }, Some(usage)) = (&mut payload, usage) {
        let usage = serde_json::json!({"inputTokens": usage, "outputTokens": 0});
        envelope.insert("usage".to_owned(), usage);
    }
    payload
}

impl Turn {
    /// Something is in the log before the conversation begins.
    fn say(&mut self, payload: Payload) {
        let event = NewEvent::plain(Millis(1), payload);
        self.world.log.append(event).unwrap();
    }

    fn compact(&mut self, hint: Option<&str>) -> Vec<String> {
        self.on(ChatEvent::Compact(hint.map(str::to_owned)))
    }

    /// A summary is asked for.
    fn asked_for_summary(&mut self) -> crate::chat::Generation {
        assert_eq!(self.compact(None), [STARTED]);
        self.log();
        asked(&self.effects)
    }

    /// A compaction from its beginning to its end.
    fn compacted(&mut self, summary: &str) {
        let asked = self.asked_for_summary();
        self.on(text(asked, summary));
        assert_eq!(self.on(ChatEvent::AnswerEnded(asked, None)), [SUMMARY]);
        self.log();
    }

    fn told(&self) -> &str {
        let notice = self.effects.iter().find_map(|effect| match effect {
            Effect::Say(Notice::Info(told)) => Some(told),
            Effect::Say(Notice::Failed(failure)) => Some(&failure.message),
            _ => None,
        });
        notice.unwrap_or_else(|| panic!("nothing told in {:?}", told(&self.effects)))
    }
}

#[test]
fn a_summary_takes_the_place_of_all_but_the_last_turn() {
    let mut turn = talked(3);
    turn.compacted("they asked thrice");
    let messages = turn.messages();
    assert_eq!(messages.len(), 3, "the checkpoint and the last turn");
    assert!(
        messages[0].ends_with("they asked thrice"),
        "{}",
        messages[0]
    );
    assert!(messages[1].starts_with("question 3"));
    assert!(messages[2].starts_with("answer 3"));
    let checkpoint = turn.world.log.surface().next().unwrap();
    assert!(checkpoint.message().unwrap().source.is_checkpoint());
    let sources = checkpoint.source_event_seqs.as_ref().unwrap();
    assert_eq!(
        sources.iter().map(|seq| seq.0).collect::<Vec<_>>(),
        [0, 1, 2, 3]
    );
    assert!(!turn.chat.is_busy());
    assert_eq!(turn.chat.session().events(), turn.world.log.events());
    assert!(
        turn.told()
            .starts_with("4 messages are compacted into a summary")
    );
}

#[test]
fn what_is_counted_of_a_summary_is_what_a_person_sees() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    for n in 1..=3 {
        let said = format!("question {n} {}", "and so on ".repeat(20));
        turn.say(Payload::user(Message::person(said)));
        let source = Source::session_reference(serde_json::Map::new());
        let cited = vec![Block::text("cited")];
        turn.say(Payload::user(Message::new(Role::User, source, cited)));
        turn.say(answer(&format!("answer {n}"), None));
    }
    turn.chat = turn.world.chat(ReviewPolicy::Never);
    turn.compacted("they asked thrice");
    assert!(
        turn.told().starts_with("4 messages are compacted"),
        "{}",
        turn.told()
    );
    let checkpoint = turn.world.log.surface().next().unwrap();
    assert_eq!(checkpoint.source_event_seqs.as_ref().unwrap().len(), 6);
    let counts = &checkpoint.message().unwrap().source.rest;
    assert_eq!(counts["compactedMessages"], 4);
    assert_eq!(counts["keptMessages"], 2);
}

#[test]
fn a_session_that_was_compacted_is_cited_as_checkpoint_and_tail() {
    let mut turn = talked(3);
    turn.compacted("they asked thrice");
    let cited = capture(&turn.world.log).conversation;
    assert_eq!(
        cited.iter().map(|item| item.checkpoint).collect::<Vec<_>>(),
        [true, false, false]
    );
    assert!(cited[0].text.contains("they asked thrice"));
    assert!(cited[1].text.starts_with("question 3"));
}

#[test]
fn what_a_summary_was_asked_for_with_can_be_made_again_from_the_log() {
    let mut turn = talked(3);
    turn.on(ChatEvent::UseModel(Chosen::from(RequestConfig {
        api: Some(Api::OpenaiChat),
        options: Options::default(),
        ..RequestConfig::plain("own", "m")
    })));
    turn.compact(Some(" the \"login\" <b> "));
    turn.log();
    let asked = turn.effects.iter().find_map(|effect| match effect {
        Effect::Ask(_, header, surface) => header.request(surface).body(),
        _ => None,
    });
    let asked = asked.unwrap();
    let again = requests(&turn.world.log);
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].body().unwrap(), asked);
    let sent: Vec<_> = again[0].messages.iter().map(|m| m.text()).collect();
    assert_eq!(sent.len(), 5, "what is replaced, and the task");
    assert!(sent[3].starts_with("answer 2"));
    assert!(
        sent[4].ends_with(r#""the \"login\" \u003cb>""#),
        "{}",
        sent[4]
    );
    assert!(again[0].messages[4].source.rest["plugin"] == "compact");
    assert!(!again[0].messages[4].source.is_checkpoint());
}

#[test]
fn a_second_compaction_takes_the_first_summary_in() {
    let mut turn = talked(3);
    turn.compacted("they asked thrice");
    let asked = turn.asked();
    turn.on(text(asked, "hi"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
    turn.compacted("they asked thrice and said hello");
    let messages = turn.messages();
    assert_eq!(messages[1..], ["hello", "hi"]);
    let checkpoint = turn.world.log.surface().next().unwrap();
    assert!(checkpoint.message().unwrap().source.is_checkpoint());
    assert!(messages[0].ends_with("they asked thrice and said hello"));
    let sent = &requests(&turn.world.log)[2].messages;
    assert!(sent[0].source.is_checkpoint());
    assert!(sent[0].text().ends_with("they asked thrice"));
}

#[test]
fn too_short_a_conversation_is_left_alone() {
    for turns in [0, 1] {
        let mut turn = talked(turns);
        assert_eq!(turn.compact(None), ["say"]);
        assert!(turn.told().contains("nothing to compact"));
    }
    let mut turn = talked(3);
    turn.compacted("sum");
    assert_eq!(turn.compact(None), ["say"], "a summary and the last turn");
}

#[test]
fn standing_instructions_stay_in_front() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let system = Message::new(
        Role::System,
        Source::plugin("own"),
        vec![Block::text("be brief")],
    );
    turn.say(Payload::step(MessageKind::System, system, 1, 1));
    for text in ["one", "two", "three"] {
        turn.say(Payload::user(Message::person(text)));
        turn.say(answer("yes", None));
    }
    turn.chat = turn.world.chat(ReviewPolicy::Never);
    turn.compacted("sum");
    let messages = turn.messages();
    assert_eq!(messages[0], "be brief");
    assert!(messages[1].ends_with("sum"));
    assert_eq!(messages[2..], ["three", "yes"]);
}

#[test]
fn a_last_turn_that_fills_the_window_is_compacted_too() {
    let mut turn = talked(2);
    turn.say(Payload::user(Message::person("long ".repeat(800))));
    turn.say(answer("yes", None));
    turn.chat = turn.world.chat(ReviewPolicy::Never);
    let mut small = chosen();
    small.context_window = Some(3_000);
    turn.on(ChatEvent::UseModel(small));
    turn.compacted("sum");
    assert_eq!(turn.messages().len(), 1);
}

#[test]
fn a_last_message_without_an_answer_stays_whatever_its_length_and_can_be_answered() {
    for cites in [false, true] {
        let mut turn = talked(2);
        let long = "long ".repeat(5_000);
        turn.say(Payload::user(Message::person(&*long)));
        if cites {
            let source = Source::session_reference(serde_json::Map::new());
            let context = Message::new(Role::User, source, vec![Block::text(&*long)]);
            turn.say(Payload::user(context));
        }
        turn.chat = turn.world.chat(ReviewPolicy::Never);
        let mut small = chosen();
        small.context_window = Some(3_000);
        turn.on(ChatEvent::UseModel(small));
        turn.compacted("sum");
        let messages = turn.messages();
        assert!(messages[0].ends_with("sum"));
        assert_eq!(messages[1], long);
        assert_eq!(messages.len(), if cites { 3 } else { 2 });
        turn.on(ChatEvent::UseModel(chosen()));
        turn.on(ChatEvent::Regenerate);
        let messages = messages.len();
        assert_eq!(turn.log(), [format!("ask {messages}")]);
    }
}

#[test]
fn what_is_longer_than_the_window_is_not_summarised_in_part() {
    let mut turn = talked(2);
    let mut tiny = chosen();
    tiny.context_window = Some(20);
    turn.on(ChatEvent::UseModel(tiny));
    assert_eq!(turn.compact(None), ["say CHAT_TOO_LONG"]);
    assert_eq!(turn.compact(None), [STARTED], "it was an estimate");
}

#[test]
fn many_short_turns_at_the_end_stay_while_they_are_a_small_part() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.say(Payload::user(Message::person("long ".repeat(2_000))));
    turn.say(answer("yes", None));
    for _ in 0..5 {
        turn.say(Payload::user(Message::person("short")));
        turn.say(answer("yes", None));
    }
    turn.chat = turn.world.chat(ReviewPolicy::Never);
    turn.compacted("sum");
    assert_eq!(turn.messages().len(), 11, "five turns and the summary");
}

#[test]
fn esc_keeps_what_came_beside_the_conversation_and_changes_nothing() {
    let mut turn = talked(3);
    let before = turn.messages();
    let asked = turn.asked_for_summary();
    turn.on(text(asked, "half a sum"));
    assert_eq!(turn.chat.compacting(), Some("half a sum"));
    assert_eq!(turn.cancel(), ["stop", "say", PARTIAL]);
    turn.log();
    assert!(turn.on(text(asked, "mary")).is_empty());
    assert!(turn.on(ChatEvent::AnswerEnded(asked, None)).is_empty());
    assert_eq!(turn.messages(), before);
    assert_eq!(turn.chat.compacting(), None);
    assert!(!turn.chat.is_busy());
}

#[test]
fn esc_while_it_is_begun_asks_nobody() {
    let mut turn = talked(3);
    turn.compact(None);
    let started = turn.world.log(&turn.effects);
    assert!(turn.cancel().is_empty(), "it is being written");
    assert_eq!(turn.on(started), [GIVEN_UP]);
    turn.log();
    assert!(!turn.chat.is_busy());
}

#[test]
fn a_summary_that_fails_or_is_none_changes_nothing_and_says_so() {
    let failed = ModelError::StreamEnded {
        provider: "offline".to_owned(),
        model: "offline".to_owned(),
    };
    let cut = || Some(Delta::Finished(FinishReason::Length));
    for (summary, finish, error, code, end) in [
        ("half", None, Some(failed), "MODEL_STREAM_ENDED", PARTIAL),
        (" \n", None, None, "COMPACT_EMPTY", PARTIAL),
        ("", None, None, "COMPACT_EMPTY", GIVEN_UP),
        ("half", cut(), None, "COMPACT_CUT", PARTIAL),
        ("", cut(), None, "COMPACT_CUT", GIVEN_UP),
    ] {
        let mut turn = talked(3);
        let before = turn.messages();
        let asked = turn.asked_for_summary();
        turn.on(text(asked, summary));
        if let Some(delta) = finish {
            turn.on(ChatEvent::Delta(asked, delta));
        }
        let ended = turn.on(ChatEvent::AnswerEnded(asked, error));
        assert_eq!(ended, [&format!("say {code}"), end]);
        assert!(turn.told().starts_with("nothing was compacted: "));
        turn.log();
        assert_eq!(turn.messages(), before, "{code}");
        assert!(!turn.chat.is_busy());
        let end = &turn.world.log.events().last().unwrap().payload;
        let Payload::LogOnly { data, .. } = end else {
            panic!("it is log-only");
        };
        assert_eq!(data["error"]["code"], code);
    }
}

#[test]
fn a_log_that_cannot_be_written_changes_nothing() {
    let mut turn = talked(3);
    let before = turn.messages();
    turn.compact(None);
    assert_eq!(turn.fail_log(), ["say STORE_FULL"]);
    assert!(!turn.chat.is_busy());
    let asked = turn.asked_for_summary();
    turn.on(text(asked, "sum"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    assert_eq!(turn.fail_log(), ["say STORE_FULL"]);
    assert!(!turn.chat.is_busy());
    assert_eq!(turn.messages(), before);
    assert_eq!(turn.chat.session().events(), turn.world.log.events());
}

#[test]
fn the_reasoning_of_a_summary_is_kept_nowhere() {
    let mut turn = talked(3);
    let asked = turn.asked_for_summary();
    turn.on(ChatEvent::Delta(asked, Delta::Reasoning("hmmm".to_owned())));
    assert!(turn.on(ChatEvent::Keep(asked)).is_empty());
    turn.on(text(asked, "sum"));
    turn.on(ChatEvent::Keep(asked));
    turn.log();
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
    let log = turn.world.log.events().iter();
    let log: Vec<_> = log.map(|e| serde_json::to_string(&**e).unwrap()).collect();
    assert!(!log.concat().contains("hmmm"));
}

#[test]
fn a_message_waits_for_the_summary_and_then_goes() {
    let mut turn = talked(3);
    let asked = turn.asked_for_summary();
    assert_eq!(turn.send("next"), ["clear"]);
    assert_eq!(turn.view(), "waiting");
    assert_eq!(turn.send("and another"), ["say"]);
    turn.on(text(asked, "sum"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    let sent = "log turn/start session/title user/message request/header";
    assert_eq!(turn.log(), ["say", sent]);
    assert_eq!(turn.log(), ["ask 4"]);
}

#[test]
fn a_message_that_waits_goes_also_when_there_is_no_summary() {
    let mut turn = talked(3);
    let asked = turn.asked_for_summary();
    turn.send("next");
    turn.on(ChatEvent::AnswerEnded(asked, None));
    let sent = "log turn/start session/title user/message request/header";
    assert_eq!(turn.log(), [sent]);
    assert_eq!(turn.log(), ["ask 7"]);
}

#[test]
fn esc_takes_a_waiting_message_back_and_stops_the_compaction() {
    let mut turn = talked(3);
    turn.asked_for_summary();
    turn.send("next");
    assert_eq!(turn.cancel(), ["restore next", "stop", "say", GIVEN_UP]);
}

#[test]
fn one_thing_is_under_way_at_a_time() {
    let mut turn = talked(3);
    turn.send("hello");
    assert_eq!(turn.compact(None), ["say"], "a message is being written");
    turn.effects = vec![];
    let mut turn = talked(3);
    let asked = turn.asked();
    assert_eq!(turn.compact(None), ["say"], "an answer comes");
    assert!(turn.told().contains("an answer is under way"));
    turn.on(text(asked, "hi"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    let full = disk_full(&turn.effects);
    turn.on(full);
    assert_eq!(turn.compact(None), ["say"], "the answer is not saved");
    turn.cancel();
    turn.log();
    turn.asked_for_summary();
    assert_eq!(turn.compact(None), ["say"], "one summary is enough");
}

#[test]
fn nothing_else_is_written_for_a_summary() {
    let mut turn = talked(3);
    turn.compact(None);
    let (_, entries) = asked_to_log(&turn.effects);
    assert_eq!(entries.len(), 2);
    turn.log();
    assert_eq!(told(&turn.effects), ["ask 6"]);
}
