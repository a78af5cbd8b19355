//! What can go wrong while citing, with stable codes.

use std::error::Error;
use std::sync::Arc;

use thiserror::Error;

use crate::session::SessionId;

/// A cause from behind one of the ports, shared so that errors stay cheap to
/// pass around.
pub type Cause = Arc<dyn Error + Send + Sync>;

/// Why a reference can't be prepared. Nothing is published then.
#[derive(Clone, Debug, Error)]
pub enum ReferenceError {
    /// A setting is out of its range.
    #[error("invalid session reference setting {setting}: {problem}")]
    InvalidConfig {
        /// The setting's name.
        setting: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A URI that is not in canonical form.
    #[error(
        "invalid session reference URI {uri:?}: {problem}; pick the session again with @ to get a fresh one"
    )]
    InvalidUri {
        /// The URI as it was found, cut when very long.
        uri: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A candidate limit of zero.
    #[error("invalid session reference limit 0: ask for at least one candidate")]
    InvalidLimit,
    /// A session that cites itself.
    #[error("session {session_id:?} can't cite itself; remove the mention of it")]
    SelfReference {
        /// The target.
        session_id: SessionId,
    },
    /// More distinct sessions than one message may cite.
    #[error("{found} sessions are cited, and a message can cite {max}; remove {}", found - max)]
    TooMany {
        /// How many distinct ones there are.
        found: usize,
        /// How many there may be.
        max: usize,
    },
    /// A source could not be read.
    #[error("session {} can't be read: {cause}", named(label, session_id))]
    ReadFailed {
        /// The source.
        session_id: SessionId,
        /// How the message names it.
        label: String,
        /// Why.
        #[source]
        cause: Cause,
    },
    /// The sessions could not be listed.
    #[error("sessions can't be listed: {cause}")]
    ListFailed {
        /// Why.
        #[source]
        cause: Cause,
    },
    /// Even the fixed part of a source's data is over the budget.
    #[error(
        "a budget of {budget} bytes is too small to cite {}: \
         without any text it takes {needed} bytes; raise the budget or remove the mention",
        named(label, session_id)
    )]
    BudgetExceeded {
        /// The source.
        session_id: SessionId,
        /// How the message names it.
        label: String,
        /// The budget in bytes.
        budget: u64,
        /// What the source takes with all its text gone, in bytes.
        needed: u64,
    },
    /// The person, or the program, called it off.
    #[error("citing was cancelled; nothing was sent")]
    Cancelled,
    /// The look-up of the model failed; passed on as it is.
    #[error(transparent)]
    ModelLookup(Cause),
}

/// How messages name a source: by its label, and by its id where that says
/// more.
fn named(label: &str, id: &SessionId) -> String {
    if label == id.as_str() {
        format!("{id:?}")
    } else {
        format!("{label:?} ({id:?})")
    }
}

impl ReferenceError {
    /// The stable code; `None` for a model error, which has a code of its own.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        Some(match self {
            Self::InvalidConfig { .. } => "SESSION_REFERENCE_INVALID_CONFIG",
            Self::InvalidUri { .. } | Self::InvalidLimit => "SESSION_REFERENCE_INVALID_REFERENCE",
            Self::SelfReference { .. } => "SESSION_REFERENCE_SELF_REFERENCE",
            Self::TooMany { .. } => "SESSION_REFERENCE_TOO_MANY",
            Self::ReadFailed { .. } | Self::ListFailed { .. } => "SESSION_REFERENCE_READ_FAILED",
            Self::BudgetExceeded { .. } => "SESSION_REFERENCE_BUDGET_EXCEEDED",
            Self::Cancelled => "SESSION_REFERENCE_CANCELLED",
            Self::ModelLookup(_) => return None,
        })
    }
}
