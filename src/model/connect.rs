//! The HTTP client of one endpoint, made of its settings.

use std::sync::Arc;

use reqwest::header::{HeaderName, HeaderValue, InvalidHeaderValue};
use reqwest::{Client, NoProxy, Proxy, Url, redirect};
use rustls::ClientConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls_platform_verifier::Verifier;
use secrecy::{ExposeSecret, SecretString};
use url::Host;

use super::{Endpoint, ModelError};

/// How requests say who sends them.
const USER_AGENT: &str = concat!("ibid/", env!("CARGO_PKG_VERSION"));

/// Checks what can be checked without asking anyone or reading certificates.
pub(super) fn check(endpoint: &Endpoint) -> Result<(), ModelError> {
    base_url(endpoint)?;
    headers(endpoint)?;
    proxy(endpoint)?;
    Ok(())
}

/// The client. Its certificates are the system's, and those of the settings.
pub(super) fn client(endpoint: &Endpoint) -> Result<Client, ModelError> {
    let mut builder = Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(endpoint.connect_timeout)
        .redirect(redirect::Policy::none())
        .tls_backend_preconfigured(tls(endpoint)?);
    builder = match (&endpoint.proxy, proxy(endpoint)?) {
        (_, Some(proxy)) => builder.proxy(proxy),
        (Some(_), None) => builder.no_proxy(),
        // What is said to a server on this machine stays on it, whatever the
        // environment says: it is seldom meant for such an address.
        (None, None) if is_here(&base_url(endpoint)?) => builder.no_proxy(),
        (None, None) => builder,
    };
    builder.build().map_err(|error| {
        let error = error.without_url();
        wrong(endpoint, format!("no client can be made: {error}"))
    })
}

fn wrong(endpoint: &Endpoint, what: impl Into<String>) -> ModelError {
    ModelError::Endpoint {
        provider: endpoint.name.clone(),
        what: what.into(),
    }
}

fn base_url(endpoint: &Endpoint) -> Result<Url, ModelError> {
    // It may hold a password or a key, so it is not repeated.
    let url = Url::parse(&endpoint.base_url)
        .map_err(|error| wrong(endpoint, format!("\"base-url\" is no address ({error})")))?;
    if !url.username().is_empty() || url.password().is_some() {
        let what = "\"base-url\" holds a name or a password; set a header instead";
        return Err(wrong(endpoint, what));
    }
    if !matches!(url.scheme(), "http" | "https") || url.query().is_some() {
        let what = "\"base-url\" must be an address with http or https, without \"?\"";
        return Err(wrong(endpoint, what));
    }
    Ok(url)
}

/// Whether an address is one of this machine itself.
fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        None => false,
    }
}

/// The endpoint's further headers. They are never shown.
pub(super) fn headers(endpoint: &Endpoint) -> Result<Vec<(HeaderName, HeaderValue)>, ModelError> {
    let headers = endpoint.headers.iter().map(|(name, value)| {
        let parsed = HeaderName::try_from(name.as_str())
            .map_err(|_| wrong(endpoint, format!("{name:?} is no name of a header")))?;
        let value = secret_value(value.expose_secret().to_owned())
            .map_err(|_| wrong(endpoint, format!("the value of header {name:?} is none")))?;
        Ok((parsed, value))
    });
    let fixed = endpoint.api.fixed_headers().into_iter().map(Ok);
    // Those of the settings come first: a proxy may want another version.
    let mut all: Vec<(HeaderName, HeaderValue)> = Vec::new();
    for header in headers.chain(fixed) {
        let (name, value) = header?;
        if all.iter().all(|(known, _)| *known != name) {
            all.push((name, value));
        }
    }
    Ok(all)
}

/// The header that holds the key.
pub(super) fn key_header(
    endpoint: &Endpoint,
    key: &SecretString,
) -> Result<(&'static str, HeaderValue), ModelError> {
    let (name, before) = endpoint.api.key_header();
    // Keys from files and commands end with a line feed.
    let value = secret_value(format!("{before}{}", key.expose_secret().trim()));
    let value = value.map_err(|_| ModelError::Key {
        provider: endpoint.name.clone(),
        cause: Arc::new(UnfitKey),
    })?;
    Ok((name, value))
}

#[derive(Debug, thiserror::Error)]
#[error("it holds characters that no key has, such as a line feed; set it anew")]
struct UnfitKey;

fn secret_value(value: String) -> Result<HeaderValue, InvalidHeaderValue> {
    let mut value = HeaderValue::try_from(value)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The proxy of the settings, which stays away from the hosts of `NO_PROXY`.
fn proxy(endpoint: &Endpoint) -> Result<Option<Proxy>, ModelError> {
    let Some(address) = endpoint.proxy.as_deref().filter(|a| !a.is_empty()) else {
        return Ok(None);
    };
    // The address may hold a password, so it is not repeated.
    let proxy =
        Proxy::all(address).map_err(|_| wrong(endpoint, "\"proxy\" is no address of a proxy"))?;
    Ok(Some(proxy.no_proxy(NoProxy::from_env())))
}

fn tls(endpoint: &Endpoint) -> Result<ClientConfig, ModelError> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(endpoint, format!("TLS can't be set up: {error}")))?;
    let verifier = verifier(endpoint, provider);
    Ok(match verifier {
        Ok(verifier) => config
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth(),
        // A machine without certificates can still talk to itself.
        Err(_) if endpoint.ca_file.is_none() && !needs_tls(endpoint) => config
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth(),
        Err(error) => return Err(error),
    })
}

fn needs_tls(endpoint: &Endpoint) -> bool {
    let proxy = endpoint.proxy.as_deref().unwrap_or_default();
    [&endpoint.base_url, proxy]
        .iter()
        .any(|url| url.to_ascii_lowercase().starts_with("https:"))
}

fn verifier(endpoint: &Endpoint, provider: Arc<CryptoProvider>) -> Result<Verifier, ModelError> {
    let mut extra = Vec::new();
    if let Some(path) = &endpoint.ca_file {
        let unread =
            |why: String| wrong(endpoint, format!("\"ca-file\" {}: {why}", path.display()));
        let certificates = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| unread(error.to_string()))?;
        if certificates.is_empty() {
            return Err(unread("it holds no certificate in PEM form".to_owned()));
        }
        extra = certificates;
    }
    Verifier::new_with_extra_roots(extra, provider).map_err(|error| {
        wrong(
            endpoint,
            format!("there are no certificates to trust ({error}); set \"ca-file\""),
        )
    })
}
