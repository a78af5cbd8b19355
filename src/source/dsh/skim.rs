//! Reading the messages of the dialogue without building what they hold.
//!
//! It gives the same as reading the whole row, or it refuses the line.

use super::super::loose::MAX_RESULT_BYTES;
use super::rows::{Message, Op, Said, Source, of_user};
use crate::json::{Beginning, Scanner, once};
use crate::text::{Text, TextBlock};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Assistant,
    Tool,
}

/// A message as it is written, its type before its data. Its text goes to the
/// end of `texts`, which has room for the line.
pub(super) fn message(line: &[u8], texts: &mut TextBlock) -> Option<Message> {
    let mut json = Scanner::new(line);
    let (mut kind, mut seq, mut time, mut said) = (None, None, None, None);
    let (mut op, mut sources) = (None, None);
    json.object(|json, key| match key {
        b"type" => {
            let word = match json.plain_str()? {
                "user/message" => Kind::User,
                "assistant/message" => Kind::Assistant,
                "tool/result" => Kind::Tool,
                _ => return None,
            };
            once(&mut kind, word)
        }
        b"seq" => once(&mut seq, json.integer()?),
        b"time" => once(&mut time, i64::try_from(json.integer()?).ok()?),
        b"data" => once(&mut said, data(json, kind?, texts)?),
        b"surfaceOp" => once(&mut op, (json.plain_str()? == "append").then_some(())?),
        // Asked only of what stands for others.
        b"sourceEventSeqs" => once(&mut sources, json.skip()?),
        // Those of the header and of packed rows.
        b"seq0" | b"version" | b"id" | b"createdAt" | b"cwd" | b"parentSession" | b"isSeeded"
        | b"origin" | b"delegationDepth" => None,
        _ => json.skip(),
    })?;
    json.end()?;
    Some(Message {
        is_dialogue: kind? != Kind::Tool,
        seq,
        time,
        op: Op::Append,
        sources: Vec::new(),
        said: Some(said?),
    })
}

/// How many events a packed row stands for that tells no seq.
pub(super) fn packed(line: &[u8]) -> Option<u64> {
    let mut json = Scanner::new(line);
    let (mut kind, mut data) = (None, None);
    json.object(|json, key| match key {
        b"type" => once(&mut kind, json.skip_string()?),
        b"data" => once(&mut data, members(json)?),
        b"seq" | b"seq0" | b"time" | b"surfaceOp" | b"sourceEventSeqs" | b"version" | b"id"
        | b"createdAt" | b"cwd" | b"parentSession" | b"isSeeded" | b"origin"
        | b"delegationDepth" => None,
        _ => json.skip(),
    })?;
    json.end()?;
    kind?;
    data
}

fn members(json: &mut Scanner<'_>) -> Option<u64> {
    let mut count = None;
    json.object(|json, key| match key {
        b"texts" | b"args" => {
            let mut members = 0;
            json.array(|json| {
                members += 1;
                json.skip()
            })?;
            once(&mut count, members)
        }
        b"message" | b"content" | b"source" | b"provenance" | b"callId" | b"title" => None,
        _ => json.skip(),
    })?;
    Some(count.unwrap_or(1))
}

/// `data`, which is the message or holds it.
fn data(json: &mut Scanner<'_>, kind: Kind, texts: &mut TextBlock) -> Option<Said> {
    let (mut text, mut source, mut call_id, mut inner) = (None, None, None, None);
    json.object(|json, key| match key {
        b"message" if text.is_none() && source.is_none() => {
            once(&mut inner, body(json, kind, texts)?)
        }
        b"content" if inner.is_none() => once(&mut text, content(json, kind, texts)?),
        b"source" | b"provenance" if inner.is_none() => once(&mut source, self::source(json)?),
        b"callId" => once(&mut call_id, json.plain_str()?.to_owned()),
        b"message" | b"content" | b"source" | b"provenance" | b"title" | b"texts" | b"args" => None,
        _ => json.skip(),
    })?;
    let (text, source) = match inner {
        Some(inner) => inner,
        None => (text?, source.unwrap_or_default()),
    };
    Some(match kind {
        Kind::User => of_user(source, text),
        Kind::Assistant => Said::Model {
            model: match source.model {
                Some(serde_json::Value::String(model)) => model,
                _ => String::new(),
            },
            text,
        },
        Kind::Tool => Said::Tool {
            call: source.call_id.or(call_id).unwrap_or_default(),
            text,
        },
    })
}

fn body(json: &mut Scanner<'_>, kind: Kind, texts: &mut TextBlock) -> Option<(Text, Source)> {
    let (mut text, mut source) = (None, None);
    json.object(|json, key| match key {
        b"content" => once(&mut text, content(json, kind, texts)?),
        b"source" => once(&mut source, self::source(json)?),
        _ => json.skip(),
    })?;
    Some((text?, source.unwrap_or_default()))
}

fn source(json: &mut Scanner<'_>) -> Option<Source> {
    let mut source = Source::default();
    let word = |json: &mut Scanner<'_>, place: &mut Option<String>| {
        once(place, json.plain_str()?.to_owned())
    };
    json.object(|json, key| match key {
        b"kind" => word(json, &mut source.kind),
        b"plugin" => word(json, &mut source.plugin),
        b"compactionId" => word(json, &mut source.compaction_id),
        b"callId" => word(json, &mut source.call_id),
        b"model" => once(&mut source.model, json.plain_str()?.into()),
        _ => json.skip(),
    })?;
    Some(source)
}

/// What a content says, its text blocks joined; of a tool's the beginning.
fn content(json: &mut Scanner<'_>, kind: Kind, texts: &mut TextBlock) -> Option<Text> {
    if kind == Kind::Tool {
        let mut beginning = Beginning::new(MAX_RESULT_BYTES);
        result(json, &mut beginning, &mut true)?;
        return Some(beginning.into_string().into());
    }
    let start = texts.len();
    if json.peek()? == b'"' {
        let written = json.unescape(texts.free())?;
        texts.advance(written);
    } else {
        let mut is_first = true;
        json.array(|json| block(json, texts, &mut is_first))?;
    }
    if texts.len() == start {
        return Some(Text::default());
    }
    texts.text(start)
}

/// One block, its type first.
fn block(json: &mut Scanner<'_>, texts: &mut TextBlock, is_first: &mut bool) -> Option<()> {
    let (mut is_text, mut text) = (None, None);
    json.object(|json, key| match key {
        b"type" => once(
            &mut is_text,
            match json.plain_str()? {
                "text" => true,
                "reasoning" | "tool-call" | "image" | "file" => false,
                _ => return None,
            },
        ),
        b"text" if is_text? => {
            if !*is_first {
                *texts.free().first_mut()? = b'\n';
                texts.advance(1);
            }
            *is_first = false;
            let written = json.unescape(texts.free())?;
            texts.advance(written);
            once(&mut text, ())
        }
        b"text" => once(&mut text, json.skip_string()?),
        _ => json.skip(),
    })?;
    (!is_text? || text.is_some()).then_some(())
}

/// Adds the texts of a tool's result, which up to version 3 are one level
/// further down.
fn result(json: &mut Scanner<'_>, of: &mut Beginning, is_first: &mut bool) -> Option<()> {
    if json.peek()? == b'"' {
        return json.beginning(of);
    }
    json.array(|json| {
        let (mut kind, mut text, mut inner) = (None, None, None);
        json.object(|json, key| match key {
            b"type" => once(&mut kind, json.plain_str()?),
            b"text" if kind? == "text" => {
                if !std::mem::take(is_first) {
                    of.add_char('\n');
                }
                once(&mut text, json.beginning(of)?)
            }
            b"content" if kind? == "tool-result" => {
                // What is not of texts alone is left to the whole parse.
                if !*is_first {
                    return None;
                }
                once(&mut inner, nested(json, of, is_first)?)
            }
            b"text" | b"content" => None,
            _ => json.skip(),
        })?;
        match kind? {
            "text" => text,
            "tool-result" => inner,
            _ => None,
        }
    })
}

/// The texts of the blocks in a tool's result, which are one text.
fn nested(json: &mut Scanner<'_>, of: &mut Beginning, is_first: &mut bool) -> Option<()> {
    if json.peek()? == b'"' {
        *is_first = false;
        return json.beginning(of);
    }
    *is_first = false;
    let mut is_first = true;
    json.array(|json| {
        let (mut kind, mut text) = (None, None);
        json.object(|json, key| match key {
            b"type" => once(&mut kind, json.skip_string()?),
            b"text" => {
                if !std::mem::take(&mut is_first) {
                    of.add_char('\n');
                }
                once(&mut text, json.beginning(of)?)
            }
            _ => json.skip(),
        })?;
        kind
    })
}

#[cfg(test)]
mod tests {
    use super::super::rows::Row;
    use super::*;
    use crate::json::WORD;

    /// Whether a line is skimmed; then it must be just what its row says.
    fn is_skimmed(line: &str) -> bool {
        let mut texts = TextBlock::new(line.len() + WORD);
        let Some(message) = message(line.as_bytes(), &mut texts) else {
            return false;
        };
        assert!(texts.seal(), "{line}");
        let row: Row = serde_json::from_str(line).unwrap();
        assert_eq!(message, row.message(), "{line}");
        true
    }

    const CONTENTS: &[&str] = &[
        r#""plain""#,
        r#""""#,
        "[]",
        r#"[{"type":"text","text":"a\n\"é\u00e9"}]"#,
        r#"[{"type":"text","text":""},{"type":"text","text":"b"}]"#,
        r#"[{"type":"reasoning","text":"hm"},{"type":"text","text":"a"},{"type":"tool-call","id":"1","n":1.5},{"type":"text","text":"b"}]"#,
    ];

    #[test]
    fn a_message_in_its_usual_form_reads_as_the_whole_row() {
        for content in CONTENTS {
            for source in [
                r#"{"kind":"user","rpcId":"r"}"#,
                r#"{"kind":"plugin","plugin":"p"}"#,
                r#"{"kind":"plugin","plugin":"compact","compactionId":"c"}"#,
                r#"{"kind":"compact-checkpoint","compactionId":"c"}"#,
                r#"{"kind":"goal"}"#,
                r#"{"kind":"model","provider":"p","model":"m"}"#,
            ] {
                for head in ["", r#""seq":7,"time":1786,"#] {
                    let own = format!(
                        r#"{{"type":"user/message",{head}"data":{{"content":{content},"source":{source},"id":"x"}},"surfaceOp":"append"}}"#
                    );
                    assert!(is_skimmed(&own), "{own}");
                    let held = format!(
                        r#"{{"type":"assistant/message",{head}"data":{{"turn":1,"message":{{"content":{content},"source":{source}}}}},"sourceEventSeqs":[1,2]}}"#
                    );
                    assert!(is_skimmed(&held), "{held}");
                }
            }
        }
    }

    #[test]
    fn the_beginning_of_a_tools_result_reads_as_that_of_the_whole_row() {
        let long = "é".repeat(MAX_RESULT_BYTES);
        let text = format!(
            r#"[{{"type":"text","text":"out"}},{{"type":"text","text":"{long}"}},{{"type":"text","text":"end"}}]"#
        );
        for content in [
            r#""plain""#.to_owned(),
            "[]".to_owned(),
            format!(r#"[{{"type":"tool-result","id":"1","content":{text},"isError":false}}]"#),
            r#"[{"type":"tool-result","content":[]},{"type":"text","text":"b"}]"#.to_owned(),
            r#"[{"type":"tool-result","content":"plain"}]"#.to_owned(),
            text,
        ] {
            for data in [
                format!(r#"{{"callId":"c","content":{content}}}"#),
                format!(r#"{{"message":{{"source":{{"callId":"c"}},"content":{content}}}}}"#),
            ] {
                let line =
                    format!(r#"{{"type":"tool/result","data":{data},"surfaceOp":"append"}}"#);
                assert!(is_skimmed(&line), "{line}");
            }
        }
    }

    #[test]
    fn a_packed_row_counts_its_members_like_the_whole_row() {
        for data in [
            r#"{"turn":1,"dt":[1,2],"texts":["a","b\\n"]}"#,
            r#"{"id":"c","name":"bash","args":[]}"#,
            r#"{"turn":1}"#,
        ] {
            let line = format!(r#"{{"type":"text-chunks","data":{data}}}"#);
            let row: Row = serde_json::from_str(&line).unwrap();
            assert_eq!(packed(line.as_bytes()), Some(row.members()), "{line}");
        }
        for data in [
            r#"{"texts":7}"#,
            r#"{"texts":[],"args":[]}"#,
            r#"{"texts":["a]}"#,
        ] {
            let line = format!(r#"{{"type":"text-chunks","data":{data}}}"#);
            assert_eq!(packed(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn what_is_unusual_is_left_to_the_whole_parse() {
        for line in [
            r#"{"type":"user/message","data":{"content":[{"text":"a","type":"text"}]}}"#,
            r#"{"type":"user/message","data":{"content":{"new":1}}}"#,
            r#"{"type":"user/message","data":{"content":[{"type":"new"}]}}"#,
            r#"{"type":"user/message","data":{"content":[{"type":"text"}]}}"#,
            r#"{"type":"user/message","data":{"content":[{"type":"image","text":1}]}}"#,
            r#"{"type":"user/message","data":{"content":"a","source":null}}"#,
            r#"{"type":"user/message","data":{"content":"a"},"seq":-1}"#,
            r#"{"type":"user/message","data":{"content":"a"},"surfaceOp":{"op":"replace","start":1,"end":2}}"#,
            r#"{"type":"user/message","data":{"content":"a"},"id":1}"#,
            r#"{"type":"user/message","data":{"content":"a","content":"b"}}"#,
            r#"{"type":"system/message","data":{"content":"a"}}"#,
            r#"{"type":"user/message","data":{"content":"a"}"#,
            r#"{"type":"user/message","data":{"content":"\x"}}"#,
        ] {
            assert!(!is_skimmed(line), "{line}");
        }
    }
}
