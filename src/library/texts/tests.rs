use super::*;

mod files;
mod properties;

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
                .zip(0..)
                .map(|((text, role), at)| TextMessage {
                    role,
                    when: Millis(1000 - when),
                    cited: Some(at),
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
    assert_eq!(
        shown,
        [("a", Some(2), Role::User, 3), ("b", Some(0), Role::User, 1)]
    );
    assert_eq!(hits.rows[0].snippet, "the Login, here");
    assert_eq!(hits.rows[0].marks, std::slice::from_ref(&(4..9)));
    assert_eq!(hits.rows[0].when, Millis(1000));
    assert_eq!((hits.sessions, hits.is_cut), (2, false));
}

#[test]
fn what_can_not_be_cited_any_more_is_found_and_has_no_place() {
    let texts = memory(&[]);
    let id = SessionId::from("a");
    let put = |state: u64, said: &[(&str, Option<u32>)]| {
        let messages: Vec<_> = said
            .iter()
            .map(|(text, cited)| TextMessage {
                role: Role::User,
                when: Millis(1),
                cited: *cited,
                text,
            })
            .collect();
        let session = SessionTexts {
            id: &id,
            stamp: stamp(state),
            messages: &messages,
        };
        texts.put(&[session]).unwrap();
    };
    let place = |word| search(&texts, word, Depth::All).rows[0].message;
    put(1, &[("login", Some(0)), ("logout", Some(1))]);
    assert_eq!((place("login"), place("logout")), (Some(0), Some(1)));
    put(
        2,
        &[("login", None), ("logout", Some(1)), ("summary", Some(0))],
    );
    assert_eq!((place("login"), place("logout")), (None, Some(1)));
    assert_eq!(place("summary"), Some(0));
}

#[test]
fn equal_matches_come_newest_first_however_they_were_put_in() {
    let texts = memory(&[("new", &["a login"]), ("mid", &["a login"])]);
    let id = SessionId::from("newest");
    let message = |when| TextMessage {
        role: Role::User,
        when: Millis(when),
        cited: None,
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
    let many: Vec<String> = (0..2000).map(|n| format!("w{n:04}")).collect();
    search(&texts, &many.join(" "), Depth::All);
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
    let mut many = vec![&*near; 700];
    many[0] = "the log a gin";
    let texts = memory(&[("a", &many)]);
    let hits = search(&texts, "\"the log a gin\"", Depth::First);
    assert_eq!(hits.rows[0].message, Some(0));
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
fn why_a_session_could_not_be_read_is_known_until_it_is_read_or_gone() {
    let texts = memory(&[("a", &["login"])]);
    let problems = |ids: &[&str]| -> Vec<(SessionId, String)> {
        let ids = ids.iter();
        ids.map(|id| ((*id).into(), format!("no right to read {id}")))
            .collect()
    };
    texts.put_problems(&problems(&["b", "a", "c"])).unwrap();
    texts.put_problems(&problems(&["b"])).unwrap();
    assert_eq!(texts.problems().unwrap(), problems(&["a", "b", "c"]));
    assert_eq!(ids(&texts, "login"), ["a"], "what was known stays");
    put(&texts, &[("b", &["login"])], 2);
    assert_eq!(texts.problems().unwrap(), problems(&["a", "c"]));
    texts
        .forget_others(&HashSet::from(["b".into(), "a".into()]))
        .unwrap();
    assert_eq!(texts.problems().unwrap(), problems(&["a"]));
    texts.clear().unwrap();
    assert_eq!(texts.problems().unwrap(), []);
}

#[test]
fn sessions_larger_than_a_transaction_are_written_whole_and_removed_whole() {
    let long = "some login text ".repeat(12_000);
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
