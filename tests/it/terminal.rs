//! The program as a person meets it: the real binary in a real
//! pseudo-terminal.
//!
//! [`pty`] drives it; the other modules each hold one promise: the whole story
//! of citing a session, the terminal put back, nothing hostile let through,
//! the identity that was picked sent, nothing lost when the program is killed
//! or the disk is full.
//!
//! Nothing here sleeps: a test waits until the screen shows what it expects,
//! and fails with the screen when that does not come.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

mod full;
mod home;
mod hostile;
mod identity;
mod kill;
mod killing;
mod pty;
mod restore;
mod secrets;
mod story;
