//! Killed at any moment, the program loses nothing that it said it had. The
//! long run is `cargo bench --bench kill`.

use super::killing::{Victim, a_draft_survives};

#[test]
fn nothing_that_was_shown_is_lost_when_it_is_killed() {
    let mut victim = Victim::new(0x1b1d);
    for _ in 0..5 {
        victim.round();
    }
    assert!(victim.seen().0 > 0, "some messages were sent");
}

#[test]
fn a_draft_is_restored_when_it_is_killed() {
    a_draft_survives();
}
