//! The listeners of a sidecar on one port, and the filter chains that services and VirtualServices give them.

mod bytes;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use smallvec::SmallVec;

use super::client::ProxyKind;
use super::effective::EffectiveService;
use super::filter_chain::{ChainMatch, Chains, FilterChain, Handling, Listener};
use super::protocol::{ListenerKind, Protocol};
use super::proxy::Proxy;
use super::service::{Address, Origin, Port, Resolution};
use super::sidecar::EgressListener;
use super::virtual_host::RouteTable;
use crate::source::Span;

use bytes::ByteChains;

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
    bind: Option<&'s str>,
    address: Option<&'m Address<'m>>,
}

impl Addition<'_, '_> {
    /// What decides over the chains: the protocol of the egress listener's port, or of the service's.
    fn protocol_line(&self) -> SmallVec<[Span; 2]> {
        let own = self.listener.port.map(|port| port.line);
        let declared = self.port.map(|port| port.line());
        own.or(declared).into_iter().collect()
    }
}

/// All but those on addresses that no file gives.
pub(super) fn listeners<'m>(proxy: &Proxy<'m>, port: u32) -> PortListeners<'m> {
    let listeners = build(proxy, port, None).into_iter();
    PortListeners {
        by_bind: listeners
            .map(|(bind, entry)| (bind, entry.chains.into_sidecar_listener()))
            .collect(),
    }
}

/// The listener of a Service on the address that the API server gives it.
pub(super) fn of_service<'m>(proxy: &Proxy<'m>, host: &str, port: u32) -> Option<Listener<'m>> {
    let own = build(proxy, port, Some(host)).remove(host)?;
    Some(own.chains.into_sidecar_listener())
}

fn build<'m>(proxy: &Proxy<'m>, port: u32, unknown: Option<&str>) -> BTreeMap<String, Entry<'m>> {
    let mut build = Build {
        proxy,
        entries: BTreeMap::new(),
        room: 0,
        unknown,
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
    build.entries
}

struct Build<'s, 'm> {
    proxy: &'s Proxy<'m>,
    entries: BTreeMap<String, Entry<'m>>,
    /// So many services of the port come together at the wildcard address.
    room: usize,
    /// The only host that is listened for on an address that no file gives. Nobody asks for the others, of which there
    /// may be many.
    unknown: Option<&'s str>,
}

/// What a service makes of a listener.
struct Made<'m> {
    chains: Vec<FilterChain<'m>>,
    protocol: Protocol,
    /// What is there is forgotten.
    replaces: bool,
}

impl<'m> Build<'_, 'm> {
    /// The services of an egress listener with a port all get that port and its protocol.
    fn add_own_port(&mut self, listener: &EgressListener<'m>, port: u32, protocol: Protocol) {
        if is_reserved(listener.bind(), port, protocol) {
            return;
        }
        let services = self.proxy.imported_on(listener, port);
        self.room = services.len();
        for service in services.iter() {
            for address in addresses(service) {
                self.add(&Addition {
                    listener,
                    service,
                    number: port,
                    protocol,
                    port: service.port(port),
                    bind: listener.bind(),
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
        let services = self.proxy.imported_on(listener, number);
        self.room = services.len();
        for service in services.iter() {
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
                        bind: listener.bind(),
                        address,
                    };
                    match self.instances(&addition) {
                        None => self.add(&addition),
                        Some(instances) => {
                            for bind in &instances {
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
        let Some(bind) = self.bind(addition) else {
            return;
        };
        let current = self.entries.get(&*bind);
        if current.is_some_and(|entry| entry.locked) {
            return;
        }
        let existing = current.map(|entry| entry.protocol);
        let Some(made) = self.make(addition, &bind, existing) else {
            return;
        };
        match self.entries.get_mut(&*bind) {
            Some(entry) if !made.replaces => {
                let mixes = match addition.protocol.listener() {
                    ListenerKind::Tcp => entry.protocol.is_http(),
                    _ => true,
                };
                if mixes {
                    entry.protocol = Protocol::Unsupported;
                }
                entry.chains.merge(made.chains);
            }
            _ => {
                let room = if bind == WILDCARD { self.room } else { 0 };
                let entry = Entry {
                    protocol: made.protocol,
                    chains: Chains::first(made.chains, room),
                    locked: false,
                };
                self.entries.insert(bind.into_owned(), entry);
            }
        }
    }

    /// The address on which it is listened for it; `None` where it is not, or nobody asks.
    fn bind<'s>(&self, addition: &Addition<'s, 'm>) -> Option<Cow<'s, str>> {
        let kind = addition.protocol.listener();
        let base = &addition.service.base;
        let ip = addition.address.and_then(Address::ip);
        Some(match (addition.bind, kind, addition.address) {
            (_, ListenerKind::None, _) => return None,
            (Some(bind), _, _) => bind.into(),
            (None, ListenerKind::Tcp | ListenerKind::Auto, Some(_)) => {
                ip.map_or(WILDCARD.into(), |ip| ip.to_string().into())
            }
            (None, ListenerKind::Tcp | ListenerKind::Auto, None)
                if base.definition.gets_address() =>
            {
                // The name stands for the address.
                let name: &'s str = base.name();
                self.unknown
                    .filter(|host| *host == name)
                    .map(|_| name.into())?
            }
            _ => WILDCARD.into(),
        })
    }

    /// What it makes of a listener, beside what is there already or in place of that; `None` where all stays as it is.
    fn make(
        &self,
        addition: &Addition<'_, 'm>,
        bind: &str,
        existing: Option<Protocol>,
    ) -> Option<Made<'m>> {
        let own = addition.protocol;
        let range = addition.address.filter(|address| address.ip().is_none());
        let cidr = range.filter(|_| addition.bind.is_none());
        if own == Protocol::HttpProxy {
            return Some(Made {
                chains: vec![self.http(addition, bind, false)],
                protocol: own,
                replaces: true,
            });
        }
        let is_particular = |it| matches!(it, Protocol::Mongo | Protocol::MySql);
        let clashes = |it: Protocol| (is_particular(it) || is_particular(own)) && it != own;
        if existing.is_some_and(clashes) {
            return None;
        }
        let made = |chains, protocol| Made {
            chains,
            protocol,
            replaces: false,
        };
        Some(match (own.listener(), existing) {
            (ListenerKind::None, _) => return None,
            // The hosts of a port share a listener; their virtual hosts are told apart later.
            (ListenerKind::Http, Some(existing)) if !existing.is_tcp() => return None,
            (ListenerKind::Auto, Some(existing)) if existing.is_unsupported() => {
                let version = self.proxy.model.mesh.version;
                version
                    .merges_sniffed_services()
                    .then(|| made(self.bytes(addition, bind, cidr), existing))?
            }
            (ListenerKind::Http, _) => {
                let wildcard = bind == WILDCARD;
                let protocol = if wildcard { Protocol::Unsupported } else { own };
                made(vec![self.http(addition, bind, wildcard)], protocol)
            }
            (ListenerKind::Tcp, _) => made(self.bytes(addition, bind, cidr), own),
            (ListenerKind::Auto, existing) => {
                let mut chains = self.bytes(addition, bind, cidr);
                chains.push(self.http(addition, bind, true));
                Made {
                    replaces: existing.is_some_and(Protocol::is_http),
                    ..made(chains, Protocol::Unsupported)
                }
            }
        })
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

    fn bytes(
        &self,
        addition: &Addition<'_, 'm>,
        bind: &str,
        cidr: Option<&Address<'m>>,
    ) -> Vec<FilterChain<'m>> {
        let destinations = cidr.map(|address| address.net).into_iter().collect();
        ByteChains {
            proxy: self.proxy,
            addition,
        }
        .all(bind, destinations)
    }
}

fn is_reserved(bind: Option<&str>, port: u32, protocol: Protocol) -> bool {
    let on_all = match bind {
        Some(bind) => bind == WILDCARD,
        None => protocol.is_http(),
    };
    on_all && RESERVED.contains(&port)
}

/// The addresses that a service has listeners for: one by one, or none that tells it from others, as `0.0.0.0` does
/// not. Of a Kubernetes Service a proxy takes the first of its IP version.
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
        (Origin::ServiceEntry, false) => all
            .iter()
            .map(|address| (!address.is_any()).then_some(address))
            .collect(),
    }
}
