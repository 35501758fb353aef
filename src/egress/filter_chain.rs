//! The filter chains of one listener, and which of them Envoy gives a connection to.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::BuildHasher;
use std::net::IpAddr;

use foldhash::HashMap;
use foldhash::fast::RandomState;
use ipnet::IpNet;
use smallvec::SmallVec;

use super::facts::Speaks;
use super::gateway::routes::GatewayRoutes;
use super::host::HostIndex;
use super::l4_route::L4Route;
use super::virtual_host::RouteTable;
use crate::source::Span;

/// A connection, as far as chains are told apart by it.
#[derive(Clone, Copy, Debug)]
pub struct Connection<'c> {
    pub address: IpAddr,
    pub port: u32,
    pub speaks: Speaks,
    /// The host name: what `Host` or SNI carries.
    pub host: &'c str,
}

/// What SNI may carry; most chains ask for one name.
pub type Names<'m> = SmallVec<[Cow<'m, str>; 1]>;

/// What a chain asks of a connection. Nothing of all this makes it the one for the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainMatch<'m> {
    /// Plaintext that sniffing found to be HTTP.
    pub sniffed_http: bool,
    /// `*` asks for nothing.
    pub server_names: Names<'m>,
    pub destinations: Box<[IpNet]>,
}

impl ChainMatch<'_> {
    fn asks_for_names(&self) -> bool {
        !self.server_names.is_empty() && !self.server_names.iter().any(|name| name == "*")
    }

    fn is_for_the_rest(&self) -> bool {
        !self.sniffed_http && !self.asks_for_names() && self.destinations.is_empty()
    }

    /// Two chains of one listener must differ in this.
    fn key(&self) -> Key<'_> {
        let names = self.server_names.iter().map(|name| &**name);
        let mut names: SmallVec<[&str; 2]> = names.filter(|name| *name != "*").collect();
        names.sort_unstable();
        names.dedup();
        let specified = self.destinations.iter().filter(|net| is_specified(net));
        let mut destinations: SmallVec<[IpNet; 1]> = specified.map(IpNet::trunc).collect();
        destinations.sort_unstable();
        destinations.dedup();
        Key {
            sniffed_http: self.sniffed_http,
            server_names: names,
            destinations,
        }
    }
}

fn is_specified(net: &IpNet) -> bool {
    net.addr() != IpAddr::from([0, 0, 0, 0])
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key<'c> {
    sniffed_http: bool,
    server_names: SmallVec<[&'c str; 2]>,
    destinations: SmallVec<[IpNet; 1]>,
}

/// What a chain does with a connection.
#[derive(Clone, Debug)]
pub enum Handling<'m> {
    /// The HTTP connection manager of a sidecar.
    Http(RouteTable),
    /// That of a gateway.
    GatewayHttp(GatewayRoutes),
    Tcp(L4Route<'m>),
    /// To where it was sent, or nowhere: what becomes of traffic to unknown hosts.
    Unknown,
}

#[derive(Clone, Debug)]
pub struct FilterChain<'m> {
    pub when: ChainMatch<'m>,
    /// The proxy ends TLS here.
    pub ends_tls: bool,
    pub handling: Handling<'m>,
    /// The lines that make it what it is: the protocol of a port, the TLS mode of a server.
    pub lines: SmallVec<[Span; 2]>,
}

/// Chains while a listener is built: of two that ask for the same, the first stays.
#[derive(Debug, Default)]
pub struct Chains<'m> {
    chains: Vec<FilterChain<'m>>,
    /// The places of the chains, by the hash of what they ask for.
    by_key: HashMap<u64, SmallVec<[u32; 1]>>,
    hasher: RandomState,
}

impl<'m> Chains<'m> {
    /// Those of the first service of a listener, which are not compared with each other.
    /// Room is made for those of so many more services.
    pub fn first(chains: Vec<FilterChain<'m>>, room: usize) -> Self {
        let mut out = Self::default();
        out.chains.reserve(room);
        out.by_key.reserve(room);
        for chain in chains {
            let hash = out.hasher.hash_one(chain.when.key());
            out.push(hash, chain);
        }
        out
    }

    /// Adds those that ask for something else than the ones that are there.
    pub fn merge(&mut self, chains: Vec<FilterChain<'m>>) {
        for chain in chains {
            let (hash, known) = self.find(&chain.when);
            if !known {
                self.push(hash, chain);
            }
        }
    }

    /// The hash of what a chain asks for, and whether there is one that asks for the same.
    fn find(&self, when: &ChainMatch<'_>) -> (u64, bool) {
        let key = when.key();
        let hash = self.hasher.hash_one(&key);
        let same = self.by_key.get(&hash).into_iter().flatten();
        let mut same = same.filter_map(|&at| self.chains.get(at as usize));
        (hash, same.any(|chain| chain.when.key() == key))
    }

    fn push(&mut self, hash: u64, chain: FilterChain<'m>) {
        let at = u32::try_from(self.chains.len()).unwrap_or(u32::MAX);
        self.by_key.entry(hash).or_default().push(at);
        self.chains.push(chain);
    }

    /// Adds them as they are.
    pub fn append(&mut self, chains: Vec<FilterChain<'m>>) {
        self.chains.extend(chains);
    }

    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    /// Gives back the room of what told them apart.
    fn into_chains(self) -> Vec<FilterChain<'m>> {
        self.chains
    }

    /// A sidecar's listener. The chain for the rest, else what holds for unknown hosts, takes what no other does.
    pub fn into_sidecar_listener(self) -> Listener<'m> {
        let mut chains = self.into_chains();
        let rest = chains.extract_if(.., |chain| chain.when.is_for_the_rest());
        let mut default = rest.last();
        chains.shrink_to_fit();
        if chains.is_empty() {
            chains.extend(default.take());
        } else if default.is_none() {
            default = Some(FilterChain {
                when: ChainMatch::default(),
                ends_tls: false,
                handling: Handling::Unknown,
                lines: SmallVec::new(),
            });
        }
        Listener::new(chains, default)
    }

    /// A gateway's listener. What no chain takes is refused.
    pub fn into_gateway_listener(self) -> Listener<'m> {
        Listener::new(self.into_chains(), None)
    }
}

/// A listener with its chains indexed.
#[derive(Debug)]
pub struct Listener<'m> {
    chains: Vec<FilterChain<'m>>,
    default: Option<FilterChain<'m>>,
    /// Chains that ask for a destination, by it.
    by_destination: HashMap<IpNet, Group>,
    /// The lengths of those prefixes.
    lengths: BTreeSet<u8>,
    anywhere: Group,
}

/// Chains that ask for the same destination, by what they ask for as server name.
#[derive(Debug, Default)]
struct Group {
    by_name: HostIndex<usize>,
    unnamed: Vec<usize>,
}

/// Why no chain takes a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoChain {
    None,
    /// Envoy refuses a listener with such chains.
    Several,
}

impl<'m> Listener<'m> {
    fn new(chains: Vec<FilterChain<'m>>, default: Option<FilterChain<'m>>) -> Self {
        let mut out = Self {
            chains: Vec::new(),
            default,
            by_destination: HashMap::default(),
            lengths: BTreeSet::new(),
            anywhere: Group::default(),
        };
        let for_names = |chain: &&FilterChain<'_>| {
            chain.when.destinations.is_empty() && chain.when.asks_for_names()
        };
        let names = chains.iter().filter(for_names).count();
        out.anywhere.by_name.reserve(names);
        for (at, chain) in chains.iter().enumerate() {
            let mut nets: Vec<_> = chain
                .when
                .destinations
                .iter()
                .filter(|net| is_specified(net))
                .map(IpNet::trunc)
                .collect();
            nets.sort_unstable();
            nets.dedup();
            if nets.is_empty() {
                out.anywhere.add(at, &chain.when);
            }
            for net in nets {
                out.lengths.insert(net.prefix_len());
                out.by_destination
                    .entry(net)
                    .or_default()
                    .add(at, &chain.when);
            }
        }
        out.chains = chains;
        out
    }

    pub fn chains(&self) -> impl Iterator<Item = &FilterChain<'m>> {
        self.chains.iter().chain(&self.default)
    }

    /// The chain for a connection. Envoy compares the destination first, then the server name, then what was
    /// sniffed; each step keeps only the chains that fit best.
    pub fn chain(&self, connection: &Connection<'_>) -> Result<&FilterChain<'m>, NoChain> {
        let group = self
            .lengths
            .iter()
            .rev()
            .filter_map(|&length| IpNet::new(connection.address, length).ok())
            .find_map(|net| self.by_destination.get(&net.trunc()))
            .unwrap_or(&self.anywhere);
        let name = match connection.speaks {
            Speaks::Tls => connection.host,
            _ => "",
        };
        let named = group
            .by_name
            .covering(name)
            .next()
            .filter(|_| !name.is_empty());
        let mut kept: Vec<&FilterChain<'m>> = named
            .unwrap_or(&group.unnamed)
            .iter()
            .filter_map(|&at| self.chains.get(at))
            .collect();
        let is_http = matches!(connection.speaks, Speaks::Http | Speaks::Http2);
        let sniffed = is_http && kept.iter().any(|chain| chain.when.sniffed_http);
        kept.retain(|chain| chain.when.sniffed_http == sniffed);
        match *kept.as_slice() {
            [chain] => Ok(chain),
            [] => self.default.as_ref().ok_or(NoChain::None),
            _ => Err(NoChain::Several),
        }
    }
}

impl Group {
    fn add(&mut self, at: usize, when: &ChainMatch<'_>) {
        if !when.asks_for_names() {
            self.unnamed.push(at);
            return;
        }
        let mut names: SmallVec<[&str; 2]> = when.server_names.iter().map(|name| &**name).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            self.by_name.insert(name, at);
        }
    }
}
