//! What a rule looks at: one world, and what is known about the hosts outside of it.

use crate::config::{Config, HostFacts, annotations};
use crate::egress::host::{HostIndex, to_fqdn};
use crate::egress::service::Definition;
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::istio::route::VirtualService;
use crate::istio::traffic::{ClientTls, ClientTlsMode, DestinationRule, TrafficPolicy};
use crate::istio::version::IstioVersion;
use crate::source::{Span, Spanned};
use crate::world::World;

/// One world, with all that rules ask about it.
#[derive(Debug)]
pub struct Context<'a> {
    pub world: &'a World<'a>,
    pub config: &'a Config,
    pub version: IstioVersion,
    definitions: Vec<Definition<'a>>,
    /// Into `definitions`, and its hosts.
    by_host: HostIndex<(usize, usize)>,
    rules_by_host: HostIndex<&'a DestinationRule>,
}

/// One host of a ServiceEntry or Service.
#[derive(Clone, Copy, Debug)]
pub struct Defined<'c> {
    pub definition: &'c Definition<'c>,
    pub host: &'c str,
    pub line: Span,
}

impl<'a> Context<'a> {
    pub fn new(world: &'a World<'a>, config: &'a Config, version: IstioVersion) -> Self {
        let definitions: Vec<_> = existing(world).filter_map(Definition::read).collect();
        let mut by_host = HostIndex::default();
        for (at, definition) in definitions.iter().enumerate() {
            for (number, host) in definition.hosts.iter().enumerate() {
                by_host.insert(&host.name, (at, number));
            }
        }
        let mut rules_by_host = HostIndex::default();
        for resource in existing(world) {
            if let Spec::DestinationRule(rule) = &resource.spec
                && let Some(host) = &rule.host
            {
                let host = to_fqdn(&host.value, resource.namespace());
                rules_by_host.insert(&host, &**rule);
            }
        }
        Self {
            world,
            config,
            version,
            definitions,
            by_host,
            rules_by_host,
        }
    }

    /// The ServiceEntries and Services, in the order of (path, line).
    pub fn definitions(&self) -> &[Definition<'a>] {
        &self.definitions
    }

    /// What an absent `exportTo` of a ServiceEntry means.
    pub fn default_export_to(&self) -> impl Iterator<Item = &str> {
        let declared = self.world.mesh.default_service_export_to.as_ref();
        let all = declared.is_none().then_some("*");
        let declared = declared.map_or(&[][..], |list| &list.value);
        all.into_iter()
            .chain(declared.iter().map(|entry| entry.value.as_str()))
    }

    /// The hosts that are covered by a DestinationRule's `host`, as it is written in `namespace`.
    pub fn hosts_under(&self, host: &str, namespace: Option<&str>) -> Vec<Defined<'_>> {
        let host = to_fqdn(host, namespace);
        let found = self.by_host.same(&host).iter();
        let under = self.by_host.under(&host).flatten();
        found.chain(under).filter_map(|at| self.at(*at)).collect()
    }

    /// The hosts that have a name in common with a VirtualService's host, as it is written in `namespace`.
    pub fn hosts_overlapping(&self, host: &str, namespace: Option<&str>) -> Vec<Defined<'_>> {
        let host = to_fqdn(host, namespace);
        let found = self.by_host.overlapping(&host).flatten();
        found.filter_map(|at| self.at(*at)).collect()
    }

    fn at(&self, (definition, host): (usize, usize)) -> Option<Defined<'_>> {
        let definition = self.definitions.get(definition)?;
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

    /// Whether a DestinationRule for the host originates TLS on some port or in some subset.
    pub fn originates_tls(&self, host: &str) -> bool {
        let on = |tls: &Option<Spanned<Box<ClientTls>>>| {
            let mode = tls.as_ref().and_then(|tls| tls.value.mode.as_ref());
            mode.is_some_and(|mode| mode.value != ClientTlsMode::Disable)
        };
        self.rules_by_host
            .covering(host)
            .flatten()
            .flat_map(|rule| policies(rule))
            .any(|policy| {
                let ports = policy.port_level_settings.items();
                on(&policy.tls) || ports.iter().any(|port| on(&port.tls))
            })
    }

    /// What is known about a host that the resource defines.
    pub fn facts(&self, resource: &Resource, host: &str) -> HostFacts {
        let annotations = resource.meta.annotations.iter().map(|(k, v)| (k, v));
        self.config.facts(host, &annotations::read(annotations).0)
    }
}

/// The resources that admission lets in and whose content is certain.
fn existing<'a>(world: &'a World<'a>) -> impl Iterator<Item = &'a Resource> {
    world
        .resources
        .iter()
        .copied()
        .filter(|resource| !resource.refused && world.is_decided(resource.kind))
}

/// The policies of a DestinationRule: its own, and those of its subsets.
pub(super) fn policies(rule: &DestinationRule) -> impl Iterator<Item = &TrafficPolicy> {
    let subsets = rule.subsets.items().iter();
    let of_subsets = subsets.filter_map(|subset| subset.traffic_policy.as_ref());
    rule.traffic_policy
        .iter()
        .chain(of_subsets)
        .map(|policy| &policy.value)
}
