//! Where sessions are found, and what is listed of them.

mod spread;

use std::ffi::OsString;

use serde_json::json;

use super::super::tests::{
    CHILD, Fixture, ID, SEGMENT, child, event, line, lines, meta, model, rollout, user, users, zstd,
};
use super::super::{Adapter, Codex};
use super::*;
use crate::session::Title;
use crate::source::{ForeignCapture, Round};

const NOISE: &str = "x";

fn environment(variables: &[(&str, &str)]) -> Environment {
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| (*name, OsString::from(value)));
    Environment::new(Some("/home/u".into()), variables)
}

#[test]
fn the_environment_tells_where_it_keeps_its_sessions() {
    let inside = |home: &str, databases: &str| {
        let files = ["sessions", "archived_sessions", "session_index.jsonl"];
        let mut places: Vec<PathBuf> = files.map(|name| Path::new(home).join(name)).into();
        places.push(databases.into());
        places
    };
    for (variables, expected) in [
        (&[][..], inside("/home/u/.codex", "/home/u/.codex")),
        (&[("CODEX_HOME", "/c")], inside("/c", "/c")),
        (
            &[("CODEX_HOME", "/c"), ("CODEX_SQLITE_HOME", "/d")],
            inside("/c", "/d"),
        ),
    ] {
        assert_eq!(Codex.places(&environment(variables)), expected);
    }
}

/// What is found in a home: paths below it, and the ids that names tell.
fn scanned(home: &Fixture) -> Vec<(String, Option<String>)> {
    let root = home.path("");
    let environment = environment(&[("CODEX_HOME", root.to_str().unwrap())]);
    let mut walk = Walk::default();
    for place in Codex.places(&environment) {
        let before = walk.files.len();
        Codex.scan(&place, &mut walk);
        for found in &walk.files[before..] {
            assert_eq!(Codex.find(&place, &found.path).as_ref(), Some(found));
        }
    }
    assert!(walk.obstacles.is_empty(), "{:?}", walk.obstacles);
    let files = walk.files.into_iter();
    let mut files: Vec<_> = files
        .map(|file| {
            let path = file.path.strip_prefix(&root).unwrap().to_str().unwrap();
            (path.to_owned(), file.native_id)
        })
        .collect();
    files.sort();
    files
}

#[test]
fn rollouts_and_indexes_are_found_and_nothing_else() {
    let home = Fixture::new();
    let old = format!("archived_sessions/rollout-2026-11-01T00-00-00-{CHILD}.jsonl.zst");
    let segment = rollout(&format!("{ID}_{SEGMENT}"));
    for name in [
        &rollout(ID),
        &segment,
        &old,
        "session_index.jsonl",
        "state_5.sqlite",
        "state_10.sqlite",
        "state_10.sqlite-wal",
        "history.jsonl",
        "sessions/2026/12/01/notes.jsonl",
        "sessions/2026/12/01/deeper/rollout-x.jsonl",
        "archived_sessions/2026/rollout-y.jsonl",
    ] {
        home.write(name, NOISE);
    }
    home.write("sessions/2026/12/01/rollout-empty.jsonl", "");
    let id = |id: &str| Some(id.to_owned());
    let mut expected = [
        (old, id(CHILD)),
        ("session_index.jsonl".to_owned(), None),
        (rollout(ID), id(ID)),
        (segment, id(ID)),
        ("state_10.sqlite".to_owned(), None),
    ];
    expected.sort();
    assert_eq!(scanned(&home), expected);
    let sessions = home.path("sessions");
    for other in [
        "2026/12/01/notes.jsonl",
        "2026/12/01/deeper/rollout-x.jsonl",
        "../archived_sessions/2026/rollout-y.jsonl",
    ] {
        assert_eq!(
            Codex.find(&sessions, &sessions.join(other)),
            None,
            "{other}"
        );
    }
}

#[test]
fn a_compressed_twin_is_not_found_beside_the_plain_file() {
    let home = Fixture::new();
    let twin = rollout(ID) + ".zst";
    home.write(&twin, NOISE);
    assert_eq!(scanned(&home), [(twin.clone(), Some(ID.to_owned()))]);
    // A plain file that is still to be written is none.
    home.write(&rollout(ID), "");
    assert_eq!(scanned(&home), [(twin.clone(), Some(ID.to_owned()))]);
    home.write(&rollout(ID), NOISE);
    assert_eq!(scanned(&home), [(rollout(ID), Some(ID.to_owned()))]);
    let sessions = home.path("sessions");
    assert_eq!(Codex.find(&sessions, &home.path(&twin)), None);
}

#[cfg(unix)]
#[test]
fn what_can_not_be_looked_at_is_told_and_links_are_not_followed() {
    use std::os::unix::ffi::OsStringExt;
    let home = Fixture::new();
    let file = home.write(&rollout(ID), NOISE);
    let folder = file.parent().unwrap();
    let linked = folder.join(format!("rollout-2026-12-01T00-00-00-{CHILD}.jsonl"));
    std::os::unix::fs::symlink(&file, linked).unwrap();
    let odd = OsString::from_vec(b"rollout-\xff.jsonl".to_vec());
    std::fs::write(folder.join(odd), NOISE).unwrap();
    let mut walk = Walk::default();
    Codex.scan(&home.path("sessions"), &mut walk);
    assert_eq!(walk.files.len(), 1);
    assert_eq!(walk.obstacles.len(), 2, "the link, and the name");
}

fn look(path: &Path) -> Listed {
    look_in(&Round::default(), path)
}

fn look_in(round: &Round, path: &Path) -> Listed {
    let Look::Sessions(listed) = Codex.look(path, round).unwrap() else {
        panic!("no sessions");
    };
    assert_eq!(listed.len(), 1);
    listed.into_iter().next().unwrap()
}

fn look_at(home: &Fixture, text: impl AsRef<[u8]>) -> Listed {
    look(&home.write(&rollout(ID), text))
}

fn title(listed: &Listed) -> Option<(&str, bool)> {
    let title = listed.title.as_ref()?;
    Some((&title.text, title.pinned))
}

fn notices(listed: &Listed) -> Vec<String> {
    listed.notices.iter().map(ToString::to_string).collect()
}

fn at(time: &str, mut record: serde_json::Value) -> serde_json::Value {
    record["timestamp"] = json!(time);
    record
}

/// Records of no conversation, of some `bytes` together.
fn noise(bytes: usize) -> String {
    let record = event(json!({"type": "token_count", "filling": NOISE.repeat(1000)}));
    lines(&[record]).repeat(bytes / 1000)
}

#[test]
fn the_beginning_and_the_end_of_a_file_tell_what_a_list_shows() {
    let environment = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>";
    let first = lines(&[
        meta(ID),
        user(environment),
        user("one two three four five six"),
        model("answer"),
    ]);
    let last = lines(&[at("2026-12-02T00:00:00.500Z", user("later"))]);
    let text = first + &noise(3_000_000) + &last;
    let listed = look_at(&Fixture::new(), &text);
    assert_eq!(title(&listed), Some(("one two three four five", false)));
    assert_eq!(listed.native_id, ID);
    assert_eq!(listed.cwd.as_deref(), Some("/w"));
    assert_eq!(listed.created_at, Millis(1_796_158_668_947));
    assert_eq!(listed.updated_at, Some(Millis(1_796_169_600_500)));
    assert_eq!(listed.kind, Kind::Session);
    assert_eq!(notices(&listed), [""; 0]);
}

#[test]
fn a_first_prompt_is_looked_for_so_far_and_no_further() {
    let far = |bytes| {
        let text = lines(&[meta(ID)]) + &noise(bytes) + &lines(&[user("far")]);
        let listed = look_at(&Fixture::new(), text + &noise(200_000));
        assert_eq!(listed.kind, Kind::Session);
        title(&listed).map(|(title, _)| title.to_owned())
    };
    assert_eq!(far(200_000).as_deref(), Some("far"));
    assert_eq!(far(400_000), None);
}

#[test]
fn a_compressed_file_is_listed_by_its_beginning() {
    let text = lines(&[meta(ID), user("hi")]) + &noise(2_000_000);
    let home = Fixture::new();
    let listed = look(&home.write(&(rollout(ID) + ".zst"), zstd(&text)));
    assert_eq!(title(&listed), Some(("hi", false)));
    assert_eq!((listed.native_id.as_str(), listed.updated_at), (ID, None));
}

#[test]
fn a_file_without_a_word_of_anyone_is_a_stub() {
    let context = "<environment_context>\n</environment_context>";
    let home = Fixture::new();
    assert_eq!(
        look_at(&home, lines(&[meta(ID), user(context)])).kind,
        Kind::Stub
    );
    assert_eq!(
        look_at(&home, lines(&[meta(ID), model("hi")])).kind,
        Kind::Session
    );
    let shown = event(json!({"type": "user_message", "message": "shown alone"}));
    let listed = look_at(&home, lines(&[meta(ID), shown]));
    assert_eq!(listed.kind, Kind::Session);
    assert_eq!(title(&listed), Some(("shown alone", false)));
}

#[test]
fn a_subagents_session_and_a_fork_name_their_parent() {
    let home = Fixture::new();
    let source = json!({"subagent": {"thread_spawn": {"parent_thread_id": CHILD}}});
    let spawned = line(
        "session_meta",
        json!({"id": ID, "cwd": "/w", "source": source}),
    );
    let listed = look_at(&home, lines(&[spawned, user("hi")]));
    assert_eq!(
        (listed.parent.as_deref(), listed.kind),
        (Some(CHILD), Kind::Subagent)
    );
    let fork = line(
        "session_meta",
        json!({"id": ID, "cwd": "/w", "forked_from_id": CHILD}),
    );
    let listed = look_at(&home, lines(&[fork, meta(CHILD), user("hi")]));
    assert_eq!(
        (listed.parent.as_deref(), listed.kind),
        (Some(CHILD), Kind::Session)
    );
    assert_eq!(listed.native_id, ID);
}

#[test]
fn the_last_name_in_the_records_is_a_persons_unless_a_fork_copied_it() {
    let named = |id: &str, name: &str| {
        let name = json!({"type": "thread_name_updated", "thread_id": id, "thread_name": name});
        lines(&[event(name)])
    };
    let home = Fixture::new();
    let begun = named(ID, "early") + &lines(&[meta(ID), user("q")]);
    let early = look_at(&home, &begun);
    assert_eq!(title(&early), Some(("early", true)));
    let late = begun.clone() + &noise(2_000_000) + &named(ID, "late") + &named(CHILD, "other");
    assert_eq!(title(&look_at(&home, late)), Some(("late", true)));
}

fn names(path: &Path) -> Vec<(String, Title)> {
    let Look::Names(named) = Codex.look(path, &Round::default()).unwrap() else {
        panic!("no names");
    };
    let named = named.into_iter();
    let mut all: Vec<_> = named.map(|named| (named.native_id, named.title)).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn pinned(id: &str, name: &str) -> (String, Title) {
    (
        id.to_owned(),
        Title {
            text: name.to_owned(),
            pinned: true,
        },
    )
}

#[test]
fn the_index_tells_the_last_name_of_each_session() {
    let home = Fixture::new();
    let name = |id: &str, name: &str| json!({"id": id, "thread_name": name}).to_string();
    let text = [
        name(ID, "one"),
        name(CHILD, "other"),
        name(ID, "two\u{1b}[2J"),
        "torn".to_owned(),
        name(SEGMENT, "gone"),
        name(SEGMENT, " "),
    ];
    let index = home.write("session_index.jsonl", text.join("\n"));
    assert_eq!(names(&index), [pinned(ID, "two"), pinned(CHILD, "other")]);
}

#[test]
fn the_database_tells_names_and_no_first_prompts() {
    for (columns, rows, expected) in [
        (
            "id TEXT, title TEXT, first_user_message TEXT, name TEXT",
            format!("('{ID}', 'q', 'q', 'named'), ('{CHILD}', 'q', 'p', NULL)"),
            &[pinned(ID, "named")][..],
        ),
        (
            "id TEXT, title TEXT, first_user_message TEXT",
            format!("('{ID}', 'q', ' q'), ('{CHILD}', 'renamed', 'q')"),
            &[pinned(CHILD, "renamed")],
        ),
    ] {
        let home = Fixture::new();
        let path = home.path("state_5.sqlite");
        let database = rusqlite::Connection::open(&path).unwrap();
        let sql = format!("CREATE TABLE threads ({columns}); INSERT INTO threads VALUES {rows};");
        database.execute_batch(&sql).unwrap();
        assert_eq!(names(&path), expected);
    }
}

#[test]
fn a_database_without_threads_says_so() {
    let home = Fixture::new();
    let path = home.path("state_5.sqlite");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch("CREATE TABLE other (id)").unwrap();
    let error = Codex
        .look(&path, &Round::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("not known yet"), "{error}");
}

#[test]
fn looking_at_a_session_opens_no_index() {
    let home = Fixture::new();
    home.write(
        "session_index.jsonl",
        json!({"id": ID, "thread_name": "n"}).to_string(),
    );
    home.write("state_5.sqlite", "no database");
    let listed = look_at(&home, lines(&[meta(ID), user("q")]));
    assert_eq!(title(&listed), Some(("q", false)));
    assert_eq!(notices(&listed), [""; 0]);
}

#[test]
fn of_a_record_that_is_too_long_the_beginning_is_read() {
    let long = json!({"id": ID, "cwd": "/w", "x": NOISE.repeat(20_000_000)});
    let last = at("2026-12-02T00:00:00.500Z", user("hi"));
    let text = lines(&[line("session_meta", long), last]);
    let listed = look_at(&Fixture::new(), text);
    assert_eq!(
        (listed.native_id.as_str(), listed.cwd.as_deref()),
        (ID, Some("/w"))
    );
    assert_eq!(listed.created_at, Millis(1_796_158_668_947));
    assert_eq!(listed.updated_at, Some(Millis(1_796_169_600_500)));
    assert_eq!(notices(&listed), [CUT]);
    let pasted = user(&format!("look at this {}", NOISE.repeat(3_000_000)));
    let listed = look_at(&Fixture::new(), lines(&[meta(ID), pasted]));
    let (shown, _) = title(&listed).unwrap();
    assert!(shown.starts_with("look at this xxx"), "{shown}");
    assert_eq!(notices(&listed), [CUT]);
}

#[test]
fn a_first_line_of_nothing_leaves_what_the_name_and_the_end_tell() {
    let last = at("2026-12-02T00:00:00.500Z", user("hi"));
    let text = NOISE.repeat(20_000_000) + "\n" + &lines(&[last]);
    let listed = look_at(&Fixture::new(), text);
    assert_eq!(listed.native_id, ID);
    // A session's id tells when it began.
    assert_eq!(listed.created_at, Millis(1_796_158_668_926));
    assert_eq!(listed.updated_at, Some(Millis(1_796_169_600_500)));
    assert_eq!(listed.kind, Kind::Session);
    assert_eq!(notices(&listed), [CUT]);
}

#[test]
fn torn_lines_are_counted_and_what_is_glued_to_them_is_read() {
    let torn = lines(&[user("lost")]);
    let (torn, _) = torn.split_at(torn.len() / 2);
    let text = lines(&[meta(ID)]) + torn + &lines(&[users(&["glued"])]) + "{\"timestamp\":\"20";
    let listed = look_at(&Fixture::new(), text);
    assert_eq!(title(&listed), Some(("glued", false)));
    assert_eq!(notices(&listed), ["1 record skipped"]);
    let nothing = look_at(&Fixture::new(), "\0\0\0\n\0");
    assert_eq!((nothing.native_id.as_str(), nothing.kind), (ID, Kind::Stub));
}

#[test]
fn a_session_is_located_by_its_name_in_the_file_written_last() {
    let home = Fixture::new();
    let first = home.write(&rollout(ID), NOISE);
    let sessions = home.path("sessions");
    assert_eq!(Codex.locate(&sessions, ID), Some(first.clone()));
    let segment = home.write(&rollout(&format!("{ID}_{SEGMENT}")), NOISE);
    let later = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    let file = std::fs::File::options().write(true).open(&segment).unwrap();
    file.set_modified(later).unwrap();
    assert_eq!(Codex.locate(&sessions, ID), Some(segment));
    assert_eq!(Codex.locate(&sessions, CHILD), None);
    assert_eq!(Codex.locate(&home.path(""), ID), None);
}

#[test]
fn a_file_of_another_session_is_not_read_for_this_one() {
    let home = Fixture::new();
    let path = home.write(&rollout(ID), lines(&[meta(ID), user("hi")]));
    assert!(Codex.read(&path, Some(ID)).is_ok());
    let error = Codex.read(&path, Some(CHILD)).unwrap_err();
    assert_eq!(error.code(), "SOURCE_NO_SESSION");
}
