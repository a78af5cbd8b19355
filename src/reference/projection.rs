//! What of a session may be cited: the person's words, the model's words, and
//! checkpoints.

use thiserror::Error;

use crate::session::{
    Block, Event, Header, Message, MessageKind, Millis, Payload, Role, Seq, Session,
};
use crate::text::Text;

/// One message of a citable conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// When it was said; 0 where the log or file does not tell.
    pub time: Millis,
    /// Whose words: [`Role::User`] or [`Role::Assistant`].
    pub role: Role,
    /// Whether it is a compaction checkpoint, which is never dropped.
    pub checkpoint: bool,
    /// The text, never empty.
    pub text: Text,
}

/// One atomic observation of a session: all that citing needs of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// The session's header at that moment.
    pub header: Header,
    /// The highest seq in the log, log-only events included; `None` when the
    /// log is empty.
    pub captured_through: Option<Seq>,
    /// The citable part of the surface, in order.
    pub conversation: Vec<Item>,
    /// What of the session could not be read, for the person who cites it. It
    /// is no part of what a model gets.
    pub damage: Option<Damage>,
}

/// A message that a person or a model said in a session, whether or not it can
/// still be cited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The message.
    pub item: Item,
    /// Its place in the citable conversation, counted from 0; `None` for what
    /// another message took the place of: what was summed up, and what was
    /// taken back.
    pub cited: Option<u32>,
}

impl Capture {
    /// What is said in the citable conversation.
    #[must_use]
    pub fn said(self) -> Vec<Said> {
        let items = (0..).zip(self.conversation);
        items
            .map(|(at, item)| Said {
                item,
                cited: Some(at),
            })
            .collect()
    }
}

/// What could not be read of a damaged session.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{first}{}", more(*.problems))]
pub struct Damage {
    /// How many problems there are.
    pub problems: usize,
    /// The first of them, in words.
    pub first: String,
}

fn more(problems: usize) -> String {
    match problems {
        0 | 1 => String::new(),
        _ => format!(" (and {} more)", problems - 1),
    }
}

/// The parts of a message's source that decide whether it may be cited.
#[derive(Clone, Copy, Debug)]
pub struct Provenance {
    /// A person typed it.
    pub is_person: bool,
    /// It is a compaction checkpoint.
    pub is_checkpoint: bool,
}

/// How a message of this kind and provenance is cited: its role, and whether
/// it is a checkpoint; `None` when it is not cited at all.
#[must_use]
pub fn admit(kind: MessageKind, provenance: Provenance) -> Option<(Role, bool)> {
    match kind {
        MessageKind::User if provenance.is_checkpoint => Some((Role::User, true)),
        MessageKind::User if provenance.is_person => Some((Role::User, false)),
        MessageKind::Assistant => Some((Role::Assistant, false)),
        MessageKind::User | MessageKind::System | MessageKind::ToolResult => None,
    }
}

fn provenance(message: &Message) -> Provenance {
    Provenance {
        is_person: message.source.is_person(),
        is_checkpoint: message.source.is_checkpoint(),
    }
}

/// The item that a message is cited as; `None` when it is not cited, or has no
/// text.
#[must_use]
pub fn item(time: Millis, kind: MessageKind, message: &Message) -> Option<Item> {
    let (role, checkpoint) = admit(kind, provenance(message))?;
    let text = message.shared_text();
    (!text.is_empty()).then_some(Item {
        time,
        role,
        checkpoint,
        text,
    })
}

/// How many messages of a session that is in memory can be cited.
#[must_use]
pub fn count(session: &Session) -> usize {
    session.surface().filter(|event| is_cited(event)).count()
}

/// Whether an event of the surface is a message that is cited: a person or a
/// model said it, or it is a summary of what they said.
#[must_use]
pub fn is_cited(event: &Event) -> bool {
    let Payload::Message { kind, message, .. } = &event.payload else {
        return false;
    };
    let texts = message.content.iter().filter_map(Block::as_text);
    // Two texts, even empty ones, have a line feed between them.
    let length = texts.map(|text| text.len() + 1).sum::<usize>();
    admit(*kind, provenance(message)).is_some() && length > 1
}

/// Captures a session that is in memory.
#[must_use]
pub fn capture(session: &Session) -> Capture {
    Capture {
        header: session.header().clone(),
        captured_through: session.captured_through(),
        conversation: session
            .surface()
            .filter_map(|event| match &event.payload {
                Payload::Message { kind, message, .. } => item(event.time, *kind, message),
                Payload::LogOnly { .. } => None,
            })
            .collect(),
        damage: None,
    }
}
