//! Fills in what a finding is about: the object its place lies in, and the path there.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::locate::{Wanted, paths};
use crate::diag::{Diagnostic, ResourceRef};
use crate::istio::Resource;
use crate::source::{FileId, Sources, Span};
use crate::yaml::{Tree, split};

/// So many findings are looked at by one pair of hands.
const SHARE: usize = 1024;

/// Names the object of each finding that does not name one. Findings of one object that follow each other share its name.
pub(super) fn resources<'a>(
    findings: &mut [Diagnostic],
    resources: impl Iterator<Item = &'a Resource>,
) {
    let mut resources: Vec<&Resource> = resources.collect();
    resources.sort_by_key(|resource| resource.span);
    findings.par_chunks_mut(SHARE).for_each(|findings| {
        let mut last: Option<(Span, Arc<ResourceRef>)> = None;
        for finding in findings.iter_mut().filter(|it| it.resource.is_none()) {
            let Some(resource) = around(&resources, finding.span) else {
                continue;
            };
            let named = match last.take() {
                Some((at, named)) if at == resource.span => named,
                _ => Arc::new(resource.reference()),
            };
            finding.resource = Some(Arc::clone(&named));
            last = Some((resource.span, named));
        }
    });
}

/// The object in which a place lies. Objects do not lie in each other: the last that begins at or before the place is the
/// one, or none is.
fn around<'a>(sorted: &[&'a Resource], place: Span) -> Option<&'a Resource> {
    let after = sorted.partition_point(|resource| {
        (resource.span.file, resource.span.start) <= (place.file, place.start)
    });
    let before = sorted.get(after.checked_sub(1)?)?;
    before.span.contains(place).then_some(before)
}

/// Finds the path of each finding about an object that has none. The trees are gone, so the documents that have findings
/// are parsed once more.
pub(super) fn fields<'a>(
    findings: &mut [Diagnostic],
    sources: &Sources,
    resources: impl Iterator<Item = &'a Resource>,
) {
    let mut by_file: BTreeMap<FileId, Vec<&mut Diagnostic>> = BTreeMap::new();
    for finding in findings {
        if finding.resource.is_some() && finding.extras().field.is_none() {
            by_file.entry(finding.span.file).or_default().push(finding);
        }
    }
    let objects: HashSet<Span> = resources.map(|resource| resource.span).collect();
    by_file.into_par_iter().for_each(|(file, mut findings)| {
        findings.sort_by_key(|finding| finding.span);
        let mut findings = findings.into_iter().peekable();
        let text = &sources.get(file).text;
        for chunk in split(text) {
            let end = chunk.end();
            let mut inside = Vec::new();
            while let Some(finding) = findings.next_if(|finding| finding.span.start < end) {
                inside.push(finding);
            }
            if inside.is_empty() {
                continue;
            }
            let mut wanted: Vec<Wanted> = inside.iter().map(|finding| wanted(finding)).collect();
            let tree = Tree::parse_chunks(file, text, &[chunk]);
            for document in tree.documents(text) {
                paths(document.root, &mut wanted, &|span| objects.contains(&span));
            }
            for (finding, wanted) in inside.into_iter().zip(wanted) {
                finding.extras_mut().field = field(wanted.path, finding.extras().absent.as_deref());
            }
        }
    });
}

fn wanted(finding: &Diagnostic) -> Wanted {
    Wanted {
        span: finding.span,
        parent: finding.extras().absent.is_some(),
        path: String::new(),
    }
}

/// The path with the absent child behind it; nothing for the object itself.
fn field(mut path: String, absent: Option<&str>) -> Option<Box<str>> {
    if let Some(absent) = absent {
        if !path.is_empty() && !absent.starts_with('[') {
            path.push('.');
        }
        path.push_str(absent);
    }
    (!path.is_empty()).then(|| path.into())
}
