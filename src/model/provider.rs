//! The provider that asks a server.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{BoxFuture, ready};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use tokio::time::Instant;

use super::http::{Incoming, Server};
use super::reading::{Flaw, Reading};
use super::retry::{self, Policy};
use super::{
    Access, AnswerStream, Api, Delta, Endpoint, Facts, Listed, ModelError, ModelInfo, Provider,
    Request, RequestConfig, TimeLimit, connect, listing,
};

/// The models of one [`Endpoint`]. Cheap to clone.
#[derive(Clone, Debug)]
pub struct HttpProvider(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    endpoint: Endpoint,
    policy: Policy,
    /// Made when first needed: it reads the system's certificates.
    server: OnceLock<Result<Arc<Server>, ModelError>>,
    /// What the server told of its models the last time.
    listed: Mutex<Option<Vec<ModelInfo>>>,
}

impl HttpProvider {
    /// The provider of this endpoint. Asks nobody yet.
    ///
    /// # Errors
    /// `MODEL_ENDPOINT` when the endpoint's settings can't be used.
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        Self::with_policy(endpoint, Policy::default())
    }

    /// The same, which makes requests again by these rules.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_policy(endpoint: Endpoint, policy: Policy) -> Result<Self, ModelError> {
        connect::check(&endpoint)?;
        Ok(Self(Arc::new(Inner {
            endpoint,
            policy,
            server: OnceLock::new(),
            listed: Mutex::new(None),
        })))
    }

    /// The wire format.
    #[must_use]
    pub fn api(&self) -> Api {
        self.0.endpoint.api
    }

    /// How a model is asked of which this is known.
    pub(super) fn config_of(&self, model: &ModelInfo) -> RequestConfig {
        RequestConfig {
            api: Some(self.api()),
            options: self.0.endpoint.options(model),
            ..RequestConfig::plain(self.name(), &model.id)
        }
    }

    /// Keeps what the server told of its models.
    pub(super) fn remember(&self, models: Vec<ModelInfo>) {
        let listed = self.0.listed.lock();
        *listed.unwrap_or_else(PoisonError::into_inner) = Some(models);
    }

    /// What is known of a model. A server may have models that it does not
    /// list, so an unknown one is one without facts.
    fn info(&self, model: &str) -> ModelInfo {
        let known = self.models().into_iter().find(|info| info.id == model);
        known.unwrap_or_else(|| Facts::default().info(&self.0.endpoint.name, model))
    }
}

impl Inner {
    fn server(&self) -> Result<Arc<Server>, ModelError> {
        let make = || Server::new(self.endpoint.clone()).map(Arc::new);
        self.server.get_or_init(make).clone()
    }

    fn failed(&self, model: &str, cause: tokio::task::JoinError) -> ModelError {
        ModelError::Failed {
            provider: self.endpoint.name.clone(),
            model: model.to_owned(),
            cause: Arc::new(cause),
        }
    }
}

impl Provider for HttpProvider {
    fn name(&self) -> &str {
        &self.0.endpoint.name
    }

    fn models(&self) -> Vec<ModelInfo> {
        let listed = self.0.listed.lock();
        let listed = listed.unwrap_or_else(PoisonError::into_inner);
        match &*listed {
            Some(models) => models.clone(),
            None => self.0.endpoint.models.clone(),
        }
    }

    /// Asks nobody: this is on the way of every message.
    fn model_info<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Result<ModelInfo, ModelError>> {
        Box::pin(ready(Ok(self.info(model))))
    }

    fn list_models(&self) -> BoxFuture<'_, Result<Listed, ModelError>> {
        Box::pin(async move {
            let inner = Arc::clone(&self.0);
            let server = tokio::task::spawn_blocking(move || inner.server())
                .await
                .map_err(|panic| self.0.failed("", panic))??;
            let told = listing::ask(&server, &self.0.endpoint).await?;
            let models = listing::merged(&self.0.endpoint.models, told.models);
            self.remember(models.clone());
            Ok(Listed { models, ..told })
        })
    }

    fn access(&self) -> Access {
        Access::of(self.0.endpoint.key.as_deref())
    }

    fn get_key(&self) -> BoxFuture<'_, Result<(), ModelError>> {
        Box::pin(async { self.0.endpoint.get_key().await.map(drop) })
    }

    fn config(&self, model: &str) -> RequestConfig {
        self.config_of(&self.info(model))
    }

    fn stream(&self, request: Request) -> AnswerStream {
        let provider = self.clone();
        let answer = stream::once(async move {
            let (call, policy) = (provider.prepare(request).await?, provider.0.policy);
            let attempt = move || {
                let call = call.clone();
                let open = async move { call.open().await.map(pieces) };
                stream::once(open).try_flatten().boxed()
            };
            Ok(retry::answers(policy, attempt, chance))
        });
        let answer = answer.try_flatten().boxed();
        match self.0.endpoint.total_timeout {
            Some(limit) => within(answer, limit, self.0.endpoint.name.clone()),
            None => answer,
        }
    }
}

/// A request, ready to be made as often as it takes.
#[derive(Clone)]
struct Call {
    server: Arc<Server>,
    api: Api,
    model: Arc<str>,
    body: Bytes,
}

impl HttpProvider {
    /// The body is made off the async threads: a citation may be large.
    async fn prepare(&self, request: Request) -> Result<Call, ModelError> {
        let model: Arc<str> = request.config.model.as_str().into();
        let (provider, id) = (self.clone(), Arc::clone(&model));
        tokio::task::spawn_blocking(move || {
            Ok(Call {
                server: provider.0.server()?,
                api: provider.api(),
                body: provider.api().body(&request).into(),
                model: id,
            })
        })
        .await
        .map_err(|panic| self.0.failed(&model, panic))?
    }
}

impl Call {
    async fn open(self) -> Result<Pieces, ModelError> {
        let path = self.api.path(&self.model);
        let incoming = self
            .server
            .post(&path, self.body, Some(&self.model))
            .await?;
        Ok(Pieces {
            incoming,
            reading: Reading::new(self.api),
            ready: VecDeque::new(),
            over: None,
        })
    }
}

/// A response and what of it was read.
struct Pieces {
    incoming: Incoming,
    reading: Reading,
    ready: VecDeque<Delta>,
    /// How it ended, once it has.
    over: Option<Result<(), ModelError>>,
}

fn pieces(pieces: Pieces) -> AnswerStream {
    stream::unfold(pieces, async |mut pieces| {
        let item = pieces.next().await?;
        Some((item, pieces))
    })
    .boxed()
}

impl Pieces {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(delta));
            }
            match &mut self.over {
                None => self.read().await,
                Some(over) => return std::mem::replace(over, Ok(())).err().map(Err),
            }
        }
    }

    async fn read(&mut self) {
        let mut deltas = Vec::new();
        let (read, broke) = match self.incoming.chunk().await {
            Ok(Some(bytes)) => (self.reading.feed(&bytes, &mut deltas), None),
            Ok(None) => (self.reading.end(&mut deltas), None),
            Err(error) => (self.reading.broke_off(&mut deltas), Some(error)),
        };
        self.ready.extend(deltas);
        let context = &self.incoming.context;
        self.over = match (read, broke) {
            (Ok(()), _) => self.reading.is_over().then_some(Ok(())),
            (Err(_), Some(error)) => Some(Err(error)),
            (Err(Flaw::Ended), None) => Some(Err(context.ended())),
            (Err(Flaw::Report(report)), None) => Some(Err(context.error(&report))),
        };
    }
}

/// An answer with a limit for all of it, from when it is first asked for.
struct Limited {
    answer: AnswerStream,
    limit: Duration,
    deadline: Option<Instant>,
    provider: String,
}

/// The answer, or the error that it took too long.
fn within(answer: AnswerStream, limit: Duration, provider: String) -> AnswerStream {
    let limited = Limited {
        answer,
        limit,
        deadline: None,
        provider,
    };
    stream::unfold(Some(limited), async |limited| {
        let mut limited = limited?;
        let limit = limited.limit;
        let deadline = *limited
            .deadline
            .get_or_insert_with(|| Instant::now() + limit);
        if let Ok(item) = tokio::time::timeout_at(deadline, limited.answer.next()).await {
            return Some((item?, Some(limited)));
        }
        let error = ModelError::Timeout {
            provider: limited.provider,
            limit: TimeLimit::Total,
            after: limit,
        };
        Some((Err(error), None))
    })
    .boxed()
}

/// A number from 0 to 1 that no other client has.
fn chance() -> f64 {
    let (bits, _) = uuid::Uuid::new_v4().as_u64_pair();
    f64::from((bits >> 32) as u32) / f64::from(u32::MAX)
}
