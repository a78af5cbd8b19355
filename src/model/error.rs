//! What can go wrong with a model, with stable codes.

use thiserror::Error;

use crate::reference::Cause;

/// Why a model can't be looked up, or gave no whole answer.
#[derive(Clone, Debug, Error)]
pub enum ModelError {
    /// No provider of that name is there.
    #[error("there is no model provider {provider:?}; choose {}", one_of(known))]
    NoAdapter {
        /// The name asked for.
        provider: String,
        /// The names that there are, in order.
        known: Vec<String>,
    },
    /// The provider has no such model.
    #[error(
        "provider {provider:?} has no model {model:?}; choose {}",
        one_of(known)
    )]
    NotFound {
        /// The provider's name.
        provider: String,
        /// The model asked for.
        model: String,
        /// The ids of the models that it is known to have.
        known: Vec<String>,
    },
    /// The answer stopped coming before its end.
    #[error(
        "the answer of model {model:?} ({provider:?}) broke off before its end; \
         ask again for a whole one"
    )]
    StreamEnded {
        /// The provider's name.
        provider: String,
        /// The model's id.
        model: String,
    },
    /// Anything else that the provider met.
    #[error("model {model:?} ({provider:?}) failed: {cause}")]
    Failed {
        /// The provider's name.
        provider: String,
        /// The model's id.
        model: String,
        /// Why.
        cause: Cause,
    },
}

impl ModelError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoAdapter { .. } => "NO_ADAPTER",
            Self::NotFound { .. } => "MODEL_NOT_FOUND",
            Self::StreamEnded { .. } => "MODEL_STREAM_ENDED",
            Self::Failed { .. } => "MODEL_FAILED",
        }
    }
}

fn one_of(known: &[String]) -> String {
    match known {
        [] => "another one (none is known here)".to_owned(),
        [only] => format!("{only:?}"),
        _ => {
            let names: Vec<String> = known.iter().map(|name| format!("{name:?}")).collect();
            format!("one of {}", names.join(", "))
        }
    }
}
