//! Reading the records of the dialogue without building what they hold.
//!
//! It gives the same as parsing the whole record, or it refuses the line.

use super::chain::Node;
use super::id::Id;
use super::said::{Outcome, Parts, SILENT, SYNTHETIC, Seen, Speaker};
use super::told::{Start, Told};
use crate::json::{Beginning, Scanner, once};
use crate::source::loose::MAX_RESULT_BYTES;
use crate::source::moment;
use crate::text::{Text, TextBlock};

/// The words of the dialogue that a record of a user or the model holds. Its
/// texts go to the end of `texts`, which has room for the line. What only the
/// start of a file tells is left out `behind_the_start`, what tools gave and
/// the names of models unless it `keeps_results`.
pub(super) fn record(
    line: &[u8],
    texts: &mut TextBlock,
    behind_the_start: bool,
    keeps_results: bool,
) -> Option<Told<Seen>> {
    let mut json = Scanner::new(line);
    let mut record = Record::default();
    let mut content = Reader {
        texts,
        keeps_results,
    };
    json.object(|json, key| match key {
        b"type" => {
            let is_model = match json.plain_str()? {
                "user" => false,
                "assistant" => true,
                _ => return None,
            };
            once(&mut record.is_model, is_model)
        }
        b"uuid" => id(json, &mut record.uuid),
        b"parentUuid" => {
            once(&mut record.has_parent, ())?;
            if json.peek()? == b'n' {
                return json.skip();
            }
            id(json, &mut record.parent)
        }
        b"sessionId" => id(json, &mut record.session_id),
        b"agentId" => word(json, &mut record.start.agent_id),
        b"requestSessionId" => word(json, &mut record.start.request_of),
        b"timestamp" => once(
            &mut record.time,
            moment::millis(json.plain_str()?).unwrap_or(0),
        ),
        b"cwd" | b"version" if behind_the_start => json.skip_string(),
        b"cwd" => word(json, &mut record.start.cwd),
        b"version" => word(json, &mut record.start.version),
        b"isSidechain" => once(&mut record.is_sidechain, json.truth()?),
        b"isMeta" => once(&mut record.is_meta, json.truth()?),
        b"isCompactSummary" => once(&mut record.is_summary, json.truth()?),
        b"isVisibleInTranscriptOnly" => once(&mut record.is_for_transcript, json.truth()?),
        b"isApiErrorMessage" => once(&mut record.is_api_error, json.truth()?),
        b"message" => once(&mut record.body, content.body(json)?),
        b"subtype" | b"logicalParentUuid" | b"forkedFrom" | b"origin" | b"attachment"
        | b"compactMetadata" | b"customTitle" | b"agentName" | b"aiTitle" | b"summary"
        | b"leafUuid" => None,
        _ => json.skip(),
    })?;
    json.end()?;
    record.told(keeps_results)
}

/// What is read of a record.
#[derive(Default)]
struct Record<'a> {
    is_model: Option<bool>,
    uuid: Option<Id>,
    has_parent: Option<()>,
    parent: Option<Id>,
    session_id: Option<Id>,
    time: Option<i64>,
    is_sidechain: Option<bool>,
    is_meta: Option<bool>,
    is_summary: Option<bool>,
    is_for_transcript: Option<bool>,
    is_api_error: Option<bool>,
    start: Start,
    body: Option<Body<'a>>,
}

#[derive(Default)]
struct Body<'a> {
    id: Option<&'a str>,
    model: Option<&'a str>,
    parts: Option<Parts>,
}

impl Record<'_> {
    fn told(self, keeps_results: bool) -> Option<Told<Seen>> {
        let is_model = self.is_model?;
        let is = |flag: Option<bool>| flag == Some(true);
        let body = self.body.unwrap_or_default();
        let speaker = if is_model {
            if body.model == Some(SYNTHETIC) || is(self.is_api_error) {
                Speaker::Nobody
            } else {
                let model = body.model.filter(|_| keeps_results);
                Speaker::Model(model.unwrap_or_default().into())
            }
        } else if is(self.is_summary) {
            Speaker::Summary
        } else {
            Speaker::Person {
                is_software: is(self.is_meta) || is(self.is_for_transcript),
            }
        };
        Some(Told {
            node: Node {
                uuid: self.uuid,
                parent: self.parent,
                is_unlinked: self.has_parent.is_none(),
                message_id: body.id.filter(|_| is_model).map(Id::of),
                is_sidechain: is(self.is_sidechain),
                is_progress: false,
                is_summary: is(self.is_summary),
                boundary: None,
            },
            time: self.time.unwrap_or(0),
            session_id: self.session_id,
            start: (self.start != Start::default()).then(|| Box::new(self.start)),
            words: Seen {
                speaker,
                parts: body.parts,
            },
        })
    }
}

fn id(json: &mut Scanner<'_>, place: &mut Option<Id>) -> Option<()> {
    once(place, Id::of(json.plain_str()?))
}

fn word(json: &mut Scanner<'_>, place: &mut Option<Box<str>>) -> Option<()> {
    once(place, json.plain_str()?.into())
}

/// Reads what a message holds.
struct Reader<'t> {
    texts: &'t mut TextBlock,
    keeps_results: bool,
}

impl Reader<'_> {
    fn body<'a>(&mut self, json: &mut Scanner<'a>) -> Option<Body<'a>> {
        let mut body = Body::default();
        json.object(|json, key| match key {
            b"id" => once(&mut body.id, json.plain_str()?),
            b"model" => once(&mut body.model, json.plain_str()?),
            b"content" => once(&mut body.parts, self.content(json)?),
            _ => json.skip(),
        })?;
        Some(body)
    }

    fn content(&mut self, json: &mut Scanner<'_>) -> Option<Parts> {
        let mut parts = Parts::default();
        if json.peek()? == b'"' {
            parts.add(self.text(json)?);
            return Some(parts);
        }
        json.array(|json| {
            if json.peek()? == b'"' {
                parts.add(self.text(json)?);
                return Some(());
            }
            self.block(json, &mut parts)
        })?;
        Some(parts)
    }

    fn text(&mut self, json: &mut Scanner<'_>) -> Option<Text> {
        let start = self.texts.len();
        let written = json.unescape(self.texts.free())?;
        if written == 0 {
            return Some(Text::default());
        }
        self.texts.advance(written);
        self.texts.text(start)
    }

    /// A block, its type before what it holds.
    fn block(&mut self, json: &mut Scanner<'_>, parts: &mut Parts) -> Option<()> {
        let (mut kind, mut text, mut call, mut given) = (None, None, None, None);
        json.object(|json, key| match key {
            b"type" => once(&mut kind, Kind::of(json.plain_str()?)?),
            b"tool_use_id" => once(&mut call, json.plain_str()?),
            b"text" if kind? == Kind::Text => once(&mut text, self.text(json)?),
            b"content" if kind? == Kind::Result && !self.keeps_results => {
                once(&mut given, Text::default())?;
                json.skip()
            }
            b"content" if kind? == Kind::Result => {
                let mut beginning = Beginning::new(MAX_RESULT_BYTES);
                excerpt(json, &mut beginning)?;
                once(&mut given, beginning.into_string().into())
            }
            // What a silent block holds is never asked for.
            b"text" | b"content" if kind? != Kind::Silent => None,
            _ => json.skip(),
        })?;
        match kind? {
            Kind::Text => match text {
                Some(text) => parts.add(text),
                None => parts.is_strange = true,
            },
            Kind::Result => parts.results.push(Outcome {
                call: call
                    .filter(|_| self.keeps_results)
                    .unwrap_or_default()
                    .into(),
                text: given.unwrap_or_default(),
            }),
            Kind::Silent => {}
        }
        Some(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Result,
    Silent,
}

impl Kind {
    /// `None` for a kind that is not known.
    fn of(kind: &str) -> Option<Self> {
        match kind {
            "text" => Some(Self::Text),
            "tool_result" => Some(Self::Result),
            _ => SILENT.contains(&kind).then_some(Self::Silent),
        }
    }
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
    use super::super::record;
    use super::*;
    use crate::json::WORD;

    /// Whether a line is skimmed; then it must be just what the whole record is.
    fn is_skimmed(line: &str) -> bool {
        let mut texts = TextBlock::new(line.len() + WORD);
        let Some(skimmed) = record(line.as_bytes(), &mut texts, false, true) else {
            return false;
        };
        assert!(texts.seal(), "{line}");
        let record: record::Record = serde_json::from_str(line).unwrap();
        let seen = Seen::of(&record);
        let whole = Told::of(record, seen);
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
        let told = record(line.as_bytes(), &mut texts, true, true).unwrap();
        assert_eq!((told.start, told.session_id), (None, Some(Id::of("s"))));
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
