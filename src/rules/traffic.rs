//! What some clients of a world send to external hosts.

use std::sync::Arc;

use super::clusters::{Cluster, is_for_one_host};
use super::context::Context;
use super::findings::Basis;
use crate::config::HostFacts;
use crate::egress::cluster::ClusterName;
use crate::egress::facts::ClusterFacts;
use crate::egress::path::{Declared, Hop, Path};
use crate::egress::service::{Definition, Service};
use crate::source::Span;

/// What some clients send to external hosts: their paths, hop by hop, with what Envoy is handed on each hop.
#[derive(Debug, Default)]
pub struct Traffic<'a> {
    paths: Vec<Path>,
    /// Which of the paths end at a cluster of their host, and its port.
    ends: Vec<(usize, u32)>,
    clusters: Vec<Cluster<'a>>,
}

impl<'a> Traffic<'a> {
    pub fn new(paths: Vec<Path>) -> Self {
        let numbered = paths.iter().enumerate();
        let ends = numbered.filter_map(|(at, path)| {
            let name = ClusterName::parse(path.last()?.cluster_name()?)?;
            (name.host == path.host).then_some((at, name.port))
        });
        Self {
            ends: ends.collect(),
            paths,
            clusters: Vec::new(),
        }
    }

    pub(super) fn with_clusters(self, clusters: Vec<Cluster<'a>>) -> Self {
        Self { clusters, ..self }
    }

    /// In the order of the destinations.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The clusters of external hosts that no part before has shown, as the proxies have them. Left out are those about
    /// which no rule has anything to ask.
    pub fn clusters(&self) -> &[Cluster<'a>] {
        &self.clusters
    }

    /// The paths that end at their host, with the hop that reaches it; in the order of the destinations.
    pub(super) fn reached(&self) -> impl Iterator<Item = Reached<'_>> {
        self.ends.iter().filter_map(|&(at, port)| {
            let path = self.paths.get(at)?;
            let hop = path.last()?;
            Some(Reached {
                path,
                hop,
                cluster: hop.cluster.as_ref()?,
                port,
                declared: path.declared?,
            })
        })
    }
}

/// A path whose last hop has a cluster of the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached<'c> {
    pub(super) path: &'c Path,
    pub(super) hop: &'c Hop,
    pub(super) cluster: &'c Arc<ClusterFacts>,
    /// The port of the cluster.
    pub(super) port: u32,
    declared: Declared,
}

impl Reached<'_> {
    /// `host:port` of the cluster, for messages.
    pub(super) fn destination(&self) -> String {
        super::host_and_port(&self.path.host, self.port)
    }

    /// The service that the path leads to.
    pub(super) fn service<'x>(&self, cx: &Context<'x>) -> Option<Service<'x>> {
        self.declared.service(cx.model)
    }

    /// What defines the host.
    pub(super) fn definition<'x>(&self, cx: &'x Context<'_>) -> Option<&'x Definition<'x>> {
        cx.model
            .registry
            .definitions()
            .get(self.declared.definition)
    }

    pub(super) fn host_line(&self) -> Span {
        self.declared.host
    }

    /// The line of the port's protocol, or of its number.
    pub(super) fn port_line(&self) -> Span {
        self.declared.port
    }

    /// What holds of bytes on a port without a protocol holds only where they are no HTTP, which Envoy finds out.
    pub(super) fn basis_of_bytes(&self, cx: &Context<'_>) -> Basis {
        let port = self.definition(cx).and_then(|it| it.port(self.path.port));
        match port.is_some_and(|port| port.protocol.is_unsupported()) {
            true => Basis::assuming("clients speak something else than HTTP on this port"),
            false => Basis::Proven,
        }
    }

    /// Whether the DestinationRule that applies is for this host alone.
    pub(super) fn has_rule_of_its_own(&self, cx: &Context<'_>) -> bool {
        is_for_one_host(cx, self.cluster)
    }

    /// What is known about the host.
    pub(super) fn facts(&self, cx: &Context<'_>) -> HostFacts {
        self.definition(cx).map_or_else(HostFacts::default, |it| {
            cx.facts(it.resource, &self.path.host)
        })
    }
}
