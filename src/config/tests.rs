mod providers;

use super::*;
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
