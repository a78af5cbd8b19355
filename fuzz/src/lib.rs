//! What the fuzz targets share: a home made of an input, what must hold when
//! it is read, and a mutator that knows lines of JSON.

mod check;
mod home;
mod mutate;

pub use check::check;
pub use home::{Part, default_path, frame, parts};
pub use mutate::mutate;
