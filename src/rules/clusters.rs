//! The clusters of external hosts, as the proxies that may use them have them.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::hash::Hash;
use std::sync::Arc;

use foldhash::HashMap;
use rayon::prelude::*;
use smallvec::SmallVec;

use super::context::Context;
use super::traffic::Traffic;
use crate::egress::client::{Client, ProxyKind};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::{ClusterFacts, ClusterType, LOST_TO_PORT};
use crate::egress::scope::Scope;
use crate::egress::service::{Origin, Port, Resolution, Service};
use crate::egress::virtual_service::Binding;
use crate::istio::decode::Items;
use crate::source::Span;

/// A cluster of an external host, in one of the proxies that have it.
#[derive(Debug)]
pub struct Cluster<'c> {
    pub service: Service<'c>,
    pub port: &'c Port<'c>,
    /// Empty for the cluster of the whole port.
    pub subset: String,
    pub facts: Arc<ClusterFacts>,
    /// Whether HTTP requests reach it: by the protocol of its port, or by an `http` route from another one.
    pub http: bool,
}

impl<'c> Cluster<'c> {
    /// The cluster, if some rule has anything to ask about it.
    fn of_interest(
        cx: &Context<'c>,
        service: &Service<'c>,
        port: &'c Port<'c>,
        subset: &str,
        facts: &Arc<ClusterFacts>,
    ) -> Option<Self> {
        let name = ClusterName {
            port: port.number,
            subset,
            host: service.name(),
        };
        is_of_interest(facts).then(|| Self {
            service: *service,
            port,
            subset: subset.to_owned(),
            http: port.protocol.is_http_or_sniffed() || cx.routes_http_to(&name),
            facts: Arc::clone(facts),
        })
    }

    /// Whether the DestinationRule that applies is for this host alone.
    pub(super) fn has_rule_of_its_own(&self, cx: &Context<'_>) -> bool {
        is_for_one_host(cx, &self.facts)
    }

    /// For messages.
    pub fn destination(&self) -> String {
        let destination = super::host_and_port(self.service.name(), self.port.number);
        match self.subset.as_str() {
            "" => format!("`{destination}`"),
            subset => format!("subset `{subset}` of `{destination}`"),
        }
    }
}

/// Whether the DestinationRule that applies to a cluster is for its host alone.
pub(super) fn is_for_one_host(cx: &Context<'_>, cluster: &ClusterFacts) -> bool {
    let rule = cluster.destination_rule.as_ref();
    let host = rule.and_then(|rule| rule.spans().first());
    host.is_none_or(|host| !cx.sources.text(*host).contains('*'))
}

/// Different proxies that are looked at for one host. There are few in real trees.
const CLIENTS: usize = 16;
/// Ports of a host, and beside them clusters of its subsets, that are looked at in one proxy.
const CLUSTERS: usize = 256;
/// Clusters that are looked at for all hosts of one object together.
const OF_OBJECT: usize = 20_000;

/// So many of them are looked at by one pair of hands.
const SHARE: usize = 256;

/// Finds each cluster of each host of a ServiceEntry that some path leads to, and then those that none does, for each
/// proxy that may have it differently: those of the namespaces in which something about the host is said, and of the
/// gateways that its routes name. Left out are clusters about which no rule has anything to ask.
#[derive(Default)]
pub(super) struct Finder<'a> {
    /// Each cluster once for each proxy. By the rank of the service and the port.
    seen: HashMap<(u32, u32), SmallVec<[SubsetOf; 1]>>,
    subsets: HashMap<String, u32>,
    clients: HashMap<Client, u32>,
    /// Those of the part that is looked at.
    found: Vec<Cluster<'a>>,
}

/// The numbers of a subset, and of the client whose cluster it is.
type SubsetOf = (u32, u32);

impl<'a> Finder<'a> {
    /// Takes the clusters at the ends of paths.
    pub(super) fn take(&mut self, cx: &Context<'a>, traffic: &Traffic<'a>) -> Vec<Cluster<'a>> {
        for reached in traffic.reached() {
            let name = reached.hop.cluster_name().and_then(ClusterName::parse);
            if let (Some(name), Some(service)) = (name, reached.service(cx)) {
                let (client, facts) = (reached.hop.client(), reached.cluster);
                self.add(cx, &service, name, client, facts);
            }
        }
        std::mem::take(&mut self.found)
    }

    /// Those to which no path leads.
    pub(super) fn rest(mut self, cx: &Context<'a>) -> Vec<Cluster<'a>> {
        let unseen = self.unseen(cx);
        let mut clients: Vec<(Client, u32)> = self.clients.into_iter().collect();
        clients.sort_unstable_by_key(|(_, number)| *number);
        let found = unseen.par_chunks(SHARE).flat_map_iter(|unseen| {
            let mut scopes: HashMap<u32, Scope<'a>> = HashMap::default();
            let found = unseen.iter().filter_map(|it| {
                let (client, _) = clients.get(it.client as usize)?;
                let scope = scopes.entry(it.client);
                it.find(cx, scope.or_insert_with(|| cx.model.scope(client)))
            });
            found.collect::<Vec<_>>()
        });
        found.collect()
    }

    fn unseen<'c>(&mut self, cx: &'c Context<'a>) -> Vec<Unseen<'c, 'a>> {
        let mut out = Vec::new();
        let mut of_object: HashMap<Span, usize> = HashMap::default();
        for service in cx.model.registry.services() {
            if !may_be_of_interest(cx, &service) {
                continue;
            }
            let subsets = subsets(cx, &service);
            if self.has_all(cx, &service, &subsets) {
                continue;
            }
            for client in clients(cx, &service) {
                let ports = service.definition.ports.iter().take(CLUSTERS);
                let of_subsets = ports.clone().flat_map(|port| {
                    let subsets = subsets.iter();
                    subsets.map(move |subset| (port, *subset))
                });
                let all = ports
                    .map(|port| (port, ""))
                    .chain(of_subsets.take(CLUSTERS));
                for (port, subset) in all {
                    let Some(client) = self.see(&service, port.number, subset, &client) else {
                        continue;
                    };
                    let looked_at = of_object
                        .entry(service.definition.resource.span)
                        .or_default();
                    *looked_at += 1;
                    if *looked_at > OF_OBJECT {
                        break;
                    }
                    out.push(Unseen {
                        service,
                        port,
                        subset,
                        client,
                    });
                }
            }
        }
        out
    }

    /// The number of the client, unless its cluster has been looked at before.
    fn see(
        &mut self,
        service: &Service<'_>,
        port: u32,
        subset: &str,
        client: &Client,
    ) -> Option<u32> {
        let subset = number(&mut self.subsets, subset);
        let client = number(&mut self.clients, client);
        let seen = self.seen.entry((service.host.rank, port)).or_default();
        let is_new = !seen.contains(&(subset, client));
        is_new.then(|| {
            seen.push((subset, client));
            client
        })
    }

    /// Whether there is nothing to look for: some path leads to each port, and nothing tells proxies apart.
    fn has_all(&self, cx: &Context<'_>, service: &Service<'_>, subsets: &BTreeSet<&str>) -> bool {
        let mut ports = service.definition.ports.iter().take(CLUSTERS);
        let mut routes = cx.routes_for(service.name()).take(CLIENTS);
        subsets.is_empty()
            && ports.all(|port| self.seen.contains_key(&(service.host.rank, port.number)))
            && !routes.any(|routes| routes.bindings.iter().any(|it| *it != Binding::Mesh))
    }

    fn add(
        &mut self,
        cx: &Context<'a>,
        service: &Service<'a>,
        name: ClusterName<'_>,
        client: &Client,
        facts: &Arc<ClusterFacts>,
    ) {
        let definition = service.definition;
        let Some(port) = definition.port(name.port) else {
            return;
        };
        let is_new = self.see(service, name.port, name.subset, client).is_some();
        if is_new {
            let found = Cluster::of_interest(cx, service, port, name.subset, facts);
            self.found.extend(found);
        }
    }
}

/// A cluster that has not been looked at.
struct Unseen<'c, 'a> {
    service: Service<'a>,
    port: &'a Port<'a>,
    subset: &'c str,
    /// Its number.
    client: u32,
}

impl<'a> Unseen<'_, 'a> {
    /// The cluster as the client's proxy has it.
    fn find(&self, cx: &Context<'a>, scope: &Scope<'a>) -> Option<Cluster<'a>> {
        let name = ClusterName {
            port: self.port.number,
            subset: self.subset,
            host: self.service.name(),
        };
        let facts = cx.model.cluster_in(scope, &name.to_string())?;
        Cluster::of_interest(cx, &self.service, self.port, self.subset, &Arc::new(facts))
    }
}

/// The number that stands for a value.
fn number<K>(known: &mut HashMap<K::Owned, u32>, value: &K) -> u32
where
    K: ToOwned<Owned: Borrow<K> + Hash + Eq> + Hash + Eq + ?Sized,
{
    let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
    match known.get(value) {
        Some(number) => *number,
        None => *known.entry(value.to_owned()).or_insert(next),
    }
}

/// Whether a policy holds for some cluster of the service, or logical DNS is asked for.
fn may_be_of_interest(cx: &Context<'_>, service: &Service<'_>) -> bool {
    let definition = service.definition;
    definition.origin == Origin::ServiceEntry
        && (definition.resolution == Resolution::DnsRoundRobin
            || !definition.resource.meta.annotations.is_empty()
            || cx.world.mesh.default_traffic_policy.is_some()
            || cx.rules_for(service.name()).next().is_some())
}

fn is_of_interest(facts: &ClusterFacts) -> bool {
    facts.outlier.is_some()
        || facts
            .overridden
            .iter()
            .any(|lost| lost.reason == LOST_TO_PORT)
        || facts.cluster_type.value == ClusterType::LogicalDns
}

/// The proxies that may have a cluster of the service differently.
fn clients(cx: &Context<'_>, service: &Service<'_>) -> BTreeSet<Client> {
    let mut clients = BTreeSet::from([service.definition.client()]);
    for (rule, _) in cx.model.rules.covering(service.name()).take(CLIENTS) {
        clients.insert(Client::sidecar(rule.namespace()));
        clients.insert(rule.client());
    }
    for routes in cx.routes_for(service.name()).take(CLIENTS) {
        for binding in &routes.bindings {
            clients.insert(match binding {
                Binding::Mesh => routes.client(),
                Binding::Gateway { namespace, .. } => Client {
                    proxy: ProxyKind::Gateway,
                    ..Client::sidecar(*namespace)
                },
            });
        }
    }
    clients
}

/// The names of the subsets that rules for the service define.
fn subsets<'c>(cx: &'c Context<'_>, service: &Service<'_>) -> BTreeSet<&'c str> {
    cx.rules_for(service.name())
        .take(CLIENTS)
        .flat_map(|(_, rule)| rule.subsets.items())
        .filter_map(|subset| Some(subset.name.as_ref()?.value.as_str()))
        .take(CLUSTERS)
        .collect()
}
