//! What the resolver asks of the rest of the house. Each port is optional or
//! replaceable, so that absence, failure and hanging can be shown in tests.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use thiserror::Error;

use super::error::Cause;
use super::projection::Capture;
use super::transcript::Transcript;
use crate::session::{Header, SessionId};

/// Reads the current surface of any session.
pub trait SurfaceReader: Send + Sync {
    /// Reads one session as one atomic observation.
    fn read_surface<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<Capture, Cause>>;
}

/// Lists the sessions that can be cited, without opening any log.
pub trait SessionDirectory: Send + Sync {
    /// Lists every session there is, in any order.
    fn list_sessions(&self) -> BoxFuture<'_, Result<Vec<ListedSession>, Cause>>;
}

/// A session as its directory knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedSession {
    /// The session's header.
    pub header: Header,
    /// What is known of its title without its log.
    pub title: KnownTitle,
}

/// What is known of a session's title without opening its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownTitle {
    /// The session is open here: its own current title, if it has one.
    Live(Option<String>),
    /// The durable projection cache has this title for it.
    Cached(String),
    /// Nothing that may be asked knows a title.
    Unknown,
}

/// Keeps the full text of what a citation had to leave out.
pub trait SpillStore: Send + Sync {
    /// Saves one transcript. A save whose future is dropped leaves nothing
    /// behind.
    fn save(&self, spill: Spill) -> BoxFuture<'_, Result<SpillRef, Cause>>;

    /// Removes a saved transcript that was never published.
    fn discard<'a>(&'a self, spill: &'a SpillRef) -> BoxFuture<'a, ()>;
}

/// A transcript to be saved.
#[derive(Clone, Debug)]
pub struct Spill {
    /// The session whose message cites the source.
    pub owner: SessionId,
    /// The source.
    pub source: SessionId,
    /// What the message calls the source.
    pub label: String,
    /// A short file name for people, such as `session-reference-1.txt`.
    pub suggested_name: String,
    /// The captured conversation, whole.
    pub content: Arc<Transcript>,
}

/// Where a saved transcript is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpillRef {
    /// How to ask the store for it.
    pub locator: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// How a reader gets at it, in words.
    pub retrieval_hint: String,
}

/// A model of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelRoute {
    /// The provider's name.
    pub provider: String,
    /// The model's id there.
    pub model: String,
}

impl ModelRoute {
    /// The route that is written `provider/model`; `None` where one of the two
    /// is missing. A model's id may have slashes of its own.
    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        let (provider, model) = written.split_once('/')?;
        (!provider.is_empty() && !model.is_empty()).then(|| Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
        })
    }
}

impl fmt::Display for ModelRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// Knows the context windows of models.
pub trait ModelWindows: Send + Sync {
    /// The context window of a model in tokens; `None` where none is declared.
    fn context_window<'a>(
        &'a self,
        route: &'a ModelRoute,
    ) -> BoxFuture<'a, Result<Option<u64>, WindowError>>;
}

/// Why a context window can't be told.
#[derive(Clone, Debug, Error)]
pub enum WindowError {
    /// No provider of that name is there: the floor applies.
    #[error("no provider adapter for this model")]
    NoAdapter,
    /// Anything else, passed on as it is.
    #[error(transparent)]
    Other(Cause),
}
