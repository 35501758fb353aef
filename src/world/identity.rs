//! When two definitions are of one resource.

use std::hash::{Hash, Hasher};

use crate::istio::{Resource, Spec};

/// What Kubernetes knows an object by. An unknown namespace is one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity<'a> {
    pub(super) kind: &'static str,
    pub(super) namespace: Option<&'a str>,
    pub(super) name: &'a str,
}

impl Hash for Identity<'_> {
    /// The length of the kind tells most kinds apart.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.kind.len(), self.namespace, self.name).hash(state);
    }
}

impl<'a> Identity<'a> {
    /// `None` for an object without a name, which exists nowhere.
    pub(super) fn of(resource: &'a Resource) -> Option<Self> {
        Some(Self {
            kind: resource.spec.kind(),
            namespace: match resource.spec {
                Spec::Namespace => None,
                _ => resource.namespace(),
            },
            name: &resource.meta.name.as_ref()?.value,
        })
    }

    /// With the namespace that stands in the object. Copies of one text are copies also where kustomizations send
    /// them to different namespaces.
    pub(super) fn written(resource: &'a Resource) -> Option<Self> {
        let namespace = resource.meta.namespace.as_ref();
        Some(Self {
            namespace: namespace.map(|name| name.value.as_str()),
            ..Self::of(resource)?
        })
    }
}

/// Whether the name or the namespace will be filled in: two texts may then be two resources.
pub(super) fn is_filled_in(resource: &Resource) -> bool {
    let meta = &resource.meta;
    [&meta.name, &meta.namespace]
        .into_iter()
        .flatten()
        .any(|value| resource.placeholders().contains(&value.span))
}
