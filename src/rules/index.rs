//! The resources of a world, found by host.

use foldhash::HashMap;

use super::blocks::Blocks;
use super::context::existing;
use super::gateway_api::GatewayApi;
use crate::config::{HostFacts, annotations};
use crate::egress::host::{HostIndex, to_fqdn};
use crate::egress::model::Model;
use crate::egress::service::Definition;
use crate::egress::virtual_service::VirtualService as Routes;
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::istio::traffic::DestinationRule;
use crate::source::Span;
use crate::world::World;

type Rule<'a> = (&'a Resource, &'a DestinationRule);

#[derive(Debug)]
pub(super) struct Index<'a> {
    /// Of the registry, in the order of their places.
    pub(super) definitions: Vec<&'a Definition<'a>>,
    /// Into `definitions`, and its hosts.
    pub(super) by_host: HostIndex<(usize, usize)>,
    pub(super) rules_by_host: HostIndex<Rule<'a>>,
    /// The hosts of DestinationRules that do not do what they were written for until they are mended: refused ones, and
    /// those with a misspelt field at the top, of which Istio gets the rest.
    pub(super) faulty_rules: HostIndex<()>,
    /// The hosts of ServiceEntries that are refused, whose ports will be there once that is mended.
    pub(super) faulty_entries: HostIndex<()>,
    pub(super) routes_by_host: HostIndex<&'a Routes<'a>>,
    pub(super) blocks: Blocks<'a>,
    pub(super) gateway_api: GatewayApi<'a>,
    /// What the annotations of a ServiceEntry say, by the place of the object.
    pub(super) annotated: HashMap<Span, HostFacts>,
}

impl<'a> Index<'a> {
    pub(super) fn new(world: &'a World<'a>, model: &'a Model<'a>) -> Self {
        let ((definitions, by_host), ((rules_by_host, faulty_rules), routes_by_host)) = rayon::join(
            || definitions(model),
            || rayon::join(|| rules(world), || routes(model)),
        );
        Self {
            definitions,
            by_host,
            rules_by_host,
            faulty_rules,
            faulty_entries: faulty_entries(world),
            routes_by_host,
            blocks: Blocks::new(world),
            gateway_api: GatewayApi::new(world),
            annotated: annotated(world),
        }
    }
}

fn definitions<'a>(model: &'a Model<'a>) -> (Vec<&'a Definition<'a>>, HostIndex<(usize, usize)>) {
    let mut definitions: Vec<_> = model.registry.definitions().iter().collect();
    definitions.sort_by_cached_key(|definition| definition.resource.span);
    let mut by_host = HostIndex::default();
    by_host.reserve(definitions.len());
    for (at, definition) in definitions.iter().enumerate() {
        for (number, host) in definition.hosts.iter().enumerate() {
            by_host.insert(&host.name, (at, number));
        }
    }
    (definitions, by_host)
}

/// The DestinationRules that hold, and the hosts of faulty ones.
fn rules<'a>(world: &'a World<'a>) -> (HostIndex<Rule<'a>>, HostIndex<()>) {
    let (mut holding, mut faulty) = (HostIndex::default(), HostIndex::default());
    for resource in world.resources.iter().copied() {
        if let Spec::DestinationRule(rule) = &resource.spec
            && let Some(host) = &rule.host
        {
            let host = to_fqdn(&host.value, resource.namespace());
            if resource.refused || resource.misspells_top() {
                faulty.insert(&host, ());
            }
            if !resource.refused && world.is_decided(resource.kind) {
                holding.insert(&host, (resource, &**rule));
            }
        }
    }
    (holding, faulty)
}

fn faulty_entries(world: &World<'_>) -> HostIndex<()> {
    let mut hosts = HostIndex::default();
    for resource in world.resources.iter().filter(|it| it.refused) {
        if let Spec::ServiceEntry(entry) = &resource.spec {
            for host in entry.hosts.items() {
                hosts.insert(&host.value, ());
            }
        }
    }
    hosts
}

fn routes<'a>(model: &'a Model<'a>) -> HostIndex<&'a Routes<'a>> {
    let mut by_host = HostIndex::default();
    for routes in model.virtual_services.iter() {
        for (host, _) in &routes.hosts {
            by_host.insert(host, routes);
        }
    }
    by_host
}

fn annotated(world: &World<'_>) -> HashMap<Span, HostFacts> {
    let entries = existing(world).filter(|it| matches!(it.spec, Spec::ServiceEntry(_)));
    entries
        .filter(|entry| !entry.meta.annotations.is_empty())
        .map(|entry| {
            let annotations = entry.meta.annotations.iter().map(|(k, v)| (k, v));
            (entry.span, annotations::read(annotations).0)
        })
        .collect()
}
