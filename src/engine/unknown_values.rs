//! Placeholders: values that something will be put in the place of. Nothing that rests on one is said.

use crate::diag::Diagnostic;
use crate::istio::Resource;
use crate::source::Span;

/// Drops the findings that touch a placeholder with their own place or with that of a label.
pub(super) fn drop<'a>(
    findings: &mut Vec<Diagnostic>,
    resources: impl Iterator<Item = &'a Resource>,
) {
    let mut unknown: Vec<Span> = resources
        .flat_map(|resource| resource.placeholders().iter().copied())
        .collect();
    if unknown.is_empty() {
        return;
    }
    unknown.sort_unstable();
    unknown.dedup();
    findings.retain(|finding| !finding.spans().any(|span| touches(&unknown, span)));
}

/// Whether a placeholder begins in the place, or the place begins in it. Placeholders are scalars: they do not overlap.
fn touches(unknown: &[Span], span: Span) -> bool {
    let after = unknown.partition_point(|it| (it.file, it.start) < (span.file, span.start));
    let begins_inside = unknown
        .get(after)
        .is_some_and(|it| it.file == span.file && it.start < span.end);
    let reaches_into = after
        .checked_sub(1)
        .and_then(|before| unknown.get(before))
        .is_some_and(|it| it.file == span.file && span.start < it.end);
    begins_inside || reaches_into
}
