//! Outlier detection for a cluster that has one host whatever DNS answers.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::ClusterType;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "outlier-on-logical-dns",
        summary: "outlier detection on logical DNS, which has one host, does nothing or harm",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/outlier-on-logical-dns.md"),
    },
    build: super::plain::<OutlierOnLogicalDns>,
};

#[derive(Debug, Default)]
pub(super) struct OutlierOnLogicalDns;

impl Check for OutlierOnLogicalDns {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for cluster in traffic.clusters() {
            let outlier = cluster.facts.outlier.value.as_ref();
            let Some(outlier) = outlier.filter(|it| !it.detects_nothing()) else {
                continue;
            };
            // A cluster with several endpoints is refused.
            let one = cluster.facts.endpoints.len() <= 1;
            if cluster.facts.cluster_type.value != ClusterType::LogicalDns || !one {
                continue;
            }
            let Some(&block) = cluster.facts.outlier.spans().first() else {
                continue;
            };
            let percent = outlier.max_ejection_percent.as_ref();
            let destination = cluster.destination();
            let (message, help) = if percent.is_some_and(|percent| percent.value >= 100) {
                let stays = match cx.version.drains_logical_dns() {
                    true => "",
                    false => ", and the ejection outlasts a move to a healthy address",
                };
                (
                    format!(
                        "outlier detection can only eject the one host of {destination}: every request then fails{stays}"
                    ),
                    "use `resolution: DNS`, which makes each address a host, or remove `outlierDetection`",
                )
            } else {
                (
                    format!(
                        "outlier detection does nothing for {destination}: logical DNS has one host, and less than \
                         100 % of it is none"
                    ),
                    "use `resolution: DNS`, which makes each address a host; 100 % would eject the only one",
                )
            };
            let place = percent.and_then(|p| p.spans().first()).unwrap_or(&block);
            out.add(Basis::Proven, *place, message, |mut finding| {
                for line in cluster.facts.cluster_type.spans() {
                    finding = finding.because(*line, "makes the cluster `LOGICAL_DNS`");
                }
                finding
                    .because(cluster.service.host.line, "the host that it is for")
                    .help(help)
            });
        }
    }
}
