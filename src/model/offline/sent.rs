//! What a request holds: the citations in it, and the conversation around
//! them. Whatever can't be read is counted, and stops nothing.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::reference::frame::TAG;
use crate::session::{Block, Message, Role};

/// A request, as far as the offline model understands it. Sizes are UTF-8
/// bytes of text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    /// The sessions cited since the last answer, in order.
    pub(super) cited: Vec<Citation>,
    /// Citations since the last answer that can't be read.
    pub(super) unreadable: usize,
    /// Sessions cited before the last answer.
    pub(super) cited_before: usize,
    /// Messages that carry no citations.
    pub(super) messages: usize,
    /// The text of those.
    pub(super) bytes: usize,
    /// The text of the whole request.
    pub(super) total_bytes: usize,
    /// The last thing that a person said.
    pub(super) said: Option<String>,
}

/// One cited session.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Citation {
    /// What is recorded of it beside the text.
    pub(super) record: Record,
    /// What of it is in the text; `None` when that can't be read.
    pub(super) arrived: Option<Arrived>,
    /// Where the full text is, where anything is said of that.
    pub(super) full: Option<FullSnapshot>,
}

/// The part of a session that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrived {
    /// Its messages.
    pub(super) messages: usize,
    /// Their text in bytes.
    pub(super) bytes: usize,
}

/// What a message's source records of a session that it carries.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) session_id: String,
    pub(super) label: String,
    #[serde(default)]
    pub(super) compacted: bool,
    #[serde(default)]
    pub(super) original_messages: u64,
    #[serde(default)]
    pub(super) omitted_messages: u64,
    #[serde(default)]
    pub(super) omitted_bytes: u64,
    #[serde(default)]
    pub(super) truncated: bool,
}

/// What a notice says of the full text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub(super) enum FullSnapshot {
    Saved { locator: String, bytes: u64 },
    Unavailable { reason: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    conversation: Vec<Turn<'a>>,
}

#[derive(Deserialize)]
struct Turn<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Notice {
    session_id: String,
    full_snapshot: FullSnapshot,
}

impl Sent {
    /// Reads a request's messages.
    pub(super) fn read(messages: &[Arc<Message>]) -> Self {
        let mut sent = Self::default();
        for message in messages {
            let bytes = text_bytes(message);
            sent.total_bytes += bytes;
            if message.source.is_session_reference() {
                sent.cite(message);
                continue;
            }
            sent.messages += 1;
            sent.bytes += bytes;
            if message.role == Role::Assistant {
                sent.cited_before += sent.cited.len() + sent.unreadable;
                sent.cited.clear();
                sent.unreadable = 0;
            } else if message.source.is_person() {
                sent.said = Some(message.text());
            }
        }
        sent
    }

    fn cite(&mut self, message: &Message) {
        let Some(Value::Array(records)) = message.source.rest.get("references") else {
            self.unreadable += 1;
            return;
        };
        let text = message.text();
        let (data, notices) = parts(&text);
        for record in records {
            match Record::deserialize(record) {
                Ok(record) => self.cited.push(Citation {
                    arrived: data
                        .iter()
                        .find(|data| data.session_id == record.session_id)
                        .map(Data::arrived),
                    full: notices
                        .iter()
                        .find(|notice| notice.session_id == record.session_id)
                        .map(|notice| notice.full_snapshot.clone()),
                    record,
                }),
                Err(_) => self.unreadable += 1,
            }
        }
    }
}

impl Data<'_> {
    fn arrived(&self) -> Arrived {
        Arrived {
            messages: self.conversation.len(),
            bytes: self.conversation.iter().map(|turn| turn.text.len()).sum(),
        }
    }
}

/// The bytes of a message's text blocks.
pub(super) fn text_bytes(message: &Message) -> usize {
    let texts = message.content.iter().filter_map(Block::as_text);
    texts.map(str::len).sum()
}

/// The data between the tags and the notices behind them; empty where they
/// can't be read. No cited text can spell a tag, so the first one ends the
/// data.
fn parts(text: &str) -> (Vec<Data<'_>>, Vec<Notice>) {
    let (_, rest) = text.split_once(&format!("<{TAG}>")).unwrap_or_default();
    let (data, rest) = rest.split_once(&format!("</{TAG}>")).unwrap_or_default();
    let notices = rest.lines().find(|line| line.starts_with('['));
    (
        serde_json::from_str(data).unwrap_or_default(),
        notices
            .and_then(|line| serde_json::from_str(line).ok())
            .unwrap_or_default(),
    )
}
