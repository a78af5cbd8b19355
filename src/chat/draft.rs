//! A message before it is sent, as a plain value: it survives a crash, a
//! failed preparation and a failed send.

use serde::{Deserialize, Serialize};

use crate::reference::mention::{self, Piece};
use crate::reference::{Reference, ReferenceError};
use crate::session::{Block, Message, Role, Seq, Session, SessionId, Source};

/// Something in the text that is one piece: moved over, deleted, copied and
/// undone as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Element {
    /// A cited session, drawn as `@label`.
    Mention {
        /// Whom the mention means, whatever its label says.
        session_id: SessionId,
        /// What the person picked it by.
        label: String,
    },
    /// A long paste, drawn as `[pasted 4,211 chars]` and sent whole.
    Paste {
        /// The text that was pasted.
        text: String,
    },
}

impl From<Reference> for Element {
    fn from(reference: Reference) -> Self {
        Self::Mention {
            session_id: reference.session_id,
            label: reference.label,
        }
    }
}

/// A piece of a [`Draft`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Part {
    /// Text as typed.
    Text(String),
    /// A mention or a paste.
    Element(Element),
}

/// Text and elements in order. As JSON it is a list of strings and element
/// objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Draft {
    /// The pieces, from first to last.
    pub parts: Vec<Part>,
}

impl Draft {
    /// A draft of text alone; an empty text gives an empty draft.
    #[must_use]
    pub fn from_text(text: impl Into<String>) -> Self {
        let text = text.into();
        let parts = if text.is_empty() {
            Vec::new()
        } else {
            vec![Part::Text(text)]
        };
        Self { parts }
    }

    /// The draft of a text in which mentions stand in their Markdown form.
    ///
    /// # Errors
    /// `INVALID_REFERENCE` for a mention that is not canonical.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        let parts = mention::pieces(text)?
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => Part::Text(text.to_owned()),
                Piece::Mention(reference) => Part::Element(reference.into()),
            })
            .collect();
        Ok(Self { parts })
    }

    /// Whether there is nothing to send: no element, and no text but white
    /// space.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.parts
            .iter()
            .all(|part| matches!(part, Part::Text(text) if text.trim().is_empty()))
    }

    /// The elements, from first to last.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Element(element) => Some(element),
        })
    }

    /// The draft as text, each mention in its canonical Markdown form.
    #[must_use]
    pub fn to_text(&self) -> String {
        self.texts().collect()
    }

    /// The draft as a message, a block for each piece. Mentions are parsed
    /// block by block, so that nothing typed around a picked mention can
    /// change whom it means; [`joined`] makes one text of them again.
    #[must_use]
    pub fn message(&self) -> Message {
        let content = self.texts().map(Block::text).collect();
        Message::new(Role::User, Source::person(), content)
    }

    /// The draft as people read it, each mention by its label.
    #[must_use]
    pub fn readable(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) | Part::Element(Element::Paste { text }) => text.clone(),
            Part::Element(Element::Mention { label, .. }) => format!("@{label}"),
        });
        parts.collect()
    }

    fn texts(&self) -> impl Iterator<Item = String> {
        self.parts.iter().map(|part| match part {
            Part::Text(text) | Part::Element(Element::Paste { text }) => text.clone(),
            Part::Element(Element::Mention { session_id, label }) => {
                mention::format(&Reference::new(session_id.clone(), Some(label.clone())))
            }
        })
    }

    /// This draft followed by another on a line of its own.
    #[must_use]
    pub fn followed_by(mut self, other: Self) -> Self {
        if other.is_blank() {
            return self;
        }
        if !self.is_blank() {
            self.parts.push(Part::Text("\n".to_owned()));
        }
        self.parts.extend(other.parts);
        self
    }
}

/// What is kept of a session's drafts in case the program ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptDraft {
    /// The draft that left the composer and may not have reached the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub departed: Option<Departed>,
    /// What stands in the composer.
    pub typed: Draft,
    /// The message that it takes the place of when it is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revises: Option<Seq>,
}

/// A draft on its way to the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Departed {
    /// The id of its message.
    pub message_id: String,
    /// The draft.
    pub draft: Draft,
}

impl KeptDraft {
    /// Whether there is nothing to keep.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.departed.is_none() && self.typed.is_blank()
    }

    /// What to go on with in a session: a draft that departed comes back only
    /// when its message is not in the log.
    #[must_use]
    pub fn left_in(self, session: &Session) -> Self {
        let is_logged = |departed: &Departed| {
            let mut messages = session.events().iter().rev().filter_map(|e| e.message());
            messages.any(|message| message.id == departed.message_id)
        };
        let typed = match self.departed {
            Some(departed) if !is_logged(&departed) => departed.draft.followed_by(self.typed),
            _ => self.typed,
        };
        Self {
            departed: None,
            typed,
            revises: self.revises,
        }
    }
}

impl From<Draft> for KeptDraft {
    /// A draft that was only typed so far.
    fn from(typed: Draft) -> Self {
        Self {
            departed: None,
            typed,
            revises: None,
        }
    }
}

/// The message with its text in one block: the texts of a draft's pieces
/// follow each other with nothing between.
#[must_use]
pub fn joined(message: &Message) -> Message {
    let text: String = message.content.iter().filter_map(Block::as_text).collect();
    Message {
        content: vec![Block::text(text)],
        ..message.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mention(id: &str, label: &str) -> Part {
        Part::Element(Reference::new(id, Some(label.to_owned())).into())
    }

    #[test]
    fn a_draft_reads_back_from_its_text() {
        let draft = Draft {
            parts: vec![
                Part::Text("compare ".to_owned()),
                mention("a", "the ] fix"),
                Part::Text(" and more".to_owned()),
            ],
        };
        assert_eq!(Draft::parse(&draft.to_text()).unwrap(), draft);
    }

    #[test]
    fn a_draft_reads_back_from_json() {
        let draft = Draft {
            parts: vec![
                Part::Text("see ".to_owned()),
                mention("a\n", "label"),
                Part::Element(Element::Paste {
                    text: "long".to_owned(),
                }),
            ],
        };
        let json = serde_json::to_string(&draft).unwrap();
        assert_eq!(serde_json::from_str::<Draft>(&json).unwrap(), draft);
    }

    #[test]
    fn text_around_a_mention_stays_in_blocks_of_its_own() {
        let draft = Draft {
            parts: vec![
                Part::Text("@[a](dsh-session:IiI".to_owned()),
                mention("b", "b"),
            ],
        };
        let message = draft.message();
        assert_eq!(message.content.len(), 2);
        assert_eq!(joined(&message).text(), draft.to_text());
    }

    #[test]
    fn a_restored_draft_stands_before_what_was_typed_since() {
        let typed = Draft::from_text("later");
        let whole = Draft::from_text("earlier").followed_by(typed);
        assert_eq!(whole.to_text(), "earlier\nlater");
        let alone = Draft::from_text("earlier").followed_by(Draft::default());
        assert_eq!(alone, Draft::from_text("earlier"));
    }
}
