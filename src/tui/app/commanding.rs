//! Commands: what stands in the composer in place of a message.

use super::{App, Cmd};
use crate::chat::{ChatEvent, Draft};
use crate::config::THEMES;
use crate::runtime::{Destination, Export, Job};
use crate::session::SessionId;
use crate::tui::commands::{self, Argument, Command, Entry, Reading};
use crate::tui::human;
use crate::tui::keymap::Action;
use crate::tui::listed::Listed;
use crate::tui::theme::Theme;

impl App {
    /// Sends the draft, or does what it commands. What only looks like a
    /// command is sent when the person says so once more.
    pub(super) fn send(&mut self) -> Vec<Cmd> {
        let revision = self.editor.revision();
        let is_message = self.as_message == Some(revision);
        let line = self.editor.command_line().filter(|_| !is_message);
        let doubt = match line.as_deref().map(commands::read) {
            None | Some(Reading::Message) => {
                return self.chat(ChatEvent::Send(self.editor.draft()));
            }
            Some(Reading::Command(entry, argument)) => return self.command(entry, argument),
            Some(Reading::Unknown(word)) => format!("there is no command /{word}"),
            Some(Reading::Overfull(entry)) => format!("/{} takes nothing behind it", entry.name),
        };
        self.as_message = Some(revision);
        self.say(&format!("{doubt}: Enter again sends it as a message"));
        Vec::new()
    }

    /// Whether sending the draft does a command.
    pub(in crate::tui) fn is_command(&self) -> bool {
        let is_message = self.as_message == Some(self.editor.revision());
        let line = self.editor.command_line().filter(|_| !is_message);
        let read = line.as_deref().map(commands::read);
        matches!(read, Some(Reading::Command(..)))
    }

    /// Does the command that was picked from the popup, or completes its word.
    pub(super) fn accept_command(&mut self, entry: &'static Entry, action: Action) -> Vec<Cmd> {
        let waits = matches!(entry.argument, Argument::Needed(_));
        if !waits && action == Action::Accept {
            return self.command(entry, "");
        }
        let space = match entry.argument {
            Argument::None => "",
            Argument::Optional(_) | Argument::Needed(_) => " ",
        };
        self.history.leave();
        let completed = Draft::from_text(format!("/{}{space}", entry.name));
        self.editor.replace(completed);
        self.popup = None;
        Vec::new()
    }

    /// Does a command, or says what is in the way. Its words leave the composer
    /// when it is done. Where it can't be done, what the person wrote behind its
    /// word stays; a word alone is in the way of the next one.
    fn command(&mut self, entry: &'static Entry, argument: &str) -> Vec<Cmd> {
        if argument.is_empty()
            && let Argument::Needed(needed) = entry.argument
        {
            self.say(&format!("what is missing: /{} {needed}", entry.name));
            return Vec::new();
        }
        let done = match entry.command {
            Command::New => self.begin_new(),
            Command::Resume => Some(self.open_sessions()),
            Command::Rename => {
                let cmds = self.chat(ChatEvent::Rename(argument.to_owned()));
                (!cmds.is_empty()).then_some(cmds)
            }
            Command::Model => Some(self.open_models(argument, !argument.is_empty())),
            Command::Compact => {
                let hint = (!argument.is_empty()).then(|| argument.to_owned());
                let cmds = self.chat(ChatEvent::Compact(hint));
                (!cmds.is_empty()).then_some(cmds)
            }
            Command::Export => self.export_open(argument),
            Command::Retry => {
                let cmds = self.chat(ChatEvent::Regenerate);
                (!cmds.is_empty()).then_some(cmds)
            }
            Command::Edit => self.list_prompts(),
            Command::Branches => self.list_branches(),
            Command::Theme => self.change_theme(argument),
            Command::Help => {
                self.help = Some(0);
                Some(Vec::new())
            }
            Command::Quit => Some(self.quit(Action::EndOfInput)),
        };
        self.popup = None;
        if done.is_some() || argument.is_empty() {
            self.history.leave();
            self.editor.clear();
        }
        done.unwrap_or_default()
    }

    fn begin_new(&mut self) -> Option<Vec<Cmd>> {
        if self.chat.session().captured_through().is_none() && !self.chat.is_busy() {
            self.say("this session is new already: write, and Enter sends");
            return None;
        }
        (!self.refuses_to_leave()).then(|| self.open(Destination::New))
    }

    /// Writes the open session to a file.
    fn export_open(&mut self, path: &str) -> Option<Vec<Cmd>> {
        let session = self.chat.session();
        if session.captured_through().is_none() {
            self.say("there is nothing to export yet");
            return None;
        }
        let id = session.id().clone();
        let title = session.display_title().unwrap_or_default();
        let path = (!path.is_empty()).then(|| path.to_owned());
        Some(self.export(id, title, path))
    }

    /// Writes the selected session of the list to a file.
    pub(super) fn export_selected(&mut self) -> Vec<Cmd> {
        let selected = self.listed().and_then(Listed::selected);
        selected.map_or_else(Vec::new, |selected| {
            self.export(selected.session_id, selected.label, None)
        })
    }

    fn export(&self, id: SessionId, title: String, path: Option<String>) -> Vec<Cmd> {
        let moment = human::stamp(self.now, &self.setup.zone);
        vec![Cmd::Job(Job::Export(Export {
            id,
            title,
            path,
            moment,
        }))]
    }

    fn change_theme(&mut self, name: &str) -> Option<Vec<Cmd>> {
        let names = THEMES.map(|(name, _)| name).join(", ");
        let Some((name, chosen)) = THEMES.iter().find(|(known, _)| *known == name) else {
            let mut all = THEMES.iter();
            let now = all.find(|(_, theme)| Theme::of(*theme) == self.setup.theme);
            let now = now.map_or("", |(name, _)| name);
            self.say(&if name.is_empty() {
                format!("the theme is {now}; there are {names}")
            } else {
                format!("there is no theme of that name; there are {names}")
            });
            return name.is_empty().then(Vec::new);
        };
        self.setup.theme = Theme::of(*chosen);
        self.say(&format!(
            "the theme is {name} until you quit; `theme = \"{name}\"` in the settings keeps it"
        ));
        Some(Vec::new())
    }
}
