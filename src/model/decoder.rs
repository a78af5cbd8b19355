//! Bytes of a stream in, events out: server-sent events and JSON lines.
//!
//! Does no input or output of its own, and gives the same events however the
//! bytes are cut. Memory is bounded: it holds one event, and an event has a
//! longest length. Each byte is looked at a fixed number of times.

use memchr::memchr2;
use thiserror::Error;

/// The most bytes of one event. A whole answer may come as one event, at the
/// end of OpenAI's Responses; text beyond this length has no model.
pub const MAX_EVENT: usize = 8 * 1024 * 1024;

/// How events follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Server-sent events, as the WHATWG HTML standard has them; but the last
    /// one counts also where the stream ends without a blank line.
    Sse,
    /// One event a line. Blank lines are none.
    Lines,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Its `event:` name; empty when it has none.
    pub name: &'a str,
    /// Its data, several lines joined with line feeds.
    pub data: &'a str,
}

/// Why a stream can't be read on.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    /// An event is longer than the limit.
    #[error("an event of more than {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// An event is no UTF-8.
    #[error("an event that is no UTF-8")]
    NotUtf8,
}

/// The decoder of one stream.
#[derive(Debug)]
pub struct Decoder {
    framing: Framing,
    limit: usize,
    /// A line whose end has not come.
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed right behind it ends
    /// no other line.
    after_cr: bool,
    first_line: bool,
    name: Vec<u8>,
    /// `None` until the event has its first line of data.
    data: Option<Vec<u8>>,
    failed: Option<DecodeError>,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

impl Decoder {
    /// A decoder at the start of a stream, of events of at most [`MAX_EVENT`].
    #[must_use]
    pub fn new(framing: Framing) -> Self {
        Self::with_limit(framing, MAX_EVENT)
    }

    /// The same, of events of at most so many bytes.
    #[must_use]
    pub fn with_limit(framing: Framing, limit: usize) -> Self {
        Self {
            framing,
            limit,
            line: Vec::new(),
            after_cr: false,
            first_line: true,
            name: Vec::new(),
            data: None,
            failed: None,
        }
    }

    /// Takes in the next bytes, and hands on the events that they complete.
    ///
    /// # Errors
    /// An event that is too long or no UTF-8. Those before it are handed on;
    /// from then on there are no more, and the error stays.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        mut take: impl FnMut(Event<'_>),
    ) -> Result<(), DecodeError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut taken = Ok(());
        while !bytes.is_empty() && taken.is_ok() {
            if let Some((data, line, rest)) = self.whole_event(bytes) {
                bytes = rest;
                taken = self
                    .check(line)
                    .and_then(|()| hand_on(&self.name, data, &mut take));
                self.name.clear();
                continue;
            }
            if std::mem::take(&mut self.after_cr)
                && let Some(rest) = bytes.strip_prefix(b"\n")
            {
                bytes = rest;
                continue;
            }
            let Some((line, end, rest)) = split_line(bytes) else {
                taken = self.hold(bytes);
                break;
            };
            self.after_cr = end == b'\r';
            bytes = rest;
            taken = self.line(line, &mut take);
        }
        taken.inspect_err(|error| self.fail(*error))
    }

    /// An event that is one line of data and lies here whole, which most are:
    /// its data, how long its line is, and what is behind it.
    fn whole_event<'b>(&self, bytes: &'b [u8]) -> Option<(&'b [u8], usize, &'b [u8])> {
        let begins = self.framing == Framing::Sse
            && self.line.is_empty()
            && self.data.is_none()
            && !self.first_line
            && !self.after_cr;
        let value = bytes.strip_prefix(b"data:").filter(|_| begins)?;
        let end = memchr2(b'\n', b'\r', value)?;
        let (value, ends) = value.split_at_checked(end)?;
        let rest = ends.strip_prefix(b"\n\n")?;
        Some((without_space(value), b"data:".len() + value.len(), rest))
    }

    /// Takes in the end of the stream: a last event may lack its line's end.
    ///
    /// # Errors
    /// As [`feed`](Self::feed).
    pub fn end(&mut self, mut take: impl FnMut(Event<'_>)) -> Result<(), DecodeError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let mut taken = Ok(());
        if !self.line.is_empty() {
            taken = self.line(&[], &mut take);
        }
        taken
            .and_then(|()| self.dispatch(&mut take))
            .inspect_err(|error| self.fail(*error))
    }

    fn fail(&mut self, error: DecodeError) {
        self.failed = Some(error);
        self.line = Vec::new();
        self.name = Vec::new();
        self.data = None;
    }

    /// Keeps the beginning of a line.
    fn hold(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        self.check(self.line.len() + bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn check(&self, line: usize) -> Result<(), DecodeError> {
        let data = self.data.as_ref().map_or(0, Vec::len);
        if line + data + self.name.len() > self.limit {
            return Err(DecodeError::TooLong { limit: self.limit });
        }
        Ok(())
    }

    /// Takes in the last part of a line.
    fn line(&mut self, tail: &[u8], take: &mut impl FnMut(Event<'_>)) -> Result<(), DecodeError> {
        self.check(self.line.len() + tail.len())?;
        let mut held = std::mem::take(&mut self.line);
        let mut line = tail;
        if !held.is_empty() {
            held.extend_from_slice(tail);
            line = &held;
        }
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        let taken = match self.framing {
            Framing::Sse if line.is_empty() => self.dispatch(take),
            Framing::Sse => {
                self.field(line);
                Ok(())
            }
            Framing::Lines if line.trim_ascii().is_empty() => Ok(()),
            Framing::Lines => hand_on(b"", line, take),
        };
        // The buffer is kept for the next line, unless it was an odd one.
        if held.capacity() <= MAX_KEPT {
            held.clear();
            self.line = held;
        }
        taken
    }

    fn field(&mut self, line: &[u8]) {
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let field = parts.next().unwrap_or_default();
        let value = parts.next().unwrap_or_default();
        let value = without_space(value);
        match field {
            b"data" => match &mut self.data {
                None => self.data = Some(value.to_vec()),
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
            },
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            // Comments, "id", "retry", and fields that nobody knows.
            _ => {}
        }
    }

    fn dispatch(&mut self, take: &mut impl FnMut(Event<'_>)) -> Result<(), DecodeError> {
        let name = std::mem::take(&mut self.name);
        match self.data.take() {
            Some(data) => hand_on(&name, &data, take),
            None => Ok(()),
        }
    }
}

fn hand_on(name: &[u8], data: &[u8], take: &mut impl FnMut(Event<'_>)) -> Result<(), DecodeError> {
    let utf8 = |bytes| std::str::from_utf8(bytes).map_err(|_| DecodeError::NotUtf8);
    take(Event {
        name: utf8(name)?,
        data: utf8(data)?,
    });
    Ok(())
}

/// A field's value without the space that may be in front of it.
fn without_space(value: &[u8]) -> &[u8] {
    value.strip_prefix(b" ").unwrap_or(value)
}

const MAX_KEPT: usize = 64 * 1024;

/// The first line, the byte that ends it, and what is behind that.
fn split_line(bytes: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let (line, rest) = bytes.split_at_checked(memchr2(b'\n', b'\r', bytes)?)?;
    let (end, rest) = rest.split_first()?;
    Some((line, *end, rest))
}

#[cfg(test)]
mod tests;
