//! Fields that are missing only because they are misspelt: one mistake is told once.

use std::collections::BTreeMap;

use super::FIXED;
use crate::diag::Diagnostic;
use crate::istio::{Misspelt, Resource, follows_from};
use crate::source::{FileId, Span};

/// Objects lie in each other: of those that begin before a place so many are looked at.
const DEEP: usize = 8;

/// Drops what rules say of an object for want of such a field. What refuses the object has been settled where it was read.
pub(super) fn drop<'a>(
    findings: &mut Vec<Diagnostic>,
    resources: impl Iterator<Item = &'a Resource>,
) {
    let all = resources.flat_map(|resource| &resource.misspelt).copied();
    let mut by_key: BTreeMap<(FileId, u32), Vec<Misspelt>> = BTreeMap::new();
    for one in all {
        by_key.entry(begin(one.key)).or_default().push(one);
    }
    if by_key.is_empty() {
        return;
    }
    findings.retain(|finding| {
        let near = by_key.range(..=begin(finding.span)).rev().take(DEEP);
        let mut near = near.map(|(_, misspelt)| misspelt);
        let settled = finding.refused_by.is_some() || FIXED.contains(&finding.rule);
        settled || !near.any(|it| follows_from(it, finding))
    });
}

fn begin(span: Span) -> (FileId, u32) {
    (span.file, span.start)
}
