//! What `--cite` and mentions cite, and what is told of it.

use ibid::model::Api;
use serde_json::json;

use super::{place, served};
use crate::models::support::whole;
use crate::support::sessions::{answer, said};
use ibid::session::Block;

const API: Api = Api::OpenaiChat;

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_id_a_mention_a_title_and_a_clear_query_cite_one_session() {
    for wanted in [
        "a-1",
        "dsh-session:ImEtMSI",
        "@[x](dsh-session:ImEtMSI)",
        "the flaky login test",
        "login",
        "tool:ibid flaky login",
    ] {
        let (place, server) = served(API, vec![whole(API)]).await;
        let mut flaky = said("a-1", ["the flaky login test"]);
        answer(&mut flaky, vec![Block::text("the pool is too small")]);
        place.store(&flaky);
        place.store(&said("b-2", ["the slow build"]));
        let ended = place.ask(&["--cite", wanted, "what fixed it?"]);
        assert_eq!(ended.code, Some(0), "{wanted}: {}", ended.err);
        assert!(
            ended.err.contains("(ibid): 2 of 2 messages"),
            "{}",
            ended.err
        );
        let body = String::from_utf8(server.received().remove(0).body).unwrap();
        assert!(body.contains("the pool is too small"), "{wanted}: {body}");
        assert!(!body.contains("slow"), "{wanted}: {body}");
    }
}

#[test]
fn what_could_mean_several_sessions_is_not_guessed_at() {
    let place = place(API, "http://127.0.0.1:1");
    place.store(&said("a-1", ["the flaky login test"]));
    place.store(&said("b-2", ["test that flaky login"]));
    for wanted in ["flaky", "login test", "tool:ibid", "flgn"] {
        let ended = place.ask(&["--json", "--cite", wanted, "hello"]);
        assert_eq!(ended.code, Some(9), "{wanted}: {}", ended.err);
        let error = ended.events().pop().unwrap();
        assert_eq!(error["code"], "ASK_CITE_AMBIGUOUS", "{wanted}");
        let message = error["message"].as_str().unwrap();
        for row in [
            "\n  a-1  ibid  the flaky login test",
            "\n  b-2  ibid  test that flaky login",
        ] {
            assert!(message.contains(row), "{wanted}: {message}");
        }
    }
    let files = ibid::store::list_files(&place.home()).unwrap();
    assert_eq!(files.len(), 2, "nothing was begun");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_mention_in_the_prompt_cites_and_what_is_left_out_is_told() {
    let (place, server) = served(API, vec![whole(API), whole(API)]).await;
    let settings = std::fs::read_to_string(place.path("home/config.toml")).unwrap();
    let budget = "[references]\nmax-bytes = 2000\n";
    place.write("home/config.toml", settings + budget);
    place.store(&said("old", ["x".repeat(1_500), "y".repeat(1_500)]));

    let prompt = "compare @[the old one](dsh-session:Im9sZCI) please";
    let ended = place.ask(&[prompt]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let told = ended
        .err
        .lines()
        .find(|line| line.contains("cites"))
        .unwrap();
    assert!(
        told.contains("cites \"the old one\" (ibid): 1 of 2 messages, 1,5"),
        "{told}"
    );
    let locator = told.rsplit_once("ibid spill show ").unwrap().1;
    assert!(
        place
            .text(&["spill", "show", locator])
            .contains(&"x".repeat(1_500))
    );
    let body = String::from_utf8(server.received().remove(0).body).unwrap();
    assert!(body.contains("compare @the old one please"), "{body}");

    let ended = place.ask(&["--json", prompt]);
    let event = ended.events_of("reference").remove(0);
    assert_eq!(event["sessionId"], "old");
    assert_eq!(event["facts"]["retainedMessages"], 1);
    assert_eq!(event["facts"]["truncated"], true);
    assert_eq!(event["budget"], 2000);
    assert_eq!(event["notice"]["fullSnapshot"]["status"], json!("saved"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_session_does_not_cite_itself() {
    let (place, server) = served(API, Vec::new()).await;
    place.store(&said("a", ["alone"]));
    let ended = place.ask(&["--session", "a", "--cite", "a", "hello"]);
    assert_eq!(ended.code, Some(9));
    assert!(ended.err.contains("SELF_REFERENCE"), "{}", ended.err);
    let ended = place.ask(&["--session", "a", "--cite", "alone", "hello"]);
    assert!(ended.err.contains("ASK_CITE_NOT_FOUND"), "{}", ended.err);
    assert!(server.received().is_empty());
}
