//! What a citation is: URIs, mentions, projection, retention, framing, and the
//! resolver that puts them together.
//!
//! Knows sessions and nothing else: surfaces, spill files, model windows and
//! listings come in through the traits of [`ports`].

pub mod config;
pub mod discovery;
mod error;
pub mod frame;
pub mod mention;
pub mod ports;
pub mod projection;
pub mod resolver;
pub mod retention;
pub mod tag_safe;
pub mod transcript;
pub mod uri;

pub use config::{ReferenceConfig, ReferenceSettings};
pub use error::{Cause, ReferenceError};
pub use mention::Reference;
pub use resolver::{Prepared, PreparedContext, Resolver, RouteChoice, Target};
