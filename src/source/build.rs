//! Builds our events out of what an adapter found.

use serde_json::Map;

use super::{ForeignSession, SourceNotice};
use crate::session::{
    Block, Header, Message, MessageKind, Millis, NewEvent, Payload, Role, Seq, Session, Source,
    SurfaceError, Title, TitleSource,
};
use crate::text::Text;
use crate::tool::Tool;

/// A session of another tool under construction. Events come in the order of
/// the current conversation.
pub(super) struct Builder {
    tool: Tool,
    session: Session,
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

impl Builder {
    pub(super) fn new(tool: Tool, about: About) -> Self {
        let mut header = Header::new(
            tool.session_id(&about.native_id),
            Millis(about.created_at),
            about.cwd,
        );
        header.parent_session = about.parent.map(|parent| tool.session_id(&parent));
        Self {
            tool,
            session: Session::new(header),
            is_subagent: about.is_subagent,
            skipped: 0,
            notes: Vec::new(),
        }
    }

    /// What a person typed.
    pub(super) fn person(&mut self, time: i64, text: impl Into<Text>) {
        self.push(time, MessageKind::User, Source::person(), text);
    }

    /// What the model said.
    pub(super) fn model(&mut self, time: i64, model: &str, text: impl Into<Text>) {
        let source = Source::model(self.tool.name(), model);
        self.push(time, MessageKind::Assistant, source, text);
    }

    /// What software put into a person's mouth: kept, and never cited.
    pub(super) fn injected(&mut self, time: i64, by: &str, text: impl Into<Text>) {
        self.push(time, MessageKind::User, Source::plugin(by), text);
    }

    /// What a tool of the model returned.
    pub(super) fn tool_result(&mut self, time: i64, call_id: &str, text: impl Into<Text>) {
        self.push(time, MessageKind::ToolResult, Source::tool(call_id), text);
    }

    /// A checkpoint that stands for all that came before it. What it shadows
    /// need not have been built: a checkpoint without anything before it
    /// begins the conversation.
    pub(super) fn checkpoint(&mut self, time: i64, id: &str, text: impl Into<Text>) {
        let shadowed: Vec<Seq> = self.session.surface().map(|event| event.seq).collect();
        let payload = self.payload(MessageKind::User, Source::checkpoint(id), text.into());
        let event = match (shadowed.first(), shadowed.last()) {
            (Some(first), Some(last)) => {
                NewEvent::replacing(Millis(time), payload, (*first, *last), shadowed.clone())
            }
            _ => NewEvent::plain(Millis(time), payload),
        };
        self.append(event);
    }

    /// A checkpoint in its place among what was kept: what it shadows has not
    /// been built, and what was built before it stays.
    pub(super) fn checkpoint_in_place(&mut self, time: i64, id: &str, text: impl Into<Text>) {
        self.push(time, MessageKind::User, Source::checkpoint(id), text);
    }

    /// A title, as the tool shows it.
    pub(super) fn title(&mut self, time: i64, title: &str, source: TitleSource) {
        let event = NewEvent::plain(Millis(time), Title::event(title, source));
        self.append(event);
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
        crate::reference::projection::count(&self.session)
    }

    pub(super) fn finish(self) -> ForeignSession {
        let mut notices: Vec<SourceNotice> = Vec::new();
        if self.skipped > 0 {
            notices.push(SourceNotice::Skipped {
                records: self.skipped,
            });
        }
        notices.extend(self.notes.into_iter().map(SourceNotice::Note));
        ForeignSession {
            tool: self.tool,
            session: self.session,
            is_subagent: self.is_subagent,
            notices,
        }
    }

    fn push(&mut self, time: i64, kind: MessageKind, source: Source, text: impl Into<Text>) {
        let text = text.into();
        if text.is_empty() {
            return;
        }
        let payload = self.payload(kind, source, text);
        self.append(NewEvent::plain(Millis(time), payload));
    }

    /// Every event built here keeps the rules; one that does not is counted
    /// like any other record that can't be read.
    fn append(&mut self, event: NewEvent) {
        let appended: Result<_, SurfaceError> = self.session.append(event);
        if appended.is_err() {
            self.skipped += 1;
        }
    }

    /// A message. It is called by its place, so that reading a session twice
    /// gives the same.
    fn payload(&self, kind: MessageKind, source: Source, text: Text) -> Payload {
        let message = Message {
            id: self.session.next_seq().to_string(),
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
}
