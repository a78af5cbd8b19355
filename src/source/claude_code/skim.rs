//! Reading the records of the dialogue without building what they hold.
//!
//! It gives the same as parsing the whole record, or it refuses the line.

use super::record::{Block, Body, Record};
use super::said::SILENT;
use crate::json::{Beginning, Scanner, once};
use crate::source::loose::{Excerpt, Flag, MAX_RESULT_BYTES, Object, Piece, Word, Words};
use crate::text::{Text, TextBlock};

/// The words of the dialogue that a record of a user or the model holds. Its
/// texts go to the end of `texts`, which has room for the line. What only the
/// start of a file tells is left out `behind_the_start`.
pub(super) fn record(line: &[u8], texts: &mut TextBlock, behind_the_start: bool) -> Option<Record> {
    let mut json = Scanner::new(line);
    let mut record = Record::default();
    let mut seen = Seen::default();
    json.object(|json, key| match key {
        b"type" => {
            word(json, &mut record.kind)?;
            matches!(record.kind.get(), Some("user" | "assistant")).then_some(())
        }
        b"uuid" => word(json, &mut record.uuid),
        b"parentUuid" => word_or_null(json, &mut record.parent_uuid, &mut seen.parent),
        b"sessionId" => word(json, &mut record.session_id),
        b"agentId" => word(json, &mut record.agent_id),
        b"requestSessionId" => word(json, &mut record.request_session_id),
        b"timestamp" => word(json, &mut record.timestamp),
        b"cwd" | b"version" if behind_the_start => json.skip_string(),
        b"cwd" => word(json, &mut record.cwd),
        b"version" => word(json, &mut record.version),
        b"isSidechain" => flag(json, &mut record.is_sidechain, &mut seen.sidechain),
        b"isMeta" => flag(json, &mut record.is_meta, &mut seen.meta),
        b"isCompactSummary" => flag(json, &mut record.is_compact_summary, &mut seen.summary),
        b"isVisibleInTranscriptOnly" => flag(
            json,
            &mut record.is_visible_in_transcript_only,
            &mut seen.transcript_only,
        ),
        b"isApiErrorMessage" => flag(json, &mut record.is_api_error_message, &mut seen.api_error),
        b"message" => {
            once(&mut seen.message, ())?;
            record.message = Object(body(json, texts)?);
            Some(())
        }
        b"subtype" | b"logicalParentUuid" | b"forkedFrom" | b"origin" | b"attachment"
        | b"compactMetadata" | b"customTitle" | b"agentName" | b"aiTitle" | b"summary"
        | b"leafUuid" => None,
        _ => json.skip(),
    })?;
    json.end()?;
    record.kind.get()?;
    Some(record)
}

/// Which keys were there whose value may be one that reads as absent.
#[derive(Default)]
struct Seen {
    parent: Option<()>,
    sidechain: Option<()>,
    meta: Option<()>,
    summary: Option<()>,
    transcript_only: Option<()>,
    api_error: Option<()>,
    message: Option<()>,
}

fn word(json: &mut Scanner<'_>, place: &mut Word) -> Option<()> {
    once(&mut place.0, json.plain_str()?.into())
}

fn word_or_null(json: &mut Scanner<'_>, place: &mut Word, seen: &mut Option<()>) -> Option<()> {
    once(seen, ())?;
    if json.peek()? == b'n' {
        return json.skip();
    }
    word(json, place)
}

fn flag(json: &mut Scanner<'_>, place: &mut Flag, seen: &mut Option<()>) -> Option<()> {
    once(seen, ())?;
    place.0 = json.truth()?;
    Some(())
}

fn body(json: &mut Scanner<'_>, texts: &mut TextBlock) -> Option<Body> {
    let mut body = Body::default();
    json.object(|json, key| match key {
        b"id" => word(json, &mut body.id),
        b"model" => word(json, &mut body.model),
        b"content" => once(&mut body.content.0, content(json, texts)?),
        _ => json.skip(),
    })?;
    Some(body)
}

fn content(json: &mut Scanner<'_>, texts: &mut TextBlock) -> Option<Vec<Piece<Block>>> {
    if json.peek()? == b'"' {
        return Some(vec![Piece::Text(text(json, texts)?)]);
    }
    let mut pieces = Vec::new();
    json.array(|json| {
        pieces.push(if json.peek()? == b'"' {
            Piece::Text(text(json, texts)?)
        } else {
            Piece::Block(block(json, texts)?)
        });
        Some(())
    })?;
    Some(pieces)
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Result,
    Silent,
}

/// A block, its type before what it holds.
fn block(json: &mut Scanner<'_>, texts: &mut TextBlock) -> Option<Block> {
    let mut block = Block::default();
    let mut kind = None;
    let mut content = None;
    json.object(|json, key| match key {
        b"type" => {
            word(json, &mut block.kind)?;
            let own = block.kind.get()?;
            kind = Some(if own == "text" {
                Kind::Text
            } else if own == "tool_result" {
                Kind::Result
            } else if SILENT.contains(&own) {
                Kind::Silent
            } else {
                return None;
            });
            Some(())
        }
        b"tool_use_id" => word(json, &mut block.tool_use_id),
        b"text" if kind? == Kind::Text => {
            let Words(place) = &mut block.text;
            once(place, text(json, texts)?)
        }
        b"content" if kind? == Kind::Result => {
            let mut beginning = Beginning::new(MAX_RESULT_BYTES);
            excerpt(json, &mut beginning)?;
            once(&mut content, Excerpt(beginning.into_string()))
        }
        // What a silent block holds is never asked for.
        b"text" | b"content" if kind? != Kind::Silent => None,
        _ => json.skip(),
    })?;
    block.content = content.unwrap_or_default();
    kind.map(|_| block)
}

/// Adds the texts of what a tool returned.
fn excerpt(json: &mut Scanner<'_>, of: &mut Beginning) -> Option<()> {
    match json.peek()? {
        b'"' => part(json, of),
        b'[' => json.array(|json| {
            if json.peek()? == b'"' {
                return part(json, of);
            }
            let (mut kind, mut text) = (None, None);
            json.object(|json, key| match key {
                b"type" => once(&mut kind, json.plain_str()?),
                b"text" if kind? == "text" => once(&mut text, part(json, of)?),
                b"text" | b"output" | b"content" | b"response" | b"functionResponse" | b"error" => {
                    None
                }
                _ => json.skip(),
            })
        }),
        _ => None,
    }
}

/// Adds a text on a line of its own.
fn part(json: &mut Scanner<'_>, of: &mut Beginning) -> Option<()> {
    if !of.is_empty() && !json.is_empty_string()? {
        of.add_char('\n');
    }
    json.beginning(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::WORD;

    /// Whether a line is skimmed; then it must be just what the whole record is.
    fn is_skimmed(line: &str) -> bool {
        let mut texts = TextBlock::new(line.len() + WORD);
        let Some(skimmed) = record(line.as_bytes(), &mut texts, false) else {
            return false;
        };
        assert!(texts.seal(), "{line}");
        let whole: Record = serde_json::from_str(line).unwrap();
        assert_eq!(format!("{skimmed:?}"), format!("{whole:?}"), "{line}");
        true
    }

    fn line(kind: &str, content: &str, rest: &str) -> String {
        format!(
            r#"{{"parentUuid":"p","isSidechain":false,"type":"{kind}","message":{{"id":"m","model":"o","content":{content},"usage":{{"n":1.5}}}},"uuid":"u","timestamp":"2026-01-01T00:00:00Z","sessionId":"s","cwd":"/w","version":"2"{rest}}}"#
        )
    }

    #[test]
    fn a_record_in_its_usual_form_reads_as_the_whole_one() {
        let long = "é".repeat(MAX_RESULT_BYTES);
        let results = [
            r#""out\n\"x\"""#.to_owned(),
            r#""""#.to_owned(),
            "[]".to_owned(),
            format!(r#""{long}""#),
            format!(r#"[{{"type":"text","text":"a"}},{{"type":"text","text":""}},"{long}","b"]"#),
            r#"[{"type":"text","text":""},{"type":"text","text":"b"},{"type":"image","source":{"data":"x"}}]"#.to_owned(),
        ];
        let result = |content: &String| {
            format!(
                r#"[{{"tool_use_id":"t","type":"tool_result","content":{content},"is_error":false}}]"#
            )
        };
        let contents = [
            r#""a\n\"é\u00e9""#.to_owned(),
            r#""""#.to_owned(),
            "[]".to_owned(),
            r#"["a",{"type":"text","text":"b"},{"type":"text","text":""}]"#.to_owned(),
        ];
        for content in contents.into_iter().chain(results.iter().map(result)) {
            for kind in ["user", "assistant"] {
                for rest in ["", r#","isMeta":true,"agentId":"a","requestSessionId":"r""#] {
                    let line = line(kind, &content, rest);
                    assert!(is_skimmed(&line), "{line}");
                }
            }
        }
    }

    #[test]
    fn behind_the_start_no_directory_is_read() {
        let line = line("user", r#""a""#, "");
        let mut texts = TextBlock::new(line.len() + WORD);
        let record = record(line.as_bytes(), &mut texts, true).unwrap();
        assert_eq!((record.cwd.get(), record.version.get()), (None, None));
        assert_eq!(record.session_id.get(), Some("s"));
    }

    #[test]
    fn of_a_silent_block_nothing_is_read() {
        let thinking = r#"[{"type":"thinking","thinking":"hm","signature":"x"}]"#;
        assert!(is_skimmed(&line("assistant", thinking, "")));
        let using = r#"[{"type":"tool_use","id":"t","name":"Bash","input":{"content":"x"}}]"#;
        assert!(is_skimmed(&line("assistant", using, "")));
    }

    #[test]
    fn what_is_unusual_is_left_to_the_whole_parse() {
        for content in [
            "7",
            r#"[{"text":"a","type":"text"}]"#,
            r#"[{"type":"new"}]"#,
            r#"[{"type":"text","text":1}]"#,
            "[7]",
            r#"{"type":"text","text":"a"}"#,
            r#"[{"type":"tool_result","content":{"text":"a"}}]"#,
            r#"[{"type":"tool_result","content":[{"type":"new","content":"a"}]}]"#,
            r#""\x""#,
        ] {
            assert!(!is_skimmed(&line("user", content, "")), "{content}");
        }
        for rest in [
            r#","origin":{"kind":"x"}"#,
            r#","isMeta":null"#,
            r#","uuid":"again""#,
            r#","agentId":null"#,
            r#","forkedFrom":{}"#,
        ] {
            assert!(!is_skimmed(&line("user", r#""a""#, rest)), "{rest}");
        }
        assert!(!is_skimmed(&line("system", r#""a""#, "")));
    }
}
