//! Looking: what would be sent, and sessions before they are cited.

use std::sync::Arc;

use super::{App, Cmd};
use crate::chat::{ChatEvent, Step, View};
use crate::reference::Reference;
use crate::reference::projection::Capture;
use crate::reference::resolver::Growth;
use crate::runtime::Job;
use crate::session::SessionId;
use crate::tool::Tool;
use crate::tui::human;
use crate::tui::keymap::Action;
use crate::tui::pager::Pager;
use crate::tui::pane::{Look, Pane};
use crate::tui::preview::ReferenceFacts;

impl App {
    /// Shows what the conversation has prepared, for as long as it waits.
    pub(super) fn sync_pane(&mut self) {
        let pane = match self.chat.outgoing() {
            View::Preparing if self.pane.as_ref().is_some_and(Pane::is_preparing) => return,
            View::Preparing => Pane::preparing(self.now),
            View::Review { step, growth } => {
                let Some(context) = step.contexts.first() else {
                    return;
                };
                if self.pane.as_ref().is_some_and(|p| p.shows(context)) {
                    return;
                }
                Pane::review(Arc::clone(context), self.facts(step), note(growth))
            }
            View::None | View::Waiting(_) | View::Sending => {
                if matches!(self.pane, Some(Pane::Draft(_))) {
                    self.pane = self.under.take();
                }
                return;
            }
        };
        if let Some(look @ Pane::Session(_)) = self.pane.replace(pane) {
            self.under = Some(look);
        }
    }

    fn facts(&self, step: &Step) -> Vec<ReferenceFacts> {
        step.contexts
            .iter()
            .flat_map(|context| &context.references)
            .map(|prepared| self.captured_now(&prepared.reference.session_id))
            .collect()
    }

    fn captured_now(&self, id: &SessionId) -> ReferenceFacts {
        ReferenceFacts {
            tool: Tool::of(id).name().to_owned(),
            captured: human::clock(self.now, &self.setup.zone),
        }
    }

    pub(super) fn look_at_selected(&mut self) -> Vec<Cmd> {
        let Some(listed) = self.listed() else {
            return Vec::new();
        };
        let Some(Reference { session_id, label }) = listed.selected() else {
            return Vec::new();
        };
        let look = Look::new(session_id.clone(), label, self.now).at(listed.spot());
        let is_only_to_read = self.is_only_to_read();
        self.pane = Some(Pane::Session(look.only_to_read(is_only_to_read)));
        vec![Cmd::Job(Job::Look(session_id))]
    }

    pub(super) fn looked(&mut self, id: &SessionId, outcome: &Result<Arc<Capture>, String>) {
        let facts = self.captured_now(id);
        self.search_goes_on = true;
        for pane in self.pane.iter_mut().chain(&mut self.under) {
            pane.looked(id, outcome.clone(), &facts);
        }
    }

    pub(super) fn pane_action(&mut self, action: Action) -> Vec<Cmd> {
        let Some(pane) = &mut self.pane else {
            return Vec::new();
        };
        match action {
            Action::Escape => return self.leave_pane(),
            Action::Accept => return self.accept_pane(),
            Action::SwitchView | Action::PreviousReference | Action::NextReference => {
                if let Some(draft) = pane.draft() {
                    match action {
                        Action::SwitchView => draft.switch_view(),
                        Action::PreviousReference => draft.previous_reference(),
                        _ => draft.next_reference(),
                    }
                }
            }
            _ => {
                if let Some(pager) = pane.pager() {
                    match action {
                        Action::Up => pager.scroll(-1),
                        Action::Down => pager.scroll(1),
                        Action::PageUp => pager.page(-1),
                        Action::PageDown => pager.page(1),
                        Action::First => pager.home(),
                        Action::Last => pager.end(),
                        Action::Search => pager.search_begin(),
                        Action::SearchNext => pager.search_next(),
                        Action::SearchPrevious => pager.search_previous(),
                        _ => {}
                    }
                }
            }
        }
        Vec::new()
    }

    pub(super) fn pane_search_action(&mut self, action: Action) {
        if let Some(pager) = self.pane.as_mut().and_then(Pane::pager) {
            match action {
                Action::Accept => pager.search_accept(),
                Action::Escape => pager.search_cancel(),
                Action::Backspace => pager.search_pop(),
                _ => {}
            }
        }
    }

    fn leave_pane(&mut self) -> Vec<Cmd> {
        if matches!(self.pane, Some(Pane::Draft(_))) {
            return self.chat(ChatEvent::Cancel);
        }
        self.pane = None;
        Vec::new()
    }

    /// Enter: sends what is shown, or picks the session that is looked at.
    fn accept_pane(&mut self) -> Vec<Cmd> {
        let Some(pane) = &self.pane else {
            return Vec::new();
        };
        let Some((id, label)) = pane.looked_at() else {
            let is_ready = pane.is_readable();
            return if is_ready {
                self.chat(ChatEvent::Confirm)
            } else {
                Vec::new()
            };
        };
        let picked = Reference {
            session_id: id.clone(),
            label: label.to_owned(),
        };
        self.pane = None;
        self.pick(picked)
    }

    /// Looks for more matches of a pane's search; one slice of work a call.
    pub(super) fn search_on(&mut self) {
        let pager = self.pane.as_mut().and_then(Pane::pager);
        self.search_goes_on = pager.is_some_and(Pager::search_more);
    }
}

/// How the sources grew since they were shown, in words.
fn note(growth: &[Growth]) -> Option<String> {
    let each = |g: &Growth| match g.messages {
        0 => format!("{} changed", g.reference.label),
        n => {
            let noun = if n.abs() == 1 { "message" } else { "messages" };
            format!("{}: {n:+} {noun}", g.reference.label)
        }
    };
    let all: Vec<String> = growth.iter().map(each).collect();
    (!all.is_empty()).then(|| format!("{} since the preview", all.join(" · ")))
}
