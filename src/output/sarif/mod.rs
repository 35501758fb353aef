//! SARIF 2.1.0, the format of code scanning.

mod place;
mod remedy;

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::fingerprint::Fingerprints;
use super::format::Options;
use super::link;
use super::visible;
use crate::diag::{Diagnostic, Report, RuleInfo, Severity, Silencer, Suppressed};
use crate::source::Sources;
use place::{Location, LogicalLocation};
use remedy::Remedy;

#[derive(Serialize)]
struct Log<'r> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'r>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r> {
    tool: Tool<'r>,
    column_kind: &'static str,
    results: Vec<Finding>,
}

#[derive(Serialize)]
struct Tool<'r> {
    driver: Driver<'r>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver<'r> {
    name: &'static str,
    semantic_version: &'static str,
    information_uri: &'static str,
    rules: Vec<Rule<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule<'r> {
    id: &'r str,
    short_description: Text,
    help_uri: String,
    help: Help<'r>,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Help<'r> {
    text: &'r str,
    markdown: &'r str,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    rule_id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Remedy>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Suppression>,
}

#[derive(Serialize)]
struct Suppression {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    justification: Option<String>,
}

pub(super) fn write(
    report: &Report,
    sources: &Sources,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut fingerprints = Fingerprints::default();
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: env!("CARGO_PKG_NAME"),
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    information_uri: env!("CARGO_PKG_REPOSITORY"),
                    rules: report.rules.iter().map(Rule::new).collect(),
                },
            },
            column_kind: "unicodeCodePoints",
            results: options
                .listed(report)
                .map(|finding| Finding::new(finding, report, sources, &mut fingerprints))
                .collect(),
        }],
    };
    serde_json::to_writer(&mut *out, &log)?;
    writeln!(out)
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Advice => "note",
    }
}

impl<'r> Rule<'r> {
    fn new(rule: &'r RuleInfo) -> Self {
        Self {
            id: rule.name,
            short_description: Text {
                text: rule.summary.to_owned(),
            },
            help_uri: link::rule_page(rule.name),
            help: Help {
                text: rule.page,
                markdown: rule.page,
            },
            default_configuration: Configuration {
                level: level(rule.severity),
            },
        }
    }
}

impl Finding {
    fn new(
        finding: &Diagnostic,
        report: &Report,
        sources: &Sources,
        fingerprints: &mut Fingerprints,
    ) -> Self {
        let message = visible::sentence(&finding.message);
        let help = finding.help.as_ref().map_or(String::new(), |help| {
            format!("\n{}", visible::sentence(help))
        });
        let mut location = Location::new(finding.span, sources);
        location
            .logical_locations
            .extend(LogicalLocation::new(finding));
        let related = finding
            .related
            .iter()
            .enumerate()
            .map(|(index, label)| Location::of(label, index + 1, sources));
        Self {
            rule_id: finding.rule,
            rule_index: report
                .rules
                .iter()
                .position(|rule| rule.name == finding.rule),
            level: level(finding.severity),
            message: Text {
                text: format!("{message}{help}"),
            },
            locations: [location],
            related_locations: related.collect(),
            partial_fingerprints: BTreeMap::from([(
                "egressLint/v1",
                fingerprints.of(finding, sources),
            )]),
            fixes: finding
                .extras()
                .fix
                .iter()
                .map(|fix| Remedy::new(fix, sources))
                .collect(),
            suppressions: finding
                .extras()
                .suppressed
                .iter()
                .map(Suppression::new)
                .collect(),
        }
    }
}

impl Suppression {
    fn new(suppressed: &Suppressed) -> Self {
        Self {
            kind: match suppressed.by {
                Silencer::Comment | Silencer::Annotation => "inSource",
                Silencer::Config | Silencer::Baseline => "external",
            },
            justification: suppressed.reason.clone(),
        }
    }
}
