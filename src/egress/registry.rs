//! All services of a world, found by host and by port, in the order in which Istio goes through them.

use std::collections::HashMap;

use super::service::{Definition, Origin, Service, TrafficDistribution};
use super::visibility::{DefaultExport, Exposure, exposure};
use crate::istio::resource::{Resource, Spec};
use crate::istio::version::IstioVersion;

/// The services of a world.
#[derive(Debug, Default)]
pub struct Registry<'a> {
    definitions: Vec<Definition<'a>>,
    /// All services in Istio's order: by name, namespace, object. (definition, host)
    order: Vec<(u32, u32)>,
    by_host: HashMap<String, Vec<u32>>,
    /// By number, the definitions that have such a port.
    by_port: HashMap<u32, Vec<u32>>,
    default: DefaultExport,
    /// Before 1.31 what is private to the client's namespace came before what is exported to it.
    private_first: bool,
}

impl<'a> Registry<'a> {
    /// `default`: what an absent `exportTo` means.
    pub fn new(resources: &[&'a Resource], default: DefaultExport, version: IstioVersion) -> Self {
        let mut definitions: Vec<Definition<'a>> = resources
            .iter()
            .filter(|resource| !resource.refused)
            .filter_map(|resource| Definition::read(resource))
            .collect();
        distribute(&mut definitions, resources);
        definitions.sort_by_key(|definition| {
            (
                definition.origin,
                definition.resource.name(),
                definition.namespace(),
            )
        });

        let mut order: Vec<(u32, u32)> = Vec::new();
        for (definition, at) in definitions.iter().zip(0u32..) {
            order.extend(
                (0..definition.hosts.len())
                    .zip(0u32..)
                    .map(|(_, host)| (at, host)),
            );
        }
        order.sort_by(|&a, &b| key(&definitions, a).cmp(&key(&definitions, b)));

        let mut by_host: HashMap<String, Vec<u32>> = HashMap::new();
        for (&(definition, host), rank) in order.iter().zip(0u32..) {
            let Some(definition) = definitions.get_mut(definition as usize) else {
                continue;
            };
            let Some(host) = definition.hosts.get_mut(host as usize) else {
                continue;
            };
            host.rank = rank;
            match by_host.get_mut(&*host.name) {
                Some(ranks) => ranks.push(rank),
                None => {
                    by_host.insert(host.name.to_string(), vec![rank]);
                }
            }
        }

        let mut by_port: HashMap<u32, Vec<u32>> = HashMap::new();
        for (definition, at) in definitions.iter().zip(0u32..) {
            for port in &definition.ports {
                let at_port = by_port.entry(port.number).or_default();
                if at_port.last() != Some(&at) {
                    at_port.push(at);
                }
            }
        }

        Self {
            definitions,
            order,
            by_host,
            by_port,
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

    /// The services of a host as it is written, in Istio's order.
    pub fn of_host(&self, host: &str) -> impl Iterator<Item = Service<'_>> {
        self.by_host
            .get(host)
            .into_iter()
            .flatten()
            .filter_map(|&rank| self.at(rank))
    }

    /// The services that have a port of this number, in Istio's order.
    pub fn with_port(&self, port: u32) -> Vec<Service<'_>> {
        let definitions = self.by_port.get(&port).into_iter().flatten();
        let mut services: Vec<_> = definitions
            .filter_map(|&at| self.definitions.get(at as usize))
            .flat_map(|definition| {
                definition
                    .hosts
                    .iter()
                    .map(move |host| Service { definition, host })
            })
            .collect();
        services.sort_by_key(|service| service.host.rank);
        services
    }

    /// The hosts of the services that have a port of this number, each once.
    pub fn hosts_with_port(&self, port: u32) -> Vec<&str> {
        let definitions = self.by_port.get(&port).into_iter().flatten();
        let mut hosts: Vec<_> = definitions
            .filter_map(|&at| self.definitions.get(at as usize))
            .flat_map(|definition| definition.hosts.iter().map(|host| &*host.name))
            .collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    }

    /// The services of a host in one namespace, in Istio's order.
    pub fn of_host_in<'s, 'n>(
        &'s self,
        host: &str,
        namespace: Option<&'n str>,
    ) -> impl Iterator<Item = Service<'s>> + use<'s, 'n, 'a> {
        // A Kubernetes Service sorts by its name, which its host begins with; the others of the host by namespace.
        let ranks = self.by_host.get(host).map_or(&[][..], Vec::as_slice);
        let is_kubernetes = |&rank: &u32| {
            self.at(rank)
                .is_some_and(|service| service.origin == Origin::Kubernetes)
        };
        let (kubernetes, entries) = ranks.split_at(ranks.partition_point(is_kubernetes));
        let start = entries.partition_point(|&rank| {
            self.at(rank)
                .is_some_and(|service| service.namespace() < namespace)
        });
        let own = move |service: &Service<'_>| service.namespace() == namespace;
        let kubernetes = kubernetes.iter().filter_map(|&rank| self.at(rank));
        let entries = entries.iter().skip(start);
        kubernetes
            .filter(own)
            .chain(entries.filter_map(|&rank| self.at(rank)).take_while(own))
    }

    /// Whether a client of that namespace may see the service.
    pub fn exposure(&self, service: &Service<'_>, client: Option<&str>) -> Option<Exposure> {
        let declared = service.definition.export_to.iter();
        exposure(
            service.namespace(),
            declared.map(|entry| &**entry),
            &self.default,
            client,
        )
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

/// Traffic distribution of the objects, else of their namespaces.
fn distribute(definitions: &mut [Definition<'_>], resources: &[&Resource]) {
    let namespaces: HashMap<&str, _> = resources
        .iter()
        .filter(|resource| matches!(resource.spec, Spec::Namespace))
        .filter_map(|namespace| {
            Some((
                namespace.name(),
                TrafficDistribution::annotated(&namespace.meta)?,
            ))
        })
        .collect();
    for definition in definitions {
        let own = TrafficDistribution::annotated(&definition.resource.meta);
        let inherited = || namespaces.get(definition.namespace()?).copied();
        if definition.traffic_distribution.is_none() {
            let found = own.or_else(inherited);
            definition.traffic_distribution = found.and_then(|(kind, line)| Some((kind?, line)));
        }
    }
}

/// What Istio sorts by when all objects are of one age. Of a Kubernetes Service it is the name, not the host.
fn key<'d>(
    definitions: &'d [Definition<'_>],
    (definition, host): (u32, u32),
) -> Option<(&'d str, Option<&'d str>, Origin, &'d str, u32)> {
    let definition = definitions.get(definition as usize)?;
    let name = match definition.origin {
        Origin::Kubernetes => definition.resource.name(),
        Origin::ServiceEntry => &definition.hosts.get(host as usize)?.name,
    };
    Some((
        name,
        definition.namespace(),
        definition.origin,
        definition.resource.name(),
        host,
    ))
}
