//! What defines a host: a ServiceEntry or a Kubernetes Service, read as Istio's registry reads it.

mod address;
mod distribution;
mod entry;
mod kubernetes;
mod port;

use std::borrow::Cow;

use smol_str::SmolStr;

pub use address::Address;
pub use distribution::TrafficDistribution;
pub(super) use distribution::distribute;
pub use port::{Port, TargetPort};

use super::client::Client;
use super::visibility::{Reach, viewer};
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
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
            Spec::ServiceEntry(own) => Some(entry::read(resource, own)),
            Spec::Service(own) => Some(kubernetes::read(resource, own)),
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
