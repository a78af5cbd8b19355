//! Searching what was said, from when it was read the first time.

use ibid::runtime::{TextFound, TextQuery};

use super::*;

impl Bench {
    /// Searches whenever more is known, until the answer is as wanted.
    async fn search_until(
        &mut self,
        query: &TextQuery,
        is_wanted: impl Fn(&TextFound) -> bool,
    ) -> TextFound {
        self.runtime.run(Job::Search(query.clone()));
        loop {
            match self.next().await {
                Done::Searched(asked, found) if asked == *query => {
                    let found = found.unwrap();
                    if is_wanted(&found) {
                        return found;
                    }
                }
                Done::LibraryChanged | Done::TextsRead => {
                    self.runtime.run(Job::Search(query.clone()));
                }
                _ => {}
            }
        }
    }
}

/// A program that has read what was said.
async fn start(place: &Place) -> Bench {
    let mut bench = Bench::start(place, ReviewPolicy::Never);
    while !matches!(bench.next().await, Done::TextsRead) {}
    bench
}

fn asking(text: &str) -> TextQuery {
    TextQuery {
        text: text.to_owned(),
        target: None,
    }
}

fn is_whole(found: &TextFound) -> bool {
    found.indexing.is_none() && !found.is_cut
}

#[tokio::test]
async fn what_was_said_is_found_with_its_session_and_its_place() {
    let place = Place::new();
    let mut bench = start(&place).await;
    let found = bench.search_until(&asking("too small"), is_whole).await;
    assert_eq!((found.rows.len(), found.matched), (1, 1));
    let row = &found.rows[0];
    assert_eq!(row.id.as_str(), "flaky");
    assert_eq!((row.message, row.role), (Some(1), Role::Assistant));
    assert_eq!(row.snippet, "the pool is too small");
    let marked: String = row.marks.iter().map(|m| &row.snippet[m.clone()]).collect();
    assert_eq!(marked.replace(' ', ""), "toosmall");
    assert_eq!(row.place, "/work");
    bench.end().await;
}

#[tokio::test]
async fn the_session_that_is_written_in_is_no_answer() {
    let place = Place::new();
    let mut bench = start(&place).await;
    let query = TextQuery {
        target: Some("flaky".into()),
        ..asking("pool")
    };
    let found = bench.search_until(&query, is_whole).await;
    assert!(found.rows.is_empty(), "{found:?}");
    bench.end().await;
}

#[tokio::test]
async fn a_search_that_comes_before_anything_was_read_keeps_nothing_from_being_read() {
    for _ in 0..5 {
        let place = Place::new();
        let mut bench = Bench::start(&place, ReviewPolicy::Never);
        let found = bench
            .search_until(&asking("too small"), |found| !found.rows.is_empty())
            .await;
        assert_eq!(found.rows[0].id.as_str(), "flaky");
        bench.end().await;
    }
}

#[tokio::test]
async fn filters_hold_for_what_was_said_too() {
    let place = Place::new();
    let mut bench = start(&place).await;
    let found = bench
        .search_until(&asking("tool:codex pool"), is_whole)
        .await;
    assert!(found.rows.is_empty(), "{found:?}");
    let found = bench
        .search_until(&asking("since:never pool"), is_whole)
        .await;
    assert_eq!(found.rows.len(), 1);
    assert!(found.hint.unwrap().contains("since:never is no time"));
    bench.end().await;
}

#[tokio::test]
async fn a_question_that_another_one_follows_is_given_up() {
    let place = Place::new();
    let mut bench = start(&place).await;
    bench.search_until(&asking("pool"), is_whole).await;
    for text in ["l", "lo", "lon", "long"] {
        bench.runtime.run(Job::Search(asking(text)));
    }
    let found = bench.search_until(&asking("long story"), is_whole).await;
    assert_eq!(found.rows[0].id.as_str(), "long");
    bench.end().await;
}

#[tokio::test]
async fn what_is_said_while_the_program_runs_is_found_when_it_is_written() {
    let place = Place::new();
    let mut bench = start(&place).await;
    bench.search_until(&asking("pool"), is_whole).await;
    write(&place.home, "new", &["from another window"]);
    // Opening a list looks for it, where no watcher does.
    bench
        .runtime
        .run(Job::Find(ibid::runtime::Query::default()));
    let found = bench
        .search_until(&asking("another window"), |found| !found.rows.is_empty())
        .await;
    assert_eq!(found.rows[0].id.as_str(), "new");
    bench.end().await;
}

#[tokio::test]
async fn an_index_that_is_deleted_meanwhile_is_filled_again_by_a_search() {
    let place = Place::new();
    let mut bench = start(&place).await;
    let query = asking("too small");
    assert_eq!(bench.search_until(&query, is_whole).await.matched, 1);
    let cache = place.home.cache_file().into_os_string();
    for end in ["", "-wal", "-shm"] {
        let mut path = cache.clone();
        path.push(end);
        std::fs::remove_file(path).unwrap();
    }
    // Nobody opens a list.
    let found = bench.search_until(&query, |found| found.matched > 0 && is_whole(found));
    assert_eq!(found.await.rows[0].id.as_str(), "flaky");
    bench.end().await;
}
