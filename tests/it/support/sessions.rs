//! Sessions in memory.

use ibid::session::{
    Block, Header, Message, MessageKind, Millis, NewEvent, Payload, Role, Seq, Session, Source,
};
use serde_json::json;

/// An empty session.
pub(crate) fn session(id: &str) -> Session {
    Session::new(Header::new(id, Millis(1), None))
}

/// An empty session begun in a directory.
pub(crate) fn session_in(id: &str, cwd: &str) -> Session {
    Session::new(Header::new(id, Millis(1), Some(cwd.to_owned())))
}

/// A session in which a person typed these messages.
pub(crate) fn said<S: Into<String>>(id: &str, texts: impl IntoIterator<Item = S>) -> Session {
    let mut session = session(id);
    for text in texts {
        say(&mut session, text);
    }
    session
}

/// A message of these blocks.
pub(crate) fn message(role: Role, source: Source, content: Vec<Block>) -> Message {
    Message::new(role, source, content)
}

/// Appends an event at the end and gives its place.
pub(crate) fn append(session: &mut Session, payload: Payload) -> Seq {
    session
        .append(NewEvent::plain(Millis(2), payload))
        .unwrap()
        .seq
}

/// A person types a message.
pub(crate) fn say(session: &mut Session, text: impl Into<String>) -> Seq {
    append(session, Payload::user(Message::person(text.into())))
}

/// A `user/message` of any provenance.
pub(crate) fn user(session: &mut Session, source: Source, block: Block) -> Seq {
    append(
        session,
        Payload::user(message(Role::User, source, vec![block])),
    )
}

/// The model answers with these blocks.
pub(crate) fn answer(session: &mut Session, content: Vec<Block>) -> Seq {
    let message = message(Role::Assistant, Source::model("mock", "mock"), content);
    append(
        session,
        Payload::step(MessageKind::Assistant, message, 1, 1),
    )
}

/// A checkpoint takes the place of a range.
pub(crate) fn compact(session: &mut Session, text: &str, (start, end): (Seq, Seq)) -> Seq {
    let shadowed = session
        .surface()
        .map(|event| event.seq)
        .skip_while(|seq| *seq != start);
    let mut sources: Vec<Seq> = shadowed.take_while(|seq| *seq != end).collect();
    sources.push(end);
    let checkpoint = message(
        Role::User,
        Source::checkpoint("compaction"),
        vec![Block::text(text)],
    );
    let event = NewEvent::replacing(Millis(2), Payload::user(checkpoint), (start, end), sources);
    session.append(event).unwrap().seq
}

/// The session in which every kind of event stands: a system prompt, a turn
/// that was compacted, injections, tool output, reasoning, messages without
/// text, and an attempt that never became an answer. Its last seq is 14.
pub(crate) fn conversation(session: &mut Session) {
    let system = message(
        Role::System,
        Source::plugin("system-prompt"),
        vec![Block::text("system prompt secret")],
    );
    append(session, Payload::step(MessageKind::System, system, 1, 1));
    let first = say(session, "old user");
    let last = answer(session, vec![Block::text("old assistant")]);
    compact(
        session,
        "<compacted-summary>checkpoint</compacted-summary>",
        (first, last),
    );
    say(session, "recent user");
    user(
        session,
        Source::plugin("workspace"),
        Block::text("workspace secret"),
    );
    say(session, "human steer");
    user(session, Source::plugin("goal"), Block::text("plugin steer"));
    let result = message(
        Role::Tool,
        Source::tool("call"),
        vec![Block::text("tool output")],
    );
    append(
        session,
        Payload::step(MessageKind::ToolResult, result, 2, 1),
    );
    answer(
        session,
        vec![
            Block::reasoning("private reasoning"),
            Block::text("visible answer"),
        ],
    );
    user(
        session,
        Source::plugin("goal"),
        Block::text("plugin-generated user"),
    );
    user(
        session,
        Source::person(),
        Block::reasoning("empty projected user"),
    );
    user(
        session,
        Source::person(),
        Block::reasoning("empty projected steering"),
    );
    answer(session, vec![Block::reasoning("empty projected assistant")]);
    append(
        session,
        Payload::log_only(
            "assistant/attempt",
            json!({"turn": 2, "step": 2, "stream": [{"type": "text-chunks", "texts": ["unfinished answer"]}]}),
        ),
    );
}
