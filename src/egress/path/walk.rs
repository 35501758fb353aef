//! Follows calls from proxy to proxy.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashMap;
use rayon::prelude::*;
use smallvec::SmallVec;

use super::Hop;
use crate::egress::call::Call;
use crate::egress::client::{Client, ProxyKind};
use crate::egress::cluster::ClusterName;
use crate::egress::facts::{ClusterFacts, Outcome, Speaks, TlsFacts};
use crate::egress::gateway;
use crate::egress::model::Model;
use crate::egress::proxy::Proxy;
use crate::egress::service::Origin;
use crate::egress::tables::SharedTables;
use crate::istio::proxy::Gateway;
use crate::istio::resource::Resource;
use crate::istio::traffic::ClientTlsMode;

/// More proxies than this one after another are taken for a circle.
const HOPS: usize = 4;

/// More ways of one call are left out: a route table of that size has long said what it says. Where there have been
/// very many, a few of each call must do.
const WAYS: usize = 1000;
const ALL_WAYS: usize = 65_536;
const FEW: usize = 4;

/// So many endpoints are looked at in all clusters together, where not all are kept.
const ENDPOINTS: usize = 500_000;

/// A proxy that was met.
struct Met<'m> {
    /// How many were met before it.
    number: usize,
    proxy: Proxy<'m>,
}

/// A cluster as proxies have it, by the numbers of these.
type Clusters = SmallVec<[(usize, Option<Arc<ClusterFacts>>); 1]>;

/// Follows calls from proxy to proxy; remembers what it has met.
pub(super) struct Walk<'m> {
    pub(super) model: &'m Model<'m>,
    /// What it has in common with others.
    tables: Arc<SharedTables<'m>>,
    /// How many endpoints of a cluster are kept.
    kept: usize,
    /// How many more endpoints are looked at.
    left: usize,
    /// How many more ways are taken before few of each call must do.
    ways: usize,
    met: HashMap<Client, Met<'m>>,
    /// By name.
    clusters: HashMap<String, Clusters>,
}

impl<'m> Walk<'m> {
    pub(super) fn new(model: &'m Model<'m>, tables: Arc<SharedTables<'m>>, kept: usize) -> Self {
        Self {
            model,
            tables,
            kept,
            left: ENDPOINTS,
            ways: ALL_WAYS,
            met: HashMap::default(),
            clusters: HashMap::default(),
        }
    }

    /// Has the client's listeners on these ports made side by side. Where many services have a port they take longer than
    /// all that is asked of them.
    pub(super) fn prepare(&mut self, client: &Client, ports: &BTreeSet<u32>) {
        let (model, tables) = (self.model, self.tables.of(client));
        let proxy = || Proxy::with(model, client, Arc::clone(&tables));
        ports.par_iter().for_each_init(proxy, |proxy, port| {
            proxy.listeners(*port);
        });
        self.ask(client, |_| {});
    }

    /// Each way that the call can go.
    pub(super) fn chains(&mut self, call: Call) -> Vec<Vec<Hop>> {
        let mut chains = Vec::new();
        self.follow(&Arc::new(call), &mut Vec::new(), &mut chains);
        chains
    }

    /// Forgets the services of hosts and the facts of clusters. Most are those of one destination, which nothing asks for
    /// again; they take more room than all else here.
    pub(super) fn forget_hosts(&mut self) {
        self.clusters = HashMap::default();
        let proxies = self.met.values().map(|met| &met.proxy);
        proxies.for_each(|proxy| proxy.scope.forget_services());
    }

    /// Asks the client's proxy.
    fn ask<T>(&mut self, client: &Client, question: impl FnOnce(&Met<'m>) -> T) -> T {
        if let Some(met) = self.met.get(client) {
            return question(met);
        }
        let met = Met {
            number: self.met.len(),
            proxy: Proxy::with(self.model, client, self.tables.of(client)),
        };
        let answer = question(&met);
        self.met.insert(client.clone(), met);
        answer
    }

    /// The facts of a cluster, of whose endpoints not all may be kept.
    fn cluster(&mut self, client: &Client, name: &str) -> Option<Arc<ClusterFacts>> {
        let number = self.ask(client, |met| met.number);
        let mut known = self.clusters.get(name).into_iter().flatten();
        if let Some((_, known)) = known.find(|(of, _)| *of == number) {
            return known.clone();
        }
        let mut facts = self.ask(client, |met| met.proxy.cluster(name));
        if let Some(facts) = facts.as_mut().filter(|it| it.endpoints.len() > self.kept) {
            self.left = self.left.saturating_sub(facts.endpoints.len());
            facts.endpoints.truncate(self.kept);
            facts.endpoints.shrink_to_fit();
        }
        let facts = facts.map(Arc::new);
        let known = self.clusters.entry(name.to_owned()).or_default();
        known.push((number, facts.clone()));
        facts
    }

    fn follow(&mut self, call: &Arc<Call>, before: &mut Vec<Hop>, out: &mut Vec<Vec<Hop>>) {
        if self.left == 0 {
            return;
        }
        let most = if self.ways == 0 { FEW } else { WAYS };
        let results = self.ask(&call.client, |met| met.proxy.every_route(call, most));
        for result in results {
            let result = Arc::new(result);
            for chosen in 0..result.clusters.len().max(1) {
                if out.len() >= most {
                    return;
                }
                let name = result.clusters.get(chosen).map(|it| it.name.value.as_str());
                let cluster = name.and_then(|name| self.cluster(&call.client, name));
                let next = match (name, result.outcome.value) {
                    (Some(name), Outcome::Forwarded) if before.len() + 1 < HOPS => {
                        self.next(call, name, cluster.as_deref())
                    }
                    _ => None,
                };
                before.push(Hop {
                    call: Arc::clone(call),
                    result: Arc::clone(&result),
                    chosen,
                    cluster,
                });
                match next {
                    Some(next) => self.follow(&Arc::new(next), before, out),
                    None => {
                        self.ways = self.ways.saturating_sub(1);
                        out.push(before.clone());
                    }
                }
                before.pop();
            }
        }
    }

    /// The call as the gateway gets it, where the cluster leads to a gateway.
    fn next(&mut self, call: &Call, cluster: &str, facts: Option<&ClusterFacts>) -> Option<Call> {
        let name = ClusterName::parse(cluster)?;
        let (client, port) = self
            .router_of_service(call, &name)
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
            // Without the Service and without a rule nothing tells how the way there is secured: as the gateway expects it.
            None => match self
                .model
                .rules
                .tls_of_unknown(&name)
                .map(|it| &it.value.mode)
            {
                Some(Some(mode)) => mode.value != ClientTlsMode::Disable,
                _ => !self.is_taken(&plain) && self.is_taken(&encrypted),
            },
        };
        Some(if encrypts { encrypted } else { plain })
    }

    fn is_taken(&mut self, call: &Call) -> bool {
        let results = self.ask(&call.client, |met| met.proxy.every_route(call, WAYS));
        results
            .iter()
            .any(|result| result.outcome.value != Outcome::Error)
    }

    /// The router behind a Kubernetes Service that Gateways select, and the port on its pods. These may have more labels
    /// than the Service asks for: they have those that a Gateway of the host wants, unless the Service wants others.
    fn router_of_service(&mut self, call: &Call, name: &ClusterName<'_>) -> Option<(Client, u32)> {
        let model = self.model;
        let service = self.ask(&call.client, |met| met.proxy.scope.service(name.host))?;
        if service.origin != Origin::Kubernetes {
            return None;
        }
        let selector = service.selector.as_deref().filter(|it| !it.is_empty())?;
        let mut client = Client {
            namespace: service.namespace().map(str::to_owned),
            labels: selector
                .iter()
                .map(|&(k, v)| (k.to_owned(), v.to_owned()))
                .collect(),
            proxy: ProxyKind::Gateway,
        };
        let bound = self.bound(call, name).into_iter();
        let wanted: Vec<Vec<_>> = bound
            .map(|(_, it)| gateway::selector(it).collect())
            .collect();
        for labels in &wanted {
            if client.shares_a_label(labels.iter().copied()) {
                client.add_labels(labels);
            }
        }
        let mut wanted = wanted.iter();
        while model.gateways.of(&client).is_empty() {
            client.add_labels(wanted.next()?);
        }
        let target = service.port(name.port)?.target();
        let port = target.and_then(|target| target.number());
        Some((client, port.map_or(name.port, |(number, _)| number)))
    }

    /// Without the Service, as it is with a gateway that a chart installs: the router of a Gateway to which a
    /// VirtualService of the host is bound. Its listeners then stand on the ports of its servers.
    fn router_of_gateway(&self, call: &Call, name: &ClusterName<'_>) -> Option<(Client, u32)> {
        let mut labels = name.host.split('.').skip(1);
        let namespace = labels.next().filter(|_| labels.next() == Some("svc"))?;
        let (_, gateway) = *self.bound(call, name).first()?;
        let client = Client {
            namespace: Some(namespace.to_owned()),
            labels: gateway::selector(gateway)
                .map(|(k, v)| (k.to_owned(), v.to_owned()))
                .collect(),
            proxy: ProxyKind::Gateway,
        };
        Some((client, name.port))
    }

    /// The Gateways to which VirtualServices of the host are bound.
    fn bound(&self, call: &Call, name: &ClusterName<'_>) -> Vec<(&'m Resource, &'m Gateway)> {
        // From a gateway the way leads out, and a host that leads to itself is there.
        if call.client.is_gateway() || call.host.eq_ignore_ascii_case(name.host) {
            return Vec::new();
        }
        let model = self.model;
        let host = call.host.to_lowercase();
        let services = model.virtual_services.covering(&host).flatten();
        let services = services.filter_map(|&at| model.virtual_services.get(at));
        let bindings = services.flat_map(|service| &service.bindings);
        model.gateways.bound_by(bindings)
    }
}
