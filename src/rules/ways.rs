//! The ways of HTTP requests towards external hosts, hop by hop, with the retry policy of each.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashSet;

use super::context::Context;
use super::traffic::Traffic;
use super::unknown_gateways::UnknownGateways;
use crate::egress::call::Call;
use crate::egress::client::{Client, ProxyKind};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::{CallResult, RetryPolicy, Speaks, Traced};
use crate::egress::http_match::Place;
use crate::egress::http_rule::HttpRule;
use crate::egress::path::Path;
use crate::egress::retry;
use crate::egress::service::{Origin, Service};
use crate::egress::virtual_service::{Binding, VirtualService};
use crate::source::Span;

/// One route on the way to an external host.
#[derive(Clone, Debug)]
pub struct HttpWay<'a> {
    /// The external host.
    pub service: Service<'a>,
    /// The port of it that the route leads to, or of the request where it leads elsewhere.
    pub port: u32,
    /// Whether this hop reaches the host's address, and not an egress gateway first.
    pub reaches: bool,
    /// Whether a gateway follows it, and not a sidecar.
    pub at_gateway: bool,
    pub retry: Traced<Option<RetryPolicy>>,
    /// Where the rule begins; `None` where no VirtualService is for the host.
    pub rule: Option<Span>,
}

impl HttpWay<'_> {
    /// `host:port`, for messages.
    pub fn destination(&self) -> String {
        super::host_and_port(self.service.name(), self.port)
    }

    /// Whether the port is declared to carry gRPC.
    pub fn is_grpc(&self) -> bool {
        use crate::egress::protocol::Protocol::{Grpc, GrpcWeb};
        let port = self.service.definition.port(self.port);
        port.is_some_and(|port| matches!(port.protocol, Grpc | GrpcWeb))
    }
}

/// Of a request so many routes are looked at.
const ROUTES: usize = 1000;

/// So many gateways, hosts or ports are looked at where one would do.
const SAMPLES: usize = 16;

/// Finds the ways: those of paths first, and then those that no path shows.
#[derive(Default)]
pub(super) struct Finder<'a> {
    found: Vec<HttpWay<'a>>,
}

impl<'a> Finder<'a> {
    pub(super) fn take(&mut self, cx: &Context<'a>, traffic: &Traffic<'a>) {
        // Several paths may share a hop.
        let mut seen = HashSet::default();
        for path in traffic.paths() {
            let Some(towards) = towards(cx, path) else {
                continue;
            };
            for hop in &path.hops {
                if seen.insert((Arc::as_ptr(&hop.result), hop.chosen)) {
                    let (cluster, towards) = (hop.cluster_name(), Some((towards, path.port)));
                    let way = way(cx, &hop.result, cluster, towards);
                    self.found.extend(way.map(|way| HttpWay {
                        at_gateway: hop.client().is_gateway(),
                        ..way
                    }));
                }
            }
        }
    }

    pub(super) fn finish(mut self, cx: &Context<'a>) -> Vec<HttpWay<'a>> {
        let unknown = UnknownGateways::new(cx);
        for routes in cx.model.virtual_services.iter() {
            of_other_names(cx, routes, &mut self.found);
            at_gateways(cx, routes, &unknown, &mut self.found);
        }
        self.found
    }
}

/// The external host that a path leads to, unless nothing but Istio's own retries is there for it, which are right for
/// requests that may be repeated.
fn towards<'a>(cx: &Context<'a>, path: &Path) -> Option<Service<'a>> {
    let service = path.declared?.service(cx.model)?;
    let by_default = cx.world.mesh.default_http_retry_policy.is_none();
    let routed = || cx.routes_for(&path.host).next().is_some();
    (!by_default || routed() || cx.is_not_repeatable(&service)).then_some(service)
}

/// The way that a request takes at a sidecar; towards the host where it does not reach one.
fn way<'a>(
    cx: &Context<'a>,
    result: &CallResult,
    cluster: Option<&str>,
    towards: Option<(Service<'a>, u32)>,
) -> Option<HttpWay<'a>> {
    let route = result.route.as_ref()?;
    let name = cluster.and_then(ClusterName::parse);
    let reached = name.and_then(|name| Some((external(cx, name.host)?, name.port)));
    let (service, port) = reached.or(towards)?;
    Some(HttpWay {
        service,
        port,
        reaches: reached.is_some(),
        at_gateway: false,
        retry: route.retry.clone(),
        rule: result.outcome.spans().first().copied(),
    })
}

/// Requests for names that are no external host, and that a VirtualService sends to one.
fn of_other_names<'a>(
    cx: &Context<'a>,
    routes: &'a VirtualService<'a>,
    found: &mut Vec<HttpWay<'a>>,
) {
    let to_external = routes.http().any(|rule| {
        let mut targets = rule.route().iter().filter_map(|entry| rule.target(entry));
        targets.any(|target| external(cx, &target.host()).is_some())
    });
    if !to_external || !routes.bindings.contains(&Binding::Mesh) {
        return;
    }
    for client in std::iter::once(routes.client()).chain(routes.sources()) {
        let proxy = cx.model.proxy(&client);
        let hosts = routes.hosts.iter().take(SAMPLES);
        for (host, _) in hosts.filter(|(host, _)| external(cx, host).is_none()) {
            for port in ports_of(cx, host) {
                for result in proxy.every_route(&request(&client, host, port), ROUTES) {
                    for cluster in &result.clusters {
                        found.extend(way(cx, &result, Some(&cluster.name), None));
                    }
                }
            }
        }
    }
}

/// The ports on which requests for that name can be.
fn ports_of(cx: &Context<'_>, host: &str) -> BTreeSet<u32> {
    let services = cx.model.registry.of_host(host);
    let ports: BTreeSet<u32> = services
        .flat_map(|service| http_ports(&service))
        .take(SAMPLES)
        .collect();
    // What no service stands for can be routed on port 80.
    match ports.is_empty() {
        true => BTreeSet::from([80]),
        false => ports,
    }
}

fn http_ports<'m>(service: &Service<'m>) -> impl Iterator<Item = u32> + use<'m> {
    let ports = service.definition.ports.iter();
    ports
        .filter(|port| port.protocol.is_http_or_sniffed())
        .map(|port| port.number)
}

fn request(client: &Client, host: &str, port: u32) -> Call {
    Call {
        client: client.clone(),
        // A name that a wildcard host stands for.
        host: host.replacen('*', "any", 1),
        port,
        speaks: Speaks::Http,
        address: None,
        path: None,
    }
}

fn is_external(service: &Service<'_>) -> bool {
    service.definition.origin == Origin::ServiceEntry && service.definition.mesh_external
}

/// The external service of that name.
fn external<'a>(cx: &Context<'a>, host: &str) -> Option<Service<'a>> {
    let registry = &cx.model.registry;
    registry.of_host(host).find(|service| {
        // A Service of that name and namespace always wins.
        let mut same = registry.of_host_in(host, service.namespace());
        is_external(service) && !same.any(|it| it.definition.origin == Origin::Kubernetes)
    })
}

/// The rules that act at a gateway, whatever Gateway that is: it need not be among the files, unless they tell that
/// there is none.
fn at_gateways<'a>(
    cx: &Context<'a>,
    routes: &'a VirtualService<'a>,
    unknown: &UnknownGateways<'a>,
    found: &mut Vec<HttpWay<'a>>,
) {
    let gateway = Client {
        proxy: ProxyKind::Gateway,
        ..Client::sidecar(routes.namespace())
    };
    let gateways = routes
        .bindings
        .iter()
        .filter(|binding| **binding != Binding::Mesh)
        .take(SAMPLES)
        .filter(|binding| unknown.find(routes, **binding).is_none());
    let gateways: Vec<_> = gateways.collect();
    let acts = |rule: &HttpRule<'_>| {
        gateways.iter().any(|binding| {
            rule.matches().any(|condition| {
                condition.admits(&Place {
                    port: condition.port().unwrap_or(0),
                    binding: **binding,
                    client: &gateway,
                })
            })
        })
    };
    for rule in routes.http() {
        let targets = rule.route().iter().filter_map(|entry| rule.target(entry));
        let reached: Vec<_> = targets
            .filter_map(|target| {
                let service = external(cx, &target.host())?;
                let only = service.definition.ports.first().map(|port| port.number);
                let named = target
                    .port()
                    .and_then(|port| u32::try_from(port.value).ok());
                Some((service, named.or(only)?))
            })
            .collect();
        if reached.is_empty() || !acts(&rule) {
            continue;
        }
        let retry = retry::policy(rule.retries(), cx.model.mesh.config, None);
        found.extend(reached.into_iter().map(|(service, port)| HttpWay {
            service,
            port,
            reaches: true,
            at_gateway: true,
            retry: retry.clone(),
            rule: Some(rule.own.rule.key),
        }));
    }
}
