//! What is asked: the prompt, stdin, and both.

use ibid::model::Api;

use super::{place, served, texts};
use crate::models::support::whole;

const API: Api = Api::OpenaiChat;

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_prompt_is_the_argument_or_stdin_and_data_follows_it() {
    let rows: [(&[&str], &str, &str); 6] = [
        (&["hello"], "", "hello"),
        (&["-"], "hello\n", "hello"),
        (&[], "hello\nthere\n", "hello\nthere"),
        (&["sum up"], "1\n2\n", "sum up\n\n1\n2\n"),
        (&["sum up"], "\n", "sum up"),
        (&["--", "-1 + 2?"], "", "-1 + 2?"),
    ];
    for (args, stdin, expected) in rows {
        let (place, _server) = served(API, vec![whole(API)]).await;
        let ended = place.ask_with(args, stdin);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        assert_eq!(texts(&place.session_but(&[]))[0], expected);
    }
}

#[test]
fn data_that_mentions_a_session_is_refused() {
    let place = place(API, "http://127.0.0.1:1");
    let ended = place.ask_with(&["sum up"], "see @[x](dsh-session:ImEi)");
    assert_eq!(ended.code, Some(9));
    assert!(ended.err.contains("[ASK_PIPED_MENTION]"), "{}", ended.err);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let place = place(API, "http://127.0.0.1:1");
    for args in [&["-"][..], &["sum up"], &[]] {
        let ended = place.ask_with(args, b"ok \xff\xfe\0".to_vec());
        assert_eq!(ended.code, Some(1));
        assert!(ended.err.contains("not UTF-8 at byte 3"), "{}", ended.err);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_prompt_of_megabytes_is_sent_whole() {
    let (place, server) = served(API, vec![whole(API)]).await;
    let long = "0123456789".repeat(300_000);
    let ended = place.ask_with(&["-"], long.clone());
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let body = server.received().remove(0).body;
    assert!(String::from_utf8(body).unwrap().contains(&long));
}
