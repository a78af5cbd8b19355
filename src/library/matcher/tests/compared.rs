//! The search beside one that scores everything and sorts everything.

use nucleo::Utf32String;
use nucleo::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use proptest::prelude::*;

use super::*;
use crate::library::index::Shape;
use crate::tool::Tool;

/// Sessions in the order of the rows that are made of them.
fn in_order(mut sessions: Vec<Given>) -> Vec<Given> {
    sessions.sort_by(|a, b| (b.updated_at, &a.id).cmp(&(a.updated_at, &b.id)));
    sessions
}

/// Scores everything, sorts everything; of sessions in the order of their rows.
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
    all.sort_by_key(|(at, score)| {
        let session = &sessions[*at];
        let rank = workspace_rank(here, session.cwd.as_deref());
        (u32::MAX - score, rank, *at)
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
    let sessions = in_order(sessions);
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
    let sessions = in_order(sessions);
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
        let sessions = rows
            .into_iter()
            .enumerate()
            .map(|(at, (title, cwd, updated_at, id))| Given {
                id: format!("{at:04x}-{id}"),
                title: title.map(|title| crate::session::title::normalise(&title, 80)),
                cwd,
                updated_at,
            });
        in_order(sessions.collect())
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
        let text = haystack(&text, Form::of(&text), &mut buffer);
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
