//! The resources of a world, found by host and by the places of their blocks.

use foldhash::{HashMap, HashSet};

use super::context::{existing, policies, tls_blocks};
use crate::config::{HostFacts, annotations};
use crate::egress::host::{HostIndex, to_fqdn};
use crate::egress::model::Model;
use crate::egress::service::Definition;
use crate::egress::virtual_service::VirtualService as Routes;
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::istio::traffic::{ClientTls, DestinationRule, OutlierDetection};
use crate::source::{Span, Spanned};
use crate::world::World;

#[derive(Debug)]
pub(super) struct Index<'a> {
    /// Of the registry, in the order of their places.
    pub(super) definitions: Vec<&'a Definition<'a>>,
    /// Into `definitions`, and its hosts.
    pub(super) by_host: HostIndex<(usize, usize)>,
    pub(super) rules_by_host: HostIndex<(&'a Resource, &'a DestinationRule)>,
    pub(super) routes_by_host: HostIndex<&'a Routes<'a>>,
    /// The blocks by their keys.
    pub(super) outlier_blocks: HashMap<Span, &'a Spanned<Box<OutlierDetection>>>,
    pub(super) retries_blocks: HashMap<Span, Span>,
    /// The `tls` blocks by their modes.
    pub(super) tls_blocks: HashMap<Span, &'a ClientTls>,
    /// The names of Secrets in them, and their keys.
    pub(super) credential_names: HashSet<Span>,
    /// What the annotations of a ServiceEntry say, by the place of the object.
    pub(super) annotated: HashMap<Span, HostFacts>,
}

impl<'a> Index<'a> {
    pub(super) fn new(world: &'a World<'a>, model: &'a Model<'a>) -> Self {
        let mut definitions: Vec<_> = model.registry.definitions().iter().collect();
        definitions.sort_by_key(|definition| definition.resource.span);
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
                rules_by_host.insert(&host, (resource, &**rule));
            }
        }
        let mut routes_by_host = HostIndex::default();
        for routes in model.virtual_services.iter() {
            for (host, _) in &routes.hosts {
                routes_by_host.insert(host, routes);
            }
        }
        let mut tls_blocks = HashMap::default();
        let mut credential_names = HashSet::default();
        for rule in destination_rules(world) {
            for block in self::tls_blocks(rule).map(|block| &*block.value) {
                tls_blocks.extend(block.mode.iter().map(|mode| (mode.span, block)));
                let names = block.credential_name.iter();
                credential_names.extend(names.flat_map(|name| [name.span, name.key]));
            }
        }
        Self {
            definitions,
            by_host,
            rules_by_host,
            routes_by_host,
            outlier_blocks: outlier_blocks(world),
            retries_blocks: retries_blocks(world),
            tls_blocks,
            credential_names,
            annotated: annotated(world),
        }
    }
}

fn destination_rules<'a>(world: &'a World<'a>) -> impl Iterator<Item = &'a DestinationRule> {
    existing(world).filter_map(|resource| match &resource.spec {
        Spec::DestinationRule(rule) => Some(&**rule),
        _ => None,
    })
}

fn outlier_blocks<'a>(world: &'a World<'a>) -> HashMap<Span, &'a Spanned<Box<OutlierDetection>>> {
    let mut blocks = HashMap::default();
    for rule in destination_rules(world) {
        for policy in policies(rule) {
            let entries = policy.port_level_settings.items().iter();
            let of_ports = entries.filter_map(|entry| entry.outlier_detection.as_ref());
            for block in policy.outlier_detection.iter().chain(of_ports) {
                blocks.insert(block.key, block);
            }
        }
    }
    blocks
}

fn retries_blocks(world: &World<'_>) -> HashMap<Span, Span> {
    let mut blocks = HashMap::default();
    for resource in existing(world) {
        let Spec::VirtualService(service) = &resource.spec else {
            continue;
        };
        for retries in service
            .http
            .items()
            .iter()
            .filter_map(|rule| rule.retries.as_ref())
        {
            blocks.insert(retries.key, retries.span);
            if let Some(attempts) = &retries.attempts {
                blocks.insert(attempts.span, retries.span);
            }
        }
    }
    blocks
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
