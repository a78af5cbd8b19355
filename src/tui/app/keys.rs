//! From terminal events to actions, and from actions to the layer they are
//! for.

use crossterm::event::{Event, KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};

use super::{App, Armed, Cmd};
use crate::chat::{ChatEvent, Notice};
use crate::tui::keymap::{self, Action, Layer};
use crate::tui::pane::Pane;

impl App {
    pub(super) fn terminal_event(&mut self, event: Event) -> Vec<Cmd> {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(&key),
            Event::Paste(text) => self.paste(&text),
            Event::Mouse(mouse) => self.mouse(mouse),
            // Drawing finds out how much room there is.
            Event::Key(_) | Event::Resize(..) | Event::FocusGained | Event::FocusLost => Vec::new(),
        }
    }

    fn key(&mut self, key: &KeyEvent) -> Vec<Cmd> {
        let layer = self.layer();
        let action = keymap::action(layer, key);
        if !matches!(action, Some(Action::Interrupt | Action::EndOfInput)) {
            self.armed = Armed::No;
        }
        self.escaped &= action == Some(Action::Escape);
        if action.is_some() {
            self.notice = None;
        }
        self.begin_action();
        if self.is_held() {
            return self.held_key(action);
        }
        match action {
            Some(Action::Suspend) => vec![Cmd::Suspend],
            Some(Action::Help) => {
                self.help = Some(0);
                Vec::new()
            }
            Some(action) => match layer {
                Layer::Composer => self.composer_action(action),
                Layer::Popup => self.popup_action(action),
                Layer::Pane => self.pane_action(action),
                Layer::PaneSearch => {
                    self.pane_search_action(action);
                    Vec::new()
                }
                Layer::Sessions | Layer::Texts | Layer::Choices | Layer::Models => {
                    self.list_action(action)
                }
                Layer::Naming => self.naming_action(action),
                Layer::Help => {
                    self.help_action(action);
                    Vec::new()
                }
            },
            None => match keymap::typed(key) {
                Some(c) => self.typed(layer, c),
                None => Vec::new(),
            },
        }
    }

    /// Whether the composer takes nothing, as another session is about to take
    /// its place: what is written would end up in one that it is not for.
    fn is_held(&self) -> bool {
        self.opening.is_some() && matches!(self.layer(), Layer::Composer | Layer::Popup)
    }

    fn held_key(&mut self, action: Option<Action>) -> Vec<Cmd> {
        match action {
            Some(Action::Escape | Action::Interrupt) => {
                self.opening = None;
                self.say("you go on in this session");
            }
            Some(Action::EndOfInput) if self.editor.is_empty() => {
                return self.quit(Action::EndOfInput);
            }
            Some(Action::Suspend) => return vec![Cmd::Suspend],
            Some(Action::Help) => self.help = Some(0),
            Some(action @ (Action::PageUp | Action::PageDown)) => {
                return self.composer_action(action);
            }
            _ => self.say_held(),
        }
        Vec::new()
    }

    fn say_held(&mut self) {
        self.say("another session is being opened: write when it is there, or Esc cancels");
    }

    /// What any action by the person ends: an Enter that waits for rows, and
    /// what the screen tells. What failed stays while somebody types, who may
    /// not have looked; any other key closes it.
    fn begin_action(&mut self) {
        self.notice = self.notice.take().filter(Notice::is_failure);
        self.search_goes_on = true;
        if let Some(listed) = self.listed_mut() {
            listed.list_mut().accept_when_in(false);
        }
    }

    fn typed(&mut self, layer: Layer, c: char) -> Vec<Cmd> {
        match layer {
            Layer::Composer | Layer::Popup => {
                self.history.leave();
                self.editor.insert_char(c);
                Vec::new()
            }
            Layer::Sessions | Layer::Texts | Layer::Choices | Layer::Models => {
                self.list_typed(c.encode_utf8(&mut [0; 4]))
            }
            Layer::Naming => {
                self.naming_typed(c.encode_utf8(&mut [0; 4]));
                Vec::new()
            }
            Layer::PaneSearch => {
                if let Some(pager) = self.pane.as_mut().and_then(Pane::pager) {
                    pager.search_push(c.encode_utf8(&mut [0; 4]));
                }
                Vec::new()
            }
            Layer::Pane | Layer::Help => Vec::new(),
        }
    }

    fn paste(&mut self, text: &str) -> Vec<Cmd> {
        self.armed = Armed::No;
        self.begin_action();
        if self.is_held() {
            self.say_held();
            return Vec::new();
        }
        let line = text.lines().next().unwrap_or_default();
        match self.layer() {
            Layer::Composer | Layer::Popup => {
                self.history.leave();
                self.editor.paste(text);
            }
            Layer::PaneSearch => {
                if let Some(pager) = self.pane.as_mut().and_then(Pane::pager) {
                    pager.search_push(line);
                }
            }
            Layer::Sessions | Layer::Texts | Layer::Choices | Layer::Models => {
                return self.list_typed(line);
            }
            Layer::Naming => self.naming_typed(line),
            Layer::Pane | Layer::Help => {}
        }
        Vec::new()
    }

    fn mouse(&mut self, mouse: MouseEvent) -> Vec<Cmd> {
        let at = ratatui::layout::Position::new(mouse.column, mouse.row);
        let up = match mouse.kind {
            MouseEventKind::ScrollUp => true,
            MouseEventKind::ScrollDown => false,
            MouseEventKind::Down(MouseButton::Left) => return self.click(at),
            _ => return Vec::new(),
        };
        let lines: i16 = if up { -3 } else { 3 };
        match self.layer() {
            Layer::Popup | Layer::Sessions | Layer::Texts | Layer::Choices | Layer::Models
                if self.areas.rows.contains(at) =>
            {
                if let Some(listed) = self.listed_mut() {
                    listed.list_mut().jump(lines.into());
                }
            }
            Layer::Pane | Layer::PaneSearch => {
                if let Some(pager) = self.pane.as_mut().and_then(Pane::pager) {
                    pager.scroll(lines);
                }
            }
            Layer::Help => self.scroll_help(lines.into()),
            Layer::Composer
            | Layer::Popup
            | Layer::Sessions
            | Layer::Texts
            | Layer::Choices
            | Layer::Models => {
                self.transcript.scroll(lines);
            }
            Layer::Naming => {}
        }
        Vec::new()
    }

    fn click(&mut self, at: ratatui::layout::Position) -> Vec<Cmd> {
        let layer = self.layer();
        let is_list = matches!(
            layer,
            Layer::Popup | Layer::Sessions | Layer::Texts | Layer::Choices | Layer::Models
        );
        if is_list && self.areas.rows.contains(at) {
            let row = usize::from(at.y - self.areas.rows.y);
            let listed = self.listed_mut();
            let hit = listed.is_some_and(|l| l.list_mut().select_visible(row));
            return if hit {
                self.notice = None;
                self.begin_action();
                self.accept_clicked()
            } else {
                Vec::new()
            };
        }
        if matches!(layer, Layer::Composer | Layer::Popup) && self.areas.composer.contains(at) {
            self.click_composer(at);
        }
        Vec::new()
    }

    /// Ctrl-C and Ctrl-D on the composer.
    pub(super) fn leave(&mut self, action: Action) -> Vec<Cmd> {
        if action == Action::EndOfInput {
            if self.editor.is_empty() {
                return self.quit(action);
            }
            self.history.leave();
            self.editor.delete();
            return Vec::new();
        }
        if self.armed != Armed::No {
            return self.quit(action);
        }
        self.armed = Armed::Quit;
        if !self.editor.is_empty() {
            self.history.leave();
            self.editor.clear();
        }
        self.chat(ChatEvent::LeaveRevising);
        self.say("press Ctrl-C again to quit");
        Vec::new()
    }

    /// Ends the program; asks first when an answer would be lost.
    pub(super) fn quit(&mut self, action: Action) -> Vec<Cmd> {
        let is_saved = self.chat.unsaved_answer().is_none_or(str::is_empty);
        if is_saved || self.armed == Armed::Loss {
            return vec![Cmd::Quit];
        }
        self.armed = Armed::Loss;
        let key = keymap::hint(Layer::Composer, action).unwrap_or_default();
        self.say(&format!(
            "the last answer is not saved: Esc tries to save it, {key} again quits without it"
        ));
        Vec::new()
    }

    fn help_action(&mut self, action: Action) {
        match action {
            Action::Escape => self.help = None,
            Action::Up => self.scroll_help(-1),
            Action::Down => self.scroll_help(1),
            Action::PageUp => self.scroll_help(-10),
            Action::PageDown => self.scroll_help(10),
            Action::First => self.help = Some(0),
            Action::Last => self.scroll_help(isize::MAX),
            _ => {}
        }
    }

    fn scroll_help(&mut self, lines: isize) {
        if let Some(top) = &mut self.help {
            *top = top.saturating_add_signed(lines);
        }
    }

    /// The row of the help that stands on top, held within its length.
    pub(in crate::tui) fn help_top(&mut self, last: usize) -> Option<usize> {
        let top = self.help.as_mut()?;
        *top = (*top).min(last);
        Some(*top)
    }
}
