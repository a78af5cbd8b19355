//! What a record of the chain tells: its place, and what is said in it.

use super::chain::{Boundary, Messages, Node, Preserved};
use super::id::Id;
use super::marks::Marked;
use super::record::{CompactMetadata, Record};
use super::said::{Said, Seen};
use crate::source::loose::Word;

/// What a record tells; `W` is what is said in it.
#[derive(Debug, Default)]
pub(super) struct Told<W> {
    pub(super) node: Node,
    /// Unix milliseconds; 0 when it tells none.
    pub(super) time: i64,
    pub(super) session_id: Option<Id>,
    pub(super) start: Option<Box<Start>>,
    pub(super) words: W,
}

/// What is taken from the first record that tells it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) agent_id: Option<Box<str>>,
    pub(super) cwd: Option<Box<str>>,
    pub(super) version: Option<Box<str>>,
    pub(super) fork_of: Option<Box<str>>,
    pub(super) request_of: Option<Box<str>>,
}

impl<W> Told<W> {
    /// What a record tells in which this is said.
    pub(super) fn of(record: Record, words: W) -> Self {
        let time = record.timestamp.millis();
        let is_boundary = record.subtype.is("compact_boundary");
        let is_model = record.kind.is("assistant");
        let boundary = is_boundary.then(|| {
            Box::new(Boundary {
                preserved: preserved(&record.uuid, record.compact_metadata.0),
                logical_parent: id(&record.logical_parent_uuid),
            })
        });
        let start = Start {
            agent_id: record.agent_id.0,
            cwd: record.cwd.0,
            version: record.version.0,
            fork_of: record.forked_from.0.session_id.0,
            request_of: record.request_session_id.0,
        };
        Self {
            node: Node {
                uuid: id(&record.uuid),
                parent: id(&record.parent_uuid.uuid),
                is_unlinked: !record.parent_uuid.is_told,
                message_id: id(&record.message.0.id).filter(|_| is_model),
                is_sidechain: record.is_sidechain.0,
                is_progress: record.kind.is("progress"),
                is_summary: record.is_compact_summary.0,
                boundary,
            },
            time,
            session_id: id(&record.session_id),
            start: (start != Start::default()).then(|| Box::new(start)),
            words,
        }
    }

    /// What a record tells that is known by its marks, in which this is said.
    pub(super) fn by_marks(marked: Marked, words: W) -> Self {
        Self {
            node: marked.node,
            time: marked.time,
            session_id: None,
            start: None,
            words,
        }
    }

    /// The same with other words.
    pub(super) fn saying<V>(self, words: impl FnOnce(i64, W) -> V) -> Told<V> {
        Told {
            words: words(self.time, self.words),
            node: self.node,
            time: self.time,
            session_id: self.session_id,
            start: self.start,
        }
    }
}

impl Told<Seen> {
    /// What it tells, once its texts can be read; nothing is said where only
    /// what is not known is.
    pub(super) fn said(self) -> Told<Option<Said>> {
        self.saying(Said::of)
    }
}

pub(super) fn id(word: &Word) -> Option<Id> {
    word.get().map(Id::of)
}

fn preserved(own: &Word, metadata: CompactMetadata) -> Preserved {
    let listed = metadata.preserved_messages.0;
    let segment = metadata.preserved_segment.0;
    let anchors = [&listed.anchor, &segment.anchor];
    let anchor = anchors.into_iter().find(|anchor| anchor.get().is_some());
    let uuids = listed.uuids.0;
    Preserved {
        is_before: anchor.is_some_and(|anchor| anchor == own),
        messages: match (id(&segment.head), id(&segment.tail)) {
            (Some(head), Some(tail)) if uuids.is_empty() => Messages::Segment { head, tail },
            _ => Messages::Listed(uuids.iter().filter_map(id).collect()),
        },
    }
}
