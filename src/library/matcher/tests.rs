#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod compared;

use super::learnt::{Learnt, Search};
use super::*;
use crate::library::index::{Builder, NewRow};
use crate::library::query::Parsed;
use crate::session::{Header, Millis};

#[derive(Debug)]
struct Given {
    id: String,
    title: Option<String>,
    cwd: Option<String>,
    updated_at: i64,
}

fn given(id: &str, title: &str, cwd: &str, updated_at: i64) -> Given {
    Given {
        id: id.to_owned(),
        title: Some(title.to_owned()),
        cwd: (!cwd.is_empty()).then(|| cwd.to_owned()),
        updated_at,
    }
}

fn index(sessions: &[Given]) -> Arc<Index> {
    let mut builder = Builder::with_capacity(sessions.len());
    for session in sessions {
        let header = Header::new(&*session.id, Millis(0), session.cwd.clone());
        builder.push(&NewRow {
            title: session.title.as_deref(),
            updated_at: Millis(session.updated_at),
            ..NewRow::new(&header)
        });
    }
    Arc::new(builder.finish())
}

/// The query of this text, filters included, at the moment 0.
fn query(text: &str) -> Query {
    let parsed = Parsed::new(text, &jiff::tz::TimeZone::UTC);
    assert_eq!(parsed.problems, []);
    Query {
        text: parsed.rest,
        filter: parsed.filter,
        target_cwd: Some("/here".to_owned()),
        limit: 100,
        ..Query::default()
    }
}

fn run(index: &Arc<Index>, query: &Query, previous: Option<&SearchState>) -> Hits {
    search(index, query, previous, &CancellationToken::new()).unwrap()
}

fn titles(index: &Index, hits: &Hits) -> Vec<String> {
    hits.rows
        .iter()
        .map(|hit| index.get(hit.row).unwrap().label.to_owned())
        .collect()
}

fn found(sessions: &[Given], text: &str) -> Vec<String> {
    let index = index(sessions);
    let hits = run(&index, &query(text), None);
    titles(&index, &hits)
}

#[test]
fn a_blank_query_lists_own_directory_then_none_then_others_last_used_first() {
    let sessions = [
        given("1", "elsewhere, old", "/there", 1),
        given("2", "here, old", "/here", 1),
        given("3", "nowhere", "", 0),
        given("4", "elsewhere, new", "/there", 9),
        given("5", "here, new", "/here", 9),
    ];
    let order = [
        "here, new",
        "here, old",
        "nowhere",
        "elsewhere, new",
        "elsewhere, old",
    ];
    assert_eq!(found(&sessions, ""), order);
    assert_eq!(found(&sessions, "  "), order);
    let index = index(&sessions);
    let hits = run(
        &index,
        &Query {
            limit: 3,
            ..query("")
        },
        None,
    );
    assert_eq!(titles(&index, &hits), order[..3]);
    assert_eq!((hits.matched, hits.total), (5, 5));
}

#[test]
fn match_quality_counts_before_directory_and_activity() {
    let sessions = [
        given("1", "lost frog in garden", "/here", 99),
        given("2", "login", "/there", 0),
    ];
    assert_eq!(found(&sessions, "login"), ["login", "lost frog in garden"]);
}

#[test]
fn equal_matches_come_by_directory_and_then_by_latest_activity() {
    let sessions = [
        given("1", "login a", "/there", 9),
        given("2", "login b", "/here", 1),
        given("3", "login c", "/here", 2),
        given("4", "login d", "", 0),
    ];
    assert_eq!(
        found(&sessions, "login"),
        ["login c", "login b", "login d", "login a"]
    );
}

#[test]
fn every_word_must_match_title_or_directory_in_any_order() {
    let sessions = [
        given("1", "Fix the flaky login test", "/work/api", 0),
        given("2", "Login page", "/work/web", 0),
        given("3", "Flaky CI", "/work/api", 0),
    ];
    assert_eq!(found(&sessions, "login flak"), ["Fix the flaky login test"]);
    assert_eq!(found(&sessions, "login web"), ["Login page"]);
}

#[test]
fn a_match_in_the_title_is_worth_more_than_one_in_the_directory() {
    let sessions = [
        given("1", "notes", "/login", 9),
        given("2", "login", "/other", 0),
    ];
    assert_eq!(found(&sessions, "login"), ["login", "notes"]);
}

#[test]
fn case_counts_once_a_capital_is_typed() {
    let sessions = [given("1", "Login", "", 0), given("2", "login", "", 0)];
    assert_eq!(found(&sessions, "login").len(), 2);
    assert_eq!(found(&sessions, "Login"), ["Login"]);
}

#[test]
fn a_session_without_title_is_found_by_its_id() {
    let mut session = given("draft-7", "", "", 0);
    session.title = None;
    assert_eq!(found(&[session], "draft"), ["draft-7"]);
}

#[test]
fn a_query_like_part_of_an_id_finds_the_id() {
    let sessions = [given("019a-BEEF", "login", "", 0)];
    assert_eq!(found(&sessions, "9a-be"), ["login"]);
    assert!(found(&sessions, "9a-").is_empty(), "too short");
    assert!(found(&sessions, "beef").is_empty(), "a word");
    assert!(found(&sessions, "019a login").is_empty(), "two words");
}

#[test]
fn the_target_itself_is_no_answer() {
    let sessions = [given("1", "login a", "", 0), given("2", "login b", "", 0)];
    let index = index(&sessions);
    for text in ["", "login"] {
        let query = Query {
            exclude: Some("1".into()),
            ..query(text)
        };
        let hits = run(&index, &query, None);
        assert_eq!(titles(&index, &hits), ["login b"]);
        assert_eq!((hits.matched, hits.total), (1, 1));
    }
}

#[test]
fn a_cancelled_search_gives_no_answer() {
    let sessions = [given("1", "login", "/work", 0)];
    let index = index(&sessions);
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert!(search(&index, &query("login"), None, &cancel).is_none());
    assert!(search(&index, &query(""), None, &cancel).is_none());
}

#[test]
fn what_was_learnt_from_another_index_is_not_used() {
    let before = index(&[given("1", "nothing", "", 0)]);
    let state = run(&before, &query("log"), None).state;
    let now = index(&[given("1", "login", "", 0)]);
    let hits = run(&now, &query("logi"), Some(&state));
    assert_eq!(titles(&now, &hits), ["login"]);
}

#[test]
fn a_longer_query_looks_at_earlier_matches_only() {
    let index = index(&[given("1", "login", "", 0), given("2", "other", "", 0)]);
    let all = run(&index, &query("log"), None).state;
    // A state that claims to have found nothing shows that it is believed.
    let none = SearchState(Arc::new(Learnt {
        index: Arc::downgrade(&index),
        exclude: None,
        excluded_row: None,
        searches: vec![Arc::new(Search {
            needles: Needles::new("log"),
            filter: Filter::default(),
            now: Millis(0),
            rows: Vec::new(),
        })],
    }));
    assert_eq!(run(&index, &query("logi"), Some(&all)).matched, 1);
    assert_eq!(run(&index, &query("logi"), Some(&none)).matched, 0);
    assert_eq!(run(&index, &query("oth"), Some(&none)).matched, 1);
    assert_eq!(run(&index, &query("lo"), Some(&none)).matched, 1);
    assert_eq!(run(&index, &query("log cwd:x"), Some(&none)).matched, 0);
}

#[test]
fn a_query_whose_end_is_taken_back_looks_at_what_it_found_before() {
    let sessions = [
        given("1", "login", "", 0),
        given("2", "log", "", 0),
        given("3", "other", "", 0),
    ];
    let index = index(&sessions);
    let mut state: Option<SearchState> = None;
    let mut found = |text: &str| {
        let hits = run(&index, &query(text), state.as_ref());
        let searches = hits.state.0.searches.iter();
        let kept: Vec<Vec<u32>> = searches.map(|search| search.rows.clone()).collect();
        state = Some(hits.state);
        (hits.matched, kept)
    };
    let (all, two, one) = (vec![0, 1, 2], vec![0, 1], vec![0]);
    assert_eq!(found(""), (3, vec![]));
    assert_eq!(found("o"), (3, vec![all]));
    // The one before found more than is worth keeping.
    assert_eq!(found("log"), (2, vec![two.clone()]));
    assert_eq!(found("logi"), (1, vec![two.clone(), one.clone()]));
    // What found no fewer adds nothing.
    assert_eq!(found("login"), (1, vec![two.clone(), one.clone()]));
    assert_eq!(found("logi"), (1, vec![two.clone(), one]));
    assert_eq!(found("log"), (2, vec![two]));
    assert_eq!(found("othe"), (1, vec![vec![2]]));
}

#[test]
fn a_filter_leaves_out_what_it_does_not_admit() {
    let sessions = [
        given("1", "login a", "/work/api", -1),
        given("2", "login b", "/work/web", -1),
        given("3", "login c", "/work/api", -3 * 86_400_000),
        given("4", "other", "/work/api", -1),
        given("5", "login d", "", -1),
    ];
    assert_eq!(found(&sessions, "login cwd:API since:2d"), ["login a"]);
    assert_eq!(found(&sessions, "login -cwd:api"), ["login d", "login b"]);
    assert_eq!(found(&sessions, "login -since:2d"), ["login c"]);
    assert_eq!(found(&sessions, "tool:ibid oth"), ["other"]);
    assert!(found(&sessions, "tool:codex login").is_empty());
    let hits = run(&index(&sessions), &query("login cwd:api"), None);
    assert_eq!((hits.matched, hits.total), (2, 5));
}

#[test]
fn a_filter_alone_lists_what_it_admits_in_the_order_of_a_list() {
    let sessions = [
        given("1", "elsewhere, new", "/there", -1),
        given("2", "here, old", "/here", -2),
        given("3", "nowhere", "", -9),
        given("4", "elsewhere, old", "/there", -2),
        given("5", "here, new", "/here", -1),
        given("6", "here, long ago", "/here", -3 * 86_400_000),
    ];
    let listed = [
        "here, new",
        "here, old",
        "nowhere",
        "elsewhere, new",
        "elsewhere, old",
    ];
    assert_eq!(found(&sessions, "since:1d"), listed);
    let hits = run(&index(&sessions), &query("since:1d "), None);
    assert_eq!((hits.matched, hits.total), (5, 6));
}

#[test]
fn the_target_is_no_answer_of_a_filter_either() {
    let sessions = [given("1", "a", "/x", 0), given("2", "b", "/x", 0)];
    let index = index(&sessions);
    let query = Query {
        exclude: Some("1".into()),
        ..query("cwd:x")
    };
    let hits = run(&index, &query, None);
    assert_eq!(titles(&index, &hits), ["b"]);
    assert_eq!((hits.matched, hits.total), (1, 1));
}

#[test]
fn highlights_are_places_of_grapheme_clusters() {
    let place = |title: &str, query: &str| highlight(&index(&[given("1", title, "", 0)]), 0, query);
    assert_eq!(place("Fix login", "fl"), [0, 4]);
    assert_eq!(place("修复登录测试", "测试"), [4, 5]);
    assert_eq!(place("a 👩‍💻 login", "login"), [4, 5, 6, 7, 8]);
    assert_eq!(place("cafe\u{301} login", "login"), [5, 6, 7, 8, 9]);
    assert_eq!(place("cafe\u{301}", "cafe"), [0, 1, 2, 3]);
    assert_eq!(place("login \u{1b}[31mtest", "test"), [6, 7, 8, 9]);
    assert_eq!(place("Fix login", "zzz log"), [4, 5, 6]);
    assert!(place("Fix login", "").is_empty());
}
