//! What the view asks of the state.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::StatefulWidget;

use super::App;
use crate::chat::{ChatEvent, Failure, Notice};
use crate::runtime::Job;
use crate::tool::Tool;
use crate::tui::editor::Editor;
use crate::tui::human;
use crate::tui::keymap::Action;
use crate::tui::pane::Pane;
use crate::tui::transcript::{Streaming, TranscriptPane};

/// What goes on while a request that failed waits to be made again.
pub(in crate::tui) const WAITING: &str = "waiting to ask again";

impl App {
    pub(in crate::tui) fn draw_transcript(&mut self, area: Rect, buf: &mut Buffer) {
        let who = self.chat.answering().map(|route| route.provider.clone());
        let mut who = who.unwrap_or_default();
        let spinner = human::spinner(self.now);
        let is_waiting = self.chat.is_waiting();
        let goes_on = |how| format!("{spinner} {}", if is_waiting { WAITING } else { how });
        let (text, mark) = match (self.chat.partial_answer(), self.chat.compacting()) {
            (Some(text), _) => (Some(text), goes_on("streaming")),
            (None, Some(text)) => {
                "summary".clone_into(&mut who);
                (Some(text), goes_on("compacting"))
            }
            (None, None) => (self.chat.unsaved_answer(), "not saved yet".to_owned()),
        };
        let streaming = text.map(|text| Streaming {
            who: &who,
            text,
            mark: &mark,
        });
        let pane = TranscriptPane {
            theme: &self.setup.theme,
            events: self.chat.session().events(),
            streaming,
            tool_of: &|id| Some(Tool::of(id).name().to_owned()),
        };
        pane.render(area, buf, &mut self.transcript);
    }

    /// What the composer shows where that is not what it holds: while a
    /// message that has left it is reviewed once more, what Esc gives back.
    pub(in crate::tui) fn reviewed_again(&self) -> Option<Editor> {
        if !matches!(self.pane, Some(Pane::Draft(_))) {
            return None;
        }
        let departed = self.chat.departed()?;
        let mut shown = Editor::new();
        shown.set(departed.draft.followed_by(self.editor.draft()));
        Some(shown)
    }

    pub(in crate::tui) fn pane_mut(&mut self) -> Option<&mut Pane> {
        self.pane.as_mut()
    }

    pub(in crate::tui) fn pane_hints(&self) -> Vec<(Action, &'static str)> {
        match &self.pane {
            Some(pane) if pane.is_preparing() => vec![(Action::Escape, "cancel")],
            Some(Pane::Draft(state)) => {
                let mut hints = vec![
                    (Action::Accept, "send"),
                    (Action::Escape, "return"),
                    (Action::SwitchView, "conversation/bytes"),
                ];
                if state.references() > 1 {
                    hints.push((Action::NextReference, "next"));
                }
                hints.push((Action::Search, "search"));
                hints
            }
            Some(pane) => {
                let accept = match self.lists_sessions() {
                    true if self.is_only_to_read() => "go on in a new session",
                    true => "resume",
                    false => "cite",
                };
                let mut hints = vec![(Action::Accept, accept), (Action::Escape, "return")];
                if pane.is_readable() {
                    hints.push((Action::Search, "search"));
                }
                hints
            }
            None => Vec::new(),
        }
    }

    /// What is to be done before the program ends: whatever is under way is
    /// called off, and the draft is kept.
    pub(in crate::tui) fn part(&mut self) -> Vec<Job> {
        self.opening = None;
        let mut cmds = self.chat(ChatEvent::Cancel);
        // An answer may come in while a message is being prepared: each is
        // called off by itself.
        cmds.extend(self.chat(ChatEvent::Cancel));
        cmds.extend(self.chat(ChatEvent::Leave));
        let mut jobs: Vec<Job> = cmds
            .into_iter()
            .filter_map(|cmd| match cmd {
                super::Cmd::Job(job) => Some(job),
                _ => None,
            })
            .collect();
        jobs.push(self.draft_job());
        jobs
    }

    /// Whether another session is being opened.
    pub(in crate::tui) fn is_opening(&self) -> bool {
        self.opening.is_some()
    }

    /// Takes away what failed, where that is what the screen tells.
    pub(in crate::tui) fn take_failure(&mut self) -> Option<Failure> {
        match self.notice.take()? {
            Notice::Failed(failure) | Notice::ByEstimate(failure) => Some(failure),
            Notice::Info(_) | Notice::Waiting(_) => None,
        }
    }

    /// The answer that is not in the log and would be lost, and why it is not
    /// there, as far as that is known.
    pub(in crate::tui) fn unsaved(&self) -> Option<(&str, Option<&Failure>)> {
        let unsaved = self.chat.unsaved_answer().or(self.chat.partial_answer());
        let text = unsaved.filter(|text| !text.is_empty())?;
        Some((text, self.chat.unsaved_reason()))
    }

    /// Whether something that must not be lost is still being written.
    pub(in crate::tui) fn is_writing(&self) -> bool {
        self.chat.is_busy()
    }
}
