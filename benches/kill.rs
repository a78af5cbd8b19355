//! Kill -9 at random moments of an answer, many times.
//!
//! `cargo bench --bench kill [-- ROUNDS]` sends a message, kills the program
//! within the next two and a half seconds and opens every session again, 200
//! times unless told otherwise. It stops with a panic when one can't be
//! opened, or when anything is missing that was on the screen.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::string_slice,
    dead_code,
    reason = "a benchmark that shares the harness of the tests"
)]

#[path = "../tests/it/terminal/home.rs"]
mod home;
#[path = "../tests/it/terminal/killing.rs"]
mod killing;
#[path = "../tests/it/terminal/pty.rs"]
mod pty;

fn main() {
    let rounds = std::env::args()
        .find_map(|arg| arg.parse::<u64>().ok())
        .unwrap_or(200);
    let mut victim = killing::Victim::new(0x00c0_ffee);
    for round in 1..=rounds {
        victim.round();
        if round.is_multiple_of(20) || round == rounds {
            let (messages, answers) = victim.seen();
            println!(
                "killed {round} times: each session opens, {messages} messages and {answers} whole answers were on the screen and are all there"
            );
        }
    }
}
