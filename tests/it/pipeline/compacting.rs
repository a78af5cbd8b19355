//! Compaction, and titles from the model, over a real log.

use ibid::chat::{TitlePolicy, requests};
use ibid::reference::projection::capture;

use super::*;

/// A conversation of so many turns.
async fn talked(place: &Place, turns: usize, a_word: Duration) -> Bench {
    let mut bench = Bench::start(place, ReviewPolicy::Never);
    for turn in 1..=turns {
        bench.send(Draft::from_text(format!("question {turn}")));
        bench.until_idle().await;
    }
    if a_word.is_zero() {
        return bench;
    }
    let id = bench.chat.session().id().clone();
    bench.end().await;
    let (slot, file) = held(place, &id);
    Bench::over(place.services(a_word), slot, file, ReviewPolicy::Never)
}

/// A stored session and its draft, held for writing.
fn held(place: &Place, id: &ibid::session::SessionId) -> (Slot, DraftFile) {
    let (writer, _) = SessionWriter::open(&place.home, id).unwrap();
    let file = DraftFile::hold(&place.home, id.clone(), Some("/work".to_owned())).unwrap();
    (Slot::Stored(Box::new(writer)), file)
}

#[tokio::test]
async fn a_compacted_session_is_sent_and_cited_as_summary_and_tail() {
    let place = Place::new();
    let mut bench = talked(&place, 3, Duration::ZERO).await;
    bench.on(ChatEvent::Compact(Some("the questions".to_owned())));
    bench.until_idle().await;
    assert_eq!(bench.codes(), [""; 0]);

    let stored = place.stored(bench.chat.session());
    assert_eq!(stored.events(), bench.chat.session().events());
    let texts = texts(&stored);
    assert_eq!(texts.len(), 3);
    assert!(texts[0].contains("- \"question 2\""), "{}", texts[0]);
    assert_eq!(texts[1], "question 3");
    let log = ibid::store::log::read_capture(&place.home.session_file(stored.id())).unwrap();
    assert_eq!(log.capture.conversation, capture(&stored).conversation);
    assert!(log.capture.conversation[0].checkpoint);
    assert_eq!(log.capture.conversation.len(), 3);

    bench.send(Draft::from_text("question 4"));
    bench.until_idle().await;
    let stored = place.stored(bench.chat.session());
    let asked = requests(&stored);
    let sent: Vec<_> = asked[4].messages.iter().map(|m| m.text()).collect();
    assert_eq!(
        sent[..2],
        [&*texts[0], "question 3"],
        "what it goes on with"
    );
    assert_eq!(sent.len(), 4);
    bench.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_compaction_that_is_called_off_leaves_the_conversation_as_it_was() {
    let place = Place::new();
    let mut bench = talked(&place, 3, Duration::from_millis(30)).await;
    let before = texts(bench.chat.session());
    bench.on(ChatEvent::Compact(None));
    let has_begun = |chat: &Chat| chat.compacting().is_some_and(|text| text.len() > 20);
    bench.until(has_begun).await;
    bench.on(ChatEvent::Cancel);
    bench.until_idle().await;
    let stored = place.stored(bench.chat.session());
    assert_eq!(texts(&stored), before);
    assert_eq!(
        kinds(&stored)[kinds(&stored).len() - 2..],
        ["assistant/attempt", "compact/end"]
    );
    bench.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_program_that_is_killed_while_it_compacts_leaves_the_conversation_as_it_was() {
    let place = Place::new();
    let mut bench = talked(&place, 3, Duration::from_millis(100)).await;
    let before = texts(bench.chat.session());
    let id = bench.chat.session().id().clone();
    bench.on(ChatEvent::Compact(None));
    let is_kept = |chat: &Chat| kinds(chat.session()).ends_with(&["assistant/delta"]);
    bench.until(is_kept).await;
    // What is in the log at this moment is all that a killed one leaves.
    let log = std::fs::read(place.home.session_file(&id)).unwrap();
    bench.end().await;
    std::fs::write(place.home.session_file(&id), log).unwrap();

    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    let opened = bench.open(id.as_str()).await.unwrap();
    assert_eq!(texts(&opened.session), before);
    assert!(kinds(&opened.session).ends_with(&["assistant/attempt", "compact/end"]));
    drop(opened);
    bench.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_sent_while_it_compacts_goes_on_from_the_summary() {
    let place = Place::new();
    let mut bench = talked(&place, 3, Duration::from_millis(30)).await;
    bench.on(ChatEvent::Compact(None));
    bench.send(Draft::from_text("and now?"));
    bench.until_idle().await;
    let texts = texts(&place.stored(bench.chat.session()));
    assert_eq!(texts.len(), 5);
    assert!(texts[0].contains("question 2"));
    assert_eq!(texts[3], "and now?");
    bench.end().await;
}

#[tokio::test]
async fn a_title_from_the_model_comes_beside_the_conversation() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    let new = Chat::new(bench.chat.session().clone(), offline(), ReviewPolicy::Never);
    bench.chat = new.with_titles(TitlePolicy::FromModel);
    bench.send(Draft::from_text("one two three four five six seven"));
    let title = |chat: &Chat| chat.session().title().map(|title| title.text.clone());
    bench.until(|chat| title(chat).is_some()).await;
    assert_eq!(
        title(&bench.chat).as_deref(),
        Some("one two three four five")
    );
    let is_whole = |title: Option<String>| title.is_some_and(|title| title.ends_with("seven"));
    bench.until(|chat| is_whole(title(chat))).await;
    assert!(!bench.chat.is_busy());
    let stored = place.stored(bench.chat.session());
    assert!(!stored.title().unwrap().pinned);
    bench.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_program_ends_while_a_title_is_made() {
    let place = Place::new();
    let mut bench = Bench::at_pace(&place, ReviewPolicy::Never, Duration::from_secs(5));
    let new = Chat::new(bench.chat.session().clone(), offline(), ReviewPolicy::Never);
    bench.chat = new.with_titles(TitlePolicy::FromModel);
    bench.send(Draft::from_text("hello"));
    bench
        .until(|chat| {
            let asked = requests(chat.session());
            asked.len() == 2 && !chat.is_busy()
        })
        .await;
    bench.end().await;
}
