//! What a message is made of when it goes.

use std::sync::Arc;

use super::draft::joined;
use crate::reference::mention::{self, Piece};
use crate::reference::ports::{ModelRoute, SpillRef};
use crate::reference::{PreparedContext, ReferenceError};
use crate::session::{Block, Message, title};

/// A message with its citations, ready to go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// The message, and each context directly behind the message it is for.
    pub messages: Vec<Arc<Message>>,
    /// The contexts among them.
    pub contexts: Vec<Arc<PreparedContext>>,
    /// The model whose window the contexts were made for; `None` without any.
    pub route: Option<ModelRoute>,
}

impl Step {
    pub(super) fn spills(&self) -> Vec<SpillRef> {
        self.contexts
            .iter()
            .flat_map(|context| context.spills())
            .cloned()
            .collect()
    }

    /// Whether a cited session is not all there, be it cut or damaged.
    pub(super) fn omits(&self) -> bool {
        self.contexts
            .iter()
            .flat_map(|context| &context.references)
            .any(|reference| reference.notice.is_some() || reference.damage.is_some())
    }
}

/// The person's message in one text block; every other one as it is.
pub(super) fn whole(message: &Arc<Message>) -> Arc<Message> {
    if message.source.is_person() {
        Arc::new(joined(message))
    } else {
        Arc::clone(message)
    }
}

/// Whether a message cites anything.
pub(super) fn cites(message: &Message) -> Result<bool, ReferenceError> {
    for text in message.content.iter().filter_map(Block::as_text) {
        let cites = |piece: &Piece<'_>| matches!(piece, Piece::Mention(_));
        if mention::pieces(text)?.iter().any(cites) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A title from the person's own words, with mentions by their labels.
pub(super) fn first_title(step: &Step) -> Option<String> {
    let first = step.messages.first()?;
    Some(title::fallback(&first.text())).filter(|title| !title.is_empty())
}
