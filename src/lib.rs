//! ibid: a terminal chat client that can cite your other sessions.

#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod aside;
mod blocks;
pub mod chat;
pub mod cli;
pub mod config;
mod figures;
mod json;
pub mod library;
pub mod model;
pub mod reference;
pub mod runtime;
mod sanitize;
pub mod session;
mod signals;
pub mod source;
pub mod stamp;
pub mod store;
pub mod text;
mod threads;
pub mod tool;
#[cfg(feature = "tui")]
pub mod tui;
