//! GitLab's code quality report.

use std::io::{self, Write};

use serde::Serialize;

use super::fingerprint::Fingerprints;
use super::format::Options;
use super::visible;
use crate::diag::{Report, Severity};
use crate::source::{Position, Sources};

#[derive(Serialize)]
struct Issue<'r> {
    r#type: &'static str,
    check_name: &'static str,
    description: String,
    severity: &'static str,
    fingerprint: String,
    location: Location<'r>,
}

#[derive(Serialize)]
struct Location<'r> {
    path: &'r str,
    positions: Range,
}

#[derive(Serialize)]
struct Range {
    begin: Place,
    end: Place,
}

#[derive(Serialize)]
struct Place {
    line: u32,
    column: u32,
}

impl From<Position> for Place {
    fn from(position: Position) -> Self {
        Self {
            line: position.line,
            column: position.column,
        }
    }
}

pub(super) fn write(
    report: &Report,
    sources: &Sources,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut fingerprints = Fingerprints::default();
    let issues: Vec<Issue> = options
        .listed(report)
        .map(|finding| {
            let message = visible::sentence(&finding.message);
            let help = finding.help.as_ref().map_or(String::new(), |help| {
                format!(" ({})", visible::sentence(help))
            });
            Issue {
                r#type: "issue",
                check_name: finding.rule,
                description: format!("{message}{help}"),
                severity: match finding.severity {
                    Severity::Error => "critical",
                    Severity::Warning => "major",
                    Severity::Advice => "info",
                },
                fingerprint: fingerprints.of(finding, sources),
                location: Location {
                    path: &sources.get(finding.span.file).path,
                    positions: Range {
                        begin: sources.start(finding.span).into(),
                        end: sources.end(finding.span).into(),
                    },
                },
            }
        })
        .collect();
    serde_json::to_writer_pretty(&mut *out, &issues)?;
    writeln!(out)
}
