//! The conversation as it stands: turns come, are rolled back, and are
//! replaced by compactions.

use std::sync::Arc;

use crate::text::Text;

/// Whose words an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A person's.
    Person,
    /// The model's.
    Model,
    /// Software's, in a person's message.
    Injected,
    /// A summary of what came before.
    Summary,
}

/// One message, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) said: Said,
    /// Unix milliseconds.
    pub(super) time: i64,
    pub(super) model: Arc<str>,
    pub(super) text: Text,
}

/// A conversation that can go back by turns.
#[derive(Default)]
pub(super) struct History {
    now: Epoch,
    /// What compactions replaced, oldest first. Rolling a compaction back
    /// brings it again.
    before: Vec<Epoch>,
    /// How many turns the tool said to have started.
    started: usize,
}

/// What is between two compactions.
#[derive(Default)]
struct Epoch {
    items: Vec<Item>,
    /// Where each turn begins, and how many were started then.
    turns: Vec<(usize, usize)>,
    /// How many turns were started when the compaction came.
    started: usize,
    /// How many of the first items are known to be persons' words alone.
    persons: usize,
}

impl History {
    /// The tool said that a turn starts. Its message may come much later.
    pub(super) fn start_turn(&mut self) {
        self.started += 1;
    }

    /// What follows is of a turn of its own, though nothing of the message that
    /// begins it may be told.
    pub(super) fn begin_turn(&mut self) {
        self.now.turns.push((self.now.items.len(), self.started));
    }

    pub(super) fn push(&mut self, item: Item) {
        self.now.items.push(item);
    }

    /// A compaction left these in place of all there is.
    pub(super) fn replace(&mut self, items: Vec<Item>) {
        let epoch = Epoch {
            items,
            turns: Vec::new(),
            started: self.started,
            persons: 0,
        };
        self.before.push(std::mem::replace(&mut self.now, epoch));
    }

    /// A compaction that left nothing but its summary: what persons said is
    /// kept before it. The tool counts the summary as a turn.
    pub(super) fn sum_up(&mut self, summary: Option<Item>) {
        // Only what came since the last one is looked at.
        let now = &mut self.now;
        let since = now.items.split_off(now.persons);
        let before = now.turns.partition_point(|(at, _)| *at < now.persons);
        now.turns.truncate(before);
        for item in since {
            if item.said == Said::Person {
                now.turns.push((now.items.len(), self.started));
                now.items.push(item);
            }
        }
        now.persons = now.items.len();
        if let Some(summary) = summary {
            now.turns.push((now.items.len(), self.started));
            now.items.push(summary);
        }
    }

    /// Drops the last `turns` turns.
    pub(super) fn roll_back(&mut self, turns: u64) {
        for _ in 0..turns {
            while self.now.turns.is_empty() {
                let Some(before) = self.before.pop() else {
                    return;
                };
                self.now = before;
            }
            let Some((at, started)) = self.now.turns.pop() else {
                return;
            };
            self.now.items.truncate(at);
            self.now.persons = self.now.persons.min(at);
            // A compaction at the beginning of a turn goes with the turn.
            let began_with_it = started > 0 && self.now.started == started;
            if began_with_it
                && self.now.turns.is_empty()
                && let Some(before) = self.before.pop()
            {
                self.now = before;
            }
        }
    }

    pub(super) fn items(&self) -> &[Item] {
        &self.now.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(said: Said, text: &str) -> Item {
        Item {
            said,
            time: 0,
            model: "".into(),
            text: text.into(),
        }
    }

    fn turn(history: &mut History, n: u32) {
        history.start_turn();
        history.begin_turn();
        history.push(item(Said::Person, &format!("q{n}")));
        history.push(item(Said::Model, &format!("a{n}")));
    }

    fn texts(history: &History) -> Vec<&str> {
        history.items().iter().map(|item| &*item.text).collect()
    }

    fn compacted(history: &mut History) {
        let left = vec![item(Said::Person, "q1"), item(Said::Summary, "summary")];
        history.replace(left);
    }

    #[test]
    fn a_rollback_drops_the_last_turns_and_keeps_what_was_before_the_first() {
        let mut history = History::default();
        history.push(item(Said::Injected, "environment"));
        for n in 1..=3 {
            turn(&mut history, n);
        }
        history.roll_back(2);
        assert_eq!(texts(&history), ["environment", "q1", "a1"]);
        history.roll_back(u64::MAX);
        assert_eq!(texts(&history), ["environment"]);
    }

    #[test]
    fn a_turn_of_whose_beginning_nothing_is_told_is_one() {
        let mut history = History::default();
        turn(&mut history, 1);
        history.begin_turn();
        history.push(item(Said::Model, "I see a picture"));
        history.roll_back(1);
        assert_eq!(texts(&history), ["q1", "a1"]);
    }

    #[test]
    fn turns_after_a_compaction_go_and_the_compaction_stays() {
        let mut history = History::default();
        turn(&mut history, 1);
        compacted(&mut history);
        turn(&mut history, 2);
        history.roll_back(1);
        assert_eq!(texts(&history), ["q1", "summary"]);
    }

    #[test]
    fn rolling_back_past_a_compaction_brings_what_it_replaced() {
        let mut history = History::default();
        turn(&mut history, 1);
        turn(&mut history, 2);
        compacted(&mut history);
        turn(&mut history, 3);
        history.roll_back(2);
        assert_eq!(texts(&history), ["q1", "a1"]);
    }

    #[test]
    fn a_compaction_at_the_beginning_of_a_turn_goes_with_it() {
        let mut history = History::default();
        turn(&mut history, 1);
        history.start_turn();
        compacted(&mut history);
        history.begin_turn();
        history.push(item(Said::Person, "q2"));
        history.roll_back(1);
        assert_eq!(texts(&history), ["q1", "a1"]);
    }
    #[test]
    fn summing_up_keeps_what_persons_said_and_the_last_summary() {
        let mut history = History::default();
        turn(&mut history, 1);
        history.sum_up(Some(item(Said::Summary, "one")));
        turn(&mut history, 2);
        history.sum_up(Some(item(Said::Summary, "two")));
        turn(&mut history, 3);
        assert_eq!(texts(&history), ["q1", "q2", "two", "q3", "a3"]);
        history.roll_back(1);
        assert_eq!(texts(&history), ["q1", "q2", "two"]);
        history.roll_back(2);
        assert_eq!(texts(&history), ["q1"]);
        history.sum_up(None);
        assert_eq!(texts(&history), ["q1"]);
    }
}
