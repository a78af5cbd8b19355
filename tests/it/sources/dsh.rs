//! The files of dsh.

use super::support::{check_fixtures, check_samples, survive_damage};

#[test]
fn every_fixture_gives_its_conversation() {
    check_fixtures("dsh");
}

#[test]
fn every_sample_gives_its_conversation() {
    check_samples("dsh");
}

#[test]
fn damage_never_panics() {
    let v0 = "dsh/v0-real/sessions/--home-u-proj--/";
    survive_damage(
        &format!("{v0}session-66b4fa9be9124a3bb17ef52f150cc8a0/session.jsonl"),
        300,
    );
    survive_damage(
        &format!("{v0}session-cc62d510906a4093864752b115c6d242/session.jsonl.zstd"),
        300,
    );
}
