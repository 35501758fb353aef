//! The ports of external hosts, by the clients that are looked at.

use std::collections::{BTreeMap, BTreeSet};

use super::clients::Clients;
use super::walk::Walk;
use super::{Declared, Path, Question};
use crate::egress::call::Call;
use crate::egress::client::Client;
use crate::egress::facts::Speaks;
use crate::egress::host::is_wildcard;
use crate::egress::model::Model;
use crate::egress::protocol::Protocol;
use crate::egress::service::Origin;

/// So many ports of so many hosts of one ServiceEntry are looked at, and so many destinations of all together: the
/// facts of further ones repeat those of the first.
const OF_ENTRY: usize = 256;
const DESTINATIONS: usize = 200_000;

/// One port of one host of a ServiceEntry, as one client sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Destination {
    definition: u32,
    host: u32,
    port: u32,
    speaks: Speaks,
}

/// What is asked for, by client.
pub(super) fn destinations(
    clients: &Clients<'_>,
    question: &Question,
) -> BTreeMap<Client, Vec<Destination>> {
    let mut by_client: BTreeMap<Client, Vec<Destination>> = BTreeMap::new();
    let mut left = DESTINATIONS;
    for (at, definition) in (0..).zip(clients.model.registry.definitions()) {
        if definition.origin != Origin::ServiceEntry || !definition.mesh_external {
            continue;
        }
        let mut of_entry = OF_ENTRY.min(left);
        for (number, host) in (0..).zip(&definition.hosts) {
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
                for (port, declared) in (0..).zip(&definition.ports) {
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
    by_client
}

impl Destination {
    /// The ways of the client's traffic there.
    pub(super) fn paths(
        self,
        client: &Client,
        question: &Question,
        walk: &mut Walk<'_>,
    ) -> impl Iterator<Item = Path> {
        self.call(client, question, walk.model)
            .into_iter()
            .flat_map(|(call, path)| {
                let chains = walk.chains(call);
                chains.into_iter().map(move |hops| Path {
                    hops,
                    ..path.clone()
                })
            })
    }

    pub(super) fn port_number(self, model: &Model<'_>) -> Option<u32> {
        let definition = model.registry.definitions().get(self.definition as usize)?;
        Some(definition.ports.get(self.port as usize)?.number)
    }

    /// What the client sends there, and the path without its hops.
    fn call(self, client: &Client, question: &Question, model: &Model<'_>) -> Option<(Call, Path)> {
        let definition = self.definition as usize;
        let defined = model.registry.definitions().get(definition)?;
        let host = defined.hosts.get(self.host as usize)?;
        let port = defined.ports.get(self.port as usize)?;
        let call = Call {
            client: client.clone(),
            host: match &question.host {
                Some(asked) => asked.clone(),
                None => concrete(&host.name),
            },
            port: port.number,
            speaks: self.speaks,
            address: defined.addresses.first().map(|it| it.net.addr()),
            path: None,
        };
        let path = Path {
            host: host.name.to_string(),
            port: port.number,
            speaks: self.speaks,
            declared: Some(Declared {
                definition,
                number: self.host as usize,
                host: host.line,
                port: port.line(),
            }),
            hops: Vec::new(),
        };
        Some((call, path))
    }
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

/// A name that a wildcard host stands for.
fn concrete(host: &str) -> String {
    if is_wildcard(host) {
        host.replacen('*', "any", 1)
    } else {
        host.to_owned()
    }
}
