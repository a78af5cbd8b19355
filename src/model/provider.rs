//! The provider that asks a server.

use futures_util::future::{BoxFuture, ready};
use futures_util::stream::{self, StreamExt};

use super::{AnswerStream, Endpoint, ModelError, ModelInfo, Provider, Request};

/// The models of one [`Endpoint`].
#[derive(Debug)]
pub struct HttpProvider {
    endpoint: Endpoint,
}

impl HttpProvider {
    /// The provider of this endpoint. Asks nobody yet.
    ///
    /// # Errors
    /// `MODEL_ENDPOINT` when the endpoint's settings can't be used.
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        Ok(Self { endpoint })
    }
}

impl Provider for HttpProvider {
    fn name(&self) -> &str {
        &self.endpoint.name
    }

    fn models(&self) -> Vec<ModelInfo> {
        self.endpoint.models.clone()
    }

    fn model_info<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Result<ModelInfo, ModelError>> {
        let known = self.models().into_iter().find(|info| info.id == model);
        Box::pin(ready(Ok(known.unwrap_or_else(|| ModelInfo {
            provider: self.endpoint.name.clone(),
            id: model.to_owned(),
            name: model.to_owned(),
            context_window: None,
            max_output: None,
        }))))
    }

    fn stream(&self, _: Request) -> AnswerStream {
        stream::empty().boxed()
    }
}
