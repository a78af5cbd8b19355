//! The pane that shows what would be sent, or a session before it is cited.
//!
//! Owns what is read there and where the reader stands. Preparing the
//! references, keys and the clock are the caller's.

mod frame;
mod reading;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::pager::Pager;
use super::pager::piece::{Kind, Piece};
use super::wrap::Wrap;
use crate::reference::PreparedContext;
use crate::reference::projection::Capture;
use crate::session::Millis;
use crate::text::Text;

pub use frame::{PreviewMode, PreviewPane, SessionPane};

/// What the pane says of a session and can't know from its capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceFacts {
    /// The tool that the session belongs to, such as `ibid`.
    pub tool: String,
    /// When it was captured, in words, such as `14:02:11`.
    pub captured: String,
}

/// The two ways to look at what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The kept conversation of one reference.
    Conversation,
    /// The whole text of the context message, as the model gets it.
    Exact,
}

/// The preview of a draft's references.
#[derive(Clone, Debug)]
pub enum PreviewState {
    /// The references are being prepared.
    Preparing {
        /// When that began.
        since: Millis,
    },
    /// They are prepared.
    Ready(Box<ReadyPreview>),
    /// They can't be shown.
    Failed {
        /// Why, and what to do.
        message: String,
    },
}

impl PreviewState {
    /// The preview of what was prepared, with the facts of each reference in
    /// the same order.
    #[must_use]
    pub fn ready(context: Arc<PreparedContext>, facts: Vec<ReferenceFacts>) -> Self {
        Self::Ready(Box::new(ReadyPreview::new(context, facts)))
    }

    /// What is prepared; `None` before that, and when it failed.
    pub fn ready_mut(&mut self) -> Option<&mut ReadyPreview> {
        match self {
            Self::Ready(ready) => Some(ready),
            Self::Preparing { .. } | Self::Failed { .. } => None,
        }
    }

    /// The text being read, to scroll and to search.
    pub fn pager_mut(&mut self) -> Option<&mut Pager> {
        self.ready_mut().map(ReadyPreview::pager_mut)
    }

    /// How many references there are; none before they are prepared.
    #[must_use]
    pub fn references(&self) -> usize {
        match self {
            Self::Ready(ready) => ready.context.references.len(),
            Self::Preparing { .. } | Self::Failed { .. } => 0,
        }
    }

    /// Switches between the conversation and the exact text.
    pub fn switch_view(&mut self) {
        if let Some(ready) = self.ready_mut() {
            ready.switch_view();
        }
    }

    /// Goes to the next reference, and from the last to the first.
    pub fn next_reference(&mut self) {
        self.turn(1);
    }

    /// Goes to the reference before, and from the first to the last.
    pub fn previous_reference(&mut self) {
        self.turn(-1);
    }

    fn turn(&mut self, by: isize) {
        if let Some(ready) = self.ready_mut() {
            ready.turn(by);
        }
    }
}

/// Prepared references and where the reader stands in each.
#[derive(Clone, Debug)]
pub struct ReadyPreview {
    context: Arc<PreparedContext>,
    facts: Vec<ReferenceFacts>,
    note: Option<String>,
    view: View,
    reference: usize,
    /// One for each reference, made when it is first looked at.
    conversations: Vec<Option<Document>>,
    exact: Document,
    /// The text in `exact`.
    exact_text: Text,
}

impl ReadyPreview {
    fn new(context: Arc<PreparedContext>, facts: Vec<ReferenceFacts>) -> Self {
        let exact_text: Text = context.message.text().into();
        let mut ready = Self {
            conversations: vec![None; context.references.len()],
            exact: Document::new(
                Vec::new(),
                Pager::new(Wrap::Hard, false).with(reading::exact(&exact_text)),
            ),
            exact_text,
            context,
            facts,
            note: None,
            view: View::Conversation,
            reference: 0,
        };
        ready.make_conversation();
        ready
    }

    /// The context that is shown.
    #[must_use]
    pub fn context(&self) -> &Arc<PreparedContext> {
        &self.context
    }

    /// Says something above the text, such as what changed since it
    /// was shown before.
    pub fn set_note(&mut self, note: Option<String>) {
        self.note = note;
    }

    /// The text being read, to scroll and to search.
    pub fn pager_mut(&mut self) -> &mut Pager {
        &mut self.document_mut().pager
    }

    /// Whether a search is being typed.
    #[must_use]
    pub fn is_search_open(&self) -> bool {
        self.document().pager.is_search_open()
    }

    fn document(&self) -> &Document {
        match self.view {
            View::Exact => &self.exact,
            View::Conversation => match self.conversations.get(self.reference) {
                Some(Some(document)) => document,
                _ => &self.exact,
            },
        }
    }

    fn document_mut(&mut self) -> &mut Document {
        match self.view {
            View::Exact => &mut self.exact,
            View::Conversation => match self.conversations.get_mut(self.reference) {
                Some(Some(document)) => document,
                // Without references there is only the text.
                _ => &mut self.exact,
            },
        }
    }

    fn switch_view(&mut self) {
        let query = self.pager_mut().query().to_owned();
        self.view = match self.view {
            View::Conversation => View::Exact,
            View::Exact => View::Conversation,
        };
        self.make_conversation();
        self.carry(&query);
    }

    fn turn(&mut self, by: isize) {
        let count = self.context.references.len();
        if count < 2 {
            return;
        }
        let query = self.pager_mut().query().to_owned();
        self.reference = match self.reference.checked_add_signed(by) {
            Some(place) if place < count => place,
            Some(_) => 0,
            None => count - 1,
        };
        self.make_conversation();
        self.carry(&query);
        if self.view == View::Exact
            && let Some(at) = self.exact_place()
        {
            self.exact.pager.go_to_byte(at);
        }
    }

    /// Where the data of the chosen reference begins in the exact text.
    fn exact_place(&self) -> Option<usize> {
        let mut at = 0;
        let mut start = None;
        for prepared in self.context.references.get(..=self.reference)? {
            let json = &prepared.retained.json;
            let found = at + self.exact_text.get(at..)?.find(json.as_str())?;
            start = Some(found);
            at = found + json.len();
        }
        start
    }

    /// Takes the query along to another text.
    fn carry(&mut self, query: &str) {
        let pager = self.pager_mut();
        if pager.query() != query {
            pager.set_query(query);
        }
    }

    fn make_conversation(&mut self) {
        let (Some(slot), Some(prepared)) = (
            self.conversations.get_mut(self.reference),
            self.context.references.get(self.reference),
        ) else {
            return;
        };
        if slot.is_none() {
            let unknown = ReferenceFacts::default();
            let facts = self.facts.get(self.reference).unwrap_or(&unknown);
            *slot = Some(Document::new(
                reading::reference_facts(prepared, facts),
                Pager::new(Wrap::Words, false).with(reading::kept_conversation(prepared)),
            ));
        }
    }
}

/// A session's conversation, read before it is cited.
#[derive(Clone, Debug)]
pub struct SessionPreview {
    document: Document,
}

/// What is said where a message was found that can't be cited any more.
const EARLIER: &str = "what was found is not cited: a summary or a later message took its place";

impl SessionPreview {
    /// The preview of a capture. Only what is looked at is laid out, so that
    /// a session of any length opens at once.
    #[must_use]
    pub fn new(capture: &Capture, label: &str, facts: &ReferenceFacts) -> Self {
        Self {
            document: Document::new(
                reading::session_facts(capture, label, facts),
                Pager::new(Wrap::Words, false).with(reading::whole_conversation(capture)),
            ),
        }
    }

    /// Goes to a message, counted from 0, and to the first place from there on
    /// where this text is.
    pub fn show_message(&mut self, message: usize, text: &str) {
        let pager = &mut self.document.pager;
        pager.go_to_message(message);
        pager.search_for(text);
    }

    /// Says that the message which was found is no part of what is shown.
    pub fn say_earlier(&mut self) {
        let said = Piece::own(Kind::Cut, EARLIER);
        self.document.facts.push(said.clone());
        self.document.head.extend([said]);
    }

    /// The text being read, to scroll and to search.
    pub fn pager_mut(&mut self) -> &mut Pager {
        &mut self.document.pager
    }

    /// Whether a search is being typed.
    #[must_use]
    pub fn is_search_open(&self) -> bool {
        self.document.pager.is_search_open()
    }
}

/// A text with its facts, which stand above it where there is room and begin
/// it where there is not.
#[derive(Clone, Debug)]
struct Document {
    facts: Vec<Piece>,
    /// The facts once more, as they stand above the text.
    head: Pager,
    pager: Pager,
    facts_inside: bool,
}

impl Document {
    fn new(facts: Vec<Piece>, pager: Pager) -> Self {
        Self {
            head: Pager::new(Wrap::Words, false).with(facts.clone()),
            facts,
            pager,
            facts_inside: false,
        }
    }

    /// Moves the facts into the text or out of it.
    fn put_facts_inside(&mut self, inside: bool) {
        if self.facts_inside == inside || self.facts.is_empty() {
            return;
        }
        self.facts_inside = inside;
        if inside {
            let mut facts = self.facts.clone();
            facts.push(Piece::own(Kind::Fact, ""));
            self.pager.replace_head(0, facts);
        } else {
            self.pager.replace_head(self.facts.len() + 1, Vec::new());
        }
    }
}
