//! `trafficDistribution`: which endpoints Kubernetes and Istio prefer.

use foldhash::HashMap;

use super::Definition;
use crate::istio::resource::{Meta, Resource, Spec};
use crate::source::Span;

/// Endpoints near to the client first, until they are unhealthy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficDistribution {
    SameZone,
    SameNode,
}

impl TrafficDistribution {
    /// From the field of a Service. `None` for what Istio does not know, which hides no annotation.
    pub(super) fn specified(text: &str) -> Option<Self> {
        match text {
            "PreferClose" | "PreferSameZone" => Some(Self::SameZone),
            "PreferSameNode" => Some(Self::SameNode),
            _ => None,
        }
    }

    /// From the annotation of a service or namespace. `None` for what Istio does not know.
    fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "preferclose" | "prefersamezone" => Some(Self::SameZone),
            "prefersamenode" => Some(Self::SameNode),
            _ => None,
        }
    }

    /// The labels by which endpoints are ranked.
    pub fn priorities(self) -> &'static [&'static str] {
        const ALL: [&str; 5] = [
            "topology.istio.io/network",
            "topology.kubernetes.io/region",
            "topology.kubernetes.io/zone",
            "topology.istio.io/subzone",
            "kubernetes.io/hostname",
        ];
        match self {
            Self::SameZone => ALL.split_at(3).0,
            Self::SameNode => &ALL,
        }
    }

    /// Of an object's annotation; an unknown value there still hides that of the namespace.
    fn annotated(meta: &Meta) -> Option<(Option<Self>, Span)> {
        let annotation = meta
            .annotations
            .get("networking.istio.io/traffic-distribution")?;
        (!annotation.value.is_empty()).then(|| (Self::parse(&annotation.value), annotation.span))
    }
}

/// Gives each service the distribution of its object, else that of its namespace.
pub(in crate::egress) fn distribute(definitions: &mut [Definition<'_>], resources: &[&Resource]) {
    let namespaces: HashMap<&str, _> = resources
        .iter()
        .filter(|resource| matches!(resource.spec, Spec::Namespace))
        .filter_map(|namespace| {
            Some((
                namespace.name(),
                TrafficDistribution::annotated(&namespace.meta)?,
            ))
        })
        .collect();
    for definition in definitions {
        let own = TrafficDistribution::annotated(&definition.resource.meta);
        let inherited = || namespaces.get(definition.namespace()?).copied();
        if definition.traffic_distribution.is_none() {
            let found = own.or_else(inherited);
            definition.traffic_distribution = found.and_then(|(kind, line)| Some((kind?, line)));
        }
    }
}
