//! Titles from the model.

use super::*;
use crate::chat::testing::asked_to_log;
use crate::chat::{Generation, TitlePolicy, requests};
use crate::model::{Delta, ModelError, Purpose};
use crate::session::{Entry, Payload, Title, TitleSource};

const ANSWER: &str = "log assistant/message turn/end";
const HEADER: &str = "log request/header";
const TITLE: &str = "log session/title";

impl Turn {
    fn titled(titles: TitlePolicy) -> Self {
        let mut turn = Self::new(ReviewPolicy::Never);
        turn.chat = turn.world.chat(ReviewPolicy::Never).with_titles(titles);
        turn
    }

    /// The first answer comes, and what is done then.
    fn answered(&mut self) -> Vec<String> {
        let asked = self.asked();
        self.on(text(asked, "hi"));
        assert_eq!(self.on(ChatEvent::AnswerEnded(asked, None)), [ANSWER]);
        self.log()
    }

    /// A title is asked for.
    fn asked_for_title(&mut self) -> Generation {
        assert_eq!(self.answered(), [HEADER]);
        assert_eq!(self.log(), ["ask 0"]);
        asked(&self.effects)
    }

    fn title(&self) -> String {
        self.world.log.title().unwrap().text.clone()
    }

    /// Writes all that is asked for, in order.
    fn log_all(&mut self) -> Vec<String> {
        let logs = self.effects.clone().into_iter();
        let logs: Vec<_> = logs.filter(|e| matches!(e, Effect::Log(..))).collect();
        let mut told = Vec::new();
        for effect in logs {
            let event = self.world.log(&[effect]);
            told.extend(self.on(event));
        }
        told
    }
}

#[test]
fn the_first_words_are_the_title_where_no_model_is_to_be_asked() {
    let mut turn = Turn::titled(TitlePolicy::FromWords);
    assert!(turn.answered().is_empty());
    assert_eq!(turn.title(), "hello");
}

#[test]
fn the_model_gives_a_title_after_the_first_whole_answer() {
    let mut turn = Turn::titled(TitlePolicy::FromModel);
    let asked = turn.asked_for_title();
    assert_eq!(turn.title(), "hello", "the first words meanwhile");
    assert!(!turn.chat.is_busy(), "it holds nothing up");
    turn.on(ChatEvent::Delta(asked, Delta::Reasoning("hm".to_owned())));
    turn.on(text(asked, "\n\"A kind\u{1b}[31m "));
    turn.on(text(asked, "greeting\"\nbecause…"));
    assert!(turn.on(ChatEvent::Keep(asked)).is_empty());
    assert_eq!(turn.on(ChatEvent::AnswerEnded(asked, None)), [TITLE]);
    turn.log();
    assert_eq!(turn.title(), "A kind greeting");
    assert!(!turn.world.log.title().unwrap().pinned);
    assert_eq!(turn.chat.session().events(), turn.world.log.events());
    assert!(turn.answered().is_empty(), "once is enough");
}

#[test]
fn a_title_is_made_of_the_persons_words_alone() {
    let mut turn = Turn::titled(TitlePolicy::FromModel);
    turn.send("what of @flaky & \"quotes\" <b>?");
    turn.prepare();
    turn.log();
    let asked = asked(&turn.effects);
    turn.on(text(asked, "a secret answer"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
    turn.log();
    let requests = requests(&turn.world.log);
    let title = requests.last().unwrap();
    assert_eq!(title.purpose, Purpose::Title);
    let [message] = &*title.messages else {
        panic!("one message alone");
    };
    let sent = message.text();
    assert!(
        sent.ends_with("\n\"what of @… & \\\"quotes\\\" \\u003cb>?\""),
        "{sent}"
    );
    for of_others in ["FLAKY", "why is it flaky", "secret"] {
        assert!(!sent.contains(of_others), "{sent}");
    }
}

#[test]
fn much_text_is_sent_in_part() {
    let mut turn = Turn::titled(TitlePolicy::FromModel);
    turn.send(&"wörter ".repeat(10_000));
    turn.log();
    let asked = asked(&turn.effects);
    turn.on(text(asked, "hi"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
    turn.log();
    let requests = requests(&turn.world.log);
    assert!(requests[1].messages[0].text().len() < 3_000);
}

#[test]
fn a_title_never_stands_over_one_that_the_person_chose() {
    let mut turn = Turn::titled(TitlePolicy::FromModel);
    let asked = turn.asked_for_title();
    turn.on(text(asked, "a greeting"));
    turn.on(ChatEvent::Rename("mine".to_owned()));
    let renaming = turn.effects.clone();
    assert!(
        turn.on(ChatEvent::AnswerEnded(asked, None)).is_empty(),
        "the person's is on its way"
    );
    let renamed = turn.world.log(&renaming);
    turn.on(renamed);
    assert_eq!(turn.title(), "mine");

    let mut turn = Turn::titled(TitlePolicy::FromModel);
    let asked = turn.asked_for_title();
    turn.on(ChatEvent::Rename("mine".to_owned()));
    turn.log();
    turn.on(text(asked, "a greeting"));
    assert!(turn.on(ChatEvent::AnswerEnded(asked, None)).is_empty());
    assert_eq!(turn.title(), "mine");
}

#[test]
fn a_session_that_the_person_named_is_not_asked_about() {
    let mut turn = Turn::titled(TitlePolicy::FromModel);
    let asked = turn.asked();
    turn.on(text(asked, "hi"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    let (generation, mut entries) = asked_to_log(&turn.effects);
    let named = Title::event("mine", TitleSource::Person);
    entries.insert(0, Entry::from(named));
    let logged = turn.world.log(&[Effect::Log(generation, entries)]);
    assert!(turn.on(logged).is_empty());
}

#[test]
fn a_message_goes_while_a_title_is_made_and_both_arrive() {
    let mut turn = Turn::titled(TitlePolicy::FromModel);
    let first = turn.asked();
    turn.on(text(first, "hi"));
    turn.send("next");
    turn.on(ChatEvent::AnswerEnded(first, None));
    let sent = "log turn/start user/message request/header";
    assert_eq!(turn.log(), [sent, HEADER], "the message goes first");
    assert_eq!(turn.log_all(), ["ask 3", "ask 0"]);
    let title = asked(&turn.effects);
    turn.on(text(title, "a greeting"));
    assert_eq!(turn.on(ChatEvent::AnswerEnded(title, None)), [TITLE]);
    turn.log();
    assert_eq!(turn.title(), "a greeting");
    assert_eq!(turn.chat.partial_answer(), Some(""));
}

#[test]
fn a_title_that_fails_is_told_in_the_log_alone() {
    let broke_off = ModelError::StreamEnded {
        provider: "offline".to_owned(),
        model: "offline".to_owned(),
    };
    for (error, code) in [
        (Some(broke_off), "MODEL_STREAM_ENDED"),
        (None, "TITLE_EMPTY"),
    ] {
        let mut turn = Turn::titled(TitlePolicy::FromModel);
        let asked = turn.asked_for_title();
        turn.on(text(asked, " \u{200b}\n"));
        let ended = turn.on(ChatEvent::AnswerEnded(asked, error));
        assert_eq!(ended, ["log title/failed"]);
        assert!(turn.log().is_empty());
        assert_eq!(turn.title(), "hello");
        let Payload::LogOnly { data, .. } = &turn.world.log.events().last().unwrap().payload else {
            panic!("it is log-only");
        };
        assert_eq!(data["code"], code);
    }
}

#[test]
fn a_title_that_cannot_be_written_disturbs_nobody() {
    let mut turn = Turn::titled(TitlePolicy::FromModel);
    turn.answered();
    assert!(turn.fail_log().is_empty());
    assert!(!turn.chat.is_busy());

    let mut turn = Turn::titled(TitlePolicy::FromModel);
    let asked = turn.asked_for_title();
    turn.on(text(asked, "a greeting"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    assert!(turn.fail_log().is_empty());
    assert_eq!(turn.title(), "hello");
}

#[test]
fn an_answer_that_does_not_end_is_taken_when_it_is_long_enough() {
    let mut turn = Turn::titled(TitlePolicy::FromModel);
    let asked = turn.asked_for_title();
    let told = turn.on(text(asked, &"so ".repeat(2_000)));
    assert_eq!(told, ["stop", TITLE]);
    turn.log();
    assert_eq!(turn.title().len(), 80);
}

#[test]
fn leaving_ends_it() {
    let mut turn = Turn::titled(TitlePolicy::FromModel);
    let asked = turn.asked_for_title();
    assert_eq!(turn.on(ChatEvent::Leave), ["stop"]);
    assert!(turn.on(text(asked, "a greeting")).is_empty());
    assert!(turn.on(ChatEvent::AnswerEnded(asked, None)).is_empty());

    let mut turn = Turn::titled(TitlePolicy::FromModel);
    assert_eq!(turn.answered(), [HEADER]);
    let written = turn.world.log(&turn.effects);
    assert!(turn.on(ChatEvent::Leave).is_empty());
    assert!(turn.on(written).is_empty(), "nobody is asked");
    assert_eq!(turn.chat.session().events(), turn.world.log.events());
}

#[test]
fn what_comes_for_the_session_before_is_not_taken_for_this_one() {
    let mut turn = Turn::titled(TitlePolicy::FromModel);
    let before = turn.asked_for_title();
    let mut next = turn.world.chat(ReviewPolicy::Never);
    next.follow(&turn.chat);
    turn.chat = next;
    turn.send("more");
    turn.log();
    turn.on(text(before, "a greeting"));
    assert_eq!(turn.chat.partial_answer(), Some(""));
}
