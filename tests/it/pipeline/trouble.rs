//! Disks that fail, and sessions that others hold.

use super::*;

#[tokio::test]
async fn a_home_that_is_a_file_gives_the_draft_back() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Always);
    bench.send(citing("long"));
    bench.until_reviewed().await;
    std::fs::rename(place.home.sessions_dir(), place.dir.path().join("away")).unwrap();
    std::fs::write(place.home.sessions_dir(), "not a folder").unwrap();
    bench.on(ChatEvent::Confirm);
    bench.until_idle().await;
    assert_eq!(bench.composer, Some(citing("long")));
    assert_eq!(bench.codes(), ["SESSION_REFERENCE_READ_FAILED"]);

    bench.send(Draft::from_text("hello"));
    bench.until_idle().await;
    assert_eq!(bench.composer, Some(Draft::from_text("hello")));
    assert_eq!(bench.codes().len(), 2);

    // Mended, it goes through.
    std::fs::remove_file(place.home.sessions_dir()).unwrap();
    std::fs::rename(place.dir.path().join("away"), place.home.sessions_dir()).unwrap();
    bench.send(Draft::from_text("hello"));
    bench.until_idle().await;
    assert_eq!(texts(&place.stored(bench.chat.session()))[0], "hello");
    bench.end().await;
}

#[tokio::test]
async fn an_answer_that_cannot_be_saved_is_written_with_the_next_message() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    bench.send(Draft::from_text("hello"));
    bench.until(|chat| chat.partial_answer().is_some()).await;
    // Somebody else wrote to the log: nothing goes there any more.
    let file = place.home.session_file(bench.chat.session().id());
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, [&whole[..], b"x"].concat()).unwrap();
    bench.until_idle().await;
    assert_eq!(bench.codes(), ["SESSION_CHANGED_OUTSIDE"]);
    let answer = bench.chat.unsaved_answer().unwrap().to_owned();
    assert!(answer.contains("hello"));

    std::fs::write(&file, &whole).unwrap();
    bench.send(Draft::from_text("next"));
    bench.until_idle().await;
    let texts = texts(&place.stored(bench.chat.session()));
    assert_eq!(texts[..3], ["hello", &*answer, "next"]);
    bench.end().await;
}

#[tokio::test]
async fn a_session_is_written_by_one_program_at_a_time() {
    let place = Place::new();
    let mut first = Bench::start(&place, ReviewPolicy::Never);
    first.send(Draft::from_text("hello"));
    first.until_idle().await;
    let id = first.chat.session().id().as_str().to_owned();

    let mut second = Bench::start(&place, ReviewPolicy::Never);
    let refused = second.open(&id).await.unwrap_err();
    assert_eq!(refused.code, "SESSION_OPEN_ELSEWHERE");
    let unknown = second.open("nowhere").await.unwrap_err();
    assert_eq!(unknown.code, "SESSION_NOT_FOUND");
    // It can still be read.
    second.send(citing(&id));
    second.until_idle().await;
    assert!(texts(&place.stored(second.chat.session()))[1].contains("hello"));

    first.end().await;
    assert!(second.open(&id).await.is_ok());
    second.end().await;
}

#[tokio::test]
async fn another_session_is_gone_on_in_and_the_one_before_is_let_go() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    bench.send(Draft::from_text("hello"));
    bench.until_idle().await;
    let before = bench.chat.session().clone();
    let opened = *bench.open("flaky").await.unwrap();
    // What is written before the switch still goes to the one before.
    bench.send(Draft::from_text("not yet"));
    bench.until_idle().await;
    assert!(texts(&place.stored(&before)).contains(&"not yet".to_owned()));

    bench.chat = Chat::new(opened.session, offline(), ReviewPolicy::Never);
    bench.runtime.run(Job::Switch(opened.hold));
    bench.send(Draft::from_text("go on"));
    bench.until_idle().await;
    let texts = texts(&place.stored(bench.chat.session()));
    assert_eq!(
        texts[..3],
        ["why is it flaky?", "the pool is too small", "go on"]
    );
    bench.end().await;
    SessionWriter::open(&place.home, before.id()).unwrap();
}

#[tokio::test]
async fn a_text_that_is_put_aside_is_in_a_file_whose_place_is_told() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    bench
        .runtime
        .run(Job::PutAside("an unsaved answer".to_owned()));
    let told = loop {
        if let Done::Notice(Notice::Info(told)) = bench.next().await {
            break told;
        }
    };
    let (_, path) = told.split_once("its text is kept in ").unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), "an unsaved answer");
    std::fs::remove_file(path).unwrap();
    bench.end().await;
}

#[tokio::test]
async fn an_opened_session_that_is_not_gone_on_in_is_let_go() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    drop(bench.open("flaky").await.unwrap());
    SessionWriter::open(&place.home, &"flaky".into()).unwrap();
    bench.end().await;
}

#[tokio::test]
async fn a_session_that_is_open_from_the_start_is_live_in_the_library() {
    use ibid::reference::ports::{KnownTitle, SessionDirectory as _};
    let place = Place::new();
    let id = "flaky".into();
    let (mut writer, _) = SessionWriter::open(&place.home, &id).unwrap();
    let title = ibid::session::Title::event("Its own word", ibid::session::TitleSource::Person);
    writer.append(NewEvent::plain(Millis(3), title)).unwrap();
    let file = DraftFile::hold(&place.home, id.clone(), None).unwrap();
    let services = place.services(Duration::ZERO);
    let library = services.library.clone();
    let slot = Slot::Stored(Box::new(writer));
    let bench = Bench::over(services, slot, file, ReviewPolicy::Never);
    let listed = library.list_sessions().await.unwrap();
    let open = listed.iter().find(|session| session.header.id == id);
    assert_eq!(
        open.map(|session| &session.title),
        Some(&KnownTitle::Live(Some("Its own word".to_owned())))
    );
    bench.end().await;
}

#[tokio::test]
async fn a_session_that_was_just_left_can_be_opened_at_once() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    bench.send(Draft::from_text("hello"));
    bench.until_idle().await;
    let mut left = bench.chat.session().id().as_str().to_owned();
    let mut other = "flaky".to_owned();
    for _ in 0..20 {
        let opened = *bench.open(&other).await.unwrap();
        bench.runtime.run(Job::Switch(opened.hold));
        std::mem::swap(&mut left, &mut other);
    }
    bench.end().await;
}
