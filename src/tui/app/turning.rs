//! Going back in the conversation: to an earlier message, which is changed and
//! sent anew, and to a branch that was left.

use super::{App, Cmd};
use crate::chat::{ChatEvent, View, branches};
use crate::tui::choices::{Choices, Kind};
use crate::tui::listed::Listed;

impl App {
    /// Lists the person's earlier messages.
    pub(super) fn list_prompts(&mut self) -> Option<Vec<Cmd>> {
        if !matches!(self.chat.outgoing(), View::None) {
            self.say("another message is on its way; Esc takes it back");
            return None;
        }
        let choices = Choices::of_prompts(self.chat.prompts());
        self.list_choices(choices, "you have said nothing yet that could be changed")
    }

    /// Lists the branches that were left.
    pub(super) fn list_branches(&mut self) -> Option<Vec<Cmd>> {
        let choices = Choices::of_branches(&branches(self.chat.session()));
        let none = "there is no other branch: /edit changes an earlier message and begins one";
        self.list_choices(choices, none)
    }

    fn list_choices(&mut self, choices: Choices, none: &str) -> Option<Vec<Cmd>> {
        if choices.is_empty() {
            self.say(none);
            return None;
        }
        self.popup = None;
        self.list = Some(Listed::Choices(choices));
        Some(Vec::new())
    }

    /// Takes the selected row: a message into the composer, or the way back.
    pub(super) fn accept_choice(&mut self) -> Vec<Cmd> {
        let Some(Listed::Choices(choices)) = &self.list else {
            return Vec::new();
        };
        let Some(seq) = choices.selected() else {
            return Vec::new();
        };
        let event = match choices.kind {
            Kind::Prompts => ChatEvent::Revise(seq),
            Kind::Branches => ChatEvent::GoBack(seq),
        };
        self.list = None;
        self.chat(event)
    }

    /// Esc on the composer: calls off what is under way, else gives up changing
    /// a message; where there is nothing of that, twice lists the earlier
    /// messages.
    pub(super) fn escape(&mut self) -> Vec<Cmd> {
        let again = std::mem::take(&mut self.escaped);
        if self.chat.is_busy() || self.chat.unsaved_answer().is_some() {
            return self.chat(ChatEvent::Cancel);
        }
        if self.chat.revising().is_some() {
            return self.chat(ChatEvent::LeaveRevising);
        }
        if !self.editor.is_empty() || self.chat.prompts().next().is_none() {
            return Vec::new();
        }
        if again {
            return self.list_prompts().unwrap_or_default();
        }
        self.escaped = true;
        self.say("Esc again lists your messages, to change one and go on from there");
        Vec::new()
    }
}
