//! The resolver: from a message's references to the one context message that
//! carries them, or to an error and nothing at all.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::future::try_join_all;
use tokio_util::sync::CancellationToken;

use super::frame::{FullSnapshot, PreparedReference, context_message};
use super::mention::{self, Reference};
use super::ports::{
    ModelRoute, ModelWindows, Spill, SpillRef, SpillStore, SurfaceReader, WindowError,
};
use super::projection::Capture;
use super::retention::{Retained, retain};
use super::transcript::Transcript;
use super::{ReferenceConfig, ReferenceError, config};
use crate::session::{Block, Message, SessionId};

/// The session that a message is written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its id: it can't cite itself.
    pub id: SessionId,
    /// The directory it was begun in.
    pub cwd: Option<String>,
    /// The model that decides the budget.
    pub route: RouteChoice,
}

/// Which model a step is for.
///
/// Only what a step was really assembled for counts; the agent's own option
/// stands in until the first assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteChoice {
    /// Nothing was assembled yet; `None` when the option names no whole route.
    Own(Option<ModelRoute>),
    /// The last step was assembled for this; `None` when it named no whole
    /// route.
    Assembled(Option<ModelRoute>),
}

impl RouteChoice {
    /// The model whose window counts now.
    #[must_use]
    pub fn current(&self) -> Option<&ModelRoute> {
        match self {
            Self::Own(route) | Self::Assembled(route) => route.as_ref(),
        }
    }
}

/// A message's content with the context that goes with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The content, detached from what the caller holds.
    pub content: Vec<Block>,
    /// The citations; `None` when nothing is cited.
    pub context: Option<PreparedContext>,
}

/// The citations of one message.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedContext {
    /// The message that carries them to the model.
    pub message: Arc<Message>,
    /// The cited sessions, in order of first mention.
    pub references: Vec<PreparedReference>,
}

impl PreparedContext {
    /// The saved full texts, which nobody needs if the context is never sent.
    pub fn spills(&self) -> impl Iterator<Item = &SpillRef> {
        self.references.iter().filter_map(PreparedReference::spill)
    }
}

/// How a source changed since it was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The source.
    pub reference: Reference,
    /// Its citable messages now, less those at the capture. It can fall too:
    /// a compaction shadows messages.
    pub messages: i64,
}

/// What all others decided about a step that is about to begin.
#[derive(Clone, Debug, PartialEq)]
pub enum StepDecision {
    /// It begins with these messages.
    Enter(Vec<Arc<Message>>),
    /// It does not begin.
    Reject,
}

/// A step with its references prepared.
#[derive(Clone, Debug, PartialEq)]
pub enum PreparedStep {
    /// It begins.
    Enter {
        /// All messages, each context directly behind the message it is for.
        messages: Vec<Arc<Message>>,
        /// The contexts among them.
        contexts: Vec<PreparedContext>,
    },
    /// It does not begin; nothing was prepared.
    Reject,
}

/// Prepares references. Cheap to clone.
#[derive(Clone)]
pub struct Resolver {
    config: ReferenceConfig,
    sources: Arc<dyn SurfaceReader>,
    spill: Option<Arc<dyn SpillStore>>,
    models: Option<Arc<dyn ModelWindows>>,
}

/// Gives the outcome of `work`, or `CANCELLED` as soon as that is asked for,
/// also when both happen at once.
pub(super) async fn or_cancelled<F: Future>(
    cancel: &CancellationToken,
    work: F,
) -> Result<F::Output, ReferenceError> {
    match cancel.run_until_cancelled(work).await {
        Some(outcome) if !cancel.is_cancelled() => Ok(outcome),
        _ => Err(ReferenceError::Cancelled),
    }
}

impl Resolver {
    /// A resolver over these sources, without spill store and models.
    #[must_use]
    pub fn new(config: ReferenceConfig, sources: Arc<dyn SurfaceReader>) -> Self {
        Self {
            config,
            sources,
            spill: None,
            models: None,
        }
    }

    /// The same resolver with a place for full texts.
    #[must_use]
    pub fn with_spill(mut self, spill: Arc<dyn SpillStore>) -> Self {
        self.spill = Some(spill);
        self
    }

    /// The same resolver with the context windows of models.
    #[must_use]
    pub fn with_models(mut self, models: Arc<dyn ModelWindows>) -> Self {
        self.models = Some(models);
        self
    }

    /// The settings it works under.
    #[must_use]
    pub fn config(&self) -> &ReferenceConfig {
        &self.config
    }

    /// Prepares the references of one message.
    ///
    /// # Errors
    /// Any [`ReferenceError`]; nothing is published then, and full texts that
    /// were saved already are discarded.
    pub async fn prepare(
        &self,
        target: &Target,
        content: &[Block],
        references: &[Reference],
        cancel: &CancellationToken,
    ) -> Result<Prepared, ReferenceError> {
        let content = content.to_vec();
        let references = self.normalise(target, references)?;
        if references.is_empty() {
            return Ok(Prepared {
                content,
                context: None,
            });
        }
        let budget = self.budget(target, cancel).await?;
        let reads = references
            .iter()
            .map(|reference| self.read(reference, cancel));
        let captures = or_cancelled(cancel, try_join_all(reads)).await??;
        let cut = references
            .into_iter()
            .zip(captures)
            .map(|(reference, capture)| keep_within(reference, capture, budget));
        let cut = or_cancelled(cancel, try_join_all(cut)).await??;
        let references = self.spill_all(target, cut, budget, cancel).await?;
        Ok(Prepared {
            content,
            context: Some(PreparedContext {
                message: Arc::new(context_message(&references)),
                references,
            }),
        })
    }

    /// Prepares a step that everything else has accepted: each message that a
    /// person wrote and that cites sessions keeps its id and its other blocks,
    /// and is followed by its context. Every other message passes through as
    /// the same object.
    ///
    /// # Errors
    /// Any [`ReferenceError`]; the step must not begin then.
    pub async fn pre_step(
        &self,
        target: &Target,
        decision: StepDecision,
        cancel: &CancellationToken,
    ) -> Result<PreparedStep, ReferenceError> {
        let StepDecision::Enter(entering) = decision else {
            return Ok(PreparedStep::Reject);
        };
        let mut messages = Vec::with_capacity(entering.len());
        let mut contexts: Vec<PreparedContext> = Vec::new();
        for message in entering {
            match self.prepare_message(target, &message, cancel).await {
                Ok(None) => messages.push(message),
                Ok(Some((message, context))) => {
                    messages.push(Arc::new(message));
                    messages.push(Arc::clone(&context.message));
                    contexts.push(context);
                }
                Err(error) => {
                    self.discard(contexts.iter().flat_map(PreparedContext::spills))
                        .await;
                    return Err(error);
                }
            }
        }
        Ok(PreparedStep::Enter { messages, contexts })
    }

    /// Compares captures with their sources as they are now. Only what would
    /// be sent counts: a log-only event changes nothing.
    ///
    /// # Errors
    /// `READ_FAILED`, `BUDGET_EXCEEDED` or `CANCELLED`.
    pub async fn changed_since(
        &self,
        contexts: &[Arc<PreparedContext>],
        cancel: &CancellationToken,
    ) -> Result<Vec<Growth>, ReferenceError> {
        let checks =
            contexts
                .iter()
                .flat_map(|context| &context.references)
                .map(|prepared| async move {
                    let reference = prepared.reference.clone();
                    let capture = self.read(&reference, cancel).await?;
                    let now = keep_within(reference, capture, prepared.budget).await?;
                    let same = now.retained.kept == prepared.retained.kept
                        && now.retained.facts == prepared.retained.facts;
                    let count = |of: &Retained| {
                        i64::try_from(of.facts.original_messages).unwrap_or(i64::MAX)
                    };
                    Ok((!same).then(|| Growth {
                        messages: count(&now.retained) - count(&prepared.retained),
                        reference: now.reference,
                    }))
                });
        let changes = or_cancelled(cancel, try_join_all(checks)).await??;
        Ok(changes.into_iter().flatten().collect())
    }

    /// Removes full texts that were saved for something never sent.
    pub async fn discard(&self, spills: impl Iterator<Item = &SpillRef>) {
        if let Some(store) = &self.spill {
            for spill in spills {
                store.discard(spill).await;
            }
        }
    }

    async fn prepare_message(
        &self,
        target: &Target,
        message: &Message,
        cancel: &CancellationToken,
    ) -> Result<Option<(Message, PreparedContext)>, ReferenceError> {
        if !message.source.is_person() {
            return Ok(None);
        }
        let mut references = Vec::new();
        let mut readable = message.clone();
        for block in &mut readable.content {
            if let Block::Text(block) = block {
                let parsed = mention::parse(&block.text)?;
                block.text = parsed.text.into();
                references.extend(parsed.references);
            }
        }
        let prepared = self
            .prepare(target, &readable.content, &references, cancel)
            .await?;
        Ok(prepared.context.map(|context| (readable, context)))
    }

    /// Order of first mention, duplicates dropped before the cap is checked.
    fn normalise(
        &self,
        target: &Target,
        references: &[Reference],
    ) -> Result<Vec<Reference>, ReferenceError> {
        let mut seen = HashSet::new();
        let mut distinct = Vec::new();
        for reference in references {
            if reference.session_id == target.id {
                return Err(ReferenceError::SelfReference {
                    session_id: reference.session_id.clone(),
                });
            }
            if seen.insert(&reference.session_id) {
                distinct.push(reference.clone());
            }
        }
        let max = self.config.max_references();
        if distinct.len() > max {
            return Err(ReferenceError::TooMany {
                found: distinct.len(),
                max,
            });
        }
        Ok(distinct)
    }

    /// The budget of each source, in bytes.
    async fn budget(
        &self,
        target: &Target,
        cancel: &CancellationToken,
    ) -> Result<u64, ReferenceError> {
        if let Some(bytes) = self.config.max_reference_bytes() {
            return Ok(bytes);
        }
        let (Some(models), Some(route)) = (&self.models, target.route.current()) else {
            return Ok(config::FLOOR_BYTES);
        };
        match or_cancelled(cancel, models.context_window(route)).await? {
            Ok(Some(window)) => Ok(self.config.budget_for_window(window)),
            Ok(None) | Err(WindowError::NoAdapter) => Ok(config::FLOOR_BYTES),
            Err(WindowError::Other(cause)) => Err(ReferenceError::ModelLookup(cause)),
        }
    }

    async fn read(
        &self,
        reference: &Reference,
        cancel: &CancellationToken,
    ) -> Result<Arc<Capture>, ReferenceError> {
        let read = self.sources.read_surface(&reference.session_id);
        or_cancelled(cancel, read)
            .await?
            .map(Arc::new)
            .map_err(|cause| ReferenceError::ReadFailed {
                session_id: reference.session_id.clone(),
                label: reference.label.clone(),
                cause,
            })
    }

    /// Saves the full text of every source that was cut.
    async fn spill_all(
        &self,
        target: &Target,
        cut: Vec<CutSource>,
        budget: u64,
        cancel: &CancellationToken,
    ) -> Result<Vec<PreparedReference>, ReferenceError> {
        let mut prepared: Vec<PreparedReference> = Vec::with_capacity(cut.len());
        for (place, source) in cut.into_iter().enumerate() {
            let full_snapshot = if source.retained.facts.truncated {
                cancel
                    .run_until_cancelled(self.save(target, place, &source))
                    .await
            } else {
                None
            };
            prepared.push(PreparedReference::new(
                source.reference,
                &source.capture,
                source.retained,
                budget,
                full_snapshot,
            ));
            // A save may complete just as it is called off: then it is undone
            // together with those before it.
            if cancel.is_cancelled() {
                self.discard(prepared.iter().filter_map(PreparedReference::spill))
                    .await;
                return Err(ReferenceError::Cancelled);
            }
        }
        Ok(prepared)
    }

    async fn save(&self, target: &Target, place: usize, source: &CutSource) -> FullSnapshot {
        let Some(store) = &self.spill else {
            return FullSnapshot::NotConfigured;
        };
        let label = source.reference.label.clone();
        let spill = Spill {
            owner: target.id.clone(),
            source: source.reference.session_id.clone(),
            label: label.clone(),
            suggested_name: format!("session-reference-{}.txt", place + 1),
            content: Arc::new(Transcript::new(Arc::clone(&source.capture), label)),
        };
        match store.save(spill).await {
            Ok(saved) => FullSnapshot::Saved(saved),
            Err(cause) => FullSnapshot::SaveFailed(cause.to_string()),
        }
    }
}

/// A source after retention, before its full text is saved.
struct CutSource {
    reference: Reference,
    capture: Arc<Capture>,
    retained: Retained,
}

/// Retention, off the async threads: a source may hold hundreds of megabytes.
async fn keep_within(
    reference: Reference,
    capture: Arc<Capture>,
    budget: u64,
) -> Result<CutSource, ReferenceError> {
    let work = {
        let (capture, label) = (Arc::clone(&capture), reference.label.clone());
        tokio::task::spawn_blocking(move || retain(&capture, &label, budget))
    };
    let retained = work.await.map_err(|panic| ReferenceError::ReadFailed {
        session_id: reference.session_id.clone(),
        label: reference.label.clone(),
        cause: Arc::new(panic),
    })??;
    Ok(CutSource {
        reference,
        capture,
        retained,
    })
}
