//! What defines a host: a ServiceEntry or a Kubernetes Service, read as Istio's registry reads it.

mod address;
mod distribution;
mod port;

use std::borrow::Cow;

use smol_str::SmolStr;

pub use address::Address;
pub use distribution::TrafficDistribution;
pub(super) use distribution::distribute;
pub use port::{Port, TargetPort};

use super::client::Client;
use super::host;
use super::visibility::{Reach, viewer};
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::istio::service::{self as api, KubeService, Location, ServiceEntry};
use crate::source::{Span, Spanned};

/// Where a service comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Beats a ServiceEntry of the same host and namespace.
    Kubernetes,
    ServiceEntry,
}

/// How the proxy finds the endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// To where the client connected: `resolution: NONE`, a headless Service.
    Passthrough,
    /// From a list that Istio hands over: `STATIC`, a Service with a cluster IP.
    Static,
    Dns,
    DnsRoundRobin,
    DynamicDns,
    /// Another name for another service: `ExternalName`.
    Alias,
}

/// A ServiceEntry or a Kubernetes Service. A ServiceEntry defines one service for each of its hosts.
#[derive(Clone, Debug)]
pub struct Definition<'a> {
    pub resource: &'a Resource,
    pub origin: Origin,
    pub hosts: Vec<Host<'a>>,
    /// Where clients connect to. Istio makes one service of each, or one of `0.0.0.0` where this is empty.
    pub addresses: Box<[Address<'a>]>,
    pub ports: Box<[Port<'a>]>,
    pub resolution: Resolution,
    /// The line that sets the resolution; without one it is the default.
    pub resolution_line: Option<Span>,
    pub mesh_external: bool,
    pub export_to: Box<[Cow<'a, str>]>,
    /// What this, or the mesh's default where it is empty, comes to.
    pub(super) reach: Reach,
    /// Which workloads are its endpoints.
    pub selector: Option<Pairs<'a>>,
    /// Which endpoints are preferred; the line that says so.
    pub traffic_distribution: Option<(TrafficDistribution, Span)>,
    /// Of an `ExternalName` Service: the name it stands for.
    pub alias_of: Option<&'a Spanned<SmolStr>>,
}

/// Keys and values, sorted.
pub type Pairs<'a> = Box<[(&'a str, &'a str)]>;

/// One host of a definition.
#[derive(Clone, Debug)]
pub struct Host<'a> {
    pub name: Cow<'a, str>,
    pub line: Span,
    /// The place in Istio's order of all services.
    pub rank: u32,
}

/// One host of one definition.
#[derive(Clone, Copy, Debug)]
pub struct Service<'m> {
    pub definition: &'m Definition<'m>,
    pub host: &'m Host<'m>,
}

impl<'m> std::ops::Deref for Service<'m> {
    type Target = Definition<'m>;

    fn deref(&self) -> &Self::Target {
        self.definition
    }
}

impl Service<'_> {
    pub fn name(&self) -> &str {
        &self.host.name
    }

    pub fn is(&self, other: &Service<'_>) -> bool {
        self.host.rank == other.host.rank
    }
}

impl<'a> Definition<'a> {
    /// Whether the objects have the same labels.
    pub fn has_labels_of(&self, other: &Definition<'_>) -> bool {
        let (own, others) = (&self.resource.meta.labels, &other.resource.meta.labels);
        own.len() == others.len() && pairs(own) == pairs(others)
    }

    /// What the resource defines; `None` where it is no service.
    pub fn read(resource: &'a Resource) -> Option<Self> {
        match &resource.spec {
            Spec::ServiceEntry(entry) => Some(Self::of_entry(resource, entry)),
            Spec::Service(service) => Some(Self::of_kubernetes(resource, service)),
            _ => None,
        }
    }

    pub fn namespace(&self) -> Option<&'a str> {
        self.resource.namespace()
    }

    /// A client that sees it: one of its namespace, unless it is only for others.
    pub fn client(&self) -> Client {
        let declared = self.export_to.iter().map(|entry| &**entry);
        Client::sidecar(viewer(self.namespace(), declared))
    }

    fn of_entry(resource: &'a Resource, entry: &'a ServiceEntry) -> Self {
        let addresses = entry.addresses.items();
        let valid: Vec<_> = addresses.iter().filter_map(address::read).collect();
        // Addresses that are all invalid leave no service at all.
        let reachable = addresses.is_empty() || !valid.is_empty();
        let hosts = if reachable { entry.hosts.items() } else { &[] };
        Self {
            resource,
            origin: Origin::ServiceEntry,
            hosts: hosts
                .iter()
                .map(|host| Host {
                    name: Cow::Borrowed(host.value.as_str()),
                    line: host.span,
                    rank: 0,
                })
                .collect(),
            addresses: valid.into(),
            ports: entry.ports.items().iter().map(port::of_entry).collect(),
            resolution: match entry
                .resolution
                .as_ref()
                .map(|r| r.value)
                .unwrap_or_default()
            {
                api::Resolution::None => Resolution::Passthrough,
                api::Resolution::Static => Resolution::Static,
                api::Resolution::Dns => Resolution::Dns,
                api::Resolution::DnsRoundRobin => Resolution::DnsRoundRobin,
                api::Resolution::DynamicDns => Resolution::DynamicDns,
            },
            resolution_line: entry.resolution.as_ref().map(|r| r.span),
            mesh_external: entry
                .location
                .as_ref()
                .is_none_or(|l| l.value == Location::MeshExternal),
            export_to: entry
                .export_to
                .items()
                .iter()
                .map(|e| Cow::Borrowed(e.value.as_str()))
                .collect(),
            reach: Reach::Listed,
            selector: entry.workload_selector.as_ref().map(|selector| {
                selector
                    .value
                    .labels
                    .as_ref()
                    .map(|labels| pairs(&labels.value))
                    .unwrap_or_default()
            }),
            traffic_distribution: None,
            alias_of: None,
        }
    }

    fn of_kubernetes(resource: &'a Resource, service: &'a KubeService) -> Self {
        let external = service
            .external_name
            .as_deref()
            .filter(|name| !name.value.is_empty())
            .filter(|_| {
                service
                    .service_type
                    .as_ref()
                    .is_some_and(|t| t.value == "ExternalName")
            });
        let cluster_ip = service
            .cluster_ip
            .as_ref()
            .filter(|ip| !ip.value.is_empty());
        let headless = cluster_ip.filter(|ip| ip.value == "None");
        let addresses: Vec<_> = match (cluster_ip, service.cluster_ips.items()) {
            (Some(ip), _) if ip.value == "None" => Vec::new(),
            (Some(_), several) if several.len() > 1 => {
                several.iter().filter_map(address::read).collect()
            }
            (Some(ip), _) => address::read(ip).into_iter().collect(),
            (None, _) => Vec::new(),
        };
        let name = resource.meta.name.as_ref();
        Self {
            resource,
            origin: Origin::Kubernetes,
            hosts: vec![Host {
                name: Cow::Owned(host::of_service(resource.name(), resource.namespace())),
                line: name.map_or(resource.kind, |name| name.span),
                rank: 0,
            }],
            addresses: addresses.into(),
            ports: service
                .ports
                .items()
                .iter()
                .map(port::of_kubernetes)
                .collect(),
            resolution: match (headless, external) {
                (Some(_), _) => Resolution::Passthrough,
                (None, Some(_)) => Resolution::Alias,
                (None, None) => Resolution::Static,
            },
            resolution_line: match (headless, external) {
                (Some(ip), _) => Some(ip.span),
                (None, Some(_)) => service.service_type.as_ref().map(|t| t.span),
                (None, None) => None,
            },
            mesh_external: external.is_some(),
            export_to: resource
                .meta
                .annotations
                .get("networking.istio.io/exportTo")
                .filter(|list| !list.value.is_empty())
                .map(|list| {
                    list.value
                        .split(',')
                        .map(|e| Cow::Borrowed(e.trim()))
                        .collect()
                })
                .unwrap_or_default(),
            reach: Reach::Listed,
            selector: service
                .selector
                .as_ref()
                .map(|selector| pairs(&selector.value)),
            traffic_distribution: service.traffic_distribution.as_ref().and_then(|wanted| {
                Some((TrafficDistribution::specified(&wanted.value)?, wanted.span))
            }),
            alias_of: external,
        }
    }

    /// Whether the API server gives it an address that stands in no file.
    pub(super) fn gets_address(&self) -> bool {
        let assigned = self.origin == Origin::Kubernetes && self.resolution == Resolution::Static;
        assigned && self.addresses.is_empty()
    }

    /// The first port of that number.
    pub fn port(&self, number: u32) -> Option<&Port<'a>> {
        self.ports.iter().find(|port| port.number == number)
    }

    /// The names that the certificate must have one of, where the object gives any.
    pub fn subject_alt_names(&self) -> &'a [Spanned<SmolStr>] {
        match &self.resource.spec {
            Spec::ServiceEntry(entry) => entry.subject_alt_names.items(),
            _ => &[],
        }
    }
}

/// The entries of a map, sorted by key.
pub(super) fn pairs(map: &crate::istio::decode::Map<SmolStr>) -> Pairs<'_> {
    let mut pairs: Vec<_> = map
        .iter()
        .map(|(key, value)| (key.value.as_str(), value.value.as_str()))
        .collect();
    pairs.sort_unstable();
    pairs.into()
}
