//! The words of the offline model.

use std::sync::Arc;

use super::sent::{Arrived, Citation, FullSnapshot, Record, Sent};
use crate::figures::thousands;
use crate::model::Usage;
use crate::session::{Message, title};

/// The most of any outside text that is echoed, in code points.
pub(super) const QUOTE_LIMIT: usize = 80;
/// The same for the locator of a full text, of which a part is of no use.
const LOCATOR_LIMIT: usize = 400;

const INTRODUCTION: &str = "This is the built-in offline model. It is no language model: it \
understands nothing and makes nothing up. It only says what it was sent.";

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// Its text, in Markdown.
    pub(super) text: String,
    /// The estimate of what it took.
    pub(super) usage: Usage,
}

impl Answer {
    /// The answer to these messages.
    pub(super) fn to(messages: &[Arc<Message>]) -> Self {
        let sent = Sent::read(messages);
        let text = [INTRODUCTION.to_owned(), cited(&sent), conversation(&sent)].join("\n\n");
        Self::of(text, sent.total_bytes)
    }

    /// This text, as the answer to a request of so many bytes.
    pub(super) fn of(text: String, sent_bytes: usize) -> Self {
        let usage = Usage {
            input_tokens: tokens(sent_bytes),
            output_tokens: tokens(text.len()),
        };
        Self { text, usage }
    }
}

/// An estimate of the tokens of a text: a fourth of its bytes, rounded up.
fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

fn cited(sent: &Sent) -> String {
    let mut lines = vec!["## Referenced sessions".to_owned(), String::new()];
    lines.extend(sent.cited.iter().map(|c| format!("- {}", citation(c))));
    if sent.unreadable > 0 {
        let citations = count(sent.unreadable as u64, "citation");
        lines.push(format!("- {citations} that can't be read."));
    }
    if sent.cited.is_empty() && sent.unreadable == 0 {
        lines.push("Your message cites no session.".to_owned());
    }
    if sent.cited_before > 0 {
        let sessions = count(sent.cited_before as u64, "citation");
        lines.push(String::new());
        lines.push(format!(
            "From before the last answer, {sessions} came along again."
        ));
    }
    lines.join("\n")
}

fn citation(citation: &Citation) -> String {
    let record = &citation.record;
    let mut parts = vec![format!("{}: {}", name(record), size(citation))];
    if record.compacted {
        parts.push("A checkpoint stands for its older part.".to_owned());
    }
    if record.truncated {
        parts.push(omission(record));
        parts.push(full_text(citation.full.as_ref()));
    }
    parts.join(" ")
}

fn name(record: &Record) -> String {
    let id = quote(&record.session_id, QUOTE_LIMIT);
    if record.label == record.session_id {
        return id;
    }
    format!("{} (id {id})", quote(&record.label, QUOTE_LIMIT))
}

fn size(citation: &Citation) -> String {
    let Some(Arrived { messages, bytes }) = citation.arrived else {
        return "its text can't be read.".to_owned();
    };
    let bytes = count(bytes as u64, "byte");
    let messages = if citation.record.truncated {
        let all = count(citation.record.original_messages, "message");
        format!("{} of {all}", thousands(messages as u64))
    } else {
        format!("all {}", count(messages as u64, "message"))
    };
    format!("{messages}, {bytes} of text.")
}

fn omission(record: &Record) -> String {
    let bytes = count(record.omitted_bytes, "byte");
    if record.omitted_messages == 0 {
        return format!("Left out: {bytes} of text.");
    }
    let messages = count(record.omitted_messages, "whole message");
    format!("Left out: {messages}, and {bytes} of text in all.")
}

fn full_text(full: Option<&FullSnapshot>) -> String {
    match full {
        Some(FullSnapshot::Saved { locator, bytes }) => format!(
            "The full text is at {} ({}).",
            quote(locator, LOCATOR_LIMIT),
            count(*bytes, "byte")
        ),
        Some(FullSnapshot::Unavailable { reason }) => {
            let reason = match reason.as_str() {
                "storage-not-configured" => "there is no place to save it".to_owned(),
                "save-failed" => "saving it failed".to_owned(),
                other => quote(other, QUOTE_LIMIT),
            };
            format!("The full text is not available: {reason}.")
        }
        None => "Where the full text is, I was not told.".to_owned(),
    }
}

fn conversation(sent: &Sent) -> String {
    let messages = count(sent.messages as u64, "message");
    let bytes = count(sent.bytes as u64, "byte");
    let said = match sent.said.as_deref() {
        None => "You have said nothing yet.".to_owned(),
        Some("") => "Your last message holds no text.".to_owned(),
        Some(text) => format!("The last thing you said: {}", quote(text, QUOTE_LIMIT)),
    };
    format!("## This conversation\n\n{messages}, {bytes} of text. {said}")
}

/// The text on one clean line between quotation marks, cut after `limit` code
/// points.
pub(super) fn quote(text: &str, limit: usize) -> String {
    let line = title::normalise(text, usize::MAX);
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("\"{}…\"", line.get(..end).unwrap_or_default()),
        None => format!("\"{line}\""),
    }
}

pub(super) fn count(n: u64, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(n))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use futures_util::future::BoxFuture;
    use serde_json::{Value, json};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::reference::ports::{Spill, SpillRef, SpillStore, SurfaceReader};
    use crate::reference::projection::{Capture, Item};
    use crate::reference::{
        Cause, Reference, ReferenceConfig, ReferenceSettings, Resolver, RouteChoice, Target,
    };
    use crate::session::{Block, Header, Millis, Role, Seq, SessionId, Source};

    /// Every session: an old message of 3,000 bytes, and two short ones.
    struct Sessions;

    impl SurfaceReader for Sessions {
        fn read_surface<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<Capture, Cause>> {
            let item = |role, text: &str| Item {
                time: Millis(0),
                role,
                checkpoint: false,
                text: text.into(),
            };
            let capture = Capture {
                header: Header::new(id.clone(), Millis(0), None),
                captured_through: Some(Seq(9)),
                damage: None,
                conversation: vec![
                    item(Role::User, &"x".repeat(3_000)),
                    item(Role::Assistant, "grüße"),
                    item(Role::User, "<b>ok</b>"),
                ],
            };
            Box::pin(async { Ok(capture) })
        }
    }

    /// Saves nothing, at a locator or with an error.
    struct Spills(Result<&'static str, &'static str>);

    impl SpillStore for Spills {
        fn save(&self, _: Spill) -> BoxFuture<'_, Result<SpillRef, Cause>> {
            let saved = self.0.map_err(|e| Arc::new(std::io::Error::other(e)) as _);
            let saved = saved.map(|locator| SpillRef {
                locator: locator.to_owned(),
                bytes: 4_321,
                retrieval_hint: String::new(),
            });
            Box::pin(async { saved })
        }

        fn discard<'a>(&'a self, _: &'a SpillRef) -> BoxFuture<'a, ()> {
            Box::pin(async {})
        }
    }

    /// The context message that the resolver makes for these sessions.
    async fn context(
        references: &[(&str, &str)],
        max_reference_bytes: Option<u64>,
        spills: Option<Spills>,
    ) -> Arc<Message> {
        let config = ReferenceConfig::new(ReferenceSettings {
            max_reference_bytes,
            ..ReferenceSettings::default()
        });
        let mut resolver = Resolver::new(config.unwrap(), Arc::new(Sessions));
        if let Some(spills) = spills {
            resolver = resolver.with_spill(Arc::new(spills));
        }
        let target = Target {
            id: "target".into(),
            cwd: None,
            route: RouteChoice::Own(None),
        };
        let references: Vec<Reference> = references
            .iter()
            .map(|(id, label)| Reference::new(*id, Some((*label).to_owned())))
            .collect();
        let cancel = CancellationToken::new();
        let prepared = resolver.prepare(&target, &[], &references, &cancel).await;
        prepared.unwrap().context.unwrap().message
    }

    fn person(text: &str) -> Arc<Message> {
        Arc::new(Message::person(text))
    }

    fn model(text: &str) -> Arc<Message> {
        let source = Source::model("offline", "offline");
        Arc::new(Message::new(
            Role::Assistant,
            source,
            vec![Block::text(text)],
        ))
    }

    /// What the answer says of the sessions it was sent.
    fn referenced(messages: &[Arc<Message>]) -> String {
        let text = Answer::to(messages).text;
        let (_, rest) = text.split_once("## Referenced sessions\n\n").unwrap();
        let (section, _) = rest.split_once("\n\n## This conversation").unwrap();
        section.to_owned()
    }

    #[test]
    fn a_message_without_citations_gets_the_plain_facts() {
        let answer = Answer::to(&[person("hi"), model("hello"), person("what now?")]);
        assert_eq!(
            answer.text,
            "\
This is the built-in offline model. It is no language model: it understands nothing and makes \
nothing up. It only says what it was sent.

## Referenced sessions

Your message cites no session.

## This conversation

3 messages, 16 bytes of text. The last thing you said: \"what now?\""
        );
    }

    #[tokio::test]
    async fn whole_sessions_are_told_with_messages_and_bytes_in_order() {
        let sessions = [("id-b", "Fix the login"), ("id-a", "id-a")];
        let context = context(&sessions, None, None).await;
        assert_eq!(
            referenced(&[person("compare"), context]),
            "\
- \"Fix the login\" (id \"id-b\"): all 3 messages, 3,016 bytes of text.
- \"id-a\": all 3 messages, 3,016 bytes of text."
        );
    }

    #[tokio::test]
    async fn what_was_left_out_is_told_with_the_place_of_the_full_text() {
        let spills = Spills(Ok("spill:77"));
        let context = context(&[("id", "Login")], Some(400), Some(spills)).await;
        assert_eq!(
            referenced(&[person("compare"), context]),
            "- \"Login\" (id \"id\"): 2 of 3 messages, 16 bytes of text. \
             Left out: 1 whole message, and 3,000 bytes of text in all. \
             The full text is at \"spill:77\" (4,321 bytes)."
        );
    }

    #[tokio::test]
    async fn a_full_text_that_is_not_there_is_told_with_the_reason() {
        for (spills, reason) in [
            (None, "there is no place to save it"),
            (Some(Spills(Err("disk full"))), "saving it failed"),
        ] {
            let context = context(&[("id", "Login")], Some(400), spills).await;
            let told = referenced(&[context]);
            let expected = format!("The full text is not available: {reason}.");
            assert!(told.ends_with(&expected), "{told}");
        }
    }

    #[tokio::test]
    async fn citations_from_before_the_last_answer_are_only_counted() {
        let old = context(&[("a", "a"), ("b", "b")], None, None).await;
        let new = context(&[("c", "c")], None, None).await;
        assert_eq!(
            referenced(&[person("1"), old, model("2"), person("3"), new]),
            "\
- \"c\": all 3 messages, 3,016 bytes of text.

From before the last answer, 2 citations came along again."
        );
    }

    #[test]
    fn citations_that_cannot_be_read_are_told_as_such() {
        let broken = |rest: Value, text: &str| {
            let Value::Object(record) = rest else {
                unreachable!("an object");
            };
            let source = Source::session_reference(record);
            Arc::new(Message::new(Role::User, source, vec![Block::text(text)]))
        };
        let record = json!({"sessionId": "id", "label": "l", "truncated": true});
        let told = referenced(&[
            broken(json!({}), ""),
            broken(json!({"references": [17]}), ""),
            broken(
                json!({"references": [record]}),
                "<referenced-sessions>\n[{\n</referenced-sessions>\n[",
            ),
        ]);
        assert_eq!(
            told,
            "\
- \"l\" (id \"id\"): its text can't be read. Left out: 0 bytes of text. \
Where the full text is, I was not told.
- 2 citations that can't be read."
        );
    }

    #[test]
    fn outside_text_is_echoed_on_one_clean_line_of_80_code_points() {
        assert_eq!(quote("a\r\n\u{1b}[31mb\u{202e}\u{7}", 80), "\"a b\"");
        assert_eq!(
            quote(&"界".repeat(80), 80),
            format!("\"{}\"", "界".repeat(80))
        );
        assert_eq!(
            quote(&"界".repeat(81), 80),
            format!("\"{}…\"", "界".repeat(80))
        );
        let text = Answer::to(&[person(&"word\n".repeat(100_000))]).text;
        assert!(text.len() < 500, "{text}");
    }

    #[test]
    fn a_last_message_without_words_is_told_as_such() {
        let said = |messages: &[Arc<Message>]| {
            let text = Answer::to(messages).text;
            text.lines().last().unwrap().to_owned()
        };
        assert_eq!(
            said(&[]),
            "0 messages, 0 bytes of text. You have said nothing yet."
        );
        let image = Block::Other(json!({"type": "image"}));
        let message = Message::new(Role::User, Source::person(), vec![image]);
        assert_eq!(
            said(&[Arc::new(message)]),
            "1 message, 0 bytes of text. Your last message holds no text."
        );
    }

    #[test]
    fn usage_is_a_fourth_of_the_bytes_rounded_up() {
        assert_eq!([0, 1, 4, 5].map(tokens), [0, 1, 1, 2]);
        let answer = Answer::to(&[person("12345"), model("678")]);
        assert_eq!(answer.usage.input_tokens, 2);
        assert_eq!(answer.usage.output_tokens, tokens(answer.text.len()));
    }
}
