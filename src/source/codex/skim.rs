//! Reading the messages of the history without building what they hold.
//!
//! It gives the same as parsing the whole record, or it refuses the line.

use super::reading::millis_of;
use super::record::{Block, Content};
use crate::json::{Scanner, once};
use crate::text::{Text, TextBlock};

/// A message of a person or the model, as far as it is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Unix milliseconds.
    pub(super) time: Option<i64>,
    /// Whether it is the answer to a compaction.
    pub(super) is_output: bool,
    pub(super) role: Role,
    pub(super) content: Content,
    /// What the tool says of each part.
    pub(super) kinds: Option<Vec<Option<String>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
}

impl Role {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// A record of a message, its types before what it holds. Its texts go to the
/// end of `texts`, which has room for the line.
pub(super) fn message(line: &[u8], texts: &mut TextBlock) -> Option<Message> {
    let mut json = Scanner::new(line);
    let (mut time, mut kind, mut payload, mut is_output) = (None, None, None, None);
    json.object(|json, key| match key {
        b"timestamp" => once(&mut time, millis_of(json.plain_str()?)),
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
    let (role, content, kinds) = payload?;
    Some(Message {
        time: time.flatten(),
        is_output: is_output == Some(true),
        role,
        content,
        kinds,
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

type Payload = (Role, Content, Option<Vec<Option<String>>>);

fn payload(json: &mut Scanner<'_>, texts: &mut TextBlock) -> Option<Payload> {
    let (mut kind, mut role, mut content, mut id) = (None, None, None, None);
    let (mut passed, mut kinds) = (None, None);
    json.object(|json, key| match key {
        b"type" => once(&mut kind, (json.plain_str()? == "message").then_some(())?),
        b"role" => {
            let word = match json.plain_str()? {
                "user" => Role::User,
                "assistant" => Role::Assistant,
                _ => return None,
            };
            once(&mut role, word)
        }
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
    Some((role?, content?, kinds))
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
    let mut block = Block::default();
    json.object(|json, key| match key {
        b"type" => once(&mut block.kind, json.plain_str()?.to_owned()),
        b"text" => {
            block.kind.as_ref()?;
            once(&mut block.text, text(json, texts)?)
        }
        _ => json.skip(),
    })?;
    Some(block)
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

fn passed(json: &mut Scanner<'_>, kinds: &mut Option<Vec<Option<String>>>) -> Option<()> {
    json.object(|json, key| match key {
        b"content_item_kinds" => {
            let mut all = Vec::new();
            json.array(|json| {
                all.push(Some(json.plain_str()?.to_owned()));
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
