//! A list that is picked from, of whichever kind.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::choices::Choices;
use super::command_list::CommandList;
use super::human;
use super::list::List;
use super::models::ModelPicker;
use super::pane::Spot;
use super::picker::Picker;
use super::texts::TextPicker;
use super::theme::Theme;
use super::wrap;
use crate::reference::Reference;
use crate::runtime::Job;
use crate::session::Millis;

/// A list that is picked from.
#[derive(Debug)]
pub enum Listed {
    /// Sessions by their titles.
    Sessions(Picker),
    /// Sessions by what was said in them.
    Texts(TextPicker),
    /// Commands by their words.
    Commands(CommandList),
    /// Earlier messages, or branches.
    Choices(Choices),
    /// Models by their names.
    Models(ModelPicker),
}

impl Listed {
    /// How the list stands.
    #[must_use]
    pub fn list(&self) -> &List {
        match self {
            Self::Sessions(picker) => &picker.list,
            Self::Texts(picker) => &picker.list,
            Self::Commands(commands) => &commands.list,
            Self::Choices(choices) => &choices.list,
            Self::Models(models) => &models.list,
        }
    }

    /// How the list stands.
    pub fn list_mut(&mut self) -> &mut List {
        match self {
            Self::Sessions(picker) => &mut picker.list,
            Self::Texts(picker) => &mut picker.list,
            Self::Commands(commands) => &mut commands.list,
            Self::Choices(choices) => &mut choices.list,
            Self::Models(models) => &mut models.list,
        }
    }

    /// The text of its query.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Sessions(picker) => &picker.query().text,
            Self::Texts(picker) => &picker.query().text,
            Self::Commands(commands) => commands.typed(),
            Self::Choices(choices) => choices.typed(),
            Self::Models(models) => models.text(),
        }
    }

    /// The selected session, as a mention means it; none where no sessions are
    /// listed.
    #[must_use]
    pub fn selected(&self) -> Option<Reference> {
        let (id, label) = match self {
            Self::Sessions(picker) => picker.selected().map(|row| (&row.id, &row.label))?,
            Self::Texts(picker) => picker.selected().map(|row| (&row.id, &row.label))?,
            Self::Commands(_) | Self::Choices(_) | Self::Models(_) => return None,
        };
        Some(Reference {
            session_id: id.clone(),
            label: label.clone(),
        })
    }

    /// Where to look in the selected session, if not at its beginning.
    #[must_use]
    pub fn spot(&self) -> Option<Spot> {
        match self {
            Self::Sessions(_) | Self::Commands(_) | Self::Choices(_) | Self::Models(_) => None,
            Self::Texts(picker) => picker.spot(),
        }
    }

    /// How many rows of the screen it can use.
    #[must_use]
    pub fn height(&self) -> usize {
        match self {
            Self::Sessions(picker) => picker.height(),
            Self::Texts(picker) => picker.height(),
            Self::Commands(commands) => commands.list.wanted_height(),
            Self::Choices(choices) => choices.list.wanted_height(),
            Self::Models(models) => models.height(),
        }
        .max(1)
    }

    /// How much was found, in so many columns if possible: behind a spinner
    /// while a slow answer is out, and with what is still being read.
    #[must_use]
    pub fn counter(&self, now: Millis, room: usize) -> String {
        let (mut counter, progress) = match self {
            Self::Sessions(picker) => (picker.counter(), picker.progress()),
            Self::Texts(picker) => (picker.counter(), None),
            Self::Commands(commands) => (commands.counter(), None),
            Self::Choices(choices) => (choices.counter(), None),
            Self::Models(models) => (models.counter(now), None),
        };
        if self.list().is_slow(now) {
            counter = format!("{} {counter}", human::spinner(now));
        }
        let whole = progress.map(|progress| format!("{counter} · {progress}"));
        let whole = whole.filter(|whole| wrap::columns(whole) <= room);
        whole.unwrap_or(counter)
    }

    /// Whether something of it moves by time alone.
    #[must_use]
    pub fn is_moving(&self) -> bool {
        let is_asking = matches!(self, Self::Models(models) if models.is_asking());
        is_asking || self.list().is_waiting()
    }

    /// Notes that there may be other rows by now. Gives what is to be done to
    /// know them, unless an answer is still awaited.
    pub fn outdated(&mut self, now: Millis) -> Option<Job> {
        match self {
            Self::Sessions(picker) => {
                let asks = picker.list.outdated(now);
                asks.then(|| Job::Find(picker.query().clone()))
            }
            Self::Texts(picker) => {
                let asks = !picker.is_blank() && picker.list.outdated(now);
                asks.then(|| Job::Search(picker.query().clone()))
            }
            Self::Commands(_) | Self::Choices(_) | Self::Models(_) => None,
        }
    }

    /// Draws the rows; keeps the cursor in sight.
    pub fn render(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
        match self {
            Self::Sessions(picker) => picker.render(area, buf, theme, now),
            Self::Texts(picker) => picker.render(area, buf, theme, now),
            Self::Commands(commands) => commands.render(area, buf, theme),
            Self::Choices(choices) => choices.render(area, buf, theme, now),
            Self::Models(models) => models.render(area, buf, theme, now),
        }
    }
}
