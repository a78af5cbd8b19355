//! A server as the person's settings have it.

use std::collections::BTreeMap;
use std::fmt;
use std::future::ready;
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt as _};

use super::catalogue::{Catalogue, Layer, Origin};
use super::{
    Access, AnswerStream, Endpoint, Facts, HttpProvider, KeySource, ModelError, ModelInfo,
    Provider, Request, RequestConfig,
};

/// A provider whose models are known by four layers, each over the one before:
/// what ships with the program, what the server told at an earlier time, what
/// it told this program, and what the settings say.
///
/// Settings that can't be used are an error of this provider alone, when it is
/// asked.
#[derive(Debug)]
pub struct Configured {
    name: String,
    key: Option<Key>,
    asked: Result<HttpProvider, ModelError>,
    /// The same server, to be asked for its models: what is known already
    /// would stand in the way of what it tells.
    lists: Result<HttpProvider, ModelError>,
    known: Catalogue,
    told: RwLock<BTreeMap<String, Facts>>,
    said: BTreeMap<String, Facts>,
}

impl Configured {
    /// The provider of this endpoint, whose own list of models makes no
    /// difference. `known` is what the catalogue has without the settings,
    /// `said` what these say. Nobody is asked yet.
    #[must_use]
    pub fn new(endpoint: &Endpoint, known: &Catalogue, said: BTreeMap<String, Facts>) -> Self {
        let name = endpoint.name.clone();
        let mine = known.of(&name);
        let settled = settled(&name, &mine, &BTreeMap::new(), &said);
        let with = |models| {
            HttpProvider::new(Endpoint {
                models,
                ..endpoint.clone()
            })
        };
        Self {
            asked: with(settled),
            lists: with(Vec::new()),
            known: mine,
            told: RwLock::default(),
            said,
            key: endpoint.key.clone().map(Key),
            name,
        }
    }

    /// What its server tells of its models at this moment, and nothing else.
    ///
    /// # Errors
    /// What asking meets.
    pub async fn tells(&self) -> Result<Vec<ModelInfo>, ModelError> {
        self.lists
            .as_ref()
            .map_err(Clone::clone)?
            .list_models()
            .await
    }
}

/// Where the key comes from, which prints as nothing.
struct Key(Arc<dyn KeySource>);

impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Key")
    }
}

/// What is known of all models of a provider.
fn settled(
    provider: &str,
    known: &Catalogue,
    told: &BTreeMap<String, Facts>,
    said: &BTreeMap<String, Facts>,
) -> Vec<ModelInfo> {
    let layer =
        |facts: &BTreeMap<String, Facts>| Layer::from([(provider.to_owned(), facts.clone())]);
    let catalogue = known
        .clone()
        .with(Origin::Server, layer(told))
        .with(Origin::Settings, layer(said));
    let models = catalogue.models(provider);
    models
        .map(|(id, entry)| entry.facts.info(provider, id))
        .collect()
}

impl Provider for Configured {
    fn name(&self) -> &str {
        &self.name
    }

    fn models(&self) -> Vec<ModelInfo> {
        let told = self.told.read().unwrap_or_else(PoisonError::into_inner);
        settled(&self.name, &self.known, &told, &self.said)
    }

    /// Asks nobody. A server may have models that nothing names, so one that
    /// is not known is one without facts.
    fn model_info<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Result<ModelInfo, ModelError>> {
        let known = self.models().into_iter().find(|info| info.id == model);
        let info = known.unwrap_or_else(|| Facts::default().info(&self.name, model));
        Box::pin(ready(Ok(info)))
    }

    fn list_models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ModelError>> {
        Box::pin(async move {
            let models = self.tells().await?;
            let told = models.iter().map(|info| (info.id.clone(), info.into()));
            *self.told.write().unwrap_or_else(PoisonError::into_inner) = told.collect();
            Ok(self.models())
        })
    }

    fn access(&self) -> Access {
        Access::of(self.key.as_ref().map(|key| &*key.0))
    }

    fn config(&self, model: &str) -> RequestConfig {
        match &self.asked {
            Ok(provider) => provider.config(model),
            Err(_) => RequestConfig::plain(&self.name, model),
        }
    }

    fn stream(&self, request: Request) -> AnswerStream {
        match &self.asked {
            Ok(provider) => provider.stream(request),
            Err(error) => stream::once(ready(Err(error.clone()))).boxed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::model::Api;

    fn window(tokens: u64) -> Facts {
        Facts {
            context_window: Some(tokens),
            ..Facts::default()
        }
    }

    fn facts(models: &[(&str, u64)]) -> BTreeMap<String, Facts> {
        let models = models.iter();
        models
            .map(|(id, tokens)| ((*id).to_owned(), window(*tokens)))
            .collect()
    }

    fn configured(base_url: &str) -> Configured {
        let known = Layer::from([
            ("p".to_owned(), facts(&[("a", 1), ("b", 1), ("c", 1)])),
            ("q".to_owned(), facts(&[("other", 1)])),
        ]);
        let known = Catalogue::default().with(Origin::Shipped, known);
        let endpoint = Endpoint::new("p", Api::OpenaiChat, base_url);
        Configured::new(&endpoint, &known, facts(&[("c", 3)]))
    }

    fn windows(provider: &Configured, models: &[&str]) -> Vec<Option<u64>> {
        let models = models.iter();
        let ask = |model| provider.model_info(model).now_or_never().unwrap().unwrap();
        models.map(|model| ask(model).context_window).collect()
    }

    #[test]
    fn settings_hold_over_what_the_server_told_and_that_over_what_was_known() {
        let provider = configured("http://localhost:1/v1");
        assert_eq!(
            windows(&provider, &["a", "b", "c"]),
            [Some(1), Some(1), Some(3)]
        );
        *provider.told.write().unwrap() = facts(&[("b", 2), ("c", 2), ("d", 2)]);
        assert_eq!(
            windows(&provider, &["a", "b", "c", "d"]),
            [Some(1), Some(2), Some(3), Some(2)]
        );
        let names: Vec<String> = provider.models().into_iter().map(|info| info.id).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
    }

    #[test]
    fn a_model_that_nothing_names_can_be_used_without_a_window() {
        let provider = configured("http://localhost:1/v1");
        let info = provider.model_info("new").now_or_never().unwrap().unwrap();
        assert_eq!((info.id.as_str(), info.name.as_str()), ("new", "new"));
        assert_eq!(info.context_window, None);
    }
}
