//! Rollout files of Codex.

use super::support::{check_fixtures, check_samples};

#[test]
fn every_sample_gives_its_expected_conversation() {
    check_samples("codex");
}

#[test]
fn every_fixture_gives_its_expected_conversation() {
    check_fixtures("codex");
}
