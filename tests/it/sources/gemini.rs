//! Gemini CLI's files.

use super::support::{check_fixtures, check_samples};

#[test]
fn files_that_gemini_wrote_give_its_conversation() {
    check_fixtures("gemini");
}

#[test]
fn every_sample_of_gemini_gives_its_conversation() {
    check_samples("gemini");
}
