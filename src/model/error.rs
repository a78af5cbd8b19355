//! What can go wrong with a model, with stable codes.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

use crate::figures;
use crate::reference::Cause;

/// Why a model can't be looked up, or gave no whole answer.
///
/// Words of a server are in none of them as they came: they were cleaned,
/// cut and freed of the key first.
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
        "the answer of model {model:?} ({provider:?}) broke off before its end; {}",
        WHOLE_ONE
    )]
    StreamEnded {
        /// The provider's name.
        provider: String,
        /// The model's id.
        model: String,
    },
    /// The server ended an answer in the middle, with words and no reason that
    /// is known.
    #[error("{0}; ask again for a whole one")]
    BrokeOff(Box<Told>),
    /// The provider's settings can't be used: its address, certificate file,
    /// proxy or headers.
    #[error("the settings of provider {provider:?} can't be used: {what}")]
    Endpoint {
        /// The provider's name.
        provider: String,
        /// What is wrong, and with which setting.
        what: String,
    },
    /// The provider's key could not be had.
    #[error("there is no key for provider {provider:?}: {cause}")]
    Key {
        /// The provider's name.
        provider: String,
        /// Why.
        cause: Cause,
    },
    /// The server does not know the key, or does not allow it this.
    #[error("{0}; check the key and what it is allowed")]
    Auth(Box<Told>),
    /// The server has no such model or address.
    #[error("{0}; check the model's name and the provider's address")]
    Missing(Box<Told>),
    /// The request is longer than the model takes.
    #[error("{0}; cite less, compact the session, or choose a model with a larger window")]
    TooLong(Box<Told>),
    /// Too many requests, or too many tokens, for now.
    #[error("{told}; {}", when(*wait))]
    RateLimited {
        /// What the server told.
        told: Box<Told>,
        /// How long it asks to wait.
        wait: Option<Duration>,
    },
    /// The account has nothing left to pay with.
    #[error("{0}; see to the account's credit, or choose another provider")]
    Quota(Box<Told>),
    /// The server has too much to do, or failed within.
    #[error("{told}; {}", when(*wait))]
    Overloaded {
        /// What the server told.
        told: Box<Told>,
        /// How long it asks to wait.
        wait: Option<Duration>,
    },
    /// The model or its provider's filter would not answer.
    #[error("{0}; say it in another way, or choose another model")]
    Refused(Box<Told>),
    /// The server can't make anything of the request.
    #[error("{0}; check the provider's settings")]
    Rejected(Box<Told>),
    /// The server could not be reached, or the connection broke.
    #[error("{fault} of provider {provider:?}: {what}; {}", fault.advice())]
    Network {
        /// The provider's name.
        provider: String,
        /// What failed.
        fault: NetworkFault,
        /// What the system told of it.
        what: String,
    },
    /// A time limit of the settings was reached.
    #[error(
        "provider {provider:?} took longer than {} s {limit}; \
         ask again, or raise {:?} in the settings",
        after.as_secs_f64(), limit.setting()
    )]
    Timeout {
        /// The provider's name.
        provider: String,
        /// Which limit.
        limit: TimeLimit,
        /// The limit itself.
        after: Duration,
    },
    /// What the server sent is no answer.
    #[error("{0}; check that the provider's address and kind are right")]
    BadResponse(Box<Told>),
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

/// What a server told of a request that it did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The provider's name.
    pub provider: String,
    /// The model's id; `None` where the request was for no model.
    pub model: Option<String>,
    /// The status of the response; `None` for an error within an answer.
    pub status: Option<u16>,
    /// Its words, cleaned and cut.
    pub message: String,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.model {
            Some(model) => write!(f, "model {model:?} ({:?})", self.provider)?,
            None => write!(f, "provider {:?}", self.provider)?,
        }
        match self.status {
            Some(status) => write!(f, " did not answer (status {status})")?,
            None => f.write_str(" gave no whole answer")?,
        }
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        Ok(())
    }
}

/// What failed on the way to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NetworkFault {
    /// The server's name has no address.
    Name,
    /// No connection could be made.
    Connect,
    /// The connection could not be made secure.
    Tls,
    /// The connection broke.
    Broken,
}

impl NetworkFault {
    fn advice(self) -> &'static str {
        match self {
            Self::Name => "check the address and the network",
            Self::Connect => "check that the server runs, the address and the proxy",
            Self::Tls => "check the clock, the certificates and \"ca-file\"",
            Self::Broken => "ask again",
        }
    }
}

impl fmt::Display for NetworkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "nobody knows the host",
            Self::Connect => "there is no way to the server",
            Self::Tls => "there is no secure connection to the server",
            Self::Broken => "the connection broke to the server",
        })
    }
}

/// A time limit of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeLimit {
    /// For making a connection.
    Connect,
    /// For the next piece of an answer.
    Idle,
    /// For a whole answer, waiting and trying again included.
    Total,
}

impl TimeLimit {
    /// The name of the setting.
    #[must_use]
    pub fn setting(self) -> &'static str {
        match self {
            Self::Connect => "connect-timeout",
            Self::Idle => "idle-timeout",
            Self::Total => "total-timeout",
        }
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "to connect",
            Self::Idle => "to send anything",
            Self::Total => "for the whole answer",
        })
    }
}

impl ModelError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoAdapter { .. } => "NO_ADAPTER",
            Self::NotFound { .. } | Self::Missing(_) => "MODEL_NOT_FOUND",
            Self::StreamEnded { .. } | Self::BrokeOff(_) => "MODEL_STREAM_ENDED",
            Self::Endpoint { .. } => "MODEL_ENDPOINT",
            Self::Key { .. } => "MODEL_KEY",
            Self::Auth(_) => "MODEL_AUTH",
            Self::TooLong(_) => "MODEL_TOO_LONG",
            Self::RateLimited { .. } => "MODEL_RATE_LIMITED",
            Self::Quota(_) => "MODEL_QUOTA",
            Self::Overloaded { .. } => "MODEL_OVERLOADED",
            Self::Refused(_) => "MODEL_REFUSED",
            Self::Rejected(_) => "MODEL_REJECTED",
            Self::Network { .. } => "MODEL_NETWORK",
            Self::Timeout { .. } => "MODEL_TIMEOUT",
            Self::BadResponse(_) => "MODEL_BAD_RESPONSE",
            Self::Failed { .. } => "MODEL_FAILED",
        }
    }

    /// What happened, for somebody who need not ask again, as that is done for
    /// them.
    #[must_use]
    pub fn without_asking_again(&self) -> String {
        let whole = self.to_string();
        let advice = match self {
            Self::RateLimited { wait, .. } | Self::Overloaded { wait, .. } => when(*wait),
            Self::StreamEnded { .. } => WHOLE_ONE.to_owned(),
            Self::Network { fault, .. } if *fault == NetworkFault::Broken => {
                fault.advice().to_owned()
            }
            _ => return whole,
        };
        let happened = whole.strip_suffix(&advice);
        let happened = happened.and_then(|happened| happened.strip_suffix("; "));
        happened.unwrap_or(&whole).to_owned()
    }
}

/// What to do about an answer that broke off.
const WHOLE_ONE: &str = "ask again for a whole one";

fn when(wait: Option<Duration>) -> String {
    match wait {
        Some(wait) => format!("ask again in {}", figures::wait(wait)),
        None => "ask again later".to_owned(),
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
