//! Turns arguments into calls and results into exit codes; the only module that prints.

mod arguments;
mod check;
mod debug;
mod exit;
mod terminal;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Command, Program};

/// Runs the program.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let program = match Program::try_parse_from(arguments::with_command(arguments)) {
        Ok(program) => program,
        Err(error) => return terminal::usage(&error).into(),
    };
    let done = match &program.command {
        Command::Check(arguments) => check::run(arguments),
        Command::Debug(what) => debug::run(what),
    };
    done.unwrap_or_else(|error| terminal::failure(&error))
        .into()
}
