//! Folding a log to the whole session.

use std::sync::Arc;

use super::fold::Fold;
use super::notice::Problem;
use crate::session::{Event, Seq, Session, SurfaceError};

/// Reads a line as an event.
pub(super) fn event(line: &[u8]) -> Result<Event, Problem> {
    serde_json::from_slice(line).map_err(|error| Problem::of_line(line, &error))
}

impl Fold for Session {
    type Record = Event;

    type Shared = ();

    fn share(_bytes: usize) {}

    fn parse(line: &[u8], _shared: Option<&mut ()>, _thorough: bool) -> Result<Event, Problem> {
        event(line)
    }

    fn complete(_shared: ()) -> bool {
        true
    }

    fn seq(record: &Event) -> Seq {
        record.seq
    }

    fn next_seq(&self) -> Seq {
        Session::next_seq(self)
    }

    fn skip_to(&mut self, next: Seq) {
        Session::skip_to(self, next);
    }

    fn apply(&mut self, record: Event) -> Result<(), SurfaceError> {
        self.push(Arc::new(record))
    }
}
