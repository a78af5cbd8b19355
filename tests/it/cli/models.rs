//! `ibid models`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;

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

/// A server that answers one request with this list of models, and gives the
/// head of the request.
fn server(body: &'static str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let answered = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let head = lines
            .map(Result::unwrap)
            .take_while(|line| !line.is_empty());
        let head: Vec<String> = head.collect();
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
        .unwrap();
        head.join("\n")
    });
    (address, answered)
}

#[cfg(unix)]
#[test]
fn an_update_keeps_what_servers_tell_under_what_the_settings_say() {
    use std::os::unix::fs::PermissionsExt as _;
    let (address, answered) = server(
        r#"{"data":[{"id":"a","context_length":1000},{"id":"b\u001b[31m","context_length":5}]}"#,
    );
    let place = place(&format!(
        "[providers.own]\napi = \"openai-chat\"\nbase-url = \"{address}\"\nproxy = \"\"\n\
         key = {{ command = [\"echo\", \"sk-very-secret\"] }}\n\
         [providers.own.models.a]\nmax-output = 9\n"
    ));
    let args = ["models", "update", "--provider", "own", "--json"];
    let told = place.json(&args);
    let path = place.path("home/models.json");
    let expected = json!({"path": path, "providers": [{"provider": "own", "models": 2}]});
    assert_eq!(told, expected);
    let head = answered.join().unwrap();
    assert!(head.starts_with("GET /v1/models HTTP/1.1"), "{head}");
    assert!(head.contains("Bearer sk-very-secret"), "{head}");

    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(!kept.contains("very-secret"), "{kept}");
    let mode = path.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = place.text(&["models", "--provider", "own"]);
    assert_eq!(
        text,
        "own\ta\t1,000\t9\t-\tserver+settings\tkey by command\n\
         own\tb\u{241b}[31m\t5\t-\t-\tserver\tkey by command\n"
    );

    // The server is gone; what it told is still known.
    let (code, message) = refused_update(&place);
    assert_eq!(code, "MODEL_NETWORK");
    assert!(message.contains("own"), "{message}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), kept);
}

/// What an update of the provider `own` fails with.
fn refused_update(place: &Place) -> (String, String) {
    let ended = place.run(&["models", "update", "--provider", "own", "--json"]);
    assert_eq!(ended.code, Some(5));
    let error: Value = serde_json::from_str(&ended.err).unwrap();
    let field = |name: &str| error["error"][name].as_str().unwrap().to_owned();
    (field("code"), field("message"))
}
