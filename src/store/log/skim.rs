//! Reading lines without building what they hold.
//!
//! Two quick ways to read a line, each for the form that programs write. They
//! give the same as reading the whole event, or they refuse the line.

use super::brief::Record;
use crate::json::{Scanner, digits, once};
use crate::reference::projection::{Item, Provenance, admit};
use crate::session::{COMPACT_PLUGIN, MessageKind, Millis, Role, Seq, SurfaceOp, TITLE_EVENT};
use crate::text::TextBlock;

/// The seq of a log-only event that begins as ours do and sets no title.
///
/// Its inside is not looked at: whatever stands there, the event counts, and
/// says nothing on the surface.
pub(super) fn plain_log_only(line: &[u8]) -> Option<Seq> {
    let rest = line.strip_prefix(br#"{"seq":"#)?;
    let (seq, len) = digits(rest)?;
    let rest = rest.get(len..)?.strip_prefix(br#","time":"#)?;
    let (_, len) = digits(rest)?;
    let rest = rest.get(len..)?.strip_prefix(br#","type":""#)?;
    let is_plain = |b: u8| matches!(b, b' '..=b'~') && b != b'"' && b != b'\\';
    let (kind, rest) = rest.split_at_checked(rest.iter().position(|b| !is_plain(*b))?)?;
    let counts = rest.starts_with(br#"","data":"#)
        && !SAYING.iter().any(|saying| saying.as_bytes() == kind)
        && line.trim_ascii_end().ends_with(b"}");
    counts.then_some(Seq(seq))
}

/// The types whose events say something on the conversation or its title.
const SAYING: [&str; 5] = [
    MessageKind::System.as_str(),
    MessageKind::User.as_str(),
    MessageKind::Assistant.as_str(),
    MessageKind::ToolResult.as_str(),
    TITLE_EVENT,
];

/// A message event, its type before its data, without anything unusual. Its
/// text goes to the end of `texts`, which has room for the line.
pub(super) fn message(line: &[u8], texts: &mut TextBlock) -> Option<Record> {
    let start = texts.len();
    let mut skim = Skim { texts };
    let record = skim.line(&mut Scanner::new(line));
    if record.is_none() {
        texts.truncate(start);
    }
    record
}

/// What a message is cited as, if it is.
struct Cited(Option<Item>);

struct Skim<'t> {
    texts: &'t mut TextBlock,
}

impl Skim<'_> {
    fn line(&mut self, json: &mut Scanner<'_>) -> Option<Record> {
        let (mut seq, mut time, mut kind, mut item) = (None, None, None, None);
        let (mut op, mut sources) = (None, None);
        json.object(|json, key| match key {
            b"seq" => once(&mut seq, Seq(json.integer()?)),
            b"time" => once(&mut time, Millis(json.signed()?)),
            b"type" => once(&mut kind, MessageKind::parse(json.plain_str()?)?),
            b"data" => once(&mut item, self.data(json, kind?)?),
            b"surfaceOp" => once(&mut op, surface_op(json)?),
            b"sourceEventSeqs" => {
                let mut seqs = Vec::new();
                json.array(|json| {
                    seqs.push(Seq(json.integer()?));
                    Some(())
                })?;
                once(&mut sources, seqs)
            }
            _ => json.skip(),
        })?;
        json.end()?;
        let time = time?;
        let item = item?.0.map(|item| Item { time, ..item });
        Some(Record::message(seq?, op, sources, kind?, item))
    }

    /// `data` of a message event: the message, or an envelope around it.
    fn data(&mut self, json: &mut Scanner<'_>, kind: MessageKind) -> Option<Cited> {
        if kind == MessageKind::User {
            return self.message(json, kind);
        }
        let mut item = None;
        json.object(|json, key| match key {
            b"message" => once(&mut item, self.message(json, kind)?),
            _ => json.skip(),
        })?;
        item
    }

    fn message(&mut self, json: &mut Scanner<'_>, kind: MessageKind) -> Option<Cited> {
        let start = self.texts.len();
        let (mut id, mut role, mut source, mut content) = (None, None, None, None);
        json.object(|json, key| match key {
            b"id" => once(&mut id, json.skip_string()?),
            b"role" => once(&mut role, is_role(json.plain_str()?).then_some(())?),
            b"source" => once(&mut source, provenance(json)?),
            b"content" => {
                // Where the source comes later, it may be wanted.
                let wanted = source.is_none_or(|source| admit(kind, source).is_some());
                once(&mut content, self.content(json, wanted)?)
            }
            _ => json.skip(),
        })?;
        role?;
        content?;
        let Some((role, checkpoint)) = admit(kind, source?) else {
            self.give_up(start)?;
            return Some(Cited(None));
        };
        if self.texts.len() == start {
            return Some(Cited(None));
        }
        let text = self.texts.text(start)?;
        Some(Cited(Some(Item {
            // The line tells it elsewhere.
            time: Millis::default(),
            role,
            checkpoint,
            text,
        })))
    }

    /// The blocks of a message: writes the text of its text blocks, joined.
    fn content(&mut self, json: &mut Scanner<'_>, wanted: bool) -> Option<()> {
        let mut is_first = true;
        json.array(|json| {
            if !wanted || json.peek()? != b'{' {
                return json.skip();
            }
            if self.block(json, is_first)? {
                is_first = false;
            }
            Some(())
        })
    }

    /// One block; whether it is a text block.
    fn block(&mut self, json: &mut Scanner<'_>, is_first: bool) -> Option<bool> {
        let start = self.texts.len();
        let (mut is_text, mut text) = (None, None);
        json.object(|json, key| match key {
            b"type" => once(&mut is_text, json.plain_str()? == "text"),
            b"text" if is_text == Some(false) || json.peek()? != b'"' => {
                json.skip()?;
                once(&mut text, false)
            }
            b"text" => {
                if !is_first {
                    *self.texts.free().first_mut()? = b'\n';
                    self.texts.advance(1);
                }
                let written = json.unescape(self.texts.free())?;
                self.texts.advance(written);
                once(&mut text, true)
            }
            _ => json.skip(),
        })?;
        if is_text == Some(true) && text == Some(true) {
            return Some(true);
        }
        self.give_up(start)?;
        Some(false)
    }

    /// Gives up what was written since. All that stays is checked together;
    /// this must be sound all the same.
    fn give_up(&mut self, start: usize) -> Option<()> {
        std::str::from_utf8(self.texts.written(start)).ok()?;
        self.texts.truncate(start);
        Some(())
    }
}

fn is_role(word: &str) -> bool {
    [Role::System, Role::User, Role::Assistant, Role::Tool]
        .iter()
        .any(|role| role.as_str() == word)
}

fn surface_op(json: &mut Scanner<'_>) -> Option<SurfaceOp> {
    if json.peek()? == b'"' {
        return (json.plain_str()? == "append").then_some(SurfaceOp::Append);
    }
    let (mut op, mut start, mut end) = (None, None, None);
    json.object(|json, key| match key {
        b"op" => once(&mut op, (json.plain_str()? == "replace").then_some(())?),
        b"startSeq" => once(&mut start, Seq(json.integer()?)),
        b"endSeq" => once(&mut end, Seq(json.integer()?)),
        _ => None,
    })?;
    op?;
    Some(SurfaceOp::Replace {
        start: start?,
        end: end?,
    })
}

fn provenance(json: &mut Scanner<'_>) -> Option<Provenance> {
    let (mut kind, mut plugin, mut compaction) = (None, None, None);
    json.object(|json, key| match key {
        b"kind" => once(&mut kind, json.plain_str()?),
        b"plugin" => once(&mut plugin, json.plain_str()?),
        b"compactionId" => once(&mut compaction, json.skip_string()?),
        _ => json.skip(),
    })?;
    let kind = kind?;
    Some(Provenance {
        is_person: kind == "user",
        is_checkpoint: kind == "plugin" && plugin == Some(COMPACT_PLUGIN) && compaction.is_some(),
    })
}

#[cfg(test)]
mod tests;
