//! Where sessions are found, and what is listed of them.

use std::ffi::OsString;
use std::fs;

use super::super::database::tests::{add_message, add_session, contents, database};
use super::super::tests::{DONE, Storage, USER, said};
use super::super::{Adapter, Look, Opencode};
use super::*;
use crate::session::Title;
use crate::source::Round;

fn environment(variables: &[(&str, &str)]) -> Environment {
    let variables = variables.iter();
    let variables = variables.map(|(name, value)| (*name, OsString::from(value)));
    Environment::new(Some("/home/u".into()), variables)
}

#[test]
fn the_environment_tells_where_it_keeps_its_sessions() {
    for (variables, expected) in [
        (&[][..], "/home/u/.local/share/opencode"),
        (&[("XDG_DATA_HOME", "/data")], "/data/opencode"),
        (&[("XDG_DATA_HOME", "")], "/home/u/.local/share/opencode"),
        (&[("OPENCODE_DB", "/x/o.db")], "/x/o.db"),
        (
            &[("OPENCODE_DB", "o.db")],
            "/home/u/.local/share/opencode/o.db",
        ),
    ] {
        let places = Opencode.places(&environment(variables));
        assert_eq!(places, [Path::new(expected)], "{variables:?}");
    }
    let in_memory = environment(&[("OPENCODE_DB", ":memory:")]);
    assert!(Opencode.places(&in_memory).is_empty());
}

/// What a scan finds: paths below the place, and the ids that names tell.
fn scanned(place: &Path) -> Vec<(String, Option<String>)> {
    let mut walk = Walk::default();
    Opencode.scan(place, &mut walk);
    assert!(walk.obstacles.is_empty(), "{:?}", walk.obstacles);
    for found in &walk.files {
        assert_eq!(Opencode.find(place, &found.path).as_ref(), Some(found));
    }
    for other in ["opencode.db-wal", "storage/../opencode.db", "log/x.json"] {
        assert_eq!(Opencode.find(place, &place.join(other)), None, "{other}");
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
fn databases_and_documents_of_sessions_are_found_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    for name in [
        "opencode.db",
        "opencode.db-wal",
        "opencode.db-shm",
        "opencode-dev.db",
        "other.db",
        "opencodex.db",
        "storage/session/p/ses_1.json",
        "storage/session/p/ses_1.tmp",
        "storage/session/q/ses_2.json",
        "storage/session/lost.json",
        "storage/message/ses_1/msg_1.json",
        "log/x.json",
    ] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    fs::write(dir.path().join("storage/session/p/empty.json"), "").unwrap();
    let file = |name: &str, id: Option<&str>| (name.to_owned(), id.map(str::to_owned));
    assert_eq!(
        scanned(dir.path()),
        [
            file("opencode-dev.db", None),
            file("opencode.db", None),
            file("storage/session/p/ses_1.json", Some("ses_1")),
            file("storage/session/q/ses_2.json", Some("ses_2")),
        ]
    );
    assert_eq!(scanned(&dir.path().join("gone")), []);
}

#[test]
fn a_database_changes_when_its_log_does() {
    let (dir, path, connection) = database("wal");
    let stamp = |place: &Path| {
        let mut walk = Walk::default();
        Opencode.scan(place, &mut walk);
        let [file] = &walk.files[..] else {
            panic!("{:?}", walk.files);
        };
        assert_eq!(file.path.file_name(), path.file_name());
        file.stamp
    };
    let before = stamp(dir.path());
    assert_eq!(stamp(&path), before);
    add_message(&connection, "ses_1", "msg_2", "more");
    assert_ne!(stamp(dir.path()), before);
}

fn look(path: &Path) -> Vec<Listed> {
    let Look::Sessions(mut listed) = Opencode.look(path, &Round::default()).unwrap() else {
        panic!("no sessions");
    };
    listed.sort_by(|a, b| a.native_id.cmp(&b.native_id));
    listed
}

fn one(path: &Path) -> Listed {
    let listed = look(path);
    assert_eq!(listed.len(), 1);
    listed.into_iter().next().unwrap()
}

fn title(listed: &Listed) -> Option<&str> {
    let title = listed.title.as_ref()?;
    assert!(!title.pinned);
    Some(&title.text)
}

#[test]
fn a_database_lists_all_its_sessions_and_leaves_no_trace() {
    let (dir, path, connection) = database("wal");
    add_session(&connection, "ses_2", Some("ses_1"), 30);
    add_message(&connection, "ses_2", "msg_2", "from an agent");
    add_session(&connection, "ses_3", None, 40);
    let before = contents(&dir);
    let listed = look(&path);
    assert_eq!(contents(&dir), before);
    let session = Listed {
        native_id: "ses_1".to_owned(),
        cwd: Some("/w".to_owned()),
        title: Some(Title {
            text: "T".to_owned(),
            pinned: false,
        }),
        created_at: Millis(5),
        updated_at: Some(Millis(10)),
        ..Listed::default()
    };
    let subagent = Listed {
        native_id: "ses_2".to_owned(),
        updated_at: Some(Millis(30)),
        parent: Some("ses_1".to_owned()),
        kind: Kind::Subagent,
        ..session.clone()
    };
    let stub = Listed {
        native_id: "ses_3".to_owned(),
        updated_at: Some(Millis(40)),
        kind: Kind::Stub,
        ..session.clone()
    };
    assert_eq!(listed, [session, subagent, stub]);
}

#[test]
fn an_untitled_session_of_a_database_goes_by_its_first_prompt() {
    let (_dir, path, connection) = database("delete");
    let placeholder = "UPDATE session SET title = 'New session - 2026-12-01T20:52:04.488Z'";
    connection.execute_batch(placeholder).unwrap();
    assert_eq!(title(&one(&path)), Some("hi"));
    // Without its index, looking for it could take forever.
    connection
        .execute_batch("DROP INDEX part_message_idx")
        .unwrap();
    assert_eq!(title(&one(&path)), None);
}

#[test]
fn a_session_whose_messages_are_of_a_form_to_come_is_no_stub() {
    let (_dir, path, connection) = database("delete");
    connection
        .execute_batch(
            "DELETE FROM message;
             CREATE TABLE session_message (id TEXT, session_id TEXT);
             INSERT INTO session_message VALUES ('x', 'ses_1');",
        )
        .unwrap();
    assert_eq!(one(&path).kind, Kind::Session);
}

#[test]
fn a_database_of_another_form_says_so() {
    let (_dir, path, connection) = database("delete");
    connection
        .execute_batch("ALTER TABLE message RENAME COLUMN session_id TO owner")
        .unwrap();
    let error = Opencode
        .look(&path, &Round::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("not known yet"), "{error}");
    connection.execute_batch("DROP TABLE part").unwrap();
    let error = Opencode.look(&path, &Round::default()).unwrap_err();
    assert_eq!(error.code(), "SOURCE_UNKNOWN_FORMAT");
}

#[test]
fn a_session_without_an_id_or_with_odd_columns_costs_no_other() {
    let (_dir, path, connection) = database("delete");
    connection
        .execute_batch(
            "INSERT INTO session VALUES (NULL, NULL, '/w', 'T', '1', 5, 10, NULL);
             INSERT INTO session VALUES ('ses_2', 1, 2, x'ff', 4, 'then', x'ff', 6);",
        )
        .unwrap();
    let listed = look(&path);
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[1].native_id, "ses_2");
    assert_eq!((title(&listed[1]), listed[1].updated_at), (None, None));
}

#[test]
fn a_document_lists_its_session() {
    let keys = r#","directory":"/w","title":"T","parentID":"ses_0""#;
    let storage = Storage::new(keys);
    assert_eq!(one(&storage.session).kind, Kind::Stub);
    storage.user("msg_1", 1, "hi");
    let listed = one(&storage.session);
    assert_eq!(listed.native_id, "ses_1");
    assert_eq!(listed.cwd.as_deref(), Some("/w"));
    assert_eq!(title(&listed), Some("T"));
    assert_eq!(listed.created_at, Millis(5));
    assert_eq!(listed.parent.as_deref(), Some("ses_0"));
    assert_eq!(listed.kind, Kind::Subagent);
    assert_eq!(listed.notices, []);
}

#[test]
fn a_document_tells_when_its_session_was_used_and_its_project_where() {
    let storage = Storage::new("");
    let document = r#"{"id":"ses_1","projectID":"p","time":{"created":5,"updated":9}}"#;
    storage.put("session/p/ses_1.json", document);
    storage.put("project/p.json", r#"{"id":"p","worktree":"/w"}"#);
    let listed = one(&storage.session);
    assert_eq!(listed.updated_at, Some(Millis(9)));
    assert_eq!(listed.cwd.as_deref(), Some("/w"));
}

#[test]
fn an_untitled_document_goes_by_the_first_words_that_a_person_typed() {
    let storage = Storage::new("");
    let synthetic = r#""type":"text","text":"read by a tool","synthetic":true"#;
    storage.message("msg_1", 1, USER, &[synthetic]);
    storage.message("msg_2", 2, r#""role":"assistant""#, &[&said("hello")]);
    storage.user("msg_3", 3, "one two three four five six");
    storage.user("msg_4", 4, "later");
    assert_eq!(
        title(&one(&storage.session)),
        Some("one two three four five")
    );
}

#[test]
fn what_was_taken_back_makes_no_title() {
    let storage = Storage::new(r#","revert":{"messageID":"msg_1"}"#);
    storage.user("msg_1", 1, "taken back");
    assert_eq!(title(&one(&storage.session)), None);
}

#[test]
fn a_compaction_leaves_the_first_prompt_as_the_title() {
    let storage = Storage::new("");
    storage.user("a", 1, "old").compaction(2, "", DONE);
    assert_eq!(title(&one(&storage.session)), Some("old"));
}

#[test]
fn a_long_or_torn_document_tells_what_stands_before_its_end() {
    let before = r#"{"id":"ses_1","directory":"/w","title":"T","time":{"created":5},"summary":""#;
    for rest in ["x".repeat(2_000_000) + "\"}", "torn".to_owned()] {
        let storage = Storage::new("");
        storage.put("session/p/ses_1.json", &format!("{before}{rest}"));
        storage.user("msg_1", 1, "hi");
        let listed = one(&storage.session);
        assert_eq!(listed.native_id, "ses_1");
        assert_eq!(title(&listed), Some("T"));
        assert_eq!(listed.cwd.as_deref(), Some("/w"));
        assert_eq!(listed.notices.len(), 1);
    }
}

#[test]
fn a_document_of_nothing_goes_by_its_name() {
    let storage = Storage::new("");
    storage.put("session/p/ses_1.json", "\0\0\0");
    storage.user("msg_1", 1, "hi");
    let listed = one(&storage.session);
    assert_eq!(listed.native_id, "ses_1");
    assert_eq!(title(&listed), Some("hi"));
}

#[test]
fn a_session_is_located_in_the_database_or_else_by_its_name() {
    let (dir, path, _connection) = database("wal");
    for id in ["ses_1", "ses_9"] {
        let document = dir.path().join(format!("storage/session/p/{id}.json"));
        fs::create_dir_all(document.parent().unwrap()).unwrap();
        fs::write(document, "{}").unwrap();
    }
    let document = dir.path().join("storage/session/p/ses_9.json");
    assert_eq!(Opencode.locate(dir.path(), "ses_1"), Some(path.clone()));
    assert_eq!(Opencode.locate(&path, "ses_1"), Some(path));
    assert_eq!(Opencode.locate(dir.path(), "ses_9"), Some(document));
    assert_eq!(Opencode.locate(dir.path(), "ses_0"), None);
    assert_eq!(Opencode.locate(dir.path(), "../ses_9"), None);
}

#[test]
fn a_document_of_another_session_is_not_read_for_this_one() {
    let storage = Storage::new("");
    storage.user("msg_1", 1, "hi");
    assert!(Opencode.read(&storage.session, Some("ses_1")).is_ok());
    let error = Opencode.read(&storage.session, Some("ses_2")).unwrap_err();
    assert_eq!(error.code(), "SOURCE_NO_SESSION");
}
