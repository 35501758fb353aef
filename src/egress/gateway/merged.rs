//! The servers of all Gateways that select one router, merged as Istio merges them.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use super::{GatewayServer, Gateways, ServerHost};
use crate::egress::client::Client;
use crate::egress::namespace::{Same, same};
use crate::egress::protocol::Protocol;
use crate::egress::registry::Registry;
use crate::egress::service::Origin;
use crate::istio::decode::Items;

/// A Service with this label keeps the numbers that Gateways write.
const KEEPS_PORTS: &str = "experimental.istio.io/disable-gateway-port-translation";

/// A port of a router, with what tells listeners apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerPort {
    pub number: u32,
    protocol: String,
    pub bind: String,
}

/// The servers that share a port of a router.
#[derive(Debug)]
pub struct PortServers {
    pub port: ServerPort,
    /// Numbers into `MergedGateway::servers`.
    pub servers: Vec<usize>,
    /// Of plaintext HTTP servers, which share their virtual hosts.
    pub route_name: Option<String>,
}

/// What all Gateways that select a router come to.
#[derive(Debug, Default)]
pub struct MergedGateway<'m> {
    pub servers: Vec<GatewayServer<'m>>,
    pub ports: Vec<PortServers>,
    pub by_route: HashMap<String, Vec<usize>>,
    /// Two Services of its pods lead one port to different ones of the pod. Istio takes the first of them, in an order that
    /// files do not tell.
    pub ambiguous: bool,
}

/// The ports of the router's Services, and where on the pod they lead.
struct Targets(Vec<(u32, u32)>);

impl Targets {
    /// Those of the Kubernetes Services that select the router.
    fn of(registry: &Registry<'_>, client: &Client) -> Self {
        let services = registry.definitions().iter().filter(|definition| {
            definition.origin == Origin::Kubernetes
                && same(definition.namespace(), client.namespace()) != Same::No
                && definition.selector.as_ref().is_some_and(|selector| {
                    !selector.is_empty() && client.has_labels(selector.iter().copied())
                })
                && definition.resource.meta.labels.get(KEEPS_PORTS).is_none()
        });
        let ports = services.flat_map(|definition| &definition.ports);
        Self(
            ports
                .map(|port| {
                    let target = port.target().and_then(|target| target.number());
                    (
                        port.number,
                        target.map_or(port.number, |(number, _)| number),
                    )
                })
                .collect(),
        )
    }

    /// The port on the pod that a server's port means: the target of the Service's port of that number, or itself.
    fn resolve(&self, number: u32) -> u32 {
        let found = self.0.iter().find(|(port, _)| *port == number);
        found.map_or(number, |(_, target)| *target)
    }

    fn are_ambiguous(&self) -> bool {
        let mut ports = self.0.iter();
        ports.any(|&(port, target)| self.resolve(port) != target)
    }
}

impl<'m> MergedGateway<'m> {
    pub fn new(gateways: &Gateways<'m>, registry: &Registry<'_>, client: &Client) -> Self {
        let targets = Targets::of(registry, client);
        let mut merge = Merge::default();
        merge.merged.ambiguous = targets.are_ambiguous();
        for (resource, gateway) in gateways.of(client) {
            for written in gateway.servers.items() {
                if let Some(server) = GatewayServer::read(resource, written) {
                    let resolved = targets.resolve(server.number);
                    merge.add(server, resolved);
                }
            }
        }
        merge.merged
    }
}

/// Servers taken up so far.
#[derive(Default)]
struct Merge<'m> {
    merged: MergedGateway<'m>,
    ports: HashSet<u32>,
    plaintext: HashMap<u32, ServerPort>,
    tls_binds: HashMap<u32, HashSet<String>>,
    tls_hosts: HashMap<u32, HashMap<String, String>>,
    /// Where a port's servers stand in `merged.ports`.
    places: BTreeMap<ServerPort, usize>,
}

impl<'m> Merge<'m> {
    /// Takes a server up, unless it cannot share the port with those that are there.
    fn add(&mut self, mut server: GatewayServer<'m>, resolved: u32) {
        server.route_name = server.route_name(resolved);
        if server.has_tls() {
            let known = self.tls_hosts.entry(resolved).or_default();
            let hosts = server.hosts.iter().map(host_key).collect();
            if !claim(known, hosts, server.bind()) {
                return;
            }
        }
        let port = ServerPort {
            number: resolved,
            protocol: server.port_protocol().to_owned(),
            bind: server.bind().to_owned(),
        };
        if self.ports.insert(resolved) {
            if !server.is_tls() {
                self.plaintext.insert(resolved, port.clone());
            }
            self.start(port, server);
            return;
        }
        match self.plaintext.get(&resolved).cloned() {
            Some(current) => self.beside_plaintext(current, port, server),
            None => self.beside_tls(port, server),
        }
    }

    /// HTTP beside HTTP shares the listener; another address is another listener; everything else is left out.
    fn beside_plaintext(
        &mut self,
        current: ServerPort,
        port: ServerPort,
        server: GatewayServer<'m>,
    ) {
        let same_bind = current.bind == port.bind;
        let protocol = Protocol::parse(&current.protocol);
        let mixes =
            (server.protocol.is_http() || server.protocol == protocol) && protocol.is_http();
        if same_bind && (!mixes || server.route_name.is_none()) {
            return;
        }
        if same_bind {
            self.join(&current, server);
        } else if self.places.contains_key(&port) {
            let route_name = server.route_name.clone();
            if let Some(at) = self.places.get(&port)
                && let Some(servers) = self.merged.ports.get_mut(*at)
            {
                servers.route_name = route_name;
            }
            self.join(&port, server);
        } else {
            if !server.is_tls() {
                self.plaintext.insert(port.number, port.clone());
            }
            self.start(port, server);
        }
    }

    /// TLS beside TLS is told apart by server name.
    fn beside_tls(&mut self, port: ServerPort, server: GatewayServer<'m>) {
        if !server.is_tls() {
            self.plaintext.insert(port.number, port.clone());
            self.start(port, server);
            return;
        }
        if server.is_http() {
            let taken = |name: &String| self.merged.by_route.contains_key(name);
            if server.route_name.as_ref().is_none_or(taken) {
                return;
            }
        }
        let binds = self.tls_binds.entry(port.number).or_default();
        binds.insert(port.bind.clone());
        if self.places.contains_key(&port) {
            self.join(&port, server);
        } else {
            self.start(port, server);
        }
    }

    /// The first server of a port.
    fn start(&mut self, port: ServerPort, server: GatewayServer<'m>) {
        let at = self.merged.servers.len();
        if server.is_http()
            && let Some(name) = &server.route_name
        {
            self.merged.by_route.insert(name.clone(), vec![at]);
        }
        let servers = PortServers {
            port: port.clone(),
            servers: vec![at],
            route_name: server.route_name.clone(),
        };
        match self
            .places
            .get(&port)
            .and_then(|&place| self.merged.ports.get_mut(place))
        {
            Some(existing) => *existing = servers,
            None => {
                self.places.insert(port, self.merged.ports.len());
                self.merged.ports.push(servers);
            }
        }
        self.merged.servers.push(server);
    }

    /// A further server of a port.
    fn join(&mut self, port: &ServerPort, server: GatewayServer<'m>) {
        let at = self.merged.servers.len();
        if server.is_http()
            && let Some(name) = &server.route_name
        {
            self.merged
                .by_route
                .entry(name.clone())
                .or_default()
                .push(at);
        }
        if let Some(servers) = self
            .places
            .get(port)
            .and_then(|&at| self.merged.ports.get_mut(at))
        {
            servers.servers.push(at);
        }
        self.merged.servers.push(server);
    }
}

fn host_key(host: &ServerHost<'_>) -> String {
    match host.only {
        Some(namespace) => format!("{}/{}", namespace.unwrap_or_default(), host.name),
        None => host.name.to_owned(),
    }
}

/// Takes the hosts for an address, unless one of them is taken.
pub(super) fn claim(known: &mut HashMap<String, String>, hosts: Vec<String>, bind: &str) -> bool {
    if hosts
        .iter()
        .any(|host| known.get(host).is_some_and(|taken| taken == bind))
    {
        return false;
    }
    known.extend(hosts.into_iter().map(|host| (host, bind.to_owned())));
    true
}
