//! Providers against servers: a faulty one of our own, and two that others
//! wrote.

mod conformance;
mod faults;
mod formats;
mod refusals;
mod server;
mod support;
mod tls;
