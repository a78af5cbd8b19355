//! The integration tests: what the crate does, seen from outside.

mod citing;
mod cli;
mod hostile;
mod library;
mod models;
mod pipeline;
mod properties;
mod seed;
mod session_rules;
mod sources;
mod support;
#[cfg(all(unix, feature = "tui"))]
mod terminal;
mod vectors;
