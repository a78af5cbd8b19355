//! Going on in a session whose last line is torn, or that is damaged.

use ibid::model::Api;
use ibid::session::{Message, Payload};

use super::served;
use crate::models::support::{TEXT, whole};

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_answer_in_front_of_a_torn_line_stays_and_its_turn_is_complete() {
    let api = Api::ALL[0];
    let (place, _server) = served(api, vec![whole(api), whole(api), whole(api)]).await;
    let id = place.ask(&["hello"]).session_id();
    let file = place.home().session_file(&id.as_str().into());
    let log = std::fs::read(&file).unwrap();
    let torn = log.get(..log.len() - 20).unwrap();
    std::fs::write(&file, torn).unwrap();

    let ended = place.ask(&["--session", &id, "more"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    for told in [
        "the last line is torn",
        "its last turn is ended as complete",
    ] {
        assert!(ended.err.contains(told), "{}", ended.err);
    }
    let kept = torn.iter().rposition(|b| *b == b'\n').unwrap() + 1;
    let now = std::fs::read(&file).unwrap();
    assert!(now.starts_with(torn.get(..kept).unwrap()));
    let session = place.session(&id);
    let said: Vec<_> = session.derive_messages().map(Message::text).collect();
    assert_eq!(said, ["hello", TEXT, "more", TEXT]);
    let outcomes = session
        .events()
        .iter()
        .filter_map(|event| match &event.payload {
            Payload::LogOnly { kind, data } if kind == "turn/end" => data.get("outcome"),
            _ => None,
        });
    assert_eq!(outcomes.collect::<Vec<_>>(), ["complete", "complete"]);

    // What is damaged for good is told for as long as it is.
    let text = String::from_utf8(now).unwrap();
    let lines = text.lines().enumerate();
    let damaged: Vec<_> = lines
        .map(|(at, line)| if at == 2 { "garbage" } else { line })
        .collect();
    std::fs::write(&file, damaged.join("\n") + "\n").unwrap();
    assert!(place.text(&["doctor"]).contains("line 3 "));
    let ended = place.ask(&["--session", &id, "and more"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let doctor = place.text(&["doctor"]);
    assert!(doctor.contains("line 3 "), "{doctor}");
}
