//! Choosing the model that answers from the next message on.

use super::{App, Cmd};
use crate::chat::ChatEvent;
use crate::model::Chosen;
use crate::runtime::{Job, Offered};
use crate::tui::listed::Listed;
use crate::tui::models::ModelPicker;

impl App {
    /// Lists the models, narrowed by a text. `by_name`: a model that is named
    /// by it, whole, is chosen at once.
    pub(super) fn open_models(&mut self, text: &str, by_name: bool) -> Vec<Cmd> {
        let in_use = self.chat.chosen().config.route();
        let provider = in_use.provider.clone();
        let mut picker = ModelPicker::new(in_use, text, self.now);
        picker.choose_by_name(by_name);
        self.popup = None;
        self.list = Some(Listed::Models(picker));
        vec![Cmd::Job(Job::Models(provider))]
    }

    /// What is known of all providers, before anyone was asked.
    pub(super) fn models_known(&mut self, offered: Vec<Offered>) -> Vec<Cmd> {
        let mut cmds = self.learn(&offered);
        if let Some(Listed::Models(picker)) = &mut self.list {
            picker.known(offered);
            cmds.extend(self.choose_if_awaited());
        }
        cmds
    }

    /// What one server told.
    pub(super) fn models_told(&mut self, told: Offered) -> Vec<Cmd> {
        let mut cmds = self.learn(std::slice::from_ref(&told));
        if let Some(Listed::Models(picker)) = &mut self.list {
            picker.told(told);
            cmds.extend(self.choose_if_awaited());
        }
        cmds
    }

    fn choose_if_awaited(&mut self) -> Vec<Cmd> {
        let accepts = match &mut self.list {
            Some(Listed::Models(picker)) => picker.takes_accept(),
            _ => false,
        };
        if accepts {
            self.choose_selected()
        } else {
            Vec::new()
        }
    }

    /// Takes note of what is new of the model in use, such as its window.
    fn learn(&mut self, offered: &[Offered]) -> Vec<Cmd> {
        let now = self.chat.chosen();
        let route = now.config.route();
        let offers = offered.iter().flat_map(|offered| &offered.models);
        let mut all = offers.map(|offer| &offer.chosen);
        match all.find(|chosen| chosen.config.route() == route) {
            Some(chosen) if chosen != now => {
                let chosen = chosen.clone();
                if self.setup.chosen.config.route() == route {
                    self.setup.chosen = chosen.clone();
                }
                self.chat(ChatEvent::UseModel(chosen))
            }
            _ => Vec::new(),
        }
    }

    /// The selected model answers from the next message on.
    pub(super) fn choose_selected(&mut self) -> Vec<Cmd> {
        let Some(Listed::Models(picker)) = &self.list else {
            return Vec::new();
        };
        let Some(chosen) = picker.selected().cloned() else {
            return Vec::new();
        };
        let missing = picker.is_missing();
        self.list = None;
        let words = missing.unwrap_or_else(|| self.told_of(&chosen));
        let cmds = self.chat(ChatEvent::UseModel(chosen));
        self.say(&words);
        cmds
    }

    /// What choosing a model means now.
    fn told_of(&self, chosen: &Chosen) -> String {
        let name = |provider: &str, model: &str| format!("{provider}/{model}");
        let next = name(&chosen.config.provider, &chosen.config.model);
        let answering = self.chat.partial_answer().and(self.chat.answering());
        match answering {
            Some(now) if *now != chosen.config.route() => format!(
                "{next} answers the next message; {} goes on with this answer",
                name(&now.provider, &now.model)
            ),
            _ => format!("{next} answers from the next message on"),
        }
    }
}
