//! `ibid config`.

use serde_json::json;

use super::Place;

#[test]
fn init_writes_a_private_file_once_and_it_is_valid() {
    let place = Place::new();
    let path = place.path("home/config.toml");
    let shown = format!("{}\n", path.display());
    assert_eq!(place.text(&["config", "path"]), shown);
    assert!(
        !place.path("home").exists(),
        "telling the place makes nothing"
    );

    assert_eq!(place.text(&["config", "init"]), shown);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("#model = ") && text.contains("[references]"),
        "{text}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(
        place.json(&["config", "check", "--json"])["problems"],
        json!([])
    );

    let (code, message) = place.refused(&["config", "init", "--json"]);
    assert_eq!(code, "CONFIG_EXISTS");
    assert!(message.contains(path.to_str().unwrap()), "{message}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn path_tells_whether_the_file_is_there() {
    let place = Place::new();
    let path = place.path("home/config.toml");
    let told = |exists: bool| json!({"path": path, "exists": exists});
    assert_eq!(place.json(&["config", "path", "--json"]), told(false));
    assert_eq!(
        place.json(&["config", "init", "--json"]),
        json!({"path": path})
    );
    assert_eq!(place.json(&["config", "path", "--json"]), told(true));
}

#[test]
fn show_prints_what_holds_and_where_keys_come_from() {
    let place = Place::new();
    place.home().create().unwrap();
    place.write(
        "home/config.toml",
        "model = \"openai/gpt-5\"\n[providers.openai]\nidle-timeout = 9\n\
         headers = { X-Secret = \"sk-very-secret\" }\n",
    );
    let run = |args: &[&str]| {
        let mut command = place.command();
        let output = command.env("OPENAI_API_KEY", "sk-very-secret").args(args);
        String::from_utf8(output.output().unwrap().stdout).unwrap()
    };
    let text = run(&["config", "show"]);
    for line in [
        "model = \"openai/gpt-5\"",
        "max-references = 3",
        "[providers.openai]",
        "idle-timeout = 9",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{text}");
    }
    assert!(text.contains("OPENAI_API_KEY"), "{text}");
    assert!(!text.contains("very-secret"), "{text}");
    let json = run(&["config", "show", "--json"]);
    assert!(!json.contains("very-secret"), "{json}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        json["providers"]["openai"]["key"]["env"],
        json!(["OPENAI_API_KEY"])
    );
    assert_eq!(json["references"]["context-fraction"], json!(0.2));
}

#[test]
fn check_tells_everything_that_is_wrong_and_fails() {
    let place = Place::new();
    place.home().create().unwrap();
    let path = place.write(
        "home/config.toml",
        "reveiw = 1\n[sources]\ntools = \"codex\"\n",
    );
    let ended = place.run(&["config", "check"]);
    assert_eq!(ended.code, Some(1));
    let text = String::from_utf8(ended.out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[0].starts_with(&format!("{path}: line 1, column 1: reveiw: ")),
        "{text}"
    );
    assert!(lines[0].ends_with("did you mean \"review\"?"), "{text}");
    assert!(
        lines[1].contains("line 3, column 9: sources.tools: "),
        "{text}"
    );
    assert!(ended.err.contains("2 problems") && ended.err.contains("[CONFIG_INVALID]"));

    let ended = place.run(&["config", "check", "--json"]);
    assert_eq!(ended.code, Some(1));
    let json: serde_json::Value = serde_json::from_slice(&ended.out).unwrap();
    assert_eq!(json["path"], json!(path));
    let problem = &json["problems"][0];
    assert_eq!(
        (&problem["line"], &problem["column"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        (&problem["setting"], &problem["nearest"]),
        (&json!("reveiw"), &json!("review"))
    );
}

#[cfg(unix)]
#[test]
fn check_tells_a_key_file_that_others_may_read() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.home().create().unwrap();
    place.write(
        "home/config.toml",
        "[providers.openai]\nkey = { file = \"openai.key\" }\n",
    );
    let key = place.write("home/openai.key", "sk-very-secret\n");
    let set = |mode| std::fs::set_permissions(&key, PermissionsExt::from_mode(mode)).unwrap();
    set(0o644);
    let ended = place.run(&["config", "check", "--json"]);
    assert_eq!(ended.code, Some(1));
    let text = String::from_utf8(ended.out).unwrap();
    assert!(
        text.contains("KEY_FILE_OPEN") && text.contains("chmod 600"),
        "{text}"
    );
    assert!(!text.contains("very-secret"), "{text}");
    set(0o600);
    assert_eq!(
        place.text(&["config", "check"]),
        "nothing is wrong with the settings\n"
    );
}

#[test]
fn every_command_tells_all_problems_of_the_settings() {
    let place = Place::new();
    place.home().create().unwrap();
    place.write("home/config.toml", "a = 1\nb = 2\n");
    let (code, message) = place.refused(&["models", "--json"]);
    assert_eq!(code, "CONFIG_INVALID");
    assert!(
        message.contains("line 1") && message.contains("line 2"),
        "{message}"
    );
}
