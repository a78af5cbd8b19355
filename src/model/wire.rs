//! What is particular to each wire format, chosen by [`Api`].

use reqwest::header::{HeaderName, HeaderValue};

use super::decoder::Framing;
use super::reading::Reader;
use super::{Api, Request};
use super::{anthropic, gemini, ollama, openai_chat, openai_responses};

impl Api {
    /// The body of a request in this format.
    pub(super) fn body(self, request: &Request) -> Vec<u8> {
        match self {
            Self::OpenaiChat => openai_chat::body(request),
            Self::OpenaiResponses => openai_responses::body(request),
            Self::Anthropic => anthropic::body(request),
            Self::Gemini => gemini::body(request),
            Self::Ollama => ollama::body(request),
        }
    }

    /// The keys of a body that options never change.
    pub(crate) fn own_keys(self) -> &'static [&'static str] {
        match self {
            Self::OpenaiChat | Self::Anthropic | Self::Ollama => &["model", "messages", "stream"],
            Self::OpenaiResponses => &["model", "input", "stream"],
            Self::Gemini => &["contents"],
        }
    }

    /// The address of the request behind the endpoint's base URL.
    pub(super) fn path(self, model: &str) -> String {
        match self {
            Self::OpenaiChat => "chat/completions".to_owned(),
            Self::OpenaiResponses => "responses".to_owned(),
            Self::Anthropic => "v1/messages".to_owned(),
            Self::Gemini => gemini::path(model),
            Self::Ollama => "api/chat".to_owned(),
        }
    }

    /// The header that holds the key, and what is in front of the key in it.
    pub(super) fn key_header(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenaiChat | Self::OpenaiResponses | Self::Ollama => ("authorization", "Bearer "),
            Self::Anthropic => ("x-api-key", ""),
            Self::Gemini => ("x-goog-api-key", ""),
        }
    }

    /// Headers that each request has, whatever the settings.
    pub(super) fn fixed_headers(self) -> Vec<(HeaderName, HeaderValue)> {
        match self {
            Self::Anthropic => vec![(
                HeaderName::from_static("anthropic-version"),
                HeaderValue::from_static(anthropic::VERSION),
            )],
            _ => Vec::new(),
        }
    }

    pub(super) fn framing(self) -> Framing {
        match self {
            Self::Ollama => Framing::Lines,
            Self::OpenaiChat | Self::OpenaiResponses | Self::Anthropic | Self::Gemini => {
                Framing::Sse
            }
        }
    }

    pub(super) fn reader(self) -> Reader {
        match self {
            Self::OpenaiChat => openai_chat::read,
            Self::OpenaiResponses => openai_responses::read,
            Self::Anthropic => anthropic::read,
            Self::Gemini => gemini::read,
            Self::Ollama => ollama::read,
        }
    }
}
