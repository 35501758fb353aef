//! What one proxy sees of the services and VirtualServices of its world.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use smallvec::SmallVec;
use smol_str::SmolStr;

use super::client::{Client, ProxyKind};
use super::effective::{EffectiveService, of_one_namespace};
use super::registry::{OneHost, Registry};
use super::service::{Origin, Service};
use super::sidecar::{EgressListener, OutboundPolicy};
use super::virtual_service::VirtualServices;
use crate::istio::MeshConfig;
use crate::istio::proxy::Sidecar;
use crate::istio::resource::Resource;
use crate::istio::version::IstioVersion;

/// What a proxy sees. Computed on demand, and remembered.
#[derive(Debug)]
pub struct Scope<'m> {
    pub client: Client,
    registry: &'m Registry<'m>,
    virtual_services: &'m VirtualServices<'m>,
    /// The Sidecar that holds for it; none for a gateway.
    pub sidecar: Option<&'m Resource>,
    /// None of a gateway's.
    pub listeners: Vec<EgressListener<'m>>,
    pub outbound: OutboundPolicy<'m>,
    version: IstioVersion,
    services: RefCell<HashMap<SmolStr, Option<EffectiveService<'m>>>>,
    destinations: RefCell<HashMap<usize, DestinationPorts<'m>>>,
}

/// So many destinations are gone through each time.
const FEW: usize = 16;

/// The hosts that a VirtualService routes to, with the ports it names; 0 where it names none.
type DestinationPorts<'m> = HashMap<Cow<'m, str>, BTreeSet<u32>>;

impl<'m> Scope<'m> {
    pub fn new(
        client: Client,
        registry: &'m Registry<'m>,
        virtual_services: &'m VirtualServices<'m>,
        sidecar: Option<(&'m Resource, &'m Sidecar)>,
        mesh: &'m MeshConfig,
        version: IstioVersion,
    ) -> Self {
        let own = client.namespace.as_deref();
        let found = sidecar.filter(|_| client.proxy == ProxyKind::Sidecar);
        let sidecar = found.map(|(_, sidecar)| sidecar);
        let listeners = match client.proxy {
            ProxyKind::Sidecar => EgressListener::all(sidecar, own, version),
            ProxyKind::Gateway => Vec::new(),
        };
        Self {
            registry,
            virtual_services,
            sidecar: found.map(|(resource, _)| resource),
            listeners,
            outbound: OutboundPolicy::of(sidecar, mesh),
            version,
            client,
            services: RefCell::default(),
            destinations: RefCell::default(),
        }
    }

    pub fn virtual_services(&self) -> &'m VirtualServices<'m> {
        self.virtual_services
    }

    fn own(&self) -> Option<&str> {
        self.client.namespace.as_deref()
    }

    /// The one service that the proxy sees under a host: what clusters are made from.
    pub fn service(&self, host: &str) -> Option<EffectiveService<'m>> {
        if let Some(known) = self.services.borrow().get(host) {
            return known.clone();
        }
        let found = match self.client.proxy {
            ProxyKind::Sidecar => self.imported(host),
            ProxyKind::Gateway => self.exported(host),
        };
        self.services
            .borrow_mut()
            .insert(host.into(), found.clone());
        found
    }

    /// They are found again when somebody asks.
    pub(super) fn forget_services(&self) {
        self.services.take();
    }

    /// A gateway takes whatever its namespace sees.
    fn exported(&self, host: &str) -> Option<EffectiveService<'m>> {
        let visible = self
            .registry
            .visible(self.registry.of_host(host), self.own());
        merge(visible.into_iter().map(EffectiveService::of))
    }

    /// A sidecar takes what its egress listeners import, and then what the VirtualServices they import route to.
    fn imported(&self, host: &str) -> Option<EffectiveService<'m>> {
        let mut taken: Vec<EffectiveService<'m>> = Vec::new();
        for listener in &self.listeners {
            let services = self.registry.host(host);
            taken.extend(
                services
                    .into_iter()
                    .flat_map(|it| self.services_of(listener, it)),
            );
            let routing = self.virtual_services.routing_to(host).iter().copied();
            for at in self.imported_virtual_services(listener, routing) {
                let ports = self.destination_ports(at, host);
                if ports.is_empty() {
                    continue;
                }
                let wanted = match listener.required_port() {
                    Some(port) => BTreeSet::from([port]),
                    None if ports.contains(&0) => BTreeSet::new(),
                    None => ports,
                };
                let routed = self.routed(host);
                taken.extend(routed.and_then(|service| with_ports(service, &wanted)));
            }
        }
        merge(taken)
    }

    /// The service that a VirtualService means by a host that the listener does not import itself: that of the own
    /// namespace, else a Kubernetes Service, else the first.
    fn routed(&self, host: &str) -> Option<Service<'m>> {
        let mut of_namespace: BTreeMap<Option<&str>, Service<'m>> = BTreeMap::new();
        for service in self.registry.of_host(host) {
            let first = of_namespace.entry(service.namespace()).or_insert(service);
            if first.origin == Origin::ServiceEntry && service.origin == Origin::Kubernetes {
                *first = service;
            }
        }
        if let Some(own) = of_namespace.get(&self.own()) {
            return Some(*own);
        }
        let visible: Vec<_> = of_namespace
            .into_values()
            .filter(|service| self.registry.exposure(service, self.own()).is_some())
            .collect();
        if !self.version.routes_to_the_oldest() {
            return visible.first().copied();
        }
        visible
            .iter()
            .find(|service| service.origin == Origin::Kubernetes)
            .or_else(|| visible.iter().min_by_key(|service| service.host.rank))
            .copied()
    }

    /// The ports that a VirtualService names of a host that it routes to. Those that route to many hosts are remembered.
    fn destination_ports(&self, at: usize, host: &str) -> BTreeSet<u32> {
        let of_host = |known: &DestinationPorts<'_>| known.get(host).cloned().unwrap_or_default();
        if let Some(known) = self.destinations.borrow().get(&at) {
            return of_host(known);
        }
        let service = self.virtual_services.get(at);
        let all = service.map_or(Vec::new(), |service| service.destinations_for(self.own()));
        if all.len() <= FEW {
            let here = all.iter().filter(|(other, _)| *other == host);
            return here.map(|(_, port)| *port).collect();
        }
        let mut ports = DestinationPorts::default();
        for (host, port) in all {
            ports.entry(host).or_default().insert(port);
        }
        let found = of_host(&ports);
        self.destinations.borrow_mut().insert(at, ports);
        found
    }

    /// The services under a host that a listener imports, all of one namespace, trimmed to its port if it has one.
    fn services_of(
        &self,
        listener: &EgressListener<'m>,
        host: OneHost<'m>,
    ) -> SmallVec<[EffectiveService<'m>; 1]> {
        if let Some(only) = host.only() {
            let exposed = self.registry.exposure(&only, self.own()).is_some();
            let imported = exposed.then(|| import(listener, only)).flatten();
            return imported.into_iter().collect();
        }
        let imported = |services: Vec<Service<'m>>| -> Vec<_> {
            services
                .into_iter()
                .filter_map(|service| import(listener, service))
                .collect()
        };
        let registry = self.registry;
        // Those of the own namespace win, so that there is no need to look at the others.
        let own = host.services_in(self.own());
        let own = imported(registry.visible(own, self.own()));
        if !own.is_empty() {
            return own.into();
        }
        let visible = registry.visible(host.services(), self.own());
        of_one_namespace(imported(visible), self.own()).into()
    }

    /// The services that a listener imports and that have a port of this number, in the order in which listeners
    /// are made of them.
    pub fn services_on(
        &self,
        listener: &EgressListener<'m>,
        port: u32,
    ) -> Vec<EffectiveService<'m>> {
        let alone = self.registry.alone_on(port, self.own());
        let alone = alone.filter_map(|service| import(listener, service));
        let others = self.registry.others_on(port);
        let others = others.flat_map(|host| self.services_of(listener, host));
        let services = alone.chain(others);
        self.in_order(services.filter(|service| service.port(port).is_some()))
    }

    /// All services that a listener imports, in the order in which listeners are made of them.
    pub fn all_services(&self, listener: &EgressListener<'m>) -> Vec<EffectiveService<'m>> {
        let hosts = self.registry.hosts();
        self.in_order(hosts.flat_map(|host| self.services_of(listener, host)))
    }

    fn in_order(
        &self,
        services: impl Iterator<Item = EffectiveService<'m>>,
    ) -> Vec<EffectiveService<'m>> {
        let mut placed: Vec<_> = services
            .filter_map(|service| {
                let place = self.registry.place(&service.base, self.own())?;
                Some((place, service))
            })
            .collect();
        placed.sort_by_key(|(place, _)| *place);
        placed.into_iter().map(|(_, service)| service).collect()
    }

    /// Those of the numbers that a listener imports, in the order in which Istio goes through them.
    pub fn imported_virtual_services(
        &self,
        listener: &EgressListener<'m>,
        numbers: impl IntoIterator<Item = usize>,
    ) -> Vec<usize> {
        let mut visible = self.virtual_services.visible(numbers, self.own());
        if !listener.imports_everything() {
            visible.retain(|&at| {
                self.virtual_services.get(at).is_some_and(|service| {
                    let hosts = service.hosts.iter().map(|(host, _)| &**host);
                    listener.imports_virtual_service(service.namespace(), hosts)
                })
            });
        }
        visible
    }

    /// The listener whose virtual hosts a port has.
    pub fn listener_of(&self, port: u32) -> Option<&EgressListener<'m>> {
        self.listeners
            .iter()
            .find(|listener| listener.port.is_none_or(|own| own.number == port))
    }
}

/// The service as a listener imports it.
fn import<'m>(listener: &EgressListener<'m>, service: Service<'m>) -> Option<EffectiveService<'m>> {
    if !listener.imports_service(&service) {
        return None;
    }
    match listener.required_port() {
        Some(port) => with_ports(service, &BTreeSet::from([port])),
        None => Some(EffectiveService::of(service)),
    }
}

/// With only these of its ports, or all where none are wanted; `None` where it has none of them.
fn with_ports<'m>(service: Service<'m>, wanted: &BTreeSet<u32>) -> Option<EffectiveService<'m>> {
    if wanted.is_empty() {
        return Some(EffectiveService::of(service));
    }
    let ports = service.definition.ports.iter();
    let ports: Vec<_> = ports.filter(|port| wanted.contains(&port.number)).collect();
    (!ports.is_empty()).then(|| EffectiveService::trimmed(service, ports))
}

fn merge<'m>(
    services: impl IntoIterator<Item = EffectiveService<'m>>,
) -> Option<EffectiveService<'m>> {
    let mut services = services.into_iter();
    let mut first = services.next()?;
    first.take(services);
    Some(first)
}
