//! Which clusters HTTP requests are sent to: by routes, by filters, and by proxies themselves.

use std::collections::BTreeMap;

use memchr::memmem;

use super::context::existing;
use crate::egress::cluster::ClusterName;
use crate::egress::http_rule::{self, HttpRule};
use crate::egress::model::Model;
use crate::egress::virtual_service::{Binding, VirtualService};
use crate::istio::decode::Items;
use crate::istio::resource::Spec;
use crate::source::Sources;
use crate::world::World;

/// So many hosts of a VirtualService are looked at.
const HOSTS: usize = 16;

/// The destinations of the `http` routes that act somewhere, and of the requests of filters and proxies.
#[derive(Debug, Default)]
pub(super) struct Routed(BTreeMap<String, Vec<Target>>);

/// A subset, or an empty text, and a port; 0 where the route names none.
type Target = (String, i64);

impl Routed {
    pub(super) fn new(world: &World<'_>, model: &Model<'_>, sources: &Sources) -> Self {
        let mut targets: BTreeMap<String, Vec<Target>> = BTreeMap::new();
        for routes in model.virtual_services.iter() {
            for rule in routes.http().filter(|rule| acts(model, routes, rule)) {
                for target in rule.route().iter().filter_map(|entry| rule.target(entry)) {
                    let subset = target.destination.subset.as_ref();
                    let subset = subset.map_or_else(String::new, |subset| subset.value.to_string());
                    let port = target.port().map_or(0, |port| port.value);
                    let known = targets.entry(target.host().into_owned()).or_default();
                    if known.last() != Some(&(subset.clone(), port)) {
                        known.push((subset, port));
                    }
                }
            }
        }
        let others = of_gateway_api(world).chain(of_refused(world));
        for (host, port) in others.chain(of_providers(world)) {
            targets.entry(host).or_default().push((String::new(), port));
        }
        for name in named_by_filters(world, sources) {
            let target = (name.subset.to_owned(), i64::from(name.port));
            targets
                .entry(name.host.to_owned())
                .or_default()
                .push(target);
        }
        for known in targets.values_mut() {
            known.sort();
            known.dedup();
        }
        Self(targets)
    }

    /// Whether a route leads to this very cluster.
    pub(super) fn has(&self, name: &ClusterName<'_>) -> bool {
        let known = self.0.get(name.host).map_or(&[][..], Vec::as_slice);
        let leads = |port: i64| {
            let found = known
                .binary_search_by(|(subset, on)| (subset.as_str(), *on).cmp(&(name.subset, port)));
            found.is_ok()
        };
        leads(i64::from(name.port)) || leads(0)
    }

    /// Whether a route leads to some cluster of the port.
    pub(super) fn has_port(&self, host: &str, port: u32) -> bool {
        let mut known = self.0.get(host).into_iter().flatten();
        known.any(|(_, on)| *on == 0 || *on == i64::from(port))
    }
}

/// The clusters that EnvoyFilters name: a filter that asks another service, to authorize a request or to count it, asks
/// over HTTP. One that is refused tells as well what the cluster is for.
fn named_by_filters<'s>(
    world: &World<'_>,
    sources: &'s Sources,
) -> impl Iterator<Item = ClusterName<'s>> {
    let filters = world.resources.iter();
    let filters = filters.filter(|it| matches!(it.spec, Spec::EnvoyFilter(_)));
    filters.flat_map(|filter| {
        let text = sources.text(filter.span);
        memmem::find_iter(text.as_bytes(), b"outbound|").filter_map(|at| {
            let name = text.get(at..)?;
            let is_outside = |it: char| !(it.is_ascii_alphanumeric() || "|.-_".contains(it));
            ClusterName::parse(name.split(is_outside).next()?)
        })
    })
}

/// Where proxies send what they ask and tell of requests. Source: `LookupCluster` in `pilot/pkg/model/telemetry_logging.go`.
fn of_providers(world: &World<'_>) -> impl Iterator<Item = (String, i64)> {
    let providers = world.mesh.config.extension_providers.items().iter();
    let targets = providers.filter_map(|it| it.target.as_ref());
    targets.filter_map(|target| {
        let (service, port) = (target.service.as_ref()?, target.port.as_ref()?);
        let parts = service.value.split_once('/');
        let host = parts.map_or(service.value.as_str(), |(_, host)| host);
        Some((host.to_owned(), port.value))
    })
}

/// Where `http` rules of VirtualServices lead that are refused: they will, once that is mended.
fn of_refused(world: &World<'_>) -> impl Iterator<Item = (String, i64)> {
    let refused = world.resources.iter().filter(|it| it.refused);
    refused.flat_map(|resource| {
        let rules = match &resource.spec {
            Spec::VirtualService(routes) => routes.http.items(),
            _ => &[],
        };
        let entries = rules.iter().flat_map(|rule| rule.value.route.items());
        entries.filter_map(|entry| {
            let destination = entry.value.destination.as_ref()?;
            let target =
                http_rule::Target::new(&destination.value, destination.span, resource.namespace());
            let port = target.port().map_or(0, |port| port.value);
            Some((target.host().into_owned(), port))
        })
    })
}

/// The external hosts, with their ports, to which routes of Kubernetes' Gateway API lead.
fn of_gateway_api(world: &World<'_>) -> impl Iterator<Item = (String, i64)> {
    let routes = existing(world).filter_map(|resource| match &resource.spec {
        Spec::HttpRoute(route) | Spec::GrpcRoute(route) => Some(route),
        _ => None,
    });
    let rules = routes.flat_map(|route| route.rules.items());
    let backends = rules.flat_map(|rule| rule.value.backend_refs.items());
    backends.filter_map(|backend| {
        let host = backend.value.to("Hostname")?;
        let port = backend.value.port.as_ref().map_or(0, |port| port.value);
        Some((host.to_owned(), port))
    })
}

/// Whether the rule acts anywhere: at a gateway, or on a port of its hosts on which HTTP is seen.
fn acts(model: &Model<'_>, routes: &VirtualService<'_>, rule: &HttpRule<'_>) -> bool {
    let admits = |port: u32| {
        rule.matches()
            .any(|it| it.port().is_none_or(|asked| asked == port))
    };
    let at_gateway = routes.bindings.iter().any(|it| *it != Binding::Mesh);
    let mut hosts = routes.hosts.iter().take(HOSTS);
    at_gateway
        || hosts.any(|(host, _)| {
            let mut services = model.registry.of_host(host).peekable();
            services.peek().is_none()
                || services.any(|service| {
                    let mut ports = service.definition.ports.iter();
                    ports.any(|port| port.protocol.is_http_or_sniffed() && admits(port.number))
                })
        })
}
