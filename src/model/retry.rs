//! When a request is made again, and how long it waits before.
//!
//! Nothing is made again once text has come: a person must never see an answer
//! twice. Before that, only what may be over in a moment is tried again.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;

use super::{AnswerStream, Delta, ModelError, NetworkFault, TimeLimit, Waiting};

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The most attempts, the first included.
    pub attempts: u32,
    /// The wait before the second attempt, where the server tells none. It
    /// doubles with each attempt.
    pub first_wait: Duration,
    /// The longest wait of our own.
    pub longest_wait: Duration,
    /// The longest wait that a server may ask for. To ask before is in vain,
    /// so a longer one is left to the person.
    pub longest_told: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            attempts: 5,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(30),
            longest_told: Duration::from_mins(2),
        }
    }
}

/// What follows a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Once more, after this wait.
    After(Duration),
    /// The error stands.
    No,
}

impl Policy {
    /// What follows this error of that attempt (from 1). `arrived` tells
    /// whether any text or reasoning has come; `chance`, from 0 to 1, spreads
    /// the waits of many clients over the upper half of each.
    #[must_use]
    pub fn decide(&self, error: &ModelError, attempt: u32, arrived: bool, chance: f64) -> Retry {
        if arrived || attempt >= self.attempts {
            return Retry::No;
        }
        let told = match error {
            ModelError::RateLimited { wait, .. } | ModelError::Overloaded { wait, .. } => *wait,
            ModelError::Network { fault, .. } if *fault != NetworkFault::Tls => None,
            ModelError::StreamEnded { .. }
            | ModelError::Timeout {
                limit: TimeLimit::Connect,
                ..
            } => None,
            _ => return Retry::No,
        };
        match told {
            Some(wait) if wait > self.longest_told => Retry::No,
            Some(wait) => Retry::After(wait),
            None => Retry::After(self.own_wait(attempt, chance)),
        }
    }

    fn own_wait(&self, attempt: u32, chance: f64) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
        let wait = self.first_wait.saturating_mul(doubled);
        let share = 0.5 + chance.clamp(0.0, 1.0) / 2.0;
        wait.min(self.longest_wait).mul_f64(share)
    }
}

/// The answer of the first attempt that is not to be made again. Each wait is
/// told by [`Delta::Waiting`] as it begins. Dropping the stream ends all.
///
/// `attempt` makes one attempt; it is called for the first one too, when the
/// stream is polled first.
pub fn answers(
    policy: Policy,
    attempt: impl FnMut() -> AnswerStream + Send + 'static,
    chance: impl Fn() -> f64 + Send + 'static,
) -> AnswerStream {
    let state = Attempts {
        policy,
        attempt,
        chance,
        number: 1,
        arrived: false,
        phase: Phase::Start(Duration::ZERO),
    };
    stream::unfold(state, Attempts::next).boxed()
}

struct Attempts<A, C> {
    policy: Policy,
    attempt: A,
    chance: C,
    number: u32,
    arrived: bool,
    phase: Phase,
}

enum Phase {
    /// An attempt begins after this wait.
    Start(Duration),
    Going(AnswerStream),
    Over,
}

impl<A, C> Attempts<A, C>
where
    A: FnMut() -> AnswerStream,
    C: Fn() -> f64,
{
    async fn next(mut self) -> Option<(Result<Delta, ModelError>, Self)> {
        if let Phase::Start(wait) = self.phase {
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            self.phase = Phase::Going((self.attempt)());
        }
        let Phase::Going(answer) = &mut self.phase else {
            return None;
        };
        let item = match answer.next().await? {
            Ok(delta) => {
                self.arrived |= matches!(delta, Delta::Text(_) | Delta::Reasoning(_));
                Ok(delta)
            }
            Err(error) => self.failed(error),
        };
        Some((item, self))
    }

    fn failed(&mut self, error: ModelError) -> Result<Delta, ModelError> {
        let chance = (self.chance)();
        match self
            .policy
            .decide(&error, self.number, self.arrived, chance)
        {
            Retry::No => {
                self.phase = Phase::Over;
                Err(error)
            }
            Retry::After(wait) => {
                let waiting = Waiting {
                    attempt: self.number,
                    wait,
                    code: error.code(),
                    why: error.without_asking_again(),
                };
                self.number += 1;
                self.phase = Phase::Start(wait);
                Ok(Delta::Waiting(waiting))
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
