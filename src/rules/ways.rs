//! The ways of HTTP requests towards external hosts, hop by hop, with the retry policy of each.

use std::collections::{BTreeSet, HashMap};

use super::clusters::clients;
use super::context::Context;
use crate::egress::call::Call;
use crate::egress::client::{Client, ProxyKind};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::{CallResult, RetryPolicy, Speaks, Traced};
use crate::egress::http_match::Place;
use crate::egress::http_rule::HttpRule;
use crate::egress::proxy::Proxy;
use crate::egress::retry;
use crate::egress::service::{Origin, Service};
use crate::egress::virtual_service::{Binding, VirtualService};
use crate::istio::decode::Items;
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
        format!("{}:{}", self.service.name(), self.port)
    }

    /// Whether the port is declared to carry gRPC.
    pub fn is_grpc(&self) -> bool {
        use crate::egress::protocol::Protocol::{Grpc, GrpcWeb};
        let port = self.service.definition.port(self.port);
        port.is_some_and(|port| matches!(port.protocol, Grpc | GrpcWeb))
    }
}

/// So many routes are looked at for the hosts of one VirtualService, then no further hosts: what its rules do differs
/// little among them.
const ROUTES: usize = 100_000;

/// So many gateways, hosts or ports are looked at where one would do.
const SAMPLES: usize = 16;

pub(super) fn ways<'a>(cx: &Context<'a>) -> Vec<HttpWay<'a>> {
    let mut proxies: HashMap<Client, Proxy<'a>> = HashMap::new();
    let mut looked_at: HashMap<usize, usize> = HashMap::new();
    let mut found = Vec::new();
    for request in requests(cx) {
        let services = &cx.model.virtual_services;
        let first = services.covering(&request.call.host).flatten().next();
        if let Some(routes) = first.and_then(|&at| services.get(at)) {
            let known = looked_at
                .entry(first.copied().unwrap_or_default())
                .or_default();
            if *known > ROUTES {
                continue;
            }
            *known += 1 + routes.spec.http.items().len();
        }
        let proxy = proxies
            .entry(request.call.client.clone())
            .or_insert_with_key(|client| cx.model.proxy(client));
        for result in proxy.every_route(&request.call) {
            add(cx, &request, &result, &mut found);
        }
    }
    for routes in cx.model.virtual_services.iter() {
        at_gateways(cx, routes, &mut found);
    }
    found
}

/// A request of a sidecar's workload.
struct Request<'a> {
    call: Call,
    /// Whose host it is, if it is an external one.
    service: Option<Service<'a>>,
}

/// To each external host on each port that may carry HTTP, and to the other hosts of VirtualServices.
fn requests<'a>(cx: &Context<'a>) -> Vec<Request<'a>> {
    let mut all = Vec::new();
    let by_default = cx.world.mesh.default_http_retry_policy.is_none();
    for service in cx.model.registry.services().filter(is_external) {
        // Istio's own retries are right for requests that may be repeated.
        let routed = cx.routes_for(service.name()).next().is_some();
        if by_default && !routed && !cx.is_not_repeatable(&service) {
            continue;
        }
        let clients = clients(cx, &service).into_iter();
        for client in clients.filter(|client| client.proxy == ProxyKind::Sidecar) {
            for port in http_ports(&service) {
                all.push(Request {
                    call: request(&client, service.name(), port, Some(&service)),
                    service: Some(service),
                });
            }
        }
    }
    for routes in cx.model.virtual_services.iter() {
        let of_mesh = routes.bindings.contains(&Binding::Mesh);
        if !of_mesh || routes.http().next().is_none() {
            continue;
        }
        let client = Client::sidecar(routes.namespace());
        let hosts = routes.hosts.iter().take(SAMPLES);
        for (host, _) in hosts.filter(|(host, _)| external(cx, host).is_none()) {
            let services = cx.model.registry.of_host(host);
            let ports: BTreeSet<u32> = services
                .flat_map(|service| http_ports(&service))
                .take(SAMPLES)
                .collect();
            // What no service stands for can be routed on port 80.
            let ports = if ports.is_empty() {
                BTreeSet::from([80])
            } else {
                ports
            };
            all.extend(ports.into_iter().map(|port| Request {
                call: request(&client, host, port, None),
                service: None,
            }));
        }
    }
    all
}

fn http_ports<'m>(service: &Service<'m>) -> impl Iterator<Item = u32> + use<'m> {
    let ports = service.definition.ports.iter();
    ports
        .filter(|port| port.protocol.is_http_or_sniffed())
        .map(|port| port.number)
}

fn request(client: &Client, host: &str, port: u32, service: Option<&Service<'_>>) -> Call {
    let address = service.and_then(|service| service.definition.addresses.first());
    Call {
        client: client.clone(),
        // A name that a wildcard host stands for.
        host: host.replacen('*', "any", 1),
        port,
        speaks: Speaks::Http,
        address: address.map(|address| address.net.addr()),
        path: None,
    }
}

fn is_external(service: &Service<'_>) -> bool {
    service.definition.origin == Origin::ServiceEntry && service.definition.mesh_external
}

/// The external service of that name.
fn external<'a>(cx: &Context<'a>, host: &str) -> Option<Service<'a>> {
    cx.model.registry.of_host(host).find(is_external)
}

fn add<'a>(
    cx: &Context<'a>,
    request: &Request<'a>,
    result: &CallResult,
    found: &mut Vec<HttpWay<'a>>,
) {
    let Some(route) = &result.route else { return };
    let names = result.clusters.iter().map(|cluster| cluster.name.as_str());
    let reached: Vec<_> = names
        .filter_map(ClusterName::parse)
        .filter_map(|name| Some((external(cx, name.host)?, name.port)))
        .collect();
    let towards = request.service.filter(|_| reached.is_empty());
    let reaching = reached
        .into_iter()
        .map(|(service, port)| (service, port, true));
    let elsewhere = towards.map(|service| (service, request.call.port, false));
    found.extend(
        reaching
            .chain(elsewhere)
            .map(|(service, port, reaches)| HttpWay {
                service,
                port,
                reaches,
                at_gateway: false,
                retry: route.retry.clone(),
                rule: result.outcome.spans().first().copied(),
            }),
    );
}

/// The rules that act at a gateway, whatever Gateway that is: it need not be among the files.
fn at_gateways<'a>(cx: &Context<'a>, routes: &'a VirtualService<'a>, found: &mut Vec<HttpWay<'a>>) {
    let gateway = Client {
        proxy: ProxyKind::Gateway,
        ..Client::sidecar(routes.namespace())
    };
    let acts = |rule: &HttpRule<'_>| {
        let gateways = routes
            .bindings
            .iter()
            .filter(|binding| **binding != Binding::Mesh);
        gateways.take(SAMPLES).any(|binding| {
            rule.matches().any(|condition| {
                condition.admits(&Place {
                    port: condition.port().unwrap_or(0),
                    binding: *binding,
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
