//! The command line.

mod check;
mod inputs;
mod sink;
mod trace;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(super) use check::{Check, Fix};
pub(super) use inputs::Inputs;
pub(super) use sink::Sink;
pub(super) use trace::Trace;

/// What Istio egress will do, before it is applied.
///
/// `egress-lint manifests/` is short for `egress-lint check manifests/`.
#[derive(Debug, Parser)]
#[command(name = "egress-lint", version, max_term_width = 100)]
pub(super) struct Program {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Lint manifests
    ///
    /// Exit codes, the same in every format: 0 nothing at or above --fail-on; 1 findings; 2 usage, configuration,
    /// I/O, or a file that could not be parsed; 3 no Istio resource to check in the inputs.
    Check(Box<Check>),
    /// Show what becomes of calls
    ///
    /// Which cluster takes them, over which route, with which retries, time limits, outlier detection and TLS.
    Trace(Box<Trace>),
    /// Show the page of a rule, or of an experiment
    Explain(Explain),
    /// List the rules: name, level, whether it can be fixed, summary
    Rules {
        /// The form of the list
        #[arg(long, value_enum, default_value_t)]
        format: TextOrJson,
    },
    /// Print the JSON Schema of a format
    Schema {
        #[arg(value_enum)]
        name: SchemaName,
    },
    /// Print the completions of a shell
    Completions {
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in roff
    Man,
    /// Look into the parts
    #[command(subcommand, hide = true)]
    Debug(Debug),
}

#[derive(Debug, Subcommand)]
pub(super) enum Debug {
    /// Print the documents of a file as Kubernetes reads them
    Yaml {
        file: PathBuf,
        /// Where every value stands, too
        #[arg(long)]
        spans: bool,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum TextOrJson {
    #[default]
    Text,
    Json,
}

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaName {
    /// The configuration, egress-lint.yaml
    Config,
    /// The file of `check --baseline FILE`
    Baseline,
    /// The answer of `check --format json`
    Report,
    /// The answer of `rules --format json` and `explain --format json`
    Rules,
    /// The answer of `trace --calls FILE --format json`
    Trace,
    /// The file of `trace --calls FILE`
    Calls,
}

#[derive(Debug, Args)]
pub(super) struct Explain {
    /// A rule, or an experiment that `trace` or a page names, such as E9
    #[arg(required_unless_present = "all")]
    pub(super) rule: Option<String>,
    /// Show the pages of all rules
    #[arg(long, conflicts_with = "rule")]
    pub(super) all: bool,
    /// The form of the page: Markdown, or JSON with what else there is to know
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: TextOrJson,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// Puts `check` where no command is named: a bare path, or only options.
pub(super) fn with_command(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = arguments.into_iter().collect();
    let first = all.get(1).map(|first| first.to_string_lossy());
    let named = first.is_some_and(|first| {
        matches!(&*first, "-h" | "--help" | "-V" | "--version" | "help")
            || <Program as clap::CommandFactory>::command()
                .get_subcommands()
                .any(|command| command.get_name() == first)
    });
    if !named {
        all.insert(1.min(all.len()), "check".into());
    }
    all
}
