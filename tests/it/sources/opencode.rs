//! The files of opencode.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::support::{check_fixtures, check_one, check_samples, survive_damage};

#[test]
fn every_fixture_gives_its_conversation() {
    check_fixtures("opencode");
}

#[test]
fn every_sample_gives_its_conversation() {
    check_samples("opencode");
}

#[test]
fn the_fixture_of_a_database_gives_its_conversation() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opencode/v1.18-real");
    let dir = tempfile::tempdir().unwrap();
    let database = Connection::open(dir.path().join("opencode.db")).unwrap();
    let rows = fs::read_to_string(fixture.join("opencode.sql")).unwrap();
    database.execute_batch(&rows).unwrap();
    drop(database);
    check_one(dir.path(), &fixture.join("expected.json"));
}

#[test]
fn damage_never_panics() {
    let session = "opencode/v1.0.152-real/storage/session/a40d85c57945c10a5500e3fea254e2ea9a6479ff/\
                   ses_dcc9f00f7ffeIMJkelrTYu1smA.json";
    survive_damage(session, 300);
}
