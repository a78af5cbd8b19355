//! What was asked of models, as the log tells it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Failure, REQUEST_HEADER};
use crate::model::{Purpose, Request, RequestConfig};
use crate::reference::ports::ModelRoute;
use crate::session::{Event, Message, Payload, Session};

/// What stands in the log where a model is asked. With the surface at that
/// place it gives the request, byte for byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestHeader {
    /// The turn that it is part of, from 1.
    pub turn: u64,
    header: Config,
    /// What is asked for.
    #[serde(default, skip_serializing_if = "Purpose::is_answer")]
    pub purpose: Purpose,
    /// How many messages of the surface are sent, from the first on; `None` for
    /// all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<usize>,
    /// What is sent behind them, and is no part of the conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
}

/// The place of the configuration in logs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Config {
    config: RequestConfig,
}

impl RequestHeader {
    /// A request for the next message of the conversation, with all of the
    /// surface.
    #[must_use]
    pub fn answer(turn: u64, config: RequestConfig) -> Self {
        Self {
            turn,
            header: Config { config },
            purpose: Purpose::Answer,
            surface: None,
            messages: Vec::new(),
        }
    }

    /// A request beside the conversation: the first so many messages of the
    /// surface, and behind them one that is no part of it.
    #[must_use]
    pub(super) fn beside(
        (turn, config): (u64, RequestConfig),
        purpose: Purpose,
        surface: usize,
        message: Message,
    ) -> Self {
        Self {
            purpose,
            surface: Some(surface),
            messages: vec![message],
            ..Self::answer(turn, config)
        }
    }

    /// Who is asked, and how.
    #[must_use]
    pub fn config(&self) -> &RequestConfig {
        &self.header.config
    }

    /// The event that tells of it.
    ///
    /// # Errors
    /// When it can't be written: nothing may be sent then that the log does not
    /// tell of.
    pub(super) fn event(&self) -> Result<Payload, Failure> {
        let data = serde_json::to_value(self).map_err(|error| Failure {
            code: "CHAT_REQUEST_UNWRITABLE".to_owned(),
            message: format!(
                "what model {:?} would be asked can't be written to the log ({error}); nothing \
                 was sent: choose another model (Ctrl-L)",
                self.config().model
            ),
        })?;
        Ok(Payload::log_only(REQUEST_HEADER, data))
    }

    /// The request, over the surface as it was when it was logged.
    #[must_use]
    pub fn request(&self, surface: &[Arc<Event>]) -> Request {
        let shown = self.surface.unwrap_or(usize::MAX);
        let said = surface.iter().take(shown);
        let said = said.filter_map(|event| event.message());
        Request {
            config: self.config().clone(),
            purpose: self.purpose,
            messages: said
                .chain(&self.messages)
                .map(|message| Arc::new(message.clone()))
                .collect(),
        }
    }
}

/// The model that was last asked for an answer.
#[must_use]
pub fn last_asked(session: &Session) -> Option<ModelRoute> {
    session.events().iter().rev().find_map(|event| {
        let Payload::LogOnly { kind, data } = &event.payload else {
            return None;
        };
        if kind != REQUEST_HEADER || !is_for_answer(data) {
            return None;
        }
        let word = |place| {
            data.pointer(place)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        Some(ModelRoute {
            provider: word("/header/config/provider")?,
            model: word("/header/config/model")?,
        })
    })
}

/// Whether an event's data is of a request for the next message of the
/// conversation, and not of one beside it.
#[must_use]
pub fn is_for_answer(header: &Value) -> bool {
    let purpose = header.get("purpose").map(Purpose::deserialize);
    purpose.is_none_or(|purpose| purpose.is_ok_and(|purpose| purpose.is_answer()))
}

/// Every request that a session's log tells of, in order. One that was made
/// again because it failed is told once. What another program wrote in another
/// way is left out.
#[must_use]
pub fn requests(session: &Session) -> Vec<Request> {
    let mut past = Session::new(session.header().clone());
    let mut requests = Vec::new();
    for event in session.events() {
        if let Payload::LogOnly { kind, data } = &event.payload
            && kind == REQUEST_HEADER
            && let Ok(header) = RequestHeader::deserialize(data)
        {
            let surface: Vec<_> = past.surface().map(Arc::clone).collect();
            requests.push(header.request(&surface));
        }
        past.skip_to(event.seq);
        // It was taken by a session once, so it is again.
        if past.push(Arc::clone(event)).is_err() {
            break;
        }
    }
    requests
}
