//! What objects of Kubernetes' Gateway API do for external hosts.

use foldhash::HashSet;

use super::context::existing;
use crate::egress::host::HostIndex;
use crate::istio::decode::Items;
use crate::istio::gateway_api::KubeRoute;
use crate::istio::resource::{Resource, Spec};
use crate::world::World;

#[derive(Debug, Default)]
pub(super) struct GatewayApi<'a> {
    /// The names of the Services that Istio makes for Gateways.
    services: HashSet<String>,
    /// The ServiceEntries that a `BackendTLSPolicy` has reached with TLS, by namespace and name.
    encrypted: HashSet<(Option<&'a str>, &'a str)>,
    /// The hosts, or patterns, that routes of gateways are for or lead to.
    by_gateways: HostIndex<()>,
    /// The hosts that routes of sidecars lead to.
    by_sidecars: HostIndex<()>,
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
                Spec::HttpRoute(route) | Spec::GrpcRoute(route) => found.follow(route),
                _ => {}
            }
        }
        found
    }

    fn follow(&mut self, route: &KubeRoute) {
        let rules = route.rules.items().iter();
        let backends = rules.flat_map(|rule| rule.backend_refs.items());
        let hosts: Vec<_> = backends.filter_map(|it| it.to("Hostname")).collect();
        let parents = route.parent_refs.items();
        if parents.iter().any(|it| it.is_gateway()) {
            let own = route.hostnames.items().iter();
            for host in own.map(|it| it.value.as_str()).chain(hosts.iter().copied()) {
                self.by_gateways.insert(host, ());
            }
        }
        if parents.iter().any(|it| !it.is_gateway()) {
            for host in hosts {
                self.by_sidecars.insert(host, ());
            }
        }
    }

    /// Whether a route leads gateways to the host, or is for it there.
    pub(super) fn leads_gateways_to(&self, host: &str) -> bool {
        self.by_gateways.covering(host).next().is_some()
    }

    /// Whether a route leads sidecars to the host, whatever they call.
    pub(super) fn leads_sidecars_to(&self, host: &str) -> bool {
        self.by_sidecars.covering(host).next().is_some()
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
