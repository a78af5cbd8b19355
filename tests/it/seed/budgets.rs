//! Budgets that follow the model.

use std::sync::Arc;

use ibid::reference::ports::{ModelRoute, WindowError};
use ibid::reference::resolver::{PreparedStep, RouteChoice, StepDecision};
use ibid::reference::{PreparedContext, ReferenceConfig, ReferenceError, ReferenceSettings};
use ibid::session::{Message, Millis, NewEvent, Payload};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{House, code, mention_of};
use crate::support::frames::sizes;
use crate::support::ports::{Gate, Script, Windows, failure};
use crate::support::sessions::{said, session};

const CANCELLED: &str = "SESSION_REFERENCE_CANCELLED";

fn route(provider: &str, model: &str) -> ModelRoute {
    ModelRoute {
        provider: provider.to_owned(),
        model: model.to_owned(),
    }
}

/// A source far over every budget, a catalogue that declares a window of
/// 200,001 tokens, and a target whose log names a model that does not count.
fn house() -> House {
    let mut target = session("target");
    let header = Payload::log_only(
        "request/header",
        json!({"header": {"config": {"provider": "stale", "model": "stale"}}, "reason": "initial"}),
    );
    target.append(NewEvent::plain(Millis(2), header)).unwrap();
    House::of([target, said("source", ["x".repeat(250_000)])])
        .with_windows(Windows::of(200_001))
        .with_route(RouteChoice::Own(Some(route("seed", "seed"))))
}

async fn size_in(house: &House) -> usize {
    sizes(&house.cite(["source"]).await.unwrap())[0]
}

async fn a_source_is_bounded(settings: ReferenceSettings, window: u64, expected: usize) {
    let house = house().with_settings(settings);
    house.windows().answer(Ok(Some(window)));
    let size = size_in(&house).await;
    assert!(size <= expected && size > expected - 4, "{size}");
    if settings.max_reference_bytes.is_some() {
        assert_eq!(house.windows().asked(), []);
    } else {
        assert_eq!(house.windows().asked(), [route("seed", "seed")]);
    }
}

fn fraction(context_fraction: f64) -> ReferenceSettings {
    ReferenceSettings {
        context_fraction: Some(context_fraction),
        ..ReferenceSettings::default()
    }
}

#[tokio::test]
async fn a_source_gets_a_fifth_of_a_large_window() {
    a_source_is_bounded(ReferenceSettings::default(), 200_001, 160_000).await;
}

#[tokio::test]
async fn a_source_gets_the_floor_under_a_small_window() {
    a_source_is_bounded(ReferenceSettings::default(), 8_000, 65_536).await;
}

#[tokio::test]
async fn a_source_gets_the_configured_fraction_of_the_window() {
    a_source_is_bounded(fraction(0.1), 200_001, 80_000).await;
}

#[tokio::test]
async fn a_source_gets_the_floor_when_the_fraction_is_zero() {
    a_source_is_bounded(fraction(0.0), 200_001, 65_536).await;
}

#[tokio::test]
async fn a_source_gets_the_configured_bytes_without_a_look_up() {
    let settings = ReferenceSettings {
        max_reference_bytes: Some(360),
        ..ReferenceSettings::default()
    };
    a_source_is_bounded(settings, 200_001, 360).await;
}

#[tokio::test]
async fn the_budget_follows_the_model_that_the_step_was_assembled_for() {
    async fn entered(house: &House) -> PreparedContext {
        let message = Arc::new(Message::person(mention_of("source")));
        let step = StepDecision::Enter(vec![message]);
        let (resolver, target) = (house.resolver(), house.target());
        let cancel = CancellationToken::new();
        match resolver.pre_step(&target, step, &cancel).await.unwrap() {
            PreparedStep::Enter { mut contexts, .. } => contexts.remove(0),
            PreparedStep::Reject => panic!("rejected"),
        }
    }
    // The log's header says "stale", the agent's option "seed", and by the
    // time the step begins the person has picked "small" for the next one.
    let assembled = RouteChoice::Assembled(Some(route("selected", "large")));
    let house = house().with_route(assembled);
    assert_eq!(sizes(&entered(&house).await), [160_000]);
    assert_eq!(house.windows().asked(), [route("selected", "large")]);

    let assembled = RouteChoice::Assembled(Some(route("selected", "small")));
    let house = house.with_route(assembled);
    house.windows().answer(Ok(Some(8_000)));
    assert_eq!(sizes(&entered(&house).await), [65_536]);
    assert_eq!(house.windows().asked()[1..], [route("selected", "small")]);
}

#[tokio::test]
async fn the_floor_applies_without_a_declared_window_a_whole_route_or_a_catalogue() {
    // The model declares no window.
    let house = house();
    house.windows().answer(Ok(None));
    assert_eq!(size_in(&house).await, 65_536);
    assert_eq!(house.windows().asked().len(), 1);
    // A step was assembled for no whole route: the agent's option is out.
    let house = house.with_route(RouteChoice::Assembled(None));
    assert_eq!(size_in(&house).await, 65_536);
    assert_eq!(house.windows().asked().len(), 1);
    // Nothing was assembled, and the option names no whole route either.
    let house = house.with_route(RouteChoice::Own(None));
    assert_eq!(size_in(&house).await, 65_536);
    assert_eq!(house.windows().asked().len(), 1);
    // There is a route, and nobody to ask about it.
    let house = house
        .with_route(RouteChoice::Own(Some(route("seed", "seed"))))
        .without_windows();
    assert_eq!(size_in(&house).await, 65_536);
}

#[tokio::test]
async fn the_floor_applies_when_no_provider_has_an_adapter() {
    let house = house();
    house.windows().answer(Err(WindowError::NoAdapter));
    assert_eq!(size_in(&house).await, 65_536);
    assert_eq!(house.windows().asked(), [route("seed", "seed")]);
}

#[tokio::test]
async fn other_model_errors_are_passed_on_and_cancelling_wins_over_a_missing_adapter() {
    let house = house();
    let cause = failure("invalid model context");
    let answer = WindowError::Other(Arc::clone(&cause));
    house.windows().answer(Err(answer));
    match house.cite(["source"]).await {
        Err(ReferenceError::ModelLookup(passed_on)) => assert!(Arc::ptr_eq(&passed_on, &cause)),
        other => panic!("{other:?}"),
    }

    let cancel = CancellationToken::new();
    house.windows().answer(Err(WindowError::NoAdapter));
    house.windows().next_lookup(Script {
        cancels: Some(cancel.clone()),
        ..Script::default()
    });
    assert_eq!(code(house.cite_until(["source"], &cancel).await), CANCELLED);
    assert_eq!(house.shelf.reads(), []);
}

#[tokio::test]
async fn a_failing_look_up_is_passed_on_and_a_hanging_one_can_be_cancelled() {
    let house = house();
    house.windows().next_lookup(Script {
        fails: Some("catalogue unavailable"),
        ..Script::default()
    });
    let refused = house.cite(["source"]).await.unwrap_err();
    assert_eq!(refused.to_string(), "catalogue unavailable");
    assert_eq!(refused.code(), None);

    let gate = Gate::shut();
    house.windows().next_lookup(Script {
        gate: Some(gate.clone()),
        ..Script::default()
    });
    let cancel = CancellationToken::new();
    let (cancelled, ()) = tokio::join!(house.cite_until(["source"], &cancel), async {
        gate.reached().await;
        cancel.cancel();
    });
    assert_eq!(code(cancelled), CANCELLED);
    gate.open();
    assert_eq!(house.shelf.reads(), []);
}

#[tokio::test]
async fn a_resolver_that_goes_lets_go_of_its_ports_and_touches_no_step() {
    let house = house().with_spills();
    let resolver = house.resolver();
    let ports = (
        Arc::downgrade(&house.shelf),
        Arc::downgrade(&house.windows()),
        Arc::downgrade(&house.spills()),
    );
    // No assembly reached it: the agent's own option counts.
    house.cite(["source"]).await.unwrap();
    assert_eq!(house.windows().asked(), [route("seed", "seed")]);

    // A step that gives it nothing to do passes through as the same objects.
    let message = Arc::new(Message::person("no mention"));
    let step = StepDecision::Enter(vec![Arc::clone(&message)]);
    let cancel = CancellationToken::new();
    let step = resolver.pre_step(&house.target(), step, &cancel).await;
    let Ok(PreparedStep::Enter { messages, contexts }) = step else {
        panic!("{step:?}");
    };
    assert!(Arc::ptr_eq(&messages[0], &message));
    assert_eq!((messages.len(), contexts.len()), (1, 0));

    let (shelf, windows, spills) = ports;
    let held = || {
        [
            shelf.strong_count(),
            windows.strong_count(),
            spills.strong_count(),
        ]
    };
    drop(house);
    assert_eq!(held(), [1, 1, 1]);
    drop(resolver);
    assert_eq!(held(), [0, 0, 0]);
}

fn a_fraction_is_refused(context_fraction: f64) {
    let refused = ReferenceConfig::new(fraction(context_fraction));
    assert_eq!(code(refused), "SESSION_REFERENCE_INVALID_CONFIG");
}

#[test]
fn a_fraction_below_zero_is_refused() {
    a_fraction_is_refused(-0.1);
}

#[test]
fn a_fraction_above_one_is_refused() {
    a_fraction_is_refused(1.1);
}

#[test]
fn a_fraction_that_is_no_number_is_refused() {
    a_fraction_is_refused(f64::NAN);
}

#[test]
fn an_infinite_fraction_is_refused() {
    a_fraction_is_refused(f64::INFINITY);
}
