//! Connections over TLS: whom a provider trusts, and what is told when it
//! trusts nobody.

use std::path::PathBuf;

use ibid::model::{Api, Endpoint};

use super::support::{KEY, TEXT, Told, answer, ask, endpoint, framed, head, provider, request};
use crate::support::tls::{Authority, Kind, Site};

/// A response of success with the whole answer.
fn response() -> Vec<u8> {
    let (text, end) = answer(Api::OpenaiChat);
    let events = [text, end].concat();
    [head("200 OK", ""), framed(Api::OpenaiChat, &events, "\n")].concat()
}

/// An endpoint at this server under the name `localhost`.
fn at(site: &Site, ca_file: Option<PathBuf>) -> Endpoint {
    let (_, port) = site.address.rsplit_once(':').unwrap();
    let mut endpoint = endpoint(Api::OpenaiChat, &format!("https://localhost:{port}/v1"));
    endpoint.ca_file = ca_file;
    endpoint
}

/// Asks a server with a certificate file of this content.
async fn asked(site: &Site, ca: &str) -> Told {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.pem");
    std::fs::write(&file, ca).unwrap();
    ask(&provider(at(site, Some(file))), request()).await
}

/// Nothing was sent, nothing is tried again, and the error says what is wrong.
#[track_caller]
fn assert_refused(site: &Site, told: &Told, why: &str) {
    assert_eq!(
        (told.end.as_str(), told.text.as_str()),
        ("MODEL_NETWORK", "")
    );
    assert_eq!(told.waits, []);
    for words in ["no secure connection", why, "\"ca-file\""] {
        assert!(told.error.contains(words), "{}", told.error);
    }
    assert!(site.heads().is_empty());
}

#[tokio::test]
async fn an_authority_of_the_settings_is_trusted() {
    let authority = Authority::new();
    let site = Site::start(Kind::Tls(authority.vouch_for("localhost")), response());
    let told = asked(&site, &authority.pem()).await;
    assert_eq!(
        (told.end.as_str(), told.text.as_str()),
        ("stop", TEXT),
        "{}",
        told.error
    );
    let heads = site.heads();
    assert!(heads[0].contains(&format!("bearer {KEY}")), "{heads:?}");
}

#[tokio::test]
async fn a_certificate_that_nobody_known_vouches_for_is_refused_before_the_key_is_sent() {
    let site = Site::start(
        Kind::Tls(Authority::new().vouch_for("localhost")),
        response(),
    );
    let told = ask(&provider(at(&site, None)), request()).await;
    assert_refused(&site, &told, "vouched for by nobody that is trusted here");
    let told = asked(&site, &Authority::new().pem()).await;
    assert_refused(&site, &told, "vouched for by nobody that is trusted here");
}

#[tokio::test]
async fn a_certificate_for_another_name_or_another_time_is_refused() {
    let authority = Authority::new();
    let elsewhere = authority.vouch_for("elsewhere.example");
    let site = Site::start(Kind::Tls(elsewhere), response());
    let told = asked(&site, &authority.pem()).await;
    assert_refused(&site, &told, "its certificate is for another name");
    let site = Site::start(Kind::Tls(authority.vouched_for("localhost")), response());
    let told = asked(&site, &authority.pem()).await;
    assert_refused(&site, &told, "its certificate is no longer valid");
}

#[tokio::test]
async fn a_certificate_file_that_can_not_be_used_is_named() {
    let authority = Authority::new();
    let site = Site::start(Kind::Tls(authority.vouch_for("localhost")), response());
    let torn = authority.pem().replace("-----END", "");
    for content in ["", "no certificate", torn.as_str()] {
        let told = asked(&site, content).await;
        assert_eq!(told.end, "MODEL_ENDPOINT", "{content:?}");
        for words in ["\"ca-file\"", "own.pem"] {
            assert!(told.error.contains(words), "{}", told.error);
        }
    }
    let gone = at(&site, Some("/nowhere/ca.pem".into()));
    let told = ask(&provider(gone), request()).await;
    assert_eq!(told.end, "MODEL_ENDPOINT");
    assert!(told.error.contains("/nowhere/ca.pem"), "{}", told.error);
    assert!(site.heads().is_empty());
}
