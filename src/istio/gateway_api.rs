//! The parts of Kubernetes' Gateway API that decide where egress goes. Their other fields are not ours to judge.

use smol_str::SmolStr;

use super::decode::{List, message};
use super::value::Int;
use crate::source::Spanned;

pub(super) const GROUP: &str = "gateway.networking.k8s.io";

message! {
    /// An `HTTPRoute` or a `GRPCRoute`.
    KubeRoute {
        parent_refs: List<Reference> = "parentRefs",
        hostnames: List<SmolStr> = "hostnames",
        rules: List<KubeRouteRule> = "rules",
    }
    KubeRouteRule {
        backend_refs: List<Reference> = "backendRefs",
    }
    KubeGateway {
        class: SmolStr = "gatewayClassName",
    }
    /// Who is to be reached with TLS, as a DestinationRule says it.
    BackendTlsPolicy {
        target_refs: List<Reference> = "targetRefs",
    }
    Reference {
        group: SmolStr = "group",
        kind: SmolStr = "kind",
        name: SmolStr = "name",
        port: Int = "port",
    }
}

impl Reference {
    /// Whether it names a Gateway, as it does where it does not say what it names.
    pub fn is_gateway(&self) -> bool {
        self.kind
            .as_ref()
            .is_none_or(|kind| kind.value == "Gateway")
    }

    /// Its name, if it is of this kind of Istio's.
    pub fn to(&self, kind: &str) -> Option<&str> {
        let is = |value: &Option<Spanned<SmolStr>>, wanted: &str| {
            value.as_ref().is_some_and(|it| it.value == wanted)
        };
        let ours = is(&self.group, super::api::GROUP) && is(&self.kind, kind);
        self.name
            .as_ref()
            .filter(|_| ours)
            .map(|name| name.value.as_str())
    }
}
