//! Picking from the list that has the keyboard: the popup under an `@` or a `/`,
//! or a list over the conversation, of sessions, of what was said, of models, or
//! of what can be gone back to. What is asked there, what is answered, and what
//! Enter does.

use unicode_segmentation::UnicodeSegmentation as _;

use super::{App, Cmd};
use crate::chat::Notice;
use crate::reference::Reference;
use crate::runtime::{Destination, Found, Job, Query, TextFound, TextQuery};
use crate::tool::Tool;
use crate::tui::keymap::Action;
use crate::tui::list::List;
use crate::tui::listed::Listed;
use crate::tui::picker::Picker;
use crate::tui::texts::TextPicker;

/// How far a page goes in a list.
const PAGE: isize = 8;

impl App {
    /// Picks the selected row of the list that has the keyboard.
    pub(super) fn accept_selected(&mut self) -> Vec<Cmd> {
        match self.list {
            Some(Listed::Models(_)) => return self.choose_selected(),
            Some(Listed::Choices(_)) => return self.accept_choice(),
            Some(Listed::Sessions(_) | Listed::Texts(_) | Listed::Commands(_)) | None => {}
        }
        let Some(picked) = self.listed().and_then(Listed::selected) else {
            if self.list.is_none() {
                self.say("there is no session to pick: Esc closes the list, then Enter sends");
            }
            return Vec::new();
        };
        // There is no going on in a session of another tool, but it can be
        // read.
        if self.lists_sessions() && Tool::foreign(&picked.session_id).is_some() {
            return self.look_at_selected();
        }
        self.pick(picked)
    }

    /// Picks the row that was clicked.
    pub(super) fn accept_clicked(&mut self) -> Vec<Cmd> {
        match self.listed() {
            Some(Listed::Commands(_)) => self.popup_action(Action::Accept),
            _ => self.accept_selected(),
        }
    }

    /// Resumes a session, carries it on, or cites it, as the list that it was
    /// found in asks.
    pub(super) fn pick(&mut self, picked: Reference) -> Vec<Cmd> {
        if self.lists_sessions() {
            return self.go_on_in(picked);
        }
        self.cite(picked);
        Vec::new()
    }

    pub(super) fn open_sessions(&mut self) -> Vec<Cmd> {
        self.popup = None;
        self.list = Some(Listed::Sessions(Picker::default()));
        self.ask(String::new())
    }

    /// Opens the search of what was said, for what stands behind an `@` at the
    /// caret, if that is there.
    pub(super) fn open_texts(&mut self) -> Vec<Cmd> {
        let token = self.open_token().map(|token| token.query);
        let text = token.unwrap_or_default();
        self.popup = None;
        self.list = Some(Listed::Texts(TextPicker::default()));
        self.ask(text.strip_prefix('?').unwrap_or(&text).to_owned())
    }

    /// A key in a list over the conversation.
    pub(super) fn list_action(&mut self, action: Action) -> Vec<Cmd> {
        let Some(listed) = &mut self.list else {
            return Vec::new();
        };
        match action {
            Action::Accept if listed.list().is_settled() => return self.accept_selected(),
            Action::Accept => listed.list_mut().accept_when_in(true),
            Action::Escape => self.list = None,
            Action::Preview => return self.look_at_selected(),
            Action::Rename => self.name_selected(),
            Action::Export => return self.export_selected(),
            Action::Backspace => {
                let mut text = listed.text().to_owned();
                let last = text.grapheme_indices(true).next_back();
                text.truncate(last.map_or(0, |(at, _)| at));
                return self.ask(text);
            }
            Action::KillToStart => return self.ask(String::new()),
            _ => drop(move_in(listed.list_mut(), action)),
        }
        Vec::new()
    }

    pub(super) fn list_typed(&mut self, more: &str) -> Vec<Cmd> {
        let Some(listed) = &self.list else {
            return Vec::new();
        };
        let text = format!("{}{more}", listed.text());
        self.ask(text)
    }

    /// Asks for something else in the list that has the keyboard.
    pub(super) fn ask(&mut self, text: String) -> Vec<Cmd> {
        let header = self.chat.session().header();
        let (here, cwd) = (Some(header.id.clone()), header.cwd.clone());
        let is_popup = self.list.is_none();
        let now = self.now;
        let job = match self.listed_mut() {
            Some(Listed::Sessions(picker)) => {
                // The list shows this session too, but nobody cites it in
                // itself.
                let target = here.filter(|_| is_popup);
                let query = Query { text, target, cwd };
                picker.asked(query.clone(), now);
                Some(Job::Find(query))
            }
            Some(Listed::Texts(picker)) => {
                let query = TextQuery { text, target: here };
                let asks = picker.ask(query.clone(), now);
                asks.then_some(Job::Search(query))
            }
            Some(Listed::Choices(choices)) => {
                choices.ask(text);
                None
            }
            Some(Listed::Models(picker)) => {
                picker.narrow(text);
                None
            }
            Some(Listed::Commands(_)) | None => None,
        };
        job.map(Cmd::Job).into_iter().collect()
    }

    /// Goes on in a session, or in a new one that cites it where it is of
    /// another tool.
    fn go_on_in(&mut self, picked: Reference) -> Vec<Cmd> {
        self.list = None;
        let id = picked.session_id.clone();
        if id == *self.chat.session().id() || self.refuses_to_leave() {
            return Vec::new();
        }
        self.open(match Tool::foreign(&id) {
            Some(_) => Destination::Citing(picked),
            None => Destination::Stored(id),
        })
    }

    /// Asks for another session to go on in.
    pub(super) fn open(&mut self, place: Destination) -> Vec<Cmd> {
        self.opening = Some(place.clone());
        vec![Cmd::Job(Job::Open(place))]
    }

    /// Whether something of this session would be lost by going on in another
    /// one; the person is told. An answer that can't be saved keeps nobody for
    /// ever: who was told once may go, and takes its text along.
    pub(super) fn refuses_to_leave(&mut self) -> bool {
        if self.chat.is_busy() {
            self.say("an answer is under way: Esc stops it, then try again");
        } else if !self.warned && self.chat.unsaved_answer().is_some() {
            self.warned = true;
            self.say(
                "the last answer is not saved: Esc tries to save it; try again to go on \
                 without, its text is put aside",
            );
        } else {
            return false;
        }
        true
    }

    pub(super) fn found(&mut self, query: &Query, found: Result<Found, String>) -> Vec<Cmd> {
        let open = self.chat.session().id().clone();
        let is_list = self.list.is_some();
        let Some(Listed::Sessions(picker)) = self.listed_mut() else {
            return Vec::new();
        };
        if !picker.answer(query, found) {
            return Vec::new();
        }
        if is_list {
            picker.set_place(&open, "open now");
        }
        self.answered()
    }

    pub(super) fn searched(
        &mut self,
        query: &TextQuery,
        found: Result<TextFound, String>,
    ) -> Vec<Cmd> {
        let is_awaited = match self.listed_mut() {
            Some(Listed::Texts(picker)) => picker.answer(query, found),
            _ => false,
        };
        if is_awaited {
            self.answered()
        } else {
            Vec::new()
        }
    }

    /// What waited for the answer that is in.
    fn answered(&mut self) -> Vec<Cmd> {
        let Some(listed) = self.listed_mut() else {
            return Vec::new();
        };
        let is_outdated = listed.list().is_outdated();
        let accepts = listed.list_mut().take_accept();
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
        let job = self.listed_mut().and_then(|listed| listed.outdated(now));
        job.map(Cmd::Job).into_iter().collect()
    }

    pub(super) fn say(&mut self, text: &str) {
        self.notice = Some(Notice::Info(text.to_owned()));
    }

    /// The list that has the keyboard.
    pub(in crate::tui) fn listed(&self) -> Option<&Listed> {
        let popup = self.popup.as_ref().map(|popup| &popup.listed);
        self.list.as_ref().or(popup)
    }

    /// The list that has the keyboard.
    pub(in crate::tui) fn listed_mut(&mut self) -> Option<&mut Listed> {
        let popup = self.popup.as_mut().map(|popup| &mut popup.listed);
        self.list.as_mut().or(popup)
    }

    /// Whether sessions are listed to go on in one.
    pub(super) fn lists_sessions(&self) -> bool {
        matches!(self.list, Some(Listed::Sessions(_)))
    }

    /// The selected session of the list that has the keyboard, or the one that
    /// is looked at, when it is listed to go on in it, but is of another tool.
    pub(in crate::tui) fn is_only_to_read(&self) -> bool {
        let looked_at = self.pane.as_ref().and_then(|pane| pane.looked_at());
        let id = match looked_at {
            Some((id, _)) => Some(id.clone()),
            None => self
                .listed()
                .and_then(Listed::selected)
                .map(|r| r.session_id),
        };
        self.lists_sessions() && id.is_some_and(|id| Tool::foreign(&id).is_some())
    }
}

pub(super) fn move_in(list: &mut List, action: Action) -> bool {
    match action {
        Action::Up => list.step(false),
        Action::Down => list.step(true),
        Action::PageUp => list.jump(-PAGE),
        Action::PageDown => list.jump(PAGE),
        Action::First => list.jump(isize::MIN),
        Action::Last => list.jump(isize::MAX),
        _ => return false,
    }
    true
}
