//! The `ibid` program.

fn main() {}
