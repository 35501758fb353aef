//! The ways of HTTP requests towards external hosts, hop by hop, with the retry policy of each.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::clusters::clients;
use super::context::Context;
use crate::egress::client::{Client, ProxyKind};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::{RetryPolicy, Traced};
use crate::egress::http_match::Place;
use crate::egress::http_rule::HttpRule;
use crate::egress::proxy::Proxy;
use crate::egress::retry;
use crate::egress::service::{Origin, Service};
use crate::egress::virtual_host::VirtualHost;
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

/// Requests that one VirtualService decides over are looked at for so many hosts, ports and proxies. What its rules do
/// differs little among them.
const SAMPLES: usize = 16;

pub(super) fn ways<'a>(cx: &Context<'a>) -> Vec<HttpWay<'a>> {
    let mut proxies = Proxies {
        cx,
        known: HashMap::new(),
    };
    let mut found = Vec::new();
    // By the place of the VirtualService: for what it decides.
    let mut decided: BTreeMap<Span, Vec<Request<'a>>> = BTreeMap::new();
    for request in requests(cx) {
        let proxy = proxies.of(&request.client);
        let Some(host) = proxy.http_host(&request.host, request.port) else {
            continue;
        };
        match &host {
            VirtualHost::Rules { service, .. } => {
                let samples = decided.entry(service.resource.span).or_default();
                if samples.len() < SAMPLES {
                    samples.push(request);
                }
            }
            VirtualHost::Service { .. } => add(cx, proxy, &host, &request, &mut found),
            VirtualHost::Unknown => {}
        }
    }
    for request in decided.into_values().flatten() {
        let proxy = proxies.of(&request.client);
        if let Some(host) = proxy.http_host(&request.host, request.port) {
            add(cx, proxy, &host, &request, &mut found);
        }
    }
    for routes in cx.model.virtual_services.iter() {
        at_gateways(cx, routes, &mut found);
    }
    found
}

/// A request of a sidecar's workload.
struct Request<'a> {
    client: Client,
    host: String,
    port: u32,
    /// Whose host it is, if it is an external one.
    service: Option<Service<'a>>,
}

/// To each external host on each port that may carry HTTP, and to the other hosts of VirtualServices.
fn requests<'a>(cx: &Context<'a>) -> Vec<Request<'a>> {
    let mut all = Vec::new();
    for service in cx.model.registry.services().filter(is_external) {
        let sidecars = clients(cx, &service);
        let sidecars = sidecars
            .iter()
            .filter(|client| client.proxy == ProxyKind::Sidecar);
        for client in sidecars {
            let ports = service.definition.ports.iter();
            for port in ports.filter(|port| port.protocol.is_http_or_sniffed()) {
                all.push(Request {
                    client: client.clone(),
                    host: service.name().to_owned(),
                    port: port.number,
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
        for (host, _) in routes.hosts.iter().take(SAMPLES) {
            if external(cx, host).is_none() {
                let services = cx.model.registry.of_host(host);
                let ports = services.flat_map(|service| service.definition.ports.iter());
                let ports = ports.filter(|port| port.protocol.is_http_or_sniffed());
                let ports: BTreeSet<u32> = ports.map(|port| port.number).take(SAMPLES).collect();
                let ports = if ports.is_empty() {
                    BTreeSet::from([80])
                } else {
                    ports
                };
                all.extend(ports.into_iter().map(|port| Request {
                    client: Client::sidecar(routes.namespace()),
                    host: host.clone(),
                    port,
                    service: None,
                }));
            }
        }
    }
    all
}

fn is_external(service: &Service<'_>) -> bool {
    service.definition.origin == Origin::ServiceEntry && service.definition.mesh_external
}

/// The external service of that name.
fn external<'a>(cx: &Context<'a>, host: &str) -> Option<Service<'a>> {
    cx.model.registry.of_host(host).find(is_external)
}

struct Proxies<'c, 'a> {
    cx: &'c Context<'a>,
    known: HashMap<Client, Proxy<'a>>,
}

impl<'a> Proxies<'_, 'a> {
    fn of(&mut self, client: &Client) -> &Proxy<'a> {
        let model = self.cx.model;
        let known = self.known.entry(client.clone());
        known.or_insert_with(|| model.proxy(client))
    }
}

fn add<'a>(
    cx: &Context<'a>,
    proxy: &Proxy<'a>,
    host: &VirtualHost<'a>,
    request: &Request<'a>,
    found: &mut Vec<HttpWay<'a>>,
) {
    for way in proxy.ways(host, request.port) {
        let names = way.clusters.iter().map(|cluster| cluster.name.as_str());
        let reached: Vec<_> = names
            .filter_map(ClusterName::parse)
            .filter_map(|name| Some((external(cx, name.host)?, name.port)))
            .collect();
        let towards = request.service.filter(|_| reached.is_empty());
        let hops = reached
            .into_iter()
            .map(|(service, port)| (service, port, true));
        let elsewhere = towards.map(|service| (service, request.port, false));
        found.extend(
            hops.chain(elsewhere)
                .map(|(service, port, reaches)| HttpWay {
                    service,
                    port,
                    reaches,
                    retry: way.route.retry.clone(),
                    rule: way.rule.first().copied(),
                }),
        );
    }
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
            retry: retry.clone(),
            rule: Some(rule.own.rule.key),
        }));
    }
}
