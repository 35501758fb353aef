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
            let mut set: Vec<Threshold> = thresholds
                .into_iter()
                .filter_map(|(name, threshold)| {
                    let threshold = threshold.as_ref().filter(|it| it.value > 0)?;
                    let &place = threshold.spans().first()?;
                    let value = threshold.value;
                    Some(Threshold { name, value, place })
                })
                .collect();
            set.sort_by_key(|it| it.place);
            // A block that also holds for a port with HTTP has its thresholds for that.
            if cluster.http {
                set.iter().for_each(|it| out.rule_out(it.place));
                continue;
            }
            let Some((first, further)) = set.split_first() else {
                continue;
            };
            if watched && out.is_worst(first.place, Rank::default()) {
                judge(cx, cluster, facts, first, further, out);
            }
        }
    }
}

/// A threshold that is set, with its line.
struct Threshold {
    name: &'static str,
    value: u32,
    place: Span,
}

fn judge(
    cx: &Context<'_>,
    cluster: &Cluster<'_>,
    facts: &OutlierFacts,
    first: &Threshold,
    further: &[Threshold],
    out: &mut Findings,
) {
    let &Threshold { name, value, place } = first;
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
            "to name what it counts, use `splitExternalLocalOriginErrors` with `consecutiveLocalOriginFailures`; a server that \
             accepts connections and then says nothing is not noticed"
                .to_owned(),
        ),
    };
    let worst = (place, Rank::default());
    out.add_worst(worst, basis, place, message, |finding| {
        let port = cluster.port;
        let finding = further.iter().fold(finding, |finding, it| {
            finding.because(it.place, "so it is with this one")
        });
        finding
            .because(
                port.line(),
                format!("{} is passed on unseen", port.protocol.name()),
            )
            .because(cluster.service.host.line, "the host that it is for")
            .help(help)
            .fix(fix(cx, cluster, facts, first, further))
    });
}

/// With the split they go, if another counter does their work, or it becomes that counter, if it is the only one that
/// can.
fn fix(
    cx: &Context<'_>,
    cluster: &Cluster<'_>,
    facts: &OutlierFacts,
    first: &Threshold,
    further: &[Threshold],
) -> Option<Fix> {
    const COUNTER: &str = "consecutiveLocalOriginFailures";
    if !facts.split_external_local {
        return None;
    }
    if facts.consecutive_local_origin_failure.is_some() {
        let all = std::iter::once(first).chain(further);
        let edits = all.map(|it| cx.texts.edit(it.place, |it| it.remove()));
        return Some(Fix {
            safety: Safety::safe_if(cluster.has_rule_of_its_own(cx)),
            message: "remove it".to_owned(),
            edits: edits.collect::<Option<_>>()?,
        });
    }
    let edit = cx.texts.edit(first.place, |it| {
        it.rename(COUNTER).filter(|_| further.is_empty())
    })?;
    Some(Fix::new(
        Safety::Unsafe,
        format!("call it `{COUNTER}`"),
        edit,
    ))
}
