//! Patches of EnvoyFilters for the clusters of outbound hosts.

use super::context::{Context, existing};
use crate::egress::cluster::ClusterName;
use crate::istio::decode::Items;
use crate::istio::envoy_filter::{ApplyTo, ConfigPatch, EnvoyFilter, PatchContext, PatchOperation};
use crate::istio::resource::{Resource, Spec};
use crate::source::{Span, Spanned};

/// A patch for the clusters of one host.
pub(super) struct ClusterPatch<'f> {
    pub(super) resource: &'f Resource,
    pub(super) filter: &'f EnvoyFilter,
    /// It takes the clusters away.
    pub(super) removes: bool,
    pub(super) context: Option<&'f Spanned<PatchContext>>,
    pub(super) host: &'f str,
    pub(super) host_line: Span,
    pub(super) port: Option<(u32, Span)>,
    pub(super) subset: Option<(&'f str, Span)>,
}

/// The patches that change clusters and name a host.
pub(super) fn cluster_patches<'c>(cx: &'c Context<'_>) -> impl Iterator<Item = ClusterPatch<'c>> {
    let filters = existing(cx.world).filter_map(|resource| match &resource.spec {
        Spec::EnvoyFilter(filter) => Some((resource, &**filter)),
        _ => None,
    });
    filters.flat_map(|(resource, filter)| {
        let patches = filter.config_patches.items().iter();
        patches.filter_map(move |patch| ClusterPatch::of(resource, filter, &patch.value))
    })
}

impl<'f> ClusterPatch<'f> {
    fn of(resource: &'f Resource, filter: &'f EnvoyFilter, patch: &'f ConfigPatch) -> Option<Self> {
        let matches = &patch.matches.as_ref()?.value;
        let operation = patch.patch.as_ref()?.value.operation.as_ref()?.value;
        let removes = operation == PatchOperation::Remove;
        let changes = removes || operation == PatchOperation::Merge;
        let clusters = patch.apply_to.as_ref()?.value == ApplyTo::Cluster;
        let context = matches.context.as_ref();
        let at_waypoint = context.is_some_and(|it| it.value == PatchContext::Waypoint);
        if !clusters || !changes || at_waypoint {
            return None;
        }
        let cluster = &matches.cluster.as_ref()?.value;
        if let Some(name) = cluster.name.as_ref().filter(|name| !name.value.is_empty()) {
            let parts = ClusterName::parse(&name.value)?;
            return Some(Self {
                resource,
                filter,
                removes,
                context,
                host: parts.host,
                host_line: name.span,
                port: Some((parts.port, name.span)),
                subset: (!parts.subset.is_empty()).then_some((parts.subset, name.span)),
            });
        }
        let service = cluster.service.as_ref()?;
        let port = cluster.port_number.as_ref();
        let subset = cluster.subset.as_ref().filter(|it| !it.value.is_empty());
        Some(Self {
            resource,
            filter,
            removes,
            context,
            host: service.value.as_str(),
            host_line: service.span,
            port: port.and_then(|it| Some((u32::try_from(it.value).ok()?, it.span))),
            subset: subset.map(|it| (it.value.as_str(), it.span)),
        })
    }
}
