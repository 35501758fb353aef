//! `trafficDistribution`: which endpoints Kubernetes and Istio prefer.

use crate::istio::resource::Meta;
use crate::source::Span;

/// Endpoints near to the client first, until they are unhealthy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficDistribution {
    SameZone,
    SameNode,
}

impl TrafficDistribution {
    /// From the field of a Service or the annotation of a service or namespace. `None` for what Istio does not know.
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
    pub(in crate::egress) fn annotated(meta: &Meta) -> Option<(Option<Self>, Span)> {
        let annotation = meta
            .annotations
            .get("networking.istio.io/traffic-distribution")?;
        (!annotation.value.is_empty()).then(|| (Self::parse(&annotation.value), annotation.span))
    }
}
