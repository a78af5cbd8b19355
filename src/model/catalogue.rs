//! What is known of models without asking anyone.
//!
//! The catalogue is made of layers, each over the one before: the list that
//! ships with the program, what servers told when they were last asked, and
//! the person's settings. What a server tells at the moment of a request comes
//! between the last two; see [`Configured`](super::Configured).

mod stored;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use stored::{Refreshed, StoredError, StoredModels};

use super::ModelInfo;

/// The list that ships with the program. `tools/models.py` makes it.
const SHIPPED: &str = include_str!("../../assets/models.json");

/// What is said of a model; `None` where nothing is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Facts {
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The most tokens that a request and its answer may take together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// The most tokens of one answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// US dollars for a million tokens of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_price: Option<f64>,
    /// US dollars for a million tokens of answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_price: Option<f64>,
}

impl Facts {
    /// These facts, and those of `others` where they say nothing.
    #[must_use]
    pub fn over(self, others: Self) -> Self {
        Self {
            name: self.name.or(others.name),
            context_window: self.context_window.or(others.context_window),
            max_output: self.max_output.or(others.max_output),
            input_price: self.input_price.or(others.input_price),
            output_price: self.output_price.or(others.output_price),
        }
    }

    /// The facts as what is known of a model, under its id where it has no
    /// name.
    #[must_use]
    pub fn info(&self, provider: &str, id: &str) -> ModelInfo {
        ModelInfo {
            provider: provider.to_owned(),
            id: id.to_owned(),
            name: self.name.clone().unwrap_or_else(|| id.to_owned()),
            context_window: self.context_window,
            max_output: self.max_output,
            input_price: self.input_price,
            output_price: self.output_price,
        }
    }
}

impl From<&ModelInfo> for Facts {
    /// What a server tells. A name that is just the id says nothing.
    fn from(info: &ModelInfo) -> Self {
        Self {
            name: Some(info.name.clone()).filter(|name| *name != info.id),
            context_window: info.context_window,
            max_output: info.max_output,
            input_price: info.input_price,
            output_price: info.output_price,
        }
    }
}

/// Who said something of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The list that ships with the program.
    Shipped,
    /// The server, when it was last asked.
    Server,
    /// The person's settings.
    Settings,
}

impl Origin {
    /// The word for it in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shipped => "shipped",
            Self::Server => "server",
            Self::Settings => "settings",
        }
    }
}

/// What the catalogue has of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The facts of all layers.
    pub facts: Facts,
    /// Which layers know the model.
    pub origins: BTreeSet<Origin>,
}

/// The facts of models by their ids, by provider.
pub type Layer = BTreeMap<String, BTreeMap<String, Facts>>;

/// The list that ships with the program is not as it was built.
#[derive(Debug, Error)]
#[error("the list of models in this program is damaged: {0}; install ibid again")]
pub struct ShippedError(#[from] serde_json::Error);

/// The shipped list as it stands in its file.
#[derive(Deserialize)]
struct Shipped {
    providers: Layer,
}

/// What is known of the models of all providers.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    entries: BTreeMap<String, BTreeMap<String, Entry>>,
}

impl Catalogue {
    /// What ships with the program, and nothing else.
    ///
    /// # Errors
    /// When that list is damaged.
    pub fn shipped() -> Result<Self, ShippedError> {
        let Shipped { providers } = serde_json::from_str(SHIPPED)?;
        Ok(Self::default().with(Origin::Shipped, providers))
    }

    /// The same with one layer more, over those before. Layers come in the
    /// order of [`Origin`].
    #[must_use]
    pub fn with(mut self, origin: Origin, layer: Layer) -> Self {
        for (provider, models) in layer {
            let known = self.entries.entry(provider).or_default();
            for (id, facts) in models {
                let entry = known.entry(id).or_default();
                let below = std::mem::take(&mut entry.facts);
                entry.facts = facts.over(below);
                entry.origins.insert(origin);
            }
        }
        self
    }

    /// The same with what the settings say of a provider's models over it. A
    /// server that is told which windows to set up, `most` unless the settings
    /// ask for more, has none that are larger and none that are not known.
    #[must_use]
    pub fn settled(
        self,
        provider: &str,
        most: Option<u64>,
        said: &BTreeMap<String, Facts>,
    ) -> Self {
        let layer = Layer::from([(provider.to_owned(), said.clone())]);
        let mut all = self.with(Origin::Settings, layer);
        let models = all.entries.get_mut(provider);
        let (Some(most), Some(models)) = (most, models) else {
            return all;
        };
        for (id, entry) in models {
            let said = said.get(id).and_then(|facts| facts.context_window);
            let known = entry.facts.context_window;
            let up_to = known.map_or(most, |window| window.min(most));
            entry.facts.context_window = said.or(Some(up_to));
        }
        all
    }

    /// What is known of the models of one provider, alone.
    #[must_use]
    pub fn of(&self, provider: &str) -> Self {
        let models = self.entries.get_key_value(provider);
        let models = models.map(|(name, models)| (name.clone(), models.clone()));
        Self {
            entries: models.into_iter().collect(),
        }
    }

    /// The models that a provider is known to have, by their ids.
    pub fn models(&self, provider: &str) -> impl Iterator<Item = (&str, &Entry)> {
        let models = self.entries.get(provider).into_iter().flatten();
        models.map(|(id, entry)| (id.as_str(), entry))
    }

    /// What is known of one model.
    #[must_use]
    pub fn entry(&self, provider: &str, model: &str) -> Option<&Entry> {
        self.entries.get(provider)?.get(model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(id: &str, facts: Facts) -> Layer {
        let models = BTreeMap::from([(id.to_owned(), facts)]);
        Layer::from([("p".to_owned(), models)])
    }

    fn window(tokens: u64) -> Facts {
        Facts {
            context_window: Some(tokens),
            ..Facts::default()
        }
    }

    #[test]
    fn the_shipped_list_has_windows_and_prices_of_the_large_providers() {
        let catalogue = Catalogue::shipped().unwrap();
        for provider in [
            "anthropic",
            "deepseek",
            "gemini",
            "groq",
            "mistral",
            "openai",
            "xai",
        ] {
            let models: Vec<_> = catalogue.models(provider).collect();
            assert!(models.len() > 3, "{provider}");
            for (id, entry) in models {
                let facts = &entry.facts;
                assert!(
                    !id.is_empty() && facts.context_window > Some(0),
                    "{provider}/{id}"
                );
                assert!(facts.max_output != Some(0), "{provider}/{id}");
                for price in [facts.input_price, facts.output_price]
                    .into_iter()
                    .flatten()
                {
                    assert!((0.0..1_000.0).contains(&price), "{provider}/{id}: {price}");
                }
            }
        }
    }

    #[test]
    fn a_later_layer_says_what_it_knows_and_leaves_the_rest() {
        let priced = Facts {
            input_price: Some(1.5),
            max_output: Some(7),
            ..window(100)
        };
        let named = Facts {
            name: Some("M".to_owned()),
            max_output: Some(9),
            ..Facts::default()
        };
        let catalogue = Catalogue::default()
            .with(Origin::Shipped, layer("m", priced))
            .with(Origin::Server, layer("m", window(200)))
            .with(Origin::Settings, layer("m", named));
        let entry = catalogue.entry("p", "m").unwrap();
        assert_eq!(
            entry.facts,
            Facts {
                name: Some("M".to_owned()),
                context_window: Some(200),
                max_output: Some(9),
                input_price: Some(1.5),
                output_price: None,
            }
        );
        let origins: Vec<&str> = entry.origins.iter().map(|origin| origin.as_str()).collect();
        assert_eq!(origins, ["shipped", "server", "settings"]);
        assert_eq!(entry.facts.info("p", "m").name, "M");
        assert_eq!(window(1).info("p", "m").name, "m");
    }

    #[test]
    fn a_window_that_the_server_is_told_is_bounded_unless_the_settings_ask_for_it() {
        let models = |models: &[(&str, Facts)]| -> BTreeMap<String, Facts> {
            let models = models.iter().cloned();
            models.map(|(id, facts)| (id.to_owned(), facts)).collect()
        };
        let told = models(&[
            ("small", window(5)),
            ("large", window(50)),
            ("asked", window(50)),
        ]);
        let said = models(&[("asked", window(30)), ("named", Facts::default())]);
        let known =
            Catalogue::default().with(Origin::Server, Layer::from([("p".to_owned(), told)]));
        let windows = |most| -> Vec<(String, Option<u64>)> {
            let settled = known.clone().settled("p", most, &said);
            let models = settled.models("p");
            models
                .map(|(id, entry)| (id.to_owned(), entry.facts.context_window))
                .collect()
        };
        let expected = |rows: [(&str, Option<u64>); 4]| rows.map(|(id, w)| (id.to_owned(), w));
        assert_eq!(
            windows(Some(10)),
            expected([
                ("asked", Some(30)),
                ("large", Some(10)),
                ("named", Some(10)),
                ("small", Some(5))
            ])
        );
        assert_eq!(
            windows(None),
            expected([
                ("asked", Some(30)),
                ("large", Some(50)),
                ("named", None),
                ("small", Some(5))
            ])
        );
    }

    #[test]
    fn nothing_is_known_of_a_model_that_no_layer_names() {
        let catalogue = Catalogue::default().with(Origin::Settings, layer("m", window(1)));
        assert_eq!(catalogue.entry("p", "other"), None);
        assert_eq!(catalogue.entry("other", "m"), None);
        assert_eq!(catalogue.models("other").count(), 0);
        assert_eq!(catalogue.models("p").count(), 1);
    }
}
