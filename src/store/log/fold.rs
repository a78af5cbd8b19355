//! The order of events in a log that may be damaged.

use super::notice::{LogNotice, Notices, Place, Problem};
use crate::session::{Seq, SurfaceError};

/// The highest seq that a jump may lead to: what JSON numbers hold exactly
/// everywhere. It leaves room to append, whatever a damaged line claims.
const MAX_SEQ: Seq = Seq(1 << 53);

/// What the events of a log are folded into.
pub(super) trait Fold: Send {
    /// What one line says.
    type Record: Send;

    /// What lines that are read together share.
    type Shared;

    /// Something to share for lines of `bytes` bytes in all.
    fn share(bytes: usize) -> Self::Shared;

    /// Reads one line. `thorough` asks to trust nothing about it. Without
    /// anything shared, the record must be sound by itself.
    fn parse(
        line: &[u8],
        shared: Option<&mut Self::Shared>,
        thorough: bool,
    ) -> Result<Self::Record, Problem>;

    /// Completes what the records share; `false` when they can't be used, and
    /// must be read again without it.
    fn complete(shared: Self::Shared) -> bool;

    /// The seq that a record claims.
    fn seq(record: &Self::Record) -> Seq;

    /// The seq that belongs next.
    fn next_seq(&self) -> Seq;

    /// Counts the events before `next` as lost.
    fn skip_to(&mut self, next: Seq);

    /// Adds the record that belongs next.
    fn apply(&mut self, record: Self::Record) -> Result<(), SurfaceError>;
}

/// Puts records in their places, and what does not fit aside.
///
/// A seq that jumps ahead means either that the events between are lost, or
/// that this one's seq is damaged. The event behind it tells: only when that
/// is of a higher seq still, or there is none, the jump is believed.
pub(super) struct Sequencer<F: Fold> {
    fold: F,
    held: Option<Held<F::Record>>,
    /// Whether something before was reported that accounts for a gap.
    excused: bool,
    notices: Notices,
}

struct Held<R> {
    place: Place,
    record: R,
    excused: bool,
}

impl<F: Fold> Sequencer<F> {
    pub(super) fn new(fold: F) -> Self {
        Self {
            fold,
            held: None,
            excused: false,
            notices: Notices::default(),
        }
    }

    pub(super) fn line(&mut self, place: Place, parsed: Result<F::Record, Problem>) {
        match parsed {
            Ok(record) => self.record(place, record),
            Err(problem) => self.lose(place, problem),
        }
    }

    pub(super) fn finish(mut self) -> (F, Vec<LogNotice>) {
        if let Some(held) = self.held.take() {
            self.accept_held(held);
        }
        (self.fold, self.notices.finish())
    }

    fn record(&mut self, place: Place, record: F::Record) {
        let seq = F::seq(&record);
        let behind = self.held.as_ref().map(|held| F::seq(&held.record));
        let follows = seq == behind.map_or(self.fold.next_seq(), Seq::next);
        let too_far = seq > MAX_SEQ && !follows;
        if seq < self.fold.next_seq() || too_far || behind == Some(seq) {
            return self.misplace(place, seq);
        }
        if let Some(held) = self.held.take() {
            let jumped = F::seq(&held.record);
            if seq > jumped {
                self.accept_held(held);
            } else {
                self.misplace(held.place, jumped);
            }
        }
        if seq == self.fold.next_seq() {
            self.excused = false;
            self.apply(place, record);
        } else {
            self.held = Some(Held {
                place,
                record,
                excused: std::mem::take(&mut self.excused),
            });
        }
    }

    fn accept_held(&mut self, held: Held<F::Record>) {
        let (expected, found) = (self.fold.next_seq(), F::seq(&held.record));
        if !held.excused {
            self.notices
                .add(held.place, Problem::Gap { expected, found });
        }
        self.fold.skip_to(found);
        self.apply(held.place, held.record);
    }

    fn apply(&mut self, place: Place, record: F::Record) {
        let seq = F::seq(&record);
        if let Err(error) = self.fold.apply(record) {
            self.notices.add(place, Problem::Rule(error));
            // It is there, if unusable: its seq is not free.
            self.fold.skip_to(seq.next());
        }
    }

    fn misplace(&mut self, place: Place, found: Seq) {
        let expected = self.fold.next_seq();
        self.lose(place, Problem::Misplaced { expected, found });
    }

    fn lose(&mut self, place: Place, problem: Problem) {
        self.notices.add(place, problem);
        self.excused = true;
    }
}
