//! Asking once more for the answer to what was said last.

use std::sync::Arc;

use serde_json::json;

use super::fitting::Wanted;
use super::outgoing::Outgoing;
use super::{Chat, Effect, Notice, RequestHeader, TURN_START, log};
use crate::session::{Event, MessageKind, Payload, Seq};

/// A request without a message of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Again {
    /// How many messages of the surface it is about.
    kept: usize,
    /// The answer that the new one takes the place of.
    instead: Option<Seq>,
}

impl Chat {
    /// Why what was said can't be taken up again at this moment.
    pub(super) fn not_now(&self) -> Option<&'static str> {
        if self.is_busy() {
            Some("something is under way already; Esc stops it")
        } else if self.unsaved.is_some() {
            Some("the last answer is not saved: Esc tries to save it")
        } else {
            None
        }
    }

    /// Asks again for the last answer, which stays until the new one is whole;
    /// or for the answer that never came.
    pub(super) fn regenerate(&mut self) -> Vec<Effect> {
        if let Some(refused) = self.not_now() {
            return vec![Effect::Say(Notice::Info(refused.to_owned()))];
        }
        let surface: Vec<_> = self.session.surface().map(Arc::clone).collect();
        let Some(again) = Again::of(&surface) else {
            let nothing = "there is no message of yours here that could be answered again";
            return vec![Effect::Say(Notice::Info(nothing.to_owned()))];
        };
        let too_long = self.too_long(again.kept, &[]);
        if let Some(too_long) = self.refusal(Wanted::Answer, too_long) {
            return vec![Effect::Say(too_long)];
        }
        let turn = self.turn() + 1;
        let mut header = RequestHeader::answer(turn, self.chosen.config.clone());
        header.surface = again.instead.map(|_| again.kept);
        let start = Payload::log_only(TURN_START, json!({"turn": turn}));
        let asked = match header.event() {
            Ok(asked) => asked,
            Err(failure) => return vec![Effect::Say(Notice::Failed(failure))],
        };
        let generation = self.next_generation();
        self.outgoing = Outgoing::Asking {
            generation,
            header: Arc::new(header),
            instead: again.instead,
            cancelled: false,
        };
        vec![log(generation, vec![start, asked])]
    }
}

impl Again {
    /// Only what a person said can be answered again, with what it cites.
    fn of(surface: &[Arc<Event>]) -> Option<Self> {
        let (last, before) = surface.split_last()?;
        let is_answer = matches!(
            &last.payload,
            Payload::Message {
                kind: MessageKind::Assistant,
                ..
            }
        );
        let (asked, again) = if is_answer {
            let again = Self {
                kept: before.len(),
                instead: Some(last.seq),
            };
            (before.last()?, again)
        } else {
            let again = Self {
                kept: surface.len(),
                instead: None,
            };
            (last, again)
        };
        let source = &asked.message()?.source;
        (source.is_person() || source.is_session_reference()).then_some(again)
    }
}
