//! Providers in the settings, their keys, and the chosen model.

use std::time::Duration;

use super::*;
use crate::model::{Api, ExposeSecret as _, KeyPlace};

#[test]
fn the_well_known_providers_need_nothing_but_their_variable() {
    let providers = parse("").unwrap().providers;
    let key = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned());
        Some(KeyPlace::Variables(names.collect()))
    };
    for (name, api, variables) in [
        ("openai", Api::OpenaiChat, &["OPENAI_API_KEY"][..]),
        ("anthropic", Api::Anthropic, &["ANTHROPIC_API_KEY"]),
        ("gemini", Api::Gemini, &["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
        ("deepseek", Api::OpenaiChat, &["DEEPSEEK_API_KEY"]),
        ("openrouter", Api::OpenaiChat, &["OPENROUTER_API_KEY"]),
        ("groq", Api::OpenaiChat, &["GROQ_API_KEY"]),
        ("mistral", Api::OpenaiChat, &["MISTRAL_API_KEY"]),
        ("xai", Api::OpenaiChat, &["XAI_API_KEY"]),
    ] {
        let provider = providers.get(name).unwrap();
        assert_eq!(
            (provider.api, &provider.key),
            (api, &key(variables)),
            "{name}"
        );
        assert!(provider.base_url.starts_with("https://"), "{name}");
        assert!(provider.enabled, "{name}");
    }
    for name in ["ollama", "lmstudio", "vllm", "llama.cpp"] {
        let provider = providers.get(name).unwrap();
        assert_eq!(provider.key, None, "{name}");
        assert!(provider.base_url.starts_with("http://localhost:"), "{name}");
    }
    assert_eq!(providers.len(), 12);
}

#[test]
fn a_provider_of_ones_own_has_every_setting() {
    let text = r#"
        [providers.own]
        enabled = false
        api = "openai-responses"
        base-url = "https://llm.example.com/v1/"
        key = { command = ["pass", "show", "own"], timeout = 5 }
        headers = { X-Team = "a b" }
        connect-timeout = 1
        idle-timeout = 2
        total-timeout = 3
        ca-file = "certs/own.pem"
        proxy = "http://user:pw@localhost:3128"
        [providers.own.models."org/m:7b"]
        name = "M"
        context-window = 4096
        max-output = 0x400
        price = { input = 1, output = 2.5 }
    "#;
    let own = provider(text, "own");
    let seconds = Duration::from_secs;
    assert_eq!((own.enabled, own.api), (false, Api::OpenaiResponses));
    assert_eq!(own.base_url, "https://llm.example.com/v1/");
    let key = KeyPlace::Command {
        words: ["pass", "show", "own"].map(str::to_owned).to_vec(),
        time_limit: seconds(5),
    };
    assert_eq!(own.key, Some(key));
    assert_eq!(own.headers.get("X-Team").unwrap().expose_secret(), "a b");
    let times = (own.connect_timeout, own.idle_timeout, own.total_timeout);
    assert_eq!(times, (seconds(1), seconds(2), Some(seconds(3))));
    assert_eq!(
        own.ca_file.unwrap(),
        Path::new("/home/of/ibid/certs/own.pem")
    );
    let model = &own.models.get("org/m:7b").unwrap().facts;
    assert_eq!(
        (model.name.as_deref(), model.max_output),
        (Some("M"), Some(1024))
    );
    assert_eq!(model.context_window, Some(4096));
    assert_eq!(
        (model.input_price, model.output_price),
        (Some(1.0), Some(2.5))
    );
}

#[test]
fn what_shapes_requests_is_set_for_a_provider_and_for_a_model() {
    let text = r#"
        [providers.own]
        api = "ollama"
        base-url = "http://localhost:11434"
        max-output = 500
        num-ctx = 8192
        [providers.own.extra]
        think = true
        keep_alive = -1
        options = { temperature = 0.5, stop = ["a", "b"] }
        [providers.own.models.m]
        max-output = 700
        context-window = 32768
        extra = { options = { seed = 0x10 } }
    "#;
    let own = provider(text, "own");
    assert_eq!(own.options.max_output, Some(500));
    assert_eq!(own.options.num_ctx, Some(8192));
    let extra = serde_json::to_string(&own.options.extra).unwrap();
    let options = r#""options":{"stop":["a","b"],"temperature":0.5}"#;
    assert!(extra.contains(options), "{extra}");
    assert!(extra.contains(r#""keep_alive":-1"#), "{extra}");
    let model = own.models.get("m").unwrap();
    assert_eq!(model.facts.max_output, Some(700));
    let extra = serde_json::to_string(&model.extra).unwrap();
    assert_eq!(extra, r#"{"options":{"seed":16}}"#);
}

#[test]
fn what_a_request_can_not_hold_is_told() {
    let told = |lines: &str| {
        let problem = problem(&format!("[providers.openai]\n{lines}"));
        format!("{} {}", problem.setting, problem.problem)
    };
    for (lines, expected) in [
        (
            "num-ctx = 4096",
            "providers.openai.num-ctx only a server of the API \"ollama\"",
        ),
        (
            "models.m.num-ctx = 4096",
            "providers.openai.models.m.num-ctx the window of one model is its `context-window`",
        ),
        (
            "extra = { messages = [] }",
            "providers.openai.extra.messages ibid itself says",
        ),
        (
            "models.m.extra = { stream = false }",
            "providers.openai.models.m.extra.stream ibid itself says",
        ),
        (
            "extra = { a = { b = 2020-01-01 } }",
            "providers.openai.extra.a JSON has no dates",
        ),
        (
            "extra = { a = [nan] }",
            "providers.openai.extra.a JSON has no such number",
        ),
        ("extra = 3", "providers.openai.extra this is a table"),
        ("max-output = 0", "providers.openai.max-output 0 is less"),
    ] {
        let told = told(lines);
        assert!(told.starts_with(expected), "{told}");
    }
    // What a key of a request is called is another thing elsewhere.
    let gemini = "[providers.gemini]\nextra = { model = \"m\" }";
    assert!(parse(gemini).is_ok());
}

#[test]
fn a_setting_of_a_known_provider_leaves_its_others() {
    let text = "[providers.openai]\nkey = { file = \"/keys/openai\" }\nidle-timeout = 7";
    let openai = provider(text, "openai");
    assert_eq!(openai.key, Some(KeyPlace::File("/keys/openai".into())));
    assert_eq!(openai.base_url, "https://api.openai.com/v1");
    assert_eq!(openai.idle_timeout, Duration::from_secs(7));
}

#[test]
fn a_path_may_start_at_the_persons_own_folder() {
    let openai = provider("[providers.openai]\nkey = { file = \"~/k\" }", "openai");
    let home = directories::BaseDirs::new().unwrap();
    let expected = home.home_dir().join("k");
    assert_eq!(openai.key, Some(KeyPlace::File(expected)));
}

#[test]
fn a_provider_that_ibid_does_not_know_needs_its_api_and_address() {
    let needs = |text| problem(text).problem;
    assert!(needs("[providers.own]\napi = \"gemini\"").contains("`base-url`"));
    assert!(needs("[providers.own]\nbase-url = \"http://x\"").contains("`api`"));
    let complete = "api = \"gemini\"\nbase-url = \"http://x\"";
    for name in ["offline", "\"a/b\"", "\"a b\"", "\"\"", "\"é\""] {
        let problem = problem(&format!("[providers.{name}]\n{complete}"));
        assert_eq!(problem.line, 1, "{problem}");
    }
}

#[test]
fn the_chosen_model_needs_a_provider_that_is_there() {
    assert_eq!(problem("model = \"gpt-5\"").setting, "model");
    assert_eq!(
        problem("model = \"antropic/x\"").nearest.as_deref(),
        Some("anthropic")
    );
    assert_eq!(
        problem("model = \"offline/ofline\"").nearest.as_deref(),
        Some("offline")
    );
    assert!(parse("model = \"offline/offline\"").is_ok());
    let off = problem("model = \"openai/x\"\n[providers.openai]\nenabled = false");
    assert!(off.problem.contains("enabled = false"), "{off}");
    let own = "model = \"own/x\"\n[providers.own]\napi = \"ollama\"\nbase-url = \"http://x\"";
    assert!(parse(own).is_ok());
}

#[test]
fn a_key_that_stands_in_the_settings_is_refused_and_never_repeated() {
    const SECRET: &str = "sk-very-secret";
    for line in [
        r#"key = "sk-very-secret""#,
        r#"key = { env = "sk-very-secret" }"#,
        r#"key = { env = ["A", "gsk_sk-very-secret"] }"#,
        r#"key = { key = "sk-very-secret" }"#,
        r#"key = { file = ["sk-very-secret"] }"#,
        r#"key = { command = "sk-very-secret" }"#,
        r#"key = { env = "A", file = "sk-very-secret" }"#,
        r#"api-key = "sk-very-secret""#,
        r#"base-url = "https://user:sk-very-secret@x""#,
        r#"base-url = "sk-very-secret""#,
        r#"base-url = "https://x?key=sk-very-secret""#,
        r#"proxy = "sk-very-secret""#,
        r#"headers = { Authorization = "sk-very-secret\u0007" }"#,
        r#"headers = { Authorization = ["sk-very-secret"] }"#,
        r#"key = "sk-very-secret"#,
        "key = sk-very-secret",
    ] {
        let error = parse(&format!("[providers.openai]\n{line}")).unwrap_err();
        for text in [error.to_string(), format!("{error:?}")] {
            assert!(!text.contains(SECRET), "{text}");
            assert!(text.contains("line"), "{text}");
        }
    }
}
