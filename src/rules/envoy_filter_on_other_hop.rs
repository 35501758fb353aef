//! A patch for a cluster of proxies that do not connect to the host.

use std::collections::{BTreeMap, BTreeSet};

use super::cluster_patches::{ClusterPatch, cluster_patches};
use super::{Basis, Check, Context, Findings, Meta, RuleDef, Traffic};
use crate::diag::{Fixable, Severity};
use crate::egress::client::Client;
use crate::istio::envoy_filter::PatchContext;
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "envoy-filter-on-other-hop",
        summary: "a patch of an EnvoyFilter is for sidecars where an egress gateway connects to the host, or the other way around",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/envoy-filter-on-other-hop.md"),
    },
    build: super::plain::<EnvoyFilterOnOtherHop>,
};

#[derive(Debug, Default)]
pub(super) struct EnvoyFilterOnOtherHop;

/// How the clients of one namespace reach a host.
struct Ways<'t> {
    /// Some go straight out.
    direct: bool,
    gateways: BTreeSet<&'t Client>,
    /// The line of the host.
    line: Span,
}

/// The ways to a host, by the namespace of the clients.
type ByClient<'t> = BTreeMap<&'t str, Ways<'t>>;

impl Check for EnvoyFilterOnOtherHop {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic, out: &mut Findings) {
        let patches: Vec<ClusterPatch<'_>> = cluster_patches(cx).collect();
        if patches.is_empty() {
            return;
        }
        let by_host = ways(traffic);
        for patch in patches {
            let Some(by_client) = by_host.get(patch.host) else {
                continue;
            };
            let (Some(context), Some(own)) = (patch.context, patch.resource.namespace()) else {
                continue;
            };
            let everywhere = own == cx.model.rules.root_namespace();
            if everywhere || patch.filter.target_refs.is_some() {
                continue;
            }
            let closed = cx.world.knows_all("VirtualService");
            let Some((basis, message, help)) =
                misplaced(&patch, context.value, (own, closed), by_client)
            else {
                continue;
            };
            if !out.is_first(context.span) {
                continue;
            }
            let line = by_client.values().next().map(|it| it.line);
            out.add(basis, context.span, message, |finding| {
                let finding = line.into_iter().fold(finding, |finding, line| {
                    finding.because(line, "the external host")
                });
                finding.help(help)
            });
        }
    }
}

/// Why a patch that is for proxies of the namespace `own` changes nothing on the way to the host. `closed`: no other
/// VirtualService leads anywhere.
fn misplaced(
    patch: &ClusterPatch<'_>,
    context: PatchContext,
    (own, closed): (&str, bool),
    by_client: &ByClient<'_>,
) -> Option<(Basis, String, String)> {
    let host = patch.host;
    let in_gateway = |gateway: &&&Client| gateway.namespace() == Some(own);
    let mut gateways = by_client.values().flat_map(|it| &it.gateways);
    let own_gateway = gateways.find(in_gateway);
    let ways = by_client.get(own);
    match context {
        PatchContext::SidecarOutbound => {
            let gateway = match ways {
                Some(ways) if ways.direct => return None,
                Some(ways) => ways.gateways.first()?,
                None => own_gateway?,
            };
            let basis = match (ways, selects(patch, gateway)) {
                (Some(_), _) | (None, Some(true)) => Basis::Proven,
                (None, Some(false)) => return None,
                (None, None) => Basis::assuming(format!("no sidecar in `{own}` calls `{host}`")),
            };
            let there = gateway.namespace().unwrap_or_default();
            Some((
                basis,
                format!(
                    "this patch changes nothing on the way to `{host}`: the egress gateway in `{there}` connects to it, \
                     and no sidecar does"
                ),
                format!("write `context: GATEWAY`, in the namespace `{there}`"),
            ))
        }
        PatchContext::Gateway if own_gateway.is_none() => {
            let ways = ways?;
            let (basis, who, help) = match ways.gateways.first() {
                Some(gateway) => {
                    let there = gateway.namespace().unwrap_or_default();
                    (
                        Basis::Proven,
                        format!("the gateway in `{there}` connects to it"),
                        format!("put it into `{there}`"),
                    )
                }
                None => (
                    match closed {
                        true => Basis::Proven,
                        false => {
                            Basis::assuming("no VirtualService elsewhere leads through a gateway")
                        }
                    },
                    "sidecars connect to it, and no gateway".to_owned(),
                    "write `context: SIDECAR_OUTBOUND`".to_owned(),
                ),
            };
            Some((
                basis,
                format!(
                    "this patch, for gateways in `{own}`, changes nothing on the way to `{host}`: {who}"
                ),
                help,
            ))
        }
        _ => None,
    }
}

/// Whether a filter selects the pods of a gateway; `None` where it selects all.
fn selects(patch: &ClusterPatch<'_>, gateway: &Client) -> Option<bool> {
    let labels = patch
        .filter
        .workload_selector
        .as_ref()?
        .value
        .labels
        .as_ref()?;
    let labels = labels.value.iter();
    Some(gateway.has_labels(labels.map(|(key, value)| (key.value.as_str(), value.value.as_str()))))
}

fn ways<'t>(traffic: &'t Traffic<'_>) -> BTreeMap<&'t str, ByClient<'t>> {
    let mut by_host: BTreeMap<&str, ByClient<'_>> = BTreeMap::new();
    for reached in traffic.reached() {
        let first = reached.path.hops.first();
        let Some(client) = first.and_then(|hop| hop.client().namespace()) else {
            continue;
        };
        let by_client = by_host.entry(&reached.path.host).or_default();
        let ways = by_client.entry(client).or_insert_with(|| Ways {
            direct: false,
            gateways: BTreeSet::new(),
            line: reached.host_line(),
        });
        match reached.hop.client() {
            gateway if gateway.is_gateway() => {
                ways.gateways.insert(gateway);
            }
            _ => ways.direct = true,
        }
    }
    by_host
}
