//! Whole turns, and turns called off.

use super::*;

const TURN: [&str; 7] = [
    "turn/start",
    "session/title",
    "user/message",
    "user/message",
    "request/header",
    "assistant/message",
    "turn/end",
];

#[tokio::test]
async fn a_turn_that_cites_puts_both_messages_side_by_side_and_then_the_answer() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Always);
    bench.send(citing("long"));
    bench.until_reviewed().await;
    let shown = match bench.chat.outgoing() {
        View::Review { step, .. } => step.contexts[0].message.text(),
        _ => unreachable!("it is reviewed"),
    };
    assert_eq!(place.spills().len(), 1);
    bench.on(ChatEvent::Confirm);
    assert_eq!(bench.composer, None);
    bench.until_idle().await;

    let stored = place.stored(bench.chat.session());
    assert_eq!(kinds(&stored), TURN);
    assert_eq!(stored.events(), bench.chat.session().events());
    let texts = texts(&stored);
    assert_eq!(texts[0], "see @LONG");
    assert_eq!(texts[1], shown, "what was shown is what was sent");
    assert!(
        texts[2].contains("LONG"),
        "the offline model says what it got"
    );
    assert_eq!(place.spills().len(), 1);
    assert!(bench.told.is_empty());
    bench.end().await;
}

#[tokio::test]
async fn what_becomes_of_a_source_later_does_not_change_what_was_said() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    bench.send(citing("flaky"));
    bench.until_idle().await;
    let before = texts(&place.stored(bench.chat.session()));
    std::fs::remove_file(place.home.session_file(&"flaky".into())).unwrap();
    assert_eq!(texts(&place.stored(bench.chat.session())), before);
    bench.send(citing("flaky"));
    bench.until_idle().await;
    assert_eq!(bench.codes(), ["SESSION_REFERENCE_READ_FAILED"]);
    assert_eq!(bench.composer, Some(citing("flaky")));
    assert_eq!(texts(&place.stored(bench.chat.session())), before);
    bench.end().await;
}

#[tokio::test]
async fn a_source_that_grew_after_the_review_is_captured_anew() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Always);
    bench.send(citing("long"));
    bench.until_reviewed().await;
    let first = place.spills();
    let (mut writer, _) = SessionWriter::open(&place.home, &"long".into()).unwrap();
    let more = Payload::user(Message::person("and one more thing"));
    writer.append(NewEvent::plain(Millis(3), more)).unwrap();
    bench.on(ChatEvent::Confirm);
    bench.until_reviewed().await;
    let View::Review { growth, .. } = bench.chat.outgoing() else {
        unreachable!("it is reviewed");
    };
    assert_eq!(growth[0].messages, 1);
    bench.on(ChatEvent::Confirm);
    bench.until_idle().await;
    assert!(texts(&place.stored(bench.chat.session()))[1].contains("and one more thing"));
    bench.end().await;
    let now = place.spills();
    assert_eq!(now.len(), 1, "the full text of what was not sent is gone");
    assert_ne!(now, first);
}

#[tokio::test]
async fn called_off_while_preparing_it_leaves_nothing_behind() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Always);
    bench.send(citing("long"));
    bench.on(ChatEvent::Cancel);
    assert!(!bench.chat.is_busy());
    // The task still answers, and nobody waits for it.
    loop {
        if let Done::Chat(event @ ChatEvent::Prepared(..)) = bench.next().await {
            bench.on(event);
            break;
        }
    }
    assert!(!bench.chat.is_busy());
    assert_eq!(bench.composer, Some(citing("long")));
    bench.end().await;
    assert!(place.spills().is_empty());
}

#[tokio::test]
async fn called_off_in_the_review_it_leaves_nothing_behind() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Always);
    bench.send(citing("long"));
    bench.until_reviewed().await;
    bench.on(ChatEvent::Cancel);
    let session = bench.chat.session().id().clone();
    bench.end().await;
    assert!(place.spills().is_empty());
    assert!(!place.home.session_file(&session).exists());
}

#[tokio::test]
async fn called_off_while_checking_it_leaves_nothing_behind() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Always);
    bench.send(citing("long"));
    bench.until_reviewed().await;
    bench.on(ChatEvent::Confirm);
    bench.on(ChatEvent::Cancel);
    assert_eq!(bench.composer, Some(citing("long")));
    let session = bench.chat.session().id().clone();
    bench.end().await;
    assert!(place.spills().is_empty());
    assert!(!place.home.session_file(&session).exists());
}

#[tokio::test]
async fn called_off_while_it_is_written_no_model_is_asked() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    bench.send(Draft::from_text("hello"));
    bench.on(ChatEvent::Cancel);
    bench.until_idle().await;
    let stored = place.stored(bench.chat.session());
    assert_eq!(texts(&stored), ["hello"]);
    assert_eq!(kinds(&stored).last(), Some(&"turn/end"));
    bench.end().await;
}

#[tokio::test(start_paused = true)]
async fn called_off_while_it_is_answered_what_came_is_kept_and_never_cited() {
    let place = Place::new();
    let mut bench = Bench::at_pace(&place, ReviewPolicy::Never, Duration::from_millis(30));
    bench.send(Draft::from_text("hello"));
    bench
        .until(|chat| {
            chat.partial_answer()
                .is_some_and(|text| text.contains("no language"))
        })
        .await;
    bench.on(ChatEvent::Cancel);
    bench.until_idle().await;
    let stored = place.stored(bench.chat.session());
    assert_eq!(texts(&stored), ["hello"]);
    assert!(kinds(&stored).contains(&"assistant/attempt"));
    let cited = ibid::reference::projection::capture(&stored).conversation;
    assert_eq!(cited.len(), 1);
    bench.end().await;
}

#[tokio::test]
async fn ended_while_preparing_the_program_leaves_nothing_behind() {
    let place = Place::new();
    for _ in 0..5 {
        let mut bench = Bench::start(&place, ReviewPolicy::Always);
        bench.send(citing("long"));
        bench.done.close();
        timeout(PATIENCE, bench.runtime.finish()).await.unwrap();
        assert!(place.spills().is_empty());
    }
}

#[tokio::test]
async fn the_open_session_can_be_found_by_its_title_as_soon_as_it_is_written() {
    use ibid::runtime::Query;
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    bench.send(Draft::from_text("a singular subject"));
    bench.until_idle().await;
    let id = bench.chat.session().id().clone();
    // Taking note of what was written goes on behind the answer.
    loop {
        let query = Query {
            text: "singular".to_owned(),
            ..Query::default()
        };
        bench.runtime.run(Job::Find(query));
        let found = loop {
            if let Done::Found(_, found) = bench.next().await {
                break found.unwrap();
            }
        };
        if let [row] = &found.rows[..] {
            assert_eq!(row.id, id);
            break;
        }
    }
    bench.end().await;
}
