use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::time::Instant;

use super::*;
use crate::model::{FinishReason, Told, Usage};

fn told() -> Told {
    Told {
        provider: "p".to_owned(),
        model: Some("m".to_owned()),
        status: Some(429),
        message: "slow down".to_owned(),
    }
}

fn limited(wait: Option<u64>) -> ModelError {
    let wait = wait.map(Duration::from_secs);
    ModelError::RateLimited {
        told: told().into(),
        wait,
    }
}

fn network(fault: NetworkFault) -> ModelError {
    ModelError::Network {
        provider: "p".to_owned(),
        fault,
        what: "reset".to_owned(),
    }
}

fn timeout(limit: TimeLimit) -> ModelError {
    ModelError::Timeout {
        provider: "p".to_owned(),
        limit,
        after: Duration::from_secs(1),
    }
}

fn decide(error: &ModelError, attempt: u32) -> Retry {
    Policy::default().decide(error, attempt, false, 1.0)
}

fn after(seconds: f64) -> Retry {
    Retry::After(Duration::from_secs_f64(seconds))
}

#[test]
fn a_server_that_tells_how_long_to_wait_is_obeyed() {
    assert_eq!(decide(&limited(Some(7)), 1), after(7.0));
    assert_eq!(decide(&limited(Some(7)), 4), after(7.0));
    assert_eq!(decide(&limited(Some(0)), 1), after(0.0));
    assert_eq!(
        decide(&limited(Some(121)), 1),
        Retry::No,
        "longer than anyone would watch"
    );
}

#[test]
fn else_the_wait_doubles_up_to_a_cap_and_is_spread_over_its_upper_half() {
    let error = limited(None);
    let waits: Vec<Retry> = (1..5).map(|attempt| decide(&error, attempt)).collect();
    assert_eq!(waits, [after(1.0), after(2.0), after(4.0), after(8.0)]);
    let policy = Policy {
        attempts: u32::MAX,
        ..Policy::default()
    };
    assert_eq!(policy.decide(&error, 4000, false, 1.0), after(30.0));
    assert_eq!(policy.decide(&error, 3, false, 0.0), after(2.0));
    assert_eq!(policy.decide(&error, 3, false, 0.5), after(3.0));
}

#[test]
fn the_last_attempts_error_stands() {
    assert_eq!(decide(&limited(None), 5), Retry::No);
    assert_eq!(decide(&limited(Some(1)), 5), Retry::No);
}

#[test]
fn nothing_is_made_again_once_text_has_come() {
    let policy = Policy::default();
    for error in [limited(Some(1)), network(NetworkFault::Broken)] {
        assert_eq!(policy.decide(&error, 1, true, 1.0), Retry::No);
    }
}

#[test]
fn only_what_may_be_over_in_a_moment_is_tried_again() {
    let ended = ModelError::StreamEnded {
        provider: "p".to_owned(),
        model: "m".to_owned(),
    };
    let overloaded = ModelError::Overloaded {
        told: told().into(),
        wait: None,
    };
    for error in [
        ended,
        overloaded,
        network(NetworkFault::Name),
        network(NetworkFault::Connect),
        network(NetworkFault::Broken),
        timeout(TimeLimit::Connect),
    ] {
        assert_eq!(decide(&error, 1), after(1.0), "{error}");
    }
    for error in [
        ModelError::Auth(told().into()),
        ModelError::Quota(told().into()),
        ModelError::TooLong(told().into()),
        ModelError::Refused(told().into()),
        ModelError::Rejected(told().into()),
        ModelError::Missing(told().into()),
        ModelError::BadResponse(told().into()),
        network(NetworkFault::Tls),
        timeout(TimeLimit::Idle),
        timeout(TimeLimit::Total),
    ] {
        assert_eq!(decide(&error, 1), Retry::No, "{error}");
    }
}

type Attempt = Vec<Result<Delta, ModelError>>;

/// The answer of these attempts, one after the other.
fn answer(attempts: Vec<Attempt>) -> AnswerStream {
    let mut attempts = VecDeque::from(attempts);
    let attempt = move || stream::iter(attempts.pop_front().unwrap_or_default()).boxed();
    answers(Policy::default(), attempt, || 1.0)
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

#[tokio::test(start_paused = true)]
async fn each_wait_is_told_as_it_begins_and_then_passes() {
    let begin = Instant::now();
    let mut answer = answer(vec![
        vec![Err(limited(Some(20)))],
        vec![Ok(Delta::Usage(Usage::default())), Err(limited(None))],
        vec![Ok(text("a")), Ok(Delta::Finished(FinishReason::Stop))],
    ]);
    let Some(Ok(Delta::Waiting(first))) = answer.next().await else {
        panic!("the first attempt fails");
    };
    assert_eq!(begin.elapsed(), Duration::ZERO);
    assert_eq!((first.attempt, first.wait.as_secs()), (1, 20));
    assert_eq!(first.code, "MODEL_RATE_LIMITED");
    assert_eq!(
        first.why, r#"model "m" ("p") did not answer (status 429): slow down"#,
        "nobody has to ask again"
    );
    assert!(matches!(answer.next().await, Some(Ok(Delta::Usage(_)))));
    assert_eq!(begin.elapsed(), Duration::from_secs(20));
    let Some(Ok(Delta::Waiting(second))) = answer.next().await else {
        panic!("the second attempt fails before any text");
    };
    assert_eq!((second.attempt, second.wait.as_secs()), (2, 2));
    let rest: Vec<Delta> = answer.map(Result::unwrap).collect().await;
    assert_eq!(rest, [text("a"), Delta::Finished(FinishReason::Stop)]);
    assert_eq!(begin.elapsed(), Duration::from_secs(22));
}

#[tokio::test(start_paused = true)]
async fn an_error_behind_text_ends_the_answer() {
    let answer = answer(vec![
        vec![Ok(text("a")), Err(limited(Some(1)))],
        vec![Ok(text("twice"))],
    ]);
    let told: Vec<_> = answer.collect().await;
    assert_eq!(told.len(), 2);
    assert_eq!(told[1].as_ref().unwrap_err().code(), "MODEL_RATE_LIMITED");
}

#[tokio::test(start_paused = true)]
async fn attempts_are_limited() {
    let answer = answer((0..9).map(|_| vec![Err(limited(Some(1)))]).collect());
    let told: Vec<_> = answer.collect().await;
    assert_eq!(told.len(), 5, "four waits and the error");
    assert!(told[4].is_err());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_answer_ends_a_wait() {
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    let attempt = move || {
        let _held = Arc::clone(&held);
        stream::iter([Err(limited(Some(60)))]).boxed()
    };
    let mut answer = answers(Policy::default(), attempt, || 1.0);
    assert!(answer.next().await.is_some());
    assert!(answer.next().now_or_never().is_none(), "it waits");
    drop(answer);
    assert_eq!(Arc::strong_count(&alive), 1);
}
