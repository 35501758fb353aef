//! The listeners of a sidecar on one port, and the filter chains that services and VirtualServices give them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;
use smallvec::SmallVec;

use super::client::ProxyKind;
use super::effective::EffectiveService;
use super::filter_chain::{ChainMatch, Chains, FilterChain, Handling, Listener};
use super::host::{self, other_names};
use super::l4_route::L4Route;
use super::protocol::{ListenerKind, Protocol};
use super::proxy::Proxy;
use super::service::{Address, Origin, Port, Resolution};
use super::sidecar::EgressListener;
use super::virtual_host::RouteTable;
use super::virtual_service::{Binding, Section, VirtualService};
use crate::istio::Items;
use crate::istio::decode::{List, Map};
use crate::source::{Span, Spanned};

pub(super) const WILDCARD: &str = "0.0.0.0";

/// Ports on which a sidecar listens for itself: the redirected traffic, its health and its statistics.
const RESERVED: [u32; 4] = [15001, 15006, 15021, 15090];

/// The listeners of a sidecar on one port, by the address they stand on.
#[derive(Debug, Default)]
pub struct PortListeners<'m> {
    by_bind: BTreeMap<String, Listener<'m>>,
}

impl<'m> PortListeners<'m> {
    /// The listener for a connection to an address: its own, else the one for all addresses.
    pub fn of(&self, address: IpAddr) -> Option<&Listener<'m>> {
        self.by_bind
            .get(&address.to_string())
            .or_else(|| self.by_bind.get(WILDCARD))
    }

    pub fn all(&self) -> impl Iterator<Item = (&str, &Listener<'m>)> {
        self.by_bind
            .iter()
            .map(|(bind, listener)| (bind.as_str(), listener))
    }
}

/// A listener while services are added to it.
struct Entry<'m> {
    /// What its chains speak; `Unsupported` once there are chains for HTTP and for the rest.
    protocol: Protocol,
    chains: Chains<'m>,
    /// An egress listener for this port has made it, and the one for the other ports leaves it alone.
    locked: bool,
}

/// What a service adds to the listeners of a port.
struct Addition<'s, 'm> {
    listener: &'s EgressListener<'m>,
    service: &'s EffectiveService<'m>,
    /// The port as the listener has it: that of the service, or that of the egress listener.
    number: u32,
    protocol: Protocol,
    port: Option<&'m Port<'m>>,
    bind: Option<String>,
    address: Option<&'m Address<'m>>,
}

impl Addition<'_, '_> {
    /// What decides over the chains: the protocol of the egress listener's port, or of the service's.
    fn protocol_line(&self) -> SmallVec<[Span; 2]> {
        let own = self.listener.port.map(|port| port.line);
        let declared = self
            .port
            .map(|port| port.protocol_line.unwrap_or(port.number_line));
        own.or(declared).into_iter().collect()
    }
}

pub(super) fn listeners<'m>(proxy: &Proxy<'m>, port: u32) -> PortListeners<'m> {
    let mut build = Build {
        proxy,
        entries: BTreeMap::new(),
    };
    if proxy.scope.client.proxy == ProxyKind::Sidecar {
        for listener in &proxy.scope.listeners {
            match listener.port {
                Some(own) if own.number == port => build.add_own_port(listener, port, own.protocol),
                Some(_) => {}
                None => build.add_the_rest(listener, port),
            }
        }
    }
    let listeners = build.entries.into_iter();
    PortListeners {
        by_bind: listeners
            .map(|(bind, entry)| (bind, entry.chains.into_sidecar_listener()))
            .collect(),
    }
}

struct Build<'s, 'm> {
    proxy: &'s Proxy<'m>,
    entries: BTreeMap<String, Entry<'m>>,
}

impl<'m> Build<'_, 'm> {
    /// The services of an egress listener with a port all get that port and its protocol.
    fn add_own_port(&mut self, listener: &EgressListener<'m>, port: u32, protocol: Protocol) {
        if is_reserved(listener.bind(), port, protocol) {
            return;
        }
        for service in self.proxy.imported_on(listener, port).iter() {
            for address in addresses(service) {
                self.add(&Addition {
                    listener,
                    service,
                    number: port,
                    protocol,
                    port: service.port(port),
                    bind: listener.bind().map(str::to_owned),
                    address,
                });
            }
        }
    }

    /// The egress listener without a port has all services, on their ports that no other egress listener has.
    fn add_the_rest(&mut self, listener: &EgressListener<'m>, number: u32) {
        for entry in self.entries.values_mut() {
            entry.locked = true;
        }
        for service in self.proxy.imported_on(listener, number).iter() {
            for port in service.ports().filter(|port| port.number == number) {
                if is_reserved(listener.bind(), number, port.protocol) {
                    continue;
                }
                for address in addresses(service) {
                    let addition = Addition {
                        listener,
                        service,
                        number,
                        protocol: port.protocol,
                        port: Some(port),
                        bind: listener.bind().map(str::to_owned),
                        address,
                    };
                    match self.instances(&addition) {
                        None => self.add(&addition),
                        Some(instances) => {
                            for bind in instances {
                                self.add(&Addition {
                                    bind: Some(bind),
                                    ..addition
                                });
                            }
                        }
                    }
                }
            }
        }
    }

    /// Of a service whose clients choose the endpoint themselves: the endpoints, each with a listener of its own if
    /// it is an IP. A ServiceEntry without any has one listener for all addresses instead.
    fn instances(&self, addition: &Addition<'_, 'm>) -> Option<Vec<String>> {
        let definition = addition.service.base.definition;
        let headless = addition.bind.is_none()
            && definition.resolution == Resolution::Passthrough
            && addition.address.is_none()
            && (addition.protocol.is_tcp() || addition.protocol.is_unsupported());
        if !headless {
            return None;
        }
        let instances = self
            .proxy
            .endpoint_addresses(addition.service, addition.number);
        let anywhere = definition.origin == Origin::ServiceEntry
            && definition.selector.is_none()
            && instances.is_empty();
        let is_ip = |address: &String| address.parse::<IpAddr>().is_ok();
        (!anywhere).then(|| instances.into_iter().filter(is_ip).collect())
    }

    fn add(&mut self, addition: &Addition<'_, 'm>) {
        if addition.service.base.definition.resolution == Resolution::Alias {
            return;
        }
        let kind = addition.protocol.listener();
        let range = addition.address.filter(|address| address.ip().is_none());
        let bind = match (&addition.bind, kind, addition.address) {
            (_, ListenerKind::None, _) => return,
            (Some(bind), _, _) => bind.clone(),
            (None, ListenerKind::Tcp | ListenerKind::Auto, Some(address)) if range.is_none() => {
                address
                    .ip()
                    .map_or_else(|| WILDCARD.to_owned(), |ip| ip.to_string())
            }
            _ => WILDCARD.to_owned(),
        };
        let cidr = range.filter(|_| addition.bind.is_none());
        let current = self.entries.get_mut(&bind);
        if current.as_ref().is_some_and(|entry| entry.locked) {
            return;
        }
        let existing = current.as_ref().map(|entry| entry.protocol);
        let clash = |existing: Protocol| {
            let particular = |protocol| matches!(protocol, Protocol::Mongo | Protocol::MySql);
            (particular(existing) || particular(addition.protocol)) && existing != addition.protocol
        };
        let wildcard = bind == WILDCARD;
        let (chains, protocol, replaces) = match (kind, existing) {
            (ListenerKind::None, _) => return,
            (_, _) if addition.protocol == Protocol::HttpProxy => (
                vec![self.http(addition, &bind, false)],
                Protocol::HttpProxy,
                true,
            ),
            // The hosts of a port share a listener; their virtual hosts are told apart later.
            (ListenerKind::Http, Some(existing)) if !existing.is_tcp() => return,
            (ListenerKind::Auto, Some(existing)) if existing.is_unsupported() => {
                if !self.proxy.model.mesh.version.merges_sniffed_services() {
                    return;
                }
                (self.tcp(addition, &bind, cidr), existing, false)
            }
            (ListenerKind::Http, _) => {
                let protocol = match wildcard {
                    true => Protocol::Unsupported,
                    false => addition.protocol,
                };
                (vec![self.http(addition, &bind, wildcard)], protocol, false)
            }
            (ListenerKind::Tcp, _) => (self.tcp(addition, &bind, cidr), addition.protocol, false),
            (ListenerKind::Auto, existing) => {
                let mut chains = self.tcp(addition, &bind, cidr);
                chains.push(self.http(addition, &bind, true));
                let over_http = existing.is_some_and(Protocol::is_http);
                (chains, Protocol::Unsupported, over_http)
            }
        };
        if addition.protocol != Protocol::HttpProxy && existing.is_some_and(clash) {
            return;
        }
        match self.entries.get_mut(&bind) {
            Some(entry) if !replaces => {
                let mixes = match kind {
                    ListenerKind::Tcp => entry.protocol.is_http(),
                    _ => true,
                };
                if mixes {
                    entry.protocol = Protocol::Unsupported;
                }
                entry.chains.merge(chains);
            }
            _ => {
                let entry = Entry {
                    protocol,
                    chains: Chains::first(chains),
                    locked: false,
                };
                self.entries.insert(bind, entry);
            }
        }
    }

    fn http(&self, addition: &Addition<'_, 'm>, bind: &str, sniffed: bool) -> FilterChain<'m> {
        let of_one = addition.protocol.listener() == ListenerKind::Auto && bind != WILDCARD;
        FilterChain {
            when: ChainMatch {
                sniffed_http: sniffed,
                ..ChainMatch::default()
            },
            ends_tls: false,
            handling: Handling::Http(RouteTable {
                port: addition.number,
                only: of_one.then(|| addition.service.base.name().to_owned()),
            }),
            lines: addition.protocol_line(),
        }
    }

    fn tcp(
        &self,
        addition: &Addition<'_, 'm>,
        bind: &str,
        cidr: Option<&Address<'m>>,
    ) -> Vec<FilterChain<'m>> {
        let section = match addition.protocol.is_tls() {
            true => Section::Tls,
            false => Section::Tcp,
        };
        let own: Vec<IpNet> = cidr.map(|address| address.net).into_iter().collect();
        let name = addition.service.base.name();
        let virtual_services = self.proxy.model.virtual_services.overlapping(section, name);
        let scope = &self.proxy.scope;
        let found: Vec<_> = scope
            .imported_virtual_services(addition.listener, virtual_services)
            .into_iter()
            .filter_map(|at| self.proxy.model.virtual_services.get(at))
            .collect();
        match section {
            Section::Tls => self.by_tls_rules(addition, bind, own, &found),
            Section::Tcp => self.by_tcp_rules(addition, own, &found),
        }
    }

    /// One chain for each condition that holds for this client, of all VirtualServices. Where there is none, the
    /// service's own.
    fn by_tls_rules(
        &self,
        addition: &Addition<'_, 'm>,
        bind: &str,
        own: Vec<IpNet>,
        virtual_services: &[&'m VirtualService<'m>],
    ) -> Vec<FilterChain<'m>> {
        let mut chains = Vec::new();
        let mut seen = std::collections::HashSet::new();
        // Istio forgets to take this back: a condition without subnets inherits those of the one before it.
        let mut subnets = own.clone();
        for service in virtual_services {
            for rule in service.spec.tls.items() {
                for condition in rule.value.matches.items() {
                    let asked = &condition.value;
                    let admitted = self.admits(&L4Condition {
                        namespace: service.namespace(),
                        gateways: &asked.gateways,
                        labels: &asked.source_labels,
                        port: &asked.port,
                        source_namespace: &asked.source_namespace,
                        listener_port: addition.number,
                    });
                    if !admitted {
                        continue;
                    }
                    let written = asked.destination_subnets.items();
                    if !written.is_empty() && addition.number > 0 {
                        subnets = nets(written);
                    }
                    let names: Vec<_> = texts(asked.sni_hosts.items());
                    if seen.insert((names.clone(), texts(written))) {
                        chains.push(FilterChain {
                            when: ChainMatch {
                                sniffed_http: false,
                                server_names: names,
                                destinations: subnets.clone(),
                            },
                            ends_tls: false,
                            handling: Handling::Tcp(L4Route::Rule {
                                service,
                                route: rule.value.route.items(),
                                line: rule.key,
                                port: addition.number,
                            }),
                            lines: addition.protocol_line(),
                        });
                    }
                }
            }
        }
        if chains.is_empty() {
            chains.push(self.own_chain(addition, own, |own| {
                self.server_names(addition, bind, !own.is_empty())
            }));
        }
        chains
    }

    /// Where the address does not tell services apart, the server name must.
    fn server_names(&self, addition: &Addition<'_, 'm>, bind: &str, in_range: bool) -> Vec<String> {
        let service = &addition.service.base;
        let definition = service.definition;
        let range = addition
            .address
            .is_some_and(|address| address.ip().is_none());
        let anywhere = addition.address.is_none() && bind == WILDCARD;
        let dynamic =
            host::is_wildcard(service.name()) && definition.resolution == Resolution::DynamicDns;
        if !(in_range || range || anywhere || dynamic) {
            return Vec::new();
        }
        let mut names = vec![service.name().to_owned()];
        for alias in self.proxy.model.aliases.of(service.name()) {
            let listener = addition.listener;
            if listener.imports_alias(definition.namespace(), service.name(), alias) {
                names.push(alias.clone());
                names.extend(other_names(alias, self.proxy.scope.client.namespace()));
            }
        }
        names
    }

    /// The chains up to the first condition that asks for no destination, of all VirtualServices in order; without
    /// one, the service's own behind them.
    fn by_tcp_rules(
        &self,
        addition: &Addition<'_, 'm>,
        own: Vec<IpNet>,
        virtual_services: &[&'m VirtualService<'m>],
    ) -> Vec<FilterChain<'m>> {
        let mut chains = Vec::new();
        let mut own_is_taken = false;
        for service in virtual_services {
            for rule in service.spec.tcp.items() {
                let chain = |destinations| FilterChain {
                    when: ChainMatch {
                        destinations,
                        ..ChainMatch::default()
                    },
                    ends_tls: false,
                    handling: Handling::Tcp(L4Route::Rule {
                        service,
                        route: rule.value.route.items(),
                        line: rule.key,
                        port: addition.number,
                    }),
                    lines: addition.protocol_line(),
                };
                let conditions = rule.value.matches.items();
                if conditions.is_empty() {
                    chains.push(chain(own));
                    return chains;
                }
                let mut subnets = Vec::new();
                for condition in conditions {
                    let asked = &condition.value;
                    let admitted = self.admits(&L4Condition {
                        namespace: service.namespace(),
                        gateways: &asked.gateways,
                        labels: &asked.source_labels,
                        port: &asked.port,
                        source_namespace: &asked.source_namespace,
                        listener_port: addition.number,
                    });
                    if !admitted {
                        continue;
                    }
                    let written = asked.destination_subnets.items();
                    if written.is_empty() || addition.number == 0 {
                        chains.push(chain(own));
                        return chains;
                    }
                    subnets.extend(nets(written));
                }
                if !subnets.is_empty() {
                    own_is_taken |= same_nets(&subnets, &own);
                    chains.push(chain(subnets));
                }
            }
        }
        if !own_is_taken {
            chains.push(self.own_chain(addition, own, |_| Vec::new()));
        }
        chains
    }

    fn own_chain(
        &self,
        addition: &Addition<'_, 'm>,
        destinations: Vec<IpNet>,
        names: impl FnOnce(&[IpNet]) -> Vec<String>,
    ) -> FilterChain<'m> {
        let service = addition.service;
        // A service with one port is reached through it, whatever the port of the egress listener.
        let mut ports = service.ports();
        let port = match (ports.next(), ports.next()) {
            (Some(only), None) => Some(only),
            _ => addition.port,
        };
        let host = service.base.host;
        FilterChain {
            when: ChainMatch {
                sniffed_http: false,
                server_names: names(&destinations),
                destinations,
            },
            ends_tls: false,
            handling: Handling::Tcp(L4Route::Service {
                host: &host.name,
                port: port.map_or(addition.number, |port| port.number),
                lines: [host.line, port.map_or(host.line, |port| port.number_line)],
            }),
            lines: addition.protocol_line(),
        }
    }

    fn admits(&self, condition: &L4Condition<'_>) -> bool {
        let client = &self.proxy.scope.client;
        let gateways = condition.gateways.items();
        let mesh = gateways.is_empty()
            || gateways.iter().any(|gateway| {
                Binding::parse(&gateway.value, condition.namespace) == Binding::Mesh
            });
        let labels = condition
            .labels
            .iter()
            .flat_map(|labels| labels.value.iter());
        let port = condition.port.as_ref().map_or(0, |port| port.value);
        let namespace = condition.source_namespace.as_ref();
        mesh && client.has_labels(labels.map(|(key, value)| (&*key.value, &*value.value)))
            && (port == 0 || port == i64::from(condition.listener_port))
            && namespace.is_none_or(|wanted| {
                wanted.value.is_empty()
                    || client
                        .namespace
                        .as_ref()
                        .is_none_or(|own| *own == wanted.value)
            })
    }
}

/// What a `match` of a `tls` or `tcp` rule asks for, as far as the proxy's configuration answers it.
struct L4Condition<'c> {
    namespace: Option<&'c str>,
    gateways: &'c Option<Spanned<List<String>>>,
    labels: &'c Option<Spanned<Map<String>>>,
    port: &'c Option<Spanned<i64>>,
    source_namespace: &'c Option<Spanned<String>>,
    listener_port: u32,
}

fn is_reserved(bind: Option<&str>, port: u32, protocol: Protocol) -> bool {
    let on_all = match bind {
        Some(bind) => bind == WILDCARD,
        None => protocol.is_http(),
    };
    on_all && RESERVED.contains(&port)
}

/// The addresses that a service has listeners for: one by one, or none that tells it from others. Of a Kubernetes
/// Service a proxy takes the first of its IP version.
fn addresses<'m>(service: &EffectiveService<'m>) -> Vec<Option<&'m Address<'m>>> {
    let definition = service.base.definition;
    let all = &definition.addresses;
    let first = |all: &'m [Address<'m>]| {
        let mut of_version = all.iter().filter(|address| address.net.addr().is_ipv4());
        of_version.next().or(all.first())
    };
    match (definition.origin, all.is_empty()) {
        (_, true) => vec![None],
        (Origin::Kubernetes, false) => vec![first(all)],
        (Origin::ServiceEntry, false) => all.iter().map(Some).collect(),
    }
}

fn texts(list: &[Spanned<String>]) -> Vec<String> {
    list.iter().map(|text| text.value.clone()).collect()
}

/// The subnets that are ones.
pub(super) fn nets(list: &[Spanned<String>]) -> Vec<IpNet> {
    list.iter()
        .filter_map(|text| {
            let single = text.value.parse::<IpAddr>().map(IpNet::from);
            single.ok().or_else(|| text.value.parse().ok())
        })
        .collect()
}

fn same_nets(one: &[IpNet], other: &[IpNet]) -> bool {
    let sorted = |nets: &[IpNet]| {
        let mut nets = nets.to_vec();
        nets.sort_unstable();
        nets
    };
    sorted(one) == sorted(other)
}
