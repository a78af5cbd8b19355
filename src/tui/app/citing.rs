//! The popup under an `@` or a `/`, and putting mentions into the draft.

use super::picking::move_in;
use super::{App, Cmd, Dismissed, Popup};
use crate::reference::Reference;
use crate::tui::command_list::CommandList;
use crate::tui::editor::{Element, MentionQuery};
use crate::tui::keymap::Action;
use crate::tui::listed::Listed;
use crate::tui::picker::Picker;
use crate::tui::texts::TextPicker;

impl App {
    /// Opens, updates or closes the popup as the caret's `@` token asks, or the
    /// `/word` that is all there is.
    pub(super) fn follow_token(&mut self) -> Vec<Cmd> {
        if self.pane.is_some() || self.list.is_some() || self.opening.is_some() {
            return Vec::new();
        }
        let command = self.editor.command_query().map(|query| MentionQuery {
            start: 0,
            query: query.word,
            typed: query.typed,
        });
        let is_command = command.is_some();
        let Some(token) = command.or_else(|| self.editor.mention_query()) else {
            self.popup = None;
            return Vec::new();
        };
        let revision = self.editor.revision();
        // The token is another one where it begins elsewhere, or begins anew.
        let is_dismissed = |closed: Dismissed| {
            closed.start == token.start && (!token.query.is_empty() || closed.revision == revision)
        };
        self.dismissed = self.dismissed.filter(|closed| is_dismissed(*closed));
        if self.dismissed.is_some() {
            self.popup = None;
            return Vec::new();
        }
        // A token that was not typed opens nothing, but may be gone on in.
        if self.popup.is_none() && !token.typed {
            return Vec::new();
        }
        if is_command {
            return self.list_commands(&token.query);
        }
        let said = token.query.strip_prefix('?');
        let is_open = self.popup.as_ref().is_some_and(|popup| {
            let is_said = match popup.listed {
                Listed::Texts(_) => Some(true),
                Listed::Sessions(_) => Some(false),
                Listed::Commands(_) | Listed::Choices(_) | Listed::Models(_) => None,
            };
            popup.start == token.start && is_said == Some(said.is_some())
        });
        if !is_open {
            self.popup = Some(Popup {
                start: token.start,
                listed: match said {
                    Some(_) => Listed::Texts(TextPicker::default()),
                    None => Listed::Sessions(Picker::default()),
                },
            });
        }
        let text = said.unwrap_or(&token.query);
        let is_asked = |popup: &Popup| popup.listed.text() == text;
        if is_open && self.popup.as_ref().is_some_and(is_asked) {
            return Vec::new();
        }
        self.ask(text.to_owned())
    }

    /// Lists the commands that fit what was typed of a word, if any does.
    fn list_commands(&mut self, typed: &str) -> Vec<Cmd> {
        let listed = self.popup.as_ref().map(|popup| &popup.listed);
        let is_shown = matches!(listed, Some(Listed::Commands(list)) if list.typed() == typed);
        if !is_shown {
            self.popup = CommandList::of(typed).map(|list| Popup {
                start: 0,
                listed: Listed::Commands(list),
            });
        }
        Vec::new()
    }

    pub(super) fn popup_action(&mut self, action: Action) -> Vec<Cmd> {
        let Some(popup) = &mut self.popup else {
            return Vec::new();
        };
        if let (Listed::Commands(list), Action::Accept | Action::Complete) = (&popup.listed, action)
        {
            return match list.selected() {
                Some(entry) => self.accept_command(entry, action),
                None => Vec::new(),
            };
        }
        let list = popup.listed.list_mut();
        match action {
            Action::Accept | Action::Complete if list.is_settled() => {
                return self.accept_selected();
            }
            Action::Accept | Action::Complete => list.accept_when_in(true),
            Action::Escape => {
                self.dismissed = Some(Dismissed {
                    start: popup.start,
                    revision: self.editor.revision(),
                });
                self.popup = None;
            }
            Action::Preview => return self.look_at_selected(),
            _ if move_in(list, action) => {}
            _ => return self.composer_action(action),
        }
        Vec::new()
    }

    pub(super) fn cite(&mut self, picked: Reference) {
        let token = match (&self.list, &self.popup) {
            (None, None) => return,
            (None, Some(popup)) => Some(popup.start),
            (Some(_), _) => self.open_token().map(|token| token.start),
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
        if cited.len() >= max && !cited.contains(&&picked.session_id) {
            self.say(&format!(
                "a message can cite {max} sessions: delete a mention to cite another"
            ));
            return;
        }
        self.history.leave();
        let Reference { session_id, label } = picked;
        match token {
            Some(start) => drop(self.editor.accept_mention(start, session_id, label)),
            None => self.editor.insert_mention(session_id, label),
        }
        self.popup = None;
        self.list = None;
    }

    /// The token under the caret whose popup is open, or would be if no other
    /// list were.
    pub(super) fn open_token(&self) -> Option<MentionQuery> {
        let token = self.editor.mention_query().filter(|token| token.typed)?;
        let closed = self.dismissed.map(|closed| closed.start);
        (closed != Some(token.start)).then_some(token)
    }
}
