//! Which models there are, and which one a session goes on with.

use std::sync::Arc;

use ibid::model::{Access, Api, Catalogue, Configured, Endpoint};
use ibid::reference::ports::ModelRoute;
use ibid::runtime::{Asked, Offered};

use super::*;
use crate::models::server::{Server, Step};
use crate::models::support::ok;

/// A provider of this name at an address.
fn configured(name: &str, url: &str) -> Arc<Configured> {
    let endpoint = Endpoint::new(name, Api::OpenaiChat, url);
    Arc::new(Configured::new(
        &endpoint,
        &Catalogue::default(),
        std::collections::BTreeMap::default(),
    ))
}

/// What a server answers that tells its models.
fn list(models: &str) -> Vec<Step> {
    ok(models.as_bytes().to_vec())
}

impl Bench {
    fn with_models(place: &Place, models: Models) -> Self {
        let (slot, file, _) = begin(&place.home, Some("/work".to_owned())).unwrap();
        let mut services = place.services(Duration::ZERO);
        services.models = models;
        Self::over(services, slot, file, ReviewPolicy::Never)
    }

    /// What is known at first.
    async fn known(&mut self) -> Vec<Offered> {
        loop {
            if let Done::Models(offered) = self.next().await {
                return offered;
            }
        }
    }

    /// What the next server told.
    async fn told(&mut self) -> Offered {
        loop {
            if let Done::ModelsTold(told) = self.next().await {
                return *told;
            }
        }
    }
}

fn ids(offered: &Offered) -> Vec<&str> {
    let models = offered.models.iter();
    models.map(|offer| &*offer.chosen.config.model).collect()
}

#[tokio::test]
async fn what_is_known_comes_first_and_then_what_each_server_tells() {
    let place = Place::new();
    let server = Server::start(vec![list(r#"{"data":[{"id":"a"},{"id":"b"}]}"#)]).await;
    let models = Models::new()
        .with(Arc::new(Offline::default()))
        .with(configured("gone", "http://127.0.0.1:1/v1"))
        .with(configured("own", &server.url));
    let mut bench = Bench::with_models(&place, models);
    bench.runtime.run(Job::Models("offline".to_owned()));
    let known = bench.known().await;
    let asked: Vec<_> = known.iter().map(|offered| &offered.asked).collect();
    assert_eq!(asked, [&Asked::UnderWay, &Asked::Not, &Asked::UnderWay]);
    assert_eq!(ids(&known[1]), ["offline"]);
    assert!(ids(&known[2]).is_empty());
    let mut told = [bench.told().await, bench.told().await];
    told.sort_by(|a, b| a.plain.provider.cmp(&b.plain.provider));
    assert_eq!(told[0].asked, Asked::NoServer);
    assert_eq!(told[1].asked, Asked::Told { lacks: None });
    assert_eq!(told[1].access, Access::NotNeeded);
    assert_eq!(ids(&told[1]), ["a", "b"]);
    bench.end().await;
}

#[tokio::test]
async fn a_server_that_fails_keeps_no_other_from_telling() {
    let place = Place::new();
    let broken = Server::start(vec![list("no json")]).await;
    let well = Server::start(vec![list(r#"{"data":[{"id":"a"}]}"#)]).await;
    let models = Models::new()
        .with(configured("broken", &broken.url))
        .with(configured("well", &well.url));
    let mut bench = Bench::with_models(&place, models);
    bench.runtime.run(Job::Models("offline".to_owned()));
    let mut told = [bench.told().await, bench.told().await];
    told.sort_by(|a, b| a.plain.provider.cmp(&b.plain.provider));
    assert!(
        matches!(told[0].asked, Asked::Failed(_)),
        "{:?}",
        told[0].asked
    );
    assert_eq!(ids(&told[1]), ["a"]);
    bench.end().await;
}

/// Stores a session whose last answer came from this model.
async fn stored(place: &Place, provider: &str) -> String {
    let models = Models::new()
        .with(Arc::new(Offline::default()))
        .with(configured(provider, "http://127.0.0.1:1/v1"));
    let route = ModelRoute {
        provider: provider.to_owned(),
        model: "m".to_owned(),
    };
    let chosen = models.choose(&route);
    let mut bench = Bench::with_models(place, models);
    bench.on(ChatEvent::UseModel(chosen));
    bench.send(Draft::from_text("hello"));
    // Nothing answers, so that it is soon called off.
    bench.until(|chat| chat.partial_answer().is_some()).await;
    bench.on(ChatEvent::Cancel);
    bench.until_idle().await;
    let id = bench.chat.session().id().as_str().to_owned();
    bench.end().await;
    id
}

#[tokio::test]
async fn a_session_is_resumed_with_the_model_that_it_was_last_asked_of() {
    let place = Place::new();
    let id = stored(&place, "own").await;
    let models = Models::new()
        .with(Arc::new(Offline::default()))
        .with(configured("own", "http://127.0.0.1:1/v1"));
    let mut bench = Bench::with_models(&place, models);
    let opened = bench.open(&id).await.unwrap();
    let config = opened.chosen.unwrap().config;
    assert_eq!((&*config.provider, &*config.model), ("own", "m"));
    assert_eq!(config.api, Some(Api::OpenaiChat), "as the settings are now");
    assert_eq!(opened.note, None);
    drop(opened.hold);
    bench.end().await;
}

#[tokio::test]
async fn where_that_model_is_gone_from_the_settings_this_is_said() {
    let place = Place::new();
    let id = stored(&place, "own").await;
    let models = Models::new().with(Arc::new(Offline::default()));
    let mut bench = Bench::with_models(&place, models);
    let opened = bench.open(&id).await.unwrap();
    assert_eq!(opened.chosen, None);
    let note = opened.note.unwrap();
    assert!(note.starts_with("own/m answered here last"), "{note}");
    drop(opened.hold);
    bench.end().await;
}

#[tokio::test]
async fn a_session_that_no_model_was_asked_in_begins_with_that_of_the_settings() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    let opened = bench.open("flaky").await.unwrap();
    assert_eq!((opened.chosen, opened.note), (None, None));
    drop(opened.hold);
    bench.end().await;
}
