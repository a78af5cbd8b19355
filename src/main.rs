//! The `ibid` program: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    ibid::cli::run(std::env::args_os())
}
