//! What the tests build on: sessions to cite, and stand-ins for the ports.

pub(crate) mod frames;
pub(crate) mod keys;
pub(crate) mod ports;
pub(crate) mod sessions;
pub(crate) mod tls;
