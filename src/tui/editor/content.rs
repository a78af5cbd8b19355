//! The text of the editor with its elements: the one place that keeps byte offsets.
//!
//! An element stands in the text as one [`PLACEHOLDER`], and its offset is listed beside the text. A placeholder that is not
//! listed is an ordinary character that someone typed, so no text can make itself an element. The same type is the
//! buffer, a killed piece of it and a piece kept for undo: whatever is cut and put back keeps its elements.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

use super::cells::is_plain_wide;
use crate::chat::draft::{Draft, Element, Part};
use crate::sanitize;
use crate::tui::human::human_count;
use crate::tui::wrap::columns;

/// Stands for an element in the text.
const PLACEHOLDER: &str = "\u{fffc}";

/// An element with what the screen needs of it, worked out once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) element: Element,
    /// Safe to show.
    pub(super) shown: String,
    /// The width of `shown` in columns.
    pub(super) width: usize,
}

impl Placed {
    fn new(element: Element) -> Self {
        let shown = match &element {
            Element::Mention { label, .. } => format!("@{}", sanitize::line(label)),
            Element::Paste { text } => {
                format!("[pasted {} chars]", human_count(text.chars().count()))
            }
        };
        Self {
            width: columns(&shown),
            element,
            shown,
        }
    }
}

/// Line breaks as `\n`, whatever the source calls them.
pub(super) fn with_plain_breaks(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Text with elements. Offsets are bytes of `text`; both lists are in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    text: String,
    elements: Vec<(usize, Arc<Placed>)>,
    /// Where an `@` or a `/` stands that came by paste: it never starts a mention or a command.
    pasted_signs: Vec<usize>,
}

impl Content {
    /// Text alone.
    pub(super) fn typed(text: &str) -> Self {
        Self {
            text: with_plain_breaks(text).into_owned(),
            ..Self::default()
        }
    }

    /// Text that came by paste.
    pub(super) fn pasted(text: &str) -> Self {
        let text = with_plain_breaks(text).into_owned();
        let pasted_signs = memchr::memchr2_iter(b'@', b'/', text.as_bytes()).collect();
        Self {
            text,
            pasted_signs,
            ..Self::default()
        }
    }

    /// One element alone.
    pub(super) fn element(element: Element) -> Self {
        Self {
            text: PLACEHOLDER.to_owned(),
            elements: vec![(0, Arc::new(Placed::new(element)))],
            pasted_signs: Vec::new(),
        }
    }

    /// The content of a draft.
    pub(super) fn of_draft(draft: Draft) -> Self {
        let mut content = Self::default();
        for part in draft.parts {
            content.append(match part {
                Part::Text(text) => Self::typed(&text),
                Part::Element(element) => Self::element(element),
            });
        }
        content
    }

    /// The content as a draft.
    pub(super) fn to_draft(&self) -> Draft {
        let mut parts = Vec::new();
        let mut from = 0;
        for (at, placed) in &self.elements {
            parts.push(Part::Text(self.slice(from..*at).to_owned()));
            parts.push(Part::Element(placed.element.clone()));
            from = at + PLACEHOLDER.len();
        }
        parts.push(Part::Text(self.slice(from..self.len()).to_owned()));
        parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        Draft { parts }
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text with a placeholder for each element.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A part of the text. Offsets come from this module, so the range is always good; a bad one gives nothing.
    pub(super) fn slice(&self, range: Range<usize>) -> &str {
        debug_assert!(
            self.text.get(range.clone()).is_some(),
            "{range:?} of {}",
            self.len()
        );
        self.text.get(range).unwrap_or_default()
    }

    pub(super) fn elements(&self) -> &[(usize, Arc<Placed>)] {
        &self.elements
    }

    /// The element that begins at this offset.
    pub(super) fn element_at(&self, at: usize) -> Option<&Arc<Placed>> {
        let index = self
            .elements
            .binary_search_by_key(&at, |(at, _)| *at)
            .ok()?;
        self.elements.get(index).map(|(_, placed)| placed)
    }

    /// Where the element begins that ends at this offset.
    pub(super) fn element_before(&self, at: usize) -> Option<usize> {
        let start = at.checked_sub(PLACEHOLDER.len())?;
        self.element_at(start).map(|_| start)
    }

    pub(super) fn is_pasted_at(&self, at: usize) -> bool {
        self.pasted_signs.binary_search(&at).is_ok()
    }

    /// A copy of a part, with its elements.
    pub(super) fn copy(&self, range: Range<usize>) -> Self {
        let elements = covered(&self.elements, &range, |(at, _)| *at);
        let pasted_signs = covered(&self.pasted_signs, &range, |at| *at);
        let elements = self.elements.get(elements).unwrap_or_default();
        let pasted_signs = self.pasted_signs.get(pasted_signs).unwrap_or_default();
        Self {
            text: self.slice(range.clone()).to_owned(),
            elements: elements
                .iter()
                .map(|(at, placed)| (at - range.start, Arc::clone(placed)))
                .collect(),
            pasted_signs: pasted_signs.iter().map(|at| at - range.start).collect(),
        }
    }

    /// Puts `new` in place of a part, and returns that part.
    pub(super) fn splice(&mut self, range: Range<usize>, new: Self) -> Self {
        let removed = self.copy(range.clone());
        let elements = covered(&self.elements, &range, |(at, _)| *at);
        let pasted_signs = covered(&self.pasted_signs, &range, |at| *at);
        let shifted = |at: usize| at - range.len() + new.text.len();
        for (at, _) in self.elements.iter_mut().skip(elements.end) {
            *at = shifted(*at);
        }
        for at in self.pasted_signs.iter_mut().skip(pasted_signs.end) {
            *at = shifted(*at);
        }
        self.text.replace_range(range.clone(), &new.text);
        self.elements.splice(
            elements,
            new.elements
                .into_iter()
                .map(|(at, placed)| (at + range.start, placed)),
        );
        self.pasted_signs.splice(
            pasted_signs,
            new.pasted_signs.into_iter().map(|at| at + range.start),
        );
        removed
    }

    /// Puts `other` behind this content.
    pub(super) fn append(&mut self, other: Self) {
        self.splice(self.len()..self.len(), other);
    }

    /// Where the text around an offset begins and ends: the elements beside it bound it. Clusters never reach over an
    /// element, so a combining mark behind one stays text of its own.
    fn run(&self, at: usize) -> Range<usize> {
        let next = self.elements.partition_point(|(start, _)| *start < at);
        let start = next
            .checked_sub(1)
            .and_then(|index| self.elements.get(index));
        let end = self.elements.get(next);
        start.map_or(0, |(at, _)| at + PLACEHOLDER.len())..end.map_or(self.len(), |(at, _)| *at)
    }

    /// The end of the grapheme cluster or element that begins at a boundary.
    pub(super) fn next(&self, at: usize) -> usize {
        if self.element_at(at).is_some() {
            return at + PLACEHOLDER.len();
        }
        let rest = self.slice(at..self.len());
        // Two ASCII characters never form a cluster, but for `\r\n`, and there is no `\r`.
        if let [first, second, ..] = rest.as_bytes()
            && first.is_ascii()
            && second.is_ascii()
        {
            return at + 1;
        }
        let mut chars = rest.chars();
        match (chars.next(), chars.next()) {
            (None, _) => at,
            (Some(first), Some(second)) if is_plain_wide(first) && is_plain_wide(second) => {
                at + first.len_utf8()
            }
            _ => {
                let cluster = self.slice(at..self.run(at).end).graphemes(true).next();
                at + cluster.map_or(0, str::len)
            }
        }
    }

    /// The beginning of the grapheme cluster or element that ends at a boundary.
    pub(super) fn prev(&self, at: usize) -> usize {
        if let Some(start) = self.element_before(at) {
            return start;
        }
        match self.text.as_bytes().get(..at) {
            None | Some([]) => 0,
            Some([.., first, second]) if first.is_ascii() && second.is_ascii() => at - 1,
            _ => {
                let run = self.run(at);
                let text = self.slice(run.clone());
                let mut cursor = GraphemeCursor::new(at - run.start, text.len(), true);
                run.start + cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0)
            }
        }
    }

    /// The nearest boundary at or after an offset, which may be any number.
    pub(super) fn boundary_from(&self, at: usize) -> usize {
        let mut at = at.min(self.len());
        while !self.text.is_char_boundary(at) {
            at += 1;
        }
        let run = self.run(at);
        let text = self.slice(run.clone());
        let mut cursor = GraphemeCursor::new(at - run.start, text.len(), true);
        if cursor.is_boundary(text, 0).unwrap_or(true) {
            return at;
        }
        run.start
            + cursor
                .next_boundary(text, 0)
                .ok()
                .flatten()
                .unwrap_or(text.len())
    }

    /// Where the hard line around an offset begins.
    pub(super) fn line_start(&self, at: usize) -> usize {
        memchr::memrchr(b'\n', self.slice(0..at).as_bytes()).map_or(0, |newline| newline + 1)
    }

    /// Where the hard line around an offset ends, before its newline.
    pub(super) fn line_end(&self, at: usize) -> usize {
        memchr::memchr(b'\n', self.slice(at..self.len()).as_bytes())
            .map_or(self.len(), |length| at + length)
    }
}

/// The indices of the items whose offsets lie in `range`.
fn covered<T>(items: &[T], range: &Range<usize>, offset: impl Fn(&T) -> usize) -> Range<usize> {
    let start = items.partition_point(|item| offset(item) < range.start);
    let end = items.partition_point(|item| offset(item) < range.end);
    start..end.max(start)
}
