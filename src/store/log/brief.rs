//! Folding a log to what citing needs: shadowed text is freed at once, unless all
//! that was said is asked for, and log-only events leave nothing but their seq.

use std::collections::HashSet;

use super::fold::Fold;
use super::notice::Problem;
use super::{skim, whole};
use crate::json;
use crate::reference::projection::{self, Item, Said};
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
    /// What was shadowed, where that is kept.
    shadowed: Option<Vec<(Seq, Item)>>,
}

/// An event, as far as citing needs it. Small, as a log has many.
#[derive(Debug, PartialEq)]
pub(super) struct Record {
    seq: Seq,
    says: Says,
}

#[derive(Debug, PartialEq)]
enum Says {
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
        let says = if op == Some(SurfaceOp::Append) && sources.is_none() {
            Says::Append(kind, item)
        } else {
            let what = What::Message(kind, item);
            Says::Other(Box::new(Other { op, sources, what }))
        };
        Self { seq, says }
    }
}

impl Brief {
    /// A fold that keeps what is shadowed.
    pub(super) fn keeping_all() -> Self {
        Self {
            shadowed: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// The highest seq, the citable conversation and the latest title.
    pub(super) fn into_parts(self) -> (Option<Seq>, Vec<Item>, Option<Title>) {
        let surface = self.surface.into_values().into_iter();
        (
            self.next.0.checked_sub(1).map(Seq),
            surface.filter_map(|(_, item)| item).collect(),
            self.title,
        )
    }

    /// All that was said, in the order of the log, and of what can be cited its
    /// place among that. What was written again is given once.
    pub(super) fn into_said(self) -> Vec<Said> {
        let surface = self.surface.into_values().into_iter();
        let cited = surface.filter_map(|(seq, item)| Some((seq, item?)));
        let cited = (0..)
            .zip(cited)
            .map(|(at, (seq, item))| (seq, Some(at), item));
        let shadowed = self.shadowed.into_iter().flatten();
        let shadowed = shadowed.map(|(seq, item)| (seq, None, item));
        let mut said: Vec<_> = cited.chain(shadowed).collect();
        said.sort_by_key(|(seq, ..)| *seq);
        let is_new: Vec<bool> = {
            let cited = said.iter().filter(|(_, cited, _)| cited.is_some());
            let mut known: HashSet<_> = cited.map(|(.., item)| (item.role, &*item.text)).collect();
            let each = said.iter();
            each.map(|(_, cited, item)| cited.is_some() || known.insert((item.role, &*item.text)))
                .collect()
        };
        let said = said.into_iter().zip(is_new);
        said.filter(|(_, is_new)| *is_new)
            .map(|((_, cited, item), _)| Said { item, cited })
            .collect()
    }

    fn surface(
        &mut self,
        seq: Seq,
        kind: MessageKind,
        op: Option<&SurfaceOp>,
        sources: Option<&[Seq]>,
        item: Option<Item>,
    ) -> Result<(), SurfaceError> {
        let shadowed = self.surface.apply(seq, kind, op, sources, item)?;
        if let Some(kept) = &mut self.shadowed {
            let items = shadowed.into_iter();
            kept.extend(items.filter_map(|(seq, item)| Some((seq, item?))));
        }
        Ok(())
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
                let says = Says::Other(Box::new(Other { op, sources, what }));
                Self { seq, says }
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
            let says = Says::Nothing;
            return Ok(Record { seq, says });
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
        let Record { seq, says } = record;
        match says {
            Says::Append(kind, item) => {
                let op = Some(&SurfaceOp::Append);
                self.surface(seq, kind, op, None, item)?;
            }
            Says::Other(other) => {
                let Other { op, sources, what } = *other;
                let (op, sources) = (op.as_ref(), sources.as_deref());
                match what {
                    What::Message(kind, item) => {
                        self.surface(seq, kind, op, sources, item)?;
                    }
                    What::LogOnly(kind, title) => {
                        check_log_only(seq, &kind, op, sources)?;
                        if title.is_some() {
                            self.title = title;
                        }
                    }
                }
            }
            Says::Nothing => {}
        }
        self.next = seq.next();
        Ok(())
    }
}
