//! What a rule looks at: one world, and what is known about the hosts outside of it.

use super::gateway_api::GatewayApi;
use super::index::Index;
use super::routed::Routed;
use super::texts::Texts;
use crate::config::{Config, HostFacts};
use crate::egress::cluster::ClusterName;
use crate::egress::host::to_fqdn;
use crate::egress::model::Model;
use crate::egress::service::{Definition, Origin, Service};
use crate::egress::virtual_service::VirtualService as Routes;
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::istio::route::VirtualService;
use crate::istio::traffic::{
    ClientTls, ClientTlsMode, ConnectionPool, DestinationRule, OutlierDetection, PortTrafficPolicy,
    TrafficPolicy,
};
use crate::istio::version::IstioVersion;
use crate::source::{Sources, Span, Spanned};
use crate::world::World;

/// One world, with all that rules ask about it.
#[derive(Debug)]
pub struct Context<'a> {
    pub world: &'a World<'a>,
    pub model: &'a Model<'a>,
    pub config: &'a Config,
    pub sources: &'a Sources,
    pub(super) texts: Texts<'a>,
    pub version: IstioVersion,
    index: Index<'a>,
    routed: Routed,
}

/// A pattern that covers more hosts than that is for no host in particular.
pub(super) const HOSTS: usize = 1000;

/// One host of a ServiceEntry or Service.
#[derive(Clone, Copy, Debug)]
pub struct Defined<'c> {
    pub definition: &'c Definition<'c>,
    pub host: &'c str,
    pub line: Span,
}

impl<'a> Context<'a> {
    pub fn new(
        world: &'a World<'a>,
        model: &'a Model<'a>,
        config: &'a Config,
        sources: &'a Sources,
        fixes: bool,
    ) -> Self {
        let (routed, index) = rayon::join(
            || Routed::new(world, model, sources),
            || Index::new(world, model),
        );
        Self {
            world,
            model,
            config,
            sources,
            texts: Texts::new(sources, fixes),
            version: model.mesh.version,
            index,
            routed,
        }
    }

    /// The ServiceEntries and Services, in the order of (path, line).
    pub fn definitions(&self) -> &[&'a Definition<'a>] {
        &self.index.definitions
    }

    /// What objects of Kubernetes' Gateway API do for external hosts.
    pub(super) fn gateway_api(&self) -> &GatewayApi<'a> {
        &self.index.gateway_api
    }

    /// What an absent `exportTo` of a ServiceEntry means.
    pub fn default_export_to(&self) -> impl Iterator<Item = &str> {
        let declared = self.world.mesh.default_service_export_to.as_ref();
        let all = declared.is_none().then_some("*");
        let declared = declared.map_or(&[][..], |list| &list.value);
        all.into_iter()
            .chain(declared.iter().map(|entry| entry.value.as_str()))
    }

    /// The hosts that are covered by a DestinationRule's `host`, as it is written in `namespace`; at most `HOSTS`.
    pub fn hosts_under(&self, host: &str, namespace: Option<&str>) -> Vec<Defined<'_>> {
        let host = to_fqdn(host, namespace);
        let found = self.index.by_host.same(&host).iter();
        let under = self.index.by_host.under(&host).flatten();
        let all = found.chain(under).filter_map(|at| self.at(*at));
        all.take(HOSTS).collect()
    }

    /// The first of these that a ServiceEntry defines.
    pub fn external_under(&self, host: &str, namespace: Option<&str>) -> Option<Defined<'_>> {
        let mut hosts = self.hosts_under(host, namespace).into_iter();
        hosts.find(|it| it.definition.origin == Origin::ServiceEntry)
    }

    /// The hosts that have a name in common with a VirtualService's host, as it is written in `namespace`; at most
    /// `HOSTS`.
    pub fn hosts_overlapping(&self, host: &str, namespace: Option<&str>) -> Vec<Defined<'_>> {
        let host = to_fqdn(host, namespace);
        let found = self.index.by_host.overlapping(&host).flatten();
        found.filter_map(|at| self.at(*at)).take(HOSTS).collect()
    }

    fn at(&self, (definition, host): (usize, usize)) -> Option<Defined<'_>> {
        let definition = self.index.definitions.get(definition)?;
        let host = definition.hosts.get(host)?;
        Some(Defined {
            definition,
            host: &host.name,
            line: host.line,
        })
    }

    pub fn destination_rules(&self) -> impl Iterator<Item = (&'a Resource, &'a DestinationRule)> {
        existing(self.world).filter_map(|resource| match &resource.spec {
            Spec::DestinationRule(rule) => Some((resource, &**rule)),
            _ => None,
        })
    }

    pub fn virtual_services(&self) -> impl Iterator<Item = (&'a Resource, &'a VirtualService)> {
        existing(self.world).filter_map(|resource| match &resource.spec {
            Spec::VirtualService(service) => Some((resource, &**service)),
            _ => None,
        })
    }

    /// Whether proxies answer DNS themselves and hosts without addresses get one of their own.
    pub fn allocates_addresses(&self) -> bool {
        let proxy = self.model.mesh.config.default_config.as_ref();
        let metadata = proxy.and_then(|it| it.value.proxy_metadata.as_ref());
        let is_on = |name| {
            let value = metadata.and_then(|it| it.value.get(name));
            value.is_some_and(|it| it.value.0 == "true")
        };
        is_on("ISTIO_META_DNS_CAPTURE")
            && (self.version.allocates_addresses() || is_on("ISTIO_META_DNS_AUTO_ALLOCATE"))
    }

    /// Whether HTTP requests reach some cluster of this port of the host: by the protocol of the port, by an `http`
    /// route from elsewhere, or from a filter.
    pub fn http_reaches(&self, host: &str, port: u32) -> bool {
        let services = self.model.registry.of_host(host);
        let mut ports = services.filter_map(|service| service.definition.port(port));
        ports.any(|port| port.protocol.is_http_or_sniffed()) || self.routed.has_port(host, port)
    }

    /// Whether an `http` route leads to this very cluster.
    pub(super) fn routes_http_to(&self, cluster: &ClusterName<'_>) -> bool {
        self.routed.has(cluster)
    }

    /// The DestinationRules whose host covers this one, the most specific first.
    pub fn rules_for<'c>(
        &'c self,
        host: &'c str,
    ) -> impl Iterator<Item = (&'a Resource, &'a DestinationRule)> + 'c {
        self.index.rules_by_host.covering(host).flatten().copied()
    }

    /// Whether a rule for the host is refused or misspelt. What it would do is missing until that is mended, which is said
    /// there.
    pub(super) fn has_faulty_rule(&self, host: &str) -> bool {
        self.index.faulty_rules.covering(host).next().is_some()
    }

    /// Whether a ServiceEntry for the host is refused. What its ports are is told by that, not by another that is left.
    pub(super) fn has_faulty_entry(&self, host: &str) -> bool {
        self.index.faulty_entries.overlapping(host).next().is_some()
    }

    /// The VirtualServices that have a host in common with this one.
    pub fn routes_for<'c>(&'c self, host: &'c str) -> impl Iterator<Item = &'a Routes<'a>> + 'c {
        self.index
            .routes_by_host
            .overlapping(host)
            .flatten()
            .copied()
    }

    /// The `retries` of a VirtualService whose key, or whose `attempts`, this is.
    pub fn retries_block(&self, place: Span) -> Option<Span> {
        self.index.blocks.retries.get(&place).copied()
    }

    /// Whether the user says that requests to the host must not be sent twice.
    pub fn is_not_repeatable(&self, service: &Service<'_>) -> bool {
        let facts = self.facts(service.definition.resource, service.name());
        facts.repeatable.is_some_and(|fact| !fact.value)
    }

    /// The `tls` block of a DestinationRule whose mode this is.
    pub fn tls_block(&self, mode: Span) -> Option<&'a ClientTls> {
        self.index.blocks.tls.get(&mode).copied()
    }

    /// Whether this is the `credentialName` of a DestinationRule, or its key.
    pub fn is_credential_name(&self, place: Span) -> bool {
        self.index.blocks.credential_names.contains(&place)
    }

    /// The entry of `portLevelSettings` whose number this is.
    pub fn port_entry(&self, number: Span) -> Option<&'a Spanned<PortTrafficPolicy>> {
        self.index.blocks.ports.get(&number).copied()
    }

    /// The `connectionPool` beside `portLevelSettings` whose key this is.
    pub fn connection_pool(&self, key: Span) -> Option<&'a ConnectionPool> {
        self.index.blocks.pools.get(&key).copied()
    }

    /// The `outlierDetection` of a DestinationRule whose key this is.
    pub fn outlier_block(&self, key: Span) -> Option<&'a Spanned<OutlierDetection>> {
        self.index.blocks.outlier.get(&key).copied()
    }

    /// Whether a DestinationRule for the host originates TLS on some port or in some subset.
    pub fn originates_tls(&self, host: &str) -> bool {
        let mut rules = self.rules_for(host).take(HOSTS);
        rules.any(|(_, rule)| originates_tls(rule))
    }

    /// What is known about a host that the resource defines.
    pub fn facts(&self, resource: &Resource, host: &str) -> HostFacts {
        let none = HostFacts::default();
        let annotated = self.index.annotated.get(&resource.span);
        let stand_in = match &resource.spec {
            Spec::ServiceEntry(entry) => entry.stand_in(),
            _ => None,
        };
        self.config
            .facts(host, stand_in, annotated.unwrap_or(&none))
    }
}

/// The resources that admission lets in and whose content is certain.
pub(super) fn existing<'a>(world: &'a World<'a>) -> impl Iterator<Item = &'a Resource> {
    world
        .resources
        .iter()
        .copied()
        .filter(|resource| !resource.refused && world.is_decided(resource.kind))
}

/// Every `tls` block of a DestinationRule: of its policy, of its subsets, and of ports in both.
pub(super) fn tls_blocks(rule: &DestinationRule) -> impl Iterator<Item = &Spanned<ClientTls>> {
    policies(rule).flat_map(|policy| {
        let ports = policy.port_level_settings.items().iter();
        let of_ports = ports.filter_map(|port| port.tls.as_deref());
        policy.tls.as_deref().into_iter().chain(of_ports)
    })
}

/// Whether a DestinationRule originates TLS on some port or in some subset.
pub(super) fn originates_tls(rule: &DestinationRule) -> bool {
    let mut modes = tls_blocks(rule).filter_map(|tls| tls.value.mode.as_ref());
    modes.any(|mode| mode.value != ClientTlsMode::Disable)
}

/// The policies of a DestinationRule: its own, and those of its subsets.
pub(super) fn policies(rule: &DestinationRule) -> impl Iterator<Item = &TrafficPolicy> {
    let subsets = rule.subsets.items().iter();
    let of_subsets = subsets.filter_map(|subset| subset.traffic_policy.as_deref());
    rule.traffic_policy
        .iter()
        .chain(of_subsets)
        .map(|policy| &policy.value)
}
