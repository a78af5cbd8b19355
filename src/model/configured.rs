//! A server as the person's settings have it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use futures_util::future::{BoxFuture, ready};
use futures_util::stream::{self, StreamExt as _};

use super::{
    AnswerStream, Endpoint, Facts, HttpProvider, ModelError, ModelInfo, Provider, Request,
};

/// A provider that is made when it is first asked, so that a dozen that nobody
/// asks cost nothing, and settings that can't be used are an error of that
/// provider alone.
///
/// What the settings say of a model holds over what its server tells.
#[derive(Debug)]
pub struct Configured {
    endpoint: Endpoint,
    said: BTreeMap<String, Facts>,
    made: OnceLock<Result<HttpProvider, ModelError>>,
}

impl Configured {
    /// The provider of this endpoint, and what the settings say of its models.
    #[must_use]
    pub fn new(endpoint: Endpoint, said: BTreeMap<String, Facts>) -> Self {
        Self {
            endpoint,
            said,
            made: OnceLock::new(),
        }
    }

    fn made(&self) -> Result<&HttpProvider, ModelError> {
        self.made
            .get_or_init(|| HttpProvider::new(self.endpoint.clone()))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// What a server told, under what the settings say.
    fn settled(&self, told: ModelInfo) -> ModelInfo {
        let Some(said) = self.said.get(&told.id) else {
            return told;
        };
        let facts = said.clone().over(Facts::from(&told));
        facts.info(&told.provider, &told.id)
    }
}

impl Provider for Configured {
    fn name(&self) -> &str {
        &self.endpoint.name
    }

    fn models(&self) -> Vec<ModelInfo> {
        self.endpoint.models.clone()
    }

    fn model_info<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Result<ModelInfo, ModelError>> {
        Box::pin(async move {
            let told = self.made()?.model_info(model).await?;
            Ok(self.settled(told))
        })
    }

    fn list_models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ModelError>> {
        Box::pin(async move {
            let told = self.made()?.list_models().await?;
            Ok(told.into_iter().map(|info| self.settled(info)).collect())
        })
    }

    fn stream(&self, request: Request) -> AnswerStream {
        match self.made() {
            Ok(provider) => provider.stream(request),
            Err(error) => stream::once(ready(Err(error))).boxed(),
        }
    }
}
