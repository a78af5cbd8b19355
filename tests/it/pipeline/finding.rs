//! Finding sessions and looking at them, while others store some and disks
//! fail or hang.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ibid::library::ToolLogs;
use ibid::runtime::{Found, Query};
use ibid::source::Environment;
use ibid::tool::Tool;

use super::*;
use crate::library::{Logs, log, open, refresh};

/// How often another program writes.
const WRITTEN_EVERY: Duration = Duration::from_millis(400);

impl Bench {
    fn over_library(place: &Place, library: Library) -> Self {
        let (slot, file, _) = begin(&place.home, Some("/work".to_owned())).unwrap();
        let services = place.services_over(library, Duration::ZERO);
        Self::over(services, slot, file, ReviewPolicy::Always)
    }

    /// Opens a list of a session in this directory, and asks whenever the
    /// library changes, until the answer is as wanted.
    async fn find_until(
        &mut self,
        cwd: &str,
        is_wanted: impl Fn(&Result<Found, String>) -> bool,
    ) -> Result<Found, String> {
        let query = Query {
            cwd: Some(cwd.to_owned()),
            ..Query::default()
        };
        self.runtime.run(Job::Find(query.clone()));
        loop {
            match self.next().await {
                Done::Found(asked, found) if asked == query && is_wanted(&found) => return found,
                Done::LibraryChanged => self.runtime.run(Job::Find(query.clone())),
                _ => {}
            }
        }
    }
}

fn ids(found: &Found) -> Vec<&str> {
    found.rows.iter().map(|row| row.id.as_str()).collect()
}

fn finds(count: usize) -> impl Fn(&Result<Found, String>) -> bool {
    move |found| found.as_ref().is_ok_and(|found| found.total == count)
}

#[tokio::test]
async fn what_another_program_stores_is_there_when_a_list_is_opened() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Always);
    bench.find_until("/work", finds(2)).await.unwrap();
    write(&place.home, "new", &["from another window"]);
    let found = bench.find_until("/other", finds(3)).await.unwrap();
    assert!(ids(&found).contains(&"new"), "{found:?}");
    bench.end().await;
}

#[tokio::test]
async fn a_folder_that_cannot_be_listed_is_the_answer_until_it_can() {
    let place = Place::new();
    let logs = Logs::with([log("a", "One", 1)]);
    logs.listing_fails.store(true, Ordering::SeqCst);
    let mut bench = Bench::over_library(&place, open(&logs, None));
    let failed = bench.find_until("/work", Result::is_err).await;
    assert_eq!(failed.unwrap_err(), "the disk is gone");
    logs.listing_fails.store(false, Ordering::SeqCst);
    let found = bench.find_until("/other", finds(1)).await.unwrap();
    assert_eq!(ids(&found), ["a"]);
    bench.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_that_nobody_waits_for_any_more_do_not_pile_up() {
    let place = Place::new();
    let logs = Logs::with(["a", "b", "c"].map(|id| log(id, "Title", 1)));
    let cache = place.dir.path().join("cache.sqlite3");
    refresh(&open(&logs, Some(&cache)));
    let mut bench = Bench::over_library(&place, open(&logs, Some(&cache)));
    // All are read once to be searched.
    while !matches!(bench.next().await, Done::TextsRead) {}
    let before = logs.captures.load(Ordering::SeqCst);

    logs.reading.close();
    bench.runtime.run(Job::Look("a".into()));
    let hanging = Arc::clone(&logs);
    let reached = tokio::task::spawn_blocking(move || hanging.reading.wait_until_reached());
    reached.await.unwrap();
    bench.runtime.run(Job::Look("b".into()));
    bench.runtime.run(Job::Look("c".into()));
    logs.reading.open();
    let looked = loop {
        if let Done::Looked(id, _) = bench.next().await {
            break id;
        }
    };
    assert_eq!(looked.as_str(), "c");
    assert_eq!(logs.captures.load(Ordering::SeqCst), before + 2);
    bench.end().await;
}

#[tokio::test]
async fn filters_in_a_query_leave_sessions_out_or_tell_why_they_do_not() {
    let place = Place::new();
    let mut bench = Bench::start(&place, ReviewPolicy::Always);
    bench.find_until("/work", finds(2)).await.unwrap();
    let mut found = Vec::new();
    for text in ["cwd:work its", "cwd:elsewhere", "tool:cobol"] {
        let query = Query {
            text: text.to_owned(),
            ..Query::default()
        };
        bench.runtime.run(Job::Find(query.clone()));
        found.push(loop {
            if let Done::Found(asked, found) = bench.next().await
                && asked == query
            {
                break found.unwrap();
            }
        });
    }
    let counts = found.iter().map(|found| (found.rows.len(), found.total));
    assert_eq!(counts.collect::<Vec<_>>(), [(0, 2), (0, 2), (2, 2)]);
    let hints: Vec<_> = found.iter().map(|found| found.hint.as_deref()).collect();
    assert_eq!(hints[..2], [None, None]);
    assert!(hints[2].unwrap().contains("no tool is called cobol"));
    bench.end().await;
}

#[tokio::test]
async fn a_session_that_another_program_goes_on_with_moves_on_by_itself() {
    let place = Place::new();
    let elsewhere = place.dir.path().join("elsewhere");
    let folder = elsewhere.join(".claude/projects/-work");
    std::fs::create_dir_all(&folder).unwrap();
    let id = "01234567-89ab-4cde-8f01-23456789abcd";
    let file = folder.join(format!("{id}.jsonl"));
    let prompt = format!(
        r#"{{"parentUuid":null,"isSidechain":false,"cwd":"/work","sessionId":"{id}","version":"2","type":"user","message":{{"role":"user","content":"the first words"}},"uuid":"u","timestamp":"2026-01-01T00:00:00Z"}}"#
    );
    std::fs::write(&file, prompt + "\n").unwrap();
    let environment = Environment::new(Some(elsewhere), []);
    let others = ToolLogs::of(&[Tool::ClaudeCode], &environment);
    let own = Arc::new(StoredLogs::new(place.home.clone()));
    let library = Library::over(own, others, false, Some(place.home.cache_file()));
    let label = |library: &Library| {
        let index = library.index();
        let mut entries = index.iter();
        let entry = entries.find(|entry| entry.tool == Tool::ClaudeCode);
        entry.map(|entry| entry.label.to_owned())
    };
    refresh(&library);
    assert_eq!(label(&library).as_deref(), Some("the first words"));

    let mut bench = Bench::over_library(&place, library.clone());
    let name =
        format!(r#"{{"type":"custom-title","customTitle":"A new name","sessionId":"{id}"}}"#);
    let mut other = std::fs::OpenOptions::new()
        .append(true)
        .open(&file)
        .unwrap();
    let goes_on = async {
        while label(&library).as_deref() != Some("A new name") {
            // Nobody tells when the watcher is set up, so it is one change more
            // until one is noticed.
            writeln!(other, "{name}").unwrap();
            let _nothing_yet = timeout(WRITTEN_EVERY, bench.done.recv()).await;
        }
    };
    timeout(PATIENCE, goes_on).await.unwrap();
    bench.end().await;
}
