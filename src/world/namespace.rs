//! Which namespace each object ends up in.

use std::sync::Arc;

use crate::istio::{Namespace, Resource, Spec};
use crate::manifest::{Assigned, Kustomizations};
use crate::source::Span;

/// The namespace of manifests whose namespace nothing else tells: `--namespace`, or that of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fallback {
    pub name: Arc<str>,
    /// The line of the configuration; none for an option.
    pub because: Option<Span>,
}

/// Gives every namespaced object of the file at `place` its namespace.
///
/// A kustomization's wins over a written one; the fallback fills what is left unknown.
pub fn assign_namespaces(
    resources: &mut [Resource],
    place: &str,
    kustomizations: &Kustomizations,
    fallback: Option<&Fallback>,
) {
    let resources = resources
        .iter_mut()
        .filter(|resource| !matches!(resource.spec, Spec::Namespace));
    // Those of one file are often in one namespace.
    let mut last: Option<Arc<str>> = None;
    for resource in resources {
        let written = resource.written_namespace();
        let assigned = kustomizations.namespace(place, written.map(|name| name.value.as_str()));
        let known = match (assigned, written) {
            (Assigned::To(name), _) => Some((name.value.as_str(), name.span)),
            (Assigned::AsWritten, Some(name)) => Some((name.value.as_str(), name.span)),
            (Assigned::AsWritten, None) | (Assigned::Differs, _) => None,
        };
        let known = known.map(|(name, line)| Namespace {
            name: Some(match &last {
                Some(last) if **last == *name => Arc::clone(last),
                _ => Arc::clone(last.insert(Arc::from(name))),
            }),
            because: Some(line),
        });
        let filled = || {
            fallback.map(|fallback| Namespace {
                name: Some(fallback.name.clone()),
                because: fallback.because,
            })
        };
        resource.namespace = known.or_else(filled).unwrap_or_default();
    }
}
