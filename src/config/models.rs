//! What a person says of a provider's models, as settings:
//! `[providers.NAME.models."ID"]`.

use std::collections::BTreeMap;

use super::problem::{Problems, Wrong};
use super::section::{Section, filled, number, positive};
use crate::model::Facts;

/// The settings of a model.
const NAMES: &[&str] = &["name", "context-window", "max-output", "price"];
/// Those of its price, in US dollars for a million tokens.
const PRICES: &[&str] = &["input", "output"];

/// The sections of all models of a provider, by their ids.
pub(super) fn read(section: &Section<'_>, problems: &mut Problems<'_>) -> BTreeMap<String, Facts> {
    let mut models = BTreeMap::new();
    for (id, section) in section.all(problems) {
        models.insert(id, model(&section, problems));
    }
    models
}

fn model(section: &Section<'_>, problems: &mut Problems<'_>) -> Facts {
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
