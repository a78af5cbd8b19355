//! The fold from events to the surface: what the model sees now.

use std::collections::HashSet;

use thiserror::Error;

use super::{MessageKind, Seq, SurfaceOp};

/// Why an event can't be appended. The session stays as it was.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SurfaceError {
    /// The seq is not the next one.
    #[error("event {found} stands where event {expected} belongs")]
    Gap {
        /// The next free seq.
        expected: Seq,
        /// The seq that the event claims.
        found: Seq,
    },
    /// A message without a surface operation.
    #[error("event {seq} ({kind}) needs a surfaceOp")]
    MissingOp {
        /// The event.
        seq: Seq,
        /// Its type.
        kind: &'static str,
    },
    /// A log-only event with a surface operation.
    #[error("event {seq} ({kind}) is log-only and can't carry a surfaceOp")]
    UnexpectedOp {
        /// The event.
        seq: Seq,
        /// Its type.
        kind: String,
    },
    /// A replacement of something that is not on the surface.
    #[error("event {seq} replaces event {missing}, which is not on the surface")]
    NotOnSurface {
        /// The event.
        seq: Seq,
        /// The end of the range that is not there.
        missing: Seq,
    },
    /// A replacement whose end stands before its start.
    #[error("event {seq} replaces {start} to {end}, which stand in the other order")]
    OutOfOrder {
        /// The event.
        seq: Seq,
        /// The start of the range.
        start: Seq,
        /// The end of the range.
        end: Seq,
    },
    /// A replacement that does not name all it shadows.
    #[error("event {seq} shadows event {unnamed} without naming it in sourceEventSeqs")]
    UnnamedSource {
        /// The event.
        seq: Seq,
        /// A shadowed event that is not named.
        unnamed: Seq,
    },
    /// A source named twice.
    #[error("event {seq} names source {source_seq} twice")]
    RepeatedSource {
        /// The event.
        seq: Seq,
        /// The source.
        source_seq: Seq,
    },
    /// A source that is not earlier than the event.
    #[error("event {seq} names source {source_seq}, which is not earlier")]
    LaterSource {
        /// The event.
        seq: Seq,
        /// The source.
        source_seq: Seq,
    },
    /// An empty list of sources where none may stand.
    #[error("event {seq} ({kind}) has an empty sourceEventSeqs")]
    EmptySources {
        /// The event.
        seq: Seq,
        /// Its type.
        kind: String,
    },
}

/// The surface of a log, with one `T` per event that stands on it.
///
/// A linked list in an arena: an append or a replacement costs time in
/// proportion to what it adds and removes, whatever the length of the surface.
#[derive(Clone, Debug)]
pub struct Surface<T> {
    nodes: Vec<Node<T>>,
    first: Option<usize>,
    last: Option<usize>,
}

#[derive(Clone, Debug)]
struct Node<T> {
    seq: Seq,
    /// Rises along the surface, so that two nodes' order is known without a
    /// walk between them.
    label: usize,
    previous: Option<usize>,
    next: Option<usize>,
    /// `None` once shadowed.
    value: Option<T>,
}

/// What stands before a place and what behind it, as places in the arena.
type Neighbours = (Option<usize>, Option<usize>);

impl<T> Default for Surface<T> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            first: None,
            last: None,
        }
    }
}

impl<T> Surface<T> {
    /// Applies one message event; `seq` must be greater than all before. Gives
    /// what it shadowed, in order.
    ///
    /// # Errors
    /// When the operation or the sources break a rule of the log; nothing is
    /// changed then.
    pub fn apply(
        &mut self,
        seq: Seq,
        kind: MessageKind,
        op: Option<&SurfaceOp>,
        sources: Option<&[Seq]>,
        value: T,
    ) -> Result<Vec<(Seq, T)>, SurfaceError> {
        let op = op.ok_or(SurfaceError::MissingOp {
            seq,
            kind: kind.as_str(),
        })?;
        check_sources(seq, kind.as_str(), sources)?;
        match op {
            SurfaceOp::Append => {
                let last = self.last.and_then(|i| self.nodes.get(i));
                let label = last.map_or(0, |node| node.label + 1);
                self.link(seq, label, (self.last, None), value);
                Ok(Vec::new())
            }
            SurfaceOp::Replace { start, end } => {
                let (from, to) =
                    self.check_range(seq, *start, *end, sources.unwrap_or_default())?;
                // In the place of the first it shadows, it takes its label.
                let label = self.label(from);
                let (neighbours, shadowed) = self.cut(from, to);
                self.link(seq, label, neighbours, value);
                Ok(shadowed)
            }
        }
    }

    /// What stands last on the surface.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.nodes.get(self.last?)?.value.as_ref()
    }

    /// What stands on the surface, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::successors(self.first.and_then(|i| self.nodes.get(i)), |node| {
            node.next.and_then(|i| self.nodes.get(i))
        })
        .filter_map(|node| node.value.as_ref())
    }

    /// What stands on the surface, in order and each with its event's seq, taken
    /// out of it.
    #[must_use]
    pub fn into_values(mut self) -> Vec<(Seq, T)> {
        let mut values = Vec::new();
        let mut at = self.first;
        while let Some(node) = at.and_then(|i| self.nodes.get_mut(i)) {
            values.extend(node.value.take().map(|value| (node.seq, value)));
            at = node.next;
        }
        values
    }

    /// The ends of a range that may be replaced, as places in the arena.
    fn check_range(
        &self,
        seq: Seq,
        start: Seq,
        end: Seq,
        sources: &[Seq],
    ) -> Result<(usize, usize), SurfaceError> {
        let from = self.find(seq, start)?;
        let to = self.find(seq, end)?;
        if self.label(from) > self.label(to) {
            return Err(SurfaceError::OutOfOrder { seq, start, end });
        }
        let named: HashSet<Seq> = sources.iter().copied().collect();
        // It ends at the first that is not named, so a refusal costs no more
        // than the event's own list is long, whatever stands on the surface.
        let mut walk = std::iter::successors(Some(from), |at| {
            (*at != to).then(|| self.nodes.get(*at)?.next).flatten()
        });
        let unnamed = walk.find_map(|at| {
            let shadowed = self.nodes.get(at)?.seq;
            (!named.contains(&shadowed)).then_some(shadowed)
        });
        match unnamed {
            Some(unnamed) => Err(SurfaceError::UnnamedSource { seq, unnamed }),
            None => Ok((from, to)),
        }
    }

    fn label(&self, at: usize) -> usize {
        self.nodes.get(at).map_or(0, |node| node.label)
    }

    fn find(&self, seq: Seq, wanted: Seq) -> Result<usize, SurfaceError> {
        // Nodes enter in the order of their seqs, wherever they are linked.
        self.nodes
            .binary_search_by_key(&wanted, |node| node.seq)
            .ok()
            .filter(|i| self.nodes.get(*i).is_some_and(|n| n.value.is_some()))
            .ok_or(SurfaceError::NotOnSurface {
                seq,
                missing: wanted,
            })
    }

    /// Takes the range out and returns its outer neighbours, and what stood in it.
    fn cut(&mut self, from: usize, to: usize) -> (Neighbours, Vec<(Seq, T)>) {
        let mut shadowed = Vec::new();
        let before = self.nodes.get(from).and_then(|n| n.previous);
        let mut at = Some(from);
        let mut after = None;
        while let Some(i) = at
            && let Some(node) = self.nodes.get_mut(i)
        {
            shadowed.extend(node.value.take().map(|value| (node.seq, value)));
            after = node.next;
            at = if i == to { None } else { node.next };
        }
        ((before, after), shadowed)
    }

    fn link(&mut self, seq: Seq, label: usize, (before, after): Neighbours, value: T) {
        let index = self.nodes.len();
        self.nodes.push(Node {
            seq,
            label,
            previous: before,
            next: after,
            value: Some(value),
        });
        match before.and_then(|i| self.nodes.get_mut(i)) {
            Some(node) => node.next = Some(index),
            None => self.first = Some(index),
        }
        match after.and_then(|i| self.nodes.get_mut(i)) {
            Some(node) => node.previous = Some(index),
            None => self.last = Some(index),
        }
    }
}

/// Checks a log-only event, which may name sources but never an operation.
///
/// # Errors
/// When it carries a surface operation, or its sources break a rule.
pub fn check_log_only(
    seq: Seq,
    kind: &str,
    op: Option<&SurfaceOp>,
    sources: Option<&[Seq]>,
) -> Result<(), SurfaceError> {
    if op.is_some() {
        return Err(SurfaceError::UnexpectedOp {
            seq,
            kind: kind.to_owned(),
        });
    }
    check_sources(seq, kind, sources)
}

fn check_sources(seq: Seq, kind: &str, sources: Option<&[Seq]>) -> Result<(), SurfaceError> {
    let Some(sources) = sources else {
        return Ok(());
    };
    if sources.is_empty() && kind != MessageKind::Assistant.as_str() {
        return Err(SurfaceError::EmptySources {
            seq,
            kind: kind.to_owned(),
        });
    }
    let mut seen = HashSet::with_capacity(sources.len());
    for &source_seq in sources {
        if source_seq >= seq {
            return Err(SurfaceError::LaterSource { seq, source_seq });
        }
        if !seen.insert(source_seq) {
            return Err(SurfaceError::RepeatedSource { seq, source_seq });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const APPEND: Option<&SurfaceOp> = Some(&SurfaceOp::Append);

    fn replace(start: u64, end: u64) -> SurfaceOp {
        SurfaceOp::Replace {
            start: Seq(start),
            end: Seq(end),
        }
    }

    #[test]
    fn many_refusals_on_a_long_surface_cost_no_walk_along_it() {
        const MANY: u64 = 200_000;
        let mut surface = Surface::default();
        for seq in 0..MANY {
            surface
                .apply(Seq(seq), MessageKind::User, APPEND, None, seq)
                .unwrap();
        }
        for refused in 0..MANY {
            let seq = Seq(MANY + refused);
            let (start, end) = (refused % 10, MANY - 1 - refused % 10);
            let named = [Seq(start)];
            let mut apply = |start, end| {
                let op = replace(start, end);
                surface
                    .apply(seq, MessageKind::User, Some(&op), Some(&named), 0)
                    .unwrap_err()
            };
            assert!(matches!(
                apply(start, end),
                SurfaceError::UnnamedSource { unnamed, .. } if unnamed == Seq(start + 1)
            ));
            assert!(matches!(apply(end, start), SurfaceError::OutOfOrder { .. }));
        }
        assert_eq!(surface.iter().count() as u64, MANY);
    }

    #[test]
    fn what_replaces_stands_in_order_where_the_replaced_stood() {
        let mut surface = Surface::default();
        for seq in 0..4 {
            surface
                .apply(Seq(seq), MessageKind::User, APPEND, None, seq)
                .unwrap();
        }
        let mut apply = |seq, start, end, named: &[u64]| {
            let named: Vec<Seq> = named.iter().copied().map(Seq).collect();
            let op = replace(start, end);
            surface.apply(Seq(seq), MessageKind::User, Some(&op), Some(&named), seq)
        };
        let back = apply(4, 1, 2, &[1, 2]).unwrap();
        assert_eq!(back, [(Seq(1), 1), (Seq(2), 2)], "it shadows them");
        assert!(matches!(
            apply(5, 4, 0, &[0, 4]),
            Err(SurfaceError::OutOfOrder { .. })
        ));
        assert!(matches!(
            apply(5, 3, 4, &[3, 4]),
            Err(SurfaceError::OutOfOrder { .. })
        ));
        let back = apply(5, 4, 3, &[4, 3]).unwrap();
        assert_eq!(back, [(Seq(4), 4), (Seq(3), 3)]);
        assert_eq!(surface.last(), Some(&5));
        assert_eq!(surface.into_values(), [(Seq(0), 0), (Seq(5), 5)]);
    }
}
