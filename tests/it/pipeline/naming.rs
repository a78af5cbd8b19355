//! Names that a person gives to sessions, and sessions written to files.

use ibid::runtime::Export;

use super::*;

impl Bench {
    /// What the person is told next.
    async fn notice(&mut self) -> Notice {
        loop {
            if let Done::Notice(notice) = self.next().await {
                return notice;
            }
        }
    }

    /// The titles that a list shows, once `id` has the wanted one.
    async fn until_listed(&mut self, id: &str, title: &str) {
        let query = ibid::runtime::Query::default();
        self.runtime.run(Job::Find(query.clone()));
        loop {
            match self.next().await {
                Done::Found(_, Ok(found)) => {
                    let is_it = |row: &&ibid::runtime::FoundRow| row.id.as_str() == id;
                    if found
                        .rows
                        .iter()
                        .find(is_it)
                        .is_some_and(|row| row.title == title)
                    {
                        return;
                    }
                }
                Done::LibraryChanged => self.runtime.run(Job::Find(query.clone())),
                Done::Chat(event) => self.on(event),
                _ => {}
            }
        }
    }
}

fn is_named(session: &Session, text: &str) -> bool {
    let title = session.title().unwrap();
    title.text == text && title.pinned
}

#[tokio::test]
async fn the_name_of_the_open_session_is_in_its_log_and_in_the_list() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    bench.send(Draft::from_text("hello there"));
    bench.until_idle().await;
    bench.on(ChatEvent::Rename("A better name".to_owned()));
    bench.until_idle().await;
    assert!(is_named(
        &place.stored(bench.chat.session()),
        "A better name"
    ));
    let id = bench.chat.session().id().clone();
    bench.until_listed(id.as_str(), "A better name").await;
    bench.send(Draft::from_text("and more"));
    bench.until_idle().await;
    let stored = place.stored(bench.chat.session());
    assert!(
        is_named(&stored, "A better name"),
        "nothing else renames it"
    );
    assert_eq!(stored.events(), bench.chat.session().events());
    bench.end().await;
}

#[tokio::test]
async fn another_session_is_named_without_being_opened() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    bench.until_listed("flaky", "why is it flaky?").await;
    let rename = Job::Rename("flaky".into(), "The pool".to_owned());
    bench.runtime.run(rename);
    assert!(!bench.notice().await.is_failure());
    bench.until_listed("flaky", "The pool").await;
    let (writer, recovered) = SessionWriter::open(&place.home, &"flaky".into()).unwrap();
    assert!(is_named(&recovered.session, "The pool"), "and it is let go");
    drop(writer);
    bench.end().await;
}

#[tokio::test]
async fn a_session_that_somebody_else_writes_in_keeps_its_name() {
    let place = Place::new();
    let (held, _) = SessionWriter::open(&place.home, &"flaky".into()).unwrap();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    bench
        .runtime
        .run(Job::Rename("flaky".into(), "The pool".to_owned()));
    let Notice::Failed(failure) = bench.notice().await else {
        panic!("it was renamed");
    };
    assert_eq!(failure.code, "SESSION_OPEN_ELSEWHERE");
    assert!(held.session().title().is_none());
    bench.end().await;
}

#[tokio::test]
async fn an_export_holds_what_was_logged_before_it_was_asked_for() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Never);
    bench.send(Draft::from_text("hello there"));
    bench.until_idle().await;
    let path = place.dir.path().join("out.jsonl");
    let export = Export {
        id: bench.chat.session().id().clone(),
        title: "hello there".to_owned(),
        path: Some(path.to_str().unwrap().to_owned()),
        moment: "now".to_owned(),
    };
    bench.runtime.run(Job::Export(export));
    let Notice::Info(told) = bench.notice().await else {
        panic!("it was not exported");
    };
    assert!(told.ends_with("out.jsonl"), "{told}");
    let read = ibid::store::log::read_session(&path).unwrap().session;
    assert_eq!(read.events(), bench.chat.session().events());
    bench.end().await;
}
