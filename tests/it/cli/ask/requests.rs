//! What was sent, made again from the log alone, is what the server received,
//! byte for byte.

use ibid::model::Api;
use rustix::process::Signal;

use super::{Place, Server, hanging, provider, refusing};
use crate::models::support::{TEXT, whole};
use crate::support::sessions::said;

/// The bodies that the log tells of.
fn from_the_log(place: &Place, id: &str) -> Vec<String> {
    let text = place.text(&["sessions", "show", id, "--requests"]);
    text.lines().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_log_gives_every_request_as_the_server_received_it() {
    for (api, next) in Api::ALL
        .into_iter()
        .zip(Api::ALL.into_iter().cycle().skip(1))
    {
        let limited = refusing("429 Slow", "retry-after: 0\r\n", "slow down");
        let server = Server::start(vec![
            whole(api),
            limited,
            whole(api),
            whole(api),
            hanging(api),
            whole(next),
            hanging(next),
            whole(api),
        ])
        .await;
        let place = Place::new();
        place.home().create().unwrap();
        let settings = [
            "model = \"local/m\"\n".to_owned(),
            provider("local", api, &server.url),
            provider("other", next, &server.url),
        ];
        place.write("home/config.toml", settings.concat());
        place.store(&said("old", ["an \u{202e}old \"story\" \u{1f642}\n"]));

        // A plain turn. Each one after it is of another program: a restart.
        let ended = place.ask(&["first \u{1b} \"quoted\""]);
        assert_eq!(ended.code, Some(0), "{api:?}: {}", ended.err);
        let id = ended.session_id();
        let asks = |args: &[&str]| {
            let ended = place.ask(&[&["--session", &id], args].concat());
            assert_eq!(ended.code, Some(0), "{api:?}: {}", ended.err);
        };
        // A request that is made again.
        asks(&["second"]);
        // A citation.
        asks(&["--cite", "old", "third"]);
        // A cancel in the middle.
        let mut asking = place.asking(&["--session", &id, "fourth"]);
        asking.prints(TEXT);
        asking.signal(Signal::INT);
        assert_eq!(asking.end().code, Some(130));
        // Another model, of another provider in another format.
        asks(&["--model", "other/m2", "fifth"]);
        // A crash in the middle.
        let mut asking = place.asking(&["--session", &id, "sixth"]);
        asking.prints(TEXT);
        asking.signal(Signal::KILL);
        assert_eq!(asking.end().code, None);
        // Back to the first model.
        asks(&["--model", "local/m", "seventh"]);
        // A compaction belongs here, with a turn after it.

        let received = server.received();
        assert_eq!(received.len(), 8, "{api:?}");
        assert_eq!(received[1].body, received[2].body, "the same bytes again");
        let mut sent: Vec<String> = received
            .into_iter()
            .map(|request| String::from_utf8(request.body).unwrap())
            .collect();
        sent.remove(2);
        assert_eq!(from_the_log(&place, &id), sent, "{api:?}");
        let last = sent.last().unwrap();
        for said in [
            "first",
            "second",
            "an \u{202e}old",
            "fourth",
            "fifth",
            "seventh",
        ] {
            assert!(last.contains(said), "{api:?}: {said} is not in {last}");
        }
    }
}

#[test]
fn a_provider_without_a_wire_format_has_a_line_that_says_so() {
    let place = Place::new();
    let id = place
        .ask(&["--model", "offline/offline", "hello"])
        .session_id();
    let lines = from_the_log(&place, &id);
    assert_eq!(lines.len(), 1);
    let line: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(line["provider"], "offline");
    assert!(line["body"].is_null());
    assert!(line["why"].as_str().unwrap().contains("no wire format"));
}
