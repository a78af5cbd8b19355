//! The pane over the conversation: what would be sent, or a session that is
//! looked at before it is cited.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::widgets::StatefulWidget;

use super::find::Needle;
use super::pager::Pager;
use super::preview::{
    PreviewMode, PreviewPane, PreviewState, ReferenceFacts, SessionPane, SessionPreview,
};
use super::theme::Theme;
use crate::reference::PreparedContext;
use crate::reference::projection::Capture;
use crate::session::{Millis, SessionId};

/// What the pane shows.
#[derive(Debug)]
pub enum Pane {
    /// The references of the draft.
    Draft(PreviewState),
    /// One session.
    Session(Look),
}

/// A place in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The message, counted from 0; `None` where it can't be cited any more.
    pub message: Option<usize>,
    /// What to look for from there on: the first that the message has.
    pub texts: Vec<String>,
}

impl Spot {
    /// What to look for in a session.
    fn text_in(&self, capture: &Capture) -> &str {
        let message = self.message.and_then(|at| capture.conversation.get(at));
        let is_there = |text: &&String| {
            let mut is_there = false;
            if let (Some(needle), Some(message)) = (Needle::new(text), message) {
                needle.each_in(&message.text, |_| {
                    is_there = true;
                    false
                });
            }
            is_there
        };
        let text = self.texts.iter().find(is_there).or(self.texts.first());
        text.map_or("", String::as_str)
    }
}

/// A session that is looked at.
#[derive(Debug)]
pub struct Look {
    id: SessionId,
    label: String,
    /// Where to look, once it is read.
    spot: Option<Spot>,
    is_only_to_read: bool,
    read: Read,
}

impl Look {
    /// A session is being read to be looked at, since a moment.
    #[must_use]
    pub fn new(id: SessionId, label: String, since: Millis) -> Self {
        Self {
            id,
            label,
            spot: None,
            is_only_to_read: false,
            read: Read::Not(PreviewState::Preparing { since }),
        }
    }

    /// The same, to be opened at this place.
    #[must_use]
    pub fn at(self, spot: Option<Spot>) -> Self {
        Self { spot, ..self }
    }

    /// The same, of a session that can't be gone on in, or that can.
    #[must_use]
    pub fn only_to_read(self, is_only_to_read: bool) -> Self {
        Self {
            is_only_to_read,
            ..self
        }
    }

    /// Takes what was read.
    fn read(&mut self, outcome: Result<Arc<Capture>, String>, facts: &ReferenceFacts) {
        self.read = match outcome {
            Ok(capture) => {
                let mut preview = SessionPreview::new(&capture, &self.label, facts);
                if let Some(spot) = &self.spot {
                    match spot.message {
                        Some(message) => preview.show_message(message, spot.text_in(&capture)),
                        None => preview.say_earlier(),
                    }
                }
                Read::Done(Box::new(preview))
            }
            Err(message) => Read::Not(PreviewState::Failed { message }),
        };
    }
}

#[derive(Debug)]
enum Read {
    /// Not yet, or in vain.
    Not(PreviewState),
    Done(Box<SessionPreview>),
}

impl Pane {
    /// The references are being prepared since a moment.
    #[must_use]
    pub fn preparing(since: Millis) -> Self {
        Self::Draft(PreviewState::Preparing { since })
    }

    /// The references are ready.
    #[must_use]
    pub fn review(
        context: Arc<PreparedContext>,
        facts: Vec<ReferenceFacts>,
        note: Option<String>,
    ) -> Self {
        let mut state = PreviewState::ready(context, facts);
        if let Some(ready) = state.ready_mut() {
            ready.set_note(note);
        }
        Self::Draft(state)
    }

    /// The session that is looked at, and what a mention of it says.
    #[must_use]
    pub fn looked_at(&self) -> Option<(&SessionId, &str)> {
        match self {
            Self::Session(look) => Some((&look.id, &look.label)),
            Self::Draft(_) => None,
        }
    }

    /// Whether there is a text to read and to search.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        match self {
            Self::Draft(state) => matches!(state, PreviewState::Ready(_)),
            Self::Session(look) => matches!(look.read, Read::Done(_)),
        }
    }

    /// Whether it shows these references already.
    #[must_use]
    pub fn shows(&self, context: &Arc<PreparedContext>) -> bool {
        matches!(self, Self::Draft(PreviewState::Ready(ready))
            if Arc::ptr_eq(ready.context(), context))
    }

    /// Whether a search is being typed.
    #[must_use]
    pub fn is_searching(&self) -> bool {
        match self {
            Self::Draft(PreviewState::Ready(ready)) => ready.is_search_open(),
            Self::Draft(_) => false,
            Self::Session(look) => match &look.read {
                Read::Done(preview) => preview.is_search_open(),
                Read::Not(_) => false,
            },
        }
    }

    /// Whether references are being prepared.
    #[must_use]
    pub fn is_preparing(&self) -> bool {
        matches!(self, Self::Draft(PreviewState::Preparing { .. }))
    }

    /// Takes the session that was read to be looked at.
    pub fn looked(
        &mut self,
        id: &SessionId,
        outcome: Result<Arc<Capture>, String>,
        facts: &ReferenceFacts,
    ) {
        if let Self::Session(look) = self
            && look.id == *id
        {
            look.read(outcome, facts);
        }
    }

    /// The text being read, to scroll and to search.
    pub fn pager(&mut self) -> Option<&mut Pager> {
        match self {
            Self::Draft(state) => state.pager_mut(),
            Self::Session(look) => match &mut look.read {
                Read::Done(preview) => Some(preview.pager_mut()),
                Read::Not(_) => None,
            },
        }
    }

    /// The references of the draft, where those are shown.
    pub fn draft(&mut self) -> Option<&mut PreviewState> {
        match self {
            Self::Draft(state) => Some(state),
            Self::Session(_) => None,
        }
    }

    /// Draws it, and tells where the caret of its search line stands.
    pub fn render(
        &mut self,
        area: Rect,
        buf: &mut Buffer,
        theme: &Theme,
        now: Millis,
    ) -> Option<Position> {
        match self {
            Self::Draft(state) => {
                let mode = PreviewMode::Review;
                PreviewPane { theme, mode, now }.render(area, buf, state);
                state.caret(area)
            }
            Self::Session(look) => match &mut look.read {
                Read::Done(preview) => {
                    let is_only_to_read = look.is_only_to_read;
                    SessionPane {
                        theme,
                        is_only_to_read,
                    }
                    .render(area, buf, preview);
                    preview.caret(area)
                }
                Read::Not(state) => {
                    let mode = PreviewMode::Preview;
                    PreviewPane { theme, mode, now }.render(area, buf, state);
                    None
                }
            },
        }
    }
}
