//! Turns arguments into calls and results into exit codes; the only module that prints.

mod accepted;
mod arguments;
mod check;
mod debug;
mod exit;
mod fix;
mod question;
mod rules;
mod session;
mod terminal;
mod trace;

use std::ffi::OsString;
use std::io::{BufWriter, Write as _};
use std::panic;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use arguments::{Command, Program, SchemaName};
use exit::Exit;

use crate::{baseline, calls, config, engine, output};

use crate::engine::watch_panics;

/// Runs the program.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    watch_panics(|panic| {
        terminal::say(&format!(
            "a fault of egress-lint, please report it: {panic}"
        ));
    });
    let arguments = arguments::with_command(arguments);
    let program = match Program::try_parse_from(arguments) {
        Ok(program) => program,
        Err(error) => return terminal::usage(&error).into(),
    };
    let done = panic::catch_unwind(|| run(&program.command));
    match done {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) => terminal::failure(&error),
        Err(_) => Exit::Trouble,
    }
    .into()
}

fn run(command: &Command) -> anyhow::Result<Exit> {
    let mut out = BufWriter::new(terminal::Stdout::new());
    let exit = match command {
        Command::Check(arguments) => check::run(arguments, &mut out)?,
        Command::Trace(arguments) => trace::run(arguments, &mut out)?,
        Command::Debug(what) => debug::run(what, &mut out)?,
        Command::Explain(arguments) => rules::explain(arguments, &mut out)?,
        Command::Rules { format } => rules::list(*format, &mut out)?,
        Command::Schema { name } => schema(*name, &mut out)?,
        Command::Completions { shell } => {
            let mut program = Program::command();
            clap_complete::generate(*shell, &mut program, "egress-lint", &mut out);
            Exit::Clean
        }
        Command::Man => {
            clap_mangen::Man::new(Program::command()).render(&mut out)?;
            Exit::Clean
        }
    };
    out.flush()?;
    Ok(exit)
}

fn schema(name: SchemaName, out: &mut dyn std::io::Write) -> anyhow::Result<Exit> {
    let schema = match name {
        SchemaName::Config => config::schema(&engine::known_rules()),
        SchemaName::Baseline => baseline::schema(),
        SchemaName::Report => output::report_schema(),
        SchemaName::Rules => output::rules_schema(),
        SchemaName::Trace => output::trace_schema(),
        SchemaName::Calls => calls::schema(),
    };
    writeln!(out, "{schema:#}")?;
    Ok(Exit::Clean)
}
