//! `minHealthPercent` above what an ejection leaves healthy.

use super::clusters::Cluster;
use super::host_count::Count;
use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fix, Fixable, Safety, Severity};
use crate::source::Span;
use crate::yaml::Value;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "min-health-cancels-ejection",
        summary: "`minHealthPercent` sends traffic to ejected hosts as soon as one is ejected",
        severity: Severity::Warning,
        fixable: Fixable::Always,
        since: "0.1.0",
        page: include_str!("../../rules/min-health-cancels-ejection.md"),
    },
    build: super::plain::<MinHealthCancelsEjection>,
};

#[derive(Debug, Default)]
pub(super) struct MinHealthCancelsEjection;

impl Check for MinHealthCancelsEjection {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for cluster in traffic.clusters() {
            let (Some(outlier), Some(percent)) = (
                &cluster.facts.outlier.value,
                cluster.facts.panic_threshold_percent.value,
            ) else {
                continue;
            };
            let Some(&place) = cluster.facts.panic_threshold_percent.spans().first() else {
                continue;
            };
            let Some(count) = Count::of(cx, cluster) else {
                continue;
            };
            let Some(hosts) = count.known().filter(|&hosts| hosts > 1) else {
                continue;
            };
            let budget = outlier
                .max_ejection_percent
                .as_ref()
                .map_or(10, |it| it.value);
            let ejects =
                !outlier.detects_nothing() && u64::from(hosts) * u64::from(budget.min(100)) >= 100;
            // Envoy compares the share of healthy hosts with the threshold.
            let healthy = u64::from(hosts - 1) * 100;
            if !ejects || healthy >= u64::from(percent) * u64::from(hosts) {
                continue;
            }
            if !out.is_first(place) {
                continue;
            }
            let left = healthy / u64::from(hosts);
            let message = format!(
                "`minHealthPercent: {percent}` undoes every ejection: with one of {hosts} hosts ejected {left} % are \
                 healthy, and below {percent} % the ejected one gets traffic again"
            );
            out.add(Basis::Proven, place, message, |finding| {
                let lines = count.lines().iter();
                lines
                    .fold(finding, |finding, (line, what)| finding.because(*line, what.clone()))
                    .because(cluster.service.host.line, "the host that it is for")
                    .help(format!(
                        "set `minHealthPercent` to {left} or less, or leave it out: without it ejected hosts get nothing"
                    ))
                    .fix(fix(cx, cluster, place, left))
            });
        }
    }
}

/// The largest threshold under which the ejection of one host stands.
fn fix(cx: &Context<'_>, cluster: &Cluster<'_>, threshold: Span, left: u64) -> Option<Fix> {
    let value = Value::Int(i64::try_from(left).ok()?);
    let edit = cx.texts.edit(threshold, |it| it.set(&value))?;
    let safety = Safety::safe_if(cluster.has_rule_of_its_own(cx));
    let message = format!("let an ejection stand while {left} % are healthy");
    Some(Fix::new(safety, message, edit))
}
