//! Answers asked for again, and messages changed, over a real log.

use ibid::chat::{branches, requests};
use ibid::reference::projection::capture;

use super::*;

async fn said(bench: &mut Bench, words: &[&str]) {
    for words in words {
        bench.send(Draft::from_text(*words));
        bench.until_idle().await;
    }
}

/// What is cited of a session: read from its file, and from memory.
fn cited(place: &Place, session: &Session) -> Vec<String> {
    let file = place.home.session_file(session.id());
    let log = ibid::store::log::read_capture(&file).unwrap();
    let cited = log.capture.conversation;
    assert_eq!(cited, capture(session).conversation);
    cited.iter().map(|entry| entry.text.to_string()).collect()
}

#[tokio::test]
async fn an_answer_asked_for_again_is_cited_alone_and_asked_with_the_same_request() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    said(&mut bench, &["one", "two"]).await;
    bench.on(ChatEvent::Regenerate);
    bench.until_idle().await;
    assert_eq!(bench.codes(), [""; 0]);
    let stored = place.stored(bench.chat.session());
    assert_eq!(stored.events(), bench.chat.session().events());
    assert_eq!(cited(&place, &stored).len(), 4);
    let asked = requests(&stored);
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[1], asked[2]);
    bench.end().await;
}

#[tokio::test(start_paused = true)]
async fn called_off_the_old_answer_stays_and_what_came_is_kept_beside_it() {
    let place = Place::new();
    let mut bench = Bench::at_pace(&place, ReviewPolicy::Never, Duration::from_millis(30));
    said(&mut bench, &["one"]).await;
    let before = texts(bench.chat.session());
    bench.on(ChatEvent::Regenerate);
    let has_begun = |chat: &Chat| chat.partial_answer().is_some_and(|text| text.len() > 20);
    bench.until(has_begun).await;
    bench.on(ChatEvent::Cancel);
    bench.until_idle().await;
    let stored = place.stored(bench.chat.session());
    assert_eq!(texts(&stored), before);
    assert!(kinds(&stored).contains(&"assistant/attempt"));
    bench.end().await;
}

#[tokio::test]
async fn a_changed_message_takes_its_place_and_the_way_back_loses_nothing() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    said(&mut bench, &["one", "two", "three"]).await;
    let before = texts(bench.chat.session());
    let two = bench.chat.prompts().nth(1).unwrap();
    bench.on(ChatEvent::Revise(two.seq));
    assert_eq!(bench.composer, Some(Draft::from_text("two")));
    bench.send(citing("long"));
    bench.until_idle().await;
    let stored = place.stored(bench.chat.session());
    let changed = texts(&stored);
    assert_eq!(changed[..2], before[..2]);
    assert_eq!(changed[2], "see @LONG");
    assert_eq!(changed.len(), 5, "with its context and its answer");
    assert_eq!(place.spills().len(), 1);
    assert_eq!(cited(&place, &stored).len(), 4, "no context is cited");

    let left = branches(&stored);
    assert_eq!(left.len(), 1);
    bench.on(ChatEvent::GoBack(left[0].left_by));
    bench.until_idle().await;
    let stored = place.stored(bench.chat.session());
    assert_eq!(stored.events(), bench.chat.session().events());
    assert_eq!(texts(&stored), before);
    assert_eq!(cited(&place, &stored), before);
    let left = branches(&stored);
    bench.on(ChatEvent::GoBack(left[0].left_by));
    bench.until_idle().await;
    assert_eq!(texts(&place.stored(bench.chat.session())), changed);
    bench.end().await;
}

#[tokio::test]
async fn a_message_that_is_too_long_leaves_nothing_behind() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    let mut small = offline();
    small.context_window = Some(300);
    bench.on(ChatEvent::UseModel(small));
    bench.send(citing("long"));
    bench.until_idle().await;
    assert_eq!(bench.codes(), ["CHAT_TOO_LONG"]);
    assert_eq!(bench.composer, Some(citing("long")));
    let session = bench.chat.session().id().clone();
    bench.end().await;
    assert!(place.spills().is_empty());
    assert!(!place.home.session_file(&session).exists());
}

#[tokio::test]
async fn a_program_that_ends_while_a_message_is_changed_goes_on_with_that() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    said(&mut bench, &["one", "two"]).await;
    let id = bench.chat.session().id().clone();
    let two = bench.chat.prompts().nth(1).unwrap();
    bench.on(ChatEvent::Revise(two.seq));
    let kept = KeptDraft {
        revises: bench.chat.revising(),
        ..KeptDraft::from(Draft::from_text("zwei"))
    };
    bench.runtime.run(Job::KeepDraft(id.clone(), kept));
    bench.end().await;

    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    let opened = bench.open(id.as_str()).await.unwrap();
    let left = opened.draft.unwrap();
    let mut chat = Chat::new(opened.session, offline(), ReviewPolicy::Never);
    chat.go_on_revising(left.revises.unwrap());
    bench.chat = chat;
    bench.runtime.run(Job::Switch(opened.hold));
    bench.send(left.typed);
    bench.until_idle().await;
    let said = texts(&place.stored(bench.chat.session()));
    assert_eq!(said.len(), 4);
    assert_eq!(said[2], "zwei");
    bench.end().await;
}
