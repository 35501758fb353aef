//! The program: everything happens in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    egress_lint::cli::main(std::env::args_os())
}
