//! Requests to one server, and what becomes of them.
//!
//! Every limit and every error is told apart here. No redirect is followed: a
//! key goes to the host that the settings name, and to no other.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, StatusCode};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::connect;
use super::redact::Redactor;
use super::verdict::{Report, Verdict};
use super::{Endpoint, ModelError, NetworkFault, TimeLimit, Told, wait};

/// The most bytes of an error's or a list's body.
const MAX_BODY: usize = 16 * 1024 * 1024;
/// The most bytes that are read of an error.
const MAX_ERROR: usize = 64 * 1024;

/// A server that can be asked.
#[derive(Debug)]
pub(super) struct Server {
    client: Client,
    endpoint: Endpoint,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Server {
    /// Reads the system's certificates, so this is off the async threads.
    pub(super) fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        let headers = connect::headers(&endpoint)?;
        let client = connect::client(&endpoint)?;
        Ok(Self {
            client,
            endpoint,
            headers,
        })
    }

    /// Posts a body, and gives the response once it begins with success.
    pub(super) async fn post(
        &self,
        path: &str,
        body: Bytes,
        model: Option<&str>,
    ) -> Result<Incoming, ModelError> {
        self.send(Method::POST, path, Some(body), model).await
    }

    /// Gets what is at a path, as JSON.
    pub(super) async fn get_json(&self, path: &str) -> Result<Value, ModelError> {
        let response = self.send(Method::GET, path, None, None).await?;
        response.json().await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
        model: Option<&str>,
    ) -> Result<Incoming, ModelError> {
        let mut context = Context {
            provider: self.endpoint.name.clone(),
            model: model.map(str::to_owned),
            redactor: Redactor::default(),
            connect_timeout: self.endpoint.connect_timeout,
        };
        let url = format!("{}/{path}", self.endpoint.base_url.trim_end_matches('/'));
        let mut request = self.client.request(method, url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        for (_, value) in &self.endpoint.headers {
            context.redactor.add(value.expose_secret());
        }
        if let Some(key) = self.endpoint.get_key().await? {
            context.redactor.add(key.expose_secret());
            let (name, value) = connect::key_header(&self.endpoint, &key)?;
            request = request.header(name, value);
        }
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let idle = self.endpoint.idle_timeout;
        let response = match tokio::time::timeout(idle, request.send()).await {
            Err(_) => return Err(context.timeout(TimeLimit::Idle, idle)),
            Ok(sent) => sent.map_err(|error| context.network(error))?,
        };
        let incoming = Incoming {
            response,
            idle,
            context,
        };
        if incoming.response.status().is_success() {
            return Ok(incoming);
        }
        Err(incoming.refusal().await)
    }
}

/// A response on its way in.
#[derive(Debug)]
pub(super) struct Incoming {
    response: Response,
    idle: Duration,
    pub(super) context: Context,
}

impl Incoming {
    /// The next bytes; `None` at the end.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, ModelError> {
        match tokio::time::timeout(self.idle, self.response.chunk()).await {
            Err(_) => Err(self.context.timeout(TimeLimit::Idle, self.idle)),
            Ok(chunk) => chunk.map_err(|error| self.context.network(error)),
        }
    }

    /// The whole body as JSON.
    pub(super) async fn json(mut self) -> Result<Value, ModelError> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if body.len() + chunk.len() > MAX_BODY {
                let report = Report::garbage(format!("it sent more than {MAX_BODY} bytes"));
                return Err(self.context.error(&report));
            }
            body.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&body).map_err(|_| {
            let report = Report::garbage("it sent something else than JSON");
            self.context.error(&report)
        })
    }

    /// The error that a response without success tells.
    async fn refusal(mut self) -> ModelError {
        let status = self.response.status();
        let headers = self.response.headers();
        let header = |name: &str| headers.get(name)?.to_str().ok();
        let wait = wait::told(header, Timestamp::now());
        if let Some(to) = header(LOCATION.as_str()).filter(|_| status.is_redirection()) {
            let report = Report {
                status: Some(status.as_u16()),
                ..Report::new(
                    Verdict::Rejected,
                    format!("it redirects to {to}, which is not followed"),
                )
            };
            return self.context.error(&report);
        }
        let mut body = Vec::new();
        // An error that is cut or never comes still has its status.
        while let Ok(Some(chunk)) = self.chunk().await {
            let room = MAX_ERROR.saturating_sub(body.len());
            body.extend(chunk.iter().take(room));
            if room <= chunk.len() {
                break;
            }
        }
        let mut report = Report::of_response(status.as_u16(), &String::from_utf8_lossy(&body));
        if report.message.trim().is_empty() {
            reason(status).clone_into(&mut report.message);
        }
        report.wait = wait.or(report.wait);
        self.context.error(&report)
    }
}

fn reason(status: StatusCode) -> &'static str {
    status.canonical_reason().unwrap_or_default()
}

/// Whom a request is for, to tell of it what went wrong.
#[derive(Debug)]
pub(super) struct Context {
    provider: String,
    model: Option<String>,
    redactor: Redactor,
    connect_timeout: Duration,
}

impl Context {
    /// The error that a server's report amounts to.
    pub(super) fn error(&self, report: &Report) -> ModelError {
        let told = Box::new(Told {
            provider: self.provider.clone(),
            model: self.model.clone(),
            status: report.status,
            message: self.redactor.clean(&report.message),
        });
        let wait = report.wait;
        match report.verdict {
            Verdict::Auth => ModelError::Auth(told),
            Verdict::Missing => ModelError::Missing(told),
            Verdict::TooLong => ModelError::TooLong(told),
            Verdict::RateLimited => ModelError::RateLimited { told, wait },
            Verdict::Quota => ModelError::Quota(told),
            Verdict::Overloaded => ModelError::Overloaded { told, wait },
            Verdict::Refused => ModelError::Refused(told),
            Verdict::Rejected => ModelError::Rejected(told),
            Verdict::BrokeOff => ModelError::BrokeOff(told),
            Verdict::Garbage => ModelError::BadResponse(told),
        }
    }

    /// The answer stopped before its end.
    pub(super) fn ended(&self) -> ModelError {
        ModelError::StreamEnded {
            provider: self.provider.clone(),
            model: self.model.clone().unwrap_or_default(),
        }
    }

    fn timeout(&self, limit: TimeLimit, after: Duration) -> ModelError {
        ModelError::Timeout {
            provider: self.provider.clone(),
            limit,
            after,
        }
    }

    fn network(&self, error: reqwest::Error) -> ModelError {
        if error.is_timeout() && error.is_connect() {
            return self.timeout(TimeLimit::Connect, self.connect_timeout);
        }
        // The address is left out: it tells nothing new.
        let error = error.without_url();
        let (fault, what) = fault(&error);
        ModelError::Network {
            provider: self.provider.clone(),
            fault,
            what: self.redactor.clean(&what),
        }
    }
}

/// What failed, and what is told of it.
fn fault(error: &reqwest::Error) -> (NetworkFault, String) {
    // The innermost cause is the one that tells; those around it repeat that a
    // request failed.
    let mut innermost: &(dyn Error + 'static) = error;
    let mut is_name = false;
    while let Some(source) = innermost.source() {
        if let Some(tls) = tls_within(source) {
            return (NetworkFault::Tls, tls_words(tls));
        }
        // The client has no type for it.
        is_name |= source.to_string() == "dns error";
        innermost = source;
    }
    let fault = match () {
        () if is_name => NetworkFault::Name,
        () if error.is_connect() => NetworkFault::Connect,
        () => NetworkFault::Broken,
    };
    (fault, innermost.to_string())
}

/// The failure of TLS in an error. Each layer may have wrapped it as an error
/// of input or output, whose `source` passes over what it holds.
fn tls_within<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    let io = || error.downcast_ref::<std::io::Error>()?.get_ref();
    error
        .downcast_ref()
        .or_else(|| tls_within(io()? as &(dyn Error + 'static)))
}

/// What is wrong with a certificate, for people who have to see to it.
fn tls_words(error: &rustls::Error) -> String {
    use rustls::CertificateError as Wrong;
    let words = match error {
        // The latter is an authority of the same name as one that is trusted.
        rustls::Error::InvalidCertificate(Wrong::UnknownIssuer | Wrong::BadSignature) => {
            "its certificate is vouched for by nobody that is trusted here"
        }
        rustls::Error::InvalidCertificate(Wrong::Expired | Wrong::ExpiredContext { .. }) => {
            "its certificate is no longer valid"
        }
        rustls::Error::InvalidCertificate(
            Wrong::NotValidYet | Wrong::NotValidYetContext { .. },
        ) => "its certificate is not valid yet",
        rustls::Error::InvalidCertificate(
            Wrong::NotValidForName | Wrong::NotValidForNameContext { .. },
        ) => "its certificate is for another name",
        other => return other.to_string(),
    };
    words.to_owned()
}
