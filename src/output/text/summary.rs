//! The lines that end the text.

use super::theme::{Paint, Painter};
use crate::diag::{Report, Safety, Severity, Summary};
use crate::output::number;

pub(super) fn draw(report: &Report, painter: &Painter) -> String {
    let counts = &report.summary;
    let mut out = found(counts, painter);
    let baseline = counts.baseline.unwrap_or_default();
    let silenced = counts.suppressed.saturating_sub(baseline.known);
    if silenced > 0 {
        out.push_str(&format!(", {silenced} silenced"));
    }
    if baseline.known > 0 {
        out.push_str(&format!(", {} in the baseline", baseline.known));
    }
    out.push('\n');
    out.push_str(&not_judged(counts));
    if baseline.stale > 0 {
        let entries = number(baseline.stale, "finding", "findings");
        out.push_str(&format!(
            "gone since the baseline: {entries} (`--write-baseline` strikes them out)\n"
        ));
    }
    out.push_str(&fixable(report));
    out
}

/// How many findings there are in how much.
fn found(counts: &Summary, painter: &Painter) -> String {
    let levels = [
        (counts.errors, Severity::Error, "error", "errors"),
        (counts.warnings, Severity::Warning, "warning", "warnings"),
        (
            counts.advice,
            Severity::Advice,
            "piece of advice",
            "pieces of advice",
        ),
    ];
    let mut parts = Vec::new();
    for (count, severity, one, many) in levels {
        if count > 0 {
            let mut part = String::new();
            painter.paint(&mut part, Paint::Level(severity), &number(count, one, many));
            parts.push(part);
        }
    }
    let files = number(counts.files, "file", "files");
    let resources = number(counts.resources, "resource", "resources");
    match (counts.resources, parts.is_empty()) {
        (0, true) if counts.templates + counts.patches > 0 => {
            format!("no whole Istio resource in {files}")
        }
        (0, true) if counts.unjudged > 0 => {
            format!("no Istio resource of a kind that is judged in {files}")
        }
        (0, true) => format!("no Istio resource in {files}"),
        (_, true) => format!("no findings in {resources} of {files}"),
        (_, false) => format!("{} in {resources} of {files}", list(&parts)),
    }
}

/// The lines about what was not looked at, or not known.
fn not_judged(counts: &Summary) -> String {
    let mut out = String::new();
    if counts.unread > 0 {
        let paths = number(counts.unread, "path", "paths");
        out.push_str(&format!("not read: {paths}\n"));
    }
    let skipped: Vec<String> = [
        (counts.templates, "template", "templates"),
        (counts.patches, "patch", "patches"),
        (counts.refused, "refused resource", "refused resources"),
    ]
    .into_iter()
    .filter(|&(count, ..)| count > 0)
    .map(|(count, one, many)| number(count, one, many))
    .collect();
    if !skipped.is_empty() {
        out.push_str(&format!("not checked: {}\n", list(&skipped)));
    }
    if counts.placeholders > 0 {
        let values = number(counts.placeholders, "placeholder", "placeholders");
        out.push_str(&format!("unknown values: {values}\n"));
    }
    out
}

/// The line about fixes, if there are any.
fn fixable(report: &Report) -> String {
    let count = |safety| {
        let all = report.diagnostics.iter();
        let all = all.filter(|finding| finding.extras().suppressed.is_none());
        all.filter_map(|finding| finding.extras().fix.as_ref())
            .filter(|fix| fix.safety == safety)
            .count()
    };
    match (count(Safety::Safe), count(Safety::Unsafe)) {
        (0, 0) => String::new(),
        (0, not) => format!("{not} fixable with `--fix=unsafe`\n"),
        (safe, 0) => format!("{safe} fixable with `--fix`\n"),
        (safe, not) => {
            format!("{safe} fixable with `--fix`, {not} more with `--fix=unsafe`\n")
        }
    }
}

/// `a`, `a and b`, `a, b and c`.
fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}
