//! A gateway that has no address to go to.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::ClusterType;
use crate::egress::service::Resolution;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "gateway-route-to-none",
        summary: "a gateway routes to a host with `resolution: NONE`, for which it has no address: every request fails",
        severity: Severity::Error,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/gateway-route-to-none.md"),
    },
    build: super::plain::<GatewayRouteToNone>,
};

#[derive(Debug, Default)]
pub(super) struct GatewayRouteToNone;

impl Check for GatewayRouteToNone {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let Some(definition) = reached.definition(cx) else {
                continue;
            };
            let none = definition.resolution == Resolution::Passthrough;
            let empty = reached.cluster.cluster_type.value == ClusterType::Eds
                && reached.cluster.endpoints.is_empty();
            let chosen = reached.hop.result.clusters.get(reached.hop.chosen);
            let Some(&place) = chosen.and_then(|cluster| cluster.name.spans().first()) else {
                continue;
            };
            if !none || !empty || !reached.hop.client().is_gateway() || !out.is_first(place) {
                continue;
            }
            let message = format!(
                "the gateway has no address for `{}`: `resolution: NONE` takes the one that was called, here the gateway's own, \
                 and every request fails",
                reached.path.host
            );
            out.add(Basis::Proven, place, message, |finding| {
                let line = definition.resolution_line;
                line.into_iter()
                    .fold(finding, |finding, line| {
                        finding.because(line, "this resolution")
                    })
                    .because(
                        reached.host_line(),
                        "the external host; without `resolution` it is `NONE`",
                    )
                    .help("set `resolution: DNS` on the ServiceEntry")
            });
        }
    }
}
