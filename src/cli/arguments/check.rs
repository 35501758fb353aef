//! What `egress-lint check` is asked.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Sink;
use super::inputs::Inputs;
use crate::config::{FailOn, Level};
use crate::output::Format;

#[derive(Debug, Args)]
pub(in crate::cli) struct Check {
    #[command(flatten)]
    pub(in crate::cli) inputs: Inputs,
    #[command(flatten)]
    pub(in crate::cli) printing: Printing,

    /// Set the level of one rule: off, advice, warning, error
    #[arg(long, value_name = "NAME=LEVEL", value_parser = rule_level, help_heading = "Rules")]
    pub(in crate::cli) rule: Vec<(String, Level)>,
    /// Run only these rules
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        help_heading = "Rules"
    )]
    pub(in crate::cli) only: Vec<String>,
    /// The level from which on findings make the run fail: error, warning, advice, never [default: warning]
    #[arg(long, value_name = "LEVEL", value_parser = fail_on, help_heading = "Rules")]
    pub(in crate::cli) fail_on: Option<FailOn>,
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
    pub(in crate::cli) fix: Option<Fix>,
    /// Print what the fixes would change, as a unified diff, and write nothing
    #[arg(long, help_heading = "Fixes")]
    pub(in crate::cli) diff: bool,
    /// Stay silent about the findings of this file, so that only new ones count [default: `baseline:` of the configuration]
    #[arg(long, value_name = "FILE", help_heading = "Baseline")]
    pub(in crate::cli) baseline: Option<PathBuf>,
    /// Write what is found into the file of --baseline; what this run cannot judge stays in it
    #[arg(long, conflicts_with = "diff", help_heading = "Baseline")]
    pub(in crate::cli) write_baseline: bool,
    /// List silenced findings too
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) show_suppressed: bool,
    /// Draw every finding, also where a rule speaks more than 20 times
    #[arg(long, short, help_heading = "Output")]
    pub(in crate::cli) verbose: bool,
    /// Count the findings of each rule; in text instead of drawing them
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) statistics: bool,
    /// Print no findings and no summary; the exit code says it
    #[arg(long, short, help_heading = "Output")]
    pub(in crate::cli) quiet: bool,
    /// Only the findings of one of several worlds
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub(in crate::cli) world: Option<String>,
    /// Exit with 0 when there is no Istio resource to check in the inputs
    #[arg(long, help_heading = "Input")]
    pub(in crate::cli) allow_empty: bool,
}

/// Where the answer goes, and in which form.
#[derive(Debug, Args)]
pub(in crate::cli) struct Printing {
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub(in crate::cli) format: Format,
    #[command(flatten)]
    pub(in crate::cli) sink: Sink,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Fix {
    Safe,
    Unsafe,
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
