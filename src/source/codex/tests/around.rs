//! What is found in the folders around a file: its beginning, its plain twin,
//! its name.

use super::*;

/// Two turns, and how many bytes the first of them ends at.
fn parent() -> (String, usize) {
    let first = lines(&[meta(ID), user("q1"), model("a1")]);
    let cut = first.len();
    (first + &lines(&[user("q2"), model("a2")]), cut)
}

#[test]
fn a_fork_begins_with_a_part_of_its_parent() {
    let home = Fixture::new();
    let (parent, cut) = parent();
    home.write(&rollout(ID), parent);
    let fork = home.write(&rollout(CHILD), child(CHILD, ID, cut));
    let read = read_file(&fork).unwrap();
    assert_eq!(said(&read), ["u q1", "a a1", "u q3"]);
    assert_eq!(read.session.header().id.as_str(), format!("codex:{CHILD}"));
    assert_eq!(notices(&read), [""; 0]);
}

#[test]
fn the_parent_may_be_archived_or_compressed_or_of_another_day() {
    for place in [
        format!("archived_sessions/rollout-2026-11-01T00-00-00-{ID}.jsonl"),
        format!("sessions/2026/11/01/rollout-2026-11-01T00-00-00-{ID}.jsonl.zst"),
    ] {
        let home = Fixture::new();
        let (parent, cut) = parent();
        let is_zstd = place.ends_with("zst");
        home.write(
            &place,
            if is_zstd {
                zstd(&parent)
            } else {
                parent.into_bytes()
            },
        );
        let fork = home.write(&rollout(CHILD), child(CHILD, ID, cut));
        assert_eq!(
            said(&read_file(&fork).unwrap()),
            ["u q1", "a a1", "u q3"],
            "{place}"
        );
    }
}

#[test]
fn a_revert_is_a_second_file_of_the_same_session() {
    let home = Fixture::new();
    let (parent, cut) = parent();
    home.write(&rollout(ID), parent);
    let segment = rollout(&format!("{ID}_{SEGMENT}"));
    let text = child(ID, ID, cut);
    let second = text.len();
    let live = home.write(&segment, text + &lines(&[user("q4")]));
    let read = read_file(&live).unwrap();
    assert_eq!(said(&read), ["u q1", "a a1", "u q3", "u q4"]);
    assert_eq!(read.session.header().id.as_str(), format!("codex:{ID}"));
    assert_eq!(read.session.header().parent_session, None);
    // What builds on a revert names it by the id that it added.
    let fork = home.write(&rollout(CHILD), child(CHILD, SEGMENT, second));
    assert_eq!(
        said(&read_file(&fork).unwrap()),
        ["u q1", "a a1", "u q3", "u q3"]
    );
}

#[test]
fn a_beginning_that_is_not_there_is_said() {
    for (id, bytes) in [
        (ID, json!(10)),
        ("../../etc/passwd", json!(10)),
        (ID, json!(-1)),
    ] {
        let home = Fixture::new();
        let fork = home.write(&rollout(CHILD), child(CHILD, id, bytes));
        let read = read_file(&fork).unwrap();
        assert_eq!(said(&read), ["u q3"]);
        let notices = notices(&read);
        assert!(notices[0].contains("the beginning is"), "{notices:?}");
    }
}

#[test]
fn a_parent_that_has_become_shorter_is_said() {
    let home = Fixture::new();
    home.write(&rollout(ID), parent().0);
    let fork = home.write(&rollout(CHILD), child(CHILD, ID, 1_000_000));
    let read = read_file(&fork).unwrap();
    assert_eq!(said(&read).len(), 5);
    assert_eq!(
        notices(&read),
        ["the file that holds the beginning has become shorter"]
    );
}

#[test]
fn files_that_build_on_each_other_end() {
    let home = Fixture::new();
    let one = home.write(&rollout(CHILD), child(CHILD, ID, 10_000));
    home.write(&rollout(ID), child(ID, CHILD, 10_000));
    let read = read_file(&one).unwrap();
    assert_eq!(said(&read), ["u q3", "u q3"]);
    assert!(
        notices(&read)[0].contains("builds on this one"),
        "{:?}",
        notices(&read)
    );
}

#[test]
fn a_compressed_file_is_read_and_a_plain_one_beside_it_counts_in_its_place() {
    let home = Fixture::new();
    let compressed = home.write(
        &(rollout(ID) + ".zst"),
        zstd(&lines(&[meta(ID), user("old")])),
    );
    let read = read_file(&compressed).unwrap();
    assert_eq!(said(&read), ["u old"]);
    assert_eq!(read.session.header().id.as_str(), format!("codex:{ID}"));
    home.write(&rollout(ID), lines(&[meta(ID), user("new")]));
    assert_eq!(said(&read_file(&compressed).unwrap()), ["u new"]);
}

fn index(name: &str) -> Value {
    json!({"id": ID, "thread_name": name, "updated_at": "2026-12-01T20:57:50Z"})
}

#[test]
fn the_last_name_in_the_index_is_the_title() {
    let home = Fixture::new();
    let other = json!({"id": CHILD, "thread_name": "other", "updated_at": ""});
    home.write(
        "session_index.jsonl",
        lines(&[index("one"), index("two"), other]),
    );
    let file = home.write(&rollout(ID), lines(&[meta(ID), user("q")]));
    assert_eq!(title(&read_file(&file).unwrap()), Some("two"));
}

#[test]
fn a_name_in_the_records_is_the_title_unless_a_fork_copied_it() {
    let named = |id: &str| {
        event(json!({"type": "thread_name_updated", "thread_id": id, "thread_name": "name"}))
    };
    assert_eq!(
        title(&read_records(&[meta(ID), user("q"), named(ID)])),
        Some("name")
    );
    assert_eq!(
        title(&read_records(&[meta(ID), user("q"), named(CHILD)])),
        None
    );
}

fn database(path: &Path, columns: &str, values: &str) -> rusqlite::Connection {
    let database = rusqlite::Connection::open(path).unwrap();
    let sql = format!("CREATE TABLE threads ({columns}); INSERT INTO threads VALUES ({values});");
    database.execute_batch(&sql).unwrap();
    database
}

const COLUMNS: &str = "id TEXT, rollout_path TEXT, title TEXT, first_user_message TEXT";

#[test]
fn the_database_tells_a_name_and_a_first_prompt_is_none() {
    for (columns, values, expected) in [
        (
            format!("{COLUMNS}, name TEXT"),
            format!("'{ID}', '', 'q', 'q', 'named'"),
            Some("named"),
        ),
        (
            format!("{COLUMNS}, name TEXT"),
            format!("'{ID}', '', 'q', 'q', NULL"),
            None,
        ),
        (
            COLUMNS.to_owned(),
            format!("'{ID}', '', 'renamed', 'q'"),
            Some("renamed"),
        ),
        (
            COLUMNS.to_owned(),
            format!("'{CHILD}', '', 'renamed', 'q'"),
            None,
        ),
        (
            "id TEXT, title TEXT".to_owned(),
            format!("'{ID}', 'q'"),
            None,
        ),
    ] {
        let home = Fixture::new();
        database(&home.path("state_5.sqlite"), &columns, &values);
        let file = home.write(&rollout(ID), lines(&[meta(ID), user("q")]));
        let read = read_file(&file).unwrap();
        assert_eq!(title(&read), expected, "{columns}");
        assert_eq!(notices(&read), [""; 0]);
    }
}

#[test]
fn a_database_in_use_is_read_with_its_log_and_nothing_beside_it_changes() {
    let home = Fixture::new();
    let path = home.path("state_5.sqlite");
    let columns = format!("{COLUMNS}, name TEXT");
    let writer = database(&path, &columns, &format!("'{ID}', '', 'q', 'q', NULL"));
    let wal: String = writer
        .query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(wal, "wal");
    writer
        .execute("UPDATE threads SET name = 'in the log'", [])
        .unwrap();
    let file = home.write(&rollout(ID), lines(&[meta(ID), user("q")]));
    let before = snapshot(home.0.path());
    assert_eq!(title(&read_file(&file).unwrap()), Some("in the log"));
    assert_eq!(snapshot(home.0.path()), before);
    // As a program leaves it that died: a log, and nobody who uses it.
    let dead = Fixture::new();
    for end in ["", "-wal"] {
        let name = format!("state_5.sqlite{end}");
        std::fs::copy(home.path(&name), dead.path(&name)).unwrap();
    }
    let file = dead.write(&rollout(ID), lines(&[meta(ID), user("q")]));
    let before = snapshot(dead.0.path());
    assert_eq!(title(&read_file(&file).unwrap()), Some("in the log"));
    assert_eq!(snapshot(dead.0.path()), before);
    // And as one leaves it that ended: no log.
    drop(writer);
    let file = home.path(&rollout(ID));
    let before = snapshot(home.0.path());
    assert_eq!(title(&read_file(&file).unwrap()), Some("in the log"));
    assert_eq!(snapshot(home.0.path()), before);
}

fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(snapshot(&path));
        } else {
            let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
            files.push((path.clone(), std::fs::read(&path).unwrap(), modified));
        }
    }
    files.sort();
    files
}

#[test]
fn a_database_that_can_not_be_read_costs_the_title_alone() {
    for content in [
        &b"no database at all, and longer than its header is"[..],
        b"",
    ] {
        let home = Fixture::new();
        home.write("state_5.sqlite", content);
        let file = home.write(&rollout(ID), lines(&[meta(ID), user("q")]));
        let read = read_file(&file).unwrap();
        assert_eq!(said(&read), ["u q"]);
        assert!(
            notices(&read)[0].starts_with("can't read "),
            "{:?}",
            notices(&read)
        );
    }
}

#[test]
fn a_file_that_a_revert_left_behind_says_so() {
    let home = Fixture::new();
    let live = format!("/home/u/.codex/{}", rollout(&format!("{ID}_{SEGMENT}")));
    database(
        &home.path("state_5.sqlite"),
        COLUMNS,
        &format!("'{ID}', '{live}', 'q', 'q'"),
    );
    let file = home.write(&rollout(ID), lines(&[meta(ID), user("q")]));
    let expected = format!("a revert moved this session on to the rollout {SEGMENT}");
    assert_eq!(notices(&read_file(&file).unwrap()), [expected]);
}
