//! Picking sessions: the popup under an `@`, and the list of sessions.

use unicode_segmentation::UnicodeSegmentation as _;

use super::{App, Cmd, Dismissed, Popup, Sessions};
use crate::chat::Notice;
use crate::runtime::{Found, Job, Query};
use crate::session::SessionId;
use crate::tui::editor::Element;
use crate::tui::keymap::Action;
use crate::tui::picker::Picker;

/// How far a page goes in a list.
const PAGE: isize = 8;

impl App {
    /// Opens, updates or closes the popup as the caret's `@` token asks.
    pub(super) fn follow_mention(&mut self) -> Vec<Cmd> {
        if self.pane.is_some() || self.sessions.is_some() || self.opening.is_some() {
            return Vec::new();
        }
        let Some(found) = self.editor.mention_query() else {
            self.popup = None;
            return Vec::new();
        };
        let revision = self.editor.revision();
        // The token is another one where it begins elsewhere, or begins anew.
        let is_dismissed = |closed: Dismissed| {
            closed.start == found.start && (!found.query.is_empty() || closed.revision == revision)
        };
        self.dismissed = self.dismissed.filter(|closed| is_dismissed(*closed));
        if self.dismissed.is_some() {
            self.popup = None;
            return Vec::new();
        }
        // A token that was not typed opens nothing, but may be gone on in.
        if self.popup.is_none() && !found.typed {
            return Vec::new();
        }
        let query = self.target_query(found.query, false);
        let same_place = |popup: &Popup| popup.start == found.start;
        if !self.popup.as_ref().is_some_and(same_place) {
            self.popup = Some(Popup {
                start: found.start,
                picker: Picker::default(),
                accept_when_in: false,
            });
        } else if self
            .popup
            .as_ref()
            .is_some_and(|p| *p.picker.query() == query)
        {
            return Vec::new();
        }
        let now = self.now;
        if let Some(popup) = &mut self.popup {
            popup.picker.asked(query.clone(), now);
        }
        vec![Cmd::Job(Job::Find(query))]
    }

    pub(super) fn popup_action(&mut self, action: Action) -> Vec<Cmd> {
        let Some(popup) = &mut self.popup else {
            return Vec::new();
        };
        match action {
            Action::Accept if popup.picker.is_settled() => return self.accept_selected(),
            Action::Accept => popup.accept_when_in = true,
            Action::Escape => {
                self.dismissed = Some(Dismissed {
                    start: popup.start,
                    revision: self.editor.revision(),
                });
                self.popup = None;
            }
            Action::Preview => return self.look_at_selected(),
            _ if move_in(&mut popup.picker, action) => {}
            _ => return self.composer_action(action),
        }
        Vec::new()
    }

    /// Picks the selected row of the list that has the keyboard.
    pub(super) fn accept_selected(&mut self) -> Vec<Cmd> {
        let Some(row) = self.picker().and_then(|picker| picker.selected()) else {
            if self.sessions.is_none() {
                self.say("there is no session to pick: Esc closes the list, then Enter sends");
            }
            return Vec::new();
        };
        let (id, label) = (row.id.clone(), row.label.clone());
        self.pick(id, &label)
    }

    /// Resumes a session, or cites it, as the list that it was found in asks.
    pub(super) fn pick(&mut self, id: SessionId, label: &str) -> Vec<Cmd> {
        if self.sessions.is_some() {
            self.resume(id)
        } else {
            self.cite(id, label);
            Vec::new()
        }
    }

    fn cite(&mut self, id: SessionId, label: &str) {
        let Some(popup) = &self.popup else {
            return;
        };
        let mut cited: Vec<_> = self
            .editor
            .elements()
            .filter_map(|element| match element {
                Element::Mention { session_id, .. } => Some(session_id),
                Element::Paste { .. } => None,
            })
            .collect();
        cited.sort();
        cited.dedup();
        let max = self.setup.max_references;
        if cited.len() >= max && !cited.contains(&&id) {
            self.say(&format!(
                "a message can cite {max} sessions: delete a mention to cite another"
            ));
            return;
        }
        self.history.leave();
        self.editor.accept_mention(popup.start, id, label);
        self.popup = None;
    }

    pub(super) fn open_sessions(&mut self) -> Vec<Cmd> {
        let query = self.target_query(String::new(), true);
        let mut sessions = Sessions::default();
        sessions.picker.asked(query.clone(), self.now);
        self.popup = None;
        self.sessions = Some(sessions);
        vec![Cmd::Job(Job::Find(query))]
    }

    pub(super) fn sessions_action(&mut self, action: Action) -> Vec<Cmd> {
        let Some(sessions) = &mut self.sessions else {
            return Vec::new();
        };
        match action {
            Action::Accept if sessions.picker.is_settled() => return self.accept_selected(),
            Action::Accept => sessions.accept_when_in = true,
            Action::Escape => self.sessions = None,
            Action::Preview => return self.look_at_selected(),
            Action::Backspace => {
                let mut text = sessions.picker.query().text.clone();
                let last = text.grapheme_indices(true).next_back();
                text.truncate(last.map_or(0, |(at, _)| at));
                return self.search_sessions(text);
            }
            Action::KillToStart => return self.search_sessions(String::new()),
            _ => {
                move_in(&mut sessions.picker, action);
            }
        }
        Vec::new()
    }

    pub(super) fn sessions_typed(&mut self, more: &str) -> Vec<Cmd> {
        let Some(sessions) = &self.sessions else {
            return Vec::new();
        };
        let mut text = sessions.picker.query().text.clone();
        text.push_str(more);
        self.search_sessions(text)
    }

    fn search_sessions(&mut self, text: String) -> Vec<Cmd> {
        let query = self.target_query(text, true);
        let now = self.now;
        if let Some(sessions) = &mut self.sessions {
            sessions.picker.asked(query.clone(), now);
        }
        vec![Cmd::Job(Job::Find(query))]
    }

    fn resume(&mut self, id: SessionId) -> Vec<Cmd> {
        self.sessions = None;
        if id == *self.chat.session().id() || self.refuses_to_leave() {
            return Vec::new();
        }
        self.opening = Some(id.clone());
        vec![Cmd::Job(Job::Open(id))]
    }

    /// Whether something of this session would be lost by going on in another
    /// one; the person is told. An answer that can't be saved keeps nobody for
    /// ever: who was told once may go, and takes its text along.
    pub(super) fn refuses_to_leave(&mut self) -> bool {
        if self.chat.is_busy() {
            self.say("an answer is under way: Esc stops it, then resume");
        } else if !self.warned && self.chat.unsaved_answer().is_some() {
            self.warned = true;
            self.say(
                "the last answer is not saved: Esc tries to save it; resume again to go on \
                 without, its text is put aside",
            );
        } else {
            return false;
        }
        true
    }

    /// The list that has the keyboard.
    pub(super) fn picker(&mut self) -> Option<&mut Picker> {
        match (&mut self.sessions, &mut self.popup) {
            (Some(sessions), _) => Some(&mut sessions.picker),
            (None, Some(popup)) => Some(&mut popup.picker),
            (None, None) => None,
        }
    }

    pub(super) fn pending_accept(&mut self) -> Option<&mut bool> {
        match (&mut self.sessions, &mut self.popup) {
            (Some(sessions), _) => Some(&mut sessions.accept_when_in),
            (None, Some(popup)) => Some(&mut popup.accept_when_in),
            (None, None) => None,
        }
    }

    pub(super) fn found(&mut self, query: &Query, found: Result<Found, String>) -> Vec<Cmd> {
        let open = self.chat.session().id().clone();
        let is_list = self.sessions.is_some();
        let Some(picker) = self.picker() else {
            return Vec::new();
        };
        if !picker.answer(query, found) {
            return Vec::new();
        }
        if is_list {
            picker.set_place(&open, "open now");
        }
        let is_outdated = picker.is_outdated();
        let accepts = self.pending_accept().is_some_and(std::mem::take);
        let mut cmds = if accepts {
            self.accept_selected()
        } else {
            Vec::new()
        };
        if is_outdated {
            cmds.extend(self.ask_again());
        }
        cmds
    }

    /// The library has more, or other, rows than before. One question is out
    /// at a time, so that it is answered however often that happens.
    pub(super) fn ask_again(&mut self) -> Vec<Cmd> {
        let now = self.now;
        let query = self.picker().and_then(|picker| picker.outdated(now));
        query
            .map(|query| Cmd::Job(Job::Find(query)))
            .into_iter()
            .collect()
    }

    pub(super) fn say(&mut self, text: &str) {
        self.notice = Some(Notice::Info(text.to_owned()));
    }

    pub(in crate::tui) fn popup_mut(&mut self) -> Option<&mut Picker> {
        self.popup.as_mut().map(|popup| &mut popup.picker)
    }

    /// Whether the list that has the keyboard has a row to pick, or may get one.
    pub(in crate::tui) fn has_rows(&self) -> bool {
        let picker = match (&self.sessions, &self.popup) {
            (Some(sessions), _) => &sessions.picker,
            (None, Some(popup)) => &popup.picker,
            (None, None) => return false,
        };
        picker.selected().is_some()
    }

    pub(in crate::tui) fn sessions_mut(&mut self) -> Option<&mut Picker> {
        self.sessions.as_mut().map(|sessions| &mut sessions.picker)
    }
}

fn move_in(picker: &mut Picker, action: Action) -> bool {
    match action {
        Action::Up => picker.step(false),
        Action::Down => picker.step(true),
        Action::PageUp => picker.jump(-PAGE),
        Action::PageDown => picker.jump(PAGE),
        Action::First => picker.jump(isize::MIN),
        Action::Last => picker.jump(isize::MAX),
        _ => return false,
    }
    true
}
