//! Providers against servers: a faulty one of our own, and two that others
//! wrote.

pub(crate) mod conformance;
mod faults;
mod formats;
mod refusals;
pub(crate) mod server;
pub(crate) mod support;
mod tls;
