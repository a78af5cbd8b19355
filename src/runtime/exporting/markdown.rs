//! A conversation as Markdown, for people to read. Its words stand as they were
//! said, but for what a terminal would act on.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::chat::{ATTEMPT, Left, Page, Places, is_of_summary};
use crate::reference::mention;
use crate::reference::projection::Capture;
use crate::sanitize;
use crate::session::{Event, Header, Message, MessageKind, Payload, Role, Session};
use crate::tool::Tool;

/// A session's conversation as the screen shows it: also what a summary has
/// replaced since, and answers that did not come to their end. What was left is
/// said in a line; its words are in the log.
pub(super) fn of_session(title: &str, session: &Session) -> Vec<u8> {
    let mut text = Markdown(head(title, session.header()));
    let mut places = Places::default();
    for event in session.events() {
        places.show(event, &mut text);
    }
    text.0.into_bytes()
}

/// A text in the making.
struct Markdown(String);

impl Page for Markdown {
    fn end(&self) -> usize {
        self.0.len()
    }

    fn take_out(&mut self, gone: &[Range<usize>]) {
        for range in gone.iter().rev() {
            self.0.replace_range(range.clone(), "");
        }
    }

    fn event(&mut self, event: &Arc<Event>) {
        let text = &mut self.0;
        match &event.payload {
            Payload::Message { kind, message, .. } => message_of(text, *kind, message),
            Payload::LogOnly { kind, data } if kind == ATTEMPT && !is_of_summary(data) => {
                attempt(text, data);
            }
            Payload::LogOnly { .. } => {}
        }
    }

    fn left(&mut self, left: Left) {
        let line = format!("\n> {left}\n");
        self.0.push_str(&line);
    }
}

/// What can be cited of a session of another tool.
pub(super) fn of_capture(title: &str, capture: &Capture) -> Vec<u8> {
    let mut text = head(title, &capture.header);
    for item in &capture.conversation {
        let speaker = match item.role {
            _ if item.checkpoint => SUMMARY,
            Role::User => YOU,
            _ => "Model",
        };
        said(&mut text, speaker, &item.text);
    }
    if let Some(damage) = &capture.damage {
        said(&mut text, "Not readable", &damage.to_string());
    }
    text.into_bytes()
}

const YOU: &str = "You";
const SUMMARY: &str = "Summary of what was said before";

fn head(title: &str, header: &Header) -> String {
    let tool = Tool::of(&header.id).name();
    let cwd = header.cwd.as_deref().map(|cwd| format!(" · {cwd}"));
    format!(
        "# {}\n\n{tool}{} · {}\n",
        sanitize::line(title),
        sanitize::line(&cwd.unwrap_or_default()),
        sanitize::line(header.id.as_str()),
    )
}

fn message_of(text: &mut String, kind: MessageKind, message: &Message) {
    let words = message.shared_text();
    match kind {
        MessageKind::User if message.source.is_person() => match mention::parse(&words) {
            Ok(parsed) => said(text, YOU, &parsed.text),
            // A mention that was damaged is text like any other.
            Err(_) => said(text, YOU, &words),
        },
        MessageKind::User if message.source.is_checkpoint() => said(text, SUMMARY, &words),
        MessageKind::User if message.source.is_session_reference() => cited(text, message),
        MessageKind::Assistant => {
            let rest = &message.source.rest;
            said(text, &model(|key| rest.get(key)), &words);
        }
        MessageKind::User | MessageKind::System | MessageKind::ToolResult => {}
    }
}

/// The sessions that the message before cites.
fn cited(text: &mut String, context: &Message) {
    let records = context
        .source
        .rest
        .get("references")
        .and_then(Value::as_array);
    for record in records.into_iter().flatten() {
        let word = |key| record.get(key).and_then(Value::as_str).unwrap_or_default();
        let (label, id) = (word("label"), word("sessionId"));
        let line = format!(
            "\n> cited: {} ({})\n",
            sanitize::line(label),
            sanitize::line(id)
        );
        text.push_str(&line);
    }
}

fn attempt(text: &mut String, data: &Value) {
    let words = data.get("text").and_then(Value::as_str).unwrap_or_default();
    let speaker = format!("{} (interrupted)", model(|key| data.get(key)));
    said(text, &speaker, words);
}

fn model<'v>(get: impl Fn(&'static str) -> Option<&'v Value>) -> String {
    let names = ["provider", "model"].map(|key| get(key).and_then(Value::as_str));
    match names {
        [Some(provider), Some(model)] => format!("{provider}/{model}"),
        [Some(name), None] | [None, Some(name)] => name.to_owned(),
        [None, None] => "Model".to_owned(),
    }
}

fn said(text: &mut String, speaker: &str, words: &str) {
    if words.is_empty() {
        return;
    }
    text.push_str("\n## ");
    text.push_str(&sanitize::line(speaker));
    text.push_str("\n\n");
    for (place, words) in words.split('\t').enumerate() {
        if place > 0 {
            text.push('\t');
        }
        text.push_str(&sanitize::block(words));
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::session::{Block, Millis, NewEvent, Seq, Source};

    #[test]
    fn a_conversation_reads_as_it_went() {
        let header = Header::new("a", Millis(0), Some("/work/api".to_owned()));
        let mut session = Session::new(header);
        let mut add = |payload| drop(session.append(NewEvent::plain(Millis(1), payload)).unwrap());
        add(Payload::log_only("turn/start", json!({"turn": 1})));
        let mention = mention::format(&crate::reference::Reference::new(
            "flaky",
            Some("The flaky test".to_owned()),
        ));
        add(Payload::user(Message::person(format!("why {mention}?"))));
        let record = json!({"references": [{"sessionId": "flaky", "label": "The flaky test"}]});
        let context = Message::new(
            Role::User,
            Source::session_reference(record.as_object().unwrap().clone()),
            vec![Block::text("<referenced-sessions>")],
        );
        add(Payload::user(context));
        add(Payload::log_only(
            ATTEMPT,
            json!({"provider": "p", "model": "m", "text": "Beca"}),
        ));
        let answer = Message::new(
            Role::Assistant,
            Source::model("p", "m"),
            vec![Block::text("Because:\n\tof \u{1b}[31mtime")],
        );
        add(Payload::step(MessageKind::Assistant, answer, 1, 1));
        let text = String::from_utf8(of_session("A \u{202e}title", &session)).unwrap();
        assert_eq!(
            text,
            "# A \\u{202e}title\n\nibid · /work/api · a\n\n\
             ## You\n\nwhy @The flaky test?\n\n\
             > cited: The flaky test (flaky)\n\n\
             ## p/m (interrupted)\n\nBeca\n\n\
             ## p/m\n\nBecause:\n\tof ␛[31mtime\n"
        );
    }

    #[test]
    fn an_answer_that_was_asked_for_again_stands_once_and_that_is_said() {
        let mut session = Session::new(Header::new("a", Millis(0), None));
        let answer = |text: &str| {
            let blocks = vec![Block::text(text)];
            let message = Message::new(Role::Assistant, Source::model("p", "m"), blocks);
            Payload::step(MessageKind::Assistant, message, 1, 1)
        };
        let question = Payload::user(Message::person("why?"));
        for event in [
            NewEvent::plain(Millis(1), question),
            NewEvent::plain(Millis(1), answer("old")),
            NewEvent::replacing(Millis(1), answer("new"), (Seq(1), Seq(1)), vec![Seq(1)]),
        ] {
            session.append(event).unwrap();
        }
        let text = String::from_utf8(of_session("T", &session)).unwrap();
        let said = text.split_once("## You").unwrap().1;
        let expected = "\n\nwhy?\n\n> 1 earlier answer\n\n## p/m\n\nnew\n";
        assert_eq!(said, expected);
    }
}
