//! Which models a server has, as it tells itself.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::http::Server;
use super::prompt::object;
use super::{Api, Endpoint, Facts, Listed, ModelError, ModelInfo};
use crate::figures::counted;

/// The most models that an Ollama server is asked about one by one.
const MOST: usize = 200;
/// How many of them at once.
const AT_ONCE: usize = 4;
/// How long all of that may take: the list itself is there, and somebody waits
/// for it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks a server for its models.
pub(super) async fn ask(server: &Server, endpoint: &Endpoint) -> Result<Listed, ModelError> {
    let models = match endpoint.api {
        Api::OpenaiChat | Api::OpenaiResponses => return openai(server, endpoint).await,
        Api::Anthropic => {
            let list = server.get_json("v1/models?limit=1000").await?;
            each(&list, "data", |model| anthropic(endpoint, model))
        }
        Api::Gemini => {
            let list = server.get_json("models?pageSize=1000").await?;
            each(&list, "models", |model| gemini(endpoint, model))
        }
        Api::Ollama => return ollama(server, endpoint).await,
    };
    Ok(Listed {
        models,
        lacks: None,
    })
}

/// What a server told, with what the settings know in the place of it, and
/// the models that only the settings know behind.
pub(super) fn merged(known: &[ModelInfo], told: Vec<ModelInfo>) -> Vec<ModelInfo> {
    let mut models = told;
    for info in known {
        match models.iter_mut().find(|model| model.id == info.id) {
            Some(model) => {
                if info.name != info.id {
                    model.name.clone_from(&info.name);
                }
                model.context_window = info.context_window.or(model.context_window);
                model.max_output = info.max_output.or(model.max_output);
                model.input_price = info.input_price.or(model.input_price);
                model.output_price = info.output_price.or(model.output_price);
            }
            None => models.push(info.clone()),
        }
    }
    models
}

fn each(list: &Value, key: &str, read: impl Fn(&Value) -> Option<ModelInfo>) -> Vec<ModelInfo> {
    // Some servers give the bare list.
    let models = list.get(key).unwrap_or(list).as_array();
    models.into_iter().flatten().filter_map(read).collect()
}

fn info(endpoint: &Endpoint, id: &str, name: Option<&Value>) -> ModelInfo {
    let facts = Facts {
        name: name.and_then(Value::as_str).map(str::to_owned),
        ..Facts::default()
    };
    facts.info(&endpoint.name, id)
}

fn first(model: &Value, pointers: &[&str]) -> Option<u64> {
    let mut numbers = pointers.iter().filter_map(|p| model.pointer(p)?.as_u64());
    numbers.find(|number| *number > 0)
}

async fn openai(server: &Server, endpoint: &Endpoint) -> Result<Listed, ModelError> {
    let list = server.get_json("models").await?;
    let mut models = each(&list, "data", |model| openai_model(endpoint, model));
    let owner = list.pointer("/data/0/owned_by").and_then(Value::as_str);
    let mut lacks = None;
    // llama.cpp tells the window that it has set up beside the API.
    if owner == Some("llamacpp") {
        match server.get_json("../props").await {
            Ok(props) => {
                let window = first(&props, &["/default_generation_settings/n_ctx"]);
                for model in &mut models {
                    model.context_window = window.or(model.context_window);
                }
            }
            Err(error) => {
                lacks = Some(format!("the window that is set up is not known: {error}"));
            }
        }
    }
    Ok(Listed { models, lacks })
}

/// The names of vLLM, OpenRouter, Groq, Mistral, and llama.cpp, in turn.
fn openai_model(endpoint: &Endpoint, model: &Value) -> Option<ModelInfo> {
    let id = model.get("id")?.as_str()?;
    let mut info = info(endpoint, id, model.get("name"));
    info.context_window = first(
        model,
        &[
            "/max_model_len",
            "/context_length",
            "/context_window",
            "/max_context_length",
            "/meta/n_ctx",
            "/meta/n_ctx_train",
        ],
    );
    info.max_output = first(
        model,
        &[
            "/top_provider/max_completion_tokens",
            "/max_completion_tokens",
        ],
    );
    Some(info)
}

fn anthropic(endpoint: &Endpoint, model: &Value) -> Option<ModelInfo> {
    let id = model.get("id")?.as_str()?;
    let mut info = info(endpoint, id, model.get("display_name"));
    info.context_window = first(model, &["/max_input_tokens"]);
    info.max_output = first(model, &["/max_tokens"]);
    Some(info)
}

/// Models that can't chat are left out.
fn gemini(endpoint: &Endpoint, model: &Value) -> Option<ModelInfo> {
    let methods = model
        .get("supportedGenerationMethods")
        .and_then(Value::as_array);
    if methods.is_some_and(|methods| !methods.iter().any(|m| m == "generateContent")) {
        return None;
    }
    let name = model.get("name")?.as_str()?;
    let id = name.strip_prefix("models/").unwrap_or(name);
    let mut info = info(endpoint, id, model.get("displayName"));
    info.context_window = first(model, &["/inputTokenLimit"]);
    info.max_output = first(model, &["/outputTokenLimit"]);
    Some(info)
}

async fn ollama(server: &Server, endpoint: &Endpoint) -> Result<Listed, ModelError> {
    let list = server.get_json("api/tags").await?;
    let mut models = each(&list, "models", |model| {
        let id = model.get("model").or_else(|| model.get("name"));
        Some(info(endpoint, id?.as_str()?, model.get("name")))
    });
    let until = Instant::now() + PATIENCE;
    let asked = models.iter().take(MOST).map(|model| model.id.clone());
    let facts: Vec<_> = stream::iter(asked.collect::<Vec<_>>())
        .map(
            async |id| match timeout_at(until, shown(server, &id)).await {
                Ok(shown) => shown.map_err(|error| error.to_string()),
                Err(_) => Err(format!(
                    "what it knows of model {id:?} did not come within {} s",
                    PATIENCE.as_secs()
                )),
            },
        )
        .buffered(AT_ONCE)
        .collect()
        .await;
    let mut failed = Vec::new();
    for (model, shown) in models.iter_mut().zip(facts) {
        match shown {
            Ok(shown) => model.context_window = ollama_window(&shown),
            Err(why) => failed.push(why),
        }
    }
    let beyond = models.iter().skip(MOST);
    failed.extend(beyond.map(|_| format!("no more than {MOST} models are asked about")));
    Ok(Listed {
        models,
        lacks: without_facts(&failed),
    })
}

/// What an Ollama server knows of one of its models.
async fn shown(server: &Server, id: &str) -> Result<Value, ModelError> {
    let question = object([("model", id.into())]).to_string();
    let answer = server.post("api/show", Bytes::from(question), Some(id));
    answer.await?.json().await
}

/// Says that a list is whole and the facts of some models are not there, for
/// these reasons.
fn without_facts(why: &[String]) -> Option<String> {
    let first = why.first()?;
    let count = counted(why.len(), "model");
    Some(format!("the window of {count} is not known: {first}"))
}

/// The window that a model has, or less where its file says so.
fn ollama_window(shown: &Value) -> Option<u64> {
    let facts = shown.get("model_info").and_then(Value::as_object);
    let most = facts.and_then(|facts| {
        let mut windows = facts
            .iter()
            .filter(|(key, _)| key.ends_with(".context_length"));
        windows.find_map(|(_, value)| value.as_u64())
    });
    let parameters = shown.get("parameters").and_then(Value::as_str);
    let set: Option<u64> = parameters.and_then(|text| {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix("num_ctx"));
        lines.find_map(|value| value.trim().parse().ok())
    });
    match (set, most) {
        (Some(set), Some(most)) => Some(set.min(most)),
        (set, most) => set.or(most),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn endpoint(api: Api) -> Endpoint {
        Endpoint::new("p", api, "http://localhost")
    }

    fn told(info: Option<ModelInfo>) -> String {
        info.map_or_else(String::new, |info| {
            format!(
                "{} {:?} {:?} {:?}",
                info.id, info.name, info.context_window, info.max_output
            )
        })
    }

    #[test]
    fn windows_are_read_under_each_servers_name_for_them() {
        let endpoint = endpoint(Api::OpenaiChat);
        for (model, expected) in [
            (json!({"id": "a"}), r#"a "a" None None"#),
            (
                json!({"id": "a", "max_model_len": 4096}),
                r#"a "a" Some(4096) None"#,
            ),
            (
                json!({"id": "a/b", "name": "B", "context_length": 8192,
                    "top_provider": {"max_completion_tokens": 100}}),
                r#"a/b "B" Some(8192) Some(100)"#,
            ),
            (
                json!({"id": "a", "context_window": 7, "max_completion_tokens": 5}),
                r#"a "a" Some(7) Some(5)"#,
            ),
            (
                json!({"id": "a", "meta": {"n_ctx_train": 9}}),
                r#"a "a" Some(9) None"#,
            ),
            (
                json!({"id": "a", "meta": {"n_ctx": 4, "n_ctx_train": 9}}),
                r#"a "a" Some(4) None"#,
            ),
            (json!({"name": "no id"}), ""),
        ] {
            assert_eq!(told(openai_model(&endpoint, &model)), expected);
        }
    }

    #[test]
    fn geminis_models_lose_their_prefix_and_those_that_cannot_chat_are_left_out() {
        let endpoint = endpoint(Api::Gemini);
        let model = json!({"name": "models/g", "displayName": "G", "inputTokenLimit": 10,
            "outputTokenLimit": 2, "supportedGenerationMethods": ["generateContent"]});
        assert_eq!(told(gemini(&endpoint, &model)), r#"g "G" Some(10) Some(2)"#);
        let model = json!({"name": "models/e", "supportedGenerationMethods": ["embedContent"]});
        assert_eq!(told(gemini(&endpoint, &model)), "");
    }

    #[test]
    fn an_ollama_model_tells_the_window_of_its_file_and_never_more_than_it_has() {
        let shown = |file: &str| json!({"model_info": {"llama.context_length": 131_072}, "parameters": file});
        let file = "stop \"x\"\nnum_ctx                        8192";
        assert_eq!(ollama_window(&shown(file)), Some(8192));
        assert_eq!(ollama_window(&shown("num_ctx 1000000")), Some(131_072));
        assert_eq!(ollama_window(&shown("stop \"x\"")), Some(131_072));
        assert_eq!(ollama_window(&json!({})), None);
    }

    #[test]
    fn what_is_not_known_of_several_models_is_told_with_the_first_reason() {
        let told = |why: &[&str]| {
            let why: Vec<String> = why.iter().map(|&why| why.to_owned()).collect();
            without_facts(&why).unwrap_or_default()
        };
        assert_eq!(told(&[]), "");
        assert_eq!(told(&["no"]), "the window of 1 model is not known: no");
        let several = "the window of 2 models is not known: no";
        assert_eq!(told(&["no", "why"]), several);
    }

    #[test]
    fn what_the_settings_know_takes_the_place_of_what_the_server_tells() {
        let endpoint = endpoint(Api::OpenaiChat);
        let mut server = info(&endpoint, "a", None);
        server.context_window = Some(1);
        server.max_output = Some(2);
        let mut set = info(&endpoint, "a", Some(&"A".into()));
        set.context_window = Some(10);
        let alone = info(&endpoint, "mine", None);
        let merged = merged(&[set, alone], vec![server]);
        let told: Vec<String> = merged.into_iter().map(|info| told(Some(info))).collect();
        assert_eq!(
            told,
            [r#"a "A" Some(10) Some(2)"#, r#"mine "mine" None None"#]
        );
    }
}
