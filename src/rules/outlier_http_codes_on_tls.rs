//! Thresholds for HTTP answers on a port where the proxy sees none.

use super::clusters::Cluster;
use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, Rank, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::egress::facts::{ClusterType, OutlierFacts};
use crate::source::Span;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "outlier-http-codes-on-tls",
        summary: "outlier detection counts HTTP answers on a port where the proxy sees none",
        severity: Severity::Warning,
        fixable: Fixable::Sometimes,
        since: "0.1.0",
        page: include_str!("../../rules/outlier-http-codes-on-tls.md"),
    },
    build: super::plain::<OutlierHttpCodesOnTls>,
};

#[derive(Debug, Default)]
pub(super) struct OutlierHttpCodesOnTls;

impl Check for OutlierHttpCodesOnTls {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for cluster in traffic.clusters() {
            let Some(facts) = &cluster.facts.outlier.value else {
                continue;
            };
            let watched = matches!(
                cluster.facts.cluster_type.value,
                ClusterType::StrictDns | ClusterType::Eds | ClusterType::Static
            );
            let thresholds = [
                ("consecutive5xxErrors", &facts.consecutive_5xx),
                (
                    "consecutiveGatewayErrors",
                    &facts.consecutive_gateway_failure,
                ),
            ];
            for (name, threshold) in thresholds {
                let Some(threshold) = threshold.as_ref().filter(|it| it.value > 0) else {
                    continue;
                };
                // A block that also holds for a port with HTTP has its thresholds for that.
                match threshold.spans().first() {
                    Some(&place) if cluster.http => out.rule_out(place),
                    Some(&place) if watched && out.is_worst(place, Rank::default()) => {
                        judge(cx, cluster, facts, (name, threshold.value, place), out);
                    }
                    _ => {}
                }
            }
        }
    }
}

fn judge(
    cx: &Context<'_>,
    cluster: &Cluster<'_>,
    facts: &OutlierFacts,
    (name, value, place): (&str, u32, Span),
    out: &mut Findings,
) {
    let destination = cluster.destination();
    let local = facts.consecutive_local_origin_failure.as_ref();
    let (basis, message, help) = match (facts.split_external_local, local) {
        (true, None) => (
            Basis::Proven,
            format!(
                "`{name}: {value}` counts nothing for {destination}: no HTTP is seen there, and the split gives failed \
                 connections to another counter"
            ),
            format!(
                "write `consecutiveLocalOriginFailures: {value}`; without it the default of 5 failed connections ejects"
            ),
        ),
        (true, Some(_)) => (
            Basis::assuming("HTTP answers were meant to count as well"),
            format!("`{name}: {value}` counts nothing for {destination}: no HTTP is seen there"),
            "remove it; `consecutiveLocalOriginFailures` does the work".to_owned(),
        ),
        (false, _) => (
            Basis::assuming("HTTP answers were meant"),
            format!("`{name}: {value}` counts only failed connections for {destination}: no HTTP is seen there"),
            "to name what it counts, use `splitExternalLocalOriginErrors` with `consecutiveLocalOriginFailures`; an address that \
             accepts connections and is dead behind is not noticed"
                .to_owned(),
        ),
    };
    let worst = (place, Rank::default());
    out.add_worst(worst, basis, place, message, |finding| {
        let port = cluster.port;
        finding
            .because(
                port.protocol_line.unwrap_or(port.number_line),
                format!("{} is passed on unseen", port.protocol.name()),
            )
            .because(cluster.service.host.line, "the host that it is for")
            .help(help)
            .fix(fix(cx, cluster, facts, place))
    });
}

/// With the split it goes, if another counter does its work, or becomes that counter, if it is the only one that can.
fn fix(
    cx: &Context<'_>,
    cluster: &Cluster<'_>,
    facts: &OutlierFacts,
    threshold: Span,
) -> Option<Fix> {
    const COUNTER: &str = "consecutiveLocalOriginFailures";
    if !facts.split_external_local {
        return None;
    }
    if facts.consecutive_local_origin_failure.is_some() {
        let edit = cx.texts.edit(threshold, |it| it.remove())?;
        let safety = Safety::safe_if(cluster.has_rule_of_its_own(cx));
        return Some(Fix::new(safety, "remove it", edit));
    }
    let set = [&facts.consecutive_5xx, &facts.consecutive_gateway_failure];
    let alone = set.iter().filter(|it| it.is_some()).count() == 1;
    let edit = cx
        .texts
        .edit(threshold, |it| it.rename(COUNTER).filter(|_| alone))?;
    Some(Fix::new(
        Safety::Unsafe,
        format!("call it `{COUNTER}`"),
        edit,
    ))
}
