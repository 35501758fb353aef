//! Findings about values that a patch changes. Where it is applied they need not hold, so they are advice.

use std::collections::BTreeMap;

use foldhash::HashMap;

use super::{FIXED, Loaded, about};
use crate::diag::{Diagnostic, Label, Severity};
use crate::istio::Resource;
use crate::manifest::Change;
use crate::source::Span;

/// Makes advice of the findings that one of the changes touches, with their own place or with that of a label.
pub(super) fn soften(findings: &mut [Diagnostic], loaded: &Loaded) {
    if loaded.changes.is_empty() {
        return;
    }
    let changes = Changes::new(&loaded.changes);
    let patched: BTreeMap<Span, &Resource> = loaded
        .resources()
        .filter(|it| changes.of(it).iter().any(|own| !own.is_empty()))
        .map(|it| (it.span, it))
        .collect();
    if patched.is_empty() {
        return;
    }
    // Objects do not lie in each other.
    let around = |span: Span| {
        let upto = Span {
            end: u32::MAX,
            ..span
        };
        let (place, resource) = patched.range(..=upto).next_back()?;
        place.contains(span).then_some(*resource)
    };
    // Each place of a finding in a patched resource, as a finding of its own, of which the path is found.
    let mut probes = Vec::new();
    let mut owners = Vec::new();
    for (at, finding) in findings.iter().enumerate() {
        for span in finding.spans().filter(|_| !FIXED.contains(&finding.rule)) {
            if around(span).is_some() {
                let mut probe = Diagnostic::new(finding.rule, Severity::Advice, span, "");
                probe.extras_mut().absent = finding
                    .extras()
                    .absent
                    .clone()
                    .filter(|_| span == finding.span);
                probes.push(probe);
                owners.push(at);
            }
        }
    }
    about::resources(&mut probes, loaded.resources());
    about::fields(&mut probes, &loaded.sources, loaded.resources());
    for (probe, at) in probes.iter().zip(owners) {
        let path = probe.extras().field.as_deref().unwrap_or_default();
        let change = around(probe.span).and_then(|resource| changes.touching(resource, path));
        if let (Some(change), Some(finding)) = (change, findings.get_mut(at)) {
            advise(finding, change);
        }
    }
}

const PATCHED: &str = "another value where this patch is applied";

fn advise(finding: &mut Diagnostic, change: &Change) {
    if !finding.related.iter().any(|label| label.message == PATCHED) {
        finding.severity = Severity::Advice;
        finding.related.push(Label {
            span: change.span,
            message: PATCHED.into(),
        });
    }
}

/// By the kind and the name of what they change.
struct Changes<'c>(HashMap<(Option<&'c str>, Option<&'c str>), Vec<&'c Change>>);

/// So many changes of a resource are told apart; of more, each may touch anything.
const MOST: usize = 1000;

impl<'c> Changes<'c> {
    fn new(all: &'c [Change]) -> Self {
        let mut out: HashMap<_, Vec<_>> = HashMap::default();
        for change in all {
            let key = (change.kind.as_deref(), change.name.as_deref());
            out.entry(key).or_default().push(change);
        }
        Self(out)
    }

    fn of<'s>(&'s self, resource: &'s Resource) -> [&'s [&'c Change]; 4] {
        let (kind, name) = (Some(resource.spec.kind()), Some(resource.name()));
        let keys = [(kind, name), (kind, None), (None, name), (None, None)];
        keys.map(|key| self.0.get(&key).map_or(&[][..], Vec::as_slice))
    }

    fn touching(&self, resource: &Resource, path: &str) -> Option<&'c Change> {
        let all = || self.of(resource).into_iter().flatten().copied();
        let touches = all().take(MOST).find(|change| change.touches(path));
        touches.or_else(|| all().nth(MOST))
    }
}
