//! From settings to providers that can be asked.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Config, ProviderConfig};
use crate::model::{
    Catalogue, Configured, Endpoint, ExposeSecret as _, Models, Origin, PlacedKey, offline::Offline,
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
            let said = provider.models.clone();
            let server = Configured::new(&endpoint(name, provider), known, said);
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
        ..Endpoint::new(name, config.api, config.base_url.as_str())
    }
}

impl Config {
    /// What is known of models, with what the settings say over it.
    #[must_use]
    pub fn over(&self, known: &Catalogue) -> Catalogue {
        let said = self.providers.iter();
        let said = said.map(|(name, provider)| (name.clone(), provider.models.clone()));
        known.clone().with(Origin::Settings, said.collect())
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

    #[test]
    fn a_provider_that_is_off_is_not_there() {
        let models = assembled("[providers.groq]\nenabled = false");
        assert_eq!(models.provider("groq").err().unwrap().code(), "NO_ADAPTER");
        assert!(models.provider("mistral").is_ok());
    }
}
