//! The Gateways of a world, and the servers of those that select one router, merged as Istio merges them.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};
use smallvec::SmallVec;

use super::client::Client;
use super::namespace::{Same, same};
use super::protocol::Protocol;
use super::registry::Registry;
use super::service::Origin;
use super::virtual_service::Binding;
use crate::istio::decode::Items;
use crate::istio::proxy::{Gateway, Server, ServerTlsMode};
use crate::istio::resource::{Resource, Spec};
use crate::source::{Span, Spanned};

/// A Service with this label keeps the numbers that Gateways write.
const KEEPS_PORTS: &str = "experimental.istio.io/disable-gateway-port-translation";

/// All Gateways of a world, the oldest first: the order of the files stands for their age.
#[derive(Debug, Default)]
pub struct Gateways<'a> {
    all: Vec<(&'a Resource, &'a Gateway)>,
    by_name: HashMap<&'a str, Vec<usize>>,
    /// By the first label of the selector.
    by_label: HashMap<(&'a str, &'a str), Vec<usize>>,
    /// Those without a selector are for every router.
    unselective: Vec<usize>,
}

impl<'a> Gateways<'a> {
    pub fn new(resources: &[&'a Resource]) -> Self {
        let all: Vec<_> = resources
            .iter()
            .filter(|resource| !resource.refused)
            .filter_map(|resource| match &resource.spec {
                Spec::Gateway(gateway) => Some((*resource, &**gateway)),
                _ => None,
            })
            .collect();
        let mut by_name: HashMap<_, Vec<_>> = HashMap::default();
        for (at, (resource, _)) in all.iter().enumerate() {
            by_name.entry(resource.name()).or_default().push(at);
        }
        let mut by_label: HashMap<_, Vec<_>> = HashMap::default();
        let mut unselective = Vec::new();
        for (at, (_, gateway)) in all.iter().enumerate() {
            match selector(gateway).next() {
                Some(label) => by_label.entry(label).or_default().push(at),
                None => unselective.push(at),
            }
        }
        Self {
            all,
            by_name,
            by_label,
            unselective,
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'a Resource, &'a Gateway)> + '_ {
        self.all.iter().copied()
    }

    /// Those that a VirtualService means by a name.
    pub fn named(&self, namespace: Option<&str>, name: &str) -> Vec<(&'a Resource, &'a Gateway)> {
        let found = self.by_name.get(name).into_iter().flatten();
        let found = found.filter_map(|&at| self.all.get(at)).copied();
        found
            .filter(|(resource, _)| same(resource.namespace(), namespace) != Same::No)
            .collect()
    }

    /// Those that select a router, in order.
    pub fn of(&self, client: &Client) -> Vec<(&'a Resource, &'a Gateway)> {
        let labels = client.labels.iter();
        let labelled = labels.filter_map(|(k, v)| self.by_label.get(&(k.as_str(), v.as_str())));
        let mut found: Vec<usize> = labelled
            .flatten()
            .chain(&self.unselective)
            .copied()
            .collect();
        found.sort_unstable();
        found
            .into_iter()
            .filter_map(|at| self.all.get(at))
            .filter(|(_, gateway)| client.has_labels(selector(gateway)))
            .copied()
            .collect()
    }
}

/// The labels that a Gateway wants of a router.
pub fn selector(gateway: &Gateway) -> impl Iterator<Item = (&str, &str)> {
    let labels = gateway
        .selector
        .iter()
        .flat_map(|labels| labels.value.iter());
    labels.map(|(key, value)| (key.value.as_str(), value.value.as_str()))
}

/// A host of a server: for VirtualServices of all namespaces or of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServerHost<'m> {
    pub only: Option<Option<&'m str>>,
    pub name: &'m str,
}

impl ServerHost<'_> {
    pub fn is_for(&self, namespace: Option<&str>) -> bool {
        self.only
            .is_none_or(|only| same(only, namespace) != Same::No)
    }
}

/// A server of a Gateway, on a port of a router.
#[derive(Clone, Debug)]
pub struct GatewayServer<'m> {
    pub gateway: &'m Resource,
    pub written: &'m Spanned<Server>,
    pub hosts: Vec<ServerHost<'m>>,
    /// As the Gateway writes it: what rules mean by a port.
    pub number: u32,
    pub protocol: Protocol,
    /// The virtual hosts it shares with others; none where it does not decode HTTP.
    pub route_name: Option<String>,
}

impl<'m> GatewayServer<'m> {
    pub fn binding(&self) -> Binding<'m> {
        Binding::Gateway {
            namespace: self.gateway.namespace(),
            name: self.gateway.name(),
        }
    }

    pub fn bind(&self) -> &'m str {
        text(&self.written.value.bind)
    }

    fn port_protocol(&self) -> &'m str {
        self.written
            .value
            .port
            .as_ref()
            .map_or("", |port| text(&port.value.protocol))
    }

    pub fn has_tls(&self) -> bool {
        self.written.value.tls.is_some()
    }

    pub fn tls_mode(&self) -> Option<ServerTlsMode> {
        let tls = self.written.value.tls.as_ref()?;
        Some(
            tls.value
                .mode
                .as_ref()
                .map(|mode| mode.value)
                .unwrap_or_default(),
        )
    }

    /// The lines that decide what it does with a connection: its protocol and its TLS mode.
    pub fn lines(&self) -> SmallVec<[Span; 2]> {
        let port = self.written.value.port.as_ref();
        let protocol = port.map(|port| port.value.protocol.as_ref().map_or(port.key, |p| p.span));
        let tls = self.written.value.tls.as_ref();
        let mode = tls.map(|tls| tls.value.mode.as_ref().map_or(tls.key, |mode| mode.span));
        protocol.into_iter().chain(mode).collect()
    }

    /// TLS goes through undecrypted.
    pub fn passes_through(&self) -> bool {
        matches!(
            self.tls_mode(),
            Some(ServerTlsMode::Passthrough | ServerTlsMode::AutoPassthrough)
        )
    }

    /// TLS is decrypted, and what comes out is HTTP.
    pub fn ends_https(&self) -> bool {
        self.has_tls() && self.protocol == Protocol::Https && !self.passes_through()
    }

    /// Requests without TLS are sent back with a redirect.
    pub fn redirects_to_https(&self) -> bool {
        let tls = self.written.value.tls.as_ref();
        tls.and_then(|tls| tls.value.https_redirect.as_ref())
            .is_some_and(|redirect| redirect.value)
    }

    fn is_http(&self) -> bool {
        self.protocol.is_http() || self.protocol == Protocol::Https && !self.passes_through()
    }

    fn is_tls(&self) -> bool {
        self.has_tls() && !self.protocol.is_http()
    }

    /// The names by which TLS connections to it are told from others.
    pub fn server_names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.hosts.iter().map(|host| host.name.to_owned()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn read(gateway: &'m Resource, written: &'m Spanned<Server>) -> Option<Self> {
        let port = written.value.port.as_ref()?;
        let number = port.value.number.as_ref().map_or(0, |number| number.value);
        let own = gateway.namespace();
        let mut hosts: Vec<_> = written
            .value
            .hosts
            .items()
            .iter()
            .map(|host| {
                let (namespace, name) = match host.value.split_once('/') {
                    Some((namespace, name)) => (Some(namespace), name),
                    None => (None, host.value.as_str()),
                };
                let only = match namespace {
                    None | Some("*") => None,
                    Some(".") => Some(own),
                    named => Some(named),
                };
                ServerHost { only, name }
            })
            .collect();
        if written
            .value
            .hosts
            .items()
            .iter()
            .any(|host| host.value == "*/*")
        {
            hosts = vec![ServerHost {
                only: None,
                name: "*",
            }];
        }
        Some(Self {
            gateway,
            written,
            hosts,
            number: u32::try_from(number).unwrap_or(0),
            protocol: Protocol::parse(text(&port.value.protocol)),
            route_name: None,
        })
    }

    fn route_name(&self, resolved: u32) -> Option<String> {
        let bind = match self.bind() {
            "" => String::new(),
            bind => format!(".{bind}"),
        };
        if self.protocol.is_http() {
            return Some(format!("http.{resolved}{bind}"));
        }
        let https = self.protocol == Protocol::Https && !self.passes_through();
        https.then(|| {
            let port = self.written.value.port.as_ref();
            let name = port.map_or("", |port| text(&port.value.name));
            let namespace = self.gateway.namespace().unwrap_or_default();
            let gateway = self.gateway.name();
            format!("https.{}.{name}.{gateway}.{namespace}{bind}", self.number)
        })
    }
}

fn text(text: &Option<Spanned<String>>) -> &str {
    text.as_ref().map_or("", |text| &text.value)
}

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
                && !definition.labels.iter().any(|(key, _)| *key == KEEPS_PORTS)
        });
        let ports = services.flat_map(|definition| &definition.ports);
        Self(
            ports
                .map(|port| {
                    let target = port.target.as_ref().and_then(|target| target.number());
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
}

impl<'m> MergedGateway<'m> {
    pub fn new(gateways: &Gateways<'m>, registry: &Registry<'_>, client: &Client) -> Self {
        let targets = Targets::of(registry, client);
        let mut merge = Merge::default();
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
