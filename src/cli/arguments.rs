//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::question::{Protocol, Target, client, target};
use crate::config::{FailOn, Level};
use crate::egress::client::Client;
use crate::istio::IstioVersion;
use crate::output::Format;

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
    /// I/O, or a file that could not be parsed; 3 no Istio resource in the inputs.
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

#[derive(Debug, Args)]
pub(super) struct Trace {
    #[command(flatten)]
    pub(super) inputs: Inputs,
    /// Only the ways to this host [default: to every external host that the files define]
    #[arg(long, value_name = "HOST[:PORT]", value_parser = target, help_heading = "Question")]
    pub(super) to: Option<Target>,
    /// What the client speaks [default: what the port is declared to carry]
    #[arg(
        long = "as",
        value_enum,
        value_name = "PROTOCOL",
        help_heading = "Question"
    )]
    pub(super) speaks: Option<Protocol>,
    /// Who calls: a namespace and labels [default: each namespace that has something to say about the host]
    #[arg(long, value_name = "NS[/K=V,…]", value_parser = client, help_heading = "Question")]
    pub(super) client: Option<Client>,
    /// Answer the calls of a file instead, in JSON
    #[arg(long, value_name = "FILE", conflicts_with_all = ["to", "speaks", "client", "matrix"], help_heading = "Question")]
    pub(super) calls: Option<PathBuf>,
    /// Which of several worlds is asked about
    #[arg(long, value_name = "NAME", help_heading = "Question")]
    pub(super) world: Option<String>,
    /// Draw STRICT and LOGICAL against HTTP and TCP for each destination, too
    #[arg(long, help_heading = "Output")]
    pub(super) matrix: bool,
    /// The form of the answer [default: text; json with --calls]
    #[arg(long, value_enum, help_heading = "Output")]
    pub(super) format: Option<TextOrJson>,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(super) output: Option<PathBuf>,
    /// When to use colours; NO_COLOR, CLICOLOR and CLICOLOR_FORCE are honoured
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        help_heading = "Output"
    )]
    pub(super) color: Color,
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

#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    pub(super) inputs: Inputs,
    #[command(flatten)]
    pub(super) printing: Printing,

    /// Set the level of one rule: off, advice, warning, error
    #[arg(long, value_name = "NAME=LEVEL", value_parser = rule_level, help_heading = "Rules")]
    pub(super) rule: Vec<(String, Level)>,
    /// Run only these rules
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Rules"
    )]
    pub(super) only: Vec<String>,
    /// The level from which on findings make the run fail: error, warning, advice, never [default: warning]
    #[arg(long, value_name = "LEVEL", value_parser = fail_on, help_heading = "Rules")]
    pub(super) fail_on: Option<FailOn>,
    /// Apply fixes until nothing changes: those that are safe, or with --fix=unsafe also those that narrow or
    /// redirect traffic. The text of `-` goes to standard output, the report to standard error
    #[arg(
        long,
        value_enum,
        value_name = "SAFETY",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "safe",
        help_heading = "Fixes"
    )]
    pub(super) fix: Option<Fix>,
    /// Print what the fixes would change, as a unified diff, and write nothing
    #[arg(long, help_heading = "Fixes")]
    pub(super) diff: bool,
    /// Stay silent about the findings of this file, so that only new ones count [default: `baseline:` of the configuration]
    #[arg(long, value_name = "FILE", help_heading = "Baseline")]
    pub(super) baseline: Option<PathBuf>,
    /// Write what is found into the file of --baseline; what this run cannot judge stays in it
    #[arg(long, conflicts_with = "diff", help_heading = "Baseline")]
    pub(super) write_baseline: bool,
    /// List silenced findings too
    #[arg(long, help_heading = "Output")]
    pub(super) show_suppressed: bool,
    /// Draw every finding, also where a rule speaks more than 20 times
    #[arg(long, short, help_heading = "Output")]
    pub(super) verbose: bool,
    /// Count the findings of each rule; in text instead of drawing them
    #[arg(long, help_heading = "Output")]
    pub(super) statistics: bool,
    /// Print no findings and no summary; the exit code says it
    #[arg(long, short, help_heading = "Output")]
    pub(super) quiet: bool,
    /// Only the findings of one of several worlds
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub(super) world: Option<String>,
    /// Exit with 0 when there is no Istio resource in the inputs
    #[arg(long, help_heading = "Input")]
    pub(super) allow_empty: bool,
}

/// What is read, and what is known about it.
#[derive(Debug, Args)]
pub(super) struct Inputs {
    /// Files, folders, or - for standard input
    #[arg(value_name = "PATH", default_value = ".", help_heading = "Input")]
    pub(super) paths: Vec<PathBuf>,
    /// Leave out the files and folders that match
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub(super) exclude: Vec<String>,
    /// The name of standard input; a file of that name gives way to it
    #[arg(
        long,
        value_name = "NAME",
        default_value = "<stdin>",
        help_heading = "Input"
    )]
    pub(super) stdin_filename: String,
    /// The configuration [default: the nearest egress-lint.yaml upwards from the working directory]
    #[arg(long, value_name = "FILE", help_heading = "Configuration")]
    pub(super) config: Option<PathBuf>,
    /// Use no configuration file
    #[arg(long, conflicts_with = "config", help_heading = "Configuration")]
    pub(super) isolated: bool,
    /// The version of Istio [default: 1.30]
    #[arg(long, value_name = "X.Y", value_parser = istio_version, help_heading = "Configuration")]
    pub(super) istio_version: Option<IstioVersion>,
    /// The namespace of manifests that name none; without it it may equal any other
    #[arg(long, value_name = "NS", value_parser = namespace, help_heading = "Configuration")]
    pub(super) namespace: Option<String>,
    /// These files are all there is in the cluster
    #[arg(long, overrides_with = "open_world", help_heading = "Configuration")]
    pub(super) closed_world: bool,
    /// Other manifests may exist in the cluster: a missing resource is no proof (the default)
    #[arg(long, overrides_with = "closed_world", help_heading = "Configuration")]
    pub(super) open_world: bool,
    /// How many threads to use [default: one per processor]
    #[arg(
        long,
        value_name = "N",
        value_parser = threads,
        default_value = "0",
        hide_default_value = true,
        help_heading = "Input"
    )]
    pub(super) threads: usize,
    /// Parse every file: finds out whether the prefilter held anything back
    #[arg(long, hide = true)]
    pub(super) no_prefilter: bool,
}

impl Inputs {
    /// What the command line says about the world, if anything.
    pub(super) fn closed(&self) -> Option<bool> {
        (self.closed_world || self.open_world).then_some(self.closed_world)
    }
}

/// Where the answer goes, and in which form.
#[derive(Debug, Args)]
pub(super) struct Printing {
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub(super) format: Format,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(super) output: Option<PathBuf>,
    /// When to use colours; NO_COLOR, CLICOLOR and CLICOLOR_FORCE are honoured
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        help_heading = "Output"
    )]
    pub(super) color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Fix {
    Safe,
    Unsafe,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

fn rule_level(text: &str) -> Result<(String, Level), String> {
    let (name, level) = text
        .split_once('=')
        .ok_or("write it as NAME=LEVEL, such as logical-dns-on-gslb=off")?;
    Ok((name.to_owned(), level.parse()?))
}

fn fail_on(text: &str) -> Result<FailOn, String> {
    match text {
        "error" => Ok(FailOn::Error),
        "warning" => Ok(FailOn::Warning),
        "advice" => Ok(FailOn::Advice),
        "never" => Ok(FailOn::Never),
        _ => Err("use error, warning, advice or never".to_owned()),
    }
}

fn istio_version(text: &str) -> Result<IstioVersion, String> {
    IstioVersion::parse(text).ok_or_else(|| {
        let (oldest, newest) = (IstioVersion::OLDEST, IstioVersion::NEWEST);
        format!("known are {oldest} to {newest}")
    })
}

fn namespace(text: &str) -> Result<String, String> {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let inside = text.trim_matches('-');
    let is_name = inside.len() == text.len()
        && (1..=63).contains(&text.len())
        && text.bytes().all(|byte| alphanumeric(byte) || byte == b'-');
    match is_name {
        true => Ok(text.to_owned()),
        false => Err("a namespace is called by lower-case letters, digits and `-`".to_owned()),
    }
}

/// More threads than this help nobody, and may be more than the system has room for.
const MOST_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|_| "write a number".to_owned())?;
    match number <= MOST_THREADS {
        true => Ok(number),
        false => Err(format!("{MOST_THREADS} are the most")),
    }
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
