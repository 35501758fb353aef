//! The paths that end at their host, with the hop that reaches it.

use super::clusters::is_for_one_host;
use super::context::Context;
use crate::config::HostFacts;
use crate::egress::cluster::ClusterName;
use crate::egress::facts::ClusterFacts;
use crate::egress::path::{Declared, Hop, Path};
use crate::egress::service::Definition;
use crate::source::Span;

/// A path whose last hop has a cluster of the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached<'c> {
    pub(super) path: &'c Path,
    pub(super) hop: &'c Hop,
    pub(super) cluster: &'c ClusterFacts,
    declared: Declared,
}

impl Reached<'_> {
    /// `host:port` of the cluster, for messages.
    pub(super) fn destination(&self) -> String {
        let port = self.port().unwrap_or(self.path.port);
        format!("{}:{port}", self.path.host)
    }

    /// The port of the cluster.
    pub(super) fn port(&self) -> Option<u32> {
        let name = self.hop.cluster_name().and_then(ClusterName::parse);
        name.map(|name| name.port)
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

/// In the order of the destinations.
pub(super) fn reached<'c>(cx: &'c Context<'_>) -> impl Iterator<Item = Reached<'c>> {
    cx.paths().iter().filter_map(|path| {
        let hop = path.last().filter(|_| path.reaches_host())?;
        Some(Reached {
            path,
            hop,
            cluster: hop.cluster.as_ref()?,
            declared: path.declared?,
        })
    })
}
