//! Which sessions are offered, under which names, in which order.
//!
//! A [`SessionDirectory`](ibid::reference::ports::SessionDirectory) gives
//! headers and known titles and has no way to open a log, so that no log is
//! read is a fact of the types.

use ibid::reference::discovery::{Candidate, list_candidates, remote_candidates};
use ibid::reference::mention::{self, Reference};
use ibid::reference::ports::{KnownTitle, ListedSession};
use ibid::reference::resolver::RouteChoice;
use ibid::reference::{ReferenceConfig, ReferenceSettings, Target};
use ibid::session::{Header, Millis, SessionId, Title, TitleSource};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::code;
use crate::support::ports::{Gate, Listing};
use crate::support::sessions::{append, session_in};

fn target(cwd: Option<&str>) -> Target {
    Target {
        id: "target".into(),
        cwd: cwd.map(str::to_owned),
        route: RouteChoice::Own(None),
    }
}

fn header(id: &str, cwd: Option<&str>, created_at: i64) -> Header {
    Header::new(id, Millis(created_at), cwd.map(str::to_owned))
}

/// A session that is open here.
fn live(id: &str, cwd: Option<&str>, created_at: i64, title: Option<&str>) -> ListedSession {
    ListedSession {
        header: header(id, cwd, created_at),
        title: KnownTitle::Live(title.map(str::to_owned)),
    }
}

fn candidate(id: &str, label: &str, cwd: Option<&str>, same: bool, created_at: i64) -> Candidate {
    Candidate {
        session_id: id.into(),
        label: label.to_owned(),
        display_title: None,
        cwd: cwd.map(str::to_owned),
        same_workspace: same,
        created_at: Millis(created_at),
    }
}

async fn list(sessions: &[ListedSession], target: &Target, query: &str) -> Vec<Candidate> {
    list_at_most(sessions, target, query, 50).await
}

async fn list_at_most(
    sessions: &[ListedSession],
    target: &Target,
    query: &str,
    limit: usize,
) -> Vec<Candidate> {
    let listing = Listing {
        sessions: sessions.to_vec(),
        gate: None,
    };
    let cancel = CancellationToken::new();
    list_candidates(&listing, target, query, limit, &cancel)
        .await
        .unwrap()
}

#[tokio::test]
async fn candidates_are_matched_first_then_ranked_by_directory_and_age() {
    let target = target(Some("/same"));
    let sessions = [
        live("target", Some("/same"), 10, None),
        live("other", Some("/else"), 40, None),
        live("none", None, 30, None),
        live("same", Some("/same"), 20, None),
        live("same-later", Some("/same"), 25, Some("Latest title")),
    ];
    let later = candidate("same-later", "Latest title", Some("/same"), true, 25);
    let other = candidate("other", "other", Some("/else"), false, 40);
    assert_eq!(
        list(&sessions, &target, "").await,
        [
            later.clone(),
            candidate("same", "same", Some("/same"), true, 20),
            candidate("none", "none", None, false, 30),
            other.clone(),
        ]
    );
    // Ranked first, "other" would fall to the limit.
    assert_eq!(list_at_most(&sessions, &target, "els", 1).await, [other]);
    assert_eq!(list_at_most(&sessions, &target, "LATEST", 1).await, [later]);

    let gate = Gate::shut();
    let hanging = Listing {
        sessions: Vec::new(),
        gate: Some(gate.clone()),
    };
    let cancel = CancellationToken::new();
    let refused = list_candidates(&hanging, &target, "", 0, &cancel).await;
    assert_eq!(code(refused), "SESSION_REFERENCE_INVALID_REFERENCE");

    let pending = list_candidates(&hanging, &target, "", 50, &cancel);
    let (cancelled, ()) = tokio::join!(pending, async {
        gate.reached().await;
        cancel.cancel();
    });
    assert_eq!(code(cancelled), "SESSION_REFERENCE_CANCELLED");
}

#[tokio::test]
async fn a_live_session_goes_by_its_current_title() {
    // Renamed while the durable cache still holds the old title.
    let mut session = session_in("live", "/same");
    append(
        &mut session,
        Title::event("Old title", TitleSource::Fallback),
    );
    append(
        &mut session,
        Title::event("Renamed mid turn", TitleSource::Person),
    );
    let listed = [ListedSession {
        header: session.header().clone(),
        title: KnownTitle::Live(session.title().map(|title| title.text.clone())),
    }];
    let target = target(Some("/same"));
    assert_eq!(
        list(&listed, &target, "renamed").await,
        [candidate(
            "live",
            "Renamed mid turn",
            Some("/same"),
            true,
            1
        )]
    );
    assert_eq!(list(&listed, &target, "old title").await, []);
}

#[tokio::test]
async fn a_stored_session_goes_by_its_cached_title() {
    let cold = ListedSession {
        header: header("cold", Some("/same"), 10),
        title: KnownTitle::Cached("Cold checkpoint".to_owned()),
    };
    assert_eq!(
        list(&[cold], &target(Some("/same")), "checkpoint").await,
        [candidate(
            "cold",
            "Cold checkpoint",
            Some("/same"),
            true,
            10
        )]
    );
}

#[tokio::test]
async fn a_seeded_session_goes_by_its_id_whatever_the_cache_says() {
    let seeded = [ListedSession {
        header: Header {
            version: 0,
            is_seeded: Some(true),
            ..header("seeded", Some("/same"), 10)
        },
        title: KnownTitle::Cached("Unsafe title".to_owned()),
    }];
    let target = target(Some("/same"));
    assert_eq!(
        list(&seeded, &target, "").await,
        [candidate("seeded", "seeded", Some("/same"), true, 10)]
    );
    // So its own title can't find it.
    assert_eq!(list(&seeded, &target, "unsafe").await, []);
}

#[tokio::test]
async fn every_session_goes_by_its_id_when_nobody_knows_titles() {
    let other = ListedSession {
        header: header("other", Some("/same"), 1),
        title: KnownTitle::Unknown,
    };
    assert_eq!(
        list(&[other], &target(Some("/same")), "").await,
        [candidate("other", "other", Some("/same"), true, 1)]
    );
}

#[tokio::test]
async fn other_programs_get_the_configured_number_each_with_its_mention() {
    let listing = Listing {
        sessions: vec![
            live("source]", Some("/same"), 20, None),
            live("one too many", Some("/same"), 19, None),
        ],
        gate: None,
    };
    let config = ReferenceConfig::new(ReferenceSettings {
        candidate_limit: Some(1),
        ..ReferenceSettings::default()
    });
    let (config, cancel) = (config.unwrap(), CancellationToken::new());
    let target = target(Some("/same"));
    let candidates = remote_candidates(&listing, &config, &target, "", &cancel).await;
    let id = SessionId::from("source]");
    assert_eq!(
        serde_json::to_value(candidates.unwrap()).unwrap(),
        json!([{
            "sessionId": "source]",
            "label": "source]",
            "cwd": "/same",
            "sameWorkspace": true,
            "createdAt": 20,
            "mention": mention::format(&Reference::new(id, None)),
        }])
    );
}

#[tokio::test]
async fn a_session_with_nothing_but_an_id_is_found_by_it() {
    let sessions = [live("source", None, 7, None)];
    assert_eq!(
        list(&sessions, &target(None), "source").await,
        [candidate("source", "source", None, false, 7)]
    );
}
