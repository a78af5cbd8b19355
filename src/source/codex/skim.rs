//! Reading the messages of the history without building what they hold.
//!
//! It gives the same as parsing the whole record, or it refuses the line.

use super::super::moment;
use super::record::{Block, BlockKind, Content, Marked};
use super::words::{Message, Parts, Role};
use crate::json::{Scanner, once};
use crate::text::{Text, TextBlock};

/// A record of a message, its types before what it holds. Its texts go to the
/// end of `texts`, which has room for the line.
pub(super) fn message(line: &[u8], texts: &mut TextBlock) -> Option<Message<Parts>> {
    let mut json = Scanner::new(line);
    let (mut time, mut kind, mut payload, mut is_output) = (None, None, None, None);
    json.object(|json, key| match key {
        b"timestamp" => once(&mut time, moment::millis(json.plain_str()?)),
        b"type" => once(
            &mut kind,
            (json.plain_str()? == "response_item").then_some(())?,
        ),
        b"payload" => once(&mut payload, self::payload(json, texts)?),
        b"metadata" => once(&mut is_output, metadata(json)?),
        b"record_type" | b"id" | b"role" | b"content" => None,
        _ => json.skip(),
    })?;
    json.end()?;
    kind?;
    Some(Message {
        time: time.flatten(),
        is_output: is_output == Some(true),
        words: payload?,
    })
}

/// Another event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event<T> {
    /// When it was, in Unix milliseconds.
    pub(super) time: Option<i64>,
    /// What it tells.
    pub(super) told: T,
}

/// The start of a turn, of a record that says no more.
pub(super) fn started(line: &[u8]) -> Option<Event<()>> {
    let mut kind = None;
    event(line, |json, key| match key {
        b"type" => once(&mut kind, json.skip_string()?),
        _ => other(json, key),
    })
}

/// The model that a context of turns names.
pub(super) fn model(line: &[u8]) -> Option<Event<&str>> {
    let (mut model, mut cwd) = (None, None);
    let event = event(line, |json, key| match key {
        b"model" => once(&mut model, json.plain_str()?),
        b"cwd" => once(&mut cwd, json.skip_string()?),
        _ => other(json, key),
    })?;
    Some(Event {
        time: event.time,
        told: model?,
    })
}

/// Keys of payloads whose values are read.
const OWN_KEYS: &[&[u8]] = &[
    b"type",
    b"role",
    b"content",
    b"internal_chat_message_metadata_passthrough",
    b"id",
    b"timestamp",
    b"cwd",
    b"model",
    b"cli_version",
    b"source",
    b"thread_source",
    b"forked_from_id",
    b"parent_thread_id",
    b"history_base",
    b"message",
    b"replacement_history",
    b"num_turns",
    b"thread_id",
    b"thread_name",
    b"item",
];

/// Passes over a value of a payload that is never read.
fn other(json: &mut Scanner<'_>, key: &[u8]) -> Option<()> {
    (!OWN_KEYS.contains(&key)).then(|| json.skip())?
}

/// An event of a record with nothing unusual outside of its payload, whose
/// values `payload` reads.
fn event<'a>(
    line: &'a [u8],
    mut payload: impl FnMut(&mut Scanner<'a>, &'a [u8]) -> Option<()>,
) -> Option<Event<()>> {
    let mut json = Scanner::new(line);
    let (mut time, mut kind, mut inside) = (None, None, None);
    json.object(|json, key| match key {
        b"timestamp" => once(&mut time, moment::millis(json.plain_str()?)),
        b"type" => once(&mut kind, json.skip_string()?),
        b"payload" => once(&mut inside, json.object(&mut payload)?),
        b"metadata" | b"record_type" | b"id" | b"role" | b"content" => None,
        _ => json.skip(),
    })?;
    json.end()?;
    kind?;
    Some(Event {
        time: time.flatten(),
        told: inside?,
    })
}

fn metadata(json: &mut Scanner<'_>) -> Option<bool> {
    let mut is_output = None;
    json.object(|json, key| match key {
        b"compaction_output" => once(&mut is_output, json.truth()?),
        _ => json.skip(),
    })?;
    Some(is_output == Some(true))
}

fn payload(json: &mut Scanner<'_>, texts: &mut TextBlock) -> Option<Parts> {
    let (mut kind, mut role, mut content, mut id) = (None, None, None, None);
    let (mut passed, mut kinds) = (None, None);
    json.object(|json, key| match key {
        b"type" => once(&mut kind, (json.plain_str()? == "message").then_some(())?),
        b"role" => once(&mut role, Role::of(json.plain_str()?)?),
        b"content" => {
            role?;
            once(&mut content, self::content(json, texts)?)
        }
        b"internal_chat_message_metadata_passthrough" => {
            once(&mut passed, self::passed(json, &mut kinds)?)
        }
        b"id" => once(&mut id, json.skip()?),
        b"timestamp"
        | b"cwd"
        | b"cli_version"
        | b"source"
        | b"thread_source"
        | b"forked_from_id"
        | b"parent_thread_id"
        | b"history_base"
        | b"model"
        | b"message"
        | b"replacement_history"
        | b"num_turns"
        | b"thread_id"
        | b"thread_name"
        | b"item" => None,
        _ => json.skip(),
    })?;
    kind?;
    Some(Parts {
        role: role?,
        content: content?,
        kinds,
    })
}

fn content(json: &mut Scanner<'_>, texts: &mut TextBlock) -> Option<Content> {
    if json.peek()? == b'"' {
        return Some(Content::Text(text(json, texts)?));
    }
    let mut blocks = Vec::new();
    json.array(|json| {
        blocks.push(block(json, texts)?);
        Some(())
    })?;
    Some(Content::Blocks(blocks))
}

/// A part of a message, its type first.
fn block(json: &mut Scanner<'_>, texts: &mut TextBlock) -> Option<Block> {
    let (mut kind, mut own) = (None, None);
    json.object(|json, key| match key {
        b"type" => once(&mut kind, BlockKind::of(json.plain_str()?)),
        b"text" => {
            kind?;
            once(&mut own, text(json, texts)?)
        }
        _ => json.skip(),
    })?;
    Some(Block {
        kind: kind.unwrap_or_default(),
        text: own,
    })
}

fn text(json: &mut Scanner<'_>, texts: &mut TextBlock) -> Option<Text> {
    let start = texts.len();
    let written = json.unescape(texts.free())?;
    if written == 0 {
        return Some(Text::default());
    }
    texts.advance(written);
    texts.text(start)
}

fn passed(json: &mut Scanner<'_>, kinds: &mut Option<Vec<Marked>>) -> Option<()> {
    json.object(|json, key| match key {
        b"content_item_kinds" => {
            let mut all = Vec::new();
            json.array(|json| {
                all.push(Marked::of(json.plain_str()?));
                Some(())
            })?;
            once(kinds, all)
        }
        _ => json.skip(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::record::Record;
    use super::*;
    use crate::json::WORD;

    /// Whether a line is skimmed; then it must be just what the whole record is.
    fn is_skimmed(line: &str) -> bool {
        let mut texts = TextBlock::new(line.len() + WORD);
        let Some(message) = message(line.as_bytes(), &mut texts) else {
            return false;
        };
        assert!(texts.seal(), "{line}");
        let record: Record = serde_json::from_str(line).unwrap();
        assert_eq!(message, record.message().unwrap(), "{line}");
        true
    }

    fn line(role: &str, content: &str, inside: &str, behind: &str) -> String {
        format!(
            r#"{{"timestamp":"2026-12-01T20:34:12.870Z","ordinal":1,"type":"response_item","payload":{{"type":"message","id":"m","role":"{role}","content":{content}{inside}}}{behind}}}"#
        )
    }

    #[test]
    fn a_message_in_its_usual_form_reads_as_the_whole_record() {
        for content in [
            r#""a\n\"é\u00e9""#,
            r#""""#,
            "[]",
            r#"[{"type":"input_text","text":"a"},{"type":"input_text","text":""}]"#,
            r#"[{"type":"input_text","text":"<image>"},{"type":"input_image","image_url":"data:x"},{"type":"output_text","text":"b"}]"#,
        ] {
            for inside in [
                "",
                r#","internal_chat_message_metadata_passthrough":{"turn_id":"t","create_time":1.5}"#,
                r#","internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.prompt"]}"#,
            ] {
                for behind in [
                    "",
                    r#","metadata":{"n":1}"#,
                    r#","metadata":{"compaction_output":true}"#,
                ] {
                    for role in ["user", "assistant"] {
                        let line = line(role, content, inside, behind);
                        assert!(is_skimmed(&line), "{line}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_event_that_tells_a_thing_twice_is_left_to_the_whole_parse() {
        let line = |outer: &str, inside: &str| {
            format!(
                r#"{{"timestamp":"2026-12-01T20:34:12.870Z","type":"{outer}","payload":{{{inside}}}}}"#
            )
        };
        let started = |inside: &str| started(line("event_msg", inside).as_bytes()).is_some();
        assert!(started(r#""type":"task_started","turn_id":"t""#));
        assert!(!started(r#""type":"task_started","type":"x""#));
        let model = |inside: &str| model(line("turn_context", inside).as_bytes()).is_some();
        assert!(model(r#""cwd":"/w","model":"m""#));
        assert!(!model(r#""cwd":"/w","model":"m","cwd":"/x""#));
        assert!(!model(r#""cwd":"/w","model":"m","model":"m""#));
    }

    #[test]
    fn what_is_unusual_is_left_to_the_whole_parse() {
        for content in [
            "null",
            "7",
            "{}",
            r#"[{"text":"a","type":"text"}]"#,
            r#"["a"]"#,
            r#"[{"type":"t","text":1}]"#,
            r#""\x""#,
        ] {
            assert!(!is_skimmed(&line("user", content, "", "")), "{content}");
        }
        assert!(!is_skimmed(&line("developer", r#""a""#, "", "")));
        for inside in [
            r#","model":"x""#,
            r#","role":"user""#,
            r#","internal_chat_message_metadata_passthrough":null"#,
        ] {
            assert!(!is_skimmed(&line("user", r#""a""#, inside, "")), "{inside}");
        }
        for behind in [r#","metadata":null"#, r#","role":"user""#, r#","type":"x""#] {
            assert!(!is_skimmed(&line("user", r#""a""#, "", behind)), "{behind}");
        }
    }
}
