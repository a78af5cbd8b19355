//! Databases of other tools in every bad state.

use std::fs;

use rusqlite::Connection;

use super::Person;

const OPENCODE: &str = ".local/share/opencode/opencode.db";
const CODEX: &str = ".codex/state_5.sqlite";
/// The session that lies in the database alone.
const INSIDE: &str = "opencode:ses_dccac60b8ffe53P8KATb5BGuFi";

/// What is left when the database can't be read.
fn others() -> Vec<&'static str> {
    let mut others = super::SESSIONS.to_vec();
    others.retain(|id| *id != INSIDE);
    others
}

#[test]
fn a_database_that_another_program_has_locked_is_read() {
    let person = Person::new();
    let locked = Connection::open(person.path(OPENCODE)).unwrap();
    locked.execute_batch("BEGIN EXCLUSIVE").unwrap();
    person.survives();
    locked
        .execute("UPDATE session SET title = 'not yet'", [])
        .unwrap();
    let doctor = person.survives();
    assert!(!doctor.contains("not yet"));
    locked.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn what_stands_in_the_log_of_a_database_in_use_is_read() {
    let person = Person::new();
    let used = Connection::open(person.path(OPENCODE)).unwrap();
    used.pragma_update(None, "journal_mode", "WAL").unwrap();
    used.execute("UPDATE session SET title = 'From the log'", [])
        .unwrap();
    person.survives();
    let told = person.run(&["sessions", "list", "--tool", "opencode"]);
    assert!(told.out.contains("From the log"), "{}", told.out);
    drop(used);
}

/// Whether doctor has a finding about this file.
fn is_told(doctor: &str, file: &str) -> bool {
    let mut findings = doctor.lines().filter(|line| line.starts_with("- "));
    findings.any(|finding| finding.contains(file))
}

#[test]
fn what_is_no_database_of_the_tool_is_told_and_the_rest_is_listed() {
    let garbage = [&b"SQLite format 3\0"[..], &[0x5a; 9000]].concat();
    let whole = {
        let person = Person::new();
        fs::read(person.path(OPENCODE)).unwrap()
    };
    let torn = whole[..whole.len() / 2].to_vec();
    let mut scratched = whole.clone();
    for byte in scratched.iter_mut().skip(100).step_by(7) {
        *byte ^= 0x55;
    }
    for bytes in [garbage, torn, scratched, b"no database".to_vec()] {
        let person = Person::new();
        for name in [OPENCODE, CODEX] {
            person.write(name, &bytes);
        }
        let doctor = person.survives_with(&others());
        assert!(is_told(&doctor, "/opencode.db"), "{doctor}");
        assert!(doctor.contains("state_5.sqlite: "), "{doctor}");
    }
}

#[test]
fn a_database_without_the_tables_or_of_a_newer_form_is_told() {
    for change in [
        "DROP TABLE session",
        "DROP TABLE message",
        "ALTER TABLE session RENAME TO sessions",
        "ALTER TABLE session RENAME COLUMN id TO key",
        "DROP TABLE session; CREATE VIEW session AS SELECT * FROM message",
    ] {
        let person = Person::new();
        let database = Connection::open(person.path(OPENCODE)).unwrap();
        database.execute_batch(change).unwrap();
        drop(database);
        let codex = Connection::open(person.path(CODEX)).unwrap();
        codex.execute_batch("CREATE TABLE threads_2 (id)").unwrap();
        drop(codex);
        let doctor = person.survives_with(&others());
        assert!(doctor.contains("state_5.sqlite: "), "{change}: {doctor}");
        assert!(is_told(&doctor, "/opencode.db"), "{change}: {doctor}");
    }
}

#[test]
fn a_folder_of_a_databases_name_is_passed_over_and_told() {
    let person = Person::new();
    fs::remove_file(person.path(OPENCODE)).unwrap();
    for name in [OPENCODE, CODEX, ".codex/session_index.jsonl"] {
        let _ = fs::remove_file(person.path(name));
        fs::create_dir(person.path(name)).unwrap();
    }
    let doctor = person.survives_with(&others());
    assert!(doctor.contains("opencode.db"), "{doctor}");
}

#[test]
fn a_column_of_endless_values_hides_no_other_session() {
    let person = Person::new();
    let database = Connection::open(person.path(OPENCODE)).unwrap();
    database
        .execute_batch(
            "ALTER TABLE session ADD COLUMN big GENERATED ALWAYS AS (hex(zeroblob(400000000)))",
        )
        .unwrap();
    drop(database);
    person.survives_with(&others());
}
