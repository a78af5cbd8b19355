//! Preparing, logging and asking: the jobs of a turn.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, Stream, StreamExt};
use tokio::time::{Instant, sleep_until};

use super::{Done, Runtime};
use crate::chat::{ChatEvent, Generation, RequestHeader, Step};
use crate::model::{Delta, ModelError};
use crate::reference::ports::SpillRef;
use crate::reference::resolver::{PreparedStep, StepDecision, Target};
use crate::reference::{PreparedContext, ReferenceError};
use crate::session::{Event, Message};

impl Runtime {
    pub(super) fn prepare(
        &mut self,
        generation: Generation,
        target: Target,
        message: Arc<Message>,
    ) {
        let token = self.token(generation);
        let resolver = self.services.resolver.clone();
        let done = self.done.clone();
        self.tasks.spawn(async move {
            let decision = StepDecision::Enter(vec![message]);
            let outcome = resolver.pre_step(&target, decision, &token).await;
            token.cancel();
            let spills = spills(&outcome);
            let event = ChatEvent::Prepared(generation, outcome);
            if done.send(Done::Chat(event)).await.is_err() {
                // Nobody is there any more to send it or to give it up.
                resolver.discard(spills.iter()).await;
            }
        });
    }

    pub(super) fn recheck(&mut self, generation: Generation, step: Arc<Step>) {
        let token = self.token(generation);
        let resolver = self.services.resolver.clone();
        let done = self.done.clone();
        tokio::spawn(async move {
            let outcome = resolver.changed_since(&step.contexts, &token).await;
            token.cancel();
            let event = ChatEvent::Rechecked(generation, outcome);
            let _ = done.send(Done::Chat(event)).await;
        });
    }

    pub(super) fn ask(
        &mut self,
        generation: Generation,
        header: Arc<RequestHeader>,
        surface: Vec<Arc<Event>>,
    ) {
        let token = self.token(generation);
        let models = self.services.models.clone();
        let done = self.done.clone();
        tokio::spawn(async move {
            // Fused: a burst may find the end before the loop does.
            let mut answer = models.stream(header.request(&surface)).fuse();
            drop(surface);
            let mut keep_at = None;
            let error = loop {
                let next = tokio::select! {
                    biased;
                    () = token.cancelled() => return,
                    () = reached(keep_at) => {
                        keep_at = None;
                        let event = ChatEvent::Keep(generation);
                        if done.send(Done::Chat(event)).await.is_err() {
                            return;
                        }
                        continue;
                    }
                    next = answer.next() => next,
                };
                match next {
                    None => break None,
                    Some(Err(error)) => break Some(error),
                    Some(Ok(delta)) => {
                        if matches!(delta, Delta::Text(_) | Delta::Reasoning(_)) {
                            keep_at.get_or_insert_with(|| Instant::now() + KEEP);
                        }
                        let (delta, after) = with_what_is_there(delta, &mut answer);
                        for delta in [Some(delta), after].into_iter().flatten() {
                            let event = match delta {
                                Ok(delta) => ChatEvent::Delta(generation, delta),
                                Err(error) => ChatEvent::AnswerEnded(generation, Some(error)),
                            };
                            if done.send(Done::Chat(event)).await.is_err() {
                                return;
                            }
                        }
                    }
                }
            };
            token.cancel();
            let event = ChatEvent::AnswerEnded(generation, error);
            let _ = done.send(Done::Chat(event)).await;
        });
    }
}

/// How long a piece of an answer waits at most before it is written to the
/// log, together with what came meanwhile.
const KEEP: Duration = Duration::from_millis(150);

/// Waits for this moment, for ever where there is none.
async fn reached(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// What was saved for a step.
fn spills(outcome: &Result<PreparedStep, ReferenceError>) -> Vec<SpillRef> {
    match outcome {
        Ok(PreparedStep::Enter { contexts, .. }) => {
            let spills = contexts.iter().flat_map(PreparedContext::spills);
            spills.cloned().collect()
        }
        Ok(PreparedStep::Reject) | Err(_) => Vec::new(),
    }
}

type Piece = Result<Delta, ModelError>;

/// Text that is there already joins the piece before it, so that a fast model
/// costs one message a burst. Gives what came after that, if anything did.
fn with_what_is_there(
    delta: Delta,
    answer: &mut (impl Stream<Item = Piece> + Unpin),
) -> (Piece, Option<Piece>) {
    let Delta::Text(mut text) = delta else {
        return (Ok(delta), None);
    };
    while text.len() < MAX_BURST {
        match answer.next().now_or_never() {
            Some(Some(Ok(Delta::Text(more)))) => text.push_str(&more),
            Some(Some(other)) => return (Ok(Delta::Text(text)), Some(other)),
            // Nothing yet, or the end, which the next poll finds again.
            Some(None) | None => break,
        }
    }
    (Ok(Delta::Text(text)), None)
}

/// The most text that goes as one piece, in bytes.
const MAX_BURST: usize = 16 * 1024;
