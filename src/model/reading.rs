//! From the bytes of a response to the pieces of an answer, whatever the wire
//! format. Does no input or output of its own.

use serde::Deserialize;
use serde_json::Value;

use super::decoder::{DecodeError, Decoder, Event, Framing};
use super::piece::{Joiner, Piece};
use super::repeat::Wrapping;
use super::verdict::Report;
use super::{Api, Delta, FinishReason, Usage};

/// Why an answer is not whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// It broke off.
    Ended,
    /// The server told of an error, or sent what is no answer.
    Report(Report),
}

impl From<Report> for Flaw {
    fn from(report: Report) -> Self {
        Self::Report(report)
    }
}

/// After so many events of which no two are in one wrapping none is looked for.
const UNLIKE: u32 = 64;

/// How one event of a wire format is understood.
pub(super) type Reader = fn(&Event<'_>, &mut Sink) -> Result<(), Report>;

/// One response on its way in.
#[derive(Debug)]
pub(super) struct Reading {
    framing: Framing,
    decoder: Decoder,
    understood: Understood,
    /// How the response began, as long as no event came.
    head: Vec<u8>,
}

/// What the events told so far.
#[derive(Debug)]
struct Understood {
    reader: Reader,
    sink: Sink,
    any_event: bool,
    /// That of the last event that told nothing but a piece of text.
    wrapping: Option<Wrapping>,
    /// How many events in a row were parsed without one like them behind them.
    unlike: u32,
}

/// How much of a response without events is kept to tell what it was.
const HEAD: usize = 16 * 1024;
/// How much of an event that can't be understood is shown, in characters.
const SHOWN: usize = 80;

impl Reading {
    pub(super) fn new(api: Api) -> Self {
        Self {
            framing: api.framing(),
            decoder: Decoder::new(api.framing()),
            understood: Understood {
                reader: api.reader(),
                sink: Sink::default(),
                any_event: false,
                wrapping: None,
                unlike: 0,
            },
            head: Vec::new(),
        }
    }

    /// Takes in the next bytes, and appends what they tell. What came before
    /// a flaw is appended too.
    pub(super) fn feed(&mut self, bytes: &[u8], deltas: &mut Vec<Delta>) -> Result<(), Flaw> {
        if self.is_over() {
            return Ok(());
        }
        if !self.understood.any_event {
            let room = HEAD.saturating_sub(self.head.len());
            self.head.extend(bytes.iter().take(room));
        }
        let mut told = Ok(());
        let take = |event: Event<'_>| self.understood.take(&event, &mut told, deltas);
        let decoded = self.decoder.feed(bytes, take);
        self.outcome(told, decoded, deltas)
    }

    /// Takes in the end of the response.
    pub(super) fn end(&mut self, deltas: &mut Vec<Delta>) -> Result<(), Flaw> {
        if self.is_over() {
            return Ok(());
        }
        let mut told = Ok(());
        let take = |event: Event<'_>| self.understood.take(&event, &mut told, deltas);
        let decoded = self.decoder.end(take);
        match self.outcome(told, decoded, deltas) {
            // The last event was cut; what it would have told is lost.
            Err(Flaw::Report(report)) if report.verdict == super::verdict::Verdict::Garbage => {
                return Err(self.no_events().unwrap_or(Flaw::Ended));
            }
            other => other?,
        }
        self.broke_off(deltas)
    }

    /// Nothing more comes, whatever the reason. That is a flaw unless the
    /// server told before that its answer is whole.
    pub(super) fn broke_off(&mut self, deltas: &mut Vec<Delta>) -> Result<(), Flaw> {
        if self.is_over() {
            return Ok(());
        }
        if self.understood.sink.finish.is_some() {
            self.understood.sink.over = true;
            return self.conclude(deltas);
        }
        Err(self.no_events().unwrap_or(Flaw::Ended))
    }

    /// Whether the answer is whole; what comes behind it does not count.
    pub(super) fn is_over(&self) -> bool {
        self.understood.sink.over
    }

    fn outcome(
        &self,
        told: Result<(), Report>,
        decoded: Result<(), DecodeError>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), Flaw> {
        told?;
        if self.is_over() {
            return self.conclude(deltas);
        }
        decoded.map_err(|error| Report::garbage(format!("it sent {error}")).into())
    }

    /// The last delta, if the answer has a right end.
    fn conclude(&self, deltas: &mut Vec<Delta>) -> Result<(), Flaw> {
        let sink = &self.understood.sink;
        if !sink.refusal.is_empty() {
            return Err(Report::refused(&sink.refusal).into());
        }
        if sink.text.is_torn() || sink.reasoning.is_torn() {
            return Err(torn().into());
        }
        let finish = sink.finish.ok_or(Flaw::Ended)?;
        deltas.push(Delta::Finished(finish));
        Ok(())
    }

    /// What a response without a single event was: an error that came as a
    /// success, or no stream.
    fn no_events(&self) -> Option<Flaw> {
        if self.understood.any_event || is_beginning(self.framing, &self.head) {
            return None;
        }
        let head = String::from_utf8_lossy(&self.head);
        let json: Option<Value> = serde_json::from_str(&head).ok();
        let told = json.as_ref().and_then(Report::of_error);
        let report = told.unwrap_or_else(|| unreadable("a response", &head));
        Some(report.into())
    }
}

impl Understood {
    /// Takes in an event, and appends what it tells; nothing once the answer
    /// is over or has a flaw.
    fn take(&mut self, event: &Event<'_>, told: &mut Result<(), Report>, deltas: &mut Vec<Delta>) {
        if self.sink.over || told.is_err() {
            return;
        }
        let known = self.wrapping.as_ref();
        if let Some((kind, text)) = known.and_then(|wrapping| wrapping.told_by(event)) {
            self.unlike = 0;
            join(kind, text, deltas);
            return;
        }
        if event.data.trim().is_empty() {
            return;
        }
        let read = (self.reader)(event, &mut self.sink);
        *told = match read {
            Err(report) if self.sink.has_begun => Err(report.within_an_answer()),
            read => read,
        };
        self.any_event |= told.is_ok();
        self.unlike = self.unlike.saturating_add(1);
        self.wrapping = match self.sink.deltas.as_slice() {
            [delta] if self.sink.is_open() && self.unlike < UNLIKE => Wrapping::of(event, delta),
            _ => None,
        };
        for delta in self.sink.deltas.drain(..) {
            match delta {
                Delta::Text(text) => join(Kind::Text, &text, deltas),
                Delta::Reasoning(text) => join(Kind::Reasoning, &text, deltas),
                other => deltas.push(other),
            }
        }
    }
}

/// The two kinds of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Reasoning,
}

/// Appends a piece of text. Text behind text joins it, so that what comes at
/// once is handed on at once.
fn join(kind: Kind, text: &str, deltas: &mut Vec<Delta>) {
    match (deltas.last_mut(), kind) {
        (Some(Delta::Text(before)), Kind::Text)
        | (Some(Delta::Reasoning(before)), Kind::Reasoning) => before.push_str(text),
        (_, Kind::Text) => deltas.push(Delta::Text(text.to_owned())),
        (_, Kind::Reasoning) => deltas.push(Delta::Reasoning(text.to_owned())),
    }
}

/// Whether a stream may begin like this: one that was cut is no other thing.
fn is_beginning(framing: Framing, head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let head = head.trim_ascii_start();
    let begins: &[&[u8]] = match framing {
        Framing::Sse => &[b":", b"data:", b"event:", b"id:", b"retry:"],
        Framing::Lines => &[b"{"],
    };
    let fits = |start: &&[u8]| head.starts_with(start) || start.starts_with(head);
    begins.iter().any(fits)
}

/// What an event told so far.
#[derive(Debug, Default)]
pub(super) struct Sink {
    deltas: Vec<Delta>,
    text: Joiner,
    reasoning: Joiner,
    /// Some of the answer, or of the reasoning before it, has come.
    has_begun: bool,
    usage: Usage,
    finish: Option<FinishReason>,
    refusal: String,
    over: bool,
}

impl Sink {
    /// Whether more text may follow as if nothing had been told yet.
    fn is_open(&self) -> bool {
        let is_torn = self.text.is_torn() || self.reasoning.is_torn();
        !self.over && !is_torn && self.finish.is_none() && self.refusal.is_empty()
    }

    pub(super) fn text(&mut self, piece: Piece) -> Result<(), Report> {
        let text = self.text.push(piece).map_err(|_| torn())?;
        if !text.is_empty() {
            self.has_begun = true;
            self.deltas.push(Delta::Text(text));
        }
        Ok(())
    }

    pub(super) fn reasoning(&mut self, piece: Piece) -> Result<(), Report> {
        let text = self.reasoning.push(piece).map_err(|_| torn())?;
        if !text.is_empty() {
            self.has_begun = true;
            self.deltas.push(Delta::Reasoning(text));
        }
        Ok(())
    }

    /// The figures that are told take the place of those before.
    pub(super) fn usage(&mut self, input: Option<u64>, output: Option<u64>) {
        let usage = Usage {
            input_tokens: input.unwrap_or(self.usage.input_tokens),
            output_tokens: output.unwrap_or(self.usage.output_tokens),
        };
        if usage != self.usage {
            self.usage = usage;
            self.deltas.push(Delta::Usage(usage));
        }
    }

    /// Why the answer ends. There may still be usage behind it.
    pub(super) fn finish(&mut self, reason: FinishReason) {
        self.finish = Some(reason);
    }

    /// Words of a refusal, which may come in pieces.
    pub(super) fn refuse(&mut self, words: &Piece) {
        self.refusal.push_str(&words.shown());
    }

    /// Nothing follows.
    pub(super) fn over(&mut self) {
        self.over = true;
    }
}

/// The data of an event as JSON.
pub(super) fn json<'a, T: Deserialize<'a>>(event: &Event<'a>) -> Result<T, Report> {
    serde_json::from_str(event.data).map_err(|_| unreadable("an event", event.data))
}

/// An error that the data of an event holds, if it holds one.
pub(super) fn error_in(event: &Event<'_>) -> Option<Report> {
    let value: Value = serde_json::from_str(event.data).ok()?;
    Report::of_error(&value)
}

/// An answer that ends for a reason that nobody asked for.
pub(super) fn odd_end(reason: &str) -> Report {
    Report::garbage(format!("its answer ended with {reason:?}"))
}

fn unreadable(what: &str, text: &str) -> Report {
    let shown: String = text.trim().chars().take(SHOWN).collect();
    Report::garbage(format!(
        "it sent {what} that can't be understood and begins {shown:?}"
    ))
}

fn torn() -> Report {
    Report::garbage("it sent half of a character")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
