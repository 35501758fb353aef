//! Another port for a connection whose port is the client's.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::ClusterType;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "none-port-remap",
        summary: "a route to another port of a host with `resolution: NONE` changes the policy, not the port",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/none-port-remap.md"),
    },
    build: super::plain::<NonePortRemap>,
};

#[derive(Debug, Default)]
pub(super) struct NonePortRemap;

impl Check for NonePortRemap {
    fn check_traffic(&self, _: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for reached in traffic.reached() {
            let kept = reached.cluster.cluster_type.value == ClusterType::OriginalDst;
            let port = reached.port;
            if !kept || port == reached.path.port {
                continue;
            }
            let chosen = reached.hop.result.clusters.get(reached.hop.chosen);
            let lines = chosen.map_or(&[][..], |cluster| cluster.name.spans());
            let Some(&place) = lines.get(1).or(lines.first()) else {
                continue;
            };
            if reached.path.hops.len() > 1 || !out.is_first(place) {
                continue;
            }
            let message = format!(
                "connections still go to port {}: `resolution: NONE` keeps the port that the client chose, only the \
                 policy is that of port {port}",
                reached.path.port
            );
            out.add(Basis::Proven, place, message, |finding| {
                let lines = reached.cluster.cluster_type.spans().iter();
                lines
                    .fold(finding, |finding, line| {
                        finding.because(*line, "this keeps address and port")
                    })
                    .because(reached.host_line(), "the external host")
                    .help(format!(
                        "set `targetPort: {port}` on the port instead, or use `resolution: DNS`"
                    ))
            });
        }
    }
}
