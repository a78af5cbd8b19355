//! The list of models to choose from. What is known is shown at once; what
//! servers tell joins it when it comes.

mod row;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use self::row::Columns;
use super::human::{self, human_count};
use super::list::List;
use super::picker::{render_note, render_notes, render_row};
use super::theme::Theme;
use crate::library::matcher::Few;
use crate::model::{Access, Chosen, RequestConfig};
use crate::reference::ports::ModelRoute;
use crate::runtime::{Asked, Offer, Offered};
use crate::session::Millis;

/// The least part of the list's rows that what went wrong may take: one of so
/// many.
const NOTES_EACH: usize = 4;

/// A list of models being chosen from.
#[derive(Debug)]
pub struct ModelPicker {
    /// How the list stands.
    pub list: List,
    text: String,
    /// The model that answers now.
    in_use: ModelRoute,
    offered: Vec<Offered>,
    rows: Vec<Row>,
    /// How many models there are, whether they match or not.
    total: usize,
    /// Only a model that the text names, whole, is chosen without being seen.
    by_name: bool,
}

/// A model in the list.
#[derive(Clone, Debug)]
pub(super) struct Row {
    offer: Offer,
    access: Access,
    /// `provider/model`.
    name: String,
    /// Which grapheme clusters of the name match.
    matched: Vec<u32>,
    is_in_use: bool,
    /// No list has it: it is what was typed.
    is_typed: bool,
}

impl Row {
    fn route(&self) -> ModelRoute {
        self.offer.chosen.config.route()
    }

    /// Whether this is its whole name, with its provider or without.
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.offer.chosen.config.model == name
    }
}

impl ModelPicker {
    /// A list that nothing is known for yet, narrowed by a text.
    #[must_use]
    pub fn new(in_use: ModelRoute, text: &str, now: Millis) -> Self {
        let mut list = List::new(1);
        list.asked(true, now);
        Self {
            list,
            text: text.to_owned(),
            in_use,
            offered: Vec::new(),
            rows: Vec::new(),
            total: 0,
            by_name: false,
        }
    }

    /// Has the model chosen that the text names, whole, as soon as it is known,
    /// unless the person does something else first.
    pub fn choose_by_name(&mut self, is_wanted: bool) {
        self.by_name = is_wanted;
        self.list.accept_when_in(is_wanted);
    }

    /// Whether the first row is to be chosen now; asks once.
    pub fn takes_accept(&mut self) -> bool {
        (!self.by_name || self.is_named()) && self.list.take_accept()
    }

    /// What narrows the list.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Narrows the list by another text; the best match is selected.
    pub fn narrow(&mut self, text: String) {
        self.text = text;
        self.by_name = false;
        if !self.list.is_waiting() {
            self.fill(None);
        }
    }

    /// Takes what is known at first.
    pub fn known(&mut self, offered: Vec<Offered>) {
        self.offered = offered;
        self.fill(self.chosen());
    }

    /// Takes what a server told.
    pub fn told(&mut self, told: Offered) {
        let of_it = |offered: &&mut Offered| offered.plain.provider == told.plain.provider;
        if let Some(offered) = self.offered.iter_mut().find(of_it) {
            *offered = told;
            self.fill(self.chosen());
        }
    }

    /// The model that a person moved to.
    fn chosen(&self) -> Option<ModelRoute> {
        let row = self.rows.get(self.list.chosen()?)?;
        Some(row.route())
    }

    /// The row under the cursor.
    fn selected_row(&self) -> Option<&Row> {
        self.rows.get(self.list.selected())
    }

    /// The model under the cursor.
    #[must_use]
    pub fn selected(&self) -> Option<&Chosen> {
        self.selected_row().map(|row| &row.offer.chosen)
    }

    /// Why the model under the cursor can't be asked as things stand.
    #[must_use]
    pub fn is_missing(&self) -> Option<String> {
        let row = self.selected_row()?;
        let provider = &row.offer.chosen.config.provider;
        match &row.access {
            Access::Missing(error) => Some(format!("{provider} has no key yet: {error}")),
            Access::NotNeeded | Access::There | Access::AtCommand => None,
        }
    }

    /// Whether the text is the whole name of the first model.
    fn is_named(&self) -> bool {
        self.rows
            .first()
            .is_some_and(|row| row.is_called(&self.text))
    }

    /// Makes the rows anew; the cursor stays on the model it was moved to.
    fn fill(&mut self, chosen: Option<ModelRoute>) {
        let few = Few::new(&self.text);
        let mut scored = Vec::new();
        self.total = 0;
        for offered in &self.offered {
            self.total += offered.models.len();
            for offer in &offered.models {
                let row = self.row(offered, offer.clone(), false);
                if let Some(found) = few.rank(&row.name) {
                    let matched = found.places;
                    scored.push((found.score, Row { matched, ..row }));
                }
            }
        }
        let is_exact = |row: &Row| row.is_called(&self.text);
        scored.sort_by_key(|(score, row)| {
            let is_missing = matches!(row.access, Access::Missing(_));
            let is_first = is_exact(row) || self.text.trim().is_empty() && row.is_in_use;
            (!is_first, std::cmp::Reverse(*score), is_missing)
        });
        self.rows = scored.into_iter().map(|(_, row)| row).collect();
        if !self.rows.iter().any(is_exact) {
            self.rows.extend(self.typed());
        }
        let rows = self.rows.iter();
        let kept = chosen.and_then(|route| rows.clone().position(|row| row.route() == route));
        self.list.answered(self.rows.len(), kept);
    }

    fn row(&self, offered: &Offered, offer: Offer, is_typed: bool) -> Row {
        let RequestConfig {
            provider, model, ..
        } = &offer.chosen.config;
        Row {
            name: format!("{provider}/{model}"),
            matched: Vec::new(),
            is_in_use: *provider == self.in_use.provider && *model == self.in_use.model,
            is_typed,
            access: offered.access.clone(),
            offer,
        }
    }

    /// The model that was typed with its provider, where no list has it: a
    /// server may have more models than it tells.
    fn typed(&self) -> Option<Row> {
        let (provider, model) = self.text.trim().split_once('/')?;
        let mut all = self.offered.iter();
        let offered = all.find(|offered| offered.plain.provider == provider)?;
        // Without a wire format there is no server that could have it.
        offered.plain.api?;
        let is_name = !model.is_empty() && !model.contains(char::is_whitespace);
        let config = RequestConfig {
            model: model.to_owned(),
            ..offered.plain.clone()
        };
        let offer = Offer {
            chosen: Chosen::from(config),
            price: (None, None),
        };
        is_name.then(|| self.row(offered, offer, true))
    }

    /// Whether servers are still being asked.
    #[must_use]
    pub fn is_asking(&self) -> bool {
        let mut asked = self.offered.iter().map(|offered| &offered.asked);
        asked.any(|asked| *asked == Asked::UnderWay)
    }

    /// Matches and total, behind a spinner while servers are asked.
    #[must_use]
    pub fn counter(&self, now: Millis) -> String {
        let listed = self.rows.iter().filter(|row| !row.is_typed).count();
        let counter = format!("{}/{}", human_count(listed), human_count(self.total));
        if self.is_asking() {
            format!("{} {counter}", human::spinner(now))
        } else {
            counter
        }
    }

    /// How many rows of the screen the list can use.
    #[must_use]
    pub fn height(&self) -> usize {
        self.list.wanted_height() + usize::from(self.rows.is_empty()) + self.notes().len()
    }

    /// What stands in place of rows where there are none.
    fn message(&self) -> Option<String> {
        let is_known = self.rows.is_empty() && !self.list.is_waiting();
        is_known.then(|| match self.total {
            0 => "no models are known yet".to_owned(),
            1 => "the one model there is does not match".to_owned(),
            total => format!("none of {} models matches", human_count(total)),
        })
    }

    /// Which providers were not asked, and what went wrong with others, the most
    /// telling last.
    fn notes(&self) -> Vec<String> {
        let name = |offered: &Offered| offered.plain.provider.clone();
        let named = |is: &dyn Fn(&Offered) -> bool| {
            let names = self.offered.iter().filter(|offered| is(offered)).map(name);
            let names = names.collect::<Vec<_>>().join(", ");
            (!names.is_empty()).then_some(names)
        };
        let is_unasked =
            |offered: &Offered| offered.asked == Asked::Not && offered.access == Access::AtCommand;
        let unasked = named(&is_unasked)
            .map(|names| format!("asked only when used: {names} (type PROVIDER/MODEL)"));
        let is_silent = |offered: &Offered| offered.asked == Asked::NoServer;
        let silent = named(&is_silent).map(|names| format!("no server answers: {names}"));
        let failed = self
            .offered
            .iter()
            .filter_map(|offered| match &offered.asked {
                Asked::Failed(why) | Asked::Told { lacks: Some(why) } => {
                    Some(format!("{}: {why}", name(offered)))
                }
                _ => None,
            });
        unasked.into_iter().chain(silent).chain(failed).collect()
    }

    /// Draws the rows; keeps the cursor in sight.
    pub fn render(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme, now: Millis) {
        if area.is_empty() {
            return;
        }
        let message = self.message().or_else(|| {
            let is_slow = self.rows.is_empty() && self.list.is_slow(now);
            is_slow.then(|| format!("{} looking…", human::spinner(now)))
        });
        let notes = self.notes();
        let kept = notes.len().min(usize::from(area.height) / NOTES_EACH);
        let used = self.list.wanted_height() + usize::from(message.is_some());
        let area = render_notes(&notes, kept, used, area, buf, theme);
        if let Some(message) = message {
            render_note(&message, area, buf, theme);
        }
        let columns = Columns::fit(&self.rows, area.width.into());
        let first = self.list.scroll_to_selected(area.height.into());
        let visible = self.rows.iter().enumerate().skip(first);
        for ((index, row), row_area) in visible.zip(area.rows()) {
            let selected = index == self.list.selected();
            render_row(
                columns.line(row, selected, theme),
                selected,
                row_area,
                buf,
                theme,
            );
        }
    }
}
