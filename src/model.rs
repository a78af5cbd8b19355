//! Language models behind one face: the providers that answer requests, and
//! the catalogue of what is known of their models.
//!
//! Owns the face ([`Provider`]), the registry ([`Models`]), the provider that
//! needs no network ([`offline`]) and the one that asks a server
//! ([`HttpProvider`]). Knows nothing of logs, turns or the screen: a caller
//! sends messages and appends what comes back.

mod anthropic;
mod catalogue;
mod configured;
mod connect;
pub mod decoder;
mod endpoint;
mod error;
mod gemini;
mod http;
mod key;
mod listing;
pub mod offline;
mod ollama;
mod openai_chat;
mod openai_responses;
mod piece;
mod prompt;
mod provider;
mod reading;
mod redact;
mod repeat;
mod request;
pub mod retry;
pub mod tokens;
mod verdict;
mod wait;
mod wire;

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};

pub use catalogue::{
    Catalogue, Entry, Facts, Layer, Origin, Refreshed, ShippedError, StoredError, StoredModels,
};
pub use configured::Configured;
pub use endpoint::{Api, Endpoint, ExposeSecret, FixedKey, KeySource, Options, SecretString};
pub use error::{ModelError, NetworkFault, TimeLimit, Told};
pub use key::{Access, KeyError, KeyPlace, KeyStanding, PlacedKey};
pub use provider::HttpProvider;
pub use request::{Chosen, Purpose, Request, RequestConfig};

use crate::reference::ports::{ModelRoute, ModelWindows, WindowError};

/// What is known of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelInfo {
    /// The name of its provider.
    pub provider: String,
    /// Its id there.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The most tokens that a request and its answer may take together;
    /// `None` where none is declared.
    pub context_window: Option<u64>,
    /// The most tokens of one answer; `None` where none is declared.
    pub max_output: Option<u64>,
    /// US dollars for a million tokens of requests.
    pub input_price: Option<f64>,
    /// US dollars for a million tokens of answers.
    pub output_price: Option<f64>,
}

/// The models that a provider has, as it told itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// All of them.
    pub models: Vec<ModelInfo>,
    /// Which facts it could not tell, and why; words for people.
    pub lacks: Option<String>,
}

/// A piece of an answer, in the order of its arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// More of the answer's text.
    Text(String),
    /// More of the model's reasoning, which is no part of the answer.
    Reasoning(String),
    /// What the request took so far; the latest counts.
    Usage(Usage),
    /// The request failed before any text came, and is made again after a
    /// while. The answer goes on by itself.
    Waiting(Waiting),
    /// The answer is whole. Nothing follows.
    Finished(FinishReason),
}

/// Why and how long a request waits before it is made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Which attempt failed, from 1.
    pub attempt: u32,
    /// How long it waits, from now on.
    pub wait: Duration,
    /// The stable code of what went wrong.
    pub code: &'static str,
    /// What went wrong, for people, who need do nothing about it.
    pub why: String,
}

/// What a request took, in tokens as its provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the answer, reasoning included.
    pub output_tokens: u64,
}

/// Why an answer is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FinishReason {
    /// The model had no more to say.
    Stop,
    /// The answer reached the most tokens that it may take, and breaks off.
    Length,
}

impl FinishReason {
    /// The word used in logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
        }
    }
}

/// The pieces of an answer. Dropping it cancels the request.
pub type AnswerStream = BoxStream<'static, Result<Delta, ModelError>>;

/// One source of models.
pub trait Provider: Send + Sync {
    /// The name that routes call it by, and that no other provider has.
    fn name(&self) -> &str;

    /// The models that it is known to have, without asking anyone.
    fn models(&self) -> Vec<ModelInfo>;

    /// What is known of one model.
    ///
    /// # Errors
    /// `MODEL_NOT_FOUND` when the provider has no such model, `MODEL_FAILED`
    /// when it can't tell.
    fn model_info<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Result<ModelInfo, ModelError>>;

    /// Asks the provider itself which models it has. Takes the place of what
    /// [`models`](Self::models) gave before.
    ///
    /// # Errors
    /// What asking meets.
    fn list_models(&self) -> BoxFuture<'_, Result<Listed, ModelError>> {
        Box::pin(ready(Ok(Listed {
            models: self.models(),
            lacks: None,
        })))
    }

    /// How it stands with its key, without getting it. May read a file.
    fn access(&self) -> Access {
        Access::NotNeeded
    }

    /// Gets its key, if it needs one, so that a request finds it there. Asks no
    /// server.
    ///
    /// # Errors
    /// `MODEL_KEY` where there is none, and that of settings which can't be used.
    fn get_key(&self) -> BoxFuture<'_, Result<(), ModelError>> {
        Box::pin(ready(Ok(())))
    }

    /// How a model of it is asked, as the settings are now. Asks nobody.
    fn config(&self, model: &str) -> RequestConfig {
        RequestConfig::plain(self.name(), model)
    }

    /// Asks a model. Nothing happens before the stream is polled first, and
    /// dropping the stream cancels the request.
    ///
    /// A stream ends with [`Delta::Finished`] or with an error; one that just
    /// ends broke off. [`Models::stream`] turns that into an error.
    fn stream(&self, request: Request) -> AnswerStream;
}

/// Every provider there is, by name. Cheap to clone.
#[derive(Clone, Default)]
pub struct Models {
    providers: BTreeMap<String, Arc<dyn Provider>>,
}

impl Models {
    /// No providers at all.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same and one provider more, which takes the place of an earlier one
    /// of its name.
    #[must_use]
    pub fn with(mut self, provider: Arc<dyn Provider>) -> Self {
        self.providers.insert(provider.name().to_owned(), provider);
        self
    }

    /// All of them, in the order of their names.
    pub fn providers(&self) -> impl Iterator<Item = &Arc<dyn Provider>> {
        self.providers.values()
    }

    /// The provider of that name.
    ///
    /// # Errors
    /// `NO_ADAPTER` when there is none.
    pub fn provider(&self, name: &str) -> Result<Arc<dyn Provider>, ModelError> {
        self.providers
            .get(name)
            .cloned()
            .ok_or_else(|| ModelError::NoAdapter {
                provider: name.to_owned(),
                known: self.providers.keys().cloned().collect(),
            })
    }

    /// What is known of a model.
    ///
    /// # Errors
    /// `NO_ADAPTER` for a provider that is not there, and the errors of
    /// [`Provider::model_info`].
    pub async fn resolve_model_info(&self, route: &ModelRoute) -> Result<ModelInfo, ModelError> {
        self.provider(&route.provider)?
            .model_info(&route.model)
            .await
    }

    /// A model as it would be asked now, and what is known of it without asking
    /// anyone. One that nothing is known of can be chosen too: the error comes
    /// when it is asked.
    #[must_use]
    pub fn choose(&self, route: &ModelRoute) -> Chosen {
        let Ok(provider) = self.provider(&route.provider) else {
            return Chosen::from(RequestConfig::plain(&route.provider, &route.model));
        };
        let mut known = provider.models().into_iter();
        match known.find(|info| info.id == route.model) {
            Some(info) => Chosen::of(&*provider, &info),
            None => Chosen::from(provider.config(&route.model)),
        }
    }

    /// Asks a model. Dropping the stream cancels the request.
    ///
    /// The stream ends after the first [`Delta::Finished`] or the first error,
    /// whatever the provider would send behind it.
    ///
    /// # Errors
    /// In the stream: `NO_ADAPTER` for a provider that is not there,
    /// `MODEL_STREAM_ENDED` for an answer that breaks off, and what else the
    /// provider meets.
    #[must_use = "nothing is asked before the stream is polled"]
    pub fn stream(&self, request: Request) -> AnswerStream {
        let route = request.config.route();
        match self.provider(&route.provider) {
            Ok(provider) => to_its_end(provider.stream(request), route).boxed(),
            Err(error) => stream::once(ready(Err(error))).boxed(),
        }
    }
}

/// The answer up to its end, which is an error if the provider gave none.
fn to_its_end(
    answer: AnswerStream,
    route: ModelRoute,
) -> impl futures_util::Stream<Item = Result<Delta, ModelError>> + Send {
    stream::unfold(Some((answer, route)), async |state| {
        let (mut answer, route) = state?;
        Some(match answer.next().await {
            Some(Ok(Delta::Finished(reason))) => (Ok(Delta::Finished(reason)), None),
            Some(Ok(delta)) => (Ok(delta), Some((answer, route))),
            Some(Err(error)) => (Err(error), None),
            None => {
                let ModelRoute { provider, model } = route;
                (Err(ModelError::StreamEnded { provider, model }), None)
            }
        })
    })
}

impl ModelWindows for Models {
    fn context_window<'a>(
        &'a self,
        route: &'a ModelRoute,
    ) -> BoxFuture<'a, Result<Option<u64>, WindowError>> {
        Box::pin(async move {
            match self.resolve_model_info(route).await {
                Ok(info) => Ok(info.context_window),
                Err(ModelError::NoAdapter { .. }) => Err(WindowError::NoAdapter),
                // A model that nobody knows has no declared window either.
                Err(ModelError::NotFound { .. }) => Ok(None),
                Err(error) => Err(WindowError::Other(Arc::new(error))),
            }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
