//! Claude Code's files.

use super::support::{check_fixtures, check_samples};

#[test]
fn files_that_claude_code_wrote_give_its_conversation() {
    check_fixtures("claude-code");
}

#[test]
fn every_sample_of_claude_code_gives_its_conversation() {
    check_samples("claude-code");
}
