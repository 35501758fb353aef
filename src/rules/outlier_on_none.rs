//! Outlier detection where the proxy has no list of hosts to choose from.

use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::ClusterType;
use crate::egress::host::is_wildcard;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "outlier-on-none",
        summary: "outlier detection on `resolution: NONE` has no other host to move traffic to",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/outlier-on-none.md"),
    },
    build: super::plain::<OutlierOnNone>,
};

#[derive(Debug, Default)]
pub(super) struct OutlierOnNone;

impl Check for OutlierOnNone {
    fn check_traffic(&self, _: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for cluster in traffic.clusters() {
            let outlier = &cluster.facts.outlier;
            let place = outlier.spans().first().filter(|_| outlier.is_some());
            let Some(&block) = place else { continue };
            if cluster.facts.cluster_type.value != ClusterType::OriginalDst {
                continue;
            }
            let message = format!(
                "outlier detection has nothing to move traffic to for {}: its connections go where the application sends them",
                cluster.destination()
            );
            let help = match is_wildcard(cluster.service.name()) {
                true => {
                    "remove `outlierDetection`: for a pattern the proxy cannot know the addresses"
                }
                false => {
                    "let the proxy know the addresses, with `resolution: DNS` or `STATIC`, or remove `outlierDetection`"
                }
            };
            out.add(Basis::Proven, block, message, |mut finding| {
                for line in cluster.facts.cluster_type.spans() {
                    finding = finding.because(*line, "the original destination is used");
                }
                finding
                    .because(cluster.service.host.line, "the host that it is for")
                    .help(help)
            });
        }
    }
}
