//! Events that differ from the one before in their text alone.
//!
//! Most servers send each piece of an answer in the same wrapping. Where an
//! event has, byte for byte, the wrapping of one that was parsed, what it tells
//! is known without parsing it.

use memchr::memmem;

use super::decoder::Event;
use super::{Delta, reading::Kind};

/// An event that told one piece of text and nothing else, without the text.
#[derive(Debug)]
pub(super) struct Wrapping {
    kind: Kind,
    name: String,
    before: String,
    after: String,
}

impl Wrapping {
    /// The wrapping of an event that told this delta alone. `None` where it is
    /// not plain which bytes of the event told it.
    pub(super) fn of(event: &Event<'_>, delta: &Delta) -> Option<Self> {
        let (kind, text) = match delta {
            Delta::Text(text) => (Kind::Text, text),
            Delta::Reasoning(text) => (Kind::Reasoning, text),
            _ => return None,
        };
        // Without escapes each string stands as it is, so the text is where
        // its bytes are, if they are there once.
        let data = event.data;
        if !is_plain(text) || memchr::memchr(b'\\', data.as_bytes()).is_some() {
            return None;
        }
        let quoted = format!("\"{text}\"");
        let place = memmem::find(data.as_bytes(), quoted.as_bytes())?;
        let behind = data.as_bytes().get(place + 1..)?;
        if memmem::find(behind, quoted.as_bytes()).is_some() {
            return None;
        }
        let (before, rest) = data.split_at_checked(place + 1)?;
        Some(Self {
            kind,
            name: event.name.to_owned(),
            before: before.to_owned(),
            after: rest.strip_prefix(text.as_str())?.to_owned(),
        })
    }

    /// What an event in the same wrapping tells.
    pub(super) fn told_by<'a>(&self, event: &Event<'a>) -> Option<(Kind, &'a str)> {
        let text = event.data.strip_prefix(self.before.as_str())?;
        let text = text.strip_suffix(self.after.as_str())?;
        (self.has_name(event.name) && is_plain(text)).then_some((self.kind, text))
    }

    /// Most events have no name. To compare two empty ones byte for byte costs
    /// more than all the rest, where the processor is asked to look at no byte
    /// of an address that does not exist.
    fn has_name(&self, name: &str) -> bool {
        self.name.len() == name.len() && (name.is_empty() || self.name == name)
    }
}

/// Whether a text is in JSON as it is. An empty one may mean another thing
/// than a piece of text.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.bytes().all(is_plain)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn event(data: &str) -> Event<'_> {
        Event { name: "", data }
    }

    fn wrapping(data: &str, text: &str) -> Option<Wrapping> {
        Wrapping::of(&event(data), &Delta::Text(text.to_owned()))
    }

    #[test]
    fn an_event_in_the_same_wrapping_tells_its_text() {
        let known = wrapping(r#"{"n":1,"text":"one"}"#, "one").unwrap();
        let text = |data| known.told_by(&event(data));
        assert_eq!(
            text(r#"{"n":1,"text":"ü two"}"#),
            Some((Kind::Text, "ü two"))
        );
        for other in [
            r#"{"n":2,"text":"two"}"#,
            r#"{"n":1,"text":"two","end":"two"}"#,
            r#"{"n":1,"text":"a\"b"}"#,
            r#"{"n":1,"text":"a","b":"c"}"#,
            r#"{"n":1,"text":"a\u0062"}"#,
            "{\"n\":1,\"text\":\"a\tb\"}",
            r#"{"n":1,"text":""}"#,
            r#"{"n":1,"text":"}"#,
        ] {
            assert_eq!(text(other), None, "{other}");
        }
        let named = Event {
            name: "other",
            data: r#"{"n":1,"text":"two"}"#,
        };
        assert_eq!(known.told_by(&named), None);
    }

    #[test]
    fn no_wrapping_is_known_where_the_text_could_be_elsewhere() {
        for (data, text) in [
            (r#"{"text":"text"}"#, "text"),
            (r#"{"text":":"}"#, ":"),
            (r#"{"a":1,"text":"\u0061"}"#, "a"),
            (r#"{"text":"a\nb"}"#, "a\nb"),
            (r#"{"text":"b"}"#, "a"),
            (r#"{"text":""}"#, ""),
        ] {
            assert!(wrapping(data, text).is_none(), "{data}");
        }
        assert!(
            Wrapping::of(&event("{}"), &Delta::Usage(crate::model::Usage::default())).is_none()
        );
    }
}
