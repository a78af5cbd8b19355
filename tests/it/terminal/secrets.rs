//! A provider's key is nowhere but in the requests: in no file that a run
//! leaves, on no screen, in no output, and in no list of processes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::home::Place;
use super::pty::{Terminal, ibid};

/// Its signs are others in an address.
const KEY: &str = "sk-leak+/=0123456789abcdef";
const VARIABLE: &str = "IBID_TEST_LEAK_KEY";

/// The key as it stands, in an address, and in base64, for searching.
fn forms() -> [String; 3] {
    let encoded: String = url::form_urlencoded::byte_serialize(KEY.as_bytes()).collect();
    [KEY.to_owned(), encoded, STANDARD_NO_PAD.encode(KEY)]
}

#[track_caller]
fn assert_free(of: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for form in forms() {
        assert!(!text.contains(&form), "the key is in {of}: {text}");
    }
}

/// A server that repeats the key whenever it refuses. The last of its words in
/// a request says what it does.
fn server() -> (String, Arc<Mutex<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let keyed = Arc::<Mutex<usize>>::default();
    let seen = Arc::clone(&keyed);
    std::thread::spawn(move || {
        let mut limited = false;
        for stream in listener.incoming() {
            answer(stream.unwrap(), &mut limited, &seen);
        }
    });
    (address, keyed)
}

fn answer(mut stream: TcpStream, limited: &mut bool, keyed: &Mutex<usize>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let start = head.len();
        reader.read_line(&mut head).unwrap();
        let line = head[start..].to_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    *keyed.lock().unwrap() += usize::from(head.contains(&format!("Bearer {KEY}")));
    let body = String::from_utf8(body).unwrap();
    let words = ["please", "refuse", "hurry", "babble"];
    let last = words.into_iter().max_by_key(|word| body.rfind(word));
    let said = last.unwrap().to_uppercase();
    let whole = format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"You said {said}\"}},\
         \"finish_reason\":\"stop\"}}]}}\n\ndata: [DONE]\n\n"
    );
    let error = format!("{{\"error\":{{\"message\":\"no good: {KEY}\"}}}}");
    let (status, body) = match last {
        _ if head.starts_with("GET") => ("200 OK", r#"{"data":[{"id":"m"}]}"#),
        Some("refuse") => ("401 Unauthorized", error.as_str()),
        Some("hurry") if !std::mem::replace(limited, true) => {
            ("429 Too Many\r\nretry-after: 1", error.as_str())
        }
        Some("babble") => ("200 OK", "data: {nonsense}\n\n"),
        _ => ("200 OK", whole.as_str()),
    };
    let response = format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n{body}");
    stream.write_all(response.as_bytes()).unwrap();
}

/// Nothing that is running was given the key as an argument.
fn assert_not_in_the_list_of_processes() {
    let Ok(processes) = fs::read_dir("/proc") else {
        return;
    };
    for process in processes.map(Result::unwrap) {
        if let Ok(arguments) = fs::read(process.path().join("cmdline")) {
            assert_free("the list of processes", &arguments);
        }
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Says something and waits for what comes of it.
fn say(terminal: &mut Terminal, words: &str, expected: &str) {
    terminal.keys(words);
    terminal.wait_text(words);
    terminal.keys("\r");
    terminal.wait_text(expected);
    // A notice of waiting says the same without the dot.
    terminal.wait_gone("Esc stop ·");
    assert_free("the screen", terminal.rows().concat().as_bytes());
}

/// A whole run with a key from this place, named by its setting.
fn run(place_of_key: &str) {
    let place = Place::new();
    let (address, keyed) = server();
    let settings = format!(
        "model = \"own/m\"\nreview = \"never\"\n[providers.own]\napi = \"openai-chat\"\n\
         base-url = \"{address}\"\nkey = {place_of_key}\n"
    );
    fs::write(place.home().join("config.toml"), settings).unwrap();
    let start = |args: &[&str]| {
        let mut command = ibid(&place.home(), &place.cwd(), args);
        command.env(VARIABLE, KEY);
        Terminal::start(command, (80, 24))
    };

    let mut terminal = start(&[]);
    terminal.wait_text(">");
    say(&mut terminal, "please", "You said PLEASE");
    assert_not_in_the_list_of_processes();
    say(&mut terminal, "refuse", "[MODEL_AUTH]");
    say(&mut terminal, "babble", "[MODEL_BAD_RESPONSE]");
    say(&mut terminal, "hurry", "You said HURRY");
    terminal.keys("\x04");
    assert_free("what the screen was sent", &terminal.end().raw);

    let update = ["models", "update", "--provider", "own"];
    for args in [
        &["models"][..],
        &["models", "--json"],
        &update,
        &["config", "show"],
        &["config", "show", "--json"],
        &["config", "check"],
        &["doctor"],
        &["sessions", "list", "--json"],
    ] {
        let ended = start(args).end();
        assert!(ended.status.success(), "{args:?}");
        assert_free(&args.join(" "), &ended.raw);
    }

    assert_eq!(*keyed.lock().unwrap(), 6, "each request had it");
    let mut all = Vec::new();
    files(place.home().parent().unwrap(), &mut all);
    assert!(all.len() >= 4, "{all:?}");
    for file in all {
        assert_free(&file.display().to_string(), &fs::read(&file).unwrap());
    }
}

#[test]
fn a_key_from_the_environment_is_nowhere_but_in_requests() {
    run(&format!("{{ env = \"{VARIABLE}\" }}"));
}

#[test]
fn a_key_from_a_file_or_a_command_is_nowhere_but_in_requests() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    fs::write(&file, format!("{KEY}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let path = file.display();
    run(&format!("{{ file = \"{path}\" }}"));
    run(&format!("{{ command = [\"cat\", \"{path}\"] }}"));
}
