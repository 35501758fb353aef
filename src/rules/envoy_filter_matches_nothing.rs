//! A patch of an EnvoyFilter for a cluster that is not there.

use super::cluster_patches::{ClusterPatch, cluster_patches};
use super::unknown_hosts::{UnknownHosts, like};
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::service::{Origin, Service};
use crate::istio::decode::Items;
use crate::istio::envoy_filter::PatchContext;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "envoy-filter-matches-nothing",
        summary: "a patch of an EnvoyFilter is for a cluster that no proxy has: another host, port, subset or direction",
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
        let hosts = UnknownHosts::new(cx);
        for wanted in cluster_patches(cx) {
            let services = cx.model.registry.of_host(wanted.host).take(OF_HOST);
            let services: Vec<Service<'_>> = services.collect();
            let Some(first) = services.first() else {
                unknown(&hosts, &wanted, out);
                continue;
            };
            let external = |it: &Service<'_>| it.definition.origin == Origin::ServiceEntry;
            if !services.iter().all(external) || services.len() == OF_HOST {
                continue;
            }
            let inbound = wanted
                .context
                .filter(|it| it.value == PatchContext::SidecarInbound && first.mesh_external);
            let lacks_port = wanted.port.filter(|(port, _)| {
                let has = |it: &Service<'_>| it.port(*port).is_some();
                *port != 0 && !services.iter().any(has)
            });
            let (place, what, help) = match (inbound, lacks_port, wanted.subset) {
                (Some(context), ..) => (
                    context.span,
                    format!(
                        "`SIDECAR_INBOUND` is for what comes in, and the clusters of `{}` are outbound",
                        wanted.host
                    ),
                    "write `context: SIDECAR_OUTBOUND`, or `GATEWAY` for an egress gateway",
                ),
                (None, Some((port, place)), _) => (
                    place,
                    format!("`{}` has no port {port}", wanted.host),
                    "name the port that clients connect to, and a subset of its DestinationRule",
                ),
                (None, None, Some((subset, place))) if lacks_subset(cx, wanted.host, subset) => (
                    place,
                    format!("`{}` has no subset `{subset}`", wanted.host),
                    "name the port that clients connect to, and a subset of its DestinationRule",
                ),
                _ => continue,
            };
            let message = format!("this patch matches no cluster: {what}");
            out.add(Basis::Proven, place, message, |finding| {
                finding
                    .because(first.host.line, "the external host")
                    .help(help)
            });
        }
    }

    fn says_absence(&self) -> bool {
        true
    }
}

/// A host that nothing defines.
fn unknown(hosts: &UnknownHosts<'_>, wanted: &ClusterPatch<'_>, out: &mut Findings) {
    let Some(unknown) = hosts.find(wanted.host) else {
        return;
    };
    let message = format!(
        "this patch matches no cluster: nothing defines `{}`",
        wanted.host
    );
    let help = match (unknown.meant, unknown.wildcard) {
        (Some(meant), _) => format!("did you mean `{}`?", meant.host),
        (None, Some(wildcard)) => format!(
            "clusters are named by the whole host of the entry, which is `{}`",
            wildcard.host
        ),
        (None, None) => "name a host that a ServiceEntry or a Service defines".to_owned(),
    };
    out.add(unknown.basis, wanted.host_line, message, |finding| {
        like(finding, unknown.wildcard, unknown.meant).help(help)
    });
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
