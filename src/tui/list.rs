//! What all lists that are picked from have in common: which question is out,
//! whether the rows answer it, and which one is selected. What the rows are is
//! the list's own affair.

use crate::session::Millis;

/// How long an answer may take before a spinner shows, in milliseconds.
const SPINNER_AFTER: i64 = 100;

/// A list as it stands.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent facts, each told by itself"
)]
pub struct List {
    count: usize,
    selected: usize,
    offset: usize,
    /// How many rows of the screen there were when it was last drawn.
    height: usize,
    /// How many rows of the screen one takes.
    each: usize,
    /// When the newest question was put, while its answer is out.
    asked: Option<Millis>,
    /// Whether the rows answer the query, though perhaps not its newest answer.
    is_answered: bool,
    /// Whether the person moved to the selected row by hand.
    is_chosen: bool,
    /// Whether there may be other rows by now than the answer awaited tells.
    is_outdated: bool,
    /// Whether Enter was pressed before the answer was in.
    accepts: bool,
    failure: Option<String>,
}

impl List {
    /// A list whose rows take so many rows of the screen each.
    #[must_use]
    pub fn new(each: usize) -> Self {
        Self {
            count: 0,
            selected: 0,
            offset: 0,
            height: 0,
            each: each.max(1),
            asked: None,
            is_answered: false,
            is_chosen: false,
            is_outdated: false,
            accepts: false,
            failure: None,
        }
    }

    /// Notes that a question was put, perhaps another one than before.
    pub fn asked(&mut self, is_other: bool, now: Millis) {
        if is_other {
            self.selected = 0;
            self.offset = 0;
            self.is_chosen = false;
            self.is_answered = false;
        }
        self.asked = Some(now);
        self.is_outdated = false;
    }

    /// Notes that there may be other rows by now. Gives whether the question
    /// is to be put again at once: while its answer is awaited, that is to be
    /// done after it.
    pub fn outdated(&mut self, now: Millis) -> bool {
        self.is_outdated = self.is_waiting();
        if !self.is_outdated {
            self.asked(false, now);
        }
        !self.is_outdated
    }

    /// Notes that the answer is in: so many rows, and which of them the person
    /// had moved to.
    pub fn answered(&mut self, count: usize, chosen: Option<usize>) {
        self.asked = None;
        self.is_answered = true;
        self.failure = None;
        self.count = count;
        self.is_chosen = chosen.is_some();
        self.selected = chosen.unwrap_or(0);
    }

    /// Notes that there is no answer, and why.
    pub fn failed(&mut self, failure: String) {
        self.answered(0, None);
        self.failure = Some(failure);
    }

    /// Why there is no answer.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Whether there may be other rows than the answer that is in tells.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        self.is_outdated
    }

    /// The row under the cursor.
    #[must_use]
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// The row that the person moved to by hand.
    #[must_use]
    pub fn chosen(&self) -> Option<usize> {
        self.is_chosen.then_some(self.selected)
    }

    /// Whether the selected row is what a person can mean: the rows answer
    /// what they typed, or no others will come, or they went to it by hand.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.is_answered || self.is_chosen || !self.is_waiting()
    }

    /// Has the first row of the answer that is awaited picked, or not.
    pub fn accept_when_in(&mut self, accepts: bool) {
        self.accepts = accepts;
    }

    /// Whether the selected row is to be picked now; asks once.
    pub fn take_accept(&mut self) -> bool {
        std::mem::take(&mut self.accepts)
    }

    /// Moves by one row, round the ends.
    pub fn step(&mut self, down: bool) {
        if self.count > 0 {
            let by = if down { 1 } else { self.count - 1 };
            self.selected = (self.selected + by) % self.count;
            self.is_chosen = true;
        }
    }

    /// Moves by many rows, up to the ends.
    pub fn jump(&mut self, by: isize) {
        let last = self.count.saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
        self.is_chosen = self.count > 0;
    }

    /// Puts the cursor on what stands in a row of the screen, counted from the
    /// top one.
    pub fn select_visible(&mut self, row: usize) -> bool {
        let index = self.offset + row / self.each;
        let there = row < self.height && index < self.count;
        if there {
            self.selected = index;
            self.is_chosen = true;
        }
        there
    }

    /// How many rows of the screen all rows take.
    #[must_use]
    pub fn wanted_height(&self) -> usize {
        self.count * self.each
    }

    /// Keeps the cursor in sight on so many rows of the screen. Gives the
    /// first row that is shown.
    pub fn scroll_to_selected(&mut self, height: usize) -> usize {
        self.height = height;
        let fit = (height / self.each).max(1);
        self.offset = self
            .offset
            .min(self.selected)
            .max((self.selected + 1).saturating_sub(fit))
            .min(self.count.saturating_sub(fit));
        self.offset
    }

    /// Whether a spinner is due.
    #[must_use]
    pub fn is_slow(&self, now: Millis) -> bool {
        self.asked
            .is_some_and(|asked| now.0.saturating_sub(asked.0) >= SPINNER_AFTER)
    }

    /// Whether an answer is out: the screen wants to be drawn again later.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.asked.is_some()
    }
}
