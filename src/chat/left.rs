//! What stands of a conversation that was taken back, in order, and in one line
//! what was left where. The screen shows it like this, and so does whatever else
//! writes a conversation down for people.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use super::{TURN_END, TURN_START, leaves};
use crate::figures::counted;
use crate::session::{Event, Message, MessageKind, Payload, Seq, SurfaceOp};

/// Where a conversation is shown.
pub trait Page {
    /// Where it ends now.
    fn end(&self) -> usize;

    /// Takes off all behind an end that it had.
    fn cut(&mut self, end: usize);

    /// Adds what an event shows; nothing where it is no part of the dialogue.
    fn event(&mut self, event: &Arc<Event>);

    /// Says that something was left here.
    fn left(&mut self, left: Left);
}

/// The messages that stand on a page, and what was left before them.
#[derive(Clone, Debug, Default)]
pub struct Places {
    shown: Vec<Place>,
    /// What is written is of a turn, and no message that is written again.
    in_turn: bool,
}

#[derive(Clone, Debug)]
struct Place {
    event: Arc<Event>,
    /// Where the page ended before it and the line about what was left.
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

/// What stands behind the first message that an event takes back.
struct TakenBack {
    /// Where that begins on the page.
    start: usize,
    gone: Vec<Place>,
    /// What stays in front of the event, and what stays behind it.
    before: Vec<Place>,
    after: Vec<Place>,
}

impl Places {
    /// Shows the next event of a log. What it takes back goes from the page, and
    /// each message stands there once.
    pub fn show(&mut self, event: &Arc<Event>, page: &mut impl Page) {
        let (kind, message) = match &event.payload {
            Payload::Message { kind, message, .. } => (*kind, message),
            Payload::LogOnly { kind, .. } => {
                self.in_turn = kind == TURN_START || self.in_turn && kind != TURN_END;
                page.event(event);
                return;
            }
        };
        let Some(back) = self.take_back(event) else {
            self.put(Arc::clone(event), Left::default(), page);
            return;
        };
        page.cut(back.start);
        for place in back.before {
            self.put(place.event, place.left, page);
        }
        let left = self.left_by(kind, message, &back.gone);
        self.put(Arc::clone(event), left, page);
        for place in back.after {
            self.put(place.event, place.left, page);
        }
    }

    fn put(&mut self, event: Arc<Event>, left: Left, page: &mut impl Page) {
        let start = page.end();
        if !left.is_nothing() {
            page.left(left);
        }
        page.event(&event);
        self.shown.push(Place { event, start, left });
    }

    /// Takes from the places what an event takes back, and all behind it.
    fn take_back(&mut self, event: &Event) -> Option<TakenBack> {
        if !leaves(event) {
            return None;
        }
        let gone = self.gone_with(event);
        let is_gone = |place: &Place| gone.contains(&place.event.seq);
        let at = self.shown.iter().position(is_gone)?;
        let behind = self.shown.split_off(at);
        let start = behind.first()?.start;
        let (gone, stay): (Vec<_>, Vec<_>) = behind.into_iter().partition(is_gone);
        // A summary is shown where it was made, and stands before all that was
        // not summed up.
        let earlier: HashSet<Seq> = self.shown.iter().map(|place| place.event.seq).collect();
        let sums_up_earlier =
            |place: &Place| summed_up(&place.event).any(|seq| earlier.contains(&seq));
        let (before, after) = stay.into_iter().partition(sums_up_earlier);
        Some(TakenBack {
            start,
            gone,
            before,
            after,
        })
    }

    /// What goes with the messages that an event takes the place of: a summary
    /// takes along what it stands for.
    fn gone_with(&self, event: &Event) -> HashSet<Seq> {
        let mut gone: HashSet<Seq> = event.source_event_seqs.iter().flatten().copied().collect();
        let mut events: Vec<_> = self.shown.iter().map(|place| &place.event).collect();
        // What a summary stands for is older than it.
        events.sort_by_key(|event| std::cmp::Reverse(event.seq));
        for event in events {
            if gone.contains(&event.seq) {
                gone.extend(summed_up(event));
            }
        }
        gone
    }

    fn left_by(&self, kind: MessageKind, message: &Message, gone: &[Place]) -> Left {
        let mut left = gone.first().map(|place| place.left).unwrap_or_default();
        // Going back changes which of them is shown, not how many there are.
        let more = usize::from(self.in_turn);
        let source = &message.source;
        match kind {
            MessageKind::Assistant => left.answers = (left.answers + more).max(1),
            MessageKind::User
                if source.is_person()
                    || source.is_checkpoint()
                    || source.is_session_reference() =>
            {
                left.branches = (left.branches + more).max(1);
                left.messages = gone.len();
            }
            // What software says to a model is no part of the dialogue.
            MessageKind::User | MessageKind::System | MessageKind::ToolResult => {}
        }
        left
    }
}

/// The messages that a summary stands for; none for anything else.
fn summed_up(event: &Event) -> impl Iterator<Item = Seq> {
    let replaces = matches!(event.surface_op, Some(SurfaceOp::Replace { .. }));
    let sources = event.source_event_seqs.iter().flatten();
    let of_summary = replaces && !leaves(event);
    sources.filter(move |_| of_summary).copied()
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

        fn cut(&mut self, end: usize) {
            self.0.truncate(end);
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
        let left = "(earlier branch · 7 messages)";
        assert_eq!(log.shown(), [left, "q1", "a1"]);
    }

    #[test]
    fn what_software_changed_in_the_middle_leaves_the_rest_and_says_nothing() {
        let mut log = Log::of(1);
        let result = |text: &str| {
            let message = Message::new(Role::Tool, Source::tool("t"), vec![Block::text(text)]);
            Payload::step(MessageKind::ToolResult, message, 1, 1)
        };
        log.add(result("long"));
        log.add(answer("a2"));
        log.replace(result("short"), "long", "long");
        assert_eq!(log.shown(), ["q1", "a1", "short", "a2"]);
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
