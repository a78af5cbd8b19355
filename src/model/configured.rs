//! A server as the person's settings have it.

use std::collections::BTreeMap;
use std::fmt;
use std::future::ready;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt as _};

use super::catalogue::{Catalogue, Layer, Origin};
use super::{
    Access, AnswerStream, Endpoint, Facts, HttpProvider, KeySource, Listed, ModelError, ModelInfo,
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
    server: Result<HttpProvider, ModelError>,
    known: Catalogue,
    /// The largest window that its server sets up, where it is told so.
    most_window: Option<u64>,
    said: BTreeMap<String, Facts>,
}

impl Configured {
    /// The provider of this endpoint, whose own list of models makes no
    /// difference. `known` is what the catalogue has without the settings,
    /// `said` what these say. Nobody is asked yet.
    #[must_use]
    pub fn new(endpoint: &Endpoint, known: &Catalogue, said: BTreeMap<String, Facts>) -> Self {
        let name = endpoint.name.clone();
        Self {
            // What is known already would stand in the way of what it tells.
            server: HttpProvider::new(Endpoint {
                models: Vec::new(),
                ..endpoint.clone()
            }),
            known: known.of(&name),
            most_window: endpoint.most_window(),
            said,
            key: endpoint.key.clone().map(Key),
            name,
        }
    }

    /// What is known of a model. A server may have models that nothing names,
    /// so one that is not known is one without facts.
    fn info(&self, model: &str) -> ModelInfo {
        let known = self.models().into_iter().find(|info| info.id == model);
        known.unwrap_or_else(|| {
            let facts = Facts {
                context_window: self.most_window,
                ..Facts::default()
            };
            facts.info(&self.name, model)
        })
    }

    /// What its server tells of its models at this moment, and nothing else.
    ///
    /// # Errors
    /// What asking meets.
    pub async fn tells(&self) -> Result<Listed, ModelError> {
        self.server
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

impl Provider for Configured {
    fn name(&self) -> &str {
        &self.name
    }

    fn models(&self) -> Vec<ModelInfo> {
        // The server keeps what it told.
        let told = self.server.iter().flat_map(Provider::models);
        let told = told.map(|info| (info.id.clone(), Facts::from(&info)));
        let told = Layer::from([(self.name.clone(), told.collect())]);
        let known = self.known.clone().with(Origin::Server, told);
        let all = known.settled(&self.name, self.most_window, &self.said);
        let models = all.models(&self.name);
        models
            .map(|(id, entry)| entry.facts.info(&self.name, id))
            .collect()
    }

    /// Asks nobody.
    fn model_info<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Result<ModelInfo, ModelError>> {
        Box::pin(ready(Ok(self.info(model))))
    }

    fn list_models(&self) -> BoxFuture<'_, Result<Listed, ModelError>> {
        Box::pin(async move {
            let told = self.tells().await?;
            Ok(Listed {
                models: self.models(),
                ..told
            })
        })
    }

    fn access(&self) -> Access {
        Access::of(self.key.as_ref().map(|key| &*key.0))
    }

    fn get_key(&self) -> BoxFuture<'_, Result<(), ModelError>> {
        match &self.server {
            Ok(server) => server.get_key(),
            Err(error) => Box::pin(ready(Err(error.clone()))),
        }
    }

    fn config(&self, model: &str) -> RequestConfig {
        match &self.server {
            Ok(server) => server.config_of(&self.info(model)),
            Err(_) => RequestConfig::plain(&self.name, model),
        }
    }

    fn stream(&self, request: Request) -> AnswerStream {
        match &self.server {
            Ok(server) => server.stream(request),
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

    fn configured(api: Api) -> Configured {
        let known = Layer::from([
            ("p".to_owned(), facts(&[("a", 1), ("b", 1), ("c", 1)])),
            ("q".to_owned(), facts(&[("other", 1)])),
        ]);
        let known = Catalogue::default().with(Origin::Shipped, known);
        let endpoint = Endpoint::new("p", api, "http://localhost:1/v1");
        Configured::new(&endpoint, &known, facts(&[("c", 3)]))
    }

    /// The server tells of these models.
    fn tell(provider: &Configured, models: &[(&str, u64)]) {
        let told = facts(models).into_iter();
        let told = told.map(|(id, facts)| facts.info("p", &id)).collect();
        provider.server.as_ref().unwrap().remember(told);
    }

    fn windows(provider: &Configured, models: &[&str]) -> Vec<Option<u64>> {
        let models = models.iter();
        let ask = |model| provider.model_info(model).now_or_never().unwrap().unwrap();
        models.map(|model| ask(model).context_window).collect()
    }

    #[test]
    fn settings_hold_over_what_the_server_told_and_that_over_what_was_known() {
        let provider = configured(Api::OpenaiChat);
        assert_eq!(
            windows(&provider, &["a", "b", "c"]),
            [Some(1), Some(1), Some(3)]
        );
        tell(&provider, &[("b", 2), ("c", 2), ("d", 2)]);
        assert_eq!(
            windows(&provider, &["a", "b", "c", "d"]),
            [Some(1), Some(2), Some(3), Some(2)]
        );
        let names: Vec<String> = provider.models().into_iter().map(|info| info.id).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
    }

    #[test]
    fn a_model_that_nothing_names_can_be_used_without_a_window() {
        let provider = configured(Api::OpenaiChat);
        let info = provider.model_info("new").now_or_never().unwrap().unwrap();
        assert_eq!((info.id.as_str(), info.name.as_str()), ("new", "new"));
        assert_eq!(info.context_window, None);
    }

    #[test]
    fn an_ollama_model_has_the_window_that_its_server_is_told_to_set_up() {
        let provider = configured(Api::Ollama);
        tell(&provider, &[("a", 131_072), ("b", 4_096)]);
        assert_eq!(
            windows(&provider, &["a", "b", "new"]),
            [Some(16_384), Some(4_096), Some(16_384)]
        );
        for (model, window) in [("a", 16_384), ("b", 4_096), ("new", 16_384)] {
            let options = provider.config(model).options;
            assert_eq!(options.num_ctx, Some(window), "{model}");
        }
    }
}
