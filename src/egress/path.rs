//! Paths: the hops over which a client's traffic reaches an external host.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rayon::prelude::*;

use super::call::Call;
use super::client::{Client, ProxyKind};
use super::cluster::ClusterName;
use super::facts::{CallResult, ClusterFacts, Outcome, Speaks, TlsFacts};
use super::host::{HostIndex, is_wildcard, subset_of};
use super::model::Model;
use super::protocol::Protocol;
use super::proxy::Proxy;
use super::service::{Definition, Origin};
use crate::source::Span;

/// More proxies than this one after another are taken for a circle.
const HOPS: usize = 4;

/// More ways of one call are left out: a route table of that size has long said what it says.
const WAYS: usize = 1000;

/// From more namespaces than this a host is not looked at.
const CLIENTS: usize = 16;

/// So many rules of a host are asked for the clients they are for.
const LOOKED_AT: usize = 256;

/// So many ports of so many hosts of one ServiceEntry are looked at, and so many destinations of all together: the
/// facts of further ones repeat those of the first.
const OF_ENTRY: usize = 256;
const DESTINATIONS: usize = 200_000;

/// So many endpoints of a cluster are kept for rules, and so many are looked at in all clusters together.
const KEPT: usize = 64;
const ENDPOINTS: usize = 500_000;

/// What one proxy does with a call that reaches it.
#[derive(Clone, Debug)]
pub struct Hop {
    pub call: Call,
    /// The route that is followed here, and all of its clusters.
    pub result: CallResult,
    /// Which of its clusters is followed.
    pub chosen: usize,
    /// The facts of that cluster; `None` where there is none of that name, so that what is sent to it fails.
    pub cluster: Option<ClusterFacts>,
}

impl Hop {
    pub fn client(&self) -> &Client {
        &self.call.client
    }

    /// The name of the cluster that is followed.
    pub fn cluster_name(&self) -> Option<&str> {
        let cluster = self.result.clusters.get(self.chosen)?;
        Some(&cluster.name.value)
    }
}

/// One way of one client's traffic to one port of an external host.
#[derive(Clone, Debug)]
pub struct Path {
    /// As its ServiceEntry writes it, wildcards too.
    pub host: String,
    pub port: u32,
    pub speaks: Speaks,
    /// Where a ServiceEntry of the files defines it; `None` where none does, as it may be with what was asked for.
    pub declared: Option<Declared>,
    /// The client's sidecar first; never empty.
    pub hops: Vec<Hop>,
}

/// Where a ServiceEntry defines a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its place among the definitions of the model's registry.
    pub definition: usize,
    pub host: Span,
    /// The line of the port's protocol, or else of its number.
    pub port: Span,
}

/// Which paths are asked for. What is left open is not asked about.
#[derive(Clone, Debug, Default)]
pub struct Question {
    pub host: Option<String>,
    pub port: Option<u32>,
    pub speaks: Option<Speaks>,
    pub client: Option<Client>,
}

impl Question {
    fn wants_host(&self, host: &str) -> bool {
        self.host
            .as_ref()
            .is_none_or(|wanted| subset_of(&wanted.to_lowercase(), &host.to_lowercase()))
    }

    fn wants(&self, port: u32, speaks: Speaks) -> bool {
        self.port.is_none_or(|wanted| wanted == port)
            && self.speaks.is_none_or(|wanted| wanted == speaks)
    }

    /// The very call of a client that is asked for, where the files define nothing that fits.
    fn call(&self, client: &Client) -> Option<Call> {
        let host = self.host.clone()?;
        let port = self.port.unwrap_or(443);
        Some(Call {
            client: client.clone(),
            address: host.parse().ok(),
            host,
            port,
            speaks: self.speaks.unwrap_or(match port {
                80 => Speaks::Http,
                443 => Speaks::Tls,
                _ => Speaks::Tcp,
            }),
            path: None,
        })
    }
}

impl Path {
    /// The hop that reaches the address, or at which the way ends.
    pub fn last(&self) -> Option<&Hop> {
        self.hops.last()
    }

    /// Whether the host's own cluster is reached, on whatever port.
    pub fn reaches_host(&self) -> bool {
        let cluster = self.last().and_then(Hop::cluster_name);
        cluster
            .and_then(ClusterName::parse)
            .is_some_and(|name| name.host == self.host)
    }
}

/// One port of one host of a ServiceEntry, as one client sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Destination {
    definition: usize,
    host: usize,
    port: usize,
    speaks: Speaks,
}

/// What clients say on a port of that protocol. Where it is not declared, both are possible.
fn spoken(protocol: Protocol) -> &'static [Speaks] {
    match protocol {
        Protocol::Udp => &[],
        http if http.is_http2() => &[Speaks::Http2],
        http if http.is_http() => &[Speaks::Http],
        tls if tls.is_tls() => &[Speaks::Tls],
        tcp if tcp.is_tcp() => &[Speaks::Tcp],
        _ => &[Speaks::Http, Speaks::Tcp],
    }
}

/// Every way to every port of every external host that the files define, as each namespace sees it that defines it,
/// routes to it, or has a policy for it. In the order of the definitions, then of clients and routes.
///
/// Of a cluster with very many endpoints only the first are kept.
pub fn paths(model: &Model<'_>) -> Vec<Path> {
    declared(model, &Question::default(), KEPT)
}

/// The paths that are asked for; the way of the very call where the files define no such destination.
pub fn paths_to(model: &Model<'_>, question: &Question) -> Vec<Path> {
    let mut found = declared(model, question, usize::MAX);
    if !found.is_empty() {
        return found;
    }
    let mut walk = Walk::new(model, usize::MAX);
    for client in askers(model, question) {
        let Some(call) = question.call(&client) else {
            continue;
        };
        let (host, port, speaks) = (call.host.clone(), call.port, call.speaks);
        let mut chains = Vec::new();
        walk.follow(call, &mut Vec::new(), &mut chains);
        found.extend(chains.into_iter().map(|hops| Path {
            host: host.clone(),
            port,
            speaks,
            declared: None,
            hops,
        }));
    }
    found
}

/// Who asks for a destination that no file defines: of a host that is defined, though not on this port, its clients.
fn askers(model: &Model<'_>, question: &Question) -> BTreeSet<Client> {
    if let Some(client) = &question.client {
        return BTreeSet::from([client.clone()]);
    }
    let clients = Clients::new(model);
    let definitions = model.registry.definitions().iter();
    let entries = definitions.filter(|it| it.origin == Origin::ServiceEntry);
    let mut found: BTreeSet<Client> = entries
        .filter_map(|entry| {
            let hosts = entry.hosts.iter().take(OF_ENTRY);
            let host = hosts
                .map(|host| &*host.name)
                .find(|it| question.wants_host(it))?;
            Some(clients.of(entry, host))
        })
        .flatten()
        .take(CLIENTS)
        .collect();
    if found.is_empty() {
        found.insert(Client::default());
    }
    found
}

fn declared(model: &Model<'_>, question: &Question, kept: usize) -> Vec<Path> {
    let clients = Clients::new(model);
    let mut by_client: BTreeMap<Client, Vec<Destination>> = BTreeMap::new();
    let mut left = DESTINATIONS;
    for (at, definition) in model.registry.definitions().iter().enumerate() {
        if definition.origin != Origin::ServiceEntry || !definition.mesh_external {
            continue;
        }
        let mut of_entry = OF_ENTRY.min(left);
        for (number, host) in definition.hosts.iter().enumerate() {
            if of_entry == 0 {
                break;
            }
            if !question.wants_host(&host.name) {
                continue;
            }
            let clients = match &question.client {
                Some(client) => BTreeSet::from([client.clone()]),
                None => clients.of(definition, &host.name),
            };
            for client in clients {
                let destinations = by_client.entry(client).or_default();
                for (port, declared) in definition.ports.iter().enumerate() {
                    let spoken = spoken(declared.protocol).iter();
                    let wanted = spoken.filter(|it| question.wants(declared.number, **it));
                    let before = destinations.len();
                    destinations.extend(wanted.take(of_entry).map(|&speaks| Destination {
                        definition: at,
                        host: number,
                        port,
                        speaks,
                    }));
                    let added = destinations.len() - before;
                    of_entry -= added;
                    left -= added;
                    if of_entry == 0 {
                        break;
                    }
                }
            }
        }
    }
    let threads = rayon::current_num_threads().max(1);
    let pieces: Vec<(&Client, &[Destination])> = by_client
        .iter()
        .flat_map(|(client, all)| {
            let size = all.len().div_ceil(threads).max(256);
            all.chunks(size).map(move |piece| (client, piece))
        })
        .collect();
    let mut found: Vec<(Destination, Path)> = pieces
        .into_par_iter()
        .flat_map_iter(|(client, piece)| {
            let mut walk = Walk::new(model, kept);
            let mut found = Vec::new();
            for destination in piece {
                walk.ways(client, *destination, question, &mut found);
            }
            found
        })
        .collect();
    found.sort_by_key(|(destination, _)| *destination);
    found.into_iter().map(|(_, path)| path).collect()
}

/// Who is looked at as a client of a host.
struct Clients<'m> {
    routes: HostIndex<Client>,
    model: &'m Model<'m>,
}

impl<'m> Clients<'m> {
    fn new(model: &'m Model<'m>) -> Self {
        let mut routes = HostIndex::default();
        for service in model.virtual_services.iter() {
            for (host, _) in &service.hosts {
                routes.insert(host, Client::sidecar(service.namespace()));
            }
        }
        Self { routes, model }
    }

    /// The clients of a host: those of the namespace that defines it, of those that have a rule for it.
    fn of(&self, definition: &Definition<'_>, host: &str) -> BTreeSet<Client> {
        let mut found = BTreeSet::from([Client::sidecar(definition.namespace())]);
        let rules = self.model.rules.covering(host).take(LOOKED_AT);
        // A rule for everything is for no host in particular.
        let rules = rules.filter(|(rule, _)| rule.host != "*");
        let of_rules = rules.map(|(rule, _)| {
            let selected = rule.selected_client();
            selected.unwrap_or_else(|| Client::sidecar(rule.namespace()))
        });
        let routes = self.routes.overlapping(host).flatten().take(LOOKED_AT);
        for client in of_rules.chain(routes.cloned()) {
            // An unknown namespace may be that of the definition: it is no other client.
            let known = client.namespace().is_some() && definition.namespace().is_some();
            if found.len() < CLIENTS
                && (known || !client.labels.is_empty())
                && self.sees(&client, definition, host)
            {
                found.insert(client);
            }
        }
        found
    }

    fn sees(&self, client: &Client, definition: &Definition<'_>, host: &str) -> bool {
        let registry = &self.model.registry;
        let mut services = registry.of_host_in(host, definition.namespace());
        services.any(|service| registry.exposure(&service, client.namespace()).is_some())
    }
}

/// Follows calls from proxy to proxy; remembers the proxies it has met.
struct Walk<'m> {
    model: &'m Model<'m>,
    /// How many endpoints of a cluster are kept.
    kept: usize,
    /// How many more endpoints are looked at, where not all are kept.
    left: usize,
    proxies: HashMap<Client, Proxy<'m>>,
}

impl<'m> Walk<'m> {
    fn new(model: &'m Model<'m>, kept: usize) -> Self {
        Self {
            model,
            kept,
            left: ENDPOINTS,
            proxies: HashMap::new(),
        }
    }

    fn proxy(&mut self, client: &Client) -> &Proxy<'m> {
        let model = self.model;
        self.proxies
            .entry(client.clone())
            .or_insert_with(|| Proxy::new(model, client))
    }

    fn ways(
        &mut self,
        client: &Client,
        destination: Destination,
        question: &Question,
        out: &mut Vec<(Destination, Path)>,
    ) {
        let definitions = self.model.registry.definitions();
        let Some(definition) = definitions.get(destination.definition) else {
            return;
        };
        let (Some(host), Some(port)) = (
            definition.hosts.get(destination.host),
            definition.ports.get(destination.port),
        ) else {
            return;
        };
        let call = Call {
            client: client.clone(),
            host: match &question.host {
                Some(asked) => asked.clone(),
                None => concrete(&host.name),
            },
            port: port.number,
            speaks: destination.speaks,
            address: definition.addresses.first().map(|it| it.net.addr()),
            path: None,
        };
        let mut chains = Vec::new();
        self.follow(call, &mut Vec::new(), &mut chains);
        out.extend(chains.into_iter().map(|hops| {
            let path = Path {
                host: host.name.to_string(),
                port: port.number,
                speaks: destination.speaks,
                declared: Some(Declared {
                    definition: destination.definition,
                    host: host.line,
                    port: port.protocol_line.unwrap_or(port.number_line),
                }),
                hops,
            };
            (destination, path)
        }));
    }

    fn follow(&mut self, call: Call, before: &mut Vec<Hop>, out: &mut Vec<Vec<Hop>>) {
        if self.left == 0 {
            return;
        }
        let results = self.proxy(&call.client).every_route(&call);
        for result in results {
            let ways = result.clusters.len().max(1);
            for chosen in 0..ways {
                if out.len() >= WAYS {
                    return;
                }
                let name = result.clusters.get(chosen).map(|it| it.name.value.clone());
                let mut cluster = name
                    .as_deref()
                    .and_then(|name| self.proxy(&call.client).cluster(name));
                if let Some(facts) = cluster.as_mut().filter(|it| it.endpoints.len() > self.kept) {
                    self.left = self.left.saturating_sub(facts.endpoints.len());
                    facts.endpoints.truncate(self.kept);
                    facts.endpoints.shrink_to_fit();
                }
                let next = match (&name, result.outcome.value) {
                    (Some(name), Outcome::Forwarded) if before.len() + 1 < HOPS => {
                        self.next(&call, name, cluster.as_ref())
                    }
                    _ => None,
                };
                before.push(Hop {
                    call: call.clone(),
                    result: result.clone(),
                    chosen,
                    cluster,
                });
                match next {
                    Some(next) => self.follow(next, before, out),
                    None => out.push(before.clone()),
                }
                before.pop();
            }
        }
    }

    /// The call as the gateway gets it, where the cluster leads to a gateway.
    fn next(&mut self, call: &Call, cluster: &str, facts: Option<&ClusterFacts>) -> Option<Call> {
        let name = ClusterName::parse(cluster)?;
        let (client, port) = self
            .router_of_service(&call.client, &name)
            .or_else(|| self.router_of_gateway(call, &name))?;
        if client == call.client {
            return None;
        }
        let plain = Call {
            client,
            host: call.host.clone(),
            port,
            speaks: call.speaks,
            address: None,
            path: None,
        };
        let encrypted = Call {
            speaks: Speaks::Tls,
            ..plain.clone()
        };
        let encrypts = match facts {
            Some(facts) => matches!(facts.tls.value, Some(TlsFacts::Explicit(_))),
            // Without the Service nothing tells how the way there is secured: as the gateway expects it.
            None => !self.is_taken(&plain) && self.is_taken(&encrypted),
        };
        Some(if encrypts { encrypted } else { plain })
    }

    fn is_taken(&mut self, call: &Call) -> bool {
        let results = self.proxy(&call.client).every_route(call);
        results
            .iter()
            .any(|result| result.outcome.value != Outcome::Error)
    }

    /// The router behind a Kubernetes Service that Gateways select, and the port on its pods.
    fn router_of_service(
        &mut self,
        from: &Client,
        name: &ClusterName<'_>,
    ) -> Option<(Client, u32)> {
        let model = self.model;
        let service = self.proxy(from).scope.service(name.host)?;
        if service.origin != Origin::Kubernetes {
            return None;
        }
        let selector = service.selector.as_deref().filter(|it| !it.is_empty())?;
        let client = Client {
            namespace: service.namespace().map(str::to_owned),
            labels: selector
                .iter()
                .map(|&(k, v)| (k.to_owned(), v.to_owned()))
                .collect(),
            proxy: ProxyKind::Gateway,
        };
        if model.gateways.of(&client).is_empty() {
            return None;
        }
        let target = service.port(name.port)?.target;
        let port = target.and_then(|target| target.number());
        Some((client, port.map_or(name.port, |(number, _)| number)))
    }

    /// Without the Service, as it is with a gateway that a chart installs: the router of a Gateway to which a
    /// VirtualService of the host is bound. Its listeners then stand on the ports of its servers.
    fn router_of_gateway(&self, call: &Call, name: &ClusterName<'_>) -> Option<(Client, u32)> {
        let model = self.model;
        let mut labels = name.host.split('.').skip(1);
        let namespace = labels.next().filter(|_| labels.next() == Some("svc"))?;
        let host = call.host.to_lowercase();
        let services = model.virtual_services.covering(&host).flatten();
        let bound = services
            .filter_map(|&at| model.virtual_services.get(at))
            .flat_map(|service| &service.bindings);
        let bound: Vec<_> = bound.collect();
        let (_, gateway) = model.gateways.iter().find(|(resource, _)| {
            let this = super::virtual_service::Binding::Gateway {
                namespace: resource.namespace(),
                name: resource.name(),
            };
            bound.iter().any(|binding| binding.is(&this))
        })?;
        let client = Client {
            namespace: Some(namespace.to_owned()),
            labels: super::gateway::selector(gateway)
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .collect(),
            proxy: ProxyKind::Gateway,
        };
        Some((client, name.port))
    }
}

/// A name that a wildcard host stands for.
fn concrete(host: &str) -> String {
    if is_wildcard(host) {
        host.replacen('*', "any", 1)
    } else {
        host.to_owned()
    }
}
