//! Where a provider's server is, what it speaks, and how it is to be asked.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, ready};
pub use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::prompt::merge;
use super::{KeyError, KeyStanding, ModelError, ModelInfo};
use crate::reference::Cause;

/// The wire formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    /// Chat completions, as by OpenAI and the many servers like it.
    OpenaiChat,
    /// OpenAI's Responses.
    OpenaiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Ollama's own chat.
    Ollama,
}

impl Api {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::OpenaiChat,
        Self::OpenaiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Ollama,
    ];

    /// The word used in settings and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }
}

/// Gives a provider's key when it is first needed.
///
/// It is asked before each request, so a source that runs a command keeps what
/// it got.
pub trait KeySource: Send + Sync {
    /// The key.
    ///
    /// # Errors
    /// Why there is none; it becomes `MODEL_KEY`, and must not hold the key.
    fn key(&self) -> BoxFuture<'_, Result<SecretString, Cause>>;

    /// How things stand with it, without running anything.
    ///
    /// # Errors
    /// What getting the key would fail with, as far as that can be told.
    fn standing(&self) -> Result<KeyStanding, KeyError>;
}

/// A key that is there already.
#[derive(Clone, Debug)]
pub struct FixedKey(SecretString);

impl FixedKey {
    /// The source of this key.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        Self(SecretString::from(key.into()))
    }
}

impl KeySource for FixedKey {
    fn key(&self) -> BoxFuture<'_, Result<SecretString, Cause>> {
        Box::pin(ready(Ok(self.0.clone())))
    }

    fn standing(&self) -> Result<KeyStanding, KeyError> {
        Ok(KeyStanding::There)
    }
}

/// What shapes a request beside its messages. With the wire format, the model
/// and the messages it gives the request's body, byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Options {
    /// The most tokens of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// The context window that an Ollama server is to set up, in tokens. Of an
    /// [`Endpoint`] it is the most that is asked for, whatever a model has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_ctx: Option<u64>,
    /// More keys of the body, as they stand. They take the place of what would
    /// stand there else, but never of the model, the messages or `stream`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl Options {
    /// These options, and those of `under` where they say nothing. Objects
    /// among the further keys are joined.
    #[must_use]
    pub fn over(self, under: Self) -> Self {
        let mut extra = under.extra;
        for (key, value) in &self.extra {
            merge(&mut extra, key, value);
        }
        Self {
            max_output: self.max_output.or(under.max_output),
            num_ctx: self.num_ctx.or(under.num_ctx),
            extra,
        }
    }

    /// Whether they shape nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A server with models.
#[derive(Clone)]
pub struct Endpoint {
    /// The provider's name, by which routes call it.
    pub name: String,
    /// What it speaks.
    pub api: Api,
    /// Its address with everything before the API's own paths:
    /// `https://api.openai.com/v1` for both of OpenAI's,
    /// `https://api.anthropic.com`,
    /// `https://generativelanguage.googleapis.com/v1beta`,
    /// `http://localhost:11434`. A slash at the end makes no difference.
    pub base_url: String,
    /// Where its key comes from; `None` for a server that needs none.
    pub key: Option<Arc<dyn KeySource>>,
    /// More headers of each request. Their values are treated like keys.
    pub headers: Vec<(String, SecretString)>,
    /// The longest wait for a connection.
    pub connect_timeout: Duration,
    /// The longest silence before or within an answer.
    pub idle_timeout: Duration,
    /// The longest time for a whole answer, waiting and trying again included.
    pub total_timeout: Option<Duration>,
    /// Certificates (PEM) to trust beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// The proxy to use (`http`, `https`, `socks5` or `socks5h`); `None` for the
    /// one that the environment names, unless the server is on this machine;
    /// the empty text for none at all.
    pub proxy: Option<String>,
    /// What is known of its models without asking it.
    pub models: Vec<ModelInfo>,
    /// What shapes each request.
    pub options: Options,
    /// What shapes requests to single models beside that, by their ids.
    pub model_options: BTreeMap<String, Options>,
}

impl Endpoint {
    /// The longest wait for a connection, where nothing else is set.
    pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
    /// The longest silence, where nothing else is set: a model may think for
    /// minutes, or first be loaded.
    pub const IDLE_TIMEOUT: Duration = Duration::from_mins(5);

    /// The largest window that an Ollama server is asked to set up, in tokens,
    /// where nothing else is set. The server takes memory for all of it when it
    /// loads the model, about 2 GB with 8 billion weights, so that a model's
    /// own window of 128,000 tokens is no choice to make unasked. Unless it is
    /// told, it sets up a few thousand and cuts off what is longer in silence.
    pub const NUM_CTX: u64 = 16_384;

    /// A server without a key, with the usual time limits.
    pub fn new(name: impl Into<String>, api: Api, base_url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            api,
            base_url: base_url.into(),
            key: None,
            headers: Vec::new(),
            connect_timeout: Self::CONNECT_TIMEOUT,
            idle_timeout: Self::IDLE_TIMEOUT,
            total_timeout: None,
            ca_file: None,
            proxy: None,
            models: Vec::new(),
            options: Options::default(),
            model_options: BTreeMap::new(),
        }
    }
}

impl Endpoint {
    /// Its key; `None` where it needs none.
    ///
    /// # Errors
    /// `MODEL_KEY` where it needs one and there is none.
    pub(crate) async fn get_key(&self) -> Result<Option<SecretString>, ModelError> {
        let Some(source) = &self.key else {
            return Ok(None);
        };
        let key = source.key().await.map_err(|cause| ModelError::Key {
            provider: self.name.clone(),
            cause,
        });
        key.map(Some)
    }

    /// The largest window that its server sets up unless more is asked for one
    /// model; `None` where the server sets up what the model has.
    pub(crate) fn most_window(&self) -> Option<u64> {
        let is_told = self.api == Api::Ollama;
        is_told.then(|| self.options.num_ctx.unwrap_or(Self::NUM_CTX))
    }

    /// What shapes requests to this model, of which this is known.
    pub(crate) fn options(&self, model: &ModelInfo) -> Options {
        let own = self.model_options.get(&model.id).cloned();
        let own = own.unwrap_or_default();
        let window = self.most_window().map(|most| {
            let known = model.context_window.map_or(most, |window| window.min(most));
            own.num_ctx.unwrap_or(known)
        });
        let mut options = own.over(self.options.clone());
        options.num_ctx = window;
        // Only this format must be told; for the others, no limit of ours is
        // better than one that was true yesterday.
        if self.api == Api::Anthropic {
            options.max_output = options.max_output.or(model.max_output);
        }
        options
    }
}

/// Shows nothing that could be secret: no header's value, and no proxy, whose
/// address may hold a password.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("name", &self.name)
            .field("api", &self.api)
            .field("has_key", &self.key.is_some())
            .field("models", &self.models.len())
            .finish_non_exhaustive()
    }
}
