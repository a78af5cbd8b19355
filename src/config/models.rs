//! What a person says of a provider's models, as settings:
//! `[providers.NAME.models."ID"]`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::problem::{Problems, Wrong};
use super::requests;
use super::section::{Section, filled, number, positive};
use crate::model::{Api, Facts, Options};

/// The settings of a model.
const NAMES: &[&str] = &["name", "context-window", "max-output", "extra", "price"];
/// Those of its price, in US dollars for a million tokens.
const PRICES: &[&str] = &["input", "output"];

/// What a person says of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelConfig {
    /// What is known of it.
    pub facts: Facts,
    /// More keys of the body of each request to it.
    pub extra: Map<String, Value>,
}

impl ModelConfig {
    /// These settings, and those of `under` where they say nothing.
    pub(super) fn over(self, under: Self) -> Self {
        Self {
            facts: self.facts.over(under.facts),
            extra: requests::joined(self.extra, under.extra),
        }
    }

    /// What shapes requests to it, beside what its provider's section says.
    /// What a person says of its limits is what they want, so that it is asked
    /// for; what the catalogue says is only known.
    pub(super) fn options(&self, api: Api) -> Options {
        let window = self.facts.context_window;
        Options {
            max_output: self.facts.max_output,
            num_ctx: window.filter(|_| api == Api::Ollama),
            extra: self.extra.clone(),
        }
    }
}

/// The sections of all models of a provider, by their ids.
pub(super) fn read(
    section: &Section<'_>,
    api: Option<Api>,
    problems: &mut Problems<'_>,
) -> BTreeMap<String, ModelConfig> {
    let mut models = BTreeMap::new();
    for (id, section) in section.all(problems) {
        let config = ModelConfig {
            facts: facts(&section, problems),
            extra: requests::extra(&section, api, problems),
        };
        models.insert(id, config);
    }
    models
}

fn facts(section: &Section<'_>, problems: &mut Problems<'_>) -> Facts {
    if section.has(requests::NUM_CTX) {
        let wrong = Wrong::new("the window of one model is its `context-window`");
        section.refuse_name(requests::NUM_CTX, wrong, problems);
    }
    section.only(NAMES, problems);
    let price = section.inner("price", problems);
    if let Some(price) = &price {
        price.only(PRICES, problems);
    }
    let mut part = |name| {
        let section = price.as_ref()?;
        section.get(name, problems, |value| match number(value)? {
            price if price.is_finite() && price >= 0.0 => Ok(price),
            _ => Err(Wrong::new("a price is a number of dollars from 0")),
        })
    };
    let (input_price, output_price) = (part("input"), part("output"));
    Facts {
        name: section.get("name", problems, filled),
        context_window: section.get("context-window", problems, positive),
        max_output: section.get("max-output", problems, positive),
        input_price,
        output_price,
    }
}
