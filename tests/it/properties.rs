//! What holds for every input, shown on many.

mod fold;
mod log_lines;
mod retention;
mod text;
