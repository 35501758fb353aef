//! An egress gateway that sends requests to its own service.

use super::{Basis, Check, Context, Findings, Meta, RuleDef, Traffic};
use crate::diag::{Fixable, Severity};
use crate::egress::cluster::ClusterName;
use crate::egress::path::Hop;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "gateway-routes-to-itself",
        summary: "a rule that leads sidecars to the egress gateway also holds in the gateway: requests go round in a circle",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/gateway-routes-to-itself.md"),
    },
    build: super::plain::<GatewayRoutesToItself>,
};

#[derive(Debug, Default)]
pub(super) struct GatewayRoutesToItself;

impl Check for GatewayRoutesToItself {
    fn check_traffic(&self, _: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for path in traffic.paths() {
            let [.., sender, gateway] = path.hops.as_slice() else {
                continue;
            };
            let chosen = gateway.result.clusters.get(gateway.chosen);
            let Some(cluster) = chosen.filter(|_| gateway.client().is_gateway()) else {
                continue;
            };
            let (Some(sent), Some(back)) = (address(sender), address(gateway)) else {
                continue;
            };
            let Some(&place) = cluster.name.spans().first().filter(|_| sent == back) else {
                continue;
            };
            if !out.is_first(place) {
                continue;
            }
            let message = format!(
                "in the egress gateway this leads back to the gateway itself: what it gets for `{}` goes round in a circle",
                super::host_and_port(&path.host, path.port)
            );
            out.add(Basis::Proven, place, message, |finding| {
                let lines = gateway.result.handler_lines.iter().take(1);
                lines
                    .fold(finding, |finding, line| {
                        finding.because(*line, "the server of the gateway that takes it")
                    })
                    .help("add `gateways: [mesh]` to each `match` of this rule, and a rule for the gateway that leads \
                           to the host")
            });
        }
    }
}

/// The host and port that a hop sends to, whatever the subset.
fn address(hop: &Hop) -> Option<(&str, u32)> {
    let name = ClusterName::parse(hop.cluster_name()?)?;
    Some((name.host, name.port))
}
