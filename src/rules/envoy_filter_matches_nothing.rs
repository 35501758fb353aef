//! A patch of an EnvoyFilter for a cluster that is not there.

use super::context::existing;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::service::{Origin, Service};
use crate::istio::decode::Items;
use crate::istio::envoy_filter::{ApplyTo, ConfigPatch, PatchContext, PatchOperation};
use crate::istio::resource::Spec;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "envoy-filter-matches-nothing",
        summary: "a patch of an EnvoyFilter is for a port or subset that an external host does not have",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/envoy-filter-matches-nothing.md"),
    },
    build: super::plain::<EnvoyFilterMatchesNothing>,
};

#[derive(Debug, Default)]
pub(super) struct EnvoyFilterMatchesNothing;

/// Where there are so many entries or rules for one host, nothing is said of it.
const OF_HOST: usize = 64;

/// Nor where these have so many subsets.
const SUBSETS: usize = 256;

impl Check for EnvoyFilterMatchesNothing {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        let filters = existing(cx.world).filter_map(|it| match &it.spec {
            Spec::EnvoyFilter(filter) => Some(filter),
            _ => None,
        });
        let patches = filters.flat_map(|filter| filter.config_patches.items());
        for wanted in patches.filter_map(|patch| Wanted::of(&patch.value)) {
            let services = cx.model.registry.of_host(wanted.host).take(OF_HOST);
            let services: Vec<Service<'_>> = services.collect();
            let Some(first) = services.first() else {
                continue;
            };
            let external = |it: &Service<'_>| it.definition.origin == Origin::ServiceEntry;
            if !services.iter().all(external) || services.len() == OF_HOST {
                continue;
            }
            let lacks_port = wanted.port.filter(|(port, _)| {
                let has = |it: &Service<'_>| it.port(*port).is_some();
                *port != 0 && !services.iter().any(has)
            });
            let (place, lacks) = match (lacks_port, wanted.subset) {
                (Some((port, place)), _) => (place, format!("port {port}")),
                (None, Some((subset, place))) if lacks_subset(cx, wanted.host, subset) => {
                    (place, format!("subset `{subset}`"))
                }
                _ => continue,
            };
            let message = format!(
                "this patch matches no cluster: `{}` has no {lacks}",
                wanted.host
            );
            out.add(Basis::Proven, place, message, |finding| {
                finding.because(first.host.line, "the external host").help(
                    "name the port that clients connect to, and a subset of its DestinationRule",
                )
            });
        }
    }
}

/// The cluster that a patch is for.
struct Wanted<'f> {
    host: &'f str,
    port: Option<(u32, Span)>,
    subset: Option<(&'f str, Span)>,
}

impl<'f> Wanted<'f> {
    /// `None` where it changes no cluster of an outbound host.
    fn of(patch: &'f ConfigPatch) -> Option<Self> {
        let matches = &patch.matches.as_ref()?.value;
        let operation = patch.patch.as_ref()?.value.operation.as_ref()?.value;
        let changes = matches!(operation, PatchOperation::Merge | PatchOperation::Remove);
        let inbound = matches.context.as_ref().is_some_and(|it| {
            matches!(
                it.value,
                PatchContext::SidecarInbound | PatchContext::Waypoint
            )
        });
        let clusters = patch.apply_to.as_ref()?.value == ApplyTo::Cluster;
        if !clusters || !changes || inbound {
            return None;
        }
        let cluster = &matches.cluster.as_ref()?.value;
        if let Some(name) = cluster.name.as_ref().filter(|name| !name.value.is_empty()) {
            let parts = ClusterName::parse(&name.value)?;
            return Some(Self {
                host: parts.host,
                port: Some((parts.port, name.span)),
                subset: (!parts.subset.is_empty()).then_some((parts.subset, name.span)),
            });
        }
        let port = cluster.port_number.as_ref();
        let subset = cluster.subset.as_ref().filter(|it| !it.value.is_empty());
        Some(Self {
            host: cluster.service.as_ref()?.value.as_str(),
            port: port.and_then(|it| Some((u32::try_from(it.value).ok()?, it.span))),
            subset: subset.map(|it| (it.value.as_str(), it.span)),
        })
    }
}

/// Whether rules for the host are there, and none of them defines the subset.
fn lacks_subset(cx: &Context<'_>, host: &str, subset: &str) -> bool {
    let rules: Vec<_> = cx.rules_for(host).take(OF_HOST).collect();
    let subsets = || rules.iter().flat_map(|(_, rule)| rule.subsets.items());
    let many = rules.len() == OF_HOST || subsets().take(SUBSETS).count() == SUBSETS;
    let known = !rules.is_empty() || cx.world.knows_all("DestinationRule");
    if many || !known || cx.has_faulty_rule(host) {
        return false;
    }
    let mut names = subsets().filter_map(|it| it.value.name.as_ref());
    !names.any(|name| name.value == subset)
}
