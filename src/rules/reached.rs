//! The paths that end at their host, with the hop that reaches it.

use std::sync::Arc;

use super::clusters::is_for_one_host;
use super::context::Context;
use crate::config::HostFacts;
use crate::egress::cluster::ClusterName;
use crate::egress::facts::ClusterFacts;
use crate::egress::path::{Declared, Hop, Path};
use crate::egress::service::{Definition, Service};
use crate::source::Span;

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
    let ends = cx.ends().iter();
    ends.filter_map(|&(at, port)| {
        let path = cx.paths().get(at)?;
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

/// Which of the paths end at a cluster of their host, and its port.
pub(super) fn ends(paths: &[Path]) -> Vec<(usize, u32)> {
    let paths = paths.iter().enumerate();
    let ends = paths.filter_map(|(at, path)| {
        let name = ClusterName::parse(path.last()?.cluster_name()?)?;
        (name.host == path.host).then_some((at, name.port))
    });
    ends.collect()
}
