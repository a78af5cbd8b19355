#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use nucleo::Utf32String;
use nucleo::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use proptest::prelude::*;

use super::learnt::{Learnt, Search};
use super::*;
use crate::library::index::{Builder, NewRow, Shape};
use crate::library::query::Parsed;
use crate::session::{Header, Millis};
use crate::tool::Tool;

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

/// The first session given is the newest.
fn index(sessions: &[Given]) -> Arc<Index> {
    let mut builder = Builder::with_capacity(sessions.len());
    for (session, age) in sessions.iter().zip(0..) {
        let header = Header::new(&*session.id, Millis(-age), session.cwd.clone());
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
fn a_blank_query_lists_own_directory_then_none_then_others_newest_first() {
    let sessions = [
        given("1", "elsewhere, new", "/there", 0),
        given("2", "here, new", "/here", 0),
        given("3", "nowhere", "", 99),
        given("4", "elsewhere, old", "/there", 99),
        given("5", "here, old", "/here", 99),
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
        given("2", "here, new", "/here", -2),
        given("3", "nowhere", "", -1),
        given("4", "elsewhere, old", "/there", 0),
        given("5", "here, old", "/here", 0),
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

/// Scores everything, sorts everything.
fn slow(sessions: &[Given], query: &Query) -> Vec<(usize, u32)> {
    let here = query.target_cwd.as_deref();
    let mut all: Vec<(usize, u32)> = (0..sessions.len())
        .filter(|at| query.exclude.as_ref().map(SessionId::as_str) != Some(&sessions[*at].id))
        .filter(|at| {
            let Given {
                cwd, updated_at, ..
            } = &sessions[*at];
            let updated_at = Millis(*updated_at);
            query
                .filter
                .admits(Tool::Ibid, cwd.as_deref(), updated_at, query.now)
        })
        .filter_map(|at| Some((at, slow_score(&sessions[at], &query.text)?)))
        .collect();
    let blank = query.text.trim().is_empty();
    all.sort_by_key(|(at, score)| {
        let session = &sessions[*at];
        let active = if blank { 0 } else { -session.updated_at };
        let rank = workspace_rank(here, session.cwd.as_deref());
        (u32::MAX - score, rank, active, *at)
    });
    all
}

fn slow_score(session: &Given, query: &str) -> Option<u32> {
    let title = session
        .title
        .as_deref()
        .filter(|title| !title.is_empty())
        .unwrap_or(&session.id);
    let by_words = query.split_whitespace().try_fold(0, |sum, word| {
        let atom = Atom::new(
            word,
            CaseMatching::Smart,
            Normalization::Smart,
            AtomKind::Fuzzy,
            false,
        );
        let score = |text: &str, config: Config| {
            let text = if text.is_ascii() {
                Utf32String::from(text)
            } else {
                Utf32String::Unicode(nucleo::chars::graphemes(text).collect())
            };
            atom.score(text.slice(..), &mut Matcher::new(config))
                .map(u32::from)
        };
        let title = score(title, Config::DEFAULT);
        let cwd = session
            .cwd
            .as_deref()
            .and_then(|cwd| score(cwd, Config::DEFAULT.match_paths()));
        Some(sum + title.max(cwd.map(|score| score / 2))?)
    });
    let part = query.trim().to_lowercase();
    let like_id = part.len() >= 4
        && part.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
        && part.chars().any(|c| c.is_ascii_digit());
    let by_id = (like_id && session.id.to_lowercase().contains(&part))
        .then(|| 26 * u32::try_from(part.len()).unwrap());
    by_words.max(by_id)
}

#[test]
fn the_work_of_many_threads_comes_together_in_order() {
    let words = [
        "login",
        "lost origin",
        "log",
        "other",
        "Login page",
        "slow gin",
    ];
    let sessions: Vec<Given> = (0..6000)
        .zip(words.iter().cycle())
        .map(|(at, word)| {
            given(
                &format!("{at}"),
                word,
                ["/here", "", "/x"][at % 3],
                [3, 1, 2, 5, 4][at % 5],
            )
        })
        .collect();
    assert!(sessions.len() > 2 * MIN_SPAN as usize);
    let index = index(&sessions);
    let first = run(&index, &query("l"), None);
    let narrowed = run(&index, &query("login"), Some(&first.state));
    let expected = slow(&sessions, &query("login"));
    assert_eq!(expected.len(), 4000);
    for hits in [run(&index, &query("login"), None), narrowed] {
        assert_eq!(hits.matched, 4000);
        let rows = hits.rows.iter().map(|hit| (hit.row as usize, hit.score));
        assert!(rows.eq(expected[..100].iter().copied()));
    }
}

#[test]
fn rows_that_cannot_be_among_the_best_are_counted_all_the_same() {
    let syllables = [
        "lo", "gin", " ", "Re", "try", "é", "-", "ab", "A", "世", "1", "/",
    ];
    let mut random = 1u32;
    let mut next = |below: usize| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) as usize % below
    };
    let sessions: Vec<Given> = (0..5000)
        .map(|at| {
            let title: String = (0..=next(7))
                .map(|_| syllables[next(syllables.len())])
                .collect();
            let title = crate::session::title::normalise(&title, 80);
            let cwd = ["", "/here", "/there/log", "/x"][next(4)];
            given(
                &format!("{at:08}"),
                &title,
                cwd,
                -i64::try_from(next(50)).unwrap(),
            )
        })
        .collect();
    let index = index(&sessions);
    for text in [
        "l", "e", "lo", "login", "lry", "Re", "R", "1", "a1", "-", "é", "e log", "lo gi", "世",
        "/", "there", "0012", "l cwd:e", "-cwd:x r", "cwd:log", "A A", "zz",
    ] {
        let query = Query {
            limit: 7,
            ..query(text)
        };
        let hits = run(&index, &query, None);
        let expected = slow(&sessions, &query);
        assert_eq!(hits.matched, expected.len(), "{text}");
        let rows: Vec<_> = hits
            .rows
            .iter()
            .map(|hit| (hit.row as usize, hit.score))
            .collect();
        assert_eq!(rows, expected[..7.min(expected.len())], "{text}");
    }
}

fn sessions() -> impl Strategy<Value = Vec<Given>> {
    let title = "[abcABC1-3 é世🇩ñ\u{301}\u{200d}👩💻ÀſK-]{0,8}";
    let cwd = proptest::option::of("/[abc]{0,3}(/[abé]{1,2})?");
    let one = (proptest::option::of(title), cwd, 0..3i64, "[0-9a-f]{4}");
    proptest::collection::vec(one, 0..40).prop_map(|rows| {
        rows.into_iter()
            .enumerate()
            .map(|(at, (title, cwd, updated_at, id))| Given {
                id: format!("{at:04x}-{id}"),
                title: title.map(|title| crate::session::title::normalise(&title, 80)),
                cwd,
                updated_at,
            })
            .collect()
    })
}

/// Filters that admit some of [`sessions`].
fn filter() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "",
        "",
        "cwd:a",
        "cwd:ab",
        "cwd:/a",
        "-cwd:b",
        "-cwd:ab",
        "since:0d",
        "-since:0d",
        "tool:ibid",
        "tool:codex",
        "cwd:a since:0d",
        "cwd:ab -cwd:c",
    ])
}

proptest! {
    #[test]
    fn the_search_agrees_with_scoring_and_sorting_everything(
        sessions in sessions(),
        text in "[abcABC1-3é世ñ🇩👩\u{301} -]{0,6}",
        limit in 0..12usize,
        exclude in proptest::option::of(0..40usize),
        filter in filter(),
    ) {
        let index = index(&sessions);
        let query = Query {
            target_cwd: Some("/a".to_owned()),
            exclude: exclude.and_then(|at| Some(SessionId::from(&*sessions.get(at)?.id))),
            limit,
            ..query(&format!("{filter} {text}"))
        };
        let hits = run(&index, &query, None);
        let expected = slow(&sessions, &query);
        prop_assert_eq!(hits.matched, expected.len());
        let rows: Vec<_> = hits.rows.iter().map(|hit| (hit.row as usize, hit.score)).collect();
        prop_assert_eq!(rows, expected[..limit.min(expected.len())].to_vec());
    }

    #[test]
    fn no_text_scores_more_than_its_shape_allows(
        word in "[abABz1é世/_-]{1,6}",
        text in "[abABz1é世/_ -]{0,14}",
    ) {
        let needles = Needles::new(&word);
        let mut buffer = Vec::new();
        let shape = Shape::of(&text);
        let text = haystack(&text, text.is_ascii(), &mut buffer);
        for needle in needles.iter() {
            let score = needle.score(text, &mut Matcher::new(Config::DEFAULT));
            prop_assert!(score.unwrap_or(0) <= needle.best(&shape));
        }
    }

    #[test]
    fn changing_the_filter_gives_what_a_fresh_search_gives(
        sessions in sessions(),
        filters in proptest::collection::vec((filter(), 0..3i64), 1..6),
        text in "[abc]{0,1}",
    ) {
        let index = index(&sessions);
        let mut state = None;
        for (filter, now) in filters {
            let query = Query {
                now: Millis(now),
                ..query(&format!("{filter} {text}"))
            };
            let narrowed = run(&index, &query, state.as_ref());
            let fresh = run(&index, &query, None);
            prop_assert_eq!(&narrowed.rows, &fresh.rows);
            prop_assert_eq!(narrowed.matched, fresh.matched);
            state = Some(narrowed.state);
        }
    }

    #[test]
    fn typing_on_gives_what_a_fresh_search_gives(
        sessions in sessions(),
        text in "[abcABC1-3é世ñ👩\u{301}\u{200d} -]{1,7}",
    ) {
        let index = index(&sessions);
        let mut state = None;
        let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
        for end in ends.chain([1, text.len()]) {
            let query = query(text.get(..end).unwrap_or(&text));
            let narrowed = run(&index, &query, state.as_ref());
            let fresh = run(&index, &query, None);
            prop_assert_eq!(&narrowed.rows, &fresh.rows);
            prop_assert_eq!(narrowed.matched, fresh.matched);
            state = Some(narrowed.state);
        }
    }
}
