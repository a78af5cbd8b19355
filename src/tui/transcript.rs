//! The conversation on the screen: what the log holds, and the answer that
//! streams in below it.
//!
//! Each event is read once. Only what is in view is wrapped, and of a
//! streaming answer only its last row.

mod entry;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;
use serde_json::Value;

use super::pager::Pager;
use super::pager::piece::{Kind, LINE_BYTES, Piece};
use super::theme::Theme;
use super::wrap::Wrap;
use crate::chat::{
    ATTEMPT, Left, Page, Places, REQUEST_HEADER, TURN_END, TURN_START, is_for_answer, is_of_summary,
};
use crate::session::{Event, MessageKind, Payload, SessionId};

/// An answer that is not in the log yet.
#[derive(Clone, Copy, Debug)]
pub struct Streaming<'a> {
    /// Who answers.
    pub who: &'a str,
    /// The whole text so far. It only grows until the log changes.
    pub text: &'a str,
    /// What stands below the text while more may come, such as `⠋ streaming`.
    pub mark: &'a str,
}

/// Draws a [`TranscriptState`] for a log.
#[derive(Clone, Copy)]
pub struct TranscriptPane<'a> {
    /// The styles.
    pub theme: &'a Theme,
    /// The whole log, in order.
    pub events: &'a [Arc<Event>],
    /// The answer that is coming in.
    pub streaming: Option<Streaming<'a>>,
    /// The tool that a cited session belongs to, where that is known.
    pub tool_of: &'a dyn Fn(&SessionId) -> Option<String>,
}

/// Where the reader stands in a conversation.
#[derive(Clone, Debug)]
pub struct TranscriptState {
    pager: Pager,
    places: Places,
    /// How many events the pager holds, and the last of them.
    seen: usize,
    last: Option<Arc<Event>>,
    /// The pieces that are of events; what follows is of the streaming answer.
    settled: usize,
    /// How much of the streaming answer the pager holds, in bytes.
    streamed: usize,
    /// A model was asked, and neither an answer nor the end of its turn is in
    /// the log.
    unanswered: bool,
    /// The code of the error that such a turn ended with.
    failed: Option<String>,
    /// Whether the last piece says so.
    says_unanswered: bool,
    follow: bool,
}

impl Default for TranscriptState {
    fn default() -> Self {
        Self::new()
    }
}

impl TranscriptState {
    /// An empty transcript that follows its end.
    #[must_use]
    pub fn new() -> Self {
        Self {
            pager: Pager::new(Wrap::Words, true),
            places: Places::default(),
            seen: 0,
            last: None,
            settled: 0,
            streamed: 0,
            unanswered: false,
            failed: None,
            says_unanswered: false,
            follow: true,
        }
    }

    /// Moves by rows, forwards when positive. Away from the end it stops
    /// following, and at the end it follows again.
    pub fn scroll(&mut self, rows: i16) {
        self.pager.scroll(rows);
        self.follow = self.pager.is_at_end();
    }

    /// Moves by screens, forwards when positive.
    pub fn page(&mut self, pages: i16) {
        self.pager.page(pages);
        self.follow = self.pager.is_at_end();
    }

    /// Goes to the end and follows it.
    pub fn end(&mut self) {
        self.pager.end();
        self.follow = true;
    }

    /// Whether what comes in scrolls into view.
    #[must_use]
    pub fn follows(&self) -> bool {
        self.follow
    }

    /// Takes over the log and the streaming answer as they stand now.
    fn sync(&mut self, pane: &TranscriptPane<'_>) {
        let is_same =
            self.seen
                .checked_sub(1)
                .is_none_or(|at| match (pane.events.get(at), &self.last) {
                    (Some(event), Some(last)) => Arc::ptr_eq(event, last),
                    _ => false,
                });
        if !is_same {
            *self = Self::new();
        }
        let new = pane.events.get(self.seen..).unwrap_or_default();
        if !new.is_empty() {
            self.settle(new, pane.tool_of);
        }
        self.stream(pane.streaming);
    }

    /// Adds events in place of the streaming answer. A reader in the middle of
    /// the answer stays there.
    fn settle(&mut self, events: &[Arc<Event>], tool_of: &dyn Fn(&SessionId) -> Option<String>) {
        // The answer begins behind the name of who gives it.
        let mut answer = self.settled + 1;
        let offset = self.pager.top_offset_from(answer);
        self.drop_stream();
        for event in events {
            if self.is_left_unanswered_by(event) {
                self.places.add_beside(event.seq, self.pager.len());
                let failed = self.failed.take();
                self.pager.extend([entry::unanswered(failed.as_deref())]);
            }
            let mut drawn = Drawn {
                pager: &mut self.pager,
                tool_of,
                behind_left: None,
            };
            self.places.show(event, &mut drawn);
            answer = drawn.behind_left.map_or(answer, |pieces| pieces + 1);
        }
        self.seen += events.len();
        self.last = events.last().cloned();
        self.settled = self.pager.len();
        if let Some(offset) = offset {
            self.pager.set_top_offset(answer, offset);
        }
    }

    /// Whether a turn without any answer, as it was called off or the program was
    /// ended in it, is over for good with this event. Takes note of how the turn goes on.
    fn is_left_unanswered_by(&mut self, event: &Event) -> bool {
        match &event.payload {
            Payload::LogOnly { kind, .. } if kind == TURN_START => {
                return std::mem::take(&mut self.unanswered);
            }
            // A summary that is asked for mends no turn.
            Payload::LogOnly { kind, data } if kind == REQUEST_HEADER && is_for_answer(data) => {
                self.unanswered = true;
                self.failed = None;
            }
            Payload::LogOnly { kind, data } if kind == TURN_END => {
                let code = data.pointer("/error/code").and_then(Value::as_str);
                self.failed = code.map(str::to_owned);
            }
            Payload::LogOnly { kind, data } if kind == ATTEMPT => {
                self.unanswered &= is_of_summary(data);
            }
            Payload::Message {
                kind: MessageKind::Assistant,
                ..
            } => self.unanswered = false,
            Payload::Message { .. } | Payload::LogOnly { .. } => {}
        }
        false
    }

    fn drop_stream(&mut self) {
        self.pager.truncate(self.settled);
        self.streamed = 0;
        self.says_unanswered = false;
    }

    fn stream(&mut self, streaming: Option<Streaming<'_>>) {
        let Some(Streaming { who, text, mark }) = streaming else {
            if !self.says_unanswered {
                self.drop_stream();
            }
            if self.unanswered && !self.says_unanswered {
                let failed = self.failed.as_deref();
                self.pager.extend([entry::unanswered(failed)]);
                self.says_unanswered = true;
            }
            return;
        };
        if self.says_unanswered || text.get(self.streamed..).is_none() {
            self.drop_stream();
        }
        if self.pager.len() == self.settled {
            self.pager.extend([Piece::own(Kind::Model, who)]);
        } else {
            // The mark moves down.
            self.pager.truncate(self.pager.len() - 1);
        }
        self.grow(text.get(self.streamed..).unwrap_or_default());
        self.streamed = text.len();
        self.pager.extend([Piece::own(Kind::Remark, mark)]);
    }

    fn grow(&mut self, more: &str) {
        if more.is_empty() {
            return;
        }
        let first = self.settled + 1;
        for (place, line) in more.split('\n').enumerate() {
            let has_tail = self.pager.len() > first;
            let tail = self.pager.len() - 1;
            if place == 0 && has_tail && self.pager.bytes_of(tail) < LINE_BYTES {
                self.pager.grow(tail, line);
            } else {
                self.pager.extend([Piece::own(Kind::Text, line)]);
            }
        }
    }
}

/// The pieces of a conversation, as they are put on the screen.
struct Drawn<'a> {
    pager: &'a mut Pager,
    tool_of: &'a dyn Fn(&SessionId) -> Option<String>,
    /// How many pieces stand before what took the place of what was left.
    behind_left: Option<usize>,
}

impl Page for Drawn<'_> {
    fn end(&self) -> usize {
        self.pager.len()
    }

    fn take_out(&mut self, gone: &[Range<usize>]) {
        self.pager.remove(gone);
    }

    fn event(&mut self, event: &Arc<Event>) {
        self.pager.extend(entry::pieces(event, self.tool_of));
    }

    fn left(&mut self, left: Left) {
        let line = format!("┆ {left}");
        self.pager.extend([Piece::own(Kind::Remark, line)]);
        self.behind_left = Some(self.pager.len());
    }
}

impl StatefulWidget for TranscriptPane<'_> {
    type State = TranscriptState;

    fn render(self, area: Rect, buf: &mut Buffer, state: &mut TranscriptState) {
        state.sync(&self);
        state.pager.resize(area.width, area.height);
        if state.follow {
            state.pager.end();
        }
        state.pager.draw(area, buf, self.theme);
    }
}
