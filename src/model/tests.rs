//! The registry, and answers up to their end.

use futures_util::FutureExt;

use super::offline::Offline;
use super::*;

/// A provider that answers with what it was given, and then waits for ever
/// if it is told to.
#[derive(Clone, Default)]
struct Scripted {
    deltas: Vec<Result<Delta, ModelError>>,
    hangs: bool,
    alive: Arc<()>,
}

impl Provider for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn models(&self) -> Vec<ModelInfo> {
        Vec::new()
    }

    fn model_info<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<ModelInfo, ModelError>> {
        Box::pin(ready(Err(failed())))
    }

    fn stream(&self, _: Request) -> AnswerStream {
        let alive = Arc::clone(&self.alive);
        let rest = if self.hangs {
            stream::pending().boxed()
        } else {
            stream::empty().boxed()
        };
        stream::iter(self.deltas.clone())
            .chain(rest)
            .inspect(move |_| _ = Arc::strong_count(&alive))
            .boxed()
    }
}

fn failed() -> ModelError {
    ModelError::Failed {
        provider: "scripted".to_owned(),
        model: "m".to_owned(),
        cause: Arc::new(std::io::Error::other("the plug was pulled")),
    }
}

fn route(provider: &str, model: &str) -> ModelRoute {
    ModelRoute {
        provider: provider.to_owned(),
        model: model.to_owned(),
    }
}

fn ask(provider: &str, model: &str) -> Request {
    Request::answer(RequestConfig::plain(provider, model), Vec::new())
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

/// What a provider's deltas become: each as text, an error as its code.
fn answer(deltas: Vec<Result<Delta, ModelError>>) -> Vec<String> {
    let models = Models::new().with(Arc::new(Scripted {
        deltas,
        ..Scripted::default()
    }));
    collect(models.stream(ask("scripted", "m")))
}

fn collect(answer: AnswerStream) -> Vec<String> {
    answer
        .map(|delta| match delta {
            Ok(delta) => format!("{delta:?}"),
            Err(error) => error.code().to_owned(),
        })
        .collect::<Vec<_>>()
        .now_or_never()
        .unwrap()
}

#[test]
fn an_answer_runs_to_its_finish() {
    let finished = Ok(Delta::Finished(FinishReason::Stop));
    assert_eq!(
        answer(vec![Ok(text("a")), finished.clone()]),
        [r#"Text("a")"#, "Finished(Stop)"]
    );
    assert_eq!(answer(vec![finished, Ok(text("late"))]), ["Finished(Stop)"]);
}

#[test]
fn an_answer_that_just_ends_is_an_error() {
    assert_eq!(
        answer(vec![Ok(text("a"))]),
        [r#"Text("a")"#, "MODEL_STREAM_ENDED"]
    );
    assert_eq!(answer(Vec::new()), ["MODEL_STREAM_ENDED"]);
}

#[test]
fn nothing_follows_an_error() {
    assert_eq!(
        answer(vec![Ok(text("a")), Err(failed()), Ok(text("late"))]),
        [r#"Text("a")"#, "MODEL_FAILED"]
    );
}

#[test]
fn dropping_an_answer_drops_the_providers_stream() {
    let provider = Scripted {
        deltas: vec![Ok(text("a"))],
        hangs: true,
        ..Scripted::default()
    };
    let alive = Arc::clone(&provider.alive);
    let models = Models::new().with(Arc::new(provider));
    let idle = Arc::strong_count(&alive);

    let mut answer = models.stream(ask("scripted", "m"));
    assert!(answer.next().now_or_never().is_some());
    assert!(answer.next().now_or_never().is_none(), "it hangs");
    assert_eq!(Arc::strong_count(&alive), idle + 1);
    drop(answer);
    assert_eq!(Arc::strong_count(&alive), idle);
}

#[test]
fn an_unknown_provider_is_named_together_with_those_there_are() {
    let models = Models::new()
        .with(Arc::new(Offline::default()))
        .with(Arc::new(Scripted::default()));
    let error = models.provider("nowhere").err().unwrap();
    assert_eq!(error.code(), "NO_ADAPTER");
    assert_eq!(
        error.to_string(),
        r#"there is no model provider "nowhere"; choose one of "offline", "scripted""#
    );
    assert_eq!(collect(models.stream(ask("nowhere", "m"))), ["NO_ADAPTER"]);
    assert_eq!(
        Models::new().provider("x").err().unwrap().to_string(),
        r#"there is no model provider "x"; choose another one (none is known here)"#
    );
}

#[test]
fn a_later_provider_takes_the_place_of_an_earlier_one_of_its_name() {
    let models = Models::new()
        .with(Arc::new(Scripted::default()))
        .with(Arc::new(Scripted {
            deltas: vec![Ok(text("second"))],
            ..Scripted::default()
        }));
    assert_eq!(
        collect(models.stream(ask("scripted", "m"))),
        [r#"Text("second")"#, "MODEL_STREAM_ENDED"]
    );
}

fn window(provider: &str, model: &str) -> Result<Option<u64>, WindowError> {
    Models::new()
        .with(Arc::new(Offline::default()))
        .with(Arc::new(Scripted::default()))
        .context_window(&route(provider, model))
        .now_or_never()
        .unwrap()
}

#[test]
fn a_known_model_has_its_declared_window() {
    assert_eq!(window("offline", "offline").unwrap(), Some(128_000));
}

#[test]
fn an_unknown_model_has_no_window_and_an_unknown_provider_no_adapter() {
    assert_eq!(window("offline", "gone").unwrap(), None);
    assert!(matches!(
        window("nowhere", "offline"),
        Err(WindowError::NoAdapter)
    ));
}

#[test]
fn any_other_error_of_a_window_is_passed_on_as_it_is() {
    let Err(WindowError::Other(cause)) = window("scripted", "m") else {
        panic!("the look-up fails");
    };
    let error = cause.downcast_ref::<ModelError>().unwrap();
    assert_eq!(error.code(), "MODEL_FAILED");
    assert_eq!(
        error.to_string(),
        r#"model "m" ("scripted") failed: the plug was pulled"#
    );
}
