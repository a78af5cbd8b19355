//! Writing: the composer's actions, and what its draft leads to.

use super::{App, Cmd};
use crate::chat::{ChatEvent, Draft, Failure, Notice};
use crate::tui::editor::Point;
use crate::tui::keymap::Action;

impl App {
    pub(super) fn composer_action(&mut self, action: Action) -> Vec<Cmd> {
        match action {
            Action::Send => return self.send(),
            Action::Preview => return self.chat(ChatEvent::Preview(self.editor.draft())),
            Action::Escape => return self.escape(),
            Action::Interrupt | Action::EndOfInput => return self.leave(action),
            Action::Sessions => return self.open_sessions(),
            Action::Texts => return self.open_texts(),
            Action::Models => return self.open_models("", false),
            Action::ExternalEditor => {
                return vec![Cmd::Edit(self.editor.draft().to_text())];
            }
            Action::PageUp => self.transcript.page(-1),
            Action::PageDown => self.transcript.page(1),
            Action::Up => self.up(),
            Action::Down => self.down(),
            Action::LineEnd => {
                self.transcript.end();
                self.editor.move_to_line_end();
            }
            _ => self.edit(action),
        }
        Vec::new()
    }

    fn edit(&mut self, action: Action) {
        let editor = &mut self.editor;
        match action {
            Action::Left => editor.move_left(),
            Action::Right => editor.move_right(),
            Action::WordLeft => editor.move_word_left(),
            Action::WordRight => editor.move_word_right(),
            Action::LineStart => editor.move_to_line_start(),
            Action::TextStart => editor.move_to_start(),
            Action::TextEnd => editor.move_to_end(),
            _ => {
                self.history.leave();
                self.change(action);
            }
        }
    }

    fn change(&mut self, action: Action) {
        let editor = &mut self.editor;
        match action {
            Action::Newline => editor.insert_newline(),
            Action::Backspace => editor.backspace(),
            Action::Delete => editor.delete(),
            Action::WordBack => editor.delete_word_back(),
            Action::WordForward => editor.delete_word_forward(),
            Action::KillToEnd => editor.kill_to_line_end(),
            Action::KillToStart => editor.kill_to_line_start(),
            Action::Yank => editor.yank(),
            Action::Undo => {
                editor.undo();
            }
            Action::Redo => {
                editor.redo();
            }
            _ => {}
        }
    }

    fn up(&mut self) {
        let width = self.composer_width();
        if !self.editor.move_up(width)
            && let Some(draft) = self.history.earlier(|| self.editor.draft())
        {
            self.editor.replace(draft);
            self.as_message = Some(self.editor.revision());
        }
    }

    fn down(&mut self) {
        let width = self.composer_width();
        if !self.editor.move_down(width)
            && let Some(draft) = self.history.later()
        {
            self.editor.replace(draft);
            // What was sent before was a message, and is one again.
            let is_earlier = self.history.kept().is_some();
            self.as_message = is_earlier.then(|| self.editor.revision());
        }
    }

    /// Takes note of the columns of the screen that is drawn on.
    pub(in crate::tui) fn fit(&mut self, width: u16) {
        self.width = width;
    }

    /// The columns that the composer's text has.
    pub(in crate::tui) fn composer_width(&self) -> usize {
        usize::from(self.width).saturating_sub(PROMPT.len()).max(1)
    }

    pub(super) fn click_composer(&mut self, at: ratatui::layout::Position) {
        let row = usize::from(at.y - self.areas.composer.y) + self.areas.composer_top;
        let column = usize::from(at.x - self.areas.composer.x).saturating_sub(PROMPT.len());
        let width = self.composer_width();
        let to = self.editor.layout(width).position_at(Point { row, column });
        self.editor.move_to(to);
    }

    /// What the external editor left.
    pub(super) fn edited(&mut self, text: Result<Option<String>, String>) -> Vec<Cmd> {
        match text {
            Ok(Some(text)) => {
                self.history.leave();
                let text = text.strip_suffix('\n').unwrap_or(&text);
                match Draft::parse(text) {
                    Ok(draft) => self.editor.replace(draft),
                    // A mention that was damaged by hand is text like any other.
                    Err(error) => {
                        self.editor.replace(Draft::from_text(text));
                        self.notice = Some(Notice::Failed(Failure::from(&error)));
                    }
                }
            }
            Ok(None) => {}
            Err(message) => {
                self.notice = Some(Notice::Failed(Failure {
                    code: "EDITOR_FAILED".to_owned(),
                    message,
                }));
            }
        }
        Vec::new()
    }
}

/// What stands before the first row of the composer; spaces stand before the
/// others.
pub(in crate::tui) const PROMPT: &str = " > ";
