//! What the offline model says beside the conversation: a summary of it, and
//! its title. Both are made of the messages alone.

use std::sync::Arc;

use super::answer::{Answer, QUOTE_LIMIT, count, quote};
use super::sent::text_bytes;
use crate::session::{Block, Message, Role, title};

/// How many of the person's messages are quoted from the beginning.
const FIRST: usize = 3;
/// The same from the end.
const LAST: usize = 9;
/// The most words of a title.
const TITLE_WORDS: usize = 8;
/// The most of an earlier summary that is taken over, in bytes.
const EARLIER_BYTES: usize = 2_000;

/// A summary of these messages, the last of which asks for it: how much was
/// said, and some of what the person said, word for word.
pub(super) fn summary(messages: &[Arc<Message>]) -> Answer {
    let sent_bytes = messages.iter().map(|message| text_bytes(message)).sum();
    let said = messages.split_last().map_or(messages, |(_, said)| said);
    let bytes: usize = said.iter().map(|message| text_bytes(message)).sum();
    let size = format!(
        "The built-in offline model made this summary, and understands nothing of it: {}, {} of \
         text.",
        count(said.len() as u64, "message"),
        count(bytes as u64, "byte"),
    );
    let mut parts = vec![size];
    let earlier = said
        .iter()
        .rev()
        .find(|message| message.source.is_checkpoint());
    if let Some(earlier) = earlier {
        let text = earlier.text();
        let end = text.floor_char_boundary(EARLIER_BYTES);
        let text = text.get(..end).unwrap_or_default();
        parts.push(format!("## From the summary before\n\n{text}"));
    }
    let is_person = |message: &&Arc<Message>| {
        message.role == Role::User && message.source.is_person() && text_bytes(message) > 0
    };
    let person: Vec<_> = said.iter().filter(is_person).collect();
    if !person.is_empty() {
        let left_out = person.len().saturating_sub(FIRST + LAST);
        let mut lines = vec!["## What the person said".to_owned(), String::new()];
        for (place, message) in person.iter().enumerate() {
            if place >= FIRST && place < FIRST + left_out {
                if place == FIRST {
                    let more = count(left_out as u64, "more message");
                    lines.push(format!("- {more}"));
                }
                continue;
            }
            lines.push(format!("- {}", quote(&message.text(), QUOTE_LIMIT)));
        }
        parts.push(lines.join("\n"));
    }
    Answer::of(parts.join("\n\n"), sent_bytes)
}

/// A title: the first words of the JSON string that the last text holds.
pub(super) fn title(messages: &[Arc<Message>]) -> Answer {
    let sent_bytes = messages.iter().map(|message| text_bytes(message)).sum();
    let last = messages.last();
    let texts = last.into_iter().flat_map(|message| &message.content);
    let words = texts
        .filter_map(Block::as_text)
        .next_back()
        .unwrap_or_default();
    let words = serde_json::from_str::<String>(words).unwrap_or_default();
    let words: Vec<&str> = words.split_whitespace().take(TITLE_WORDS).collect();
    let title = title::normalise(&words.join(" "), title::MAX_TITLE_BYTES);
    Answer::of(title, sent_bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::session::Source;

    fn message(role: Role, source: Source, text: &str) -> Arc<Message> {
        Arc::new(Message::new(role, source, vec![Block::text(text)]))
    }

    fn person(text: &str) -> Arc<Message> {
        message(Role::User, Source::person(), text)
    }

    fn model(text: &str) -> Arc<Message> {
        message(Role::Assistant, Source::model("offline", "offline"), text)
    }

    fn task() -> Arc<Message> {
        message(Role::User, Source::plugin("compact"), "summarise")
    }

    #[test]
    fn a_summary_tells_what_the_person_said_and_nothing_of_the_task() {
        let answer = summary(&[person("fix\nthe login"), model("done"), task()]);
        assert_eq!(
            answer.text,
            "The built-in offline model made this summary, and understands nothing of it: \
             2 messages, 17 bytes of text.\n\n\
             ## What the person said\n\n\
             - \"fix the login\""
        );
    }

    #[test]
    fn a_summary_takes_over_the_one_before() {
        let before = message(Role::User, Source::checkpoint("c"), "we fixed the login");
        let answer = summary(&[before, person("and now?"), model("done"), task()]);
        assert!(answer.text.contains("we fixed the login"));
        assert!(answer.text.contains("\"and now?\""));
    }

    #[test]
    fn a_summary_of_much_is_short() {
        let mut messages = vec![message(
            Role::User,
            Source::checkpoint("c"),
            &"before ".repeat(10_000),
        )];
        messages.extend((0..1_000).map(|_| person(&"word ".repeat(1_000))));
        messages.push(task());
        let text = summary(&messages).text;
        assert!(text.len() < 4_000, "{}", text.len());
        assert!(text.contains("- 988 more messages"));
    }

    #[test]
    fn nothing_at_all_has_a_summary_too() {
        assert!(summary(&[]).text.contains("0 messages, 0 bytes"));
        assert_eq!(title(&[]).text, "");
    }

    #[test]
    fn a_title_is_the_first_words_of_what_the_person_said() {
        let content = vec![
            Block::text("give it a title"),
            Block::text(r#""why does the\n\u003clogin> fail on Mondays, and what can we do""#),
        ];
        let asked = Arc::new(Message::new(Role::User, Source::plugin("title"), content));
        assert_eq!(
            title(&[asked]).text,
            "why does the <login> fail on Mondays, and"
        );
    }
}
