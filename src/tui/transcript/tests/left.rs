//! What is shown where a conversation was taken back, also after a part of it
//! was put into a summary: each message once.

use super::*;
use crate::chat::testing::{World, asked, text};
use crate::chat::{Chat, ChatEvent, Effect, ReviewPolicy, branches};
use crate::model::ModelError;

/// A conversation that answers itself, and the transcript that follows it.
struct Talk {
    world: World,
    chat: Chat,
    /// How much was said; each message says another number.
    said: usize,
    state: TranscriptState,
}

impl Talk {
    fn new() -> Self {
        let world = World::new();
        Self {
            chat: world.chat(ReviewPolicy::Never),
            world,
            said: 0,
            state: TranscriptState::new(),
        }
    }

    /// Two turns, of the numbers 1 to 4.
    fn of_two_turns() -> Self {
        let mut talk = Self::new();
        talk.send();
        talk.send();
        talk
    }

    fn words(&mut self) -> String {
        self.said += 1;
        format!("said-{:03}.", self.said)
    }

    /// Carries out all that follows from an event; models answer at once.
    fn on(&mut self, event: ChatEvent) {
        self.on_and(event, None);
    }

    /// The same, where each answer breaks off with this error.
    fn on_and(&mut self, event: ChatEvent, error: Option<&ModelError>) {
        let mut effects = self.chat.update(event);
        loop {
            let has = |wanted: fn(&Effect) -> bool| effects.iter().any(wanted);
            effects = if has(|effect| matches!(effect, Effect::Log(..))) {
                let logged = self.world.log(&effects);
                self.chat.update(logged)
            } else if has(|effect| matches!(effect, Effect::Ask(..))) {
                let generation = asked(&effects);
                let words = self.words();
                self.chat.update(text(generation, &words));
                self.chat
                    .update(ChatEvent::AnswerEnded(generation, error.cloned()))
            } else {
                break;
            };
        }
        self.shown();
    }

    fn send(&mut self) {
        let words = self.words();
        self.on(ChatEvent::Send(crate::chat::Draft::from_text(words)));
    }

    /// Changes the message of the person that stands so many before the last.
    fn edit(&mut self, before_last: usize) {
        let seqs: Vec<Seq> = self.chat.prompts().map(|prompt| prompt.seq).collect();
        if let Some(seq) = seqs.iter().rev().nth(before_last) {
            self.on(ChatEvent::Revise(*seq));
            self.send();
        }
    }

    fn go_back(&mut self, which: usize) {
        let left = branches(self.chat.session());
        if let Some(branch) = left.get(which) {
            self.on(ChatEvent::GoBack(branch.left_by));
        }
    }

    /// The whole transcript, without the empty rows.
    fn shown(&mut self) -> String {
        let session = self.chat.session();
        let drawn = draw((60, 300), session, None, &mut self.state);
        let anew = draw((60, 300), session, None, &mut TranscriptState::new());
        assert_eq!(drawn, anew, "as if it was read at once");
        let rows = drawn.lines().map(str::trim_end);
        let rows: Vec<&str> = rows.filter(|row| !row.is_empty()).collect();
        rows.join("\n")
    }

    /// How often a text is shown.
    fn count(&mut self, text: &str) -> usize {
        self.shown().matches(text).count()
    }
}

#[test]
fn a_message_of_the_kept_tail_that_is_changed_is_shown_in_its_place_alone() {
    let mut talk = Talk::of_two_turns();
    talk.send();
    talk.on(ChatEvent::Compact(None));
    talk.edit(0);
    insta::assert_snapshot!(talk.shown(), @r###"
You      said-001.
offline  said-002.
You      said-003.
offline  said-004.
         ── 4 messages compacted into this summary · the
         last 2 were kept ──
         Summary of what was said before, in place of
         those messages:
         said-007.
         ┆ earlier branch · 2 messages
You      said-008.
offline  said-009.
"###);
}

#[test]
fn an_answer_of_the_kept_tail_that_is_asked_for_again_is_shown_once() {
    let mut talk = Talk::of_two_turns();
    talk.send();
    talk.on(ChatEvent::Compact(None));
    talk.on(ChatEvent::Regenerate);
    assert_eq!(talk.count("said-006."), 0);
    assert_eq!(talk.count("said-007."), 1, "the summary stays");
    assert_eq!(talk.count("said-008."), 1);
    assert_eq!(talk.count("1 earlier answer"), 1);
}

#[test]
fn what_broke_off_goes_with_the_message_that_it_was_to_answer() {
    let broke_off = ModelError::StreamEnded {
        provider: "offline".to_owned(),
        model: "offline".to_owned(),
    };
    let mut talk = Talk::of_two_turns();
    talk.send();
    talk.on(ChatEvent::Compact(None));
    talk.on_and(ChatEvent::Regenerate, Some(&broke_off));
    assert_eq!(talk.count("said-008."), 1, "it is shown behind the summary");
    talk.edit(0);
    assert_eq!(talk.count("said-008."), 0);
    assert_eq!(talk.count("said-007."), 1, "the summary stays");
}

#[test]
fn what_a_summary_stands_for_goes_with_it_when_another_way_takes_its_place() {
    let mut talk = Talk::of_two_turns();
    talk.edit(1);
    talk.send();
    talk.send();
    let before = talk.shown();
    talk.on(ChatEvent::Compact(None));
    let compacted = talk.shown();
    talk.go_back(0);
    for said in ["said-001.", "said-002.", "said-003.", "said-004."] {
        assert_eq!(talk.count(said), 1, "{said} in {}", talk.shown());
    }
    for said in ["said-005.", "said-007.", "said-009.", "compacted"] {
        assert!(compacted.contains(said), "{said} in {compacted}");
        assert_eq!(talk.count(said), 0, "{said} in {}", talk.shown());
    }
    assert!(before.contains("said-010."));
}

#[test]
fn a_summary_that_is_written_again_does_not_count_what_it_took_the_place_of() {
    let mut talk = Talk::of_two_turns();
    talk.edit(1);
    talk.send();
    talk.send();
    talk.on(ChatEvent::Compact(None));
    talk.go_back(0);
    talk.go_back(0);
    assert_eq!(talk.count("── earlier messages compacted"), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_is_taken_back_each_message_is_shown_once(
        steps in prop::collection::vec((0_u8..6, 0_usize..4), 1..14),
    ) {
        let mut talk = Talk::of_two_turns();
        for (step, which) in steps {
            match step {
                0 | 1 => talk.send(),
                2 => talk.edit(which),
                3 => talk.go_back(which),
                4 => talk.on(ChatEvent::Regenerate),
                _ => talk.on(ChatEvent::Compact(None)),
            }
            let shown = talk.shown();
            for said in 1..=talk.said {
                let said = format!("said-{said:03}.");
                let times = shown.matches(&said).count();
                prop_assert!(times <= 1, "{} is shown {} times in\n{}", said, times, shown);
            }
            let mut from = 0;
            for message in talk.chat.session().derive_messages() {
                let text = message.text();
                let said = text.rsplit('\n').next().unwrap();
                prop_assert!(shown.contains(said), "{} is not shown in\n{}", said, shown);
                if !message.source.is_checkpoint() {
                    let at = shown.find(said).unwrap();
                    prop_assert!(at >= from, "{} is out of order in\n{}", said, shown);
                    from = at;
                }
            }
        }
    }
}
