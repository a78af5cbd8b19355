//! Where sessions are found, and what is listed of them.

use std::ffi::OsString;
use std::fs;

use tempfile::TempDir;

use super::super::tests::{HEADER, answer, home_with_cache, torn, user, user_of};
use super::super::{Adapter, Dsh, Look};
use super::*;
use crate::session::Title;
use crate::source::Round;

#[test]
fn the_environment_tells_where_it_keeps_its_sessions() {
    let places = |variables: &[(&'static str, OsString)]| {
        let variables = variables.iter().cloned();
        Dsh.places(&Environment::new(Some("/home/u".into()), variables))
    };
    assert_eq!(places(&[]), [Path::new("/home/u/.dsh/sessions")]);
    let moved = [("DSH_HOME", "/d".into())];
    assert_eq!(places(&moved), [Path::new("/d/sessions")]);
}

/// A folder of sessions with these files.
fn sessions(files: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    dir
}

/// What a scan finds: paths below the place, and the ids that names tell.
fn scanned(place: &Path) -> Vec<(String, Option<String>)> {
    let mut walk = Walk::default();
    Dsh.scan(place, &mut walk);
    assert!(walk.obstacles.is_empty(), "{:?}", walk.obstacles);
    for found in &walk.files {
        assert_eq!(Dsh.find(place, &found.path).as_ref(), Some(found));
    }
    let files = walk.files.into_iter();
    let mut files: Vec<_> = files
        .map(|file| {
            let path = file.path.strip_prefix(place).unwrap().to_str().unwrap();
            (path.to_owned(), file.native_id)
        })
        .collect();
    files.sort();
    files
}

#[test]
fn of_a_folder_the_highest_generation_is_found_and_the_plain_one_of_two() {
    let dir = sessions(&[
        "--w--/session-1/session.jsonl",
        "--w--/session-1/session.v2.jsonl",
        "--w--/session-1/session.v10.jsonl.zstd",
        "--w--/session-1/session.lock",
        "--w--/session-1/deeper/session.v11.jsonl",
        "--w--/a~002Fb/session.v4.jsonl.zstd",
        "--w--/a~002Fb/session.v4.jsonl",
        "--w--/session.jsonl",
        "_no-cwd/x/session.jsonl",
    ]);
    fs::write(dir.path().join("--w--/session-1/session.v12.jsonl"), "").unwrap();
    let file = |name: &str, id: Option<&str>| (name.to_owned(), id.map(str::to_owned));
    assert_eq!(
        scanned(dir.path()),
        [
            // What is escaped in a name is no id yet.
            file("--w--/a~002Fb/session.v4.jsonl", None),
            file("--w--/session-1/session.v10.jsonl.zstd", Some("session-1")),
            file("_no-cwd/x/session.jsonl", Some("x")),
        ]
    );
    assert_eq!(scanned(&dir.path().join("gone")), []);
    for other in [
        "--w--/session-1/session.v2.jsonl",
        "--w--/session-1/deeper/session.v11.jsonl",
        "--w--/../_no-cwd/x/session.jsonl",
    ] {
        assert_eq!(
            Dsh.find(dir.path(), &dir.path().join(other)),
            None,
            "{other}"
        );
    }
}

#[test]
fn a_session_is_located_by_the_name_of_its_folder() {
    let dir = sessions(&["--w--/s/session.v4.jsonl", "--w--/s/session.jsonl"]);
    let found = dir.path().join("--w--/s/session.v4.jsonl");
    assert_eq!(Dsh.locate(dir.path(), "s"), Some(found));
    for id in ["t", "", "..", "../--w--/s", "s~0041"] {
        assert_eq!(Dsh.locate(dir.path(), id), None, "{id}");
    }
}

fn look(path: &Path) -> Listed {
    let Look::Sessions(listed) = Dsh.look(path, &Round::default()).unwrap() else {
        panic!("no sessions");
    };
    assert_eq!(listed.len(), 1);
    listed.into_iter().next().unwrap()
}

fn look_at(lines: &[&str]) -> Listed {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.v4.jsonl");
    fs::write(&path, lines.join("\n")).unwrap();
    look(&path)
}

fn title(listed: &Listed) -> Option<(&str, bool)> {
    let title = listed.title.as_ref()?;
    Some((&title.text, title.pinned))
}

fn notices(listed: &Listed) -> Vec<String> {
    listed.notices.iter().map(ToString::to_string).collect()
}

/// Rows of no conversation, of some `bytes` together.
fn noise(bytes: usize) -> String {
    let filling = "x".repeat(1000);
    let row = format!(r#"{{"type":"turn/start","seq":5,"time":8,"data":{{"f":"{filling}"}}}}"#);
    vec![row; bytes / 1000].join("\n")
}

fn titled(title: &str, kind: &str) -> String {
    format!(
        r#"{{"type":"session/title","seq":6,"time":10,"data":{{"title":"{title}","source":{{"kind":"{kind}"}}}}}}"#
    )
}

#[test]
fn the_beginning_and_the_end_of_a_log_tell_what_a_list_shows() {
    let last = user(9, "later").replace(r#""time":9"#, r#""time":99"#);
    let injected = user_of(0, r#"{"kind":"runtime-context"}"#, "rules", r#""append""#);
    let listed = look_at(&[
        HEADER,
        &injected,
        &user(1, "one two three four five six"),
        &noise(3_000_000),
        &last,
    ]);
    assert_eq!(
        listed,
        Listed {
            native_id: "s".to_owned(),
            cwd: Some("/w".to_owned()),
            title: Some(Title {
                text: "one two three four five".to_owned(),
                pinned: false,
            }),
            created_at: Millis(7),
            updated_at: Some(Millis(99)),
            ..Listed::default()
        }
    );
}

#[test]
fn the_last_title_of_the_end_goes_before_one_of_the_beginning() {
    let first = titled("first", "fallback");
    let start = [HEADER, &user(1, "hi"), &first];
    assert_eq!(title(&look_at(&start)), Some(("first", false)));
    let last = titled("last", "user");
    let end = [&noise(2_000_000), &titled("second", "user"), &last];
    let both = [&start[..], &end.map(String::as_str)].concat();
    assert_eq!(title(&look_at(&both)), Some(("last", true)));
    let middle = noise(2_000_000);
    let torn = [&start[..], &[&middle, torn(&last, 40)]].concat();
    assert_eq!(title(&look_at(&torn)), Some(("first", false)));
}

#[test]
fn the_cache_has_the_title_that_the_middle_of_a_log_may_have() {
    let (_dir, path) = home_with_cache(r#"{"createdAt":7,"cwd":"/w"}"#);
    assert_eq!(title(&look(&path)), Some(("cached", false)));
    let first = titled("first", "user");
    let short = [HEADER, &user(1, "hi"), &first].join("\n");
    fs::write(&path, &short).unwrap();
    assert_eq!(title(&look(&path)), Some(("first", true)));
    let long = [&first, HEADER, &user(1, "hi"), &noise(2_000_000)].join("\n");
    fs::write(&path, long).unwrap();
    assert_eq!(title(&look(&path)), Some(("cached", false)));
}

#[test]
fn a_compressed_log_is_listed_by_its_first_frames() {
    let frame = |text: &str| zrip::compress(text.as_bytes(), 1).unwrap();
    let lines = |lines: &[&str]| lines.join("\n") + "\n";
    let mut bytes = [
        frame(&lines(&[HEADER])),
        frame(&lines(&[&user(1, "hi")])),
        frame(&lines(&[&noise(2_000_000)])),
    ]
    .concat();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.v4.jsonl.zstd");
    for torn in [0, 9] {
        bytes.truncate(bytes.len() - torn);
        fs::write(&path, &bytes).unwrap();
        let listed = look(&path);
        assert_eq!(title(&listed), Some(("hi", false)));
        assert_eq!((listed.native_id.as_str(), listed.updated_at), ("s", None));
        assert_eq!(listed.kind, Kind::Session);
    }
}

#[test]
fn a_log_in_which_nobody_says_anything_is_a_stub() {
    let calls = r#"{"type":"assistant/message","seq":0,"data":{"message":{"content":[{"type":"tool-call","id":"1"}]}},"surfaceOp":"append"}"#;
    let injected = user_of(0, r#"{"kind":"goal"}"#, "x", r#""append""#);
    assert_eq!(look_at(&[HEADER]).kind, Kind::Stub);
    assert_eq!(look_at(&[HEADER, calls, &injected]).kind, Kind::Stub);
    assert_eq!(look_at(&[HEADER, &answer(0, "ho")]).kind, Kind::Session);
    let unknown = answer(0, "ho").replace(r#""type":"text""#, r#""type":"new""#);
    assert_eq!(look_at(&[HEADER, &unknown]).kind, Kind::Session);
    let beyond = [HEADER, &noise(2_000_000), &user(9, "hi")];
    assert_eq!(look_at(&beyond).kind, Kind::Session);
}

#[test]
fn a_fork_names_its_parent_and_a_subagent_is_marked() {
    let fork = HEADER.replace(
        r#""delegationDepth""#,
        r#""parentSession":"p","delegationDepth""#,
    );
    let listed = look_at(&[&fork, &user(0, "hi")]);
    assert_eq!(
        (listed.parent.as_deref(), listed.kind),
        (Some("p"), Kind::Session)
    );
    let agents = fork.replace(r#""delegationDepth":0"#, r#""delegationDepth":1"#);
    let listed = look_at(&[&agents, &user(0, "hi")]);
    assert_eq!(
        (listed.parent.as_deref(), listed.kind),
        (Some("p"), Kind::Subagent)
    );
}

#[test]
fn what_a_checkpoint_replaced_makes_no_title() {
    let compact = r#"{"kind":"compact-checkpoint","compactionId":"c"}"#;
    let range = r#"{"op":"replace","startSeq":0,"endSeq":0}"#;
    let taken = user_of(0, r#"{"kind":"goal"}"#, "x", r#""append""#);
    let sum = user_of(1, compact, "sum", range);
    let listed = look_at(&[HEADER, &taken, &sum, &user(2, "next")]);
    assert_eq!(title(&listed), Some(("next", false)));
}

#[test]
fn damage_leaves_what_is_whole_and_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("session-1");
    fs::create_dir(&folder).unwrap();
    let path = folder.join("session.jsonl");
    let glued = format!("{}{}", torn(&answer(2, "lost"), 90), user(3, "glued"));
    fs::write(&path, [torn(HEADER, 40), "\0\0", &glued, "{"].join("\n")).unwrap();
    let listed = look(&path);
    assert_eq!(listed.native_id, "session-1");
    assert_eq!(title(&listed), Some(("glued", false)));
    assert_eq!(
        notices(&listed),
        [
            "3 records skipped",
            "its header can't be read: where and when it began is not known"
        ]
    );
}

#[test]
fn of_a_row_that_is_too_long_the_beginning_is_read() {
    let endless = HEADER.replace("/w", &"w".repeat(20_000_000));
    let listed = look_at(&[&endless, &user(1, "hi")]);
    assert_eq!(
        (listed.native_id.as_str(), listed.created_at),
        ("s", Millis(7))
    );
    assert_eq!(listed.kind, Kind::Session);
    assert_eq!(listed.updated_at, Some(Millis(9)));
    assert_eq!(notices(&listed), [CUT]);
    // Whose words they are stands behind them.
    let pasted = user(1, &"x".repeat(3_000_000));
    let listed = look_at(&[HEADER, &pasted]);
    assert_eq!((title(&listed), listed.kind), (None, Kind::Session));
    assert_eq!(notices(&listed), [CUT]);
}

#[test]
fn a_log_of_another_session_is_not_read_for_this_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("session.jsonl");
    fs::write(&path, [HEADER, &user(0, "hi")].join("\n")).unwrap();
    assert!(Dsh.read(&path, Some("s")).is_ok());
    let error = Dsh.read(&path, Some("t")).unwrap_err();
    assert_eq!(error.code(), "SOURCE_NO_SESSION");
}
