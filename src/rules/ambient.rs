//! The ambient namespaces, and what in a mesh is not behind ztunnel all the same.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use super::Basis;
use super::context::{Context, HOSTS};
use crate::egress::virtual_service::{Binding, VirtualService};
use crate::istio::resource::{REVISION, Resource, Spec};
use crate::source::Span;

/// The namespaces whose pods have no sidecar, with the line that makes them so.
#[derive(Default)]
pub(super) struct Ambient<'a> {
    namespaces: HashMap<&'a str, (&'a Resource, Span)>,
    /// A namespace whose pods have sidecars.
    injected: Option<&'a str>,
    /// A file says of single pods whether they have a sidecar.
    pods_differ: bool,
}

impl<'a> Ambient<'a> {
    /// What is in the root namespace is for all namespaces, with sidecars or without.
    pub(super) fn of(cx: &Context<'a>) -> Self {
        let root = cx.model.rules.root_namespace();
        let all = cx.world.resources.iter().copied();
        let mut out = Self {
            pods_differ: cx.world.pods_differ,
            ..Self::default()
        };
        for namespace in all.filter(|it| matches!(it.spec, Spec::Namespace)) {
            let name = namespace.name();
            if is_injected(namespace) {
                out.injected.get_or_insert(name);
            } else if let Some(label) = namespace.ambient()
                && name != root
            {
                out.namespaces.insert(name, (namespace, label));
            }
        }
        out
    }

    pub(super) fn is_empty(&self) -> bool {
        self.namespaces.is_empty()
    }

    /// The object of an ambient namespace, and the line that makes it so.
    pub(super) fn get(&self, namespace: Option<&str>) -> Option<(&'a Resource, Span)> {
        self.namespaces.get(namespace?).copied()
    }

    /// What it rests on that no pod of an ambient namespace has a sidecar.
    pub(super) fn basis(&self, namespace: &str) -> Basis {
        match self.pods_differ {
            true => Basis::assuming(format!("no pod of `{namespace}` has a sidecar")),
            false => Basis::Proven,
        }
    }

    /// What it rests on that no sidecar uses a host of an ambient namespace.
    pub(super) fn basis_for_all(&self, namespace: &str) -> Basis {
        match self.injected {
            Some(other) => Basis::assuming(format!(
                "no pod with a sidecar, as those of `{other}`, uses the host"
            )),
            None => self.basis(namespace),
        }
    }
}

/// Whether `istioctl analyze` takes the pods for such with sidecars, ambient or not.
fn is_injected(namespace: &Resource) -> bool {
    let label = |name| namespace.meta.labels.get(name).map(|it| it.value.as_str());
    label("istio-injection") == Some("enabled") || label(REVISION).is_some_and(|it| !it.is_empty())
}

/// The Envoys of gateways, and of sidecars elsewhere, that may use a host of an ambient namespace.
pub(super) struct OtherEnvoys<'a> {
    /// The namespaces of Gateways; `None` where one is unknown.
    gateways: HashSet<Option<&'a str>>,
    /// Where VirtualServices for such Envoys lead.
    destinations: HashSet<Cow<'a, str>>,
}

impl<'a> OtherEnvoys<'a> {
    pub(super) fn new(cx: &Context<'a>, ambient: &Ambient<'_>) -> Self {
        let gateways = cx.world.resources.iter().filter(|it| match &it.spec {
            Spec::Gateway(_) => true,
            Spec::KubeGateway(gateway) => {
                let class = gateway.class.as_ref();
                class.is_none_or(|it| it.value != "istio-waypoint")
            }
            _ => false,
        });
        let routes = cx.model.virtual_services.iter();
        let routes = routes.filter(|it| is_for_them(it, ambient));
        let destinations = routes.flat_map(VirtualService::destinations);
        Self {
            gateways: gateways.map(|it| it.namespace()).collect(),
            destinations: destinations.map(|(host, _)| host).collect(),
        }
    }

    pub(super) fn may_use(
        &self,
        cx: &Context<'_>,
        ambient: &Ambient<'_>,
        host: &str,
        namespace: &str,
    ) -> bool {
        let mut routes = cx.routes_for(host).take(HOSTS);
        self.gateways.contains(&Some(namespace))
            || self.gateways.contains(&None)
            || self.destinations.contains(host)
            || routes.any(|it| is_for_them(it, ambient))
    }
}

fn is_for_them(routes: &VirtualService<'_>, ambient: &Ambient<'_>) -> bool {
    let mut bindings = routes.bindings.iter();
    bindings.any(|it| *it != Binding::Mesh) || ambient.get(routes.namespace()).is_none()
}
