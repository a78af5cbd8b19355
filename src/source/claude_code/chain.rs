//! Which records of a file are the conversation that would go on now.
//!
//! Records form trees by their parents. The conversation is the way from one
//! leaf up to the last compaction or the root; a rewind leaves siblings beside
//! it. Owns the shape alone and knows no text.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use super::id::Id;

/// The places of records by their ids.
type Places<'a> = HashMap<&'a Id, usize, RandomState>;

/// One record of the tree.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Node {
    pub(super) uuid: Option<Id>,
    pub(super) parent: Option<Id>,
    /// Whether it does not speak of a parent at all, not even of none.
    pub(super) is_unlinked: bool,
    /// The id of the model's message that this is a part of.
    pub(super) message_id: Option<Id>,
    pub(super) is_sidechain: bool,
    /// Whether it only links others: it is no end of a conversation.
    pub(super) is_progress: bool,
    pub(super) is_summary: bool,
    pub(super) boundary: Option<Box<Boundary>>,
}

/// Where a compaction was.
#[derive(Debug)]
pub(super) struct Boundary {
    /// Where it goes on from.
    pub(super) logical_parent: Option<Id>,
    pub(super) preserved: Preserved,
}

/// What a compaction left as it was.
#[derive(Debug)]
pub(super) struct Preserved {
    pub(super) messages: Messages,
    /// Whether they stand before the summary: it is of what came behind them.
    pub(super) is_before: bool,
}

/// Messages that a compaction preserved.
#[derive(Debug)]
pub(super) enum Messages {
    /// These messages, in this order.
    Listed(Vec<Id>),
    /// The messages from the one down to the other.
    Segment { head: Id, tail: Id },
}

/// The records with their links resolved.
struct Tree<'a> {
    nodes: &'a [Node],
    /// The record that a uuid stands for: the last that has it.
    at: Places<'a>,
    /// Whether some records took the place of others.
    has_replaced: bool,
    parents: Vec<Option<usize>>,
}

impl<'a> Tree<'a> {
    fn new(nodes: &'a [Node]) -> Self {
        let mut at = Places::with_capacity_and_hasher(nodes.len(), RandomState::default());
        for (index, node) in nodes.iter().enumerate() {
            if let Some(uuid) = &node.uuid {
                at.insert(uuid, index);
            }
        }
        let named = nodes.iter().filter(|node| node.uuid.is_some()).count();
        let has_replaced = at.len() < named;
        let mut before: Option<(usize, &Node)> = None;
        let parents = nodes.iter().enumerate().map(|(index, node)| {
            let last = before.replace((index, node));
            let parent = node.parent.as_ref()?;
            // Most records follow the one before them.
            match last.filter(|(_, last)| last.uuid.as_ref() == Some(parent)) {
                Some((last, _)) if !has_replaced => Some(last),
                _ => at.get(parent).copied(),
            }
        });
        let parents = parents.collect();
        let mut tree = Self {
            nodes,
            at,
            has_replaced,
            parents,
        };
        if tree.has_links() && nodes.iter().any(|node| node.is_unlinked) {
            tree.link_by_order();
        }
        tree
    }

    fn has_links(&self) -> bool {
        self.parents.iter().any(Option::is_some)
    }

    /// In a file where some records tell their parents, those that speak of
    /// none at all follow the record before them: an older version wrote them.
    fn link_by_order(&mut self) {
        let (mut main, mut side) = (None, None);
        for (index, node) in self.nodes.iter().enumerate() {
            if self.is_replaced(index) {
                continue;
            }
            let last = if node.is_sidechain {
                &mut side
            } else {
                &mut main
            };
            let before = last.replace(index);
            if let Some(parent) = self.parents.get_mut(index).filter(|_| node.is_unlinked) {
                *parent = before;
            }
        }
    }

    fn node(&self, index: usize) -> Option<&'a Node> {
        self.nodes.get(index)
    }

    fn find(&self, uuid: &Id) -> Option<usize> {
        self.at.get(uuid).copied()
    }

    fn parent(&self, index: usize) -> Option<usize> {
        self.parents.get(index).copied().flatten()
    }

    /// Whether a later record took this one's place.
    fn is_replaced(&self, index: usize) -> bool {
        let last = || self.find(self.node(index)?.uuid.as_ref()?);
        self.has_replaced && last().is_some_and(|last| last != index)
    }

    /// What each record is a child of. A boundary counts as a child of the
    /// record it goes on from, or of the one before it.
    fn ups(&self) -> Vec<Option<usize>> {
        let up = |(index, node): (usize, &Node)| {
            let logical = || {
                let told = node.boundary.as_ref()?.logical_parent.as_ref();
                told.and_then(|uuid| self.find(uuid))
                    .or(index.checked_sub(1))
            };
            let parent = self.parent(index).or_else(logical);
            parent.filter(|parent| *parent != index)
        };
        self.nodes.iter().enumerate().map(up).collect()
    }

    /// The end of the conversation: the newest leaf under the marked record,
    /// or of the whole file without one. What another agent did beside the
    /// conversation is no end of it while there is another.
    fn leaf(&self, marker: Option<&Id>) -> Option<usize> {
        let ups = self.ups();
        let under = match marker.and_then(|uuid| self.find(uuid)) {
            Some(top) => under(&ups, top),
            None => (0..self.nodes.len()).collect(),
        };
        let counts = |index: usize, main_only: bool| {
            self.node(index)
                .is_some_and(|node| !(node.is_progress || main_only && node.is_sidechain))
                && !self.is_replaced(index)
        };
        let newest = |main_only: bool| {
            let mut goes_on = Marks::new(self.nodes.len());
            for (index, up) in ups.iter().enumerate() {
                if let Some(up) = up.filter(|_| counts(index, main_only)) {
                    goes_on.set(up);
                }
            }
            let mut back = under.iter().rev().copied();
            back.find(|index| counts(*index, main_only) && !goes_on.has(*index))
        };
        // In a ring nothing is the end: there the last record is.
        let any = || {
            under
                .iter()
                .rev()
                .copied()
                .find(|index| counts(*index, false))
        };
        newest(true).or_else(|| newest(false)).or_else(any)
    }

    /// What a boundary preserved, as records in their order. Every step takes
    /// one of `steps`: segments that overlap without end are no tool's work.
    fn preserved(&self, boundary: usize, steps: &mut usize) -> Vec<usize> {
        let boundary = self.node(boundary).and_then(|node| node.boundary.as_ref());
        match boundary.map(|boundary| &boundary.preserved.messages) {
            None => Vec::new(),
            Some(Messages::Listed(uuids)) => {
                uuids.iter().filter_map(|uuid| self.find(uuid)).collect()
            }
            Some(Messages::Segment { head, tail }) => {
                let Some(head) = self.find(head) else {
                    return Vec::new();
                };
                let mut segment = Vec::new();
                let mut seen = HashSet::new();
                let mut at = self.find(tail);
                while let Some(index) = at.filter(|index| seen.insert(*index)) {
                    let Some(left) = steps.checked_sub(1) else {
                        break;
                    };
                    *steps = left;
                    segment.push(index);
                    if index == head {
                        segment.reverse();
                        return segment;
                    }
                    at = self.parent(index);
                }
                Vec::new()
            }
        }
    }

    /// For every record that a compaction after it preserved, the places of
    /// those compactions.
    fn preserved_by(&self) -> HashMap<usize, Vec<usize>> {
        let mut by: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut steps = self.nodes.len();
        for boundary in 0..self.nodes.len() {
            for index in self.preserved(boundary, &mut steps) {
                if index < boundary {
                    by.entry(index).or_default().push(boundary);
                }
            }
        }
        by
    }

    /// The way up from a leaf, oldest first, and the boundary that it ends at.
    /// Where a parent is lost in a damaged line, it goes on at the record
    /// before.
    fn way_up(&self, leaf: usize, is_damaged: bool) -> (Vec<usize>, Option<usize>) {
        let preserved_by = self.preserved_by();
        let mut way = Vec::new();
        let mut seen = Marks::new(self.nodes.len());
        let mut at = Some(leaf);
        let mut end = None;
        while let Some(index) = at.filter(|index| seen.set(*index)) {
            let Some(node) = self.node(index) else { break };
            if let Some(child) = way.last() {
                let boundaries = preserved_by.get(&index).map_or(&[][..], Vec::as_slice);
                let before = boundaries.partition_point(|boundary| boundary < child);
                if let Some(boundary) = before.checked_sub(1).and_then(|at| boundaries.get(at)) {
                    end = Some(*boundary);
                    break;
                }
            }
            way.push(index);
            if node.boundary.is_some() {
                end = Some(index);
                break;
            }
            let is_lost = node.parent.is_some() && self.parent(index).is_none();
            at = match self.parent(index) {
                None if is_lost && is_damaged => index.checked_sub(1),
                parent => parent,
            };
        }
        way.reverse();
        (way, end)
    }

    /// Puts what the compaction left in front: its summary, then what it
    /// preserved, unless they are on the way already.
    fn spliced(&self, way: Vec<usize>, boundary: Option<usize>) -> Vec<usize> {
        let Some(boundary) = boundary else { return way };
        let on_way: HashSet<usize> = way.iter().copied().collect();
        let is_summary = |index: usize| self.node(index).is_some_and(|node| node.is_summary);
        let summary = way.iter().copied().find(|index| is_summary(*index));
        let summary = summary.or_else(|| {
            (0..self.nodes.len())
                .find(|index| is_summary(*index) && self.parent(*index) == Some(boundary))
        });
        let mut kept = self.preserved(boundary, &mut self.nodes.len());
        kept.retain(|index| !on_way.contains(index));
        let is_before = self
            .node(boundary)
            .and_then(|node| node.boundary.as_ref())
            .is_some_and(|boundary| boundary.preserved.is_before);
        let mut all = Vec::with_capacity(way.len() + kept.len() + 1);
        if is_before {
            all.append(&mut kept);
        }
        all.extend(summary);
        all.append(&mut kept);
        all.extend(way.into_iter().filter(|index| Some(*index) != summary));
        all
    }

    /// Adds the parts of a message that tools which ran side by side left off
    /// the way: each behind the last part that is on it. What stands before
    /// the compaction was replaced by it.
    fn with_parallel_parts(&self, way: Vec<usize>, boundary: Option<usize>) -> Vec<usize> {
        let id = |index: usize| self.node(index)?.message_id.as_ref();
        let mut last = Places::default();
        for index in &way {
            if let Some(id) = id(*index) {
                last.insert(id, *index);
            }
        }
        let mut taken = Marks::new(self.nodes.len());
        let mut count = way.len();
        for index in &way {
            taken.set(*index);
        }
        let mut beside: HashMap<usize, Vec<usize>> = HashMap::new();
        for index in boundary.unwrap_or(0)..self.nodes.len() {
            let Some(anchor) = id(index).and_then(|id| last.get(id)) else {
                continue;
            };
            let is_part = self
                .parent(index)
                .is_some_and(|parent| taken.has(parent) && id(parent) == id(index));
            if is_part && !self.is_replaced(index) && taken.set(index) {
                count += 1;
                beside.entry(*anchor).or_default().push(index);
            }
        }
        let mut all = Vec::with_capacity(count);
        for index in way {
            all.push(index);
            all.extend(beside.remove(&index).unwrap_or_default());
        }
        all
    }

    /// The records in the order of the file, from the last compaction on.
    fn in_file_order(&self) -> (Vec<usize>, Option<usize>) {
        let is_boundary = |index: &usize| {
            self.node(*index)
                .is_some_and(|node| node.boundary.is_some())
        };
        let boundary = (0..self.nodes.len()).rev().find(is_boundary);
        let has_main = self.nodes.iter().any(|node| !node.is_sidechain);
        let all = boundary.unwrap_or(0)..self.nodes.len();
        let is_main =
            |index: &usize| !has_main || self.node(*index).is_some_and(|node| !node.is_sidechain);
        (all.filter(is_main).collect(), boundary)
    }
}

/// A record and all that are below it, in the order of the file.
fn under(ups: &[Option<usize>], top: usize) -> Vec<usize> {
    let mut known = vec![None; ups.len()];
    if let Some(place) = known.get_mut(top) {
        *place = Some(true);
    }
    let mut way = Vec::new();
    for index in 0..ups.len() {
        let mut at = Some(index);
        let mut is_under = false;
        while let Some(index) = at {
            match known.get_mut(index) {
                Some(place @ None) => *place = Some(false),
                Some(Some(told)) => {
                    // In a ring it is what this way began with.
                    is_under = *told;
                    break;
                }
                None => break,
            }
            way.push(index);
            at = ups.get(index).copied().flatten();
        }
        for index in way.drain(..).filter(|_| is_under) {
            if let Some(place) = known.get_mut(index) {
                *place = Some(true);
            }
        }
    }
    let is_under = |index: &usize| known.get(*index).is_some_and(|known| *known == Some(true));
    (0..ups.len()).filter(is_under).collect()
}

/// Marks at places of records.
struct Marks(Vec<bool>);

impl Marks {
    fn new(places: usize) -> Self {
        Self(vec![false; places])
    }

    /// Sets a mark; `false` when it was set already.
    fn set(&mut self, at: usize) -> bool {
        let place = self.0.get_mut(at);
        place.is_some_and(|place| !std::mem::replace(place, true))
    }

    fn has(&self, at: usize) -> bool {
        self.0.get(at) == Some(&true)
    }
}

/// The conversation that would go on now.
#[derive(Debug, Default)]
pub(super) struct Current {
    /// The places of its records, oldest first.
    pub(super) order: Vec<usize>,
    /// Whether it begins at a compaction.
    pub(super) is_cut: bool,
}

/// Finds the conversation in a file's records, at the marked one where there
/// is a marker.
pub(super) fn current(nodes: &[Node], marker: Option<&Id>, is_damaged: bool) -> Current {
    let tree = Tree::new(nodes);
    let (way, boundary) = if !tree.has_links() {
        tree.in_file_order()
    } else if let Some(leaf) = tree.leaf(marker) {
        tree.way_up(leaf, is_damaged)
    } else {
        return Current::default();
    };
    Current {
        order: tree.with_parallel_parts(tree.spliced(way, boundary), boundary),
        is_cut: boundary.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_a_record_are_all_that_lead_up_to_it() {
        let ups = [None, Some(0), Some(1), Some(4), Some(3), Some(6), Some(2)];
        assert_eq!(under(&ups, 1), [1, 2, 5, 6]);
        assert_eq!(under(&ups, 0), [0, 1, 2, 5, 6]);
        assert_eq!(under(&ups, 5), [5]);
        // Two that are each other's parents.
        assert_eq!(under(&ups, 3), [3, 4]);
    }

    #[test]
    fn a_parent_that_was_written_again_is_the_later_record() {
        let node = |uuid: &str, parent: Option<&str>| Node {
            uuid: Some(Id::of(uuid)),
            parent: parent.map(Id::of),
            ..Node::default()
        };
        let nodes = [node("a", None), node("b", Some("a")), node("c", Some("b"))];
        assert_eq!(Tree::new(&nodes).parents, [None, Some(0), Some(1)]);
        let nodes = [node("a", None), node("b", Some("a")), node("a", None)];
        assert_eq!(Tree::new(&nodes).parents, [None, Some(2), None]);
    }
}
