//! What a model is asked, and how.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Api, ModelInfo, Options, Provider};
use crate::reference::ports::ModelRoute;
use crate::session::Message;

/// Which model is asked, and what shapes the request beside its messages. It
/// stands in the log with each request, so that the request can be made again
/// from there whatever became of the settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestConfig {
    /// The name of the provider.
    pub provider: String,
    /// The model's id there.
    pub model: String,
    /// The wire format; `None` for a provider that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<Api>,
    /// What shapes the body.
    #[serde(default, skip_serializing_if = "Options::is_default")]
    pub options: Options,
}

impl RequestConfig {
    /// A model that is asked without a wire format and without options.
    #[must_use]
    pub fn plain(provider: &str, model: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            api: None,
            options: Options::default(),
        }
    }

    /// The way to the model.
    #[must_use]
    pub fn route(&self) -> ModelRoute {
        ModelRoute {
            provider: self.provider.clone(),
            model: self.model.clone(),
        }
    }
}

/// A model that a person chose, and what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// How it is asked.
    pub config: RequestConfig,
    /// The most tokens that a request and its answer may take together;
    /// `None` where none is declared.
    pub context_window: Option<u64>,
    /// The most tokens of one answer; `None` where none is declared.
    pub max_output: Option<u64>,
}

impl Chosen {
    /// A model that its provider knows.
    #[must_use]
    pub fn of(provider: &dyn Provider, info: &ModelInfo) -> Self {
        let chosen = Self::from(provider.config(&info.id));
        Self {
            context_window: chosen.context_window.or(info.context_window),
            max_output: info.max_output,
            ..chosen
        }
    }
}

impl From<RequestConfig> for Chosen {
    /// A model of which nothing else is known.
    fn from(config: RequestConfig) -> Self {
        Self {
            // A window that the server is told to set up is the one there is.
            context_window: config.options.num_ctx,
            config,
            max_output: None,
        }
    }
}

/// What a request is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// The conversation goes on.
    #[default]
    Answer,
    /// What was said so far is to be told in short.
    Summary,
    /// The conversation is to get a title.
    Title,
}

impl Purpose {
    /// Whether the conversation goes on with it.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        *self == Self::Answer
    }
}

/// A conversation that a model is to go on with.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Who is asked, and how.
    pub config: RequestConfig,
    /// What for. It is no part of what a server is sent.
    pub purpose: Purpose,
    /// The messages that the model sees, in order.
    pub messages: Vec<Arc<Message>>,
}

impl Request {
    /// The next message of a conversation.
    #[must_use]
    pub fn answer(config: RequestConfig, messages: Vec<Arc<Message>>) -> Self {
        Self {
            config,
            purpose: Purpose::Answer,
            messages,
        }
    }

    /// The body, byte for byte as it is sent; `None` without a wire format.
    /// The same request always gives the same bytes.
    #[must_use]
    pub fn body(&self) -> Option<Vec<u8>> {
        self.config.api.map(|api| api.body(self))
    }
}
