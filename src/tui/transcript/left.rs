//! Where the conversation was taken back: what was left there is not shown, but
//! said in one line.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use crate::chat::{ATTEMPT, TURN_END, TURN_START, leaves};
use crate::session::{Event, MessageKind, Payload, Seq, Surface};
use crate::tui::human::counted;

/// The messages that the transcript shows, and what was left before them.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// In the order of the log.
    shown: Vec<Place>,
    /// What the model sees.
    surface: Surface<Seq>,
    /// What a summary that is shown was made of.
    stands_for: HashMap<Seq, Vec<Seq>>,
    /// What is written is of a turn, and no message that is written again.
    in_turn: bool,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    seq: Seq,
    /// The message that it goes with: itself, where it is one.
    of: Option<Seq>,
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

/// What goes from the transcript where something takes the place of it.
#[derive(Debug)]
pub(super) struct Gone {
    /// Its pieces, in order.
    pub(super) pieces: Vec<Range<usize>>,
    /// What was left there.
    pub(super) left: Left,
}

impl Places {
    /// Takes note of an event that is shown behind so many pieces. Tells what
    /// goes where it takes the place of others.
    pub(super) fn add(&mut self, event: &Arc<Event>, pieces: usize) -> Option<Gone> {
        let kind = match &event.payload {
            Payload::Message { kind, .. } => *kind,
            Payload::LogOnly { kind, .. } => {
                self.in_turn = kind == TURN_START || self.in_turn && kind != TURN_END;
                if kind == ATTEMPT {
                    self.add_beside(event.seq, pieces);
                }
                return None;
            }
        };
        let op = event.surface_op.as_ref();
        let sources = event.source_event_seqs.as_deref();
        // It was taken by a session once, so it is again.
        let shadowed = self.surface.apply(event.seq, kind, op, sources, event.seq);
        let shadowed = shadowed.unwrap_or_default();
        // What stands behind something that changed in the middle stays in order.
        let is_last = self.surface.last() == Some(&event.seq);
        let gone = if is_last && leaves(event) {
            Some(self.leave(shadowed, kind, pieces))
        } else {
            if !shadowed.is_empty() {
                self.stands_for.insert(event.seq, shadowed);
            }
            None
        };
        let removed = gone.iter().flat_map(|gone| &gone.pieces).map(Range::len);
        self.shown.push(Place {
            seq: event.seq,
            of: Some(event.seq),
            start: pieces.saturating_sub(removed.sum()),
            left: gone.as_ref().map(|gone| gone.left).unwrap_or_default(),
        });
        gone
    }

    /// Takes note of what is shown behind so many pieces and is no message: it
    /// goes with the one that it follows.
    pub(super) fn add_beside(&mut self, seq: Seq, pieces: usize) {
        self.shown.push(Place {
            seq,
            of: self.surface.last().copied(),
            start: pieces,
            left: Left::default(),
        });
    }

    /// Drops what goes with these messages. A summary stands where it was
    /// made, behind what stays of what it did not sum up, so what goes may
    /// have something that stays in the middle of it.
    fn leave(&mut self, shadowed: Vec<Seq>, kind: MessageKind, pieces: usize) -> Gone {
        let messages = shadowed.len();
        let gone = self.with_what_they_stand_for(shadowed);
        let first = gone.iter().min().copied();
        let at = self.shown.partition_point(|place| Some(place.seq) < first);
        let behind = self.shown.split_off(at);
        let ends = behind.iter().skip(1).map(|place| place.start);
        let ends = ends.chain([pieces]);
        let mut left = None;
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut removed = 0;
        for (place, end) in behind.iter().zip(ends) {
            if place.of.is_none_or(|of| !gone.contains(&of)) {
                self.shown.push(Place {
                    start: place.start.saturating_sub(removed),
                    ..*place
                });
                continue;
            }
            left.get_or_insert(place.left);
            removed += end.saturating_sub(place.start);
            match ranges.last_mut().filter(|last| last.end == place.start) {
                Some(last) => last.end = end,
                None => ranges.push(place.start..end),
            }
        }
        let mut left = left.unwrap_or_default();
        // Going back changes which of them is shown, not how many there are.
        let more = usize::from(self.in_turn);
        if kind == MessageKind::Assistant {
            left.answers = (left.answers + more).max(1);
        } else {
            left.branches = (left.branches + more).max(1);
            left.messages = messages;
        }
        Gone {
            pieces: ranges,
            left,
        }
    }

    /// These, and all that a summary among them stands for.
    fn with_what_they_stand_for(&mut self, mut open: Vec<Seq>) -> HashSet<Seq> {
        let mut all = HashSet::new();
        while let Some(seq) = open.pop() {
            all.insert(seq);
            open.extend(self.stands_for.remove(&seq).unwrap_or_default());
        }
        all
    }
}
