//! Where a report is written.

use std::path::PathBuf;

use clap::Args;

use super::Color;

#[derive(Debug, Args)]
pub(in crate::cli) struct Sink {
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(in crate::cli) output: Option<PathBuf>,
    /// When to use colours; NO_COLOR, CLICOLOR and CLICOLOR_FORCE are honoured
    #[arg(
        long,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        help_heading = "Output"
    )]
    pub(in crate::cli) color: Color,
}
