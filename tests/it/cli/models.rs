//! `ibid models`.

use serde_json::{Value, json};

use super::Place;

/// A home with these settings, and no server of the usual ones on this
/// machine.
fn place(settings: &str) -> Place {
    let place = Place::new();
    place.home().create().unwrap();
    let local = ["ollama", "lmstudio", "vllm", "\"llama.cpp\""]
        .map(|name| format!("[providers.{name}]\nenabled = false\n"))
        .concat();
    place.write("home/config.toml", format!("{settings}\n{local}"));
    place
}

fn rows(place: &Place, args: &[&str]) -> Vec<Value> {
    let json = place.json(&[&["models", "--json"], args].concat());
    json.as_array().unwrap().clone()
}

#[test]
fn models_are_listed_with_what_is_known_and_whether_the_key_is_there() {
    let place = Place::new();
    let output = place
        .command()
        .env("ANTHROPIC_API_KEY", "sk-very-secret")
        .args(["models", "--json"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("very-secret"), "{text}");
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    let of = |provider: &str| {
        all.iter()
            .filter(|row| row["provider"] == provider)
            .collect()
    };
    let anthropic: Vec<&Value> = of("anthropic");
    let openai: Vec<&Value> = of("openai");
    assert!(anthropic.len() > 3 && openai.len() > 3);
    for row in &anthropic {
        assert!(row["contextWindow"].as_u64() > Some(0), "{row}");
        assert!(row["inputPrice"].as_f64() > Some(0.0), "{row}");
        assert_eq!(
            (&row["sources"], &row["key"]),
            (&json!(["shipped"]), &json!("there"))
        );
    }
    assert!(openai.iter().all(|row| row["key"] == "missing"));
    assert_eq!(all[0]["provider"], "offline");
    assert_eq!(all[0]["contextWindow"], 128_000);
    assert!(!place.path("home").exists(), "reading makes no home");
}

#[test]
fn a_persons_own_provider_is_listed_with_what_the_settings_say() {
    let settings = r#"
        [providers.own]
        api = "openai-chat"
        base-url = "http://localhost:1/v1"
        [providers.own.models."org/m:7b"]
        context-window = 4096
        price = { input = 1.5 }
        [providers.own.models.bare]
    "#;
    let place = place(settings);
    let text = place.text(&["models", "--provider", "own"]);
    assert_eq!(
        text,
        "own\tbare\t-\t-\t-\tsettings\tneeds no key\n\
         own\torg/m:7b\t4,096\t-\t$1.5/-\tsettings\tneeds no key\n"
    );
    let row = &rows(&place, &["--provider", "own"])[1];
    assert_eq!(row["contextWindow"], 4096);
    assert_eq!(row.get("maxOutput"), None);
}

#[test]
fn settings_hold_over_the_shipped_list() {
    let place = place("[providers.openai.models.gpt-4o]\ncontext-window = 7\n");
    let rows = rows(&place, &["--provider", "openai"]);
    let row = rows.iter().find(|row| row["model"] == "gpt-4o").unwrap();
    assert_eq!(row["contextWindow"], 7);
    assert!(row["maxOutput"].as_u64() > Some(7), "{row}");
    assert_eq!(row["sources"], json!(["shipped", "settings"]));
}

#[test]
fn a_provider_that_is_off_or_unknown_is_told_with_those_there_are() {
    let place = place("[providers.groq]\nenabled = false\n");
    assert!(
        rows(&place, &[])
            .iter()
            .all(|row| row["provider"] != "groq")
    );
    for args in [&["models", "--json"][..], &["models", "update", "--json"]] {
        for name in ["groq", "nowhere"] {
            let (code, message) = place.refused(&[args, &["--provider", name]].concat());
            assert_eq!(code, "NO_ADAPTER");
            assert!(message.contains("\"openai\""), "{message}");
        }
    }
}

#[test]
fn a_damaged_list_of_what_servers_told_is_said_and_left_out() {
    let place = place("");
    let path = place.write("home/models.json", "{");
    let ended = place.run(&["models", "--provider", "openai"]);
    assert_eq!(ended.code, Some(0));
    assert!(ended.err.contains(&path) && ended.err.contains("ibid models update"));
    assert!(!ended.out.is_empty());
}

#[test]
fn an_update_that_reaches_nobody_says_of_each_why() {
    let place = place("");
    let ended = place.run(&["models", "update"]);
    assert_eq!(ended.code, Some(1));
    let text = String::from_utf8(ended.out).unwrap();
    let openai = text.lines().find(|line| line.starts_with("openai: "));
    assert!(openai.unwrap().contains("OPENAI_API_KEY"), "{text}");
    assert!(ended.err.contains("[MODELS_NOT_UPDATED]"), "{}", ended.err);
    assert!(!place.path("home/models.json").exists());
}
