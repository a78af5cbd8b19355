use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::fold::{fold, fold_smart, is_word};
use super::*;

/// Sessions by their ids: the texts of each.
type Sessions = BTreeMap<String, Vec<String>>;

fn stamp(number: u64) -> Stamp {
    Stamp {
        size: number,
        mtime_ns: 7,
        inode: 9,
    }
}

/// Puts sessions in, all with the same stamp; the time of a message is the
/// number of its session.
fn put(texts: &Texts, sessions: &[(&str, &[&str])], state: u64) {
    let ids: Vec<SessionId> = sessions.iter().map(|(id, _)| (*id).into()).collect();
    let messages: Vec<Vec<TextMessage<'_>>> = sessions
        .iter()
        .zip(0..)
        .map(|((_, texts), when)| {
            texts
                .iter()
                .zip([Role::User, Role::Assistant].into_iter().cycle())
                .map(|(text, role)| TextMessage {
                    role,
                    when: Millis(1000 - when),
                    text,
                })
                .collect()
        })
        .collect();
    let batch: Vec<SessionTexts<'_>> = ids
        .iter()
        .zip(&messages)
        .map(|(id, messages)| SessionTexts {
            id,
            stamp: stamp(state),
            messages,
        })
        .collect();
    texts.put(&batch).unwrap();
}

fn put_all(texts: &Texts, sessions: &Sessions, state: u64) {
    let strs: Vec<(&str, Vec<&str>)> = sessions
        .iter()
        .map(|(id, texts)| (&**id, texts.iter().map(|text| &**text).collect()))
        .collect();
    let borrowed: Vec<(&str, &[&str])> = strs.iter().map(|(id, t)| (*id, &**t)).collect();
    put(texts, &borrowed, state);
}

fn memory(sessions: &[(&str, &[&str])]) -> Texts {
    let texts = Texts::open(None);
    put(&texts, sessions, 1);
    texts
}

fn search(texts: &Texts, query: &str, depth: Depth) -> TextHits {
    let query = TextQuery {
        terms: &Terms::parse(query),
        admits: &|_| true,
        limit: 100,
        depth,
    };
    let found = texts.search(&query, &CancellationToken::new()).unwrap();
    found.unwrap()
}

fn ids(texts: &Texts, query: &str) -> Vec<String> {
    let hits = search(texts, query, Depth::All);
    hits.rows.iter().map(|hit| hit.id.to_string()).collect()
}

#[test]
fn a_session_is_shown_by_its_best_message() {
    let texts = memory(&[
        ("a", &["relogins", "nothing", "the Login, here", "logins"]),
        ("b", &["login_test"]),
        ("c", &["log in"]),
    ]);
    let hits = search(&texts, "login", Depth::First);
    let shown: Vec<_> = hits
        .rows
        .iter()
        .map(|hit| (hit.id.as_str(), hit.message, hit.role, hit.matches))
        .collect();
    assert_eq!(shown, [("a", 2, Role::User, 3), ("b", 0, Role::User, 1)]);
    assert_eq!(hits.rows[0].snippet, "the Login, here");
    assert_eq!(hits.rows[0].marks, [4..9]);
    assert_eq!(hits.rows[0].when, Millis(1000));
    assert_eq!((hits.sessions, hits.is_cut), (2, false));
}

#[test]
fn equal_matches_come_newest_first_however_they_were_put_in() {
    let texts = memory(&[("new", &["a login"]), ("mid", &["a login"])]);
    let id = SessionId::from("newest");
    let message = |when| TextMessage {
        role: Role::User,
        when: Millis(when),
        text: "a login",
    };
    for (id, when) in [(&id, 2000), (&"old".into(), 5)] {
        let messages = [message(when)];
        let session = SessionTexts {
            id,
            stamp: stamp(1),
            messages: &messages,
        };
        texts.put(&[session]).unwrap();
    }
    assert_eq!(ids(&texts, "login"), ["newest", "new", "mid", "old"]);
}

#[test]
fn words_of_all_scripts_and_identifiers_are_found() {
    let texts = memory(&[
        (
            "cjk",
            &["请修复登录页面的测试", "検索インデックス", "로그인을 고쳐"],
        ),
        ("code", &["let x = foo::bar(login_test)?; // go"]),
        ("none", &["googol, forgo"]),
    ]);
    for (query, found) in [
        ("登录", "cjk"),
        ("录", "cjk"),
        ("页面的测试", "cjk"),
        ("デッ", "cjk"),
        ("로그", "cjk"),
        ("login_test", "code"),
        ("foo::bar", "code"),
        ("o::b", "code"),
        ("gin_", "code"),
        ("go", "code"),
        ("::", "code"),
        ("x =", "code"),
        ("\"= foo\"", "code"),
    ] {
        assert_eq!(ids(&texts, query), [found], "{query}");
    }
}

#[test]
fn a_query_is_text_whatever_is_in_it() {
    let strange = [
        "\" OR *",
        "NEAR(",
        "col:x",
        "a AND b",
        "tokens:foo",
        "^x",
        "{a b}:c",
        "x\0y z",
    ];
    let own: Vec<(&str, &[&str])> = strange
        .iter()
        .map(|text| (*text, std::slice::from_ref(text)))
        .collect();
    let texts = memory(&own);
    for text in strange {
        let quoted = format!("\"{}\"", text.replace('"', ""));
        assert!(ids(&texts, &quoted).contains(&text.to_owned()), "{text:?}");
        search(&texts, text, Depth::All);
    }
    for query in [
        "\"",
        "\"\"",
        "-",
        "--",
        "-\"",
        "*",
        "(",
        "\0",
        "' OR 1 --",
        "\"\"\"",
        "",
    ] {
        search(&texts, query, Depth::All);
    }
    for long in ["x", "登", "\" ", "-a ", "aB\u{301}", "::", "a b"] {
        search(&texts, &long.repeat(10_000), Depth::All);
    }
}

#[test]
fn only_admitted_sessions_are_found_and_each_is_asked_for_once() {
    let texts = memory(&[("a", &["login", "login"]), ("b", &["login"])]);
    let asked = std::cell::RefCell::new(Vec::new());
    let admits = |id: &SessionId| {
        asked.borrow_mut().push(id.to_string());
        id.as_str() == "b"
    };
    let query = TextQuery {
        terms: &Terms::parse("login"),
        admits: &admits,
        limit: 9,
        depth: Depth::First,
    };
    let hits = texts
        .search(&query, &CancellationToken::new())
        .unwrap()
        .unwrap();
    assert_eq!(hits.rows.len(), 1);
    assert_eq!(hits.rows[0].id.as_str(), "b");
    assert_eq!(*asked.borrow(), ["a", "b"]);
}

#[test]
fn a_limit_cuts_the_rows_and_says_how_many_there_are() {
    let texts = memory(&[("a", &["login"]), ("b", &["login"]), ("c", &["logins"])]);
    let query = TextQuery {
        terms: &Terms::parse("login"),
        admits: &|_| true,
        limit: 2,
        depth: Depth::All,
    };
    let hits = texts
        .search(&query, &CancellationToken::new())
        .unwrap()
        .unwrap();
    let rows: Vec<&str> = hits.rows.iter().map(|hit| hit.id.as_str()).collect();
    assert_eq!(
        (rows, hits.sessions, hits.is_cut),
        (vec!["a", "b"], 3, false)
    );
}

#[test]
fn a_first_look_at_very_many_matches_says_that_it_is_cut() {
    let many = vec!["a login"; 1500];
    let texts = memory(&[("a", &many)]);
    let first = search(&texts, "login", Depth::First);
    assert!(first.is_cut);
    assert_eq!(first.rows.len(), 1);
    let all = search(&texts, "login", Depth::All);
    assert_eq!((all.rows[0].matches, all.is_cut), (1500, false));
}

#[test]
fn a_first_look_goes_on_until_something_is_found() {
    // Each of them has all the tokens of the phrase, and one has the phrase.
    let near = format!("the log, a gin {}", "x ".repeat(1000));
    let mut many = vec![&*near; 2000];
    many[0] = "the log a gin";
    let texts = memory(&[("a", &many)]);
    let hits = search(&texts, "\"the log a gin\"", Depth::First);
    assert_eq!(hits.rows[0].message, 0);
    assert!(!hits.is_cut);
}

#[test]
fn a_cancelled_search_gives_nothing() {
    let texts = memory(&[("a", &["login"])]);
    let query = TextQuery {
        terms: &Terms::parse("login"),
        admits: &|_| true,
        limit: 9,
        depth: Depth::All,
    };
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert_eq!(texts.search(&query, &cancel).unwrap(), None);
}

#[test]
fn what_changed_is_stale_and_what_is_gone_is_forgotten() {
    let texts = memory(&[("a", &["login"]), ("b", &["login"]), ("empty", &[])]);
    let known = |states: [u64; 4]| {
        let ids = ["a", "b", "empty", "new"];
        let pairs = ids.into_iter().zip(states);
        pairs
            .map(|(id, state)| (SessionId::from(id), stamp(state)))
            .collect::<Vec<_>>()
    };
    assert_eq!(texts.stale(&known([1, 2, 1, 1])).unwrap(), [1, 3]);
    put(&texts, &[("b", &["login", "again"])], 2);
    assert_eq!(texts.stale(&known([1, 2, 1, 1])).unwrap(), [3]);
    texts.forget(&["a".into(), "unknown".into()]).unwrap();
    assert_eq!(ids(&texts, "login"), ["b"]);
    texts
        .forget_others(&HashSet::from(["empty".into()]))
        .unwrap();
    assert_eq!(ids(&texts, "login"), [""; 0]);
    assert_eq!(texts.stale(&known([1, 2, 1, 1])).unwrap(), [0, 1, 3]);
    texts.clear().unwrap();
    assert_eq!(texts.stale(&known([1, 2, 1, 1])).unwrap(), [0, 1, 2, 3]);
}

#[test]
fn sessions_larger_than_a_transaction_are_written_whole_and_removed_whole() {
    let long = "some login text ".repeat(20_000);
    let numbered: Vec<String> = (0..2500).map(|n| format!("message {n}x")).collect();
    let mut many: Vec<&str> = numbered.iter().map(|text| &**text).collect();
    many.extend([&*long, &*long, &*long, "the end"]);
    let texts = memory(&[("a", &many), ("b", &["the end"])]);
    assert_eq!(search(&texts, "login", Depth::All).rows[0].matches, 3);
    assert_eq!(ids(&texts, "\"the end\""), ["a", "b"]);
    assert_eq!(ids(&texts, "2499x"), ["a"]);
    put(&texts, &[("a", &many[..1])], 2);
    assert_eq!(ids(&texts, "\"the end\""), ["b"]);
    assert_eq!(ids(&texts, "message"), ["a"]);
    put(&texts, &[("a", &many)], 3);
    texts.forget(&["a".into()]).unwrap();
    assert_eq!(ids(&texts, "message"), [""; 0]);
}

#[test]
fn a_message_that_stays_keeps_its_time() {
    let texts = memory(&[("x", &[]), ("a", &["login", "old tail"])]);
    put(&texts, &[("a", &["login", "new tail"])], 2);
    let when = |query| search(&texts, query, Depth::All).rows[0].when;
    assert_eq!(when("login"), Millis(999));
    assert_eq!(when("tail"), Millis(1000));
    assert_eq!(ids(&texts, "old"), [""; 0]);
}

mod files {
    use rusqlite::Connection;

    use super::*;

    fn error(texts: &Texts) -> TextsError {
        let query = TextQuery {
            terms: &Terms::parse("login"),
            admits: &|_| true,
            limit: 9,
            depth: Depth::All,
        };
        texts.search(&query, &CancellationToken::new()).unwrap_err()
    }

    fn count(path: &std::path::Path, table: &str) -> i64 {
        let connection = Connection::open(path).unwrap();
        let sql = format!("SELECT count(*) FROM {table}");
        connection.query_row(&sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_index_is_there_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.sqlite3");
        put(&Texts::open(Some(path.clone())), &[("a", &["login"])], 1);
        assert_eq!(ids(&Texts::open(Some(path)), "login"), ["a"]);
    }

    #[test]
    fn other_tables_of_the_database_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.sqlite3");
        let connection = Connection::open(&path).unwrap();
        let other = "CREATE TABLE sessions (id); INSERT INTO sessions VALUES (1);
             PRAGMA user_version = 99;";
        connection.execute_batch(other).unwrap();
        let texts = Texts::open(Some(path.clone()));
        put(&texts, &[("a", &["login"])], 1);
        texts.clear().unwrap();
        assert_eq!(count(&path, "sessions"), 1);
        let version = connection.pragma_query_value(None, "user_version", |row| row.get(0));
        assert_eq!(version, Ok(99));
    }

    #[test]
    fn tables_of_an_older_version_are_made_anew_and_newer_ones_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.sqlite3");
        put(&Texts::open(Some(path.clone())), &[("a", &["login"])], 1);
        let set = |version: i64| {
            let connection = Connection::open(&path).unwrap();
            connection
                .execute("UPDATE texts_about SET version = ?1", [version])
                .unwrap();
        };
        set(99);
        let newer = error(&Texts::open(Some(path.clone())));
        assert_eq!(newer.code(), "SEARCH_NEWER");
        assert_eq!(count(&path, "texts_messages"), 1);
        set(0);
        let texts = Texts::open(Some(path.clone()));
        assert_eq!(ids(&texts, "login"), [""; 0]);
        put(&texts, &[("a", &["login"])], 1);
        assert_eq!(ids(&texts, "login"), ["a"]);
    }

    #[test]
    fn a_damaged_database_says_so_and_a_new_one_in_its_place_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.sqlite3");
        std::fs::write(&path, "no database, but long enough to be one ".repeat(99)).unwrap();
        let texts = Texts::open(Some(path.clone()));
        assert_eq!(error(&texts).code(), "SEARCH_DAMAGED");
        std::fs::remove_file(&path).unwrap();
        put(&texts, &[("a", &["login"])], 1);
        assert_eq!(ids(&texts, "login"), ["a"]);
        // Whoever owns the file may replace it while it is open here.
        std::fs::rename(&path, folder.path().join("away")).unwrap();
        assert_eq!(ids(&texts, "login"), [""; 0]);
    }

    #[test]
    fn a_locked_database_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.sqlite3");
        let other = Connection::open(&path).unwrap();
        other
            .execute_batch("PRAGMA locking_mode = exclusive; CREATE TABLE a (b); BEGIN EXCLUSIVE;")
            .unwrap();
        let texts = Texts::open(Some(path));
        assert_eq!(error(&texts).code(), "SEARCH_LOCKED");
        drop(other);
        assert_eq!(ids(&texts, "login"), [""; 0]);
    }

    #[test]
    fn a_path_that_is_no_file_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let texts = Texts::open(Some(folder.path().to_owned()));
        assert_eq!(error(&texts).code(), "SEARCH_UNUSABLE");
    }

    #[test]
    fn two_writers_at_once_leave_every_session_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.sqlite3");
        let long = "words and words ".repeat(10_000);
        let many: Vec<&str> = ["first", &*long, &*long, &*long, &*long, &*long, "last"].to_vec();
        std::thread::scope(|scope| {
            for name in ["one", "two"] {
                let (path, many) = (path.clone(), &many);
                scope.spawn(move || {
                    let texts = Texts::open(Some(path));
                    for state in 0..3 {
                        let own: &[(&str, &[&str])] = &[("shared", many), (name, &["first"])];
                        put(&texts, own, state);
                    }
                });
            }
        });
        let texts = Texts::open(Some(path.clone()));
        let hits = search(&texts, "words", Depth::All);
        assert_eq!(hits.rows[0].matches, 5);
        let mut found = ids(&texts, "first");
        found.sort_unstable();
        assert_eq!(found, ["one", "shared", "two"]);
        assert_eq!(count(&path, "texts_messages"), 9);
        let check = "INSERT INTO texts_index(texts_index) VALUES ('integrity-check')";
        Connection::open(&path)
            .unwrap()
            .execute_batch(check)
            .unwrap();
    }
}

/// Whether the text has the term, by looking at every place of it.
fn has(text: &str, term: &str) -> bool {
    let any = |keeps: fn(char, char) -> bool| term.chars().any(|c| keeps(c, c));
    let keeps_case = any(|c, _| fold_smart(c, false, true) != fold_smart(c, true, true));
    let keeps_marks = any(|c, _| fold_smart(c, true, false) != fold_smart(c, true, true));
    let kept = |c: &char| fold_smart(*c, keeps_case, keeps_marks);
    let (text, term): (Vec<char>, Vec<char>) = (text.chars().collect(), term.chars().collect());
    let is_word = |c: Option<&char>| c.is_some_and(|c| is_word(fold(*c)));
    let must_be_whole = term.len() < 3 && term.iter().all(|c| is_word(Some(c)));
    (0..text.len()).any(|at| {
        let Some(part) = text.get(at..at + term.len()) else {
            return false;
        };
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        part.iter().map(kept).eq(term.iter().map(kept))
            && !(must_be_whole && (is_word(before) || is_word(text.get(at + term.len()))))
    })
}

/// Few different characters, so that queries match: letters of either case,
/// with and without marks, dense scripts, punctuation, blanks, and such as
/// change their length when folded.
fn text(len: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let chars = "aabBcéÉ登录日한ア_:\"-. \n\0İẞſ\u{301}\u{1f980}Ａ";
    let any = prop::sample::select(chars.chars().collect::<Vec<_>>());
    prop::collection::vec(any, len).prop_map(String::from_iter)
}

fn sessions() -> impl Strategy<Value = Sessions> {
    let id = prop::sample::select(vec!["p", "q", "r", "s"]).prop_map(str::to_owned);
    prop::collection::btree_map(id, prop::collection::vec(text(0..30), 0..5), 0..4)
}

fn expected(sessions: &Sessions, finds: impl Fn(&str) -> bool) -> BTreeSet<(String, u32)> {
    sessions
        .iter()
        .filter_map(|(id, texts)| {
            let count = texts.iter().filter(|text| finds(text)).count();
            Some((id.clone(), u32::try_from(count).ok()?))
        })
        .filter(|(_, count)| *count > 0)
        .collect()
}

fn found(texts: &Texts, query: &str) -> BTreeSet<(String, u32)> {
    let rows = search(texts, query, Depth::All).rows;
    rows.iter()
        .map(|hit| (hit.id.to_string(), hit.matches))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_a_look_at_every_text_finds_is_found_and_nothing_else(
        sessions in sessions(),
        phrases in prop::collection::vec(text(1..7), 1..8),
    ) {
        let texts = Texts::open(None);
        put_all(&texts, &sessions, 1);
        for phrase in phrases {
            let phrase = phrase.replace('"', "a");
            let is_blank = phrase.chars().all(|c| fold(c) == ' ');
            let query = format!("\"{phrase}\"");
            let by_hand = expected(&sessions, |text| !is_blank && has(text, &phrase));
            prop_assert_eq!(found(&texts, &query), by_hand, "{:?}", query);
        }
    }

    #[test]
    fn several_terms_are_all_there_and_the_excluded_are_not(
        sessions in sessions(),
        (first, second, not) in ("[a-c]{1,3}", "[登录日aB]{1,3}", "[a-c登]{1,2}"),
    ) {
        let texts = Texts::open(None);
        put_all(&texts, &sessions, 1);
        let query = format!("{first} {second} -{not}");
        let finds = |text: &str| has(text, &first) && has(text, &second) && !has(text, &not);
        prop_assert_eq!(found(&texts, &query), expected(&sessions, finds), "{:?}", query);
    }

    #[test]
    fn after_any_changes_the_index_is_as_if_made_anew(
        steps in prop::collection::vec((sessions(), prop::option::of(0..4usize)), 1..5),
        phrase in text(1..4),
    ) {
        let texts = Texts::open(None);
        let mut now = Sessions::new();
        for ((sessions, forget), state) in steps.into_iter().zip(0..) {
            put_all(&texts, &sessions, state);
            now.extend(sessions);
            if let Some(id) = forget.and_then(|at| now.keys().nth(at).cloned()) {
                texts.forget(&[id.as_str().into()]).unwrap();
                now.remove(&id);
            }
        }
        let phrase = phrase.replace('"', "a");
        let is_blank = phrase.chars().all(|c| fold(c) == ' ');
        let by_hand = expected(&now, |text| !is_blank && has(text, &phrase));
        prop_assert_eq!(found(&texts, &format!("\"{phrase}\"")), by_hand);
    }

    #[test]
    fn marks_are_in_order_and_on_whole_characters_of_a_line_that_is_safe(
        text in text(0..300),
        phrase in text(1..4),
    ) {
        let texts = Texts::open(None);
        put(&texts, &[("a", &[&text])], 1);
        for hit in search(&texts, &phrase, Depth::All).rows {
            let safe = crate::sanitize::line(&hit.snippet);
            prop_assert_eq!(&safe, &hit.snippet);
            let mut end = 0;
            for mark in &hit.marks {
                prop_assert!(mark.start >= end && mark.start < mark.end);
                prop_assert!(hit.snippet.get(mark.clone()).is_some());
                end = mark.end + 1;
            }
        }
    }
}
