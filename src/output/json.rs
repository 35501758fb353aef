//! The report that programs read.

use std::borrow::Cow;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::format::Options;
use super::statistics::{self, Counts};
use super::{link, visible};
use crate::diag::{
    Diagnostic, Fix, RefusedBy, Report, ResourceRef, Safety, Severity, Summary, Suppressed,
};
use crate::source::{Position, Sources, Span};

/// The findings of one run.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "egress-lint report")]
pub(super) struct JsonReport<'r> {
    /// The version of this format.
    schema: u32,
    tool: Tool,
    /// The version of Istio the findings hold for.
    istio_version: &'r str,
    summary: Summary,
    /// With `--statistics`: one for each rule that found something, the most frequent first.
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Vec<Counts>>,
    /// Ordered by path, start and rule.
    diagnostics: Vec<Finding<'r>>,
}

#[derive(Serialize, JsonSchema)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct Finding<'r> {
    rule: &'static str,
    severity: Severity,
    message: Cow<'r, str>,
    /// What to do.
    help: Option<Cow<'r, str>>,
    /// The page of the rule.
    url: String,
    #[serde(flatten)]
    place: Place<'r>,
    /// The object it is about; null for findings about text or configuration.
    resource: Option<&'r ResourceRef>,
    /// Where in the object, as Kubernetes writes it; it may name a child that is absent.
    field: Option<&'r str>,
    /// The other lines that make it so.
    related: Vec<Related<'r>>,
    /// The worlds it holds in, where there is more than one.
    worlds: Option<&'r [String]>,
    refused_by: Option<RefusedBy>,
    fix: Option<JsonFix<'r>>,
    suppressed: Option<&'r Suppressed>,
}

#[derive(Serialize, JsonSchema)]
struct Place<'r> {
    /// Relative to the working directory, with `/`.
    path: &'r str,
    start: Position,
    end: Position,
}

#[derive(Serialize, JsonSchema)]
struct Related<'r> {
    #[serde(flatten)]
    place: Place<'r>,
    message: Cow<'r, str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Fix")]
struct JsonFix<'r> {
    safety: Safety,
    /// What it does.
    message: &'r str,
    edits: Vec<JsonEdit<'r>>,
}

/// Replaces the bytes `start..end` of the file by `text`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Edit")]
struct JsonEdit<'r> {
    path: &'r str,
    start: u32,
    end: u32,
    text: &'r str,
}

/// JSON Schema of the report.
pub fn report_schema() -> serde_json::Value {
    schemars::schema_for!(JsonReport).to_value()
}

pub(super) fn write(
    report: &Report,
    sources: &Sources,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let whole = JsonReport {
        schema: 1,
        tool: Tool {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        },
        istio_version: &report.istio_version,
        summary: report.summary,
        statistics: options.statistics.then(|| statistics::count(report)),
        diagnostics: options
            .listed(report)
            .map(|finding| Finding::new(finding, sources))
            .collect(),
    };
    serde_json::to_writer(&mut *out, &whole)?;
    writeln!(out)
}

impl<'r> Finding<'r> {
    fn new(finding: &'r Diagnostic, sources: &'r Sources) -> Self {
        Self {
            rule: finding.rule,
            severity: finding.severity,
            message: visible::sentence(&finding.message),
            help: finding.help.as_deref().map(visible::sentence),
            url: link::rule_page(finding.rule),
            place: Place::new(finding.span, sources),
            resource: finding.resource.as_deref(),
            field: finding.extras().field.as_deref(),
            related: finding
                .related
                .iter()
                .map(|label| Related {
                    place: Place::new(label.span, sources),
                    message: visible::sentence(&label.message),
                })
                .collect(),
            worlds: finding.extras().worlds.as_deref(),
            refused_by: finding.refused_by,
            fix: finding
                .extras()
                .fix
                .as_ref()
                .map(|fix| JsonFix::new(fix, sources)),
            suppressed: finding.extras().suppressed.as_ref(),
        }
    }
}

impl<'r> Place<'r> {
    fn new(span: Span, sources: &'r Sources) -> Self {
        Self {
            path: &sources.get(span.file).path,
            start: sources.start(span),
            end: sources.end(span),
        }
    }
}

impl<'r> JsonFix<'r> {
    fn new(fix: &'r Fix, sources: &'r Sources) -> Self {
        Self {
            safety: fix.safety,
            message: &fix.message,
            edits: fix
                .edits
                .iter()
                .map(|edit| JsonEdit {
                    path: &sources.get(edit.span.file).path,
                    start: edit.span.start,
                    end: edit.span.end,
                    text: &edit.text,
                })
                .collect(),
        }
    }
}
