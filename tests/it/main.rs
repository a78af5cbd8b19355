//! The integration tests: what the crate does, seen from outside.

mod citing;
mod library;
mod pipeline;
mod properties;
mod seed;
mod session_rules;
mod sources;
mod support;
mod vectors;
