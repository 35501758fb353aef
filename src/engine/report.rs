//! The last steps: order, duplicates, counts.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::Loaded;
use crate::diag::{Diagnostic, Report, RuleInfo, Summary};
use crate::istio::IstioVersion;
use crate::source::Sources;

/// Counts the findings.
pub(super) fn report(
    loaded: &Loaded,
    diagnostics: Vec<Diagnostic>,
    rules: Vec<RuleInfo>,
    istio_version: IstioVersion,
) -> Report {
    let summary = Summary {
        files: loaded.files,
        unread: loaded.problems.len(),
        resources: loaded.istio,
        templates: loaded.templates,
        placeholders: loaded.placeholders,
        patches: loaded.patches,
        refused: loaded.refused,
        unjudged: loaded.unjudged,
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

/// Orders findings by (path, start, rule), then by whatever else tells two apart; equal ones are one.
pub(super) fn sort(sources: &Sources, diagnostics: &mut Vec<Diagnostic>) {
    let path = |finding: &Diagnostic| sources.get(finding.span.file).path.as_str();
    let rest = |finding: &Diagnostic| (finding.span.start, finding.rule, finding.span.end);
    diagnostics.par_sort_by(|a, b| {
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
