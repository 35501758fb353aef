//! The formats, and what a caller may choose about them.

use std::io::{self, Write};

use super::{concise, github, gitlab, json, junit, sarif, text};
use crate::diag::{Diagnostic, Report};
use crate::source::Sources;

/// How a report is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For reading: the lines, with what is wrong and why under them.
    #[default]
    Text,
    /// One line per finding.
    Concise,
    /// The report of `schema report`.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
    /// GitLab's code quality report.
    Gitlab,
    /// JUnit XML.
    Junit,
}

/// What a writer needs to know about where it writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    pub color: bool,
    /// Whether the terminal makes rule names clickable (OSC 8).
    pub hyperlinks: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// Lists silenced findings too.
    pub show_suppressed: bool,
    /// Text: draws every finding, however often its rule speaks.
    pub verbose: bool,
    /// Text and JSON: counts the findings of each rule; in text instead of drawing them.
    pub statistics: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            color: false,
            hyperlinks: false,
            width: 80,
            show_suppressed: false,
            verbose: false,
            statistics: false,
        }
    }
}

impl Options {
    /// The findings to write.
    pub(super) fn listed<'r>(&self, report: &'r Report) -> impl Iterator<Item = &'r Diagnostic> {
        let all = self.show_suppressed;
        report
            .diagnostics
            .iter()
            .filter(move |finding| all || finding.extras().suppressed.is_none())
    }
}

/// Writes the whole report, with a line feed at its end.
pub fn write(
    format: Format,
    report: &Report,
    sources: &Sources,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::write(report, sources, options, out),
        Format::Concise => concise::write(report, sources, options, out),
        Format::Json => json::write(report, sources, options, out),
        Format::Sarif => sarif::write(report, sources, options, out),
        Format::Github => github::write(report, sources, options, out),
        Format::Gitlab => gitlab::write(report, sources, options, out),
        Format::Junit => junit::write(report, sources, options, out),
    }
}
