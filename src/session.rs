//! What a session is: an append-only log of events, and the surface that the
//! log folds to.
//!
//! Owns events, messages, provenance, the fold and titles. Pure: no file and no
//! terminal, and a clock in two places alone: [`Millis::now`], which a caller
//! asks for by name, and [`Message::new`], whose id (a UUID of version 7) is
//! made of the moment and of chance.

mod event;
mod id;
mod message;
mod surface;
pub mod title;

use std::sync::Arc;

pub use event::{Entry, Event, FORMAT_VERSION, Header, MessageKind, NewEvent, Payload, SurfaceOp};
pub use id::{Millis, Seq, SessionId};
pub use message::{Block, COMPACT_PLUGIN, Message, Role, Source, TextBlock};
use serde_json::{Map, json};
pub use surface::{Surface, SurfaceError, check_log_only};

/// The type of the event that names a session.
pub const TITLE_EVENT: &str = "session/title";

/// Who chose a title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TitleSource {
    /// A person named the session: nothing else renames it.
    Person,
    /// The first words of the first message.
    Fallback,
    /// A model made it of the person's words.
    Model,
}

/// The latest title of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    /// The title as it stands in the log.
    pub text: String,
    /// Whether a person chose it.
    pub pinned: bool,
}

impl Title {
    /// The title that a log-only event sets, if it sets one.
    #[must_use]
    pub fn from_event(kind: &str, data: &serde_json::Value) -> Option<Self> {
        (kind == TITLE_EVENT).then_some(())?;
        Some(Self {
            text: data.get("title")?.as_str()?.to_owned(),
            pinned: data.pointer("/source/kind").and_then(|k| k.as_str()) == Some("user"),
        })
    }

    /// A title, cleaned and cut to [`title::MAX_TITLE_BYTES`].
    #[must_use]
    pub fn new(text: &str, source: TitleSource) -> Self {
        Self {
            text: title::normalise(text, title::MAX_TITLE_BYTES),
            pinned: source == TitleSource::Person,
        }
    }

    /// The event that sets the title [`Title::new`].
    #[must_use]
    pub fn event(text: &str, source: TitleSource) -> Payload {
        let Self { text, .. } = Self::new(text, source);
        let kind = match source {
            TitleSource::Person => "user",
            TitleSource::Fallback => "fallback",
            TitleSource::Model => "model",
        };
        Payload::log_only(
            TITLE_EVENT,
            json!({"title": text, "messageSeqs": [], "source": {"kind": kind}}),
        )
    }
}

/// A session in memory: its header, its whole log, and the surface.
#[derive(Clone, Debug)]
pub struct Session {
    header: Header,
    events: Vec<Arc<Event>>,
    next: Seq,
    surface: Surface<Arc<Event>>,
    title: Option<Title>,
}

impl Session {
    /// A session without events.
    #[must_use]
    pub fn new(header: Header) -> Self {
        Self {
            header,
            events: Vec::new(),
            next: Seq(0),
            surface: Surface::default(),
            title: None,
        }
    }

    /// Folds a log again.
    ///
    /// # Errors
    /// When an event breaks a rule of the log.
    pub fn replay(
        header: Header,
        events: impl IntoIterator<Item = Arc<Event>>,
    ) -> Result<Self, SurfaceError> {
        let mut session = Self::new(header);
        for event in events {
            session.push(event)?;
        }
        Ok(session)
    }

    /// Appends an event at the next seq and returns it in its place.
    ///
    /// # Errors
    /// When it breaks a rule of the log; the session stays as it was.
    pub fn append(&mut self, event: NewEvent) -> Result<Arc<Event>, SurfaceError> {
        let event = Arc::new(Event {
            seq: self.next_seq(),
            time: event.time,
            payload: event.payload,
            surface_op: event.surface_op,
            source_event_seqs: event.source_event_seqs,
            rest: Map::new(),
        });
        self.push(Arc::clone(&event))?;
        Ok(event)
    }

    /// Appends an event that has its place already.
    ///
    /// # Errors
    /// When its seq is not the next one, or it breaks a rule of the log; the
    /// session stays as it was.
    pub fn push(&mut self, event: Arc<Event>) -> Result<(), SurfaceError> {
        let expected = self.next_seq();
        if event.seq != expected {
            return Err(SurfaceError::Gap {
                expected,
                found: event.seq,
            });
        }
        let op = event.surface_op.as_ref();
        let sources = event.source_event_seqs.as_deref();
        match &event.payload {
            Payload::Message { kind, .. } => {
                self.surface
                    .apply(event.seq, *kind, op, sources, Arc::clone(&event))?;
            }
            Payload::LogOnly { kind, data } => {
                check_log_only(event.seq, kind, op, sources)?;
                if let Some(title) = Title::from_event(kind, data) {
                    self.title = Some(title);
                }
            }
        }
        self.next = event.seq.next();
        self.events.push(event);
        Ok(())
    }

    /// Counts the events before `next` that are not there as lost: what
    /// follows them can still be pushed. Does nothing when none is missing.
    ///
    /// For damaged logs alone. Lost events are no part of [`Session::events`],
    /// and an event that needs one on the surface is refused.
    pub fn skip_to(&mut self, next: Seq) {
        self.next = self.next.max(next);
    }

    /// Forgets the events from `next` on, as if they had never been appended.
    ///
    /// Folds what stays again, so it is for the rare append that fails after
    /// its events were checked.
    pub fn rewind_to(&mut self, next: Seq) {
        let kept = self.events.partition_point(|event| event.seq < next);
        let mut session = Self::new(self.header.clone());
        for event in self.events.iter().take(kept) {
            session.skip_to(event.seq);
            // It was accepted on the same surface before.
            let again = session.push(Arc::clone(event));
            debug_assert_eq!(again, Ok(()));
        }
        session.skip_to(next);
        *self = session;
    }

    /// What stands above the log.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The session's name.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.header.id
    }

    /// The whole log, in order.
    #[must_use]
    pub fn events(&self) -> &[Arc<Event>] {
        &self.events
    }

    /// The seq that the next event gets.
    #[must_use]
    pub fn next_seq(&self) -> Seq {
        self.next
    }

    /// The highest seq in the log, lost events included; `None` while it is
    /// empty.
    #[must_use]
    pub fn captured_through(&self) -> Option<Seq> {
        self.next.0.checked_sub(1).map(Seq)
    }

    /// The events that the model sees now, in order.
    pub fn surface(&self) -> impl Iterator<Item = &Arc<Event>> {
        self.surface.iter()
    }

    /// The messages that the model sees now, in order.
    pub fn derive_messages(&self) -> impl Iterator<Item = &Message> {
        self.surface().filter_map(|event| event.message())
    }

    /// The latest title that the log sets.
    #[must_use]
    pub fn title(&self) -> Option<&Title> {
        self.title.as_ref()
    }

    /// What the session is called: its title, or else the fallback.
    #[must_use]
    pub fn display_title(&self) -> Option<String> {
        match &self.title {
            Some(title) => Some(title.text.clone()),
            None => self.fallback_title(),
        }
    }

    /// The title made from the first text that a person typed.
    #[must_use]
    pub fn fallback_title(&self) -> Option<String> {
        self.events
            .iter()
            .filter_map(|event| event.message())
            .filter(|message| message.source.is_person())
            .map(|message| title::fallback(&message.text()))
            .find(|title| !title.is_empty())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn message(text: &str) -> NewEvent {
        NewEvent::plain(Millis(0), Payload::user(Message::person(text)))
    }

    fn texts(session: &Session) -> Vec<String> {
        session.derive_messages().map(Message::text).collect()
    }

    #[test]
    fn a_lost_event_leaves_its_seq_behind() {
        let mut session = Session::new(Header::new("a", Millis(0), None));
        session.append(message("one")).unwrap();
        session.skip_to(Seq(3));
        session.skip_to(Seq(2));
        assert_eq!(session.captured_through(), Some(Seq(2)));
        assert_eq!(session.append(message("two")).unwrap().seq, Seq(3));
        assert_eq!(texts(&session), ["one", "two"]);
    }

    #[test]
    fn a_rewind_brings_back_what_was_replaced() {
        let mut session = Session::new(Header::new("a", Millis(0), None));
        session.append(message("one")).unwrap();
        session
            .append(NewEvent::plain(
                Millis(0),
                Title::event("before", TitleSource::Person),
            ))
            .unwrap();
        session.skip_to(Seq(4));
        let mark = session.next_seq();
        let replacing = NewEvent::replacing(
            Millis(0),
            Payload::user(Message::person("sum")),
            (Seq(0), Seq(0)),
            vec![Seq(0)],
        );
        session.append(replacing).unwrap();
        session
            .append(NewEvent::plain(
                Millis(0),
                Title::event("after", TitleSource::Person),
            ))
            .unwrap();
        session.rewind_to(mark);
        assert_eq!(texts(&session), ["one"]);
        assert_eq!(session.title().unwrap().text, "before");
        assert_eq!(session.next_seq(), Seq(4));
        assert_eq!(session.events().len(), 2);
    }
}
