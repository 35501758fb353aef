//! Outlier detection whose one detector is switched off.

use super::clusters::Cluster;
use super::levels::{Level, levels};
use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::facts::ClusterType;
use crate::istio::traffic::OutlierDetection;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "ejection-threshold-zero",
        summary: "a threshold of 0 switches off the only detector there is, or none at all",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/ejection-threshold-zero.md"),
    },
    build: super::plain::<EjectionThresholdZero>,
};

#[derive(Debug, Default)]
pub(super) struct EjectionThresholdZero;

impl Check for EjectionThresholdZero {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for cluster in traffic.clusters() {
            local_origin(cx, cluster, out);
            let outlier = cluster.facts.outlier.value.as_ref();
            let Some(outlier) = outlier.filter(|it| it.detects_nothing()) else {
                continue;
            };
            // There another rule says that nothing can be ejected, whatever the threshold.
            if cluster.facts.cluster_type.value == ClusterType::OriginalDst {
                continue;
            }
            let threshold = outlier.consecutive_5xx.as_ref();
            let Some(&place) = threshold.and_then(|it| it.spans().first()) else {
                continue;
            };
            if !out.is_first(place) {
                continue;
            }
            let message = format!(
                "`consecutive5xxErrors: 0` switches off the only detector there is: no host of {} is ever ejected",
                cluster.destination()
            );
            let mut endpoints = cluster.facts.endpoints.iter();
            let may_be_meant =
                endpoints.any(|endpoint| endpoint.locality.is_some()) || switches_off(cx, cluster);
            let basis = match may_be_meant {
                true => Basis::assuming("hosts that fail are to be ejected"),
                false => Basis::Proven,
            };
            out.add(basis, place, message, |finding| {
                let gateway = outlier.consecutive_gateway_failure.iter();
                gateway
                    .flat_map(|gateway| gateway.spans())
                    .fold(finding, |finding, line| {
                        finding.because(*line, "gateway errors do not count either")
                    })
                    .because(cluster.service.host.line, "the host that it is for")
                    .help("set a number of failures in a row, or `consecutiveGatewayErrors` beside it")
            });
        }
    }
}

/// Whether a subset does not want what the policy of its host has, which it can say in no other way.
fn switches_off(cx: &Context<'_>, cluster: &Cluster<'_>) -> bool {
    let Some(block) = cluster.facts.outlier.spans().first() else {
        return false;
    };
    let has_block = |level: &Level<'_>| level.outlier_detection.is_some_and(|it| it.key == *block);
    let mut rules = cx.rules_for(cluster.service.name());
    let rule = rules.find(|(_, rule)| levels(rule).any(|it| it.of_subset && has_block(&it)));
    rule.is_some_and(|(_, rule)| {
        let mut blocks = levels(rule).filter(|it| !it.of_subset);
        blocks.any(|it| it.outlier_detection.is_some_and(|it| detects(&it.value)))
    })
}

fn detects(block: &OutlierDetection) -> bool {
    let threshold = block.consecutive_5xx_errors.as_ref();
    threshold.is_none_or(|it| it.value > 0)
}

/// With the split, the detector of failed connections cannot be switched off.
fn local_origin(cx: &Context<'_>, cluster: &Cluster<'_>, out: &mut Findings) {
    let place = cluster.facts.outlier.spans().first();
    let block = place.and_then(|place| cx.outlier_block(*place));
    let threshold = block.and_then(|it| it.value.consecutive_local_origin_failures.as_ref());
    let split = cluster.facts.outlier.value.as_ref();
    let split = split.is_some_and(|it| it.split_external_local);
    let Some(zero) = threshold.filter(|it| split && it.value == 0) else {
        return;
    };
    if !out.is_first(zero.span) {
        return;
    }
    let message = format!(
        "`consecutiveLocalOriginFailures: 0` switches nothing off: 5 failed connections in a row still eject a host of {}",
        cluster.destination()
    );
    out.add(Basis::Proven, zero.span, message, |finding| {
        finding
            .because(cluster.service.host.line, "the host that it is for")
            .help("remove it, or set a number of failures in a row")
    });
}
