//! Fields that are missing, or read as what they mean, only because they are written wrong: one mistake is told once.

use std::collections::BTreeMap;

use super::{BUILT_IN, FIXED};
use crate::diag::Diagnostic;
use crate::istio::{Misspelt, Resource, follows_from, touches};
use crate::source::{FileId, Span};

/// Objects lie in each other: of those that begin before a place so many are looked at.
const DEEP: usize = 8;

/// Drops what rules say of an object for want of such a field, and what rests on one that is only read as what it means.
/// What refuses the object has been settled where it was read.
pub(super) fn drop<'a>(
    findings: &mut Vec<Diagnostic>,
    resources: impl Iterator<Item = &'a Resource>,
) {
    let mut meant: Vec<Span> = Vec::new();
    let all = resources.flat_map(|resource| {
        meant.extend(resource.meant());
        resource.misspelt().iter().copied()
    });
    let mut by_key: BTreeMap<(FileId, u32), Vec<Misspelt>> = BTreeMap::new();
    for one in all {
        by_key.entry(begin(one.key)).or_default().push(one);
    }
    if by_key.is_empty() && meant.is_empty() {
        return;
    }
    meant.sort_unstable();
    // What lies in another is touched with it.
    meant.dedup_by(|next, around| next.file == around.file && next.end <= around.end);
    findings.retain(|finding| {
        let near = by_key.range(..=begin(finding.span)).rev().take(DEEP);
        let mut near = near.map(|(_, misspelt)| misspelt);
        let settled = finding.refused_by.is_some() || FIXED.contains(&finding.rule);
        let rests = || !is_about_text(finding) && touches(finding, &meant);
        settled || !near.any(|it| follows_from(it, finding)) && !rests()
    });
}

/// What is said of the text stands, whatever a field of it means.
fn is_about_text(finding: &Diagnostic) -> bool {
    BUILT_IN.iter().any(|rule| rule.name == finding.rule)
}

fn begin(span: Span) -> (FileId, u32) {
    (span.file, span.start)
}
