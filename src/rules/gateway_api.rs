//! What objects of Kubernetes' Gateway API do for external hosts.

use foldhash::HashSet;

use super::context::existing;
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::world::World;

#[derive(Debug, Default)]
pub(super) struct GatewayApi<'a> {
    /// The names of the Services that Istio makes for Gateways.
    services: HashSet<String>,
    /// The ServiceEntries that a `BackendTLSPolicy` has reached with TLS, by namespace and name.
    encrypted: HashSet<(Option<&'a str>, &'a str)>,
}

impl<'a> GatewayApi<'a> {
    pub(super) fn new(world: &'a World<'a>) -> Self {
        let mut found = Self::default();
        for resource in existing(world) {
            match &resource.spec {
                // The class of waypoints adds nothing to the name.
                Spec::KubeGateway(gateway) => {
                    let class = gateway.class.as_ref();
                    let name = resource.name();
                    found
                        .services
                        .extend(class.map(|it| format!("{name}-{}", it.value)));
                    found.services.insert(name.to_owned());
                }
                Spec::BackendTlsPolicy(policy) => {
                    let targets = policy.target_refs.items().iter();
                    let entries = targets.filter_map(|it| it.value.to("ServiceEntry"));
                    let namespace = resource.namespace();
                    found.encrypted.extend(entries.map(|it| (namespace, it)));
                }
                _ => {}
            }
        }
        found
    }

    /// Whether a Gateway of the files may have got the Service of this name.
    pub(super) fn makes_service(&self, name: &str) -> bool {
        self.services.contains(name)
    }

    /// Whether a policy has the hosts of a ServiceEntry reached with TLS.
    pub(super) fn encrypts(&self, entry: &Resource) -> bool {
        let own = (entry.namespace(), entry.name());
        self.encrypted.contains(&own)
    }
}
