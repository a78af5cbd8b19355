use std::time::Duration;

use super::*;
use crate::model::{Api, ExposeSecret as _, KeyPlace};
use crate::tool::Tool;

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(text, Path::new("/home/of/ibid/config.toml"))
}

fn problems(text: &str) -> Vec<Problem> {
    match parse(text) {
        Ok(_) => Vec::new(),
        Err(ConfigError::Invalid { problems, .. }) => problems,
        Err(other) => panic!("{other}"),
    }
}

/// The only problem of a text.
#[track_caller]
fn problem(text: &str) -> Problem {
    let mut problems = problems(text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.remove(0)
}

fn provider(text: &str, name: &str) -> ProviderConfig {
    parse(text).unwrap().providers.get(name).unwrap().clone()
}

#[test]
fn the_defaults_file_says_what_holds_without_it() {
    let defaults = parse("").unwrap();
    assert_eq!(defaults.references, ReferenceConfig::default());
    assert_eq!(defaults.review, ReviewPolicy::Always);
    assert_eq!(defaults.model, None);
    let shipped = Given::read(DEFAULTS, Path::new(""), &Given::default()).unwrap();
    assert_eq!(shipped.review, Some(ReviewPolicy::Always));
    assert_eq!(shipped.theme, Some(defaults.theme));
    assert_eq!(shipped.titles, Some(defaults.titles));
    assert_eq!(shipped.references.max_references, Some(3));
}

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

/// The examples of the defaults file, each with the section that it stands in.
/// A commented section is one example with all that follows it.
fn examples() -> Vec<String> {
    let mut examples: Vec<String> = Vec::new();
    let (mut section, mut is_example) = ("", false);
    for line in DEFAULTS.lines() {
        let example = line.strip_prefix('#').filter(|rest| !rest.starts_with(' '));
        match example.filter(|rest| !rest.is_empty()) {
            Some(heading) if heading.starts_with('[') => {
                examples.push(heading.to_owned());
                is_example = true;
            }
            Some(setting) if is_example => {
                let last = examples.last_mut().unwrap();
                *last = format!("{last}\n{setting}");
            }
            Some(setting) => examples.push(format!("{section}\n{setting}")),
            None if line.starts_with('[') => (section, is_example) = (line, false),
            None => {}
        }
    }
    examples
}

#[test]
fn every_example_of_the_defaults_file_is_valid() {
    let examples = examples();
    assert!(examples.len() >= 12, "{examples:#?}");
    for example in examples {
        assert_eq!(problems(&example), [], "{example}");
    }
}

#[test]
fn a_first_settings_file_changes_nothing_and_has_every_default() {
    let starter = starter::starter();
    let shown = |text: &str| Shown::from(&parse(text).unwrap()).to_string();
    assert_eq!(shown(&starter), shown(""));
    let settings = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.trim_start_matches('#'));
        let set = lines.filter(|line| line.contains(" = ") && !line.starts_with(' '));
        set.map(str::to_owned).collect()
    };
    assert_eq!(settings(&starter), settings(DEFAULTS));
    for line in starter.lines() {
        assert!(line.is_empty() || line.starts_with(['#', '[']), "{line}");
    }
}

#[test]
fn a_first_settings_file_is_private_and_never_takes_the_place_of_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = write_starter(dir.path()).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), starter::starter());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    std::fs::write(&path, "mine").unwrap();
    assert_eq!(
        write_starter(dir.path()).unwrap_err().code(),
        "CONFIG_EXISTS"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    let gone = dir.path().join("gone");
    assert_eq!(
        write_starter(&gone).unwrap_err().code(),
        "CONFIG_UNWRITABLE"
    );
}

#[test]
fn settings_are_taken() {
    let config = parse("review = \"when-omitted\"\n[references]\nmax-bytes = 1000").unwrap();
    assert_eq!(config.review, ReviewPolicy::WhenOmitted);
    assert_eq!(config.references.max_reference_bytes(), Some(1000));
    for (word, theme) in THEMES {
        let config = parse(&format!("theme = \"{word}\"")).unwrap();
        assert_eq!((config.theme, config.theme_word()), (theme, word));
    }
    for (word, titles) in TITLES {
        let config = parse(&format!("titles = \"{word}\"")).unwrap();
        assert_eq!((config.titles, config.titles_word()), (titles, word));
    }
    let config = parse("model = \"openrouter/openai/gpt-x\"").unwrap();
    let route = config.model.unwrap();
    assert_eq!(
        (route.provider.as_str(), route.model.as_str()),
        ("openrouter", "openai/gpt-x")
    );
}

#[test]
fn every_tool_is_listed_without_its_subagents_unless_something_else_is_said() {
    let defaults = parse("").unwrap().sources;
    assert_eq!(defaults.tools, Tool::OTHERS);
    assert!(!defaults.show_subagents);
    let config = parse("[sources]\ntools = [\"codex\"]\nshow-subagents = true").unwrap();
    assert_eq!(config.sources.tools, [Tool::Codex]);
    assert!(config.sources.show_subagents);
    assert!(
        parse("[sources]\nshow_subagents = true")
            .unwrap()
            .sources
            .show_subagents
    );
    let none = parse("[sources]\ntools = []").unwrap().sources;
    assert!(none.tools.is_empty());
    for name in ["ibid", "emacs", ""] {
        let problem = problem(&format!("[sources]\ntools = [\"{name}\"]"));
        assert!(problem.problem.contains("claude"), "{problem}");
    }
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
fn an_unknown_setting_is_named_with_its_place_and_the_nearest_one() {
    let problem = problem("\nreveiw = \"never\"");
    assert_eq!((problem.line, problem.column), (2, 1));
    assert_eq!(problem.setting, "reveiw");
    assert_eq!(problem.nearest.as_deref(), Some("review"));
    let error = parse("\nreveiw = \"never\"").unwrap_err();
    assert_eq!(error.code(), "CONFIG_INVALID");
    let text = error.to_string();
    assert!(
        text.contains("config.toml") && text.contains("line 2, column 1"),
        "{text}"
    );
    assert!(
        text.ends_with("did you mean \"review\"?") && !text.contains('\n'),
        "{text}"
    );
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let text = r#"model = "opnai/gpt"
review = "allways"
max-bytes = 5
[references]
max-references = 4
context-fraction = nan
candidate-limit = -1
[sources]
tools = ["codex", "claud", 3]
show-subagents = "yes"
[providers.opnrouter]
enabled = true
[providers.openai]
api = "openapi-chat"
base_url = "https://x"
base-url = "ftp://x"
idle-timeout = 0
headers = { "a b" = "x", c = "\n" }
[providers.openai.models.m]
context-window = 1.5
price = { input = -1, ouput = 2 }
"#;
    let told: Vec<String> = problems(text)
        .iter()
        .map(|problem| {
            let nearest = problem.nearest.as_deref().unwrap_or("-");
            format!(
                "{}:{} {} {nearest}",
                problem.line, problem.column, problem.setting
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "1:9 model openai",
            "2:10 review always",
            "3:1 max-bytes -",
            "5:18 references.max-references -",
            "6:20 references.context-fraction -",
            "7:19 references.candidate-limit -",
            "9:19 sources.tools claude",
            "9:28 sources.tools -",
            "10:18 sources.show-subagents -",
            "11:12 providers.opnrouter openrouter",
            "14:7 providers.openai.api openai-chat",
            "15:1 providers.openai.base_url base-url",
            "16:12 providers.openai.base-url -",
            "17:16 providers.openai.idle-timeout -",
            "18:13 providers.openai.headers.a b -",
            "18:30 providers.openai.headers.c -",
            "20:18 providers.openai.models.m.context-window -",
            "21:19 providers.openai.models.m.price.input -",
            "21:23 providers.openai.models.m.price.ouput output",
        ]
    );
}

#[test]
fn a_misplaced_setting_is_told_where_it_belongs() {
    let problem = problem("max-bytes = 5");
    assert!(problem.problem.contains("[references]"), "{problem}");
}

#[test]
fn a_text_that_is_no_toml_is_told_with_its_places() {
    let problems = problems("review = \nmodel = 'x\n");
    assert_eq!(problems.iter().map(|p| p.line).collect::<Vec<_>>(), [1, 2]);
    for text in [
        "[",
        "a = 1\na = 2",
        "\u{feff}[[[",
        "=",
        "\"\\u0000\"=\"\"",
        "[providers]\n[providers]",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_section_that_is_none_is_told() {
    for text in [
        "references = 3",
        "providers = []",
        "providers.openai = true",
        "[[sources]]",
        "[providers.openai]\nmodels = [\"m\"]",
        "[providers.openai.models]\nm = 3",
        "[providers.openai]\nheaders = \"x\"",
        "[providers.openai.models.m]\nprice = 3",
    ] {
        let problem = problem(text);
        assert!(problem.problem.contains("a table of settings"), "{problem}");
    }
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

#[test]
fn settings_are_shown_without_what_could_be_a_key() {
    let text = r#"
        model = "own/m"
        [providers.own]
        api = "ollama"
        base-url = "http://x"
        proxy = "http://user:very-secret@localhost:3128"
        headers = { Authorization = "very-secret" }
        key = { env = "OWN_KEY" }
        max-output = 9
        num-ctx = 7
        extra = { think = true }
        [providers.own.models.m]
        context-window = 5
        extra = { options = { seed = 1 } }
        price = { input = 1 }
    "#;
    let config = parse(text).unwrap();
    let shown = Shown::from(&config).to_string();
    for text in [
        &shown,
        &format!("{:?}", config.providers.get("own").unwrap().headers),
    ] {
        assert!(!text.contains("very-secret"), "{text}");
    }
    for part in [
        "model = \"own/m\"",
        "OWN_KEY",
        "Authorization",
        "num-ctx = 7",
        "think = true",
        "seed = 1",
        "http://user@localhost:3128/",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    // What is shown can be used as a file again, but for what is hidden.
    let again = parse(&shown).unwrap();
    assert_eq!(Shown::from(&again).to_string(), shown);
}
