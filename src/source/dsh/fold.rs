//! What stands on the surface of a log, in order.
//!
//! A linked list: an append or a replacement costs time in proportion to what
//! it adds and removes. More lenient than our own surface, since a damaged log
//! of another tool is read as far as it goes.

use std::collections::HashMap;

/// The surface, with one `T` for each event on it.
pub(super) struct Fold<T> {
    nodes: Vec<Node<T>>,
    /// Where the events that stand on the surface are. Most logs replace
    /// nothing and never ask.
    by_seq: Option<HashMap<u64, usize>>,
    first: Option<usize>,
    last: Option<usize>,
}

struct Node<T> {
    seq: u64,
    previous: Option<usize>,
    next: Option<usize>,
    value: T,
}

impl<T: Default> Fold<T> {
    pub(super) fn new() -> Self {
        Self {
            nodes: Vec::new(),
            by_seq: None,
            first: None,
            last: None,
        }
    }

    /// Puts an event at the end.
    pub(super) fn append(&mut self, seq: u64, value: T) {
        self.link(seq, self.last, None, value);
    }

    /// Puts an event in place of all that stands from `start` to `end`: places
    /// on the surface, whichever seq is the higher. When one of them is not
    /// there, what it was made from goes instead.
    ///
    /// Says whether all that it names was there; it is on the surface anyway.
    pub(super) fn replace(
        &mut self,
        seq: u64,
        (start, end): (u64, u64),
        sources: &[u64],
        value: T,
    ) -> bool {
        if let (Some(start), Some(end)) = (self.find(start), self.find(end)) {
            let (from, to) = self.in_order(start, end);
            let before = self.nodes.get(from).and_then(|node| node.previous);
            let mut at = Some(from);
            while let Some(i) = at {
                at = if i == to { None } else { self.next(i) };
                self.unlink(i);
            }
            let after = before.map_or(self.first, |i| self.next(i));
            self.link(seq, before, after, value);
            return true;
        }
        let mut place = None;
        for source in [start, end].iter().chain(sources) {
            if let Some(i) = self.find(*source) {
                // The place of one that is removed later moves to what stands
                // before it.
                if place.is_none() || place == Some(Some(i)) {
                    place = Some(self.nodes.get(i).and_then(|node| node.previous));
                }
                self.unlink(i);
            }
        }
        let before = place.unwrap_or(self.last);
        let after = before.map_or(self.first, |i| self.next(i));
        self.link(seq, before, after, value);
        false
    }

    /// What stands on the surface now, in order.
    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        let first = self.first.and_then(|i| self.nodes.get(i));
        let nodes = std::iter::successors(first, |node| self.nodes.get(node.next?));
        nodes.map(|node| &node.value)
    }

    /// What stands on the surface, in order.
    pub(super) fn into_values(mut self) -> Vec<T> {
        let mut values = Vec::with_capacity(self.nodes.len());
        let mut at = self.first;
        while let Some(node) = at.and_then(|i| self.nodes.get_mut(i)) {
            values.push(std::mem::take(&mut node.value));
            at = node.next;
        }
        values
    }

    /// Where an event stands. Of two with one seq, as only damage gives, both
    /// stay, and the later one is meant.
    fn find(&mut self, seq: u64) -> Option<usize> {
        let nodes = &self.nodes;
        let by_seq = self.by_seq.get_or_insert_with(|| {
            let places = nodes.iter().enumerate();
            places.map(|(i, node)| (node.seq, i)).collect()
        });
        by_seq.get(&seq).copied()
    }

    fn next(&self, i: usize) -> Option<usize> {
        self.nodes.get(i).and_then(|node| node.next)
    }

    /// Two places in the order they stand in. Walks both ways from the first,
    /// so that it costs no more than what lies between.
    fn in_order(&self, a: usize, b: usize) -> (usize, usize) {
        let (mut forward, mut back) = (Some(a), Some(a));
        loop {
            if forward == Some(b) {
                return (a, b);
            }
            if back == Some(b) || (forward.is_none() && back.is_none()) {
                return (b, a);
            }
            forward = forward.and_then(|i| self.next(i));
            back = back.and_then(|i| self.nodes.get(i)?.previous);
        }
    }

    fn unlink(&mut self, i: usize) {
        let Some(node) = self.nodes.get_mut(i) else {
            return;
        };
        node.value = T::default();
        let (seq, previous, next) = (node.seq, node.previous, node.next);
        if let Some(by_seq) = &mut self.by_seq {
            by_seq.remove(&seq);
        }
        self.join(previous, next);
    }

    fn link(&mut self, seq: u64, before: Option<usize>, after: Option<usize>, value: T) {
        let i = self.nodes.len();
        self.nodes.push(Node {
            seq,
            previous: None,
            next: None,
            value,
        });
        self.join(before, Some(i));
        self.join(Some(i), after);
        if let Some(by_seq) = &mut self.by_seq {
            by_seq.insert(seq, i);
        }
    }

    fn join(&mut self, left: Option<usize>, right: Option<usize>) {
        match left.and_then(|i| self.nodes.get_mut(i)) {
            Some(node) => node.next = right,
            None => self.first = right,
        }
        match right.and_then(|i| self.nodes.get_mut(i)) {
            Some(node) => node.previous = left,
            None => self.last = left,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(text: &str) -> Fold<String> {
        let mut fold = Fold::new();
        for (seq, letter) in (0..).zip(text.chars()) {
            fold.append(seq, letter.to_string());
        }
        fold
    }

    fn text(fold: Fold<String>) -> String {
        fold.into_values().concat()
    }

    #[test]
    fn a_replacement_stands_where_the_range_stood() {
        let mut fold = letters("abcd");
        assert!(fold.replace(9, (1, 2), &[], "X".to_owned()));
        assert_eq!(text(fold), "aXd");
    }

    #[test]
    fn a_range_is_one_of_places_not_of_seqs() {
        let mut fold = letters("abcd");
        fold.replace(9, (0, 1), &[], "X".to_owned());
        assert!(fold.replace(10, (9, 2), &[], "Y".to_owned()));
        assert_eq!(text(fold), "Yd");
    }

    #[test]
    fn the_whole_surface_can_be_replaced_and_appended_to() {
        let mut fold = letters("ab");
        fold.replace(9, (0, 1), &[], "X".to_owned());
        fold.append(10, "c".to_owned());
        assert_eq!(text(fold), "Xc");
    }

    #[test]
    fn without_one_end_what_it_was_made_from_goes() {
        let mut fold = letters("abcd");
        assert!(!fold.replace(9, (7, 2), &[7, 1, 2], "X".to_owned()));
        assert_eq!(text(fold), "aXd");
        let mut fold = letters("abcd");
        assert!(!fold.replace(9, (7, 8), &[0, 1], "X".to_owned()));
        assert_eq!(text(fold), "Xcd");
    }

    #[test]
    fn with_nothing_to_replace_it_goes_to_the_end() {
        let mut fold = letters("ab");
        assert!(!fold.replace(9, (7, 8), &[7, 8], "X".to_owned()));
        assert_eq!(text(fold), "abX");
    }

    #[test]
    fn ends_the_wrong_way_round_are_taken_in_order() {
        let mut fold = letters("abcd");
        assert!(fold.replace(9, (2, 1), &[], "X".to_owned()));
        assert_eq!(text(fold), "aXd");
    }
}
