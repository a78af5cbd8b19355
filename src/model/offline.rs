//! The provider that needs no network: it answers by saying what it was sent.
//!
//! The same messages always give the same answer. It is for trying citations
//! out, and for tests; it is no language model, and says so.

mod answer;
mod beside;
mod sent;

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt, TryStreamExt};

use self::answer::Answer;
use super::Request;
use super::{AnswerStream, Delta, FinishReason, ModelError, ModelInfo, Provider, Purpose};
use crate::reference::ports::ModelRoute;

/// The provider's name.
pub const PROVIDER: &str = "offline";
/// The id of its only model.
pub const MODEL: &str = "offline";
/// The context window that the model declares, in tokens.
pub const CONTEXT_WINDOW: u64 = 128_000;
/// The time a word at a readable pace.
pub const PACE: Duration = Duration::from_millis(30);

/// The provider. It needs a tokio runtime with a clock.
///
/// Its usage is an estimate: UTF-8 bytes of text divided by four, rounded up,
/// for the request as for the answer.
#[derive(Clone, Debug)]
pub struct Offline {
    pace: Duration,
}

impl Default for Offline {
    /// Streams at [`PACE`].
    fn default() -> Self {
        Self::new(PACE)
    }
}

impl Offline {
    /// A provider that waits this long before each word; zero does not wait.
    #[must_use]
    pub fn new(pace: Duration) -> Self {
        Self { pace }
    }

    /// The route to its model.
    #[must_use]
    pub fn route() -> ModelRoute {
        ModelRoute {
            provider: PROVIDER.to_owned(),
            model: MODEL.to_owned(),
        }
    }
}

impl Provider for Offline {
    fn name(&self) -> &str {
        PROVIDER
    }

    fn models(&self) -> Vec<ModelInfo> {
        vec![info()]
    }

    fn model_info<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Result<ModelInfo, ModelError>> {
        Box::pin(ready(known(model).map(|()| info())))
    }

    fn stream(&self, request: Request) -> AnswerStream {
        let pace = self.pace;
        stream::once(compose(request))
            .map_ok(move |answer| paced(&answer, pace))
            .try_flatten()
            .boxed()
    }
}

fn info() -> ModelInfo {
    ModelInfo {
        provider: PROVIDER.to_owned(),
        id: MODEL.to_owned(),
        name: "Offline (no language model)".to_owned(),
        context_window: Some(CONTEXT_WINDOW),
        max_output: None,
        input_price: None,
        output_price: None,
    }
}

fn known(model: &str) -> Result<(), ModelError> {
    if model == MODEL {
        return Ok(());
    }
    Err(ModelError::NotFound {
        provider: PROVIDER.to_owned(),
        model: model.to_owned(),
        known: vec![MODEL.to_owned()],
    })
}

/// Reading the request is off the async threads: a citation may hold hundreds
/// of megabytes. Called off, it ends by itself and leaves nothing behind.
async fn compose(request: Request) -> Result<Answer, ModelError> {
    known(&request.config.model)?;
    tokio::task::spawn_blocking(move || match request.purpose {
        Purpose::Answer => Answer::to(&request.messages),
        Purpose::Summary => beside::summary(&request.messages),
        Purpose::Title => beside::title(&request.messages),
    })
    .await
    .map_err(|panic| ModelError::Failed {
        provider: PROVIDER.to_owned(),
        model: MODEL.to_owned(),
        cause: Arc::new(panic),
    })
}

fn paced(answer: &Answer, pace: Duration) -> AnswerStream {
    let words: Vec<String> = answer
        .text
        .split_inclusive([' ', '\n'])
        .map(str::to_owned)
        .collect();
    let end = [
        Ok(Delta::Usage(answer.usage)),
        Ok(Delta::Finished(FinishReason::Stop)),
    ];
    stream::iter(words)
        .then(move |word| async move {
            if !pace.is_zero() {
                tokio::time::sleep(pace).await;
            }
            Ok(Delta::Text(word))
        })
        .chain(stream::iter(end))
        .boxed()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use futures_util::FutureExt;
    use tokio::runtime::Handle;
    use tokio::time::Instant;

    use super::*;
    use crate::model::RequestConfig;
    use crate::session::Message;

    fn request(message: &Arc<Message>) -> Request {
        let config = RequestConfig::plain(PROVIDER, MODEL);
        Request::answer(config, vec![Arc::clone(message)])
    }

    async fn deltas(provider: &Offline, message: &Arc<Message>) -> Vec<Delta> {
        let answer = provider.stream(request(message));
        answer.try_collect().await.unwrap()
    }

    #[tokio::test]
    async fn the_same_messages_give_the_same_answer() {
        let provider = Offline::new(Duration::ZERO);
        let first = deltas(&provider, &Arc::new(Message::person("hello"))).await;
        let second = deltas(&provider, &Arc::new(Message::person("hello"))).await;
        assert_eq!(first, second);
        let other = deltas(&provider, &Arc::new(Message::person("goodbye"))).await;
        assert_ne!(first, other);
    }

    #[tokio::test]
    async fn an_answer_is_words_then_usage_then_the_finish() {
        let message = Arc::new(Message::person("hello"));
        let mut deltas = deltas(&Offline::new(Duration::ZERO), &message).await;
        assert_eq!(deltas.pop(), Some(Delta::Finished(FinishReason::Stop)));
        let Some(Delta::Usage(usage)) = deltas.pop() else {
            unreachable!("usage comes before the finish");
        };
        let mut text = String::new();
        for delta in deltas {
            let Delta::Text(word) = delta else {
                unreachable!("all the rest is text");
            };
            assert!(!word.trim_end().contains(' '), "{word:?} is one word");
            text.push_str(&word);
        }
        assert!(text.starts_with("This is the built-in offline model. It is no language model"));
        assert!(text.ends_with(r#"The last thing you said: "hello""#));
        assert_eq!(usage.input_tokens, 2, "five bytes");
        assert_eq!(usage.output_tokens, (text.len() as u64).div_ceil(4));
    }

    #[tokio::test(start_paused = true)]
    async fn each_word_takes_its_time() {
        let message = Arc::new(Message::person("hello"));
        let mut answer = Offline::new(PACE).stream(request(&message));
        let begin = Instant::now();
        let mut words = 0;
        while let Some(delta) = answer.try_next().await.unwrap() {
            if matches!(delta, Delta::Text(_)) {
                words += 1;
            }
            assert_eq!(begin.elapsed(), PACE * words);
        }
        assert!(words > 20);
    }

    #[tokio::test(start_paused = true)]
    async fn dropping_an_answer_leaves_nothing_behind() {
        let message = Arc::new(Message::person("hello"));
        let mut answer = Offline::new(PACE).stream(request(&message));
        assert!(answer.try_next().await.unwrap().is_some());
        assert!(
            answer.next().now_or_never().is_none(),
            "the next word waits"
        );
        drop(answer);
        assert_eq!(Handle::current().metrics().num_alive_tasks(), 0);
        assert_eq!(Arc::strong_count(&message), 1);
    }

    #[test]
    fn nothing_happens_before_an_answer_is_polled() {
        // There is no runtime here that anything could run on.
        let message = Arc::new(Message::person("hello"));
        drop(Offline::default().stream(request(&message)));
        assert_eq!(Arc::strong_count(&message), 1);
    }

    #[tokio::test]
    async fn another_model_is_not_found() {
        let provider = Offline::default();
        let large = RequestConfig::plain(PROVIDER, "large");
        let answer = provider.stream(Request::answer(large, Vec::new()));
        let from_answer = answer.try_collect::<Vec<_>>().await.unwrap_err();
        let from_info = provider.model_info("large").await.unwrap_err();
        assert_eq!(from_answer.code(), "MODEL_NOT_FOUND");
        assert_eq!(
            from_info.to_string(),
            r#"provider "offline" has no model "large"; choose "offline""#
        );
        assert_eq!(from_answer.to_string(), from_info.to_string());
    }

    #[tokio::test]
    async fn its_one_model_is_listed_as_it_is_looked_up() {
        let provider = Offline::default();
        let info = provider.model_info(MODEL).await.unwrap();
        assert_eq!(info.context_window, Some(CONTEXT_WINDOW));
        assert_eq!(provider.models(), [info]);
        assert_eq!(Offline::route().provider, provider.name());
    }
}
