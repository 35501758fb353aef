//! The last step: order, duplicates, counts.

use std::cmp::Ordering;

use super::Loaded;
use crate::diag::{Diagnostic, Report, RuleInfo, Summary};
use crate::istio::IstioVersion;
use crate::source::Sources;

/// Orders the findings and counts them.
pub(super) fn report(
    loaded: &Loaded,
    mut diagnostics: Vec<Diagnostic>,
    rules: Vec<RuleInfo>,
    istio_version: IstioVersion,
) -> Report {
    sort(&loaded.sources, &mut diagnostics);
    let summary = Summary {
        files: loaded.files,
        unread: loaded.problems.len(),
        resources: loaded.istio,
        templates: loaded.templates,
        placeholders: loaded.placeholders,
        patches: loaded.patches,
        refused: loaded.refused,
        ..Summary::default()
    };
    let mut report = Report {
        istio_version: istio_version.to_string(),
        diagnostics,
        summary,
        rules,
    };
    report.recount();
    report
}

/// By (path, start, rule), then by whatever else tells two findings apart; equal ones are one.
fn sort(sources: &Sources, diagnostics: &mut Vec<Diagnostic>) {
    let path = |finding: &Diagnostic| sources.get(finding.span.file).path.as_str();
    let rest = |finding: &Diagnostic| (finding.span.start, finding.rule, finding.span.end);
    diagnostics.sort_by(|a, b| {
        let paths = match a.span.file == b.span.file {
            true => Ordering::Equal,
            false => path(a).cmp(path(b)),
        };
        paths
            .then_with(|| rest(a).cmp(&rest(b)))
            .then_with(|| a.message.cmp(&b.message))
    });
    diagnostics.dedup_by(|later, first| {
        (later.rule, later.span, &later.message) == (first.rule, first.span, &first.message)
    });
}
