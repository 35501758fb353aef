//! The VirtualServices of a world in Istio's order, found by host and by the gateway they are bound to.

use foldhash::HashMap;

use super::delegates::Delegates;
use super::{Binding, VirtualService};
use crate::egress::host::HostIndex;
use crate::egress::visibility::{DefaultExport, Exposure, exposure};
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};

/// All VirtualServices of a world.
#[derive(Debug)]
pub struct VirtualServices<'a> {
    /// The oldest first: the order of the files stands for their age.
    all: Vec<VirtualService<'a>>,
    default: DefaultExport,
    mesh: Mesh,
    by_gateway: HashMap<&'a str, Vec<usize>>,
    /// Those bound to gateways, by the hosts they route to.
    through_gateways: HashMap<String, Vec<usize>>,
}

/// Those bound to sidecars, by their hosts.
#[derive(Debug, Default)]
struct Mesh {
    all: Vec<usize>,
    /// All of them, by host in lower case, as Istio looks them up for HTTP.
    lower: HostIndex<usize>,
    tls: HostIndex<usize>,
    tcp: HostIndex<usize>,
    /// By the hosts they route to.
    destinations: HashMap<String, Vec<usize>>,
}

/// Which rules of a VirtualService a port that is not HTTP asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Tls,
    Tcp,
}

impl<'a> VirtualServices<'a> {
    /// `default_export_to` is `MeshConfig.defaultVirtualServiceExportTo`.
    pub fn new(resources: &[&'a Resource], default: DefaultExport) -> Self {
        let specs: Vec<_> = resources
            .iter()
            .filter(|resource| !resource.refused)
            .filter_map(|resource| match &resource.spec {
                Spec::VirtualService(spec) => Some((*resource, &**spec)),
                _ => None,
            })
            .collect();
        let delegates = Delegates::of(&specs);
        let with_hosts = specs
            .iter()
            .filter(|(_, spec)| !spec.hosts.items().is_empty());
        let mut all = Vec::with_capacity(specs.len());
        all.extend(with_hosts.zip(0..).map(|(&(resource, spec), rank)| {
            VirtualService::read(resource, spec, rank, &delegates, &default)
        }));
        let mut mesh = Mesh::default();
        let mut by_gateway: HashMap<&str, Vec<usize>> = HashMap::default();
        let mut through_gateways = HashMap::default();
        for (at, service) in all.iter().enumerate() {
            for binding in &service.bindings {
                match binding {
                    Binding::Mesh if mesh.all.last() != Some(&at) => mesh.add(at, service),
                    Binding::Mesh => {}
                    Binding::Gateway { name, .. } => {
                        let bound = by_gateway.entry(name).or_default();
                        if bound.last() != Some(&at) {
                            bound.push(at);
                        }
                    }
                }
            }
            if service.bindings.iter().any(|it| *it != Binding::Mesh) {
                add_destinations(&mut through_gateways, at, service);
            }
        }
        Self {
            all,
            default,
            mesh,
            by_gateway,
            through_gateways,
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &VirtualService<'a>> {
        self.all.iter()
    }

    pub fn get(&self, at: usize) -> Option<&VirtualService<'a>> {
        self.all.get(at)
    }

    /// How a client of that namespace sees it, if at all.
    pub fn exposure(&self, service: &VirtualService<'_>, client: Option<&str>) -> Option<Exposure> {
        let declared = service.spec.export_to.items().iter();
        exposure(
            service.namespace(),
            declared.map(|entry| entry.value.as_str()),
            &self.default,
            client,
        )
    }

    /// Those of the numbers that a client sees, in the order in which it meets them.
    pub fn visible(
        &self,
        numbers: impl IntoIterator<Item = usize>,
        client: Option<&str>,
    ) -> Vec<usize> {
        let mut seen: Vec<_> = numbers
            .into_iter()
            .filter_map(|at| Some((self.exposure(self.all.get(at)?, client)?, at)))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        seen.into_iter().map(|(_, at)| at).collect()
    }

    /// All that are bound to sidecars.
    pub fn of_mesh(&self) -> &[usize] {
        &self.mesh.all
    }

    /// Those bound to a gateway that a proxy of that namespace sees, in its order.
    pub fn of_gateway(&self, gateway: &Binding<'_>, client: Option<&str>) -> Vec<usize> {
        let Binding::Gateway { name, .. } = gateway else {
            return Vec::new();
        };
        let bound = self.by_gateway.get(name).into_iter().flatten().copied();
        let bound = bound.filter(|&at| {
            self.get(at)
                .is_some_and(|service| service.bindings.iter().any(|own| own.is(gateway)))
        });
        self.visible(bound, client)
    }

    /// Those bound to sidecars with rules for TLS or for TCP and a host that has a name in common with this one;
    /// in no order, and some perhaps twice.
    pub fn overlapping<'s>(
        &'s self,
        section: Section,
        host: &'s str,
    ) -> impl Iterator<Item = usize> + 's {
        let index = match section {
            Section::Tls => &self.mesh.tls,
            Section::Tcp => &self.mesh.tcp,
        };
        index.overlapping(host).flatten().copied()
    }

    /// Those bound to sidecars, by the hosts of theirs that cover this one (in lower case), the most specific first.
    pub fn covering<'s>(&'s self, host: &'s str) -> impl Iterator<Item = &'s [usize]> {
        self.mesh.lower.covering(host)
    }

    /// Those bound to sidecars that have this very host or pattern (in lower case).
    pub fn of_host(&self, host: &str) -> &[usize] {
        self.mesh.lower.same(host)
    }

    /// Those bound to sidecars that have a destination of this host.
    pub fn routing_to(&self, host: &str) -> &[usize] {
        self.mesh.destinations.get(host).map_or(&[], Vec::as_slice)
    }

    /// Those bound to gateways that have a destination of this host.
    pub fn routing_gateways_to(&self, host: &str) -> &[usize] {
        self.through_gateways.get(host).map_or(&[], Vec::as_slice)
    }
}

impl Mesh {
    fn add(&mut self, at: usize, service: &VirtualService<'_>) {
        self.all.push(at);
        for (host, _) in &service.hosts {
            self.lower.insert(&host.to_lowercase(), at);
            if service.spec.tls.is_some() {
                self.tls.insert(host, at);
            }
            if service.spec.tcp.is_some() {
                self.tcp.insert(host, at);
            }
        }
        add_destinations(&mut self.destinations, at, service);
    }
}

fn add_destinations(
    by_host: &mut HashMap<String, Vec<usize>>,
    at: usize,
    service: &VirtualService<'_>,
) {
    for (host, _) in service.destinations() {
        let routed = by_host.entry(host.into_owned()).or_default();
        if routed.last() != Some(&at) {
            routed.push(at);
        }
    }
}
