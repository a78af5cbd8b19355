//! Where the conversation was taken back: what was left there is not shown, but
//! said in one line.

use std::collections::HashSet;
use std::sync::Arc;

use crate::chat::{TURN_END, TURN_START, leaves};
use crate::session::{Event, MessageKind, Payload, Seq, SurfaceOp};
use crate::tui::human::counted;

/// The messages that the transcript shows, and what was left before them.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    shown: Vec<Place>,
    /// What is written is of a turn, and no message that is written again.
    in_turn: bool,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    seq: Seq,
    /// How many pieces stand before it, without the line about what was left.
    start: usize,
    left: Left,
}

/// What was left at one place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Left {
    branches: usize,
    answers: usize,
    /// The messages of the branch that was left last.
    messages: usize,
}

impl Left {
    /// What was left, in one line.
    pub(super) fn line(self) -> String {
        let mut parts = Vec::new();
        match self.branches {
            0 => {}
            1 => parts.push(format!(
                "earlier branch · {}",
                counted(self.messages, "message")
            )),
            more => parts.push(format!("{more} earlier branches")),
        }
        if self.answers > 0 {
            parts.push(counted(self.answers, "earlier answer"));
        }
        format!("┆ {}", parts.join(" · "))
    }
}

impl Places {
    /// Takes note of an event that is shown behind so many pieces. Where it
    /// takes the place of others: behind how many pieces it is shown instead,
    /// and what was left there.
    pub(super) fn add(&mut self, event: &Arc<Event>, pieces: usize) -> Option<(usize, Left)> {
        let kind = match &event.payload {
            Payload::Message { kind, .. } => *kind,
            Payload::LogOnly { kind, .. } => {
                self.in_turn = kind == TURN_START || self.in_turn && kind != TURN_END;
                return None;
            }
        };
        let replaced = self.replaced_by(event);
        let start = replaced.map_or(pieces, |at| {
            let place = self.shown.get(at);
            place.map_or(pieces, |place| place.start)
        });
        let left = replaced.map(|at| self.leave(at, kind));
        self.shown.push(Place {
            seq: event.seq,
            start,
            left: left.unwrap_or_default(),
        });
        left.map(|left| (start, left))
    }

    /// The first place that an event takes: all that is shown from there on
    /// must go with it, or nothing does.
    fn replaced_by(&self, event: &Event) -> Option<usize> {
        let Some(SurfaceOp::Replace { start, .. }) = event.surface_op else {
            return None;
        };
        if !leaves(event) {
            return None;
        }
        let sources = event.source_event_seqs.iter().flatten();
        let sources: HashSet<Seq> = sources.copied().collect();
        let at = self.shown.iter().position(|place| place.seq == start)?;
        let all_go = self.shown.iter().skip(at);
        let all_go = all_go.map(|place| place.seq).all(|s| sources.contains(&s));
        all_go.then_some(at)
    }

    fn leave(&mut self, at: usize, kind: MessageKind) -> Left {
        let gone = self.shown.split_off(at);
        let mut left = gone.first().map(|place| place.left).unwrap_or_default();
        // Going back changes which of them is shown, not how many there are.
        let more = usize::from(self.in_turn);
        if kind == MessageKind::Assistant {
            left.answers = (left.answers + more).max(1);
        } else {
            left.branches = (left.branches + more).max(1);
            left.messages = gone.len();
        }
        left
    }
}
