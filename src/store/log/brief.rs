//! Folding a log to what citing needs: shadowed text is freed at once, and
//! log-only events leave nothing but their seq.

use super::fold::Fold;
use super::notice::Problem;
use super::{skim, whole};
use crate::json;
use crate::reference::projection::{self, Item};
use crate::session::{
    Event, MessageKind, Payload, Seq, Surface, SurfaceError, SurfaceOp, Title, check_log_only,
};
use crate::text::TextBlock;

/// The fold.
#[derive(Default)]
pub(super) struct Brief {
    surface: Surface<Option<Item>>,
    next: Seq,
    title: Option<Title>,
}

/// An event, as far as citing needs it. Small, as a log has many.
#[derive(Debug, PartialEq)]
pub(super) struct Record {
    seq: Seq,
    said: Said,
}

#[derive(Debug, PartialEq)]
enum Said {
    /// A message at the end, made from nothing; and what it is cited as.
    Append(MessageKind, Option<Item>),
    /// Something with more to it.
    Other(Box<Other>),
    /// A log-only event without a say on anything.
    Nothing,
}

#[derive(Debug, PartialEq)]
struct Other {
    op: Option<SurfaceOp>,
    sources: Option<Vec<Seq>>,
    what: What,
}

#[derive(Debug, PartialEq)]
enum What {
    /// A message, and what it is cited as.
    Message(MessageKind, Option<Item>),
    /// A log-only event of this type, and the title it sets.
    LogOnly(String, Option<Title>),
}

impl Record {
    pub(super) fn message(
        seq: Seq,
        op: Option<SurfaceOp>,
        sources: Option<Vec<Seq>>,
        kind: MessageKind,
        item: Option<Item>,
    ) -> Self {
        let said = if op == Some(SurfaceOp::Append) && sources.is_none() {
            Said::Append(kind, item)
        } else {
            let what = What::Message(kind, item);
            Said::Other(Box::new(Other { op, sources, what }))
        };
        Self { seq, said }
    }
}

impl Brief {
    /// The highest seq, the citable conversation and the latest title.
    pub(super) fn into_parts(self) -> (Option<Seq>, Vec<Item>, Option<Title>) {
        let mut conversation = Vec::new();
        self.surface
            .into_values()
            .into_iter()
            .for_each(|item| conversation.extend(item));
        (
            self.next.0.checked_sub(1).map(Seq),
            conversation,
            self.title,
        )
    }
}

impl From<Event> for Record {
    fn from(event: Event) -> Self {
        let (seq, op, sources) = (event.seq, event.surface_op, event.source_event_seqs);
        match event.payload {
            Payload::Message { kind, message, .. } => {
                let item = projection::item(event.time, kind, &message);
                Self::message(seq, op, sources, kind, item)
            }
            Payload::LogOnly { kind, data } => {
                let title = Title::from_event(&kind, &data);
                let what = What::LogOnly(kind, title);
                let said = Said::Other(Box::new(Other { op, sources, what }));
                Self { seq, said }
            }
        }
    }
}

impl Fold for Brief {
    type Record = Record;

    type Shared = TextBlock;

    fn share(bytes: usize) -> TextBlock {
        TextBlock::new(bytes + json::WORD)
    }

    fn parse(
        line: &[u8],
        shared: Option<&mut TextBlock>,
        thorough: bool,
    ) -> Result<Record, Problem> {
        if !thorough && let Some(seq) = skim::plain_log_only(line) {
            let said = Said::Nothing;
            return Ok(Record { seq, said });
        }
        // Both refuse what is unusual, and the whole parse decides.
        shared
            .and_then(|texts| skim::message(line, texts))
            .map_or_else(|| whole::event(line).map(Record::from), Ok)
    }

    fn complete(shared: TextBlock) -> bool {
        shared.seal()
    }

    fn seq(record: &Record) -> Seq {
        record.seq
    }

    fn next_seq(&self) -> Seq {
        self.next
    }

    fn skip_to(&mut self, next: Seq) {
        self.next = self.next.max(next);
    }

    fn apply(&mut self, record: Record) -> Result<(), SurfaceError> {
        let Record { seq, said } = record;
        match said {
            Said::Append(kind, item) => {
                let op = Some(&SurfaceOp::Append);
                self.surface.apply(seq, kind, op, None, item)?;
            }
            Said::Other(other) => {
                let Other { op, sources, what } = *other;
                let (op, sources) = (op.as_ref(), sources.as_deref());
                match what {
                    What::Message(kind, item) => {
                        self.surface.apply(seq, kind, op, sources, item)?;
                    }
                    What::LogOnly(kind, title) => {
                        check_log_only(seq, &kind, op, sources)?;
                        if title.is_some() {
                            self.title = title;
                        }
                    }
                }
            }
            Said::Nothing => {}
        }
        self.next = seq.next();
        Ok(())
    }
}
