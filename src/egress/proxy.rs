//! One proxy: what it sees, and its configuration as far as it has been asked for.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashMap;

use super::client::Client;
use super::destination_rule::EffectiveRule;
use super::effective::EffectiveService;
use super::endpoint::{self, Wanted};
use super::facts::{CallResult, ClusterFacts};
use super::gateway::MergedGateway;
use super::gateway::listener::{self as gateway_listener, RouterListeners};
use super::gateway::routes::RouteHosts;
use super::listener::{self, PortListeners};
use super::model::Model;
use super::scope::Scope;
use super::service::Origin;
use super::sidecar::EgressListener;
use super::tables::Tables;
use super::virtual_host::PortServices;

type Remembered<K, V> = RefCell<HashMap<K, Arc<V>>>;

/// The proxy of one client.
#[derive(Debug)]
pub struct Proxy<'m> {
    pub model: &'m Model<'m>,
    pub scope: Scope<'m>,
    /// From which what it remembers comes.
    tables: Arc<Tables<'m>>,
    /// By the place of the egress listener, and the port.
    imported: Remembered<(usize, u32), Vec<EffectiveService<'m>>>,
    listeners: Remembered<u32, PortListeners<'m>>,
    services: Remembered<u32, PortServices<'m>>,
    gateway: OnceCell<MergedGateway<'m>>,
    router_listeners: Remembered<u32, RouterListeners<'m>>,
    route_hosts: Remembered<String, RouteHosts<'m>>,
}

fn remember<K, V>(memory: &Remembered<K, V>, key: K, compute: impl FnOnce() -> Arc<V>) -> Arc<V>
where
    K: std::hash::Hash + Eq,
{
    if let Some(known) = memory.borrow().get(&key) {
        return Arc::clone(known);
    }
    let value = compute();
    memory.borrow_mut().insert(key, Arc::clone(&value));
    value
}

impl<'m> Proxy<'m> {
    pub fn new(model: &'m Model<'m>, client: &Client) -> Self {
        Self::with(model, client, Arc::default())
    }

    /// One of several of a client, which have these tables in common.
    pub(super) fn with(model: &'m Model<'m>, client: &Client, tables: Arc<Tables<'m>>) -> Self {
        Self::of(model, model.scope(client), tables)
    }

    /// As it would be if no Sidecar were there.
    pub fn without_sidecar(model: &'m Model<'m>, client: &Client) -> Self {
        Self::of(model, model.scope_without_sidecar(client), Arc::default())
    }

    fn of(model: &'m Model<'m>, scope: Scope<'m>, tables: Arc<Tables<'m>>) -> Self {
        Self {
            model,
            scope,
            tables,
            imported: RefCell::default(),
            listeners: RefCell::default(),
            services: RefCell::default(),
            gateway: OnceCell::new(),
            router_listeners: RefCell::default(),
            route_hosts: RefCell::default(),
        }
    }

    /// A cluster of the proxy; `None` where it has none of that name.
    pub fn cluster(&self, name: &str) -> Option<ClusterFacts> {
        self.model.cluster_in(&self.scope, name)
    }

    /// The clusters that a result names, those of mirrors among them, each once and sorted by name.
    pub fn clusters_of(&self, result: &CallResult) -> Vec<(String, Option<ClusterFacts>)> {
        let mirrors = result.route.iter().flat_map(|route| &route.mirrors);
        let named = result.clusters.iter().map(|cluster| &cluster.name);
        let names: BTreeSet<&String> = named.chain(mirrors).map(|name| &name.value).collect();
        let names = names.into_iter().filter(|it| it.starts_with("outbound|"));
        names
            .map(|name| (name.clone(), self.cluster(name)))
            .collect()
    }

    /// The DestinationRule that holds for the service under a host.
    pub fn destination_rule(&self, host: &str) -> Option<EffectiveRule<'m>> {
        let service = self.scope.service(host)?;
        self.model.rules.of(&self.scope.client, &service.base)
    }

    /// A sidecar's listeners on a port.
    pub fn listeners(&self, port: u32) -> Arc<PortListeners<'m>> {
        remember(&self.listeners, port, || {
            let tables = &self.tables.listeners;
            tables.get(port, || listener::listeners(self, port))
        })
    }

    /// A router's listeners on a port of its pod.
    pub fn router_listeners(&self, port: u32) -> Arc<RouterListeners<'m>> {
        remember(&self.router_listeners, port, || {
            Arc::new(gateway_listener::listeners(self, port))
        })
    }

    /// What the Gateways that select a router come to.
    pub fn gateway(&self) -> &MergedGateway<'m> {
        self.gateway.get_or_init(|| {
            let model = self.model;
            MergedGateway::new(&model.gateways, &model.registry, &self.scope.client)
        })
    }

    /// The virtual hosts of a router that servers share under a name.
    pub(super) fn route_hosts(&self, name: &str) -> Arc<RouteHosts<'m>> {
        remember(&self.route_hosts, name.to_owned(), || {
            Arc::new(RouteHosts::new(self, name))
        })
    }

    /// The services that the route table of a port knows.
    pub(super) fn services_on(&self, port: u32) -> Arc<PortServices<'m>> {
        let make = || {
            let Some(listener) = self.scope.listener_of(port) else {
                return PortServices::default();
            };
            PortServices::new(
                &self.imported_on(listener, port),
                super::virtual_host::route_port(listener, port),
            )
        };
        remember(&self.services, port, || {
            self.tables.services.get(port, make)
        })
    }

    /// The services that an egress listener has on a port. As a proxy for HTTP it has them all on its own.
    pub(super) fn imported_on(
        &self,
        listener: &EgressListener<'m>,
        port: u32,
    ) -> Arc<Vec<EffectiveService<'m>>> {
        let make = || match (listener.port, listener.required_port()) {
            (Some(_), None) => self.scope.all_services(listener),
            _ => self.scope.services_on(listener, port),
        };
        let key = (listener.place, port);
        remember(&self.imported, key, || self.tables.imported.get(key, make))
    }

    /// The service that a rule at a gateway means by a host: that of the VirtualService's namespace if the router
    /// sees it, else the one that the router has.
    pub(super) fn gateway_service(
        &self,
        host: &str,
        namespace: Option<&str>,
    ) -> Option<EffectiveService<'m>> {
        let registry = &self.model.registry;
        let client = self.scope.client.namespace();
        let own = registry.of_host_in(host, namespace);
        // A Kubernetes Service wins, else the first.
        let mut own: Vec<_> = own.collect();
        own.sort_by_key(|service| service.origin != Origin::Kubernetes);
        let own = own.into_iter().next();
        own.filter(|service| registry.exposure(service, client).is_some())
            .map(EffectiveService::of)
            .or_else(|| self.scope.service(host))
    }

    /// The addresses of a service's endpoints, names among them.
    pub(super) fn endpoint_addresses(
        &self,
        service: &EffectiveService<'m>,
        port: u32,
    ) -> Vec<String> {
        let model = self.model;
        endpoint::instances(
            &model.registry,
            &model.workloads,
            &service.base,
            Wanted::Number(port),
        )
        .into_iter()
        .map(|instance| instance.address.to_owned())
        .collect()
    }
}
