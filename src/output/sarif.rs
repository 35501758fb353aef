//! SARIF 2.1.0, the format of code scanning.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use serde::Serialize;

use super::fingerprint::Fingerprints;
use super::format::Options;
use super::link;
use super::visible;
use crate::diag::{Diagnostic, Edit, Fix, Report, RuleInfo, Severity, Silencer, Suppressed};
use crate::source::{FileId, Sources, Span};

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
    fixes: Vec<SarifFix>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Suppression>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    fully_qualified_name: String,
    kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifFix {
    description: Text,
    artifact_changes: Vec<Change>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    artifact_location: Artifact,
    replacements: Vec<Replacement>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    deleted_region: Region,
    inserted_content: Text,
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
            .map(|(index, label)| Location {
                id: Some(index + 1),
                message: Some(Text {
                    text: visible::sentence(&label.message).into_owned(),
                }),
                ..Location::new(label.span, sources)
            });
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
                .fix
                .iter()
                .map(|fix| SarifFix::new(fix, sources))
                .collect(),
            suppressions: finding
                .suppressed
                .as_deref()
                .into_iter()
                .map(Suppression::new)
                .collect(),
        }
    }
}

impl Location {
    fn new(span: Span, sources: &Sources) -> Self {
        Self {
            id: None,
            physical_location: PhysicalLocation {
                artifact_location: Artifact::new(span.file, sources),
                region: Region::new(span, sources),
            },
            logical_locations: Vec::new(),
            message: None,
        }
    }
}

impl LogicalLocation {
    fn new(finding: &Diagnostic) -> Option<Self> {
        let resource = finding.resource.as_ref()?;
        let namespace = resource
            .namespace
            .as_ref()
            .map_or(String::new(), |name| format!("{name}/"));
        let name = resource.name.as_deref().unwrap_or("");
        let field = finding
            .field
            .as_ref()
            .map_or(String::new(), |field| format!(" {field}"));
        Some(Self {
            fully_qualified_name: format!("{} {namespace}{name}{field}", resource.kind),
            kind: "resource",
        })
    }
}

impl Region {
    fn new(span: Span, sources: &Sources) -> Self {
        let (start, end) = (sources.start(span), sources.end(span));
        Self {
            start_line: start.line,
            start_column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }
}

impl Artifact {
    fn new(file: FileId, sources: &Sources) -> Self {
        let mut uri = String::new();
        for byte in sources.get(file).path.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                    uri.push(char::from(byte))
                }
                _ => {
                    let _ = write!(uri, "%{byte:02X}");
                }
            }
        }
        Self { uri }
    }
}

impl SarifFix {
    fn new(fix: &Fix, sources: &Sources) -> Self {
        let mut files: BTreeMap<FileId, Vec<&Edit>> = BTreeMap::new();
        for edit in &fix.edits {
            files.entry(edit.span.file).or_default().push(edit);
        }
        let changes = files.into_iter().map(|(file, edits)| Change {
            artifact_location: Artifact::new(file, sources),
            replacements: edits
                .into_iter()
                .map(|edit| Replacement {
                    deleted_region: Region::new(edit.span, sources),
                    inserted_content: Text {
                        text: edit.text.clone(),
                    },
                })
                .collect(),
        });
        Self {
            description: Text {
                text: fix.message.clone(),
            },
            artifact_changes: changes.collect(),
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
