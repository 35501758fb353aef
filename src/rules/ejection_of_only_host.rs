//! Outlier detection that may eject the only host.

use super::host_count::Count;
use super::traffic::Traffic;
use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::egress::forecast::span_of_time;

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "ejection-of-only-host",
        summary: "outlier detection may eject the only host: every request then fails until the ejection ends",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/ejection-of-only-host.md"),
    },
    build: super::plain::<EjectionOfOnlyHost>,
};

#[derive(Debug, Default)]
pub(super) struct EjectionOfOnlyHost;

/// Envoy's `base_ejection_time`, in milliseconds, where nothing sets one.
const DEFAULT_EJECTION_MS: i64 = 30_000;

impl Check for EjectionOfOnlyHost {
    fn check_traffic(&self, cx: &Context<'_>, traffic: &Traffic<'_>, out: &mut Findings) {
        for cluster in traffic.clusters() {
            let outlier = cluster.facts.outlier.value.as_ref();
            let Some(outlier) = outlier.filter(|it| !it.detects_nothing()) else {
                continue;
            };
            let Some(all) = outlier
                .max_ejection_percent
                .as_ref()
                .filter(|it| it.value >= 100)
            else {
                continue;
            };
            let Some(&place) = all.spans().first() else {
                continue;
            };
            // With a panic threshold the ejected host is used all the same.
            let panics = cluster
                .facts
                .panic_threshold_percent
                .value
                .is_some_and(|it| it > 0);
            let Some(count) = Count::of(cx, cluster).filter(|it| it.known() == Some(1)) else {
                continue;
            };
            if panics || !out.is_first(place) {
                continue;
            }
            let time = outlier.base_ejection_ms.as_ref();
            let lasts = span_of_time(time.map_or(DEFAULT_EJECTION_MS, |time| time.value));
            let message = format!(
                "`maxEjectionPercent: {}` lets the only host of {} be ejected: every request fails at once for \
                 {lasts}, although the host may be well again",
                all.value,
                cluster.destination(),
            );
            out.add(Basis::Proven, place, message, |finding| {
                let lines = time.into_iter().flat_map(|time| time.spans()).copied();
                let finding = lines.fold(finding, |finding, line| {
                    finding.because(line, "for so long, the first time")
                });
                count
                    .lines()
                    .iter()
                    .fold(finding, |finding, (line, what)| finding.because(*line, what.clone()))
                    .because(cluster.service.host.line, "the host that it is for")
                    .help("add a second address, or remove `outlierDetection`: with one host it has nowhere to send traffic")
            });
        }
    }
}
