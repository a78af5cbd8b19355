//! Where a conversation was taken back: what was left there is not shown, but
//! said in one line. The screen shows it like this, and so does whatever else
//! writes a conversation down for people.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::{ATTEMPT, TURN_END, TURN_START, leaves};
use crate::figures::counted;
use crate::session::{Event, Message, MessageKind, Payload, Seq, Surface};

/// Where a conversation is shown, piece by piece.
pub trait Page {
    /// How many pieces there are.
    fn end(&self) -> usize;

    /// Takes out the pieces in these ranges, which stand in order and apart.
    fn take_out(&mut self, gone: &[Range<usize>]);

    /// Adds what an event shows; nothing where it is no part of the dialogue.
    fn event(&mut self, event: &Arc<Event>);

    /// Says that something was left here.
    fn left(&mut self, left: Left);
}

/// The messages that a page shows, and what was left before them.
#[derive(Clone, Debug, Default)]
pub struct Places {
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

/// What was left at one place. Reads as one line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    branches: usize,
    answers: usize,
    /// The messages of the branch that was left last.
    messages: usize,
}

impl Left {
    fn is_nothing(self) -> bool {
        self.branches == 0 && self.answers == 0
    }
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        f.write_str(&parts.join(" · "))
    }
}

/// What goes from a page where something takes the place of it.
#[derive(Debug)]
struct Gone {
    /// Its pieces, in order.
    pieces: Vec<Range<usize>>,
    /// What was left there.
    left: Left,
}

impl Places {
    /// Shows the next event of a log. What it takes back goes from the page, so
    /// that each message stands there once.
    pub fn show(&mut self, event: &Arc<Event>, page: &mut impl Page) {
        if let Some(gone) = self.add(event, page.end()) {
            page.take_out(&gone.pieces);
            if !gone.left.is_nothing() {
                page.left(gone.left);
            }
        }
        page.event(event);
    }

    /// Takes note of an event that is shown behind so many pieces. Tells what
    /// goes where it takes the place of others.
    fn add(&mut self, event: &Arc<Event>, pieces: usize) -> Option<Gone> {
        let (kind, message) = match &event.payload {
            Payload::Message { kind, message, .. } => (*kind, message),
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
        let shadowed = shadowed.into_iter().flatten();
        let shadowed: Vec<Seq> = shadowed.map(|(seq, _)| seq).collect();
        // What stands behind something that changed in the middle stays in order.
        let is_last = self.surface.last() == Some(&event.seq);
        let gone = if is_last && leaves(event) {
            Some(self.leave(shadowed, (kind, message), pieces))
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
    pub fn add_beside(&mut self, seq: Seq, pieces: usize) {
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
    fn leave(
        &mut self,
        shadowed: Vec<Seq>,
        (kind, message): (MessageKind, &Message),
        pieces: usize,
    ) -> Gone {
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
        } else if is_of_dialogue(kind, message) {
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

/// Whether a message that is no answer is a part of the dialogue: not what
/// software says to a model.
fn is_of_dialogue(kind: MessageKind, message: &Message) -> bool {
    let source = &message.source;
    kind == MessageKind::User
        && (source.is_person() || source.is_checkpoint() || source.is_session_reference())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::session::{Block, Header, Millis, NewEvent, Role, Session, Source};

    /// A page of lines.
    #[derive(Default)]
    struct Lines(Vec<String>);

    impl Page for Lines {
        fn end(&self) -> usize {
            self.0.len()
        }

        fn take_out(&mut self, gone: &[Range<usize>]) {
            for range in gone.iter().rev() {
                self.0.drain(range.clone());
            }
        }

        fn event(&mut self, event: &Arc<Event>) {
            self.0.extend(event.message().map(Message::text));
        }

        fn left(&mut self, left: Left) {
            self.0.push(format!("({left})"));
        }
    }

    fn answer(text: &str) -> Payload {
        let source = Source::model("p", "m");
        let message = Message::new(Role::Assistant, source, vec![Block::text(text)]);
        Payload::step(MessageKind::Assistant, message, 1, 1)
    }

    fn you(text: &str) -> Payload {
        Payload::user(Message::person(text))
    }

    fn summary(text: &str) -> Payload {
        let blocks = vec![Block::text(text)];
        Payload::user(Message::new(Role::User, Source::checkpoint("c"), blocks))
    }

    struct Log(Session);

    impl Log {
        /// Questions and answers: `q1`, `a1`, `q2`, …
        fn of(turns: usize) -> Self {
            let mut log = Self(Session::new(Header::new("s", Millis(0), None)));
            for turn in 1..=turns {
                log.add(you(&format!("q{turn}")));
                log.add(answer(&format!("a{turn}")));
            }
            log
        }

        fn add(&mut self, payload: Payload) {
            self.0.append(NewEvent::plain(Millis(0), payload)).unwrap();
        }

        fn seq(&self, text: &str) -> Seq {
            let mut events = self.0.surface();
            let says = |event: &&Arc<Event>| event.message().unwrap().text() == text;
            events.find(says).unwrap().seq
        }

        /// In a turn, takes the place of all from one message to another.
        fn replace(&mut self, payload: Payload, from: &str, to: &str) {
            let (start, end) = (self.seq(from), self.seq(to));
            self.add(Payload::log_only(TURN_START, json!({"turn": 1})));
            let surface = self.0.surface().map(|event| event.seq);
            let sources: Vec<Seq> = surface
                .skip_while(|seq| *seq != start)
                .take_while(|seq| *seq <= end || *seq == start)
                .collect();
            let event = NewEvent::replacing(Millis(0), payload, (start, end), sources);
            self.0.append(event).unwrap();
            self.add(Payload::log_only(TURN_END, json!({"turn": 1})));
        }

        fn shown(&self) -> Vec<String> {
            let (mut places, mut page) = (Places::default(), Lines::default());
            for event in self.0.events() {
                places.show(event, &mut page);
            }
            page.0
        }
    }

    #[test]
    fn an_answer_stands_once_however_often_it_was_asked_for() {
        let mut log = Log::of(2);
        log.replace(answer("A2"), "a2", "a2");
        assert_eq!(log.shown(), ["q1", "a1", "q2", "(1 earlier answer)", "A2"]);
        log.replace(answer("AA2"), "A2", "A2");
        let shown = log.shown();
        assert_eq!(shown, ["q1", "a1", "q2", "(2 earlier answers)", "AA2"]);
    }

    #[test]
    fn a_changed_message_stands_once_with_what_was_left_in_front() {
        let mut log = Log::of(3);
        log.replace(you("Q2"), "q2", "a3");
        log.add(answer("A2"));
        let left = "(earlier branch · 4 messages)";
        assert_eq!(log.shown(), ["q1", "a1", left, "Q2", "A2"]);
        log.replace(answer("AA2"), "A2", "A2");
        assert_eq!(
            log.shown(),
            ["q1", "a1", left, "Q2", "(1 earlier answer)", "AA2"]
        );
    }

    #[test]
    fn what_was_summed_up_stays_and_the_summary_stands_where_it_was_made() {
        let mut log = Log::of(2);
        log.replace(summary("sum"), "q1", "a1");
        assert_eq!(log.shown(), ["q1", "a1", "q2", "a2", "sum"]);
    }

    #[test]
    fn what_is_taken_back_behind_a_summary_goes_and_the_summary_stays() {
        let mut log = Log::of(3);
        log.replace(summary("sum"), "q1", "a1");
        log.replace(answer("A3"), "a3", "a3");
        let all = ["q1", "a1", "q2", "a2", "q3", "sum"];
        let shown = log.shown();
        assert_eq!(shown.get(..6).unwrap(), all);
        assert_eq!(shown.get(6..).unwrap(), ["(1 earlier answer)", "A3"]);
        log.replace(you("Q2"), "q2", "A3");
        let left = "(earlier branch · 4 messages)";
        assert_eq!(log.shown(), ["q1", "a1", "sum", left, "Q2"]);
    }

    #[test]
    fn a_summary_that_is_taken_back_takes_along_what_it_stands_for() {
        let mut log = Log::of(3);
        log.replace(summary("sum"), "q1", "a1");
        // As going back to a way before it does.
        log.replace(you("q1"), "sum", "a3");
        log.add(answer("a1"));
        let left = "(earlier branch · 5 messages)";
        assert_eq!(log.shown(), [left, "q1", "a1"]);
    }

    #[test]
    fn what_software_changed_is_no_way_that_was_left() {
        let mut log = Log::of(1);
        let result = |text: &str| {
            let message = Message::new(Role::Tool, Source::tool("t"), vec![Block::text(text)]);
            Payload::step(MessageKind::ToolResult, message, 1, 1)
        };
        log.add(result("long"));
        log.replace(result("short"), "long", "long");
        assert_eq!(log.shown(), ["q1", "a1", "short"]);
    }

    #[test]
    fn a_message_in_place_of_one_that_is_lost_stands_at_the_end() {
        let mut log = Log::of(2);
        log.replace(answer("A2"), "a2", "a2");
        let events = log.0.events().iter();
        let without = events.filter(|e| e.message().is_none_or(|m| m.text() != "a2"));
        let (mut places, mut page) = (Places::default(), Lines::default());
        for event in without {
            places.show(event, &mut page);
        }
        assert_eq!(page.0, ["q1", "a1", "q2", "A2"]);
    }
}
