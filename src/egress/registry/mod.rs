//! All services of a world, found by host and by port, in the order in which Istio goes through them.

mod build;
mod host;
mod port;

use std::borrow::Cow;

use foldhash::HashMap;

use super::service::{Definition, Service};
use super::visibility::{DefaultExport, Exposure, Reach, exposure};
use crate::istio::resource::Resource;
use crate::istio::version::IstioVersion;

use host::OfHost;
pub(super) use host::OneHost;
use port::OnPort;

/// Where a service stands: its definition, and its host there.
type Place = (u32, u32);

/// The number of each host.
type Numbers<'a> = HashMap<Cow<'a, str>, u32>;

/// The services of a world.
#[derive(Debug, Default)]
pub struct Registry<'a> {
    definitions: Vec<Definition<'a>>,
    /// All services in Istio's order, the oldest first.
    order: Vec<Place>,
    /// Into `hosts`.
    by_host: Numbers<'a>,
    hosts: Vec<OfHost>,
    by_port: HashMap<u32, OnPort>,
    by_port_name: HashMap<&'a str, Vec<u32>>,
    default: DefaultExport,
    /// Before 1.31 what is private to the client's namespace came before what is exported to it.
    private_first: bool,
}

impl<'a> Registry<'a> {
    /// `default`: what an absent `exportTo` means.
    pub fn new(resources: &[&'a Resource], default: DefaultExport, version: IstioVersion) -> Self {
        let mut definitions = build::definitions(resources, &default);
        let order = build::order(&mut definitions);
        let (by_host, mut hosts) = build::by_host(&mut definitions, &order);
        build::by_namespace(&definitions, &order, &by_host, &mut hosts);
        let (by_port, by_port_name) = build::by_port(&definitions);
        Self {
            definitions,
            order,
            by_host,
            hosts,
            by_port,
            by_port_name,
            default,
            private_first: version.private_services_first(),
        }
    }

    pub fn definitions(&self) -> &[Definition<'a>] {
        &self.definitions
    }

    fn at(&self, rank: u32) -> Option<Service<'_>> {
        let &(definition, host) = self.order.get(rank as usize)?;
        let definition = self.definitions.get(definition as usize)?;
        Some(Service {
            definition,
            host: definition.hosts.get(host as usize)?,
        })
    }

    /// Every service, in Istio's order.
    pub fn services(&self) -> impl Iterator<Item = Service<'_>> {
        (0..).zip(&self.order).filter_map(|(rank, _)| self.at(rank))
    }

    /// What there is of a host as it is written.
    pub(super) fn host(&self, host: &str) -> Option<OneHost<'_>> {
        self.numbered(*self.by_host.get(host)?)
    }

    fn numbered(&self, host: u32) -> Option<OneHost<'_>> {
        Some(OneHost {
            registry: self,
            of_host: self.hosts.get(host as usize)?,
        })
    }

    /// The services of a host as it is written, in Istio's order.
    pub fn of_host(&self, host: &str) -> impl Iterator<Item = Service<'_>> {
        self.host(host).into_iter().flat_map(OneHost::services)
    }

    /// Every host, each once.
    pub(super) fn hosts(&self) -> impl Iterator<Item = OneHost<'_>> {
        self.hosts.iter().map(|of_host| OneHost {
            registry: self,
            of_host,
        })
    }

    /// The services of a host in one namespace, in Istio's order.
    pub fn of_host_in<'n>(
        &self,
        host: &str,
        namespace: Option<&'n str>,
    ) -> impl Iterator<Item = Service<'_>> + use<'_, 'n, 'a> {
        let host = self.host(host).into_iter();
        host.flat_map(move |host| host.services_in(namespace))
    }

    /// The last of the services of a host in one namespace.
    pub fn last_in(&self, host: &str, namespace: Option<&str>) -> Option<Service<'_>> {
        let ranks = &self.host(host)?.of_host.by_namespace;
        let is_until = |&rank: &u32| self.at(rank).is_some_and(|s| s.namespace() <= namespace);
        let last = ranks.partition_point(is_until).checked_sub(1)?;
        let last = ranks.get(last).and_then(|&rank| self.at(rank))?;
        (last.namespace() == namespace).then_some(last)
    }

    /// Those of the services of a host in one namespace that have a port of this number.
    pub(super) fn with_port_number(&self, service: &Service<'_>, number: u32) -> Vec<Service<'_>> {
        let on_port = self.by_port.get(&number);
        let definitions = on_port.map(|on_port| &on_port.definitions);
        self.among(service, definitions, |definition| {
            definition.port(number).is_some()
        })
    }

    /// Those of the services of a host in one namespace that have a port of this name.
    pub(super) fn with_port_name(&self, service: &Service<'_>, name: &str) -> Vec<Service<'_>> {
        self.among(service, self.by_port_name.get(name), |definition| {
            definition.ports.iter().any(|port| port.name == name)
        })
    }

    /// Those of a list of definitions that define the service's host in its namespace, without going through more
    /// of them than there are of the host or in the list.
    fn among(
        &self,
        service: &Service<'_>,
        list: Option<&Vec<u32>>,
        listed: impl Fn(&Definition<'_>) -> bool,
    ) -> Vec<Service<'_>> {
        let Some(list) = list else { return Vec::new() };
        let (host, namespace) = (service.name(), service.namespace());
        if self
            .host(host)
            .is_none_or(|host| host.of_host.ranks.len() <= list.len())
        {
            let all = self.of_host_in(host, namespace);
            return all.filter(|service| listed(service.definition)).collect();
        }
        let definitions = list
            .iter()
            .filter_map(|&at| self.definitions.get(at as usize));
        let own = definitions.filter(|definition| definition.namespace() == namespace);
        own.flat_map(|definition| {
            // The hosts of a definition are sorted.
            let start = definition
                .hosts
                .partition_point(|other| *other.name < *host);
            let hosts = definition.hosts.iter().skip(start);
            let hosts = hosts.take_while(|other| other.name == host);
            hosts.map(move |host| Service { definition, host })
        })
        .collect()
    }

    /// Whether a client of that namespace may see the service.
    pub fn exposure(&self, service: &Service<'_>, client: Option<&str>) -> Option<Exposure> {
        let definition = service.definition;
        if definition.reach == Reach::Everyone {
            return Some(Exposure::Public);
        }
        let declared = definition.export_to.iter().map(|entry| &**entry);
        exposure(definition.namespace(), declared, &self.default, client)
    }

    /// Where a client of that namespace meets the service; `None` where it does not see it.
    pub fn place(&self, service: &Service<'_>, client: Option<&str>) -> Option<(Exposure, u32)> {
        let class = match self.exposure(service, client)? {
            Exposure::Exported if !self.private_first => Exposure::Private,
            exposure => exposure,
        };
        Some((class, service.host.rank))
    }

    /// Those of the services that a client of that namespace may see, in the order in which it meets them.
    pub fn visible<'m>(
        &'m self,
        services: impl IntoIterator<Item = Service<'m>>,
        client: Option<&str>,
    ) -> Vec<Service<'m>> {
        let mut seen: Vec<_> = services
            .into_iter()
            .filter_map(|service| Some((self.place(&service, client)?, service)))
            .collect();
        seen.sort_by_key(|(place, _)| *place);
        seen.into_iter().map(|(_, service)| service).collect()
    }
}
