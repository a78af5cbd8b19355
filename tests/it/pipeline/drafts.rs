//! Drafts that outlive the program.

use super::*;

/// Keeps what a screen would keep now.
fn keep(bench: &mut Bench, typed: &str) {
    let kept = KeptDraft {
        departed: bench.chat.departed(),
        typed: Draft::from_text(typed),
        revises: None,
    };
    let id = bench.chat.session().id().clone();
    bench.runtime.run(Job::KeepDraft(id, kept));
}

/// What the next program in this directory begins with.
fn left(place: &Place) -> Option<String> {
    let (_, _, draft) = begin(&place.home, Some("/work".to_owned())).unwrap();
    draft.map(|draft| draft.typed.to_text())
}

#[tokio::test]
async fn a_draft_is_there_again_after_the_program_ended() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    keep(&mut bench, "half a tho");
    keep(&mut bench, "half a thought");
    bench.end().await;
    assert_eq!(left(&place).as_deref(), Some("half a thought"));
}

#[tokio::test]
async fn a_draft_that_was_cleared_leaves_nothing() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    keep(&mut bench, "half a thought");
    keep(&mut bench, "");
    bench.end().await;
    assert_eq!(left(&place), None);
}

#[tokio::test]
async fn a_crash_right_after_the_log_was_written_does_not_bring_the_sent_draft_back() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    keep(&mut bench, "hello");
    for effect in bench
        .chat
        .update(ChatEvent::Send(Draft::from_text("hello")))
    {
        if let Effect::Log(..) = effect {
            keep(&mut bench, "typed since");
            bench.runtime.run(Job::Chat(effect));
        }
    }
    let id = bench.chat.session().id().clone();
    loop {
        if let Done::Chat(ChatEvent::Logged(..)) = bench.next().await {
            break;
        }
    }
    // The program is killed here: nothing more is kept. What the disk holds is
    // what the next one finds.
    let path = std::fs::read_dir(place.home.drafts_dir())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|e| e == "json"))
        .unwrap();
    let kept = std::fs::read(&path).unwrap();
    let found: serde_json::Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!(found["draft"]["departed"]["draft"][0], "hello");
    bench.end().await;
    std::fs::write(&path, kept).unwrap();

    let mut next = Bench::start(&place, ReviewPolicy::Never);
    let opened = next.open(id.as_str()).await.unwrap();
    assert_eq!(opened.draft.unwrap().typed.to_text(), "typed since");
    next.end().await;
}

#[tokio::test]
async fn a_crash_before_the_log_was_written_brings_the_draft_back() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    let id = bench.chat.session().id().clone();
    let kept = KeptDraft {
        departed: Some(Departed {
            message_id: "never logged".to_owned(),
            draft: citing("flaky"),
        }),
        typed: Draft::from_text("typed since"),
        revises: None,
    };
    bench.runtime.run(Job::KeepDraft(id, kept));
    bench.end().await;
    let whole = citing("flaky").to_text() + "\ntyped since";
    assert_eq!(left(&place), Some(whole));
}

#[tokio::test]
async fn the_last_words_in_a_session_are_kept_when_another_is_gone_on_in() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    bench.send(Draft::from_text("hello"));
    bench.until_idle().await;
    let before = bench.chat.session().id().as_str().to_owned();
    let opened = *bench.open("flaky").await.unwrap();
    keep(&mut bench, "last words");
    bench.chat = Chat::new(opened.session, offline(), ReviewPolicy::Never);
    bench.runtime.run(Job::Switch(opened.hold));
    keep(&mut bench, "other words");
    bench.end().await;

    let mut next = Bench::start(&place, ReviewPolicy::Never);
    for (id, words) in [(&*before, "last words"), ("flaky", "other words")] {
        let opened = next.open(id).await.unwrap();
        assert_eq!(opened.draft.unwrap().typed.to_text(), words);
    }
    next.end().await;
}

/// Makes drafts impossible to save, or possible again.
fn break_drafts(place: &Place, broken: bool) {
    let (drafts, away) = (place.home.drafts_dir(), place.dir.path().join("away"));
    if broken {
        std::fs::rename(&drafts, &away).unwrap();
        std::fs::write(&drafts, "not a folder").unwrap();
    } else {
        std::fs::remove_file(&drafts).unwrap();
        std::fs::rename(&away, &drafts).unwrap();
    }
}

#[tokio::test]
async fn a_draft_that_cannot_be_saved_is_told_when_the_program_ends() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    break_drafts(&place, true);
    keep(&mut bench, "half a thought");
    let failures = bench.end_with_failures().await;
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert!(failures[0].message.contains("drafts"), "{failures:?}");
}

#[tokio::test]
async fn a_draft_that_could_not_be_saved_is_tried_again_when_the_program_ends() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    break_drafts(&place, true);
    keep(&mut bench, "half a thought");
    while !matches!(bench.next().await, Done::Notice(Notice::Failed(_))) {}
    break_drafts(&place, false);
    bench.end().await;
    assert_eq!(left(&place).as_deref(), Some("half a thought"));
}

#[tokio::test]
async fn the_draft_of_a_session_that_was_left_is_not_lost_to_a_disk_that_fails() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    bench.send(Draft::from_text("hello"));
    bench.until_idle().await;
    let before = bench.chat.session().id().as_str().to_owned();
    let opened = *bench.open("flaky").await.unwrap();
    break_drafts(&place, true);
    keep(&mut bench, "last words");
    bench.runtime.run(Job::Switch(opened.hold));
    let refused = bench.open(&before).await.unwrap_err();
    assert!(refused.message.contains("drafts"), "{refused:?}");
    break_drafts(&place, false);
    let opened = bench.open(&before).await.unwrap();
    assert_eq!(opened.draft.unwrap().typed.to_text(), "last words");
    bench.end().await;
}

#[tokio::test]
async fn a_program_that_kept_nothing_leaves_no_lock_behind() {
    let place = Place::new();
    let before = files_in(&place.home.locks_dir());
    let bench = Bench::start(&place, ReviewPolicy::Never);
    assert_eq!(files_in(&place.home.locks_dir()).len(), before.len() + 1);
    bench.end().await;
    assert_eq!(files_in(&place.home.locks_dir()), before);
}

/// Begins a session that cites another one.
async fn begin_citing(bench: &mut Bench, id: &str) -> Opened {
    let cited = ibid::reference::Reference {
        session_id: id.into(),
        label: "Arm builds".to_owned(),
    };
    let wanted = Destination::Citing(cited);
    bench.runtime.run(Job::Open(wanted.clone()));
    loop {
        if let Done::Opened(answered, opened) = bench.next().await {
            assert_eq!(answered, wanted);
            return *opened.unwrap();
        }
    }
}

#[tokio::test]
async fn a_session_that_carries_another_on_is_written_with_its_first_message() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    let before = bench.chat.session().id().clone();
    let opened = begin_citing(&mut bench, "flaky").await;
    let id = opened.session.id().clone();
    assert_ne!(id, before);
    assert_eq!(opened.session.header().cwd.as_deref(), Some("/work"));
    let draft = opened.draft.unwrap().typed;
    keep(&mut bench, "last words");
    bench.chat = Chat::new(opened.session, offline(), ReviewPolicy::Never);
    bench.runtime.run(Job::Switch(opened.hold));
    assert!(!place.home.session_file(&id).exists(), "none is ever empty");
    bench.send(draft.followed_by(Draft::from_text("go on")));
    bench.until_idle().await;
    let said = texts(&place.stored(bench.chat.session()));
    assert!(said[0].starts_with("@Arm builds"), "{said:?}");
    assert!(said[1].contains("why is it flaky?"), "{said:?}");
    bench.end().await;
    assert_eq!(left(&place).as_deref(), Some("last words"));
}

#[tokio::test]
async fn a_session_begun_to_carry_another_on_keeps_its_draft_from_the_start() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    let opened = begin_citing(&mut bench, "codex:a").await;
    bench.runtime.run(Job::Switch(opened.hold));
    bench.end().await;
    let kept = left(&place).unwrap();
    assert!(kept.starts_with("@[Arm builds]("), "{kept}");
}
