//! Which models there are to choose from: what is known at once, then what each
//! server tells.

use std::sync::Arc;
use std::time::Duration;

use super::{Done, Runtime};
use crate::model::{Access, Chosen, ModelError, ModelInfo, NetworkFault, Provider, RequestConfig};

/// How long a server may take to tell its models. A person waits for them.
const PATIENCE: Duration = Duration::from_secs(15);

/// The models of one provider.
#[derive(Clone, Debug)]
pub struct Offered {
    /// How a model of it is asked of which nothing is known; the model itself
    /// is left open.
    pub plain: RequestConfig,
    /// How it stands with its key.
    pub access: Access,
    /// What is known of its models.
    pub models: Vec<Offer>,
    /// What came of asking its server for them.
    pub asked: Asked,
}

/// A model that can be chosen.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The model.
    pub chosen: Chosen,
    /// US dollars for a million tokens, of requests and of answers.
    pub price: (Option<f64>, Option<f64>),
}

/// What came of asking a server for its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It is not asked: there is no key, or only a command gives it, and no
    /// list is worth running that.
    Not,
    /// It is being asked.
    UnderWay,
    /// It told; which facts it could not tell, in words.
    Told {
        /// `None` where it told all that it has.
        lacks: Option<String>,
    },
    /// Nothing answers at its address.
    NoServer,
    /// It did not tell; why, in words.
    Failed(String),
}

impl Offered {
    /// What is known now.
    fn of(provider: &dyn Provider, asked: Asked) -> Self {
        let offer = |info: ModelInfo| Offer {
            chosen: Chosen::of(provider, &info),
            price: (info.input_price, info.output_price),
        };
        Self {
            plain: provider.config(""),
            access: provider.access(),
            models: provider.models().into_iter().map(offer).collect(),
            asked,
        }
    }

    /// What is known before its server is asked. `in_use`: it is asked for
    /// answers anyway.
    fn at_first(provider: &dyn Provider, in_use: bool) -> Self {
        let first = Self::of(provider, Asked::Not);
        let asks = match first.access {
            Access::There => true,
            // What has no wire format has no server.
            Access::NotNeeded => first.plain.api.is_some(),
            Access::AtCommand => in_use,
            Access::Missing(_) => false,
        };
        let asked = if asks { Asked::UnderWay } else { Asked::Not };
        Self { asked, ..first }
    }
}

impl Runtime {
    /// Tells the models that there are. `in_use` is the provider of the model
    /// that answers now. One listing is under way at a time.
    pub(super) fn list_models(&mut self, in_use: String) {
        self.choosing.cancel();
        self.choosing = self.all.child_token();
        let cancel = self.choosing.clone();
        let models = self.services.models.clone();
        let done = self.done.clone();
        tokio::spawn(cancel.run_until_cancelled_owned(async move {
            let providers: Vec<_> = models.providers().map(Arc::clone).collect();
            let known = providers.clone();
            let first = off_the_async_threads(move || {
                let known = known.iter();
                let first = known.map(|p| Offered::at_first(&**p, p.name() == in_use));
                first.collect::<Vec<_>>()
            });
            let Some(first) = first.await else { return };
            let is_asked: Vec<bool> = first
                .iter()
                .map(|offered| offered.asked == Asked::UnderWay)
                .collect();
            if done.send(Done::Models(first)).await.is_err() {
                return;
            }
            let asked = providers.into_iter().zip(is_asked);
            let asked = asked.filter(|(_, is_asked)| *is_asked);
            let told = asked.map(async |(provider, _)| {
                if let Some(told) = ask(provider).await {
                    // Nobody takes it when the program ends.
                    let _ = done.send(Done::ModelsTold(Box::new(told))).await;
                }
            });
            futures_util::future::join_all(told).await;
        }));
    }
}

/// Asks a server for its models; `None` where the program is broken.
async fn ask(provider: Arc<dyn Provider>) -> Option<Offered> {
    let asked = match tokio::time::timeout(PATIENCE, provider.list_models()).await {
        Ok(Ok(listed)) => Asked::Told {
            lacks: listed.lacks,
        },
        Ok(Err(ModelError::Network {
            fault: NetworkFault::Connect,
            ..
        })) => Asked::NoServer,
        Ok(Err(error)) => Asked::Failed(error.to_string()),
        Err(_) => Asked::Failed(format!("it told nothing within {} s", PATIENCE.as_secs())),
    };
    off_the_async_threads(move || Offered::of(&*provider, asked)).await
}

/// How it stands with a key is read from a file, which may be on a slow disk.
/// One that panicked has told so already.
async fn off_the_async_threads<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

#[cfg(test)]
mod tests {
    use futures_util::future::BoxFuture;

    use super::*;
    use crate::model::{AnswerStream, Api, KeyError, Listed, Request};

    /// A provider of which only the key is of interest.
    struct Keyed(Access, Option<Api>);

    impl Provider for Keyed {
        fn name(&self) -> &'static str {
            "keyed"
        }

        fn models(&self) -> Vec<ModelInfo> {
            Vec::new()
        }

        fn model_info<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<ModelInfo, ModelError>> {
            Box::pin(std::future::pending())
        }

        fn access(&self) -> Access {
            self.0.clone()
        }

        fn config(&self, model: &str) -> RequestConfig {
            RequestConfig {
                api: self.1,
                ..RequestConfig::plain("keyed", model)
            }
        }

        fn stream(&self, _: Request) -> AnswerStream {
            Box::pin(futures_util::stream::pending())
        }
    }

    #[test]
    fn only_those_are_asked_that_can_answer_and_no_command_is_run_for_a_list() {
        let missing = Access::Missing(KeyError::NotSet { names: Vec::new() });
        let api = Some(Api::OpenaiChat);
        let asks = |access: &Access, api, in_use| {
            Offered::at_first(&Keyed(access.clone(), api), in_use).asked == Asked::UnderWay
        };
        assert!(asks(&Access::There, api, false));
        assert!(asks(&Access::NotNeeded, api, false));
        assert!(!asks(&Access::NotNeeded, None, true), "it has no server");
        assert!(!asks(&missing, api, true));
        assert!(!asks(&Access::AtCommand, api, false));
        assert!(asks(&Access::AtCommand, api, true), "it runs anyway");
    }

    #[tokio::test]
    async fn the_place_of_a_key_is_not_looked_at_on_the_thread_that_drives_the_tasks() {
        struct Watched(std::thread::ThreadId);
        impl Provider for Watched {
            fn name(&self) -> &'static str {
                "watched"
            }

            fn models(&self) -> Vec<ModelInfo> {
                Vec::new()
            }

            fn model_info<'a>(
                &'a self,
                _: &'a str,
            ) -> BoxFuture<'a, Result<ModelInfo, ModelError>> {
                Box::pin(std::future::pending())
            }

            fn access(&self) -> Access {
                assert_ne!(std::thread::current().id(), self.0);
                Access::There
            }

            fn stream(&self, _: Request) -> AnswerStream {
                Box::pin(futures_util::stream::pending())
            }
        }
        let told = ask(Arc::new(Watched(std::thread::current().id()))).await;
        assert_eq!(told.unwrap().access, Access::There);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_says_nothing_is_given_up() {
        struct Silent;
        impl Provider for Silent {
            fn name(&self) -> &'static str {
                "silent"
            }

            fn models(&self) -> Vec<ModelInfo> {
                Vec::new()
            }

            fn model_info<'a>(
                &'a self,
                _: &'a str,
            ) -> BoxFuture<'a, Result<ModelInfo, ModelError>> {
                Box::pin(std::future::pending())
            }

            fn list_models(&self) -> BoxFuture<'_, Result<Listed, ModelError>> {
                Box::pin(std::future::pending())
            }

            fn stream(&self, _: Request) -> AnswerStream {
                Box::pin(futures_util::stream::pending())
            }
        }
        let told = ask(Arc::new(Silent)).await.unwrap();
        assert_eq!(
            told.asked,
            Asked::Failed("it told nothing within 15 s".to_owned())
        );
    }
}
