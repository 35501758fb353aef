//! Which namespace each object ends up in.

use std::sync::Arc;

use crate::istio::{Namespace, Resource, Spec};
use crate::manifest::{Assigned, Kustomizations};

/// Gives every namespaced object of the file at `place` its namespace.
///
/// A kustomization's wins over a written one; the fallback, which is `--namespace` or that of the configuration, fills
/// what is left unknown.
pub fn assign_namespaces(
    resources: &mut [Resource],
    place: &str,
    kustomizations: &Kustomizations,
    fallback: Option<&Arc<Namespace>>,
) {
    let resources = resources
        .iter_mut()
        .filter(|resource| !matches!(resource.spec, Spec::Namespace));
    // Those of one file are often in one namespace.
    let mut last: Option<Arc<Namespace>> = None;
    for resource in resources {
        let written = resource.written_namespace();
        let assigned = kustomizations.namespace(place, written.map(|name| name.value.as_str()));
        resource.given = match (assigned, written) {
            (Assigned::To(name), _) => {
                let because = Some(name.span);
                let known = last.take().filter(|last| last.because == because);
                Some(Arc::clone(last.insert(known.unwrap_or_else(|| {
                    Arc::new(Namespace {
                        name: Some(name.value.as_str().into()),
                        because,
                    })
                }))))
            }
            (Assigned::AsWritten, Some(_)) => None,
            (Assigned::AsWritten, None) => fallback.cloned(),
            (Assigned::Differs, _) => Some(fallback.cloned().unwrap_or_default()),
        };
    }
}
