//! Builds what is wanted of a session out of what an adapter found: all its
//! events, or what of it can be cited. An adapter says the same to both.

use serde_json::Map;

use super::{Cited, Foreign, SourceError, SourceNotice};
use crate::reference::projection::{self, Capture, Item};
use crate::session::{
    Block, Header, Message, MessageKind, Millis, NewEvent, Payload, Role, Seq, Session, Source,
    SurfaceError, Title, TitleSource,
};
use crate::text::Text;
use crate::tool::Tool;

/// What a session is built to. Events come in the order of the current
/// conversation, and each counts in it, whatever is kept of it.
pub trait Sink: Sized {
    /// Whether the words of tools are kept. Where they are not, none need be
    /// read: they may come empty.
    const KEEPS_RESULTS: bool;

    fn new(header: Header) -> Self;

    fn header(&self) -> &Header;

    /// What somebody says.
    fn say(&mut self, time: i64, said: Said<'_>, text: Text) -> Result<(), SurfaceError>;

    /// What stands for all that came before it. That need not have been built.
    fn sum_up(&mut self, time: i64, id: &str, text: Text) -> Result<(), SurfaceError>;

    fn title(&mut self, time: i64, title: &str, source: TitleSource) -> Result<(), SurfaceError>;

    /// How many messages can be cited.
    fn messages(&self) -> usize;
}

/// Who says something.
#[derive(Clone, Copy)]
pub enum Said<'a> {
    Person,
    /// A model of this tool, by its name.
    Model(Tool, &'a str),
    /// Software in a person's place, by its name.
    Injected(&'a str),
    /// A tool of the model, by the id of its call.
    Result(&'a str),
    /// A checkpoint in its place, by its id.
    Checkpoint(&'a str),
}

impl Said<'_> {
    fn source(self) -> (MessageKind, Source) {
        match self {
            Self::Person => (MessageKind::User, Source::person()),
            Self::Model(tool, model) => (MessageKind::Assistant, Source::model(tool.name(), model)),
            Self::Injected(by) => (MessageKind::User, Source::plugin(by)),
            Self::Result(call) => (MessageKind::ToolResult, Source::tool(call)),
            Self::Checkpoint(id) => (MessageKind::User, Source::checkpoint(id)),
        }
    }
}

impl Sink for Session {
    const KEEPS_RESULTS: bool = true;

    fn new(header: Header) -> Self {
        Self::new(header)
    }

    fn header(&self) -> &Header {
        self.header()
    }

    fn say(&mut self, time: i64, said: Said<'_>, text: Text) -> Result<(), SurfaceError> {
        let payload = payload(self.next_seq(), said, text);
        self.append(NewEvent::plain(Millis(time), payload))
            .map(drop)
    }

    fn sum_up(&mut self, time: i64, id: &str, text: Text) -> Result<(), SurfaceError> {
        let shadowed: Vec<Seq> = self.surface().map(|event| event.seq).collect();
        let payload = payload(self.next_seq(), Said::Checkpoint(id), text);
        let event = match (shadowed.first(), shadowed.last()) {
            (Some(first), Some(last)) => {
                NewEvent::replacing(Millis(time), payload, (*first, *last), shadowed.clone())
            }
            _ => NewEvent::plain(Millis(time), payload),
        };
        self.append(event).map(drop)
    }

    fn title(&mut self, time: i64, title: &str, source: TitleSource) -> Result<(), SurfaceError> {
        let event = NewEvent::plain(Millis(time), Title::event(title, source));
        self.append(event).map(drop)
    }

    fn messages(&self) -> usize {
        projection::count(self)
    }
}

/// A message. It is called by its place, so that reading a session twice
/// gives the same.
fn payload(seq: Seq, said: Said<'_>, text: Text) -> Payload {
    let (kind, source) = said.source();
    let message = Message {
        id: seq.to_string(),
        role: match kind {
            MessageKind::System => Role::System,
            MessageKind::User => Role::User,
            MessageKind::Assistant => Role::Assistant,
            MessageKind::ToolResult => Role::Tool,
        },
        source,
        content: vec![Block::text(text)],
        rest: Map::new(),
    };
    // Which turn and step it is of is not told.
    Payload::Message {
        kind,
        message,
        envelope: Map::new(),
    }
}

impl Cited {
    fn count(&mut self) {
        let next = self.capture.captured_through.map_or(Seq(0), Seq::next);
        self.capture.captured_through = Some(next);
    }

    fn add(&mut self, time: i64, role: Role, checkpoint: bool, text: Text) {
        if !text.is_empty() {
            self.capture.conversation.push(Item {
                time: Millis(time),
                role,
                checkpoint,
                text,
            });
        }
    }
}

impl Sink for Cited {
    const KEEPS_RESULTS: bool = false;

    fn new(header: Header) -> Self {
        Self {
            capture: Capture {
                header,
                captured_through: None,
                conversation: Vec::new(),
                damage: None,
            },
            title: None,
        }
    }

    fn header(&self) -> &Header {
        &self.capture.header
    }

    fn say(&mut self, time: i64, said: Said<'_>, text: Text) -> Result<(), SurfaceError> {
        self.count();
        match said {
            Said::Person => self.add(time, Role::User, false, text),
            Said::Model(..) => self.add(time, Role::Assistant, false, text),
            Said::Checkpoint(_) => self.add(time, Role::User, true, text),
            Said::Injected(_) | Said::Result(_) => {}
        }
        Ok(())
    }

    fn sum_up(&mut self, time: i64, id: &str, text: Text) -> Result<(), SurfaceError> {
        self.capture.conversation.clear();
        self.say(time, Said::Checkpoint(id), text)
    }

    fn title(&mut self, _time: i64, title: &str, source: TitleSource) -> Result<(), SurfaceError> {
        self.count();
        self.title = Some(Title::new(title, source));
        Ok(())
    }

    fn messages(&self) -> usize {
        self.capture.conversation.len()
    }
}

/// A session of another tool under construction.
pub(super) struct Builder<S> {
    tool: Tool,
    session: S,
    is_subagent: bool,
    skipped: usize,
    notes: Vec<String>,
}

/// What an adapter knows of a session besides its messages.
#[derive(Clone, Debug, Default)]
pub(super) struct About {
    /// The tool's own id of the session.
    pub(super) native_id: String,
    /// When it began, in Unix milliseconds.
    pub(super) created_at: i64,
    /// The directory it was begun in.
    pub(super) cwd: Option<String>,
    /// The tool's own id of the session it was forked from.
    pub(super) parent: Option<String>,
    /// Whether another session's agent made it.
    pub(super) is_subagent: bool,
}

impl<S: Sink> Builder<S> {
    pub(super) fn new(tool: Tool, about: About) -> Self {
        let mut header = Header::new(
            tool.session_id(&about.native_id),
            Millis(about.created_at),
            about.cwd,
        );
        header.parent_session = about.parent.map(|parent| tool.session_id(&parent));
        Self {
            tool,
            session: S::new(header),
            is_subagent: about.is_subagent,
            skipped: 0,
            notes: Vec::new(),
        }
    }

    /// What a person typed.
    pub(super) fn person(&mut self, time: i64, text: impl Into<Text>) {
        self.say(time, Said::Person, text);
    }

    /// What the model said.
    pub(super) fn model(&mut self, time: i64, model: &str, text: impl Into<Text>) {
        self.say(time, Said::Model(self.tool, model), text);
    }

    /// What software put into a person's mouth: kept, and never cited.
    pub(super) fn injected(&mut self, time: i64, by: &str, text: impl Into<Text>) {
        self.say(time, Said::Injected(by), text);
    }

    /// What a tool of the model returned, which counts also when it is
    /// nothing.
    pub(super) fn tool_result(&mut self, time: i64, call_id: &str, text: impl Into<Text>) {
        let told = self.session.say(time, Said::Result(call_id), text.into());
        self.check(told.is_ok());
    }

    /// A checkpoint that stands for all that came before it. What it shadows
    /// need not have been built: a checkpoint without anything before it
    /// begins the conversation.
    pub(super) fn checkpoint(&mut self, time: i64, id: &str, text: impl Into<Text>) {
        let told = self.session.sum_up(time, id, text.into());
        self.check(told.is_ok());
    }

    /// A checkpoint in its place among what was kept: what it shadows has not
    /// been built, and what was built before it stays.
    pub(super) fn checkpoint_in_place(&mut self, time: i64, id: &str, text: impl Into<Text>) {
        self.say(time, Said::Checkpoint(id), text);
    }

    /// A title, as the tool shows it.
    pub(super) fn title(&mut self, time: i64, title: &str, source: TitleSource) {
        let told = self.session.title(time, title, source);
        self.check(told.is_ok());
    }

    /// Records that could not be read.
    pub(super) fn skip(&mut self, records: usize) {
        self.skipped += records;
    }

    /// Something the person should know.
    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// How many messages of a person or of the model there are.
    pub(super) fn messages(&self) -> usize {
        self.session.messages()
    }

    pub(super) fn finish(self) -> Foreign<S> {
        let mut notices: Vec<SourceNotice> = Vec::new();
        if self.skipped > 0 {
            notices.push(SourceNotice::Skipped {
                records: self.skipped,
            });
        }
        notices.extend(self.notes.into_iter().map(SourceNotice::Note));
        Foreign {
            tool: self.tool,
            session: self.session,
            is_subagent: self.is_subagent,
            notices,
        }
    }

    fn say(&mut self, time: i64, said: Said<'_>, text: impl Into<Text>) {
        let text = text.into();
        if !text.is_empty() {
            let told = self.session.say(time, said, text);
            self.check(told.is_ok());
        }
    }

    /// Every event built here keeps the rules; one that does not is counted
    /// like any other record that can't be read.
    fn check(&mut self, is_kept: bool) {
        self.skipped += usize::from(!is_kept);
    }
}

impl<S: Sink> Foreign<S> {
    /// This session, if it is the one that was asked for.
    ///
    /// # Errors
    /// When it is another one.
    pub(super) fn wanted(
        self,
        path: &std::path::Path,
        native_id: Option<&str>,
    ) -> Result<Self, SourceError> {
        match native_id {
            Some(wanted) if self.session.header().id != self.tool.session_id(wanted) => {
                Err(SourceError::NoSession {
                    path: path.to_owned(),
                    wanted: Some(wanted.to_owned()),
                })
            }
            _ => Ok(self),
        }
    }
}
