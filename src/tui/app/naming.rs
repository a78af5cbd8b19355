//! Giving a session of the list a title.

use unicode_segmentation::UnicodeSegmentation as _;

use super::{App, Cmd};
use crate::chat::{ChatEvent, Notice};
use crate::runtime::Job;
use crate::session::{SessionId, title};
use crate::tool::Tool;
use crate::tui::keymap::Action;
use crate::tui::listed::Listed;

/// A title on its way to a session.
#[derive(Debug)]
pub(super) struct Naming {
    id: SessionId,
    title: String,
}

impl App {
    /// Begins to name the selected session, from the title that it has.
    pub(super) fn name_selected(&mut self) {
        let Some(selected) = self.listed().and_then(Listed::selected) else {
            return;
        };
        if Tool::foreign(&selected.session_id).is_some() {
            self.say(
                "only ibid's own sessions can be renamed: those of other tools stay as they are",
            );
            return;
        }
        self.naming = Some(Naming {
            id: selected.session_id,
            title: selected.label,
        });
    }

    pub(super) fn naming_action(&mut self, action: Action) -> Vec<Cmd> {
        let Some(naming) = &mut self.naming else {
            return Vec::new();
        };
        match action {
            Action::Accept => {
                let given = self.naming.take();
                return given.map_or_else(Vec::new, |given| self.give_title(given));
            }
            Action::Escape => self.naming = None,
            Action::KillToStart => naming.title.clear(),
            Action::Backspace => {
                let last = naming.title.grapheme_indices(true).next_back();
                naming.title.truncate(last.map_or(0, |(at, _)| at));
            }
            _ => {}
        }
        Vec::new()
    }

    pub(super) fn naming_typed(&mut self, more: &str) {
        if let Some(naming) = &mut self.naming {
            naming.title.push_str(more);
        }
    }

    fn give_title(&mut self, Naming { id, title }: Naming) -> Vec<Cmd> {
        if id == *self.chat.session().id() {
            return self.chat(ChatEvent::Rename(title));
        }
        if title::normalise(&title, title::MAX_TITLE_BYTES).is_empty() {
            let nothing = "a title needs a letter that can be seen; nothing was renamed";
            self.notice = Some(Notice::Info(nothing.to_owned()));
            return Vec::new();
        }
        vec![Cmd::Job(Job::Rename(id, title))]
    }

    /// The title that is being given, as far as it is written.
    pub(in crate::tui) fn naming(&self) -> Option<&str> {
        self.naming.as_ref().map(|naming| &*naming.title)
    }
}
