//! Records that are told by a few marks at both ends of their lines, without a
//! look at what they hold: most bytes of a file.
//!
//! Each mark must be there just as the program writes it, or the line is left
//! to be read. No text can look like a mark: in a text the quotes are escaped.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use super::chain::Node;
use super::id::Id;
use super::record::PARENT;
use super::said::{SILENT, SYNTHETIC};
use crate::json::Scanner;
use crate::source::moment;

/// What a record is, and its place in the chain.
#[derive(Debug)]
pub(super) struct Marked {
    pub(super) kind: Kind,
    pub(super) node: Node,
    /// Unix milliseconds; 0 when it tells none.
    pub(super) time: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An attachment that no person typed: it only links others.
    Attachment,
    /// What one tool gave, and nothing else.
    Result,
    /// A part of the model's message that holds no words of it.
    Silent,
}

/// How a record that is a part of the chain begins.
const BEGINNING: &[u8] = b"{\"parentUuid\":";
/// Where an attachment tells its kind, and how far from the line's beginning
/// that is looked for, in bytes.
const HEAD: usize = 512;
/// What follows a record's own id.
const OWN_TIME: &[u8] = b"\",\"timestamp\":\"";

/// A mark that is looked for in many lines.
type Mark = LazyLock<Finder<'static>>;

static ATTACHED: Mark = LazyLock::new(|| Finder::new(b"\"attachment\":{\"type\":\""));
static TYPE: Mark = LazyLock::new(|| Finder::new(b"\"type\":\""));
static TEXT: Mark = LazyLock::new(|| Finder::new(b"\"type\":\"text\""));
// Where the records tell their own ids.
static ATTACHMENT_ID: Mark = LazyLock::new(|| Finder::new(b"\"type\":\"attachment\",\"uuid\":\""));
static MODEL_ID: Mark = LazyLock::new(|| Finder::new(b"\"type\":\"assistant\",\"uuid\":\""));
static USER_ID: Mark = LazyLock::new(|| Finder::new(b"]},\"uuid\":\""));

/// What a line is by its marks; `None` when it must be read to know.
pub(super) fn marked(line: &[u8]) -> Option<Marked> {
    if !line.starts_with(BEGINNING) || !line.ends_with(b"}") {
        return None;
    }
    match ATTACHED.find(line.get(..HEAD).unwrap_or(line)) {
        Some(at) => attachment(line, at),
        None => step(line),
    }
}

/// An attachment, whose kind is told at `at`.
fn attachment(line: &[u8], at: usize) -> Option<Marked> {
    let kind = quoted(line.get(at + ATTACHED.needle().len()..)?)?;
    if kind == "queued_command" {
        return None;
    }
    let inside = line.get(at..)?;
    let own = behind(&ATTACHMENT_ID, inside)?;
    // What holds another record, or has one glued to it, is no mere link.
    let behind_the_mark = line.get(BEGINNING.len()..)?;
    if ATTACHMENT_ID.find(own).is_some() || PARENT.find(behind_the_mark).is_some() {
        return None;
    }
    let parent = line.get(BEGINNING.len()..)?;
    let parent = if parent.starts_with(b"null,") {
        None
    } else {
        Some(Id::of(quoted(parent.strip_prefix(b"\"")?)?))
    };
    let uuid = quoted(own)?;
    let time = own.get(uuid.len()..)?.strip_prefix(OWN_TIME);
    Some(Marked {
        kind: Kind::Attachment,
        node: Node {
            uuid: Some(Id::of(uuid)),
            parent,
            is_sidechain: memmem::find(line.get(..at)?, b"\"isSidechain\":true").is_some(),
            ..Node::default()
        },
        time: time.and_then(quoted).and_then(moment::millis).unwrap_or(0),
    })
}

/// What is told of a record before what its first block holds.
#[derive(Default)]
struct Head<'a> {
    parent: Option<&'a str>,
    kind: Option<&'a str>,
    is_sidechain: Option<bool>,
    message_id: Option<&'a str>,
    model: Option<&'a str>,
    block: Option<&'a str>,
    /// Where the block goes on.
    at: usize,
}

impl<'a> Head<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let mut head = Self::default();
        // It ends behind the type of the first block.
        let rest = Scanner::new(line).object(|json, key| match key {
            b"parentUuid" if json.peek()? == b'"' => {
                head.parent = Some(json.plain_str()?);
                Some(())
            }
            b"isSidechain" => {
                head.is_sidechain = Some(json.truth()?);
                Some(())
            }
            b"type" => {
                head.kind = Some(json.plain_str()?);
                Some(())
            }
            b"message" => head.message(json),
            b"uuid" | b"timestamp" | b"toolUseResult" => None,
            _ => json.skip(),
        });
        (rest.is_none() && head.at > 0).then_some(head)
    }

    fn message(&mut self, json: &mut Scanner<'a>) -> Option<()> {
        json.object(|json, key| match key {
            b"id" => {
                self.message_id = Some(json.plain_str()?);
                Some(())
            }
            b"model" => {
                self.model = Some(json.plain_str()?);
                Some(())
            }
            b"content" => {
                json.expect(b'[')?;
                json.object(|json, key| match key {
                    b"tool_use_id" => json.skip_string(),
                    b"type" => {
                        self.block = Some(json.plain_str()?);
                        self.at = json.at();
                        None
                    }
                    _ => None,
                })
            }
            _ => json.skip(),
        })
    }
}

/// A step of the model's work: a use of a tool, what it gave, a thought.
fn step(line: &[u8]) -> Option<Marked> {
    let head = Head::of(line)?;
    let block = head.block?;
    let rest = line.get(head.at..)?;
    // What holds another record, or has one glued to it, is not told by marks.
    let (kind, message_id, own) = if block == "tool_result" && head.kind == Some("user") {
        // In all of the message there is no other block, nor another record.
        let at = USER_ID.find(rest)?;
        let own = rest.get(at + USER_ID.needle().len()..)?;
        if TYPE.find(rest.get(..at)?).is_some() || PARENT.find(own).is_some() {
            return None;
        }
        (Kind::Result, None, own)
    } else if SILENT.contains(&block) && head.model? != SYNTHETIC && head.kind.is_none() {
        let at = MODEL_ID.find(rest)?;
        if TEXT.find(rest.get(..at)?).is_some() || PARENT.find(rest).is_some() {
            return None;
        }
        let own = rest.get(at + MODEL_ID.needle().len()..)?;
        (Kind::Silent, head.message_id.map(Id::of), own)
    } else {
        return None;
    };
    let uuid = quoted(own)?;
    let time = own.get(uuid.len()..)?.strip_prefix(OWN_TIME)?;
    Some(Marked {
        kind,
        node: Node {
            uuid: Some(Id::of(uuid)),
            parent: head.parent.map(Id::of),
            message_id,
            is_sidechain: head.is_sidechain?,
            ..Node::default()
        },
        time: quoted(time).and_then(moment::millis).unwrap_or(0),
    })
}

/// What stands behind a mark.
fn behind<'a>(mark: &Mark, bytes: &'a [u8]) -> Option<&'a [u8]> {
    let at = mark.find(bytes)?;
    bytes.get(at + mark.needle().len()..)
}

/// A string without escapes up to its closing quote.
fn quoted(bytes: &[u8]) -> Option<&str> {
    let end = memchr::memchr2(b'"', b'\\', bytes)?;
    let text = bytes.get(..end)?;
    (bytes.get(end) == Some(&b'"')).then(|| std::str::from_utf8(text).ok())?
}
