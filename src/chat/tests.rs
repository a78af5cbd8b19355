//! A conversation as a plain value: every way of a turn, and what each event
//! makes it want done.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod answers;
mod compaction;
mod drafts;
mod fitting;
mod kept;
mod outgoing;
mod regenerating;
mod revising;
mod sendable;
mod titles;

use super::testing::*;
use super::{Chat, ChatEvent, Effect, ReviewPolicy, View};

/// A conversation, the world around it, and what it wanted done last.
struct Turn {
    world: World,
    chat: Chat,
    effects: Vec<Effect>,
}

impl Turn {
    fn new(review: ReviewPolicy) -> Self {
        let world = World::new();
        Self {
            chat: world.chat(review),
            world,
            effects: Vec::new(),
        }
    }

    /// Takes an event and tells the effects in words; what they discard goes.
    fn on(&mut self, event: ChatEvent) -> Vec<String> {
        self.effects = self.chat.update(event);
        self.world.discard(&self.effects);
        told(&self.effects)
    }

    fn send(&mut self, text: &str) -> Vec<String> {
        self.on(ChatEvent::Send(draft(text)))
    }

    fn cancel(&mut self) -> Vec<String> {
        self.on(ChatEvent::Cancel)
    }

    fn confirm(&mut self) -> Vec<String> {
        self.on(ChatEvent::Confirm)
    }

    fn prepare(&mut self) -> Vec<String> {
        let event = self.world.prepare(&self.effects);
        self.on(event)
    }

    fn recheck(&mut self) -> Vec<String> {
        let event = self.world.recheck(&self.effects);
        self.on(event)
    }

    fn log(&mut self) -> Vec<String> {
        let event = self.world.log(&self.effects);
        self.on(event)
    }

    fn fail_log(&mut self) -> Vec<String> {
        let event = disk_full(&self.effects);
        self.on(event)
    }

    /// A message that is logged; the model is asked.
    fn asked(&mut self) -> super::Generation {
        self.send("hello");
        self.log();
        asked(&self.effects)
    }

    /// The types of the events in the log, in order.
    fn logged(&self) -> Vec<&str> {
        let events = self.world.log.events();
        events.iter().map(|e| e.payload.type_name()).collect()
    }

    fn messages(&self) -> Vec<String> {
        self.world
            .log
            .derive_messages()
            .map(crate::session::Message::text)
            .collect()
    }

    fn view(&self) -> &'static str {
        match self.chat.outgoing() {
            View::None => "none",
            View::Preparing => "preparing",
            View::Review { .. } => "review",
            View::Waiting(_) => "waiting",
            View::Sending => "sending",
        }
    }
}

#[test]
fn the_screen_and_the_log_agree_after_each_write() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    let asked = turn.asked();
    turn.on(text(asked, "hi"));
    turn.on(ChatEvent::AnswerEnded(asked, None));
    turn.log();
    assert_eq!(turn.chat.session().events(), turn.world.log.events());
    assert!(!turn.chat.is_busy());
}

#[test]
fn a_log_that_went_on_without_the_screen_is_told() {
    let mut turn = Turn::new(ReviewPolicy::Never);
    turn.send("hello");
    let mut ahead = turn.world.log(&turn.effects);
    if let ChatEvent::Logged(_, Ok(events)) = &mut ahead {
        events.remove(0);
    }
    assert_eq!(turn.on(ahead)[0], "say CHAT_OUT_OF_STEP");
}
