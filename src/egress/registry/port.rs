//! The services of one port, by who may have to do with them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use smol_str::SmolStr;

use super::{OneHost, Registry};
use crate::egress::namespace::{Same, same};
use crate::egress::service::Service;
use crate::egress::visibility::Reach;

/// What has ports of one number.
#[derive(Debug, Default)]
pub(super) struct OnPort {
    pub(super) definitions: Vec<u32>,
    /// Found when it is asked for: together they are as many as hosts times ports.
    hosts: OnceLock<Hosts>,
}

/// The hosts of a port. Most are defined once, and then most clients see them or do not without a closer look.
#[derive(Debug, Default)]
struct Hosts {
    /// The ranks of services that are alone with their host, and that everyone sees.
    of_everyone: Vec<u32>,
    /// The same of those that only their own namespace sees.
    of_namespace: BTreeMap<Option<SmolStr>, Vec<u32>>,
    /// The numbers of all other hosts.
    others: Vec<u32>,
}

impl Registry<'_> {
    /// The services with a port of this number that are alone with their host, and that a client of that namespace sees.
    pub(in crate::egress) fn alone_on<'m>(
        &'m self,
        port: u32,
        client: Option<&str>,
    ) -> impl Iterator<Item = Service<'m>> {
        let hosts = self.hosts_on(port);
        let of_namespaces = hosts.into_iter().flat_map(|hosts| &hosts.of_namespace);
        let seen = of_namespaces.filter(move |(own, _)| same(own.as_deref(), client) != Same::No);
        let seen = seen.flat_map(|(_, ranks)| ranks);
        let of_everyone = hosts.into_iter().flat_map(|hosts| &hosts.of_everyone);
        seen.chain(of_everyone).filter_map(|&rank| self.at(rank))
    }

    /// The other hosts of the services with a port of this number, each once.
    pub(in crate::egress) fn others_on(&self, port: u32) -> impl Iterator<Item = OneHost<'_>> {
        let hosts = self.hosts_on(port).into_iter();
        let numbers = hosts.flat_map(|hosts| &hosts.others);
        numbers.filter_map(|&number| self.numbered(number))
    }

    fn hosts_on(&self, port: u32) -> Option<&Hosts> {
        let on_port = self.by_port.get(&port)?;
        let hosts = on_port
            .hosts
            .get_or_init(|| self.sort(&on_port.definitions));
        Some(hosts)
    }

    fn sort(&self, definitions: &[u32]) -> Hosts {
        let mut out = Hosts::default();
        let definitions = definitions.iter();
        let definitions = definitions.filter_map(|&at| self.definitions.get(at as usize));
        for definition in definitions {
            for host in &definition.hosts {
                let Some(&number) = self.by_host.get(&*host.name) else {
                    continue;
                };
                let services = self.hosts.get(number as usize);
                let alone = services.is_some_and(|services| services.ranks.len() == 1);
                match definition.reach {
                    Reach::Everyone if alone => out.of_everyone.push(host.rank),
                    Reach::OwnNamespace if alone => {
                        let own = out
                            .of_namespace
                            .entry(definition.namespace().map(SmolStr::new));
                        own.or_default().push(host.rank);
                    }
                    _ => out.others.push(number),
                }
            }
        }
        out.others.sort_unstable();
        out.others.dedup();
        out
    }
}
