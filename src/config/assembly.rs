//! From settings to providers that can be asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Config, ProviderConfig};
use crate::model::{
    Catalogue, Configured, Endpoint, ExposeSecret as _, Models, PlacedKey, offline::Offline,
};

/// Every provider that the settings have, the offline one always. Nothing is
/// asked, and no key is fetched: what is missing is an error of the provider
/// that needs it, when it is asked.
///
/// `known` is what is known of models without the settings.
#[must_use]
pub fn models(config: &Config, known: &Catalogue) -> Models {
    let offline = Models::new().with(Arc::new(Offline::default()));
    let servers = servers(config, known).into_values();
    servers.fold(offline, |models, server| models.with(Arc::new(server)))
}

/// Every server of the settings, by the name of its provider.
#[must_use]
pub fn servers(config: &Config, known: &Catalogue) -> BTreeMap<String, Configured> {
    enabled(config)
        .map(|(name, provider)| {
            let endpoint = endpoint(name, provider);
            let server = Configured::new(&endpoint, known, provider.facts());
            (name.to_owned(), server)
        })
        .collect()
}

fn enabled(config: &Config) -> impl Iterator<Item = (&str, &ProviderConfig)> {
    let providers = config.providers.iter();
    providers
        .filter(|(_, provider)| provider.enabled)
        .map(|(name, provider)| (name.as_str(), provider))
}

fn endpoint(name: &str, config: &ProviderConfig) -> Endpoint {
    let key = config.key.clone().map(PlacedKey::new);
    let headers = config.headers.iter();
    let proxy = config.proxy.as_ref();
    let models = config.models.iter();
    Endpoint {
        key: key.map(|key| Arc::new(key) as _),
        headers: headers
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        connect_timeout: config.connect_timeout,
        idle_timeout: config.idle_timeout,
        total_timeout: config.total_timeout,
        ca_file: config.ca_file.clone(),
        proxy: proxy.map(|address| address.expose_secret().to_owned()),
        options: config.options.clone(),
        model_options: models
            .map(|(id, model)| (id.clone(), model.options(config.api)))
            .collect(),
        ..Endpoint::new(name, config.api, config.base_url.as_str())
    }
}

impl Config {
    /// What is known of models, with what the settings say over it.
    #[must_use]
    pub fn over(&self, known: &Catalogue) -> Catalogue {
        let providers = self.providers.iter();
        providers.fold(known.clone(), |known, (name, provider)| {
            let most = endpoint(name, provider).most_window();
            known.settled(name, most, &provider.facts())
        })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;

    use super::*;
    use crate::model::Request;
    use crate::reference::ports::{ModelRoute, ModelWindows as _};

    fn assembled(settings: &str) -> Models {
        let config = Config::parse(settings, std::path::Path::new("config.toml")).unwrap();
        models(&config, &Catalogue::shipped().unwrap())
    }

    fn route(provider: &str, model: &str) -> ModelRoute {
        ModelRoute {
            provider: provider.to_owned(),
            model: model.to_owned(),
        }
    }

    async fn window(models: &Models, provider: &str, model: &str) -> Option<u64> {
        let route = route(provider, model);
        models.context_window(&route).await.unwrap()
    }

    #[tokio::test]
    async fn windows_follow_the_settings_over_the_catalogue() {
        let models = assembled("[providers.openai.models.gpt-4o]\ncontext-window = 7");
        assert_eq!(window(&models, "openai", "gpt-4o").await, Some(7));
        let mini = window(&models, "openai", "gpt-4o-mini").await;
        assert_eq!(mini, Some(128_000));
        assert_eq!(window(&models, "openai", "of-tomorrow").await, None);
        assert_eq!(window(&models, "offline", "offline").await, Some(128_000));
    }

    #[tokio::test]
    async fn a_missing_key_is_an_error_when_its_provider_is_asked_and_names_the_variable() {
        let models = assembled(
            "[providers.own]\napi = \"openai-chat\"\nbase-url = \"http://localhost:1/v1\"\n\
             key = { env = \"IBID_NO_SUCH_KEY\" }",
        );
        let mut answer = models.stream(Request::answer(
            models.choose(&route("own", "m")).config,
            Vec::new(),
        ));
        let error = answer.next().await.unwrap().unwrap_err();
        assert_eq!(error.code(), "MODEL_KEY");
        let text = error.to_string();
        assert!(
            text.contains("set the environment variable IBID_NO_SUCH_KEY"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn an_ollama_model_has_the_window_that_is_asked_for() {
        let models = assembled(
            "[providers.ollama]\nnum-ctx = 8192\n\
             [providers.ollama.models.large]\ncontext-window = 32768\n\
             [providers.ollama.models.named]\nname = \"N\"",
        );
        for (model, expected) in [("large", 32_768), ("named", 8_192), ("new", 8_192)] {
            let window = window(&models, "ollama", model).await;
            assert_eq!(window, Some(expected), "{model}");
        }
        let unset = assembled("");
        assert_eq!(window(&unset, "ollama", "new").await, Some(16_384));
    }

    #[test]
    fn a_request_is_shaped_by_its_model_over_its_provider() {
        let settings = "[providers.ollama]\nmax-output = 5\nextra = { think = false }\n\
                        [providers.ollama.models.m]\nmax-output = 7\ncontext-window = 9\n\
                        extra = { think = true }";
        let config = Config::parse(settings, std::path::Path::new("config.toml")).unwrap();
        let endpoint = endpoint("ollama", config.providers.get("ollama").unwrap());
        let options = |model: &str| {
            let known = crate::model::Facts::default().info("ollama", model);
            serde_json::to_string(&endpoint.options(&known)).unwrap()
        };
        assert_eq!(
            options("m"),
            r#"{"maxOutput":7,"numCtx":9,"extra":{"think":true}}"#
        );
        assert_eq!(
            options("other"),
            r#"{"maxOutput":5,"numCtx":16384,"extra":{"think":false}}"#
        );
    }

    #[test]
    fn a_provider_that_is_off_is_not_there() {
        let models = assembled("[providers.groq]\nenabled = false");
        assert_eq!(models.provider("groq").err().unwrap().code(), "NO_ADAPTER");
        assert!(models.provider("mistral").is_ok());
    }
}
