#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use futures_util::FutureExt as _;
use secrecy::ExposeSecret as _;

use super::*;

const SECRET: &str = "sk-very-secret-0123456789";

fn variables(names: &[&str]) -> PlacedKey {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    PlacedKey::with_variables(KeyPlace::Variables(names), |name| match name {
        "KEY" => Some(SECRET.into()),
        "OTHER" => Some("another".into()),
        "EMPTY" => Some(OsString::new()),
        "BROKEN" => Some("sk very-secret".into()),
        _ => None,
    })
}

fn command(words: &[&str]) -> PlacedKey {
    PlacedKey::new(KeyPlace::Command {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        time_limit: Duration::from_mins(1),
    })
}

fn shell(script: &str) -> PlacedKey {
    command(&["/bin/sh", "-c", script])
}

fn key_file(dir: &Path, content: &[u8], mode: u32) -> PathBuf {
    let path = dir.join("key");
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    path
}

async fn found(key: &PlacedKey) -> String {
    key.get().await.unwrap().expose_secret().to_owned()
}

async fn refused(key: &PlacedKey) -> KeyError {
    let error = key.get().await.err().unwrap();
    for text in [error.to_string(), format!("{error:?}"), format!("{key:?}")] {
        assert!(!text.contains("very-secret"), "{text}");
    }
    error
}

#[tokio::test]
async fn the_first_variable_that_is_set_gives_the_key() {
    assert_eq!(
        found(&variables(&["NONE", "EMPTY", "KEY", "OTHER"])).await,
        SECRET
    );
    assert_eq!(variables(&["KEY"]).standing(), Ok(KeyStanding::There));
}

#[tokio::test]
async fn a_variable_that_is_not_set_is_named() {
    let error = refused(&variables(&["NONE"])).await;
    assert_eq!(error.code(), "KEY_NOT_SET");
    assert!(
        error
            .to_string()
            .contains("set the environment variable NONE"),
        "{error}"
    );
    let error = refused(&variables(&["NONE", "EMPTY"])).await;
    assert!(
        error
            .to_string()
            .contains("one of the environment variables NONE, EMPTY"),
        "{error}"
    );
    assert_eq!(
        variables(&["NONE"]).standing().unwrap_err().code(),
        "KEY_NOT_SET"
    );
}

#[tokio::test]
async fn what_can_be_no_key_is_refused_and_not_repeated() {
    let error = refused(&variables(&["BROKEN"])).await;
    assert_eq!(error.code(), "KEY_INVALID");
    assert!(error.to_string().contains("BROKEN"), "{error}");
}

#[tokio::test]
async fn the_first_line_of_a_private_file_is_the_key() {
    let dir = tempfile::tempdir().unwrap();
    let path = key_file(dir.path(), b"  sk-very-secret-0123456789\r\nmore\n", 0o600);
    let key = PlacedKey::new(KeyPlace::File(path));
    assert_eq!(key.standing(), Ok(KeyStanding::There));
    assert_eq!(found(&key).await, SECRET);
}

#[tokio::test]
async fn a_file_that_others_may_read_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    for mode in [0o640, 0o604, 0o620, 0o777] {
        let path = key_file(dir.path(), SECRET.as_bytes(), mode);
        let key = PlacedKey::new(KeyPlace::File(path.clone()));
        let error = refused(&key).await;
        assert_eq!(error.code(), "KEY_FILE_OPEN");
        assert!(error.to_string().contains("chmod 600"), "{error}");
        assert_eq!(error, KeyError::Open { path, mode });
    }
}

#[tokio::test]
async fn a_file_that_is_mended_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = key_file(dir.path(), SECRET.as_bytes(), 0o644);
    let key = PlacedKey::new(KeyPlace::File(path));
    refused(&key).await;
    key_file(dir.path(), SECRET.as_bytes(), 0o600);
    assert_eq!(found(&key).await, SECRET);
}

#[tokio::test]
async fn what_is_no_file_is_named_and_never_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    for path in [dir.path().to_owned(), dir.path().join("gone"), pipe] {
        let error = refused(&PlacedKey::new(KeyPlace::File(path.clone()))).await;
        assert_eq!(error.code(), "KEY_UNREADABLE");
        assert!(error.to_string().contains(&format!("{path:?}")), "{error}");
    }
}

#[tokio::test]
async fn an_empty_or_binary_file_holds_no_key() {
    let dir = tempfile::tempdir().unwrap();
    let long = vec![b'a'; MOST_BYTES + 1];
    for content in [
        &b""[..],
        b"\nsk-very-secret",
        b"\xff\xfe",
        "schlüssel".as_bytes(),
        &long,
    ] {
        let path = key_file(dir.path(), content, 0o600);
        let error = refused(&PlacedKey::new(KeyPlace::File(path))).await;
        assert_eq!(error.code(), "KEY_INVALID");
    }
}

#[tokio::test]
async fn a_commands_first_line_is_the_key_and_it_runs_once() {
    let dir = tempfile::tempdir().unwrap();
    let runs = dir.path().join("runs");
    let script = format!("echo run >> {}; echo {SECRET}; echo url: x", runs.display());
    let key = shell(&script);
    assert_eq!(key.standing(), Ok(KeyStanding::AtCommand));
    assert!(!runs.exists(), "nothing runs it only to see");
    let (one, two) = tokio::join!(found(&key), found(&key));
    assert_eq!((one.as_str(), two.as_str()), (SECRET, SECRET));
    assert_eq!(std::fs::read_to_string(runs).unwrap(), "run\n");
}

#[tokio::test]
async fn a_commands_words_are_never_read_by_a_shell() {
    let key = command(&["echo", "$HOME;`x`"]);
    assert_eq!(found(&key).await, "$HOME;`x`");
}

#[tokio::test]
async fn a_command_that_fails_tells_how_and_nothing_of_what_it_said() {
    let key = shell("printf sk-very; echo -secret; echo no entry sk-very''-secret >&2; exit 3");
    let error = refused(&key).await;
    assert_eq!(error.code(), "KEY_COMMAND");
    let text = error.to_string();
    assert!(text.contains("exit status: 3"), "{text}");
    assert!(text.contains("run it yourself"), "{text}");
    assert!(!text.contains("no entry"), "{text}");
}

#[tokio::test]
async fn a_command_that_is_not_there_or_prints_nothing_is_told() {
    let error = refused(&command(&["/nowhere/to/be/found"])).await;
    assert!(error.to_string().contains("can't be run"), "{error}");
    let error = refused(&shell("exit 0")).await;
    assert_eq!(error.code(), "KEY_INVALID");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_takes_too_long_is_stopped() {
    let error = refused(&command(&["sleep", "100000"])).await;
    assert!(error.to_string().contains("longer than 60 s"), "{error}");
}

#[tokio::test]
async fn a_command_that_prints_without_end_of_line_or_too_much_is_bounded() {
    let key = shell("head -c 300000 /dev/zero | tr '\\0' a; head -c 300000 /dev/zero >&2");
    assert_eq!(refused(&key).await.code(), "KEY_INVALID");
}

#[tokio::test]
async fn a_command_that_prints_without_end_is_stopped_and_that_is_told() {
    let error = refused(&shell("yes sk-very''-secret")).await;
    assert_eq!(error.code(), "KEY_COMMAND");
    let text = error.to_string();
    assert!(text.contains("printed more than 1024 KB"), "{text}");
    assert!(!text.contains("pass phrase"), "{text}");
}

#[test]
fn a_key_is_never_printed() {
    let key = variables(&["KEY"]);
    let secret = key.get().now_or_never().unwrap().unwrap();
    for text in [format!("{key:?}"), format!("{secret:?}")] {
        assert!(!text.contains("very-secret"), "{text}");
    }
}
